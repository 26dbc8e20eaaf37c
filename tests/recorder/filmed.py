"""A short film of a simulated game, with its files."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

import numpy as np

from calibration.results import CAMERA_PARAMETERS, CameraFile, Origin, TableCalibration
from tablecam.record.camera_file import write_camera_file
from tablecam.recorder.rereading import Task
from tablecam.replay.filming import write_mp4
from tablecam.simulate.demo import demo_camera, embedded_demo
from tablecam.simulate.source import SimulatedSource
from tablecam.table.model import Position

PER_S = 5
PICTURES = 24
MOVED_AT = 8
"""The picture before which a unit is moved: the table has then been still for long enough."""
UNIT, X_MM, Y_MM, HEADING_DEG = "P5", 540.0, 60.0, 0.0


@dataclass(frozen=True)
class Film:
    """A film's file, its table and camera files, and the final position."""

    video: Path
    table: Path
    camera: Path
    truth: Position

    def task(self, folder: Path) -> Task:
        return Task(self.video, self.table, self.camera, folder)


def filmed(folder: Path) -> Film:
    """A film of a still table, a move of a unit, and the still table again."""
    camera = demo_camera(1600, 900)
    table = embedded_demo()
    table.pause()
    source = SimulatedSource(table, camera, frames_per_s=PER_S, is_paced=False)

    def pictures():
        for number in range(PICTURES):
            if number == MOVED_AT:
                table.move_unit(UNIT, X_MM, Y_MM, HEADING_DEG)
            yield source.read().image, 1

    video = folder / "film.mp4"
    write_mp4(video, pictures(), per_s=PER_S)
    film = Film(video, folder / "table.toml", folder / "camera.json", table.truth())
    text = (files("tablecam.simulate") / "demo_table.toml").read_text(encoding="utf-8")
    film.table.write_text(text, encoding="utf-8")
    size = len(CAMERA_PARAMETERS)
    origin = Origin("2026-05-01T00:00:00Z", ("simulated",))
    parts = (camera.lens, camera.pose, np.zeros((size, size)), 0.0, 0.0, (), origin)
    write_camera_file(
        film.camera, CameraFile("simulated", 1600, 900, table=TableCalibration(*parts))
    )
    return film
