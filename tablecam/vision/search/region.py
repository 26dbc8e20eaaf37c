"""Selects the part of a table to search and the tags to carry over from the previous picture."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tablecam.vision.detection.boxes import is_within
from tablecam.vision.detection.sighting import Rejection, SearchResult, TagSighting, places_mm
from tablecam.vision.fitting.tags import TagGuesses

Array = NDArray[np.float64]

_BESIDE_CELLS = 0.25
"""A tag near the edge of a box may cross it between two fits; it is searched all the same."""
_ABOUT_REJECTED_MM = 40.0
"""The half side of the box searched around another place of a tag that was seen twice."""


@dataclass(frozen=True, slots=True, eq=False)
class SoughtPart:
    """The part of a table to search: all of it, or the boxes `within_mm` (k, 4).

    Tags seen `before` are fitted again where they lay; `carried` tags and rejections are not
    examined.
    """

    within_mm: Array | None
    before: tuple[TagSighting, ...]
    carried: SearchResult

    def holds(self, tags: TagGuesses, side_cells: int) -> NDArray[np.bool_]:
        """Marks the tags whose centres lie in the part, (n,)."""
        if self.within_mm is None:
            return np.ones(len(tags), dtype=np.bool_)
        beside_mm = _BESIDE_CELLS * float(tags.sizes_mm.max(initial=0.0)) / side_cells
        return is_within(tags.places_mm, self.within_mm, beyond=beside_mm)

    def carried_tags(self, ids: Collection[int]) -> tuple[TagSighting, ...]:
        """Returns the carried sightings of these tag ids."""
        return tuple(tag for tag in self.carried.sightings if tag.tag in ids)


def sought_part(
    before: SearchResult, within_mm: Array | None, *, keeps_tags: bool = False
) -> SoughtPart:
    """Splits the search `before` at the boxes into tags to search again and tags to carry over.

    None searches everything. With `keeps_tags`, all tags of `before` are carried over, wherever
    they lie.
    """
    if within_mm is None:
        return SoughtPart(None, before.sightings, SearchResult(()))
    boxes_mm = np.asarray(within_mm, dtype=np.float64).reshape(-1, 4)
    boxes_mm = np.concatenate([boxes_mm, _about_copies(before.rejections, boxes_mm)])
    sought = is_within(places_mm(before.sightings), boxes_mm) & (not keeps_tags)
    in_boxes = is_within(places_mm(before.rejections), boxes_mm)
    return SoughtPart(
        boxes_mm,
        tuple(tag for tag, is_sought in zip(before.sightings, sought, strict=True) if is_sought),
        SearchResult(
            tuple(tag for tag, out in zip(before.sightings, ~sought, strict=True) if out),
            tuple(
                rejection
                for rejection, out in zip(before.rejections, ~in_boxes, strict=True)
                if out
            ),
        ),
    )


def _about_copies(rejections: Sequence[Rejection], boxes_mm: Array) -> Array:
    """Returns boxes around the other places of tags that were rejected within these boxes.

    When one of two copies has gone, the other can be trusted, wherever it lies.
    """
    places = places_mm(rejections)
    inside = is_within(places, boxes_mm)
    rejected_ids = {
        rejection.tag for rejection, is_inside in zip(rejections, inside, strict=True) if is_inside
    }
    middle = places[[rejection.tag in rejected_ids for rejection in rejections]]
    return np.concatenate([middle - _ABOUT_REJECTED_MM, middle + _ABOUT_REJECTED_MM], axis=1)
