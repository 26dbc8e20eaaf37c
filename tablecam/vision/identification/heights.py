"""Finds tags that stand on hills, and their height above the table.

A camera sees along a ray: if a tag on a hill is assumed to lie on the table, its position is wrong,
by half of the hill's height in a corner of the table. A tag's size in the picture hardly gives its
height: sigma is 5 to 7 mm at 2 to 3.5 pixels a cell on the shared footage (ink and gamma, which
make all tags look smaller, shift it by as much), 2 mm at 4, 1 mm at 6; between a fit on the table
and one 25 mm above it, the wrong one is more likely for 1 to 25 tags of 100. So hills have the
outline and height of the table file, and a base whose middle is on a hill stands on it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
import shapely
from numpy.typing import NDArray

from calibration.camera import Camera
from tablecam.table.model import Terrain
from tablecam.table.roster import Roster
from tablecam.vision.fitting.dictionary import TagPatterns
from tablecam.vision.fitting.fit import fit_tags
from tablecam.vision.fitting.tags import TagFits, TagGuesses

Array = NDArray[np.float64]
Grey = NDArray[np.uint8]

_STOOD_IN = frozenset({"woods", "wall", "hedge", "trench", "village", "impassable"})
"""Kinds of terrain whose height is that of trees or walls: bases stand among them, not on top."""


@dataclass(frozen=True, slots=True, eq=False)
class Hills:
    """Terrain of known height that bases stand on, the highest first.

    `to_middle_mm` (k, 2) is the offset from a tag to the middle of its base, forward and to the
    right, for each of the `TagPatterns`; NaN for tags that are on no base.
    """

    outlines: tuple[shapely.Geometry, ...]
    heights_mm: tuple[float, ...]
    to_middle_mm: Array

    @classmethod
    def of(cls, roster: Roster, patterns: TagPatterns) -> Hills:
        """Returns the hills of a table file."""
        hills = hills_of(roster.terrain)
        to_middle = np.full((len(patterns.ids), 2), np.nan)
        for tag, base in roster.base_type_by_tag().items():
            row = patterns.index_of[tag]
            # The table file gives the offset from the base's middle to the tag: reverse it.
            to_middle[row] = -base.tag_forward_mm, -base.tag_right_mm
        return cls(
            tuple(outline for outline, _ in hills), tuple(height for _, height in hills), to_middle
        )

    def under(self, camera: Camera, tags: TagGuesses) -> Array:
        """Returns the height of the ground under tags located as if on the table, (n,).

        Where pieces overlap or a ray meets two, the highest wins: it hides what is below.
        """
        ground = np.zeros(len(tags))
        for outline, height_mm in zip(self.outlines, self.heights_mm, strict=True):
            # The ray through the tag decides, where it meets the hill's top rather than the table.
            raised_tags = project_to_planes(camera, tags, tags.heights_mm + height_mm)
            middles = raised_tags.places_mm + self._to_middles(tags)
            inside = shapely.contains_xy(outline, middles[:, 0], middles[:, 1])
            # Hills are sorted from the highest: the first hit hides those below.
            ground = np.where(inside & (ground == 0), height_mm, ground)
        return ground

    def _to_middles(self, tags: TagGuesses) -> Array:
        """Returns the table offsets from tags to the middles of their bases, (n, 2)."""
        forward = np.stack([np.cos(tags.headings_rad), np.sin(tags.headings_rad)], axis=1)
        right = np.stack([forward[:, 1], -forward[:, 0]], axis=1)
        forward_mm, right_mm = np.hsplit(self.to_middle_mm[tags.pattern], 2)
        return np.asarray(forward_mm * forward + right_mm * right)


def raised(
    grey: Grey,
    camera: Camera,
    patterns: TagPatterns,
    fits: TagFits,
    hills: Hills,
    *,
    blur_px: float,
) -> TagFits:
    """Refits tags on hills at the hill's height; the other fits stay as they are."""
    ground = hills.under(camera, fits.tags)
    high = np.flatnonzero(ground)
    if not len(high):
        return fits
    raised_tags = project_to_planes(camera, fits.tags[high], (fits.tags.heights_mm + ground)[high])
    low = np.flatnonzero(ground == 0)
    up = fit_tags(grey, camera, patterns, raised_tags, blur_px=blur_px)
    return TagFits.joined([fits[low], up])[np.argsort(np.concatenate([low, high]))]


def project_to_planes(camera: Camera, tags: TagGuesses, heights_mm: Array) -> TagGuesses:
    """Returns the tags at the same pixels, on other planes."""
    points_mm = np.column_stack([tags.places_mm, tags.heights_mm])
    places_mm = camera.to_plane(points_mm, heights_mm)
    return replace(tags, places_mm=places_mm, heights_mm=heights_mm)


def hills_of(terrain: Iterable[Terrain]) -> tuple[tuple[shapely.Geometry, float], ...]:
    """Returns outlines and heights (mm) of terrain that bases stand on, the highest first.

    Outlines that cross themselves are repaired.
    """
    hills = [
        (shapely.make_valid(shapely.Polygon(piece.outline_mm)), piece.height_mm)
        for piece in terrain
        if piece.height_mm and piece.kind not in _STOOD_IN
    ]
    return tuple(sorted(hills, key=lambda hill: -hill[1]))
