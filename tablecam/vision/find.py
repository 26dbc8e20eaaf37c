"""A whole search: every tag of the roster that a picture shows, wherever it lies.

Squares are noticed, read, and fitted as the few tags they may be; the fits tell which they are.
What a person should know of, because it looked like a tag but cannot be one, is reported.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from tablecam.table.roster import Roster
from tablecam.vision.decode import Readings, read_squares
from tablecam.vision.dictionary import TagPatterns, tag_patterns
from tablecam.vision.fit import fit_tags, likeness_by_blur
from tablecam.vision.hypotheses import NO_HYPOTHESES, Hypotheses, hypotheses
from tablecam.vision.identity import identify
from tablecam.vision.kinds import TagKind, kinds_of_like_size, tag_ids, tag_kinds
from tablecam.vision.sighting import Rejection, Search, TagSighting
from tablecam.vision.squares import SquareFinder, square_finder
from tablecam.vision.still import squares_elsewhere, still_tags
from tablecam.vision.strays import tags_of_another_size
from tablecam.vision.tags import TagFits
from tablecam.vision.verdict import verdict

log = logging.getLogger(__name__)

Grey = NDArray[np.uint8]

_MARGIN_MM = 60.0
"""How far beyond the table's edges tags are looked for, to be able to name what lies there."""
_BLURS_PX = (0.5, 0.75, 1.1, 1.6)
"""Blurs that are tried: from a sharp lens to one out of focus."""
_USUAL_BLUR_PX = 0.75
_BLUR_SAMPLE = 12


@dataclass(frozen=True, slots=True, eq=False)
class _Scale:
    """Kinds of tag of like size, and what notices them."""

    kinds: tuple[TagKind, ...]
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
        groups = kinds_of_like_size(tag_kinds(roster, self._patterns))
        self._table_tags = frozenset(tag.id for tag in roster.table_tags)
        self._scales = tuple(self._scale(kinds) for kinds in groups)

    def search(self, grey: Grey, *, before: Search | None = None) -> Search:
        """Every tag in a grey picture (height, width), and what had to be refused.

        `before` is what the picture before this one gave: tags that lie where they lay are fitted
        there, and only the rest of the picture is searched: the same tags, a third sooner.

        Raises:
            ValueError: The picture is not of the camera's size.
        """
        lens = self.camera.lens
        if grey.shape != (lens.height_px, lens.width_px):
            raise ValueError(
                f"expected a grey picture of {lens.width_px}x{lens.height_px}, got {grey.shape}"
            )
        before = before or Search(())
        blur_px = before.blur_px
        parts: list[Search] = []
        for scale in self._scales:
            parts.append(self._search_scale(grey, scale, before.sightings, blur_px))
            blur_px = parts[-1].blur_px
        search = Search(
            tuple(sighting for part in parts for sighting in part.sightings),
            tuple(rejection for part in parts for rejection in part.rejections),
            blur_px,
        )
        for rejection in search.rejections:
            log.info("tag %d refused: %s", rejection.tag, rejection.because)
        return search

    def _scale(self, kinds: tuple[TagKind, ...]) -> _Scale:
        finder = square_finder(
            self.camera,
            self.roster.table,
            cell_mm=kinds[0].size_mm / self._patterns.side_cells,
            height_mm=float(np.mean([kind.height_mm for kind in kinds])),
            margin_mm=self._margin_mm(kinds),
        )
        tags = sum(len(kind.pattern) for kind in kinds)
        return _Scale(kinds, finder, most_squares=2 * tags + 40)

    def _margin_mm(self, kinds: Sequence[TagKind]) -> float:
        """How far beyond the table's edges to look: as far as its own tags may lie."""
        rows = np.concatenate([kind.pattern for kind in kinds])
        if self._table_tags.isdisjoint(self._patterns.ids[rows].tolist()):
            return _MARGIN_MM
        return max(_MARGIN_MM, _beyond_the_table_mm(self.roster))

    def _search_scale(
        self,
        grey: Grey,
        scale: _Scale,
        before: Sequence[TagSighting],
        blur_px: float | None,
    ) -> Search:
        """The tags of like size, and the picture's blur where it is known by now."""
        camera, patterns = self.camera, self._patterns
        blur = blur_px or _USUAL_BLUR_PX
        still = still_tags(grey, camera, patterns, scale.kinds, before, blur_px=blur)
        squares = squares_elsewhere(scale.squares.find(grey, scale.most_squares), still)
        if not len(squares) and not len(still):
            return Search((), blur_px=blur_px)
        kinds = scale.kinds if len(squares) else ()
        readings = [read_squares(grey, camera, patterns, kind, squares) for kind in kinds]
        may_be = hypotheses(readings, patterns) if readings else NO_HYPOTHESES
        blur_px = blur_px or _blur_px(grey, camera, patterns, may_be)
        blur = blur_px or _USUAL_BLUR_PX
        fresh = fit_tags(grey, camera, patterns, may_be.guesses, blur_px=blur)
        fits = TagFits.joined([fresh, still])
        # Every still tag is a square of its own, numbered behind those that were found.
        square = np.concatenate([may_be.square, len(squares) + np.arange(len(still))])
        found = identify(grey, camera, patterns, scale.kinds, fits, blur_px=blur)
        decided = verdict(found, square, patterns, self.roster.table, anywhere=self._table_tags)
        believed = fits[decided.rows]
        explained = np.isin(np.arange(len(squares)), square[decided.rows])
        strays = _strays(readings, patterns, ~explained, believed) if readings else ()
        sightings = _sightings(camera, patterns, believed)
        return Search(sightings, decided.rejections + strays, blur_px)


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
    """The blur with which the clearest squares look most like their tags; None without any."""
    sample = may_be.guesses[np.flatnonzero(may_be.is_clear)[:_BLUR_SAMPLE]]
    if not len(sample):
        return None
    placed = fit_tags(grey, camera, patterns, sample, blur_px=_USUAL_BLUR_PX).tags
    likeness = likeness_by_blur(grey, camera, patterns, placed, blurs_px=_BLURS_PX)
    return _BLURS_PX[int(np.argmax(np.median(likeness, axis=1)))]


