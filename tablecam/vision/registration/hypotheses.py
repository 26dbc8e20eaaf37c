"""Finds the likeliest explanation for table tags that have changed their places.

A hypothesis says which tags were moved by hand, and whether the camera moved. Each is charged its
chi-square and a prior cost: twice the logarithm of how much wider the range of possible outcomes is
than the tags' uncertainty (Occam's razor in Bayes's form).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from calibration.extrinsics.table_tags import find_tags
from calibration.extrinsics.tag_pose import PoseFit, SeenTags, fit_pose, rough_pose
from tablecam.table.roster import Roster
from tablecam.vision.registration.tag_memory import TagMemory, TagObservations, triples

Grey = NDArray[np.uint8]
Array = NDArray[np.float64]

MIN_TAGS = 3
"""Three tags give a camera's pose with enough redundancy to contradict a displaced one."""

_CAMERA_MOVED = 70.0
"""2 ln(10 px / 0.03 px) for each of six numbers: bumps of ten pixels, measured to a few
hundredths."""
_TAG_MOVED = 36.0
"""2 ln(12 mm / 0.03 mm) for each of three numbers of a tag that a hand or a sleeve pushes."""
_STILL_DISPLACED = 14.0
"""The cost of leaving out a tag that was displaced before; within 1.1 mm of its place it counts
again."""
_DECISIVE_LEAD = 10.0
"""Odds of 150 to 1 against any other hypothesis."""
_MOST_CHI2_PER_VALUE = 8.0
"""The largest mean chi-square per value: now and then, with an arm or its shadow on a tag, fits err
by more than their covariance says. A hypothesis above this explains nothing."""
_MOST_MOVED = 2
"""Tags moved by hand between two frames; with more, no hypothesis could be decisive."""


@dataclass(frozen=True, slots=True, eq=False)
class Hypothesis:
    """Tags moved by hand, as indices of the observations, and the camera's pose if it moved too.

    `chi2` is the part it leaves unexplained; `cost` adds the prior cost. It `is_decisive` if it
    explains the observations and no other hypothesis comes close.
    """

    moved: frozenset[int]
    camera: PoseFit | None
    chi2: float
    cost: float
    is_decisive: bool = False


def likeliest_hypothesis(
    memory: TagMemory,
    observed: TagObservations,
    seen: SeenTags,
    camera: Camera,
    *,
    displaced: frozenset[int] = frozenset(),
    is_lost: bool = False,
) -> Hypothesis:
    """Returns the cheapest hypothesis; tags `displaced` (observation indices) lay wrong before.

    A camera that `is_lost` is known only roughly, so it has moved for certain.
    """
    hypotheses = [] if is_lost else list(_by_hand_only(memory, observed, displaced))
    # Hypotheses in which the camera moved cost at least that much, so a cheaper one needs no rival.
    if not hypotheses or min(rival.cost for rival in hypotheses) > _CAMERA_MOVED:
        hypotheses += _with_camera(memory, observed, seen, camera, displaced)
    hypotheses.sort(key=lambda hypothesis: hypothesis.cost)
    best = hypotheses[0]
    # Each tag left in place contributes three values.
    most_chi2 = _MOST_CHI2_PER_VALUE * 3 * (len(observed) - len(best.moved))
    leads = len(hypotheses) == 1 or hypotheses[1].cost - best.cost > _DECISIVE_LEAD
    return replace(best, is_decisive=best.chi2 <= most_chi2 and leads)


def _by_hand_only(
    memory: TagMemory, observed: TagObservations, displaced: frozenset[int]
) -> Iterator[Hypothesis]:
    """Yields hypotheses in which the camera has not moved; stops if one suffices for certain."""
    offset, covariance = memory.innovation(observed)
    for moved in _choices(len(observed), displaced, least=min(2, len(observed))):
        values = triples(_unmoved(len(observed), moved))
        part = covariance[np.ix_(values, values)]
        # The squared Mahalanobis distance of the unmoved tags.
        chi2 = float(offset[values] @ np.linalg.solve(part, offset[values]))
        yield Hypothesis(moved, None, chi2, chi2 + _prior_cost(moved, displaced))
        # A moved tag would cost more than it could possibly explain.
        if not displaced and not moved and chi2 < _TAG_MOVED:
            return


def _with_camera(
    memory: TagMemory,
    observed: TagObservations,
    seen: SeenTags,
    camera: Camera,
    displaced: frozenset[int],
) -> Iterator[Hypothesis]:
    """Yields the hypotheses in which the camera moved; stops at one that no other can beat."""
    for moved in _choices(len(observed), displaced, least=MIN_TAGS):
        unmoved = _unmoved(len(observed), moved)
        rest = observed[unmoved]
        covariance = memory.places_covariance(rest.rows) + rest.noise
        fit = fit_pose(camera, seen[unmoved], memory.believed_places(rest.rows), covariance)
        yield Hypothesis(
            moved, fit, fit.chi2, fit.chi2 + _CAMERA_MOVED + _prior_cost(moved, displaced)
        )
        # Even a perfect rival with one moved tag could not come close enough to make this
        # undecided.
        if not displaced and not moved and fit.chi2 < _TAG_MOVED - _DECISIVE_LEAD:
            return


def _choices(count: int, displaced: frozenset[int], *, least: int) -> Iterator[frozenset[int]]:
    """Yields the sets of moved tags that leave at least `least` others.

    They hold at most `_MOST_MOVED` tags besides those already displaced.
    """
    others = [row for row in range(count) if row not in displaced]
    # Fewest moves first: the callers stop at the first that suffices.
    for moved_count in range(_MOST_MOVED + 1):
        for displaced_count in range(len(displaced) + 1):
            if count - displaced_count - moved_count >= least:
                combined = product(
                    combinations(sorted(displaced), displaced_count),
                    combinations(others, moved_count),
                )
                yield from (
                    frozenset(still_displaced + newly_moved)
                    for still_displaced, newly_moved in combined
                )


def _unmoved(count: int, moved: frozenset[int]) -> NDArray[np.int64]:
    """Returns the indices of the observations that were not moved."""
    return np.array([row for row in range(count) if row not in moved], dtype=np.int64)


def _prior_cost(moved: frozenset[int], displaced: frozenset[int]) -> float:
    """Returns the prior cost of the tags moved by hand."""
    return _TAG_MOVED * len(moved - displaced) + _STILL_DISPLACED * len(moved & displaced)


def locate_camera_roughly(grey: Grey, camera: Camera, roster: Roster) -> Camera | None:
    """Locates the camera roughly from the table tags, wherever the picture shows them.

    Good to a few pixels, or to the distance by which a tag was pushed: search through it and pass
    it to `register`, which then treats the camera as moved. None if the picture shows too few table
    tags. It costs as much as OpenCV's search of the whole picture, so ask only when nothing else
    helps.
    """
    listed = {tag.id: (tag.x_mm, tag.y_mm, np.pi / 2) for tag in roster.table_tags}
    # Without the lens model only sides are fitted, in a third of the time: accurate enough here.
    tags = find_tags(grey, roster.dictionary, listed)
    if len(tags) < MIN_TAGS:
        return None
    rough = rough_pose(camera, tags, np.array([listed[tag.id] for tag in tags]))
    # No camera hangs below the table: such a fit went wrong.
    return rough if rough.pose.camera_centre_mm[2] > 0 else None
