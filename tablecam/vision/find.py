"""A whole search: every tag of the roster that a picture shows, wherever it lies.

Squares are noticed, read, and fitted as the few tags they may be; the fits tell which they are.
What a person should know of, because it looked like a tag but cannot be one, is reported.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from tablecam.table.roster import Roster
from tablecam.vision.decode import Readings, read_squares
from tablecam.vision.dictionary import TagPatterns, tag_patterns
from tablecam.vision.fit import fit_tags
from tablecam.vision.heights import Hills, on_planes, raised
from tablecam.vision.hypotheses import NO_HYPOTHESES, Hypotheses, hypotheses
from tablecam.vision.identity import identify
from tablecam.vision.kinds import TagKind, kinds_of_like_size, tag_ids, tag_kinds
from tablecam.vision.seen import sightings_of
from tablecam.vision.sighting import Rejection, Search, TagSighting
from tablecam.vision.sought import SoughtPart, sought_part
from tablecam.vision.squares import SquareFinder, square_finder
from tablecam.vision.still import lying_before, squares_elsewhere, still_tags
from tablecam.vision.strays import tags_of_another_size
from tablecam.vision.tags import TagFits, TagGuesses
from tablecam.vision.verdict import verdict

log = logging.getLogger(__name__)

Array = NDArray[np.float64]
Grey = NDArray[np.uint8]

_MARGIN_MM = 60.0
"""How far beyond the table's edges tags are looked for, to be able to name what lies there."""
_USUAL_BLUR_PX = 0.65
_SHARPEST_PX = 0.3
_BLUR_SAMPLE = 12
_ALIKE_PX = 1.5
"""So far, less than a cell, squares may be noticed beside where they lie; reading mends it."""


@dataclass(frozen=True, slots=True, eq=False)
class _Scale:
    """Kinds of tag of like size, and what notices them, on a plane `height_mm` over the table."""

    kinds: tuple[TagKind, ...]
    height_mm: float
    squares: SquareFinder
    most_squares: int


class TagFinder:
    """Searches pictures of one camera for the tags of one roster.

    Its maps are computed once (0.3 s for a 4K camera); `search` keeps nothing from one picture
    to the next.

    Raises:
        BadInput: The roster names a dictionary or a tag that does not exist.
    """

    def __init__(self, camera: Camera, roster: Roster) -> None:
        self.camera = camera
        self.roster = roster
        self._patterns = tag_patterns(roster.dictionary, tag_ids(roster), source=roster.source)
        self._hills = Hills.of(roster, self._patterns)
        groups = kinds_of_like_size(tag_kinds(roster, self._patterns))
        self._camera_of_maps = camera
        self._table_tags = frozenset(tag.id for tag in roster.table_tags)
        self._scales = tuple(self._scale(kinds) for kinds in groups)

    def search(
        self, grey: Grey, *, before: Search | None = None, within_mm: Array | None = None
    ) -> Search:
        """Every tag in a grey picture (height, width), and what had to be refused.

        `before` is what the picture before this one gave: tags that lie where they lay are fitted
        there, and only the rest of the picture is searched: the same tags, a third sooner.

        `within_mm` (k, 4) are boxes of the table (x low, y low, x high, y high): what has its
        centre in them is looked for, at the cost of these boxes, and the rest is carried over
        from `before` as it is.

        Raises:
            ValueError: The picture is not of the camera's size.
        """
        self._check(grey)
        before = before or Search(())
        sought = sought_part(before, within_mm)
        blur_px = before.blur_px
        parts: list[Search] = []
        for scale in self._scales:
            parts.append(self._search_scale(grey, scale, sought, blur_px))
            blur_px = parts[-1].blur_px
        search = Search(
            tuple(sighting for part in parts for sighting in part.sightings),
            sought.carried.rejections + tuple(no for part in parts for no in part.rejections),
            blur_px,
        )
        for rejection in search.rejections:
            log.info("tag %d refused: %s", rejection.tag, rejection.because)
        return search

    def refit(
        self, grey: Grey, sightings: Iterable[TagSighting], *, blur_px: float | None
    ) -> tuple[TagSighting, ...]:
        """Those of the sightings that still lie where they lay, placed anew from these pixels.

        Left out is what moved by a tenth of a cell or does not look wholly like itself. The
        picture's blur is that of the `Search` that the sightings come from.

        Raises:
            ValueError: The picture is not of the camera's size.
        """
        self._check(grey)
        kinds = [kind for scale in self._scales for kind in scale.kinds]
        blur = blur_px or _USUAL_BLUR_PX
        still = still_tags(grey, self.camera, self._patterns, kinds, sightings, blur_px=blur)
        return sightings_of(self.camera, self._patterns, still)

    def with_camera(self, camera: Camera) -> TagFinder:
        """The same for a camera that moved; soon made where it moved by about a pixel.

        Squares are then noticed where they were with the camera before, and read, placed and
        named by the new one.
        """
        moved = copy(self)
        moved.camera = camera
        if not _is_alike(self._camera_of_maps, camera, self.roster):
            moved._camera_of_maps = camera
            moved._scales = tuple(moved._scale(scale.kinds) for scale in self._scales)
        return moved

    def _check(self, grey: Grey) -> None:
        lens = self.camera.lens
        if grey.shape != (lens.height_px, lens.width_px):
            raise ValueError(
                f"expected a grey picture of {lens.width_px}x{lens.height_px}, got {grey.shape}"
            )

    def _scale(self, kinds: tuple[TagKind, ...]) -> _Scale:
        height_mm = float(np.mean([kind.height_mm for kind in kinds]))
        finder = square_finder(
            self._camera_of_maps,
            self.roster.table,
            cell_mm=kinds[0].size_mm / self._patterns.side_cells,
            height_mm=height_mm,
            margin_mm=self._margin_mm(kinds),
        )
        tags = sum(len(kind.pattern) for kind in kinds)
        return _Scale(kinds, height_mm, finder, most_squares=2 * tags + 40)

    def _margin_mm(self, kinds: Sequence[TagKind]) -> float:
        """How far beyond the table's edges to look: as far as its own tags may lie."""
        rows = np.concatenate([kind.pattern for kind in kinds])
        if self._table_tags.isdisjoint(self._patterns.ids[rows].tolist()):
            return _MARGIN_MM
        return max(_MARGIN_MM, _beyond_the_table_mm(self.roster))

    def _search_scale(
        self, grey: Grey, scale: _Scale, sought: SoughtPart, blur_px: float | None
    ) -> Search:
        """The tags of like size, and the picture's blur where it is known by now."""
        camera, patterns = self.camera, self._patterns
        carried = lying_before(patterns, scale.kinds, sought.carried.sightings)
        blur = blur_px or _USUAL_BLUR_PX
        still = still_tags(grey, camera, patterns, scale.kinds, sought.before, blur_px=blur)
        noticed = scale.squares.find(grey, scale.most_squares, sought.within_mm)
        known = TagGuesses.joined([still.tags, carried])
        low_mm = np.full(len(known), scale.height_mm)
        squares = squares_elsewhere(noticed, on_planes(camera, known, low_mm))
        kinds = scale.kinds if len(squares) else ()
        readings = [read_squares(grey, camera, patterns, kind, squares) for kind in kinds]
        may_be = hypotheses(readings, patterns) if readings else NO_HYPOTHESES
        blur_px = blur_px or _blur_px(grey, camera, patterns, may_be)
        blur = blur_px or _USUAL_BLUR_PX
        fresh = fit_tags(grey, camera, patterns, may_be.guesses, blur_px=blur)
        fresh = raised(grey, camera, patterns, fresh, self._hills, blur_px=blur)
        fits = TagFits.joined([fresh, still])
        # Every still tag is a square of its own, numbered behind those that were found.
        square = np.concatenate([may_be.square, len(squares) + np.arange(len(still))])
        wanted = sought.holds(fits.tags, self._patterns.side_cells)
        fits, square = fits[wanted], square[wanted]
        found = identify(grey, camera, patterns, scale.kinds, fits, blur_px=blur)
        decided = verdict(
            found,
            square,
            patterns,
            self.roster.table,
            anywhere=self._table_tags,
            carried=carried,
        )
        believed = fits[decided.rows]
        explained = np.isin(np.arange(len(squares)), square[decided.rows])
        shown = np.concatenate([believed.tags.pattern, carried.pattern])
        strays = _strays(readings, patterns, ~explained, shown) if readings else ()
        trusted = ~np.isin(carried.pattern, decided.withdrawn)
        kept = patterns.ids[carried.pattern[trusted]].tolist()
        return Search(
            sightings_of(camera, patterns, believed) + sought.carried_tags(kept),
            decided.rejections + strays,
            blur_px,
        )


