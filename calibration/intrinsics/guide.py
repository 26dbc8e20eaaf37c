"""Guides a lens calibration from grey pictures: says where to hold the board and takes views.

The person with the board measures nothing: the guide says where to hold it and how to tilt it,
takes a view when it is held still, and says when the lens is known well enough.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
from numpy.typing import NDArray

from calibration.errors import CalibrationError
from calibration.intrinsics.board import BoardView, find_lens_board, mean_corner_distance_px
from calibration.intrinsics.coverage import COLUMNS, ROWS, Tilt, next_cell, next_tilt
from calibration.intrinsics.focus import blur_px, focus_score
from calibration.intrinsics.lens_from_views import (
    LEAST_VIEWS,
    LensSearch,
    lens_from_views,
    objection_to,
)
from calibration.intrinsics.lens_progress import Progress, lens_progress
from calibration.results import Origin

HOLD_S = 0.7
"""How long a board must be held still before its view is taken."""

_LEAST_FRAMES = 3
_LEAST_SHARED = 4
"""Least shared corners: fewer say little about the motion of a whole board."""
# A camera reads its rows one after the other, in some 20 ms. At this speed the board shears by 0.05
# px in a picture of 1920x1080 in that time, as much as its corners' own error. Hands are equally
# unsteady in millimetres with any camera, hence a share of the diagonal.
_STILL_SHARE_PER_S = 2.5 / 2203  # of the picture's diagonal


@dataclass(frozen=True, slots=True)
class Stillness:
    """The share of the required time for which a board has been held still."""

    share: float

    @property
    def is_still(self) -> bool:
        """Whether it has been held still for long enough."""
        return self.share >= 1.0


class Holding:
    """Tracks one board from frame to frame, for as long as it must be held still."""

    def __init__(self, hold_s: float = HOLD_S) -> None:
        self._hold_s = hold_s
        self._seen: deque[tuple[float, BoardView]] = deque()

    def forget(self) -> None:
        """Forgets the board, because it is gone or its view has been taken."""
        self._seen.clear()

    def watch(self, view: BoardView, taken_at_s: float) -> Stillness:
        """Returns how still the board is in this frame, compared with earlier ones.

        It remembers only the frames since which the board has stayed within the limit.
        """
        # How far the board may drift in the required time at the limit of its speed.
        limit_px = _STILL_SHARE_PER_S * self._hold_s * np.hypot(view.width_px, view.height_px)
        # A frame that shares too few corners is infinitely far away: it goes, too.
        while self._seen and max(_moved_px(old, view) for _, old in self._seen) > limit_px:
            self._seen.popleft()
        self._seen.append((taken_at_s, view))
        # Remember just enough frames to span the required time.
        while len(self._seen) > _LEAST_FRAMES and taken_at_s - self._seen[1][0] >= self._hold_s:
            self._seen.popleft()
        held_s = taken_at_s - self._seen[0][0]
        # At a low frame rate two frames could span the required time.
        enough_frames = len(self._seen) / _LEAST_FRAMES
        return Stillness(float(min(held_s / self._hold_s, enough_frames, 1.0)))


def _moved_px(before: BoardView, now: BoardView) -> float:
    """Returns how far the board moved between two views."""
    return mean_corner_distance_px(before, now, least_shared=_LEAST_SHARED)


Picture = NDArray[np.uint8]

_NEW_PLACE_SHARE = 0.04  # of the diagonal that the board must move before the next view


@dataclass(frozen=True, slots=True)
class Target:
    """The wanted place of the board in the next view: a cell (row, column) or any, and the tilt."""

    cell: tuple[int, int] | None
    tilt: Tilt


@dataclass(frozen=True, slots=True)
class Focus:
    """The picture's sharpness, 0 to 100, with the best so far; the blur in pixels."""

    score: float
    best: float
    blur_px: float


