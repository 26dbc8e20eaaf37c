"""Which blocks of the table are searched in a picture, and for how much.

A hand is no tag, and what lies below it is held. So blocks that keep changing are searched now and
then, in passing: for what is clear, such as a base that is pushed. What a hand left behind is
so too, soon after; and when there is time, better: for what is half hidden, which costs five times
as much. When all is still there is time at once.

Measured on the watched table of the tests, a hand moving in 42 of 60 pictures (beyond decoding,
beside the time of decoding the picture in grey): 3.1 with every search for all there is, 1.5 so, at
1920 x 1080; 0.79 and 0.44 at 3840 x 2160; on a rendered film, 1280 x 720, 7.6 and 4.2. The bases
that are moved in that film settle at the same frame either way. Waiting for a second still picture
before searching better won nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tablecam.vision.detection.sighting import Rejection, places_mm
from tablecam.vision.search.blocks import Blocks
from tablecam.vision.search.changes import Changes
from tablecam.vision.search.tag_appearance import TagNews

Rows = NDArray[np.bool_]

_PATIENCE = 4
"""Blocks that keep changing are searched in every so many pictures."""
_PATIENCE_BEHIND = 2
"""And while they do, what they left behind is in every so many; when all is still, at once."""
_PATIENCE_OWED, _TURN = 12, 7
"""And better in every so many, when nothing else is searched; when all is still, at once."""
_SWEEP_EVERY = 16
_SWEEP_TILES = 16
"""So all of the table is swept in 256 pictures, one tile in every sixteenth."""
_BETTER_EVERY = 4
"""Of the tiles one in so many is swept for half hidden tags, too: each once in 1024 pictures."""
_AROUND_MM = 20.0
"""A tag that was nudged lies no farther from where it lay; one that was carried is waited for."""


@dataclass(frozen=True, slots=True, eq=False)
class Due:
    """The blocks (count,) to be searched in a picture, for one reason or another.

    `changed` may show something else than when they were searched; of these some keep `moving`.
    `swept` have their turn. `better`, of both, are to be searched for all that there is.
    """

    changed: Rows
    moving: Rows
    swept: Rows
    better: Rows

    @property
    def all(self) -> Rows:
        """Whatever the reason."""
        return self.changed | self.swept | self.better

    @property
    def in_passing(self) -> Rows:
        """Those to be searched for what is clear alone."""
        return (self.changed | self.swept) & ~self.better

    @property
    def again(self) -> Rows:
        """Those of which known tags are fitted again beforehand: better searches do so anyway."""
        return self.in_passing & ~self.moving

    def with_better(self, blocks: Rows) -> Due:
        """With some blocks to be searched better."""
        return replace(self, better=self.better | blocks)

    def owed(self, owed: Rows, found: Changes) -> Rows:
        """Which blocks are still to be searched better after this picture, of those before it."""
        return np.where(found.since_before, owed, (owed | self.changed) & ~self.better)


def is_swept(number: int) -> bool:
    """Whether a part of the table is swept in a picture."""
    return number % _SWEEP_EVERY == 0


def due_blocks(
    number: int,
    found: Changes,
    news: TagNews,
    blocks: Blocks,
    owed: Rows,
    rejections: Sequence[Rejection],
) -> Due:
    """What to search in a picture after what was found to have changed, and what is owed.

    `rejections` are those of the picture before.
    """
    if not (is_swept(number) or found.waiting.any() or owed.any() or news.nudged):
        nothing = np.zeros(blocks.count, dtype=np.bool_)
        return Due(nothing, nothing, nothing, nothing)
    changed = _changed(number, found, blocks.around(places_mm(news.nudged), _AROUND_MM))
    better = _rivals(changed, blocks, rejections)
    if not found.since_before.any():
        better |= changed | owed
    elif number % _PATIENCE_OWED == _TURN:
        better |= owed & ~found.since_before
    swept = np.zeros_like(changed)
    if is_swept(number):
        turn = number // _SWEEP_EVERY
        # What waits is searched anyway.
        swept = blocks.tile(turn, _SWEEP_TILES) & (found.waiting == 0)
        if (turn // _SWEEP_TILES - turn) % _BETTER_EVERY == 0:
            better |= swept
    return Due(changed, found.since_before & (found.waiting > 1), swept, better)


def _changed(number: int, found: Changes, near_nudged: Rows) -> Rows:
    """Which blocks have waited long enough to be searched."""
    is_over = (found.waiting >= 1) & ~found.since_before
    if found.since_before.any() and number % _PATIENCE_BEHIND:
        is_over[:] = False
    # All that keeps changing at once: many small searches cost more than one.
    goes_on = (found.waiting > 1) & (number % _PATIENCE == 0)
    return np.asarray(is_over | goes_on | (near_nudged & (found.waiting <= 1)))


def _rivals(due: Rows, blocks: Blocks, rejections: Sequence[Rejection]) -> Rows:
    """The blocks of all places of tags that are seen twice, and once in a block that is due.

    Such a tag lies at one of its places, once the other is empty.
    """
    copies = [no for no in rejections if no.is_copy]
    at = blocks.at(places_mm(copies))
    again = {no.tag for no, is_due in zip(copies, due[at], strict=True) if is_due}
    rivals = np.zeros_like(due)
    rivals[at[[no.tag in again for no in copies]]] = True
    return rivals