def _beyond_the_table_mm(roster: Roster) -> float:
    """How far beyond the table's edges its own tags reach, white rims included."""
    table = roster.table
    beyond_mm = max(
        (
            max(-tag.x_mm, tag.x_mm - table.width_mm, -tag.y_mm, tag.y_mm - table.depth_mm)
            for tag in roster.table_tags
        ),
        default=0.0,
    )
    return beyond_mm + roster.table_tag_size_mm


def find_tags(grey: Grey, camera: Camera, roster: Roster) -> Search:
    """Every tag of the roster in one grey picture; for many pictures make a `TagFinder`."""
    return TagFinder(camera, roster).search(grey)


def _blur_px(grey: Grey, camera: Camera, patterns: TagPatterns, may_be: Hypotheses) -> float | None:
    """The blur that the clearest squares have as tags, in the median; None without any."""
    sample = may_be.guesses[np.flatnonzero(may_be.is_clear)[:_BLUR_SAMPLE]]
    if not len(sample):
        return None
    blur_px = _USUAL_BLUR_PX
    for _ in range(2):  # from far off, the first only comes near
        fits = fit_tags(grey, camera, patterns, sample, blur_px=blur_px)
        blur_px = max(float(np.median(fits.blur_px)), _SHARPEST_PX)
    return blur_px


def _strays(
    readings: Sequence[Readings],
    patterns: TagPatterns,
    unexplained: NDArray[np.bool_],
    shown: NDArray[np.int64],
) -> tuple[Rejection, ...]:
    missing = np.ones(len(patterns.ids), dtype=np.bool_)
    missing[shown] = False
    return tags_of_another_size(readings, patterns, unexplained, missing)


def _is_alike(camera: Camera, other: Camera, roster: Roster) -> bool:
    """Whether two cameras of one picture size see the table at nearly the same pixels."""
    if (camera.lens.width_px, camera.lens.height_px) != (other.lens.width_px, other.lens.height_px):
        return False
    x_mm, y_mm = np.meshgrid(
        np.linspace(0, roster.table.width_mm, 3), np.linspace(0, roster.table.depth_mm, 3)
    )
    points_mm = np.stack([x_mm, y_mm, np.zeros_like(x_mm)], axis=-1).reshape(-1, 3)
    away_px = np.linalg.norm(camera.to_image(points_mm) - other.to_image(points_mm), axis=1)
    return bool((away_px <= _ALIKE_PX).all())
