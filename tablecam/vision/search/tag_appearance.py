"""Remembers how each tag looked when it was placed, and finds which tags changed or are hidden.

A tag's patch is a few reduced pixels on and around it, compared with gain and offset free, so that
neither the light nor the camera's exposure counts. Moving a tag by a pixel changes the reduced
pixels on its edges by an eighth of its contrast. On a simulated table (156 bases with 13 mm tags,
noise of 2 grey levels, JPEG at quality 90) there was no false alarm in 100 pictures, and this share
of moved tags was noticed in the first picture after the move, by its length:

| mm | 0.05 | 0.1 | 0.15 | 0.2 | 0.3 | 0.4 | 0.5 | 0.7 |
|---|---|---|---|---|---|---|---|---|
| 1.6 px a mm, 3.4 a cell | 15 % | 88 % | 99 % | 100 % | 100 % | 100 % | 100 % | 100 % |
| 0.8 px a mm, 1.7 a cell | 3 % | 6 % | 17 % | 29 % | 66 % | 87 % | 95 % | 97 % |

The sweep of `incremental.py` finds smaller moves.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from tablecam.vision.detection.grey_picture import REDUCED
from tablecam.vision.detection.sighting import SearchResult, TagSighting
from tablecam.vision.search.changes import (
    ROUNDING_GREY,
    USUAL_NOISE_GREY,
    Map,
    tracked_noise_grey,
)

Array = NDArray[np.float64]
Index = NDArray[np.int64]
Rows = NDArray[np.bool_]

_REACH = 2
"""Compared pixels on each side of a tag's centre: at most 5 x 5, on small tags 3 x 3."""
_WITH_RIM = 1.35
"""The patch covers the tag and its white rim."""
_NOISES = 6.0
"""An unchanged tag differs by no more than this many standard deviations of the noise."""
_LEAST_GAIN, _MOST_GAIN = 0.5, 2.0
"""The light on one tag may change by these factors relative to the median of all tags."""
_NUDGED = 0.6
"""A tag that still correlates this well lies there or nearly so; under a hand it falls below."""
_AHEAD_MM = 5.0
"""Half the distance between two points of a tag that carry its heading to another camera."""
_USUAL_RANK = 0.75
"""Few enough tags are under a hand not to raise it; high, as small tags may differ by less than the
noise."""


