"""The embedded demo: its table, battle and camera."""

from __future__ import annotations

import math
from importlib.resources import as_file, files

import cv2
import numpy as np

from calibration.camera import Camera, Pose
from calibration.lens import Lens
from tablecam.simulate.battle import LEUTHEN
from tablecam.simulate.table import SimulatedTable
from tablecam.table.model import TableSize
from tablecam.table.roster import Roster
from tablecam.table.table_file import read_table_file

_FIELD_PER_HEIGHT = 0.93
"""The share of the picture's height and width that the table may fill."""


def demo_roster() -> Roster:
    """Returns the embedded roster: two armies of eleven units and their commanders."""
    with as_file(files("tablecam.simulate") / "demo_table.toml") as path:
        return read_table_file(path)


def embedded_demo() -> SimulatedTable:
    """Returns the demo's table at the beginning of its battle."""
    return SimulatedTable(demo_roster(), LEUTHEN)


def demo_camera(
    width_px: int = 2560, height_px: int = 1440, table: TableSize | None = None
) -> Camera:
    """Returns the exact camera of the demo: a webcam on an arm over the table, not quite level.

    Its lens has the distortion of a cheap wide lens. It sees the whole of `table` (by default the
    demo's), with a margin.
    """
    table = table or TableSize(1200, 800, 30)
    focal_px = 0.95 * width_px
    lens = Lens(
        width_px,
        height_px,
        fx_px=focal_px,
        fy_px=focal_px * 1.0008,
        cx_px=width_px / 2 - 0.5 + 0.006 * width_px,
        cy_px=height_px / 2 - 0.5 - 0.004 * height_px,
        k1=-0.15,
        k2=0.035,
        p1=0.0004,
        p2=-0.0006,
    )
    # The side that fits more tightly sets the height.
    height_mm = focal_px * max(
        table.width_mm / (_FIELD_PER_HEIGHT * width_px),
        table.depth_mm / ((_FIELD_PER_HEIGHT - 0.06) * height_px),
    )
    middle = np.array([table.width_mm / 2, table.depth_mm / 2, 0.0])
    # A camera that looks straight down, then tilted a little.
    rotation = _turn(4.0, 0) @ _turn(-2.2, 1) @ _turn(1.3, 2) @ np.diag([1.0, -1.0, -1.0])
    rotation_vector, _ = cv2.Rodrigues(rotation)
    # The table's middle lies on the optical axis.
    translation = np.array([0.0, 0.0, height_mm]) - rotation @ middle
    pose = Pose(_three(rotation_vector.ravel()), _three(translation))
    return Camera(lens, pose, name="simulated, exact")


def _turn(degrees: float, axis: int) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    vector = np.zeros(3)
    vector[axis] = math.radians(degrees)
    matrix, _ = cv2.Rodrigues(vector)
    return np.asarray(matrix, dtype=np.float64)


def _three(values: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> tuple[float, float, float]:
    x, y, z = (float(value) for value in values)
    return x, y, z
