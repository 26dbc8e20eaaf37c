"""A simulated camera for calibration that sees a lens board, the empty table, bases in the jig."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache

import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera, Pose
from calibration.intrinsics.board import (
    LENS_BOARD_DICTIONARY,
    LENS_BOARD_MARKER_MM,
    LENS_BOARD_SQUARE_MM,
    LENS_BOARD_SQUARES,
)
from calibration.lens import Lens
from tablecam.capture.frame import Frame
from tablecam.capture.picture import DecodedPicture
from tablecam.simulate.jig_source import SimulatedJig
from tablecam.simulate.rendering.light import INK, PAPER, Linear, Picture, SensorNoise, encoded
from tablecam.simulate.rendering.prints import Print, seen_print
from tablecam.simulate.rendering.rays import Array, Box
from tablecam.simulate.rendering.render import DEMO_LOOK, Renderer, RenderStyle
from tablecam.simulate.rendering.scene import Scene
from tablecam.simulate.source import Moment, Pace
from tablecam.table.roster import Roster

_RIM_MM = 16.0
_MARGIN_SIGMAS = 5


def board_pose(
    lens: Lens,
    middle_px: tuple[float, float],
    distance_mm: float,
    *,
    tilt_deg: tuple[float, float] = (0.0, 0.0),
    roll_deg: float = 0.0,
) -> Pose:
    """Returns the pose of a board with its middle at a pixel and a distance along the lens's axis.

    Tilts are about the board's own x and y; then it is rolled about the lens's axis.
    """
    rotation = (
        _rotation((0.0, 0.0, roll_deg))
        @ _rotation((tilt_deg[0], 0.0, 0.0))
        @ _rotation((0.0, tilt_deg[1], 0.0))
    )
    direction = lens.to_directions([middle_px])[0]
    squares = np.array([*LENS_BOARD_SQUARES, 0.0])
    middle = np.array([*direction, 1.0]) * distance_mm
    # The board's frame begins at its corner, not in its middle.
    translation = middle - rotation @ (squares * LENS_BOARD_SQUARE_MM / 2)
    vector, _ = cv2.Rodrigues(rotation)
    rx, ry, rz = (float(value) for value in vector.ravel())
    return Pose((rx, ry, rz), (float(translation[0]), float(translation[1]), float(translation[2])))


def inner_corners_mm() -> Array:
    """Returns the board's inner corners (70, 3), row by row."""
    columns, rows = LENS_BOARD_SQUARES
    grid = [(x, y, 0) for y in range(1, rows) for x in range(1, columns)]
    return np.array(grid, dtype=np.float64) * LENS_BOARD_SQUARE_MM


def lay_board(
    picture: Linear, lens: Lens, pose: Pose, blur_px: float, *, light: float = 1.0
) -> Box:
    """Draws the board over a picture in linear light, in place, and returns the changed box.

    `light` is a factor on its brightness, `blur_px` the standard deviation of the blur.
    """
    camera = Camera(lens, pose)
    sheet = _sheet()
    frame = Box(0, 0, lens.width_px, lens.height_px)
    margin_px = _MARGIN_SIGMAS * blur_px + 1
    box = sheet.box(camera, margin_px).clipped(frame)
    if _is_sliver(box):
        return Box(box.left, box.top, box.left, box.top)
    ink = np.zeros((box.height, box.width), dtype=np.float32)
    for piece in _pieces():
        part = piece.box(camera, margin_px).clipped(box)
        if not _is_sliver(part):
            covered, white = seen_print(camera, piece, part, blur_px, is_quick=True)
            # Ink adds up, because the pieces do not overlap.
            ink[part.within(box)] += covered - white
    covered, _ = seen_print(camera, sheet, box, blur_px, is_quick=True)
    paper = light * (PAPER - (PAPER - INK) * ink)
    target = picture[box.slices]
    target += covered[..., None] * (paper[..., None] - target)
    return box


def _is_sliver(box: Box) -> bool:
    """Whether a box is less than 2 px wide or tall, and so contains only margin."""
    return box.width < 2 or box.height < 2


def facing(pose: Pose) -> float:
    """Returns the cosine of the board's tilt: 1 if it faces the lens, less if tilted."""
    return float(abs(pose.rotation[2, 2]))


