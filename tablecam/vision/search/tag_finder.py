"""Searches a whole picture for every tag of the roster.

It detects squares, decodes them and fits each as the few tags that it may be; the fits decide.
Squares that look like a tag but cannot be one are reported as rejections.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from calibration.camera import Camera
from tablecam.table.roster import Roster
from tablecam.vision.detection.kinds import TagKind, kinds_of_like_size, tag_ids, tag_kinds
from tablecam.vision.detection.sighting import SearchResult, TagSighting
from tablecam.vision.detection.squares import square_finder
from tablecam.vision.fitting.dictionary import TagPatterns, all_patterns, tag_patterns
from tablecam.vision.fitting.fine_fit import refine_poses
from tablecam.vision.fitting.tags import TagFits
from tablecam.vision.identification.frame_context import FrameContext
from tablecam.vision.identification.heights import Hills
from tablecam.vision.identification.unit_neighbours import UnitNeighbours
from tablecam.vision.search.region import SoughtPart, sought_part
from tablecam.vision.search.scale_search import Scale, ScaleSearch
from tablecam.vision.search.still import NUDGED_CELLS, lying_before, still_tags

log = logging.getLogger(__name__)

Array = NDArray[np.float64]
Grey = NDArray[np.uint8]

_MARGIN_MM = 60.0
"""The search reaches this far beyond the edges, so that tags lying there can be reported."""
_USUAL_BLUR_PX = 0.65
_ALIKE_PX = 1.5
"""Less than a cell: squares may be detected this far off, as the fit corrects their place."""


def sightings_of(camera: Camera, patterns: TagPatterns, fits: TagFits) -> tuple[TagSighting, ...]:
    """Converts fits to sightings, one for each."""
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
            gain_grey=float(fits.gain_grey[row]),
            noise_grey=float(fits.noise_grey[row]),
        )
        for row in range(len(fits))
    )


def _corners_px(camera: Camera, fits: TagFits) -> NDArray[np.float64]:
    """Projects the corners of the black squares, (n, 4, 2), in the order of `TagSighting`."""
    tags = fits.tags
    cosine, sine = np.cos(tags.headings_rad), np.sin(tags.headings_rad)
    right = np.stack([sine, -cosine], axis=1)[:, None] * tags.sizes_mm[:, None, None] / 2
    up = np.stack([cosine, sine], axis=1)[:, None] * tags.sizes_mm[:, None, None] / 2
    sides = np.array([[-1, 1], [1, 1], [1, -1], [-1, -1]])[None, :, :, None]
    places = tags.places_mm[:, None] + sides[:, :, 0] * right + sides[:, :, 1] * up
    heights = np.broadcast_to(tags.heights_mm[:, None, None], (*places.shape[:2], 1))
    points = np.concatenate([places, heights], axis=2)
    return camera.to_image(points.reshape(-1, 3)).reshape(-1, 4, 2)


_POOLS = ThreadpoolController()


@contextmanager
def one_thread() -> Iterator[None]:
    """Limits numpy's BLAS to one thread; a context manager or decorator.

    For many small matrices threads cost more than they save, a hundred times as much while other
    programs keep the cores busy (a search of 0.28 s took 1.5 s on two cores).
    """
    with _POOLS.limit(limits=1, user_api="blas"):
        yield


class TagFinder:
    """Searches pictures of one camera for the tags of one roster.

    Its maps are computed once (0.3 s for a 4K camera); `search` keeps no state between pictures.

    Raises:
        BadInput: The roster names a dictionary or a tag that does not exist.
    """

    def __init__(self, camera: Camera, roster: Roster) -> None:
        self.camera = camera
        self.roster = roster
        self._patterns = tag_patterns(roster.dictionary, tag_ids(roster), source=roster.source)
        self._hills = Hills.of(roster, self._patterns)
        self._mates = UnitNeighbours.of(roster, self._patterns)
        self._dictionary = all_patterns(roster.dictionary, source=roster.source)
        groups = kinds_of_like_size(tag_kinds(roster, self._patterns))
        self._camera_of_maps = camera
        self._table_tags = frozenset(tag.id for tag in roster.table_tags)
        self._scales = tuple(self._scale(kinds) for kinds in groups)
        self._is_in_passing = False

    @one_thread()
    def search(
        self, grey: Grey, *, before: SearchResult | None = None, within_mm: Array | None = None
    ) -> SearchResult:
        """Finds every tag in a grey picture (height, width) and lists the rejected ones.

        `before` is the search of the previous picture: tags that have not moved are fitted where
        they lay, and only the rest of the picture is searched. The result is the same in two thirds
        of the time.

        `within_mm` (k, 4) are boxes of the table (x low, y low, x high, y high): only tags with
        their centre inside are searched, and everything else is carried over from `before`.

        Raises:
            ValueError: The picture is not of the camera's size.
        """
        self._check(grey)
        before = before or SearchResult(())
        sought = sought_part(before, within_mm, keeps_tags=self._is_in_passing)
        parts: list[SearchResult] = []
        for scale in reversed(self._scales):  # the largest first, as no tag lies on top of those
            larger = [sighting for part in parts for sighting in part.sightings]
            parts.append(self._search_scale(grey, scale, sought, before.blur_px, larger))
        # The smallest tags are the most numerous and show blur best.
        blur_px = next((part.blur_px for part in reversed(parts) if part.blur_px), None)
        search = SearchResult(
            tuple(sighting for part in parts for sighting in part.sightings),
            sought.carried.rejections + tuple(out for part in parts for out in part.rejections),
            blur_px,
        )
        for rejection in search.rejections:
            log.info("tag %d rejected: %s", rejection.tag, rejection.reason)
        return search

    @one_thread()
    def refit(
        self, grey: Grey, sightings: Iterable[TagSighting], *, blur_px: float | None
    ) -> tuple[TagSighting, ...]:
        """Fits sightings again in a new picture and returns those that hardly moved.

        A tag is left out if it moved by a third of a cell or no longer looks like itself. `blur_px`
        is that of the `SearchResult` the sightings come from.

        Raises:
            ValueError: The picture is not of the camera's size.
        """
        self._check(grey)
        blur = blur_px or _USUAL_BLUR_PX
        fits = still_tags(
            *(grey, self.camera, self._patterns, self._kinds, sightings),
            blur_px=blur,
            within_cells=NUDGED_CELLS,
        )
        return sightings_of(self.camera, self._patterns, fits)

    def quick(self) -> TagFinder:
        """Returns a finder for places that keep changing: a third of the cost, clear tags only.

        Inside boxes it keeps the tags of `before` where they lay. It skips occluded and faint tags,
        and any kind of tag of which none is missing.
        """
        quick = copy(self)
        quick._is_in_passing = True
        return quick

    def with_camera(self, camera: Camera) -> TagFinder:
        """Returns the finder for a camera that moved; cheap if it moved by about a pixel.

        The maps that detect squares are then shared, while decoding and fitting use the new camera.
        """
        moved = copy(self)
        moved.camera = camera
        if not _is_alike(self._camera_of_maps, camera, self.roster):
            # Building the maps is the expensive part.
            moved._camera_of_maps = camera
            moved._scales = tuple(moved._scale(scale.kinds) for scale in self._scales)
        return moved

    @property
    def _kinds(self) -> list[TagKind]:
        """All kinds of tag, in the order of their scales."""
        return [kind for scale in self._scales for kind in scale.kinds]

    def _check(self, grey: Grey) -> None:
        """Requires a picture of the camera's size."""
        lens = self.camera.lens
        if grey.shape != (lens.height_px, lens.width_px):
            raise ValueError(
                f"expected a grey picture of {lens.width_px}x{lens.height_px}, got {grey.shape}"
            )

    def _scale(self, kinds: tuple[TagKind, ...]) -> Scale:
        """Prepares the search for kinds of tag of similar size."""
        # The smallest kind sets the scale; up to 1.5 times as large are found with it.
        finder = square_finder(
            self._camera_of_maps,
            self.roster.table,
            cell_mm=kinds[0].size_mm / self._patterns.side_cells,
            height_mm=float(np.mean([kind.height_mm for kind in kinds])),
            margin_mm=self._margin_mm(kinds),
        )
        tags = sum(len(kind.pattern) for kind in kinds)
        # More squares than tags, because other things look square, too.
        return Scale(kinds, finder, most_squares=2 * tags + 40)

    def _margin_mm(self, kinds: Sequence[TagKind]) -> float:
        """Returns the search margin around the table, wide enough for its own tags."""
        rows = np.concatenate([kind.pattern for kind in kinds])
        if self._table_tags.isdisjoint(self._patterns.ids[rows].tolist()):
            return _MARGIN_MM
        return max(_MARGIN_MM, _beyond_the_table_mm(self.roster))

    def _search_scale(
        self,
        grey: Grey,
        scale: Scale,
        sought: SoughtPart,
        blur_px: float | None,
        larger: Sequence[TagSighting],
    ) -> SearchResult:
        """Searches for the tags of one size group; the blur is estimated if not known yet."""
        context = FrameContext(
            grey,
            self.camera,
            self._patterns,
            self._dictionary,
            self._hills,
            self._mates,
            blur_px or _USUAL_BLUR_PX,
        )
        search = ScaleSearch(
            scale,
            sought,
            self.roster.table,
            anywhere=self._table_tags,
            carried=lying_before(self._patterns, scale.kinds, sought.carried.sightings),
            larger=lying_before(self._patterns, self._kinds, larger),
        )
        result = search.quick_result if self._is_in_passing else search.result
        scale_result = result(context, knows_blur=blur_px is not None)
        # Carried tags stay unless this search contradicts them.
        patterns = np.concatenate([kind.pattern for kind in scale.kinds])
        carried_ids = set(self._patterns.ids[patterns].tolist()) - scale_result.withdrawn
        fits = scale_result.fits
        # Quick searches, for places that keep changing, do without the finer fit.
        if not self._is_in_passing:
            fits = refine_poses(grey, self.camera, self._patterns, fits)
        sightings = sightings_of(self.camera, self._patterns, fits)
        return SearchResult(
            sightings + sought.carried_tags(carried_ids),
            scale_result.rejections,
            scale_result.blur_px,
        )


