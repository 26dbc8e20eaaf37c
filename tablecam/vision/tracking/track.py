"""The track of one base, and how each picture updates it.

A base has moved only when it has been seen at rest somewhere else: at one place, within its
uncertainty, for `BASE_RESTS_AFTER_S`. Until then it is believed to lie at its old place.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from tablecam.table.model import BasePose
from tablecam.table.motion import BASE_RESTS_AFTER_S
from tablecam.vision.tracking.bases import BaseSighting
from tablecam.vision.tracking.resting import Resting, apart_mm

_TICK_S = 1e-3
"""Tolerance of frame times: six frame intervals at 15 frames a second count as 0.4 s."""

_JUMP_MM = 80.0
"""No hand carries a base this far between two pictures of a film: the jump counts as a misreading
until it is seen twice in a row. Pictures taken one by one are believed at once."""


@dataclass(frozen=True, slots=True)
class Moment:
    """The time of one picture and its kind; the one before it was taken at `before_s`.

    `is_film`: that was just before. `is_alone`: pictures come one by one, so this one must be
    believed at once. `beside_mm` and `camera` are as in `Resting`, `random_share` as in
    `Resting.averaged`.
    """

    at_s: float
    before_s: float
    is_film: bool
    is_alone: bool
    beside_mm: float = 0.0
    camera: int = 0
    random_share: float = 0.0


@dataclass(frozen=True, slots=True)
class Rest:
    """Where a base came to rest.

    `is_sure` is False if a single picture showed it: a film that continues from there may still
    show that a hand was carrying the base.
    """

    there: Resting
    pose: BasePose
    is_sure: bool


@dataclass(frozen=True, slots=True)
class Track:
    """The remembered state of one base.

    `here` is where it is seen, or was seen last, and `seen` the averaged base there. `gone_at_s` is
    when it was last seen, None while it is in view. `jumped_to` is a place that it seemed to jump
    to in the last picture, until the next one confirms it. `rest_before` is where it rested before
    it came to `rest`.
    """

    here: Resting
    seen: BaseSighting
    rest: Rest | None = None
    is_settled: bool = False
    gone_at_s: float | None = None
    jumped_to: Resting | None = None
    is_doubted: bool = False
    rest_before: Rest | None = None

    @property
    def is_quiet(self) -> bool:
        """Whether one more identical picture would change nothing."""
        sure = self.rest is not None and self.rest.is_sure
        return sure and self.is_settled and self.gone_at_s is None and self.jumped_to is None


def appeared(seen: BaseSighting, moment: Moment) -> Track:
    """Starts the track of a base that was never seen before."""
    here = _begun(seen, moment)
    return _watched(Track(here, here.averaged(moment.random_share)), moment)


def seen_again(track: Track, seen: BaseSighting, moment: Moment) -> Track:
    """Updates the track of a base that was seen at a place."""
    now, is_same_camera = _begun(seen, moment), track.here.camera == moment.camera
    if is_same_camera and track.here.is_where(now):
        here = track.here.with_one_more(seen, beside_mm=moment.beside_mm)
        return _watched(_still(track, here, moment), moment)
    if track.here.may_be_where(now):
        if is_same_camera:
            # The camera was pushed: this says nothing about the base.
            return replace(track, gone_at_s=None, jumped_to=None, is_doubted=False)
        # Averages do not mix two registrations, but the rest goes on.
        return _watched(_still(track, replace(now, since_s=track.here.since_s), moment), moment)
    # Only films are continuous: between single pictures anything may move far.
    is_jump = moment.is_film and apart_mm(track.here.base, seen) > _JUMP_MM
    if is_jump and not _bears_out(track.jumped_to, now):
        return replace(hidden(track, moment), jumped_to=now)
    if track.jumped_to is not None and track.jumped_to.is_where(now):
        now = track.jumped_to.with_one_more(seen, beside_mm=moment.beside_mm)
    return _watched(_moved(track, now, moment), moment)


def seen_unchanged(track: Track, moment: Moment) -> Track:
    """Updates the track of a base that looks as it did when it was last placed."""
    return _watched(track, moment)


def hidden(track: Track, moment: Moment, *, is_doubted: bool = False) -> Track:
    """Updates the track of a base that is hidden, or seen where it is not believed."""
    gone_at_s = moment.before_s if track.gone_at_s is None else track.gone_at_s
    return replace(track, gone_at_s=gone_at_s, jumped_to=None, is_doubted=is_doubted)


def _begun(seen: BaseSighting, moment: Moment) -> Resting:
    return Resting.begun(seen, moment.at_s, beside_mm=moment.beside_mm, camera=moment.camera)


def _still(track: Track, here: Resting, moment: Moment) -> Track:
    """Returns the track of a base that is seen where it was seen last."""
    away_s = 0.0 if track.gone_at_s is None else moment.at_s - track.gone_at_s
    if away_s >= BASE_RESTS_AFTER_S:
        # Time out of view is no rest; a blink does not matter.
        here = replace(here, since_s=here.since_s + away_s)
    seen = here.averaged(moment.random_share)
    return Track(here, seen, track.rest, is_settled=track.is_settled, rest_before=track.rest_before)


def _moved(track: Track, here: Resting, moment: Moment) -> Track:
    """Returns the track of a moving base; a rest that a single picture showed is withdrawn."""
    is_sure = track.rest is not None and track.rest.is_sure
    rest = track.rest if is_sure else None
    return Track(here, here.averaged(moment.random_share), rest, rest_before=track.rest_before)


def _watched(track: Track, moment: Moment) -> Track:
    """Marks the track as at rest once it has been seen at one place for long enough."""
    rest = track.rest
    is_home = rest is not None and track.here.may_be_where(rest.there)
    if track.is_settled and not is_home:
        # It has crept away, too slowly to show from picture to picture.
        track = replace(track, here=replace(track.here, since_s=moment.at_s), is_settled=False)
    is_sure = moment.at_s - track.here.since_s >= BASE_RESTS_AFTER_S - _TICK_S
    return at_rest(track, is_sure=is_sure) if is_sure or moment.is_alone else track


def at_rest(track: Track, *, is_sure: bool) -> Track:
    """Marks the track as at rest where it is seen; `is_sure` as in `Rest`."""
    rest = track.rest
    if rest is not None and track.here.may_be_where(rest.there):
        # Back where it rested: that rest goes on, and may have become sure.
        rest = replace(rest, is_sure=is_sure or rest.is_sure)
        return replace(track, rest=rest, is_settled=True)
    here = Rest(track.here, track.seen.pose(beside_mm=track.here.beside_mm), is_sure)
    return replace(track, rest=here, is_settled=True, rest_before=rest)


def _bears_out(jumped_to: Resting | None, now: Resting) -> bool:
    return jumped_to is not None and apart_mm(jumped_to.base, now.base) <= _JUMP_MM