@cache
def _pieces() -> tuple[Print, ...]:
    """Returns the board's black squares, and the markers in its white squares."""
    name = getattr(cv2.aruco, LENS_BOARD_DICTIONARY)
    dictionary = cv2.aruco.getPredefinedDictionary(name)
    modules = int(dictionary.markerSize) + 2
    columns, rows = LENS_BOARD_SQUARES
    pieces: list[Print] = []
    marker = 0
    for row in range(rows):
        for column in range(columns):
            middle = (np.array([column, row]) + 0.5) * LENS_BOARD_SQUARE_MM
            if (row + column) % 2 == 0:  # OpenCV's current layout: the top left square is black
                pieces.append(_square(middle, LENS_BOARD_SQUARE_MM, np.zeros((1, 1))))
                continue
            bits = cv2.aruco.generateImageMarker(dictionary, marker, modules)
            cells: NDArray[np.float64] = np.asarray(bits, dtype=np.float64) / 255
            pieces.append(_square(middle, LENS_BOARD_MARKER_MM, cells))
            marker += 1
    return tuple(pieces)


@cache
def _sheet() -> Print:
    columns, rows = LENS_BOARD_SQUARES
    wide, tall = columns * LENS_BOARD_SQUARE_MM, rows * LENS_BOARD_SQUARE_MM
    return Print(
        middle_mm=np.array([wide, tall]) / 2,
        right_mm=np.array([1.0, 0.0]),
        down_mm=np.array([0.0, 1.0]),
        across_mm=np.array([-0.5, 0.5]) * (wide + 2 * _RIM_MM),
        along_mm=np.array([-0.5, 0.5]) * (tall + 2 * _RIM_MM),
        cells=np.ones((1, 1)),
    )


def _square(middle_mm: Array, size_mm: float, cells: Array) -> Print:
    edges_mm = np.linspace(-size_mm / 2, size_mm / 2, len(cells) + 1)
    right, down = np.array([1.0, 0.0]), np.array([0.0, 1.0])
    return Print(middle_mm, right, down, edges_mm, edges_mm, cells)


def _rotation(degrees: tuple[float, float, float]) -> Array:
    matrix, _ = cv2.Rodrigues(np.array([math.radians(angle) for angle in degrees]))
    return np.asarray(matrix, dtype=np.float64)


MOVE_S = 1.1
"""Duration of the board's move from one place to the next."""
HOLD_S = 1.6
"""Duration for which it is held still there."""

_EXPOSURE_S = 0.012
"""The exposure time, which gives a moving board its motion blur."""


@dataclass(frozen=True, slots=True)
class Held:
    """A pose of the board: its middle as a share of the picture, distance, tilts and roll."""

    across: float
    down: float
    distance_mm: float
    tilt_x_deg: float = 0.0
    tilt_y_deg: float = 0.0
    roll_deg: float = 0.0

    def pose(self, lens: Lens) -> Pose:
        """Returns the board's pose before a lens; its apparent size is the same for any lens."""
        width, height = lens.width_px, lens.height_px
        return board_pose(
            lens,
            (self.across * (width - 1), self.down * (height - 1)),
            # Relative to the demo's lens, whose focal length is 0.95 widths.
            self.distance_mm * lens.fx_px / (0.95 * width),
            tilt_deg=(self.tilt_x_deg, self.tilt_y_deg),
            roll_deg=self.roll_deg,
        )

    def toward(self, other: Held, share: float) -> Held:
        """Interpolates between two poses, with ease-in and ease-out."""
        eased = share * share * (3 - 2 * share)
        return Held(
            *(
                mine * (1 - eased) + theirs * eased
                for mine, theirs in zip(self._values(), other._values(), strict=True)
            )
        )

    def _values(self) -> tuple[float, ...]:
        return (
            self.across,
            self.down,
            self.distance_mm,
            self.tilt_x_deg,
            self.tilt_y_deg,
            self.roll_deg,
        )


WAVED = (
    Held(0.50, 0.50, 620),
    Held(0.22, 0.28, 640, 18, -22, 4),
    Held(0.78, 0.28, 640, 20, 24, -5),
    Held(0.78, 0.72, 640, -22, 20, 6),
    Held(0.22, 0.72, 640, -20, -24, -4),
    Held(0.50, 0.50, 520, 28, 0, 40),
    Held(0.16, 0.50, 700, 5, 30, 92),
    Held(0.84, 0.50, 700, -6, -30, 88),
    Held(0.50, 0.24, 660, -30, 5, 2),
    Held(0.50, 0.78, 660, 30, -6, 181),
    Held(0.12, 0.16, 760, -14, 16, -8),
    Held(0.88, 0.16, 760, -15, -16, 9),
    Held(0.88, 0.84, 760, 15, -14, -10),
    Held(0.12, 0.84, 760, 14, 15, 8),
    Held(0.50, 0.50, 460, -12, 26, -30),
)
"""Poses that cover the field, near and far, with tilts in every direction."""

_AWAY = Held(0.5, 2.2, 640)


