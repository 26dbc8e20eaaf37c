"""A table of 160 tags to watch: 39 units in five rows, one of them moved by a hand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import cv2
import numpy as np

from calibration.camera import Camera
from tablecam.capture.picture import JpegPicture
from tablecam.simulate.demo import demo_camera
from tablecam.simulate.moves import Forward, Wheel
from tablecam.simulate.rendering.render import DEMO_LOOK, RenderStyle
from tablecam.simulate.script import Order, Script, Start
from tablecam.simulate.source import SimulatedSource
from tablecam.simulate.table import SimulatedTable
from tablecam.table.model import TableSize
from tablecam.table.roster import BaseType, Roster, TableTag, UnitEntry

TABLE = TableSize(1800, 1200, 40)
FOOT = BaseType("foot", 40, 40, 13, tag_forward_mm=-10, tag_height_mm=3)
_ROWS, _COLUMNS, _UNITS, _BASES = 5, 8, 39, 4
_TABLE_TAGS = ((60, 60), (1740, 60), (1740, 1140), (60, 1140))
MOVED = "F5"
"""The unit that is ordered forward."""
FRAMES_PER_S = 10.0


def roster() -> Roster:
    """156 bases and four table tags."""
    units = tuple(
        UnitEntry(
            f"F{number}",
            "french",
            "infantry",
            FOOT,
            tuple(range(10 + _BASES * number, 10 + _BASES * (number + 1))),
        )
        for number in range(_UNITS)
    )
    tags = tuple(TableTag(id, x_mm, y_mm) for id, (x_mm, y_mm) in enumerate(_TABLE_TAGS))
    return Roster("maurice-lite", TABLE, "DICT_4X4_250", 60, tags, (FOOT,), units, (), ())


def script(order_at_s: float = 1.0) -> Script:
    """All units face north, in lines; one is moved by a hand from the near edge."""
    starts = tuple(
        Start(
            f"F{number}",
            210 + 197 * (number % _COLUMNS),
            200 + 190 * (number // _COLUMNS),
            (90.0, 78.0, 104.0)[number % 3],
        )
        for number in range(_UNITS)
    )
    return Script(
        "french", starts, (Order(order_at_s, (MOVED,), (Forward(40), Wheel("right", 10))),)
    )


def watched_table(order_at_s: float = 1.0) -> SimulatedTable:
    """The table before its script runs."""
    return SimulatedTable(roster(), script(order_at_s))


def camera(width_px: int, height_px: int) -> Camera:
    """A webcam over the table: 1 px a mm at 1920 px, two at 3840."""
    return demo_camera(width_px, height_px, TABLE)


@dataclass(frozen=True)
class Film:
    """Pictures as a camera sends them, with the true places of bases' tags in each."""

    pictures: tuple[JpegPicture, ...]
    hand_in_view: tuple[bool, ...]


def jpeg(image: np.ndarray, quality: int = 90) -> JpegPicture:
    """A picture as a webcam or a phone sends it."""
    _, data = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, quality])
    return JpegPicture(data.tobytes())


def source(table: SimulatedTable, over: Camera, look: RenderStyle = DEMO_LOOK) -> SimulatedSource:
    """The table's pictures, ten per second of its own time, as fast as they are read."""
    return SimulatedSource(table, over, frames_per_s=FRAMES_PER_S, look=look, is_paced=False)


def frames(from_source: SimulatedSource, count: int) -> Iterator[tuple[JpegPicture, bool]]:
    """Pictures, each with whether a hand is over the table."""
    for _ in range(count):
        frame = from_source.read()
        assert frame is not None
        yield jpeg(frame.image), bool(from_source.scene_of(frame.number).hands)