def _beyond_the_table_mm(roster: Roster) -> float:
    """Returns how far the table's own tags reach beyond its edges, white rims included."""
    table = roster.table
    beyond_mm = max(
        (
            max(-tag.x_mm, tag.x_mm - table.width_mm, -tag.y_mm, tag.y_mm - table.depth_mm)
            for tag in roster.table_tags
        ),
        default=0.0,
    )
    return beyond_mm + roster.table_tag_size_mm


def find_tags(grey: Grey, camera: Camera, roster: Roster) -> SearchResult:
    """Finds every tag of the roster in one grey picture; for a series make a `TagFinder`."""
    return TagFinder(camera, roster).search(grey)


def _is_alike(camera: Camera, other: Camera, roster: Roster) -> bool:
    """Whether two cameras of the same picture size see the table at nearly the same pixels."""
    if (camera.lens.width_px, camera.lens.height_px) != (other.lens.width_px, other.lens.height_px):
        return False
    # Nine points suffice, as cameras that move do so as a whole.
    x_mm, y_mm = np.meshgrid(
        np.linspace(0, roster.table.width_mm, 3), np.linspace(0, roster.table.depth_mm, 3)
    )
    points_mm = np.stack([x_mm, y_mm, np.zeros_like(x_mm)], axis=-1).reshape(-1, 3)
    away_px = np.linalg.norm(camera.to_image(points_mm) - other.to_image(points_mm), axis=1)
    return bool((away_px <= _ALIKE_PX).all())
