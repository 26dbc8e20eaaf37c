"""Tags that lie where the picture before showed them: fitted again, not looked for anew.

Most of a table stands still most of the time, so most of a search need not be done again. A tag
counts as still only where it looks wholly like itself; the least doubt sends its place back into
the search.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from tablecam.vision.detection.kinds import TagKind
from tablecam.vision.detection.sighting import TagSighting
from tablecam.vision.detection.squares import Squares
from tablecam.vision.fitting.dictionary import TagPatterns
from tablecam.vision.fitting.fit import fit_tags
from tablecam.vision.fitting.tags import TagFits, TagGuesses

Grey = NDArray[np.uint8]

_LEAST_LIKENESS = 0.85
"""As for a tag that is surely known in a search; half covered tags stay below."""
_MOST_MOVED_CELLS = 0.1
_STEPS = 2
"""Enough from so near; what moved farther is searched for, and fitted with all steps."""
_AROUND = 0.7
"""Of a tag's size: how near to a still tag a square is that same tag."""


def still_tags(
    grey: Grey,
    camera: Camera,
    patterns: TagPatterns,
    kinds: Iterable[TagKind],
    before: Iterable[TagSighting],
    *,
    blur_px: float,
) -> TagFits:
    """Those of the tags seen `before`, of some kinds, that this picture shows at the same place."""
    there = lying_before(patterns, kinds, before)
    if not len(there):
        return TagFits.joined([])
    fits = fit_tags(grey, camera, patterns, there, blur_px=blur_px, steps=_STEPS)
    moved_mm = np.hypot(*(fits.tags.places_mm - there.places_mm).T)
    near = moved_mm < _MOST_MOVED_CELLS * there.sizes_mm / patterns.side_cells
    return fits[near & (fits.likeness >= _LEAST_LIKENESS)]


def squares_elsewhere(squares: Squares, tags: TagGuesses) -> Squares:
    """The squares that are none of these tags."""
    if not len(tags):
        return squares
    away_mm = np.linalg.norm(squares.places_mm[:, None] - tags.places_mm[None], axis=2)
    return squares[~(away_mm < _AROUND * tags.sizes_mm).any(axis=1)]


def squares_off(squares: Squares, tags: TagGuesses, side_cells: int) -> Squares:
    """The squares that do not lie on the paper of these tags, which are larger ones."""
    if not len(tags):
        return squares
    away = squares.places_mm[:, None] - tags.places_mm
    cosine, sine = np.cos(tags.headings_rad), np.sin(tags.headings_rad)
    along = away[..., 0] * cosine + away[..., 1] * sine
    across = away[..., 0] * sine - away[..., 1] * cosine
    paper_mm = tags.sizes_mm * (0.5 + 1 / side_cells)
    is_off = (np.maximum(np.abs(along), np.abs(across)) >= paper_mm).all(axis=1)
    return squares[np.asarray(is_off)]


def lying_before(
    patterns: TagPatterns, kinds: Iterable[TagKind], before: Iterable[TagSighting]
) -> TagGuesses:
    """Those of the tags seen `before` that are of some kinds, where they lay."""
    size_mm = {int(row): kind.size_mm for kind in kinds for row in kind.pattern}
    rows = [(patterns.index_of[tag.tag], tag) for tag in before]
    mine = [(row, tag) for row, tag in rows if row in size_mm]
    return TagGuesses(
        np.array([row for row, _ in mine], dtype=np.int64),
        np.array([[tag.x_mm, tag.y_mm] for _, tag in mine], dtype=np.float64).reshape(-1, 2),
        np.radians([tag.heading_deg for _, tag in mine]),
        np.array([tag.height_mm for _, tag in mine], dtype=np.float64),
        np.array([size_mm[row] for row, _ in mine], dtype=np.float64),
    )
