"""Which part of a table is searched, and what is carried over from the picture before."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tablecam.vision.detection.boxes import is_within
from tablecam.vision.detection.sighting import Rejection, Search, TagSighting, places_mm
from tablecam.vision.fitting.tags import TagGuesses

Array = NDArray[np.float64]

_BESIDE_CELLS = 0.25
"""A tag that lay just outside of a box may be placed just inside now, or the other way round."""
_ABOUT_REFUSED_MM = 40.0
"""How much is searched around a place that must be thought of again."""


@dataclass(frozen=True, slots=True, eq=False)
class SoughtPart:
    """What of a table to search: all of it, or boxes `within_mm` (k, 4).

    Tags seen `before` are looked for where they lay; what is `carried` over is not looked at.
    """

    within_mm: Array | None
    before: tuple[TagSighting, ...]
    carried: Search

    def holds(self, tags: TagGuesses, side_cells: int) -> NDArray[np.bool_]:
        """Which of the tags are looked for, by their centres."""
        if self.within_mm is None:
            return np.ones(len(tags), dtype=np.bool_)
        beside_mm = _BESIDE_CELLS * float(tags.sizes_mm.max(initial=0.0)) / side_cells
        return is_within(tags.places_mm, self.within_mm, beyond=beside_mm)

    def carried_tags(self, ids: Collection[int]) -> tuple[TagSighting, ...]:
        """The carried tags of these ids."""
        return tuple(seen for seen in self.carried.sightings if seen.tag in ids)


def sought_part(before: Search, within_mm: Array | None, *, keeps_tags: bool = False) -> SoughtPart:
    """What is searched when boxes are asked for after the search `before`; None: everything.

    All tags seen before are carried over if the search `keeps_tags`, wherever they lie.
    """
    if within_mm is None:
        return SoughtPart(None, before.sightings, Search(()))
    boxes_mm = np.asarray(within_mm, dtype=np.float64).reshape(-1, 4)
    boxes_mm = np.concatenate([boxes_mm, _about_copies(before.rejections, boxes_mm)])
    sought = is_within(places_mm(before.sightings), boxes_mm) & (not keeps_tags)
    refused = is_within(places_mm(before.rejections), boxes_mm)
    return SoughtPart(
        boxes_mm,
        tuple(seen for seen, is_sought in zip(before.sightings, sought, strict=True) if is_sought),
        Search(
            tuple(seen for seen, out in zip(before.sightings, ~sought, strict=True) if out),
            tuple(no for no, out in zip(before.rejections, ~refused, strict=True) if out),
        ),
    )


def _about_copies(rejections: Sequence[Rejection], boxes_mm: Array) -> Array:
    """Boxes around the other places of tags that were refused within these boxes.

    Of a tag seen twice one may be gone: then the other can be trusted, wherever it lies.
    """
    places = places_mm(rejections)
    inside = is_within(places, boxes_mm)
    again = {no.tag for no, is_inside in zip(rejections, inside, strict=True) if is_inside}
    middle = places[[no.tag in again for no in rejections]]
    return np.concatenate([middle - _ABOUT_REFUSED_MM, middle + _ABOUT_REFUSED_MM], axis=1)
