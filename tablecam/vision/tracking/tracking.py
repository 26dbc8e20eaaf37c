"""Tracks bases from picture to picture: they appear, rest, hide, move and rest again.

`track.py` updates the track of one base.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from calibration.camera import Camera
from tablecam.table.headings import difference_deg, forward
from tablecam.table.model import BasePose
from tablecam.table.roster import Roster
from tablecam.vision.detection.sighting import TagSighting
from tablecam.vision.tracking.bases import BaseSighting, base_sightings, calibration_errors
from tablecam.vision.tracking.resting import Scatter, share_of
from tablecam.vision.tracking.track import (
    Moment,
    Track,
    appeared,
    at_rest,
    hidden,
    seen_again,
    seen_unchanged,
)

_WATCHED_FOR_S = 0.1
"""Time that a base must be seen at one place before it is compared with its unit, so that a hand's
motion is not taken for rest."""

_LIKE_MM = 1.0
"""After a rendered hand had moved and turned a unit, neighbours 40 mm apart lay relative to each
other as before to 0.5 mm and 0.8 degrees: the error of one's heading moves the other."""

_LIKE_DEG = 2.0


def may_be_carried(track: Track, moment: Moment) -> bool:
    """Whether a moved base has been watched for long enough to compare it with its unit."""
    is_waiting = not track.is_settled and track.gone_at_s is None and track.jumped_to is None
    return (
        is_waiting and track.rest is not None and moment.at_s - track.here.since_s >= _WATCHED_FOR_S
    )


def is_carried_with(track: Track, mate: Track) -> bool:
    """Whether a base lies relative to a resting one of its unit as when both rested before.

    A hand that puts a unit down uncovers its bases one after the other. The last need not be
    watched as long as the first: they were put down together.
    """
    if not mate.is_quiet or track.rest is None or mate.rest_before is None:
        return False
    before = _lies_to(track.rest.there.base, mate.rest_before.there.base)
    after = _lies_to(track.here.base, mate.here.base)
    turned_deg = abs(difference_deg(after[2], before[2]))
    shifted_mm = math.hypot(after[0] - before[0], after[1] - before[1])
    return shifted_mm <= _LIKE_MM and turned_deg <= _LIKE_DEG


def _lies_to(base: BaseSighting, mate: BaseSighting) -> tuple[float, float, float]:
    """Returns the pose of a base relative to another: ahead and right (mm), and its turn (deg)."""
    x_mm, y_mm = base.x_mm - mate.x_mm, base.y_mm - mate.y_mm
    ahead_x, ahead_y = forward(mate.heading_deg)
    ahead_mm, right_mm = x_mm * ahead_x + y_mm * ahead_y, x_mm * ahead_y - y_mm * ahead_x
    return ahead_mm, right_mm, difference_deg(base.heading_deg, mate.heading_deg)


FILM_GAP_S = 0.7
"""Pictures with longer gaps between them count as taken one by one."""


@dataclass(frozen=True, slots=True)
class TrackedBase:
    """A base that has been seen, and its present pose.

    `pose` is where it is seen, or was seen last: `pose.seen` is `now`, or `held` while it is
    hidden, for `hidden_for_s`; a held base keeps its last sigma. `is_settled` is False from when it
    is seen to move until it has been seen at rest. `rest` is where it last came to rest; it changes
    only when the base comes to rest somewhere else, and is None until it has been seen at rest.
    `is_doubted`: its tag is seen twice, neither place is believed, and it is held where it rested.
    """

    tag: int
    pose: BasePose
    is_settled: bool
    hidden_for_s: float = 0.0
    rest: BasePose | None = None
    is_doubted: bool = False

    @property
    def believed(self) -> BasePose | None:
        """The pose for the referee: where the base rests, or rested before it was moved."""
        return self.pose if self.is_settled else self.rest


