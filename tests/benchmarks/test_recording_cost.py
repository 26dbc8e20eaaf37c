"""The cost of recording a game: in the frame loop's time, and on disk.

Prints two tables. The first watches and records one film of the simulated battle, in which
something is moved every three seconds: processor seconds, of all threads together (those for
pictures too), and their share of the time for watching. `in the loop` is the time of the watching
thread itself. One-off costs, the file and the maps of the table, are included. A game with 600
moves in three hours has one every 18 s: its share is computed from the same figures.

The second is the size of the file of three hours with 600 moves and random players, at two sizes of
picture: with grain like that of real cloth, as JPEG has little to do on a smooth one.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from random import Random

import cv2
import numpy as np
from rich.console import Console
from rich.table import Table

from tablecam.capture.frame import Frame
from tablecam.capture.picture import DecodedPicture, JpegPicture
from tablecam.record.game_file import GameFile
from tablecam.recorder.game_recorder import GameRecorder, new_game_file
from tablecam.recorder.picture_budget import GAME_S
from tablecam.recorder.recording import Recording
from tablecam.referee.referee import Referee
from tablecam.referee.seat_view import seat_view
from tablecam.referee.seats import SHARED
from tablecam.rules.games import game_of
from tablecam.simulate.demo import demo_camera, demo_roster, embedded_demo
from tablecam.simulate.source import SimulatedSource
from tablecam.table.model import Position
from tablecam.table.motion import TableMotion
from tablecam.vision.tracking.position import position_of
from tablecam.vision.tracking.tracking import TrackedBase
from tablecam.vision.watching import Sight, Watching
from tests.record.games import FACTS

FRAMES, FRAMES_PER_S = 300, 10.0
GAME_MOVES = 600
MOST_SHARE = 0.05


@dataclass
class Costs:
    """Processor seconds."""

    watching: float = 0.0
    in_loop: float = 0.0
    settling: float = 0.0
    settled: int = 0

    def share(self, frames_between_moves: float) -> float:
        """What recording costs of the frame loop's time, at a pace of the game."""
        watching = frames_between_moves * self.watching / FRAMES
        return (
            frames_between_moves * self.in_loop / FRAMES + self.settling / self.settled
        ) / watching


def test_recording_costs_little_of_the_frame_loop(tmp_path: Path) -> None:
    table = Table(title="Cost of recording, of the frame loop's time")
    for column in ("pictures", "watching", "in the loop", "a move", "busy battle", "a game's pace"):
        table.add_column(column, justify="right")
    for width_px, height_px in ((1920, 1080), (2560, 1440)):
        costs = recorded(tmp_path / str(width_px), width_px, height_px)
        pace = FRAMES_PER_S * GAME_S / GAME_MOVES
        table.add_row(
            f"{width_px}x{height_px}",
            f"{1000 * costs.watching / FRAMES:.1f} ms",
            f"{100 * costs.in_loop / costs.watching:.2f} %",
            f"{1000 * costs.settling / costs.settled:.0f} ms",
            f"{100 * costs.share(FRAMES / costs.settled):.1f} % ({costs.settled} in {FRAMES})",
            f"{100 * costs.share(pace):.2f} %",
        )
        assert costs.in_loop <= MOST_SHARE * costs.watching
        assert costs.share(pace) <= MOST_SHARE
        assert costs.share(FRAMES / costs.settled) <= MOST_SHARE
    Console().print(table)


def recorded(folder: Path, width_px: int, height_px: int) -> Costs:
    """Watch the battle and record it; the costs of each."""
    camera, costs = demo_camera(width_px, height_px), Costs()
    simulated = embedded_demo()
    source = SimulatedSource(simulated, camera, frames_per_s=FRAMES_PER_S, is_paced=False)
    record = GameRecorder(partial(new_game_file, folder, FACTS))
    recording = Recording(record, simulated.roster, begins_with_moves=True)
    recording.start()
    watching, motion = Watching(camera, simulated.roster), TableMotion()
    for _ in range(FRAMES):
        frame = sent(source.read())
        start = time.process_time()
        sight = watching.see(frame, frame.taken_at_s)
        costs.watching += (seen := time.process_time()) - start
        recording.watch(sight, frame)
        costs.in_loop += time.process_time() - seen
        position = motion.see(position_of(sight.bases, simulated.roster, None), frame.taken_at_s)
        start = time.process_time()
        if position is not None:
            recording.settle(position)
            costs.settled += 1
        recording.go_on()  # in fast play the whole table is photographed later
        recording.wait()
        costs.settling += time.process_time() - start
    start = time.process_time()
    recording.close()
    costs.settling += time.process_time() - start
    return costs