@dataclass(frozen=True, slots=True, eq=False)
class Advice:
    """The board in one frame, and the next instruction.

    `view` is the board in this frame, or None; `taken` is the name under which the view was taken,
    or None; `is_doubtful` means that something prevents taking it, `is_held` that the board rests
    where it should.
    """

    view: BoardView | None
    stillness: Stillness
    focus: Focus
    target: Target
    sentence: str
    is_doubtful: bool
    is_held: bool
    taken: str | None


class LensGuide:
    """Guides a lens calibration with the lens board; not thread-safe."""

    def __init__(self, *, hold_s: float | None = None) -> None:
        self._holding = Holding() if hold_s is None else Holding(hold_s)
        self._views: list[BoardView] = []
        self._last_number = 0
        self._best_focus = 0.0
        self._last_taken: BoardView | None = None
        self._dropped: list[tuple[int, BoardView]] = []
        self._progress = lens_progress((), None)

    @property
    def progress(self) -> Progress:
        """The progress so far; it changes only when a view is added or removed."""
        return self._progress

    def forget_best_focus(self) -> None:
        """Resets the best sharpness, after a change of light or aperture."""
        self._best_focus = 0.0

    def offer(self, grey: Picture, taken_at_s: float, *, take_now: bool = False) -> Advice:
        """Reads a frame, takes it as a view if it is suitable, and returns advice.

        `take_now` takes a view without waiting until the board is still and in a new place; a view
        that is blurred or repeats another's place is still refused.
        """
        focus = self._focus(grey)
        try:
            view = find_lens_board(grey, f"view-{self._last_number + 1:03d}")
        except CalibrationError:
            # A rest before the board left the picture does not count.
            self._holding.forget()
            return self._advice(None, Stillness(0.0), focus, None)
        stillness = self._holding.watch(view, taken_at_s)
        objection = objection_to(view, self._views)
        should_take = take_now or (stillness.is_still and self._is_somewhere_new(view))
        # An objection stands even if the person asks to take the view.
        if should_take and objection is None:
            self.add(view)
            # The next view needs a rest of its own.
            self._holding.forget()
            return self._advice(view, stillness, focus, None, taken=view.name)
        return self._advice(view, stillness, focus, objection)

    def add(self, view: BoardView) -> None:
        """Adds a view, new or recorded earlier; numbering continues after its number."""
        _, _, number = view.name.rpartition("-")
        # Recorded views keep their numbers; new ones must not repeat them.
        self._last_number = max(self._last_number + 1, int(number) if number.isdecimal() else 0)
        self._views.append(view)
        self._last_taken = view
        self._solve()

    def drop(self, name: str) -> None:
        """Leaves a view out.

        Raises:
            CalibrationError: There is no such view.
        """
        for index, view in enumerate(self._views):
            if view.name == name:
                # With its index, so that undoing restores the order of the views.
                self._dropped.append((index, self._views.pop(index)))
                self._solve()
                return
        raise CalibrationError(f"{name}: there is no view of this name")

    def undo_drop(self) -> str:
        """Restores the last dropped view and returns its name.

        Raises:
            CalibrationError: None was dropped.
        """
        if not self._dropped:
            raise CalibrationError("undo: no view has been dropped")
        index, view = self._dropped.pop()
        self._views.insert(index, view)
        self._solve()
        return view.name

    @property
    def can_undo(self) -> bool:
        """Whether a dropped view can be restored."""
        return bool(self._dropped)

    @property
    def picture_size_px(self) -> tuple[int, int] | None:
        """The width and height of the views' pictures; None before the first view."""
        first = next(iter(self._views), None)
        return None if first is None else (first.width_px, first.height_px)

    def _focus(self, grey: Picture) -> Focus:
        """Measures the sharpness of a picture and updates the best."""
        blur = blur_px(grey)
        score = focus_score(blur)
        self._best_focus = max(self._best_focus, score)
        return Focus(score, self._best_focus, blur)

    def _is_somewhere_new(self, view: BoardView) -> bool:
        """Whether the board has moved since the last view, so that one rest gives only one view."""
        last = self._last_taken
        if last is None:
            return True
        least_move_px = _NEW_PLACE_SHARE * float(np.hypot(view.width_px, view.height_px))
        return mean_corner_distance_px(last, view) > least_move_px

    def _solve(self) -> None:
        """Solves for the lens again from the current views."""
        try:
            search = _search(self._views)
        # The views stay: the progress names the problem, and later views may solve it.
        except CalibrationError as error:
            self._progress = lens_progress(self._views, None, problem=str(error))
        else:
            self._progress = lens_progress(self._views, search)

    def _advice(
        self,
        view: BoardView | None,
        stillness: Stillness,
        focus: Focus,
        objection: str | None,
        *,
        taken: str | None = None,
    ) -> Advice:
        """Returns the advice for a frame, given its view and the objection to taking it."""
        coverage_so_far = self._progress.coverage
        cell = next_cell(coverage_so_far)
        target = Target(cell, next_tilt(coverage_so_far, cell))
        # An objection matters only when the board rests: before that it is still on its way.
        is_resting = stillness.share > 0.5
        is_new = view is None or taken is not None or self._is_somewhere_new(view)
        is_held = is_resting and is_new
        doubt = objection if is_held else None
        sentence = _next_sentence(
            target.cell,
            target.tilt,
            sees_board=view is not None,
            is_taken=taken is not None,
            is_held=is_held,
            doubt=doubt,
            is_enough=self._progress.is_enough,
        )
        return Advice(view, stillness, focus, target, sentence, doubt is not None, is_held, taken)