class SimulatedCalibration:
    """A `tablecam.capture.frame.Source` of a waved board, the empty table, and of a jig if asked.

    Paced or not, like `SimulatedSource`. With `is_endless` the board is waved again and again until
    it is put away.
    """

    def __init__(
        self,
        roster: Roster,
        camera: Camera,
        *,
        frames_per_s: float = 10.0,
        look: RenderStyle = DEMO_LOOK,
        is_paced: bool = True,
        places: tuple[Held, ...] = WAVED,
        is_endless: bool = False,
    ) -> None:
        lens = camera.lens
        self.camera = camera
        self._roster = roster
        self._look = look
        self._jig: SimulatedJig | None = None
        # The board comes in from below the picture and leaves the same way.
        self._places = (_AWAY, *places, _AWAY)
        self._is_endless = is_endless
        # Noise is added last, over the board.
        renderer = Renderer(roster, camera, replace(look, noise=0.0))
        self._empty: Picture = renderer.picture(Scene({}), 0)
        self._lit = renderer.lit_ground()
        self._blur_px = look.blur_px
        self._noise = SensorNoise(lens.width_px, lens.height_px, look.noise, look.seed)
        self._pace = Pace(1.0 / frames_per_s, is_paced=is_paced)
        self._drawn: tuple[Held, Picture] | None = None
        self._elapsed_s = 0.0
        self._is_away = False
        self._number = 0

    @property
    def name(self) -> str:
        """The name of the source for users."""
        return "simulated"

    @property
    def waved_s(self) -> float:
        """The time after which the board is gone and the table empty."""
        return (len(self._places) - 1) * (MOVE_S + HOLD_S) - HOLD_S

    def read(self) -> Frame | None:
        """Returns the next frame, None once the source is closed."""
        moment = self._pace.wait()
        if moment is None:
            return None
        self._elapsed_s += moment.passed_s
        jig = self._jig
        if jig is not None and (pushed := jig.picture_after(moment.passed_s)) is not None:
            return self._frame(pushed, moment)
        if self._is_endless and self._elapsed_s >= self.waved_s and not self._is_away:
            self._elapsed_s = 0.0
        return self._frame(self._noise.added(self._clean(), self._number), moment)

    def _frame(self, picture: Picture, moment: Moment) -> Frame:
        frame = Frame(DecodedPicture(picture), self._number, moment.taken_at_s)
        self._number += 1
        return frame

    def close(self) -> None:
        """Ends the frames and any wait for one."""
        self._pace.stop()

    def wave_again(self) -> None:
        """Starts over with the first pose, after the board was put away."""
        self._is_away, self._elapsed_s = False, 0.0
        self._jig = None

    def lay_bases(self) -> None:
        """Puts the jig onto the table and pushes base after base into it."""
        self._jig = SimulatedJig(self._roster, self.camera, look=self._look)

    def put_away(self) -> None:
        """Removes board and jig, so that the camera sees the empty table."""
        self._is_away, self._elapsed_s = True, max(self._elapsed_s, self.waved_s)
        self._jig = None

    def held_at(self, time_s: float) -> Held | None:
        """Returns the board's pose at a time, None once it is out of the picture."""
        if time_s >= self.waved_s:
            return None
        number, into_s = divmod(time_s, MOVE_S + HOLD_S)
        start, end = self._places[int(number)], self._places[int(number) + 1]
        return start.toward(end, min(into_s / MOVE_S, 1.0))

    def _clean(self) -> Picture:
        """Returns the current picture without noise, cached while the board is held still."""
        held = self.held_at(self._elapsed_s)
        if held is None:
            return self._empty
        if self._drawn is None or self._drawn[0] != held:
            self._drawn = (held, self._with_board(held))
        return self._drawn[1]

    def _with_board(self, held: Held) -> Picture:
        pose = held.pose(self.camera.lens)
        linear, picture = self._lit.copy(), self._empty.copy()
        light = 0.72 + 0.28 * facing(pose)
        box = lay_board(linear, self.camera.lens, pose, self._combined_blur_px(held), light=light)
        if not box.is_empty:
            picture[box.slices] = encoded(linear[box.slices])
        return picture

    def _combined_blur_px(self, held: Held) -> float:
        """Returns the standard deviation of the lens's blur and the motion blur combined."""
        # The pose a hundredth of a second ago gives the speed.
        before = self.held_at(max(0.0, self._elapsed_s - 0.01)) or held
        width, height = self.camera.lens.width_px, self.camera.lens.height_px
        moved_px = math.hypot(
            (held.across - before.across) * width, (held.down - before.down) * height
        )
        # A uniform smear of length s has a standard deviation of s / sqrt(12).
        return math.hypot(self._blur_px, moved_px / 0.01 * _EXPOSURE_S / math.sqrt(12))