def sent(frame: Frame | None) -> Frame:
    """A frame as a camera sends it, as JPEG."""
    assert frame is not None
    _, data = cv2.imencode(".jpg", frame.image, [cv2.IMWRITE_JPEG_QUALITY, 90])
    return replace(frame, picture=JpegPicture(data.tobytes()))


def test_the_file_of_three_hours(tmp_path: Path) -> None:
    table = Table(title="The file of a game of three hours")
    for column in ("moves", "pictures", "file", "pictures in it", "without", "entries"):
        table.add_column(column, justify="right")
    for moves, width_px, height_px in ((GAME_MOVES, 1920, 1080), (GAME_MOVES, 3840, 2160)):
        path = three_hours(tmp_path / f"{moves}-{width_px}", moves, width_px, height_px)
        file = GameFile.open(path, read_only=True)
        size, pictures = path.stat().st_size, file.pictures_size()
        table.add_row(
            str(moves),
            f"{width_px}x{height_px}",
            f"{size / 1e6:.1f} MB",
            f"{pictures / 1e6:.1f} MB",
            f"{(size - pictures) / 1e6:.1f} MB",
            str(file.last()),
        )
        assert size <= 60e6
    Console().print(table)


def three_hours(folder: Path, moves: int, width_px: int, height_px: int) -> Path:
    """Record a game of random players, with `moves` moves by random hands."""
    chance, camera, roster = Random(moves), demo_camera(width_px, height_px), demo_roster()
    simulated = embedded_demo()
    simulated.pause()
    image = grainy(camera.lens.width_px, camera.lens.height_px)
    record = GameRecorder(partial(new_game_file, folder, FACTS))
    recording = Recording(record, roster, begins_with_moves=True)
    recording.start()
    referee = Referee(game_of(roster.game), store=record)
    position = simulated.truth()
    referee.begin(position, {"active": "prussian"}, SHARED)
    began_at = datetime(2026, 5, 1, 19, 30, tzinfo=UTC)
    for number in range(moves):
        at_s = GAME_S * number / moves
        frame = Frame(DecodedPicture(image), number, at_s)
        position = pushed(position, chance)
        recording.watch(Sight(tuple(bases(position)), None, None, camera), frame)
        recording.settle(position, began_at + timedelta(seconds=at_s))
        recording.wait()
        referee.table_at_rest(position)
        play_on(referee, chance)
    recording.close()
    assert record.path is not None
    return record.path


def grainy(width_px: int, height_px: int) -> np.ndarray:
    """A picture with as much detail as a cloth with figures (0.2 bytes a pixel at quality 75)."""
    noise = np.random.default_rng(1).normal(110, 14, (height_px, width_px, 3)).astype(np.float32)
    return np.asarray(cv2.GaussianBlur(noise, (0, 0), 0.8).clip(0, 255).astype(np.uint8))


def pushed(position: Position, chance: Random) -> Position:
    """A hand pushes a unit some way."""
    unit = chance.choice(position.units)
    dx_mm, dy_mm = chance.uniform(-60, 60), chance.uniform(-60, 60)
    laid = tuple(
        replace(base, x_mm=base.x_mm + dx_mm, y_mm=base.y_mm + dy_mm) for base in unit.bases
    )
    units = tuple(replace(unit, bases=laid) if each is unit else each for each in position.units)
    return replace(position, units=units)


def bases(position: Position) -> Iterator[TrackedBase]:
    for unit in position.units:
        for base in unit.bases:
            assert base.tag is not None
            yield TrackedBase(base.tag, base, is_settled=True, rest=base)


def play_on(referee: Referee, chance: Random) -> None:
    offered = seat_view(referee, SHARED)["actions"]
    if offered:
        referee.act(SHARED, chance.choice(offered)["action"])