def _search(views: list[BoardView]) -> LensSearch | None:
    """Returns the lens from these views, or None while there are too few."""
    if len(views) < LEAST_VIEWS:
        return None
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return lens_from_views(views, Origin(now, tuple(view.name for view in views)))


_ROWS = ("top", "middle", "bottom")
_LEAN = {
    "flat": "hold it flat",
    "left": "tilt its left side toward the camera",
    "right": "tilt its right side toward the camera",
    "top": "tilt its top side toward the camera",
    "bottom": "tilt its bottom side toward the camera",
}


def _place_words(cell: tuple[int, int]) -> str:
    """Names a part of the picture.

    >>> _place_words((0, 0)), _place_words((1, 2)), _place_words((2, 1))
    ('top left', 'right of the middle', 'bottom, left of the middle')
    """
    row, column = cell
    side = "left" if column < COLUMNS / 2 else "right"
    if column in (0, COLUMNS - 1):
        return side if row == ROWS // 2 else f"{_ROWS[row]} {side}"
    aside = f"{side} of the middle"
    return aside if row == ROWS // 2 else f"{_ROWS[row]}, {aside}"


def _target_words(cell: tuple[int, int] | None, tilt: Tilt) -> str:
    """Says where to hold the board, and how to tilt it.

    >>> _target_words((0, 0), "left")
    'Move the board to the top left, tilt its left side toward the camera'
    >>> _target_words(None, "flat")
    'Move the board somewhere new, at another angle'
    """
    if cell is None:
        lean = "at another angle" if tilt == "flat" else _LEAN[tilt]
        return f"Move the board somewhere new, {lean}"
    return f"Move the board to the {_place_words(cell)}, {_LEAN[tilt]}"


def _next_sentence(
    cell: tuple[int, int] | None,
    tilt: Tilt,
    *,
    sees_board: bool,
    is_taken: bool,
    is_held: bool,
    doubt: str | None,
    is_enough: bool,
) -> str:
    """Says what to do next, in one short sentence."""
    target = _target_words(cell, tilt)
    if doubt is not None:
        return f"Not this one: {doubt}"
    if is_held and not is_taken:
        return "Hold it still"
    if is_enough:
        return "Enough views. More will still improve the calibration"
    if not sees_board:
        return f"Show the lens board. {target}"
    return f"Taken. {target}" if is_taken else target