@dataclass(frozen=True, slots=True, eq=False)
class TagPatches:
    """The appearance of n tags when they were placed.

    `shape` (n, m) is the patch with mean 0 and length 1, `contrast` (n,) its original length.
    `pixels` (n, m) are flat indices into a reduced picture; `real` (n, m) marks those that count
    for the tag.
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
        """Concatenates several parts."""
        return cls(
            np.concatenate([part.pixels for part in parts]),
            np.concatenate([part.real for part in parts]),
            np.concatenate([part.shape for part in parts]),
            np.concatenate([part.contrast for part in parts]),
        )

    @classmethod
    def of(cls, reduced: Map, sightings: Sequence[TagSighting]) -> TagPatches:
        """Samples the tags that were placed in this very picture."""
        pixels, real = _pixels(reduced, sightings)
        centred, length = _centred(reduced, pixels, real)
        shape = np.asarray(centred / np.maximum(length, 1e-3)[:, None], dtype=np.float32)
        return cls(pixels, real, shape, length)


@dataclass(frozen=True, slots=True, eq=False)
class PatchComparison:
    """How tags look in a picture compared with their patches, (n,) each.

    `is_alike`: nothing has changed; `is_there`: most of the tag looks as before. `residual_grey` is
    the root mean square difference per pixel.
    """

    is_alike: Rows
    is_there: Rows
    residual_grey: Map


def compare_patches(patches: TagPatches, now: Map, noise_grey: float) -> PatchComparison:
    """Compares the patches with a picture, up to brightness and contrast."""
    if not len(patches):
        none = np.empty(0, np.bool_)
        return PatchComparison(none, none, np.empty(0, np.float32))
    centred, length = _centred(now, patches.pixels, patches.real)
    # Splits a patch into its remembered shape, scaled, and a residual.
    projection = np.einsum("nm,nm->n", centred, patches.shape)
    # Mean and contrast are fitted, which costs two degrees of freedom.
    freedoms = patches.real.sum(axis=1) - 2
    residual_grey = np.sqrt(np.maximum(length**2 - projection**2, 0) / freedoms)
    gain = projection / np.maximum(patches.contrast, 1e-3)
    usual_gain = max(_ranked(gain, 0.5), 1e-3)
    is_lit = (gain > _LEAST_GAIN * usual_gain) & (gain < _MOST_GAIN * usual_gain)
    # The root mean square of f samples scatters by a share of 1 / sqrt(2 f).
    most_grey = max(noise_grey, ROUNDING_GREY) * (1 + _NOISES / np.sqrt(2 * freedoms))
    alike = is_lit & (residual_grey < most_grey)
    return PatchComparison(
        np.asarray(alike),
        np.asarray(is_lit & (projection > _NUDGED * length)),
        residual_grey.astype(np.float32),
    )


def _ranked(values: Map, share: float) -> float:
    """Returns the value above a share of the others; cheaper than a percentile."""
    return float(np.sort(values)[round(share * (len(values) - 1))])


def _pixels(reduced: Map, sightings: Sequence[TagSighting]) -> tuple[Index, Rows]:
    """Selects the pixels to compare for each tag, (n, m), and marks those that count."""
    corners = np.array([sighting.corners_px for sighting in sightings]).reshape(-1, 4, 2)
    # In reduced pixels, counted from the picture's corner: `floor` then gives the index.
    middles = (corners.mean(axis=1) + 0.5) / REDUCED
    half = np.linalg.norm(corners[:, 0] - corners[:, 2], axis=1) / 8**0.5 * _WITH_RIM / REDUCED
    reach = np.arange(-_REACH, _REACH + 1)
    window = np.stack(np.meshgrid(reach, reach), axis=-1).reshape(-1, 2)
    # At least 3 x 3 pixels, however small the tag.
    real = np.abs(window).max(axis=1) <= np.maximum(np.ceil(half - 0.5), 1)[:, None]
    # On large tags the sampled pixels are spread over the whole tag.
    points = middles[:, None] + window * np.maximum(half / (_REACH + 0.5), 1)[:, None, None]
    size = np.array(reduced.shape[::-1])
    columns, rows = np.moveaxis(np.floor(points).astype(np.int64).clip(0, size - 1), 2, 0)
    return rows * reduced.shape[1] + columns, real


def _centred(reduced: Map, pixels: Index, real: Rows) -> tuple[Map, Map]:
    """Returns the patches minus their means, (n, m), and their lengths, (n,)."""
    levels, weights = np.take(reduced, pixels), real.astype(np.float32)
    mean = np.einsum("nm,nm->n", levels, weights) / np.einsum("nm->n", weights)
    centred = (levels - mean[:, None]) * weights
    return centred, np.sqrt(np.einsum("nm,nm->n", centred, centred))


def through_camera(
    sightings: Sequence[TagSighting], old: Camera, new: Camera
) -> tuple[TagSighting, ...]:
    """Places tags through another camera that sees them in the same pixels.

    The headings follow from two points ahead of and behind each tag's centre.
    """
    if not sightings:
        return ()
    places = np.array([[tag.x_mm, tag.y_mm, tag.height_mm] for tag in sightings])
    headings = np.radians([tag.heading_deg for tag in sightings])
    ahead = np.stack([np.cos(headings), np.sin(headings), np.zeros_like(headings)], axis=1)
    ends = [
        new.to_table(old.to_image(places + side * _AHEAD_MM * ahead), places[:, 2])
        for side in (-1, 1)
    ]
    # The points lie evenly on both sides, so their middle is the tag's place.
    middles, ahead_mm = (ends[0] + ends[1]) / 2, ends[1] - ends[0]
    turned = np.degrees(np.arctan2(ahead_mm[:, 1], ahead_mm[:, 0])) % 360
    return tuple(
        replace(tag, x_mm=float(x_mm), y_mm=float(y_mm), heading_deg=float(heading_deg))
        for tag, (x_mm, y_mm), heading_deg in zip(sightings, middles, turned, strict=True)
    )


@dataclass(frozen=True, slots=True, eq=False)
class TagAppearances:
    """The appearance of each tag when it was last placed: `seen` tags first, then `hidden` ones.

    A tag is hidden once it looks different, cannot be fitted again and is not found. `gave_up`
    (hidden,) marks those that looked as before in the previous picture and still could not be
    fitted. `patches` has one row per tag; `noise_grey` is the standard deviation of a pixel's
    difference while nothing changes.
    """

    seen: tuple[TagSighting, ...]
    hidden: tuple[TagSighting, ...]
    gave_up: Rows
    patches: TagPatches
    noise_grey: float = USUAL_NOISE_GREY

    @classmethod
    def of(
        cls, search: SearchResult, now: Map, noise_grey: float = USUAL_NOISE_GREY
    ) -> TagAppearances:
        """Starts from a search whose tags were all placed in this very picture."""
        seen = search.sightings
        return cls(seen, (), np.empty(0, np.bool_), TagPatches.of(now, seen), noise_grey)

    def compare(self, now: Map) -> RefitRequest:
        """Compares a picture with the remembered appearance: which tags must be fitted again."""
        comparison = compare_patches(self.patches, now, self.noise_grey)
        count = len(self.seen)
        changed, mostly_there = ~comparison.is_alike[:count], comparison.is_there[:count]
        back = comparison.is_alike[count:]
        noise_grey = self.noise_grey
        if count:
            usual_grey = _ranked(comparison.residual_grey[:count], _USUAL_RANK)
            noise_grey = tracked_noise_grey(noise_grey, usual_grey)
        return RefitRequest(
            before=self,
            changed=_chosen(self.seen, changed),
            back=_chosen(self.hidden, back & ~self.gave_up),
            mostly_there=frozenset(tag.tag for tag in _chosen(self.seen, changed & mostly_there)),
            alike=frozenset(tag.tag for tag in _chosen(self.hidden, back)),
            noise_grey=noise_grey,
        )

    def by(self, old: Camera, new: Camera) -> TagAppearances:
        """Places the same pixels of all tags through another camera."""
        return replace(
            self,
            seen=through_camera(self.seen, old, new),
            hidden=through_camera(self.hidden, old, new),
        )


@dataclass(frozen=True, slots=True, eq=False)
class RefitRequest:
    """The tags to fit again: those that `changed`, and hidden ones that seem to be `back`.

    `mostly_there` are ids of changed tags that mostly still look as before; `alike` are ids of
    all hidden tags that look as before.
    """

    before: TagAppearances
    changed: tuple[TagSighting, ...]
    back: tuple[TagSighting, ...]
    mostly_there: frozenset[int]
    alike: frozenset[int]
    noise_grey: float

    def with_all_of(self, tags: frozenset[int]) -> RefitRequest:
        """Adds all seen tags of the given ids, so that they are measured at the same moment."""
        included = {tag.tag for tag in self.changed}
        more = [tag for tag in self.before.seen if tag.tag in tags - included]
        return replace(self, changed=(*self.changed, *more))

    @property
    def asked(self) -> tuple[TagSighting, ...]:
        """All tags to fit again."""
        return self.changed + self.back

    def result(self, placed: Sequence[TagSighting]) -> RefitResult:
        """Combines the request with the tags that could be `placed` again."""
        if not self.asked:
            return RefitResult(self, self.before.seen, ())
        placed_by_id = {tag.tag: tag for tag in placed}
        requested = {tag.tag for tag in self.changed}
        lying = tuple(
            placed_by_id.get(tag.tag, tag)
            for tag in self.before.seen
            if tag.tag in placed_by_id or tag.tag not in requested
        )
        back = tuple(placed_by_id[tag.tag] for tag in self.back if tag.tag in placed_by_id)
        return RefitResult(
            request=self,
            lying=lying + back,
            refused=tuple(tag for tag in self.changed if tag.tag not in placed_by_id),
        )


@dataclass(frozen=True, slots=True, eq=False)
class RefitResult:
    """The result of fitting again: tags `lying` where they lay, and `refused` ones."""

    request: RefitRequest
    lying: tuple[TagSighting, ...]
    refused: tuple[TagSighting, ...]

    @property
    def nudged(self) -> tuple[TagSighting, ...]:
        """The refused tags that mostly still look as before: they lie near."""
        return tuple(tag for tag in self.refused if tag.tag in self.request.mostly_there)

    @property
    def hidden(self) -> tuple[TagSighting, ...]:
        """All remembered tags that are not `lying`."""
        lying = {tag.tag for tag in self.lying}
        old = tuple(tag for tag in self.request.before.hidden if tag.tag not in lying)
        return old + self.refused

    def fresh(self, search: SearchResult) -> frozenset[int]:
        """Returns the ids of the tags in a search that were placed from its own picture."""
        if search.sightings is self.request.before.seen:
            return frozenset()
        # Sightings that were not refitted are the same objects as before.
        old = {id(tag) for tag in self.request.before.seen}
        return frozenset(tag.tag for tag in search.sightings if id(tag) not in old)

    def after(self, search: SearchResult, now: Map) -> TagAppearances:
        """Returns the appearance to remember after this picture and its `search`.

        A tag that the search rejected, such as one seen twice, is no longer remembered as hidden.
        """
        before = self.request.before
        if search.sightings is before.seen and not before.hidden:
            return replace(before, noise_grey=self.request.noise_grey)
        row_of = {tag.tag: row for row, tag in enumerate(before.seen + before.hidden)}
        fresh = self.fresh(search)
        gone = self._gone(search)
        gave_up = np.array([tag.tag in self.request.alike for tag in gone], dtype=np.bool_)
        if search.sightings == before.seen and len(gone) == len(before.hidden):
            return replace(before, gave_up=gave_up, noise_grey=self.request.noise_grey)
        unchanged = [tag for tag in search.sightings if tag.tag not in fresh]
        new = [tag for tag in search.sightings if tag.tag in fresh]
        rows = np.array([row_of[tag.tag] for tag in (*unchanged, *gone)], dtype=np.int64)
        old = before.patches[rows]
        patches = [old[: len(unchanged)], TagPatches.of(now, new), old[len(unchanged) :]]
        return TagAppearances(
            seen=(*unchanged, *new),
            hidden=gone,
            gave_up=gave_up,
            patches=TagPatches.joined(patches),
            noise_grey=self.request.noise_grey,
        )

    def _gone(self, search: SearchResult) -> tuple[TagSighting, ...]:
        """Returns the tags that the search neither placed nor rejected."""
        accounted = {tag.tag for tag in search.sightings} | {out.tag for out in search.rejections}
        before = self.request.before
        return tuple(tag for tag in before.seen + before.hidden if tag.tag not in accounted)


def _chosen(tags: Iterable[TagSighting], rows: Rows) -> tuple[TagSighting, ...]:
    """Selects the tags whose row is marked."""
    return tuple(compress(tags, rows.tolist())) if rows.any() else ()
