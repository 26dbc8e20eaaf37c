"""Which tags look as they did when they were placed, and which are hidden: remembered by looks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from tablecam.vision.detection.sighting import Search, TagSighting
from tablecam.vision.search.changes import Map, followed
from tablecam.vision.search.moved_camera import placed_by
from tablecam.vision.search.tag_patches import TagPatches, likeness

Rows = NDArray[np.bool_]

_USUAL_NOISE_GREY = 0.5
_USUAL_PERCENTILE = 75.0
"""Hands hide fewer tags than the rest; and of few pixels, some differ by less than the noise."""


@dataclass(frozen=True, slots=True, eq=False)
class TagLooks:
    """How tags looked when they were last placed: those `seen`, then the `hidden` ones.

    A tag is hidden when it no longer looked so, could not be fitted again, and has not been found
    since. `gave_up` (hidden,) are those that looked as they did, in the picture before, and still
    could not be fitted. `patches` has a row for each tag, `noise_grey` is what one of their pixels
    differs by (one standard deviation) while nothing changes.
    """

    seen: tuple[TagSighting, ...]
    hidden: tuple[TagSighting, ...]
    gave_up: Rows
    patches: TagPatches
    noise_grey: float = _USUAL_NOISE_GREY

    @classmethod
    def of(cls, search: Search, now: Map, noise_grey: float = _USUAL_NOISE_GREY) -> TagLooks:
        """What to remember of tags that were all placed in this very picture."""
        seen = search.sightings
        return cls(seen, (), np.empty(0, np.bool_), TagPatches.of(now, seen), noise_grey)

    def compared(self, now: Map) -> TagDoubts:
        """Which tags have to be fitted again to know where they lie."""
        like = likeness(self.patches, now, self.noise_grey)
        seen_too = len(self.seen)
        changed, there = ~like.is_alike[:seen_too], like.is_there[:seen_too]
        back = like.is_alike[seen_too:]
        noise_grey = self.noise_grey
        if seen_too:
            usual_grey = float(np.percentile(like.beside_grey[:seen_too], _USUAL_PERCENTILE))
            noise_grey = followed(noise_grey, usual_grey)
        return TagDoubts(
            before=self,
            changed=_chosen(self.seen, changed),
            back=_chosen(self.hidden, back & ~self.gave_up),
            there=frozenset(tag.tag for tag in _chosen(self.seen, changed & there)),
            alike=frozenset(tag.tag for tag in _chosen(self.hidden, back)),
            noise_grey=noise_grey,
        )

    def by(self, old: Camera, new: Camera) -> TagLooks:
        """The same tags in the same pixels, placed by another camera."""
        return replace(
            self, seen=placed_by(self.seen, old, new), hidden=placed_by(self.hidden, old, new)
        )


@dataclass(frozen=True, slots=True, eq=False)
class TagDoubts:
    """Tags to be fitted again: those that `changed`, and hidden ones that seem to be `back`.

    `there` are ids of changed ones of which the better part looks as it did, `alike` those of all
    hidden ones that look as they did.
    """

    before: TagLooks
    changed: tuple[TagSighting, ...]
    back: tuple[TagSighting, ...]
    there: frozenset[int]
    alike: frozenset[int]
    noise_grey: float

    def with_all_of(self, tags: frozenset[int]) -> TagDoubts:
        """As if all seen ones of some tags had changed: they are wanted as of one moment."""
        doubted = {tag.tag for tag in self.changed}
        more = [tag for tag in self.before.seen if tag.tag in tags - doubted]
        return replace(self, changed=(*self.changed, *more))

    @property
    def asked(self) -> tuple[TagSighting, ...]:
        """All that have to be fitted again."""
        return self.changed + self.back

    def answered(self, placed: Sequence[TagSighting]) -> TagNews:
        """What is known once those that could be were fitted again."""
        if not self.asked:
            return TagNews(self, self.before.seen, ())
        found = {tag.tag: tag for tag in placed}
        doubted = {tag.tag for tag in self.changed}
        lying = tuple(
            found.get(tag.tag, tag)
            for tag in self.before.seen
            if tag.tag in found or tag.tag not in doubted
        )
        back = tuple(found[tag.tag] for tag in self.back if tag.tag in found)
        return TagNews(
            doubts=self,
            lying=lying + back,
            refused=tuple(tag for tag in self.changed if tag.tag not in found),
        )


@dataclass(frozen=True, slots=True, eq=False)
class TagNews:
    """What fitting again told: tags `lying` where they lay, and those `refused` that lay there."""

    doubts: TagDoubts
    lying: tuple[TagSighting, ...]
    refused: tuple[TagSighting, ...]

    @property
    def nudged(self) -> tuple[TagSighting, ...]:
        """Those of the refused of which the better part is there: they lie near."""
        return tuple(tag for tag in self.refused if tag.tag in self.doubts.there)

    @property
    def hidden(self) -> tuple[TagSighting, ...]:
        """All that lay somewhere once, and are not among the `lying`."""
        lying = {tag.tag for tag in self.lying}
        old = tuple(tag for tag in self.doubts.before.hidden if tag.tag not in lying)
        return old + self.refused

    def fresh(self, search: Search) -> frozenset[int]:
        """The tags of a search that were placed from its picture, not before."""
        if search.sightings is self.doubts.before.seen:
            return frozenset()
        old = {id(tag) for tag in self.doubts.before.seen}
        return frozenset(tag.tag for tag in search.sightings if id(tag) not in old)

    def after(self, search: Search, now: Map) -> TagLooks:
        """What to remember after this picture, in which a `search` may have found more or fewer.

        A tag that was refused elsewhere, such as one that is seen twice, is not waited for.
        """
        before = self.doubts.before
        if search.sightings is before.seen and not before.hidden:
            return replace(before, noise_grey=self.doubts.noise_grey)
        row_of = {tag.tag: row for row, tag in enumerate(before.seen + before.hidden)}
        fresh = self.fresh(search)
        gone = self._gone(search)
        gave_up = np.array([tag.tag in self.doubts.alike for tag in gone], dtype=np.bool_)
        if search.sightings == before.seen and len(gone) == len(before.hidden):
            return replace(before, gave_up=gave_up, noise_grey=self.doubts.noise_grey)
        kept = [tag for tag in search.sightings if tag.tag not in fresh]
        new = [tag for tag in search.sightings if tag.tag in fresh]
        rows = np.array([row_of[tag.tag] for tag in (*kept, *gone)], dtype=np.int64)
        old = before.patches[rows]
        looks = [old[: len(kept)], TagPatches.of(now, new), old[len(kept) :]]
        return TagLooks(
            seen=(*kept, *new),
            hidden=gone,
            gave_up=gave_up,
            patches=TagPatches.joined(looks),
            noise_grey=self.doubts.noise_grey,
        )

    def _gone(self, search: Search) -> tuple[TagSighting, ...]:
        known = {tag.tag for tag in search.sightings} | {no.tag for no in search.rejections}
        before = self.doubts.before
        return tuple(tag for tag in before.seen + before.hidden if tag.tag not in known)


def _chosen(tags: Iterable[TagSighting], rows: Rows) -> tuple[TagSighting, ...]:
    return tuple(compress(tags, rows.tolist())) if rows.any() else ()
