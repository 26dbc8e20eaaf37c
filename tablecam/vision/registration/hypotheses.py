"""What has happened to table tags that do not lie where they lay: the likeliest story.

A story says which tags were moved by hand, and whether the camera was. Each is charged with what
it leaves unexplained, in variances, and with how unlikely it is beforehand that such a thing
happens and ends up within the tags' uncertainty just there: twice the logarithm of how many times
narrower that is than where it might have ended (Occam's razor, as Bayes's rule has it).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from calibration.table_tags import find_tags
from calibration.tag_pose import PoseFit, SeenTags, fit_pose, rough_pose
from tablecam.table.roster import Roster
from tablecam.vision.registration.tag_memory import TagLook, TagMemory, triples

Grey = NDArray[np.uint8]


def rough_camera(grey: Grey, camera: Camera, roster: Roster) -> Camera | None:
    """The camera at about where it stands now, from the table tags wherever the picture shows them.

    Good to a few pixels, or to a tag's pushing: search with it, and hand it to `register`, which
    then knows that the camera was moved. None where the picture shows too few table tags. It costs
    as much as a search of the whole picture by OpenCV: ask only when nothing else helps.
    """
    listed = {tag.id: (tag.x_mm, tag.y_mm, np.pi / 2) for tag in roster.table_tags}
    # Without the lens only sides are read, in a third of the time: that is near enough.
    tags = find_tags(grey, roster.dictionary, listed)
    if len(tags) < LEAST_TAGS:
        return None
    rough = rough_pose(camera, tags, np.array([listed[tag.id] for tag in tags]))
    return rough if rough.pose.camera_centre_mm[2] > 0 else None


Array = NDArray[np.float64]

LEAST_TAGS = 3
"""Tags that tell a camera's pose so that a fourth, or their headings, can contradict it."""

_CAMERA_MOVED = 70.0
"""2 ln(10 px / 0.03 px) for each of six numbers: bumps of ten pixels, known to a few hundredths."""
_TAG_MOVED = 36.0
"""2 ln(12 mm / 0.03 mm) for each of three numbers of a tag that a hand or a sleeve pushes."""
_STILL_AWAY = 14.0
"""To leave out a tag that lay wrong before: once it is within 1.1 mm of its place it is back."""
_CLEAR_LEAD = 10.0
"""Odds of 150 to 1 against any other story."""
_MOST_FOR_A_NUMBER = 8.0
"""Variances left unexplained of each number, on average: fits err by more than they know now and
then, where an arm or its shadow lies on a tag. Nothing above is a story at all."""
_MOST_MOVED = 2
"""Tags moved by hand between two looks; with more nothing can be told anyway."""


@dataclass(frozen=True, slots=True, eq=False)
class Story:
    """Tags that were moved by hand, counted in the look, and the camera's pose if it moved too.

    `chi2` is what it leaves unexplained, `cost` that and what it is charged with beforehand. It
    `is_told` where it explains the look, and no other story does nearly as well.
    """

    moved: frozenset[int]
    camera: PoseFit | None
    chi2: float
    cost: float
    is_told: bool = False


def likeliest(
    memory: TagMemory,
    look: TagLook,
    seen: SeenTags,
    camera: Camera,
    *,
    away: frozenset[int] = frozenset(),
    is_lost: bool = False,
) -> Story:
    """The story that explains a look best; tags `away`, counted in the look, lay wrong before.

    With a camera that `is_lost`, only known roughly, it has moved for sure.
    """
    told = [] if is_lost else list(_by_hand_only(memory, look, away))
    if not told or min(one.cost for one in told) > _CAMERA_MOVED:
        told += _with_camera(memory, look, seen, camera, away)
    told.sort(key=lambda one: one.cost)
    best, explains = told[0], _MOST_FOR_A_NUMBER * 3 * (len(look) - len(told[0].moved))
    leads = len(told) == 1 or told[1].cost - best.cost > _CLEAR_LEAD
    return replace(best, is_told=best.chi2 <= explains and leads)


def _by_hand_only(memory: TagMemory, look: TagLook, away: frozenset[int]) -> Iterator[Story]:
    """Stories in which the camera stands where it stood; the shortest alone where it will do."""
    off, spread = memory.surprise(look)
    for moved in _choices(len(look), away, least=min(2, len(look))):
        rest = triples(_others(len(look), moved))
        part = spread[np.ix_(rest, rest)]
        chi2 = float(off[rest] @ np.linalg.solve(part, off[rest]))
        yield Story(moved, None, chi2, chi2 + _hands(moved, away))
        if not away and not moved and chi2 < _TAG_MOVED:
            return


def _with_camera(
    memory: TagMemory, look: TagLook, seen: SeenTags, camera: Camera, away: frozenset[int]
) -> Iterator[Story]:
    """Stories in which the camera has moved; the shortest alone where no other can come near."""
    for moved in _choices(len(look), away, least=LEAST_TAGS):
        kept = _others(len(look), moved)
        rest = look[kept]
        spread = memory.homes_covariance(rest.rows) + rest.noise
        fit = fit_pose(camera, seen[kept], memory.homes(rest.rows), spread)
        yield Story(moved, fit, fit.chi2, fit.chi2 + _CAMERA_MOVED + _hands(moved, away))
        if not away and not moved and fit.chi2 < _TAG_MOVED - _CLEAR_LEAD:
            return


def _choices(count: int, away: frozenset[int], *, least: int) -> Iterator[frozenset[int]]:
    """All choices of a few tags that leave at least so many; tags that are away are not few."""
    others = [row for row in range(count) if row not in away]
    for few in range(_MOST_MOVED + 1):
        for known in range(len(away) + 1):
            if count - known - few >= least:
                chosen = product(combinations(sorted(away), known), combinations(others, few))
                yield from (frozenset(left + fresh) for left, fresh in chosen)


def _others(count: int, moved: frozenset[int]) -> NDArray[np.int64]:
    return np.array([row for row in range(count) if row not in moved], dtype=np.int64)


def _hands(moved: frozenset[int], away: frozenset[int]) -> float:
    return _TAG_MOVED * len(moved - away) + _STILL_AWAY * len(moved & away)
