"""A unit that was carried as one comes to rest as one.

A hand that has put a unit down leaves its bases one after the other. The last to come out need not
be watched as long as the first: if it lies beside one that rests by now just as the two lay before
the unit was lifted, it was put down with it.
"""

from __future__ import annotations

import math

from tablecam.table.headings import difference_deg, forward
from tablecam.vision.tracking.bases import BaseSighting
from tablecam.vision.tracking.track import Moment, Track

_WATCHED_FOR_S = 0.1
"""It must have been seen at one place for so long, so that nobody takes a hand's move for it."""

_LIKE_MM = 1.0
"""Neighbours 40 mm apart lay to each other, after a rendered hand had moved and turned their unit,
as before to 0.5 mm and 0.8 degrees: a heading's error swings one about the other."""

_LIKE_DEG = 2.0


def may_be_carried(track: Track, moment: Moment) -> bool:
    """Whether a base that has moved has been watched for long enough to ask for its unit."""
    is_waiting = not track.is_settled and track.gone_at_s is None and track.jumped_to is None
    return (
        is_waiting and track.rest is not None and moment.at_s - track.here.since_s >= _WATCHED_FOR_S
    )


def is_carried_with(track: Track, mate: Track) -> bool:
    """Whether a base lies to a mate that has come to rest as it did when both rested before."""
    if not mate.is_quiet or track.rest is None or mate.rest_before is None:
        return False
    before = _lies_to(track.rest.there.base, mate.rest_before.there.base)
    after = _lies_to(track.here.base, mate.here.base)
    turned_deg = abs(difference_deg(after[2], before[2]))
    shifted_mm = math.hypot(after[0] - before[0], after[1] - before[1])
    return shifted_mm <= _LIKE_MM and turned_deg <= _LIKE_DEG


def _lies_to(base: BaseSighting, mate: BaseSighting) -> tuple[float, float, float]:
    """A base as its mate sees it: so far ahead (mm), to the right (mm), and turned (deg)."""
    x_mm, y_mm = base.x_mm - mate.x_mm, base.y_mm - mate.y_mm
    ahead_x, ahead_y = forward(mate.heading_deg)
    ahead_mm, right_mm = x_mm * ahead_x + y_mm * ahead_y, x_mm * ahead_y - y_mm * ahead_x
    return ahead_mm, right_mm, difference_deg(base.heading_deg, mate.heading_deg)