class BaseTracker:
    """Tracks the bases of one roster through the pictures of one camera."""

    def __init__(self, roster: Roster, camera: Camera) -> None:
        self._base_types = roster.base_type_by_tag()
        self._order = {tag: number for number, tag in enumerate(self._base_types)}
        self._table = roster.table
        self._camera = camera
        self._errors = calibration_errors(camera, self._table)
        self._registrations = 0
        self._scatter = Scatter()
        self._unit_by_tag = {
            tag: unit.tags
            for unit in roster.units
            if roster.lies_in_rows(unit)
            for tag in unit.tags
        }
        self._tracks: dict[int, Track] = {}
        self._shown: dict[int, TrackedBase] = {}
        self._bases: tuple[TrackedBase, ...] = ()
        self._updated_at_s: float | None = None
        self._is_film = False

    def update(
        self,
        sightings: Sequence[TagSighting],
        taken_at_s: float,
        *,
        fresh: Collection[int] | None = None,
        beside_mm: float = 0.0,
        doubted: Collection[int] = (),
    ) -> tuple[TrackedBase, ...]:
        """Updates all tracks with one more picture and returns all bases seen so far.

        A base that is not among the sightings is held at its last place, however long. A base that
        has not changed stays the same object.

        Args:
            sightings: All tags that lie there now.
            taken_at_s: When the picture was taken.
            fresh: The tags that were placed from this very picture, None for all; the others look
                as they did when last placed, which is not a new measurement.
            beside_mm: How far the picture's table tags lie from their places, as for
                `BaseSighting.pose`.
            doubted: Tags that the picture shows twice. Neither place is believed.
        """
        seen = {
            sighting.tag: sighting
            for sighting in sightings
            if sighting.tag in self._base_types and sighting.tag not in doubted
        }
        moment = self._moment(taken_at_s, beside_mm)
        measured = [
            sighting for sighting in seen.values() if self._is_new_measurement(sighting, fresh)
        ]
        changed = self._place(measured, moment)
        for tag in seen.keys() - changed.keys():
            # A quiet track would not change, and skipping it keeps a still table cheap.
            if not self._tracks[tag].is_quiet:
                changed[tag] = seen_unchanged(self._tracks[tag], moment)
        changed |= self._settled_with_their_units(changed, moment)
        for tag in self._tracks.keys() - seen.keys():
            changed[tag] = hidden(self._tracks[tag], moment, is_doubted=tag in doubted)
        self._tracks.update(changed)
        self._updated_at_s = taken_at_s
        self._show(changed, taken_at_s)
        return self._bases

    def bases(self, now_s: float) -> tuple[TrackedBase, ...]:
        """Returns all bases seen so far, in the roster's order, at a time without a new picture."""
        if self._updated_at_s is None or now_s <= self._updated_at_s:
            return self._bases
        return tuple(_held(base, now_s - self._seen_at_s(base.tag)) for base in self._bases)

    def forget(self, tag: int) -> None:
        """Forgets a base that players removed. It appears again when it is seen again."""
        if self._tracks.pop(tag, None) is not None:
            del self._shown[tag]
            self._bases = self._in_order()

    def registered(self, camera: Camera) -> None:
        """Continues with a re-registered camera.

        This moves no base: places from before and after are compared within the uncertainty of
        both registrations, and averages restart.
        """
        self._camera = camera
        self._errors = calibration_errors(camera, self._table)
        self._registrations += 1

    def _moment(self, at_s: float, beside_mm: float) -> Moment:
        """Classifies a picture: part of a film, after a break in one, or single."""
        before_s, was_film = self._updated_at_s, self._is_film
        self._is_film = before_s is not None and at_s - before_s < FILM_GAP_S
        return Moment(
            at_s,
            at_s if before_s is None else before_s,
            is_film=self._is_film,
            is_alone=not self._is_film and not was_film,
            beside_mm=beside_mm,
            camera=self._registrations,
            random_share=self._scatter.random_share,
        )

    def _seen_at_s(self, tag: int) -> float:
        """Returns the time at which a base was last seen."""
        gone_at_s = self._tracks[tag].gone_at_s
        return self._updated_at_s or 0.0 if gone_at_s is None else gone_at_s

    def _is_new_measurement(self, seen: TagSighting, fresh: Collection[int] | None) -> bool:
        """Whether a sighting carries a new measurement of its base."""
        if fresh is None or seen.tag in fresh:
            return True
        track = self._tracks.get(seen.tag)
        # An unchanged reading still shows that the base is back in view.
        return track is None or track.gone_at_s is not None or track.jumped_to is not None

    def _place(self, sightings: Sequence[TagSighting], moment: Moment) -> dict[int, Track]:
        """Updates the tracks of measured bases, and the estimate of the scatter."""
        types = [self._base_types[sighting.tag] for sighting in sightings]
        placed: dict[int, Track] = {}
        shares: list[float] = []
        for base in base_sightings(sightings, types, self._camera, self._errors):
            track = self._tracks.get(base.tag)
            if track is None:
                placed[base.tag] = appeared(base, moment)
                continue
            placed[base.tag] = seen_again(track, base, moment)
            if _has_rested(track, placed[base.tag]):
                shares.append(share_of(track.here, base))
        if 2 * len(shares) >= len(self._tracks):
            # If only a few were measured, they have changed: they do not represent all.
            self._scatter = self._scatter.updated(shares)
        return placed

    def _settled_with_their_units(
        self, changed: Mapping[int, Track], moment: Moment
    ) -> dict[int, Track]:
        """Settles bases that were carried together with a base of their unit that rests now."""
        return {
            tag: at_rest(track, is_sure=True)
            for tag, track in changed.items()
            if may_be_carried(track, moment)
            and any(is_carried_with(track, mate) for mate in self._mates(tag, changed))
        }

    def _mates(self, tag: int, changed: Mapping[int, Track]) -> Iterable[Track]:
        """Yields the tracks of the other bases of a base's unit."""
        for mate in self._unit_by_tag.get(tag, ()):
            track = changed.get(mate) or self._tracks.get(mate)
            if mate != tag and track is not None:
                yield track

    def _show(self, changed: Iterable[int], now_s: float) -> None:
        """Updates the shown bases of the tracks that changed."""
        is_other = False
        for tag in changed:
            track = self._tracks[tag]
            base = _shown(track, now_s)
            if base != self._shown.get(tag):
                self._shown[tag] = base
                is_other = True
        if is_other:
            self._bases = self._in_order()

    def _in_order(self) -> tuple[TrackedBase, ...]:
        return tuple(self._shown[tag] for tag in sorted(self._shown, key=self._order.__getitem__))


def _shown(track: Track, now_s: float) -> TrackedBase:
    rest = None if track.rest is None else track.rest.pose
    pose = track.seen.pose(beside_mm=track.here.beside_mm)
    if track.is_doubted and rest is not None:
        pose = rest
    base = TrackedBase(
        track.seen.tag, pose, track.is_settled, rest=rest, is_doubted=track.is_doubted
    )
    return base if track.gone_at_s is None else _held(base, now_s - track.gone_at_s)


def _held(base: TrackedBase, hidden_for_s: float) -> TrackedBase:
    return replace(base, pose=replace(base.pose, seen="held"), hidden_for_s=hidden_for_s)


def _has_rested(before: Track, after: Track) -> bool:
    """Whether two pictures through the same camera show a base at the same place."""
    was, is_now = before.here, after.here
    is_averaged = is_now is not was and is_now.since_s == was.since_s
    return is_averaged and is_now.camera == was.camera and before.gone_at_s is None