def _strays(
    readings: Sequence[Readings],
    patterns: TagPatterns,
    unexplained: NDArray[np.bool_],
    believed: TagFits,
) -> tuple[Rejection, ...]:
    missing = np.ones(len(patterns.ids), dtype=np.bool_)
    missing[believed.tags.pattern] = False
    return tags_of_another_size(readings, patterns, unexplained, missing)


def _sightings(camera: Camera, patterns: TagPatterns, fits: TagFits) -> tuple[TagSighting, ...]:
    tags = fits.tags
    corners = _corners_px(camera, fits)
    return tuple(
        TagSighting(
            tag=int(patterns.ids[tags.pattern[row]]),
            x_mm=float(tags.places_mm[row, 0]),
            y_mm=float(tags.places_mm[row, 1]),
            heading_deg=float(np.degrees(tags.headings_rad[row]) % 360),
            height_mm=float(tags.heights_mm[row]),
            covariance=fits.covariance[row],
            corners_px=corners[row],
        )
        for row in range(len(fits))
    )


def _corners_px(camera: Camera, fits: TagFits) -> NDArray[np.float64]:
    """The corners of the black squares in the picture, (n, 4, 2), as a `TagSighting` has them."""
    tags = fits.tags
    cosine, sine = np.cos(tags.headings_rad), np.sin(tags.headings_rad)
    right = np.stack([sine, -cosine], axis=1)[:, None] * tags.sizes_mm[:, None, None] / 2
    up = np.stack([cosine, sine], axis=1)[:, None] * tags.sizes_mm[:, None, None] / 2
    sides = np.array([[-1, 1], [1, 1], [1, -1], [-1, -1]])[None, :, :, None]
    places = tags.places_mm[:, None] + sides[:, :, 0] * right + sides[:, :, 1] * up
    heights = np.broadcast_to(tags.heights_mm[:, None, None], (*places.shape[:2], 1))
    points = np.concatenate([places, heights], axis=2)
    return camera.to_image(points.reshape(-1, 3)).reshape(-1, 4, 2)
