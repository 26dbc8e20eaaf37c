"""Bases from one picture to the next: they appear, rest, are held while hidden, move, rest again.

Vision's only memory.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from calibration.camera import Camera
from tablecam.table.headings import difference_deg
from tablecam.table.model import BasePose
from tablecam.table.roster import Roster
from tablecam.vision.bases import base_poses
from tablecam.vision.sighting import TagSighting

STILL_MM = 0.5
"""A base this near to where it rested has not moved, whatever the fit's own sigma says: the light,
a figure's shadow and the JPEG encoder shift a fit by less."""

STILL_DEG = 1.5

_STILL_SIGMAS = 4.0
_SIGHTINGS_AVERAGED = 10
_SETTLED_AFTER_S = 0.4
_JUMP_MM = 80.0
"""No hand carries a base so far between two pictures of a film; unless it is seen there twice in a
row, it is a misreading. Pictures taken one by one are believed each."""
_FILM_GAP_S = 0.7


@dataclass(frozen=True, slots=True)
class TrackedBase:
    """A base that has been seen, where it is believed to lie now.

    `pose.seen` is `now`, or `held` while it is hidden, for `hidden_for_s`. `is_settled` is False
    from when it is seen to move until it has been seen at rest.
    """

    tag: int
    pose: BasePose
    is_settled: bool
    hidden_for_s: float = 0.0


@dataclass(frozen=True, slots=True)
class _Track:
    """What is remembered of one base: where it rests, since when, when it was seen last.

    `weight_per_mm2` is how much the sightings behind the pose count together; `doubted` is a
    place that it seems to have jumped to, in the last picture, until the next one bears it out.
    """

    pose: BasePose
    weight_per_mm2: float
    resting_since_s: float
    seen_at_s: float
    is_settled: bool
    doubted: BasePose | None = None


class BaseTracker:
    """Follows the bases of one roster through the pictures of one camera."""

    def __init__(self, roster: Roster, camera: Camera) -> None:
        self._base_types = roster.base_type_by_tag()
        self._camera = camera
        self._tracks: dict[int, _Track] = {}
        self._updated_at_s: float | None = None

    def update(
        self, sightings: Sequence[TagSighting], taken_at_s: float, *, beside_mm: float = 0.0
    ) -> tuple[TrackedBase, ...]:
        """All bases seen so far, after one more picture; sightings of table tags are passed over.

        A base that is not among the sightings is held at its last place, however long.
        `beside_mm` is how far the picture's table tags lie beside their places, as `base_poses`
        takes it.
        """
        mine = [sighting for sighting in sightings if sighting.tag in self._base_types]
        types = [self._base_types[sighting.tag] for sighting in mine]
        poses = base_poses(mine, types, self._camera, beside_mm=beside_mm)
        last_s = self._updated_at_s
        is_film = last_s is not None and taken_at_s - last_s < _FILM_GAP_S
        for sighting, pose in zip(mine, poses, strict=True):
            track = self._tracks.get(sighting.tag) or _appeared(pose, taken_at_s)
            self._tracks[sighting.tag] = _seen(track, pose, taken_at_s, is_film=is_film)
        for tag in self._tracks.keys() - {sighting.tag for sighting in mine}:
            self._tracks[tag] = replace(self._tracks[tag], doubted=None)
        self._updated_at_s = taken_at_s
        return self.bases(taken_at_s)

    def bases(self, now_s: float) -> tuple[TrackedBase, ...]:
        """All bases seen so far, in the roster's order, as they stand now without a new picture."""
        return tuple(
            _tracked(self._tracks[tag], tag, now_s)
            for tag in self._base_types
            if tag in self._tracks
        )

    def forget(self, tag: int) -> None:
        """Take a base off: players have removed it. It appears again when it is seen again."""
        self._tracks.pop(tag, None)


def _appeared(pose: BasePose, at_s: float) -> _Track:
    return _Track(pose, _weight(pose), resting_since_s=at_s, seen_at_s=at_s, is_settled=True)


def _seen(track: _Track, pose: BasePose, at_s: float, *, is_film: bool) -> _Track:
    """The track after its base was seen at a place."""
    if _is_where(track.pose, pose):
        rested_s = at_s - track.resting_since_s
        settled = track.is_settled or rested_s >= _SETTLED_AFTER_S
        pose, weight = _averaged(track, pose)
        return _Track(pose, weight, track.resting_since_s, at_s, settled)
    is_jump = is_film and _apart_mm(track.pose, pose) > _JUMP_MM
    if is_jump and not _bears_out(track.doubted, pose):
        return replace(track, doubted=pose)
    return _Track(pose, _weight(pose), resting_since_s=at_s, seen_at_s=at_s, is_settled=False)


def _averaged(track: _Track, seen: BasePose) -> tuple[BasePose, float]:
    """A resting base after one more sighting, each counting by its variance.

    The average reaches back over a few sightings only, so that a nudge is followed. Its variance
    is the average of theirs and does not shrink with their number: what is wrong with one fit
    of a table that stands still is mostly wrong with the next one too.
    """
    old, weight = track.pose, _weight(seen)
    # However sure the old place was, it counts as so many sightings like this one at most.
    before = min(track.weight_per_mm2, _SIGHTINGS_AVERAGED * weight)
    share = weight / (before + weight)
    turn_deg = difference_deg(seen.heading_deg, old.heading_deg)
    pose = replace(
        seen,
        x_mm=old.x_mm + share * (seen.x_mm - old.x_mm),
        y_mm=old.y_mm + share * (seen.y_mm - old.y_mm),
        heading_deg=old.heading_deg + share * turn_deg,
        sigma_mm=_root_mean_square(old.sigma_mm, seen.sigma_mm, share),
        sigma_deg=_root_mean_square(old.sigma_deg, seen.sigma_deg, share),
    )
    return pose, before + weight


def _weight(pose: BasePose) -> float:
    return 1.0 / max(pose.sigma_mm, 1e-3) ** 2


def _root_mean_square(old: float, new: float, share: float) -> float:
    return math.sqrt((1 - share) * old**2 + share * new**2)


def _is_where(resting: BasePose, seen: BasePose) -> bool:
    """Whether a base that is seen lies where it rested."""
    limit_mm = max(STILL_MM, _STILL_SIGMAS * math.hypot(resting.sigma_mm, seen.sigma_mm))
    limit_deg = max(STILL_DEG, _STILL_SIGMAS * math.hypot(resting.sigma_deg, seen.sigma_deg))
    turned_deg = abs(difference_deg(seen.heading_deg, resting.heading_deg))
    return _apart_mm(resting, seen) <= limit_mm and turned_deg <= limit_deg


def _bears_out(doubted: BasePose | None, seen: BasePose) -> bool:
    return doubted is not None and _apart_mm(doubted, seen) <= _JUMP_MM


def _apart_mm(a: BasePose, b: BasePose) -> float:
    return math.hypot(a.x_mm - b.x_mm, a.y_mm - b.y_mm)


def _tracked(track: _Track, tag: int, now_s: float) -> TrackedBase:
    hidden_for_s = now_s - track.seen_at_s
    if hidden_for_s <= 0:
        return TrackedBase(tag, track.pose, track.is_settled)
    return TrackedBase(tag, replace(track.pose, seen="held"), track.is_settled, hidden_for_s)
