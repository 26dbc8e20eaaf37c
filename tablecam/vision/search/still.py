"""Refits tags where the previous picture showed them instead of searching for them again.

Most of a table stands still most of the time, so most of a search can be skipped. A tag counts as
still only if all of it looks like itself; in any doubt its place is searched again.
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
"""As for a certain tag in a search; half covered tags stay below."""
_STILL_CELLS, NUDGED_CELLS = 0.1, 0.35
_STEPS = 2
"""Two Gauss-Newton steps suffice so close: after a nudge of 0.35 cells they end 0.007 cells from
where more steps end, with a sigma of 0.009 or more. A tag that moved farther is searched."""
_AROUND = 0.7
"""A square within this share of a tag's size of a still tag is that same tag."""


def still_tags(
    grey: Grey,
    camera: Camera,
    patterns: TagPatterns,
    kinds: Iterable[TagKind],
    before: Iterable[TagSighting],
    *,
    blur_px: float,
    within_cells: float = _STILL_CELLS,
) -> TagFits:
    """Fits the tags seen `before`, of the given kinds.

    Returns those that have not moved farther than `within_cells`.
    """
    previous = lying_before(patterns, kinds, before)
    if not len(previous):
        return TagFits.joined([])
    fits = fit_tags(grey, camera, patterns, previous, blur_px=blur_px, steps=_STEPS)
    moved_mm = np.hypot(*(fits.tags.places_mm - previous.places_mm).T)
    # A fit that drifted away has found something else.
    near = moved_mm < within_cells * previous.sizes_mm / patterns.side_cells
    return fits[near & (fits.likeness >= _LEAST_LIKENESS)]


def squares_elsewhere(squares: Squares, tags: TagGuesses) -> Squares:
    """Returns the squares that are not at the place of any of these tags."""
    if not len(tags):
        return squares
    away_mm = np.linalg.norm(squares.places_mm[:, None] - tags.places_mm[None], axis=2)
    return squares[~(away_mm < _AROUND * tags.sizes_mm).any(axis=1)]


def squares_off_paper(squares: Squares, tags: TagGuesses, side_cells: int) -> Squares:
    """Returns the squares that do not lie on the paper of these (larger) tags."""
    if not len(tags):
        return squares
    away = squares.places_mm[:, None] - tags.places_mm
    cosine, sine = np.cos(tags.headings_rad), np.sin(tags.headings_rad)
    along = away[..., 0] * cosine + away[..., 1] * sine
    across = away[..., 0] * sine - away[..., 1] * cosine
    # Half the black square and one cell of white rim.
    paper_mm = tags.sizes_mm * (0.5 + 1 / side_cells)
    is_off = (np.maximum(np.abs(along), np.abs(across)) >= paper_mm).all(axis=1)
    return squares[np.asarray(is_off)]


def lying_before(
    patterns: TagPatterns, kinds: Iterable[TagKind], before: Iterable[TagSighting]
) -> TagGuesses:
    """Returns the tags seen `before` that are of the given kinds, at their old places."""
    size_mm = {int(row): kind.size_mm for kind in kinds for row in kind.pattern}
    rows = [(patterns.index_of[tag.tag], tag) for tag in before]
    of_kinds = [(row, tag) for row, tag in rows if row in size_mm]
    return TagGuesses(
        np.array([row for row, _ in of_kinds], dtype=np.int64),
        np.array([[tag.x_mm, tag.y_mm] for _, tag in of_kinds], dtype=np.float64).reshape(-1, 2),
        np.radians([tag.heading_deg for _, tag in of_kinds]),
        np.array([tag.height_mm for _, tag in of_kinds], dtype=np.float64),
        np.array([size_mm[row] for row, _ in of_kinds], dtype=np.float64),
    )
