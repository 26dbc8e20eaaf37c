"""Which tags look as they did when they were placed, and which are hidden: remembered by looks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from tablecam.vision.detection.grey_picture import REDUCED
from tablecam.vision.detection.sighting import Search, TagSighting
from tablecam.vision.search.changes import Map, followed

Array = NDArray[np.float64]
Index = NDArray[np.int64]

_REACH = 2
"""Pixels to each side of a tag's middle that are compared, at most: 5 x 5; on small tags 3 x 3."""
_WITH_RIM = 1.35
"""The patch is a tag with its white rim."""
_NOISES = 6.0
_LEAST_NOISE_GREY = 0.3
"""What rounding to whole grey levels leaves."""
_LEAST_GAIN, _MOST_GAIN = 0.5, 2.0
"""Of what most tags have: so much the light on one may change beside the others'."""
_NUDGED = 0.6
"""A tag of which so much is still as it was lies there or nearly; under a hand it is below."""


@dataclass(frozen=True, slots=True, eq=False)
class TagPatches:
    """How n tags looked when they were placed: `shape` (n, m), mean 0 and length 1, of `contrast`.

    `pixels` (n, m) count into a reduced picture; `real` (n, m) are those that count for a tag.
    """

    pixels: Index
    real: Rows
    shape: Map
    contrast: Map

    def __len__(self) -> int:
        return len(self.pixels)

    def __getitem__(self, rows: Index | Rows | slice) -> TagPatches:
        return TagPatches(self.pixels[rows], self.real[rows], self.shape[rows], self.contrast[rows])

    @classmethod
    def joined(cls, parts: Sequence[TagPatches]) -> TagPatches:
        """All rows of the parts, one part after the other."""
        return cls(
            np.concatenate([part.pixels for part in parts]),
            np.concatenate([part.real for part in parts]),
            np.concatenate([part.shape for part in parts]),
            np.concatenate([part.contrast for part in parts]),
        )

    @classmethod
    def of(cls, reduced: Map, sightings: Sequence[TagSighting]) -> TagPatches:
        """How tags look that were placed in this very picture."""
        pixels, real = _pixels(reduced, sightings)
        centred, length = _centred(reduced, pixels, real)
        shape = np.asarray(centred / np.maximum(length, 1e-3)[:, None], dtype=np.float32)
        return cls(pixels, real, shape, length)


@dataclass(frozen=True, slots=True, eq=False)
class Likeness:
    """How tags look in a picture beside how they looked, (n,) each.

    `is_alike`: nothing has changed; `is_there`: the better part is as it was. `beside_grey` is
    what one pixel differs by (root mean square).
    """

    is_alike: Rows
    is_there: Rows
    beside_grey: Map


def likeness(patches: TagPatches, now: Map, noise_grey: float) -> Likeness:
    """How much tags look as they did."""
    if not len(patches):
        nothing = np.empty(0, np.bool_)
        return Likeness(nothing, nothing, np.empty(0, np.float32))
    centred, length = _centred(now, patches.pixels, patches.real)
    part = (centred * patches.shape).sum(axis=1)
    freedoms = patches.real.sum(axis=1) - 2
    beside = np.sqrt(np.maximum(length**2 - part**2, 0) / freedoms)
    gain = part / np.maximum(patches.contrast, 1e-3)
    usual = max(float(np.median(gain)), 1e-3)
    lit = (gain > _LEAST_GAIN * usual) & (gain < _MOST_GAIN * usual)
    most = max(noise_grey, _LEAST_NOISE_GREY) * (1 + _NOISES / np.sqrt(2 * freedoms))
    alike = lit & (beside < most)
    return Likeness(
        np.asarray(alike),
        np.asarray(lit & (part > _NUDGED * length)),
        beside.astype(np.float32),
    )


def _pixels(reduced: Map, sightings: Sequence[TagSighting]) -> tuple[Index, Rows]:
    """Which pixels of a reduced picture are compared for each tag, (n, m), and which are real."""
    corners = np.array([sighting.corners_px for sighting in sightings]).reshape(-1, 4, 2)
    middles = (corners.mean(axis=1) + 0.5) / REDUCED
    half = np.linalg.norm(corners[:, 0] - corners[:, 2], axis=1) / 8**0.5 * _WITH_RIM / REDUCED
    reach = np.arange(-_REACH, _REACH + 1)
    window = np.stack(np.meshgrid(reach, reach), axis=-1).reshape(-1, 2)
    real = np.abs(window).max(axis=1) <= np.maximum(np.ceil(half - 0.5), 1)[:, None]
    # On large tags the pixels lie apart, over all of the tag.
    points = middles[:, None] + window * np.maximum(half / (_REACH + 0.5), 1)[:, None, None]
    size = np.array(reduced.shape[::-1])
    columns, rows = np.moveaxis(np.floor(points).astype(np.int64).clip(0, size - 1), 2, 0)
    return rows * reduced.shape[1] + columns, real


def _centred(reduced: Map, pixels: Index, real: Rows) -> tuple[Map, Map]:
    """The patches less their means, (n, m), and their lengths, (n,)."""
    levels = np.take(reduced, pixels)
    mean = (levels * real).sum(axis=1, keepdims=True) / real.sum(axis=1, keepdims=True)
    centred = ((levels - mean) * real).astype(np.float32)
    return centred, np.linalg.norm(centred, axis=1)


_AHEAD_MM = 5.0


def placed_by(
    sightings: Sequence[TagSighting], old: Camera, new: Camera
) -> tuple[TagSighting, ...]:
    """Tags in the same pixels, with the places that another camera gives these."""
    if not sightings:
        return ()
    places = np.array([[tag.x_mm, tag.y_mm, tag.height_mm] for tag in sightings])
    headings = np.radians([tag.heading_deg for tag in sightings])
    ahead = np.stack([np.cos(headings), np.sin(headings), np.zeros_like(headings)], axis=1)
    there = [
        new.to_table(old.to_image(places + side * _AHEAD_MM * ahead), places[:, 2])
        for side in (-1, 1)
    ]
    middles, ways = (there[0] + there[1]) / 2, there[1] - there[0]
    turned = np.degrees(np.arctan2(ways[:, 1], ways[:, 0])) % 360
    return tuple(
        replace(tag, x_mm=float(x_mm), y_mm=float(y_mm), heading_deg=float(heading_deg))
        for tag, (x_mm, y_mm), heading_deg in zip(sightings, middles, turned, strict=True)
    )


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
