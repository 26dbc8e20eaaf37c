"""Searches a series of pictures, only where the table changed.

A picture of a still table costs its reduced form and a comparison. Tags that no longer look as they
did when they were placed are fitted again; where that fails, and where the table changed, the table
is searched. Blocks that keep changing show a hand, not a tag: the blocks that it changes are
searched now and then, and thoroughly once it is out of reach. Every comparison is with the last fit
or search, not with the previous picture, so that it notices a tag that creeps. Tile by tile the
whole table is searched again, whether it seems to have changed or not; the table's own tags are
fitted again more often.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from tablecam.vision.detection.grey_picture import GreyPicture
from tablecam.vision.detection.kinds import tag_ids
from tablecam.vision.detection.sighting import Rejection, SearchResult, TagSighting, places_mm
from tablecam.vision.search.blocks import Blocks, blocks_of
from tablecam.vision.search.camera_scale import extent_mm
from tablecam.vision.search.changes import Changes, Map, ReferencePictures, as_map, detect_changes
from tablecam.vision.search.tag_appearance import RefitResult, TagAppearances
from tablecam.vision.search.tag_finder import TagFinder

Rows = NDArray[np.bool_]

_HAND_EVERY = 6
"""While blocks keep changing, all changed ones are searched in every sixth picture; else at
once."""
_THOROUGH_EVERY, _THOROUGH_TURN = 12, 7
"""While a hand moves elsewhere, thorough searches run in every twelfth picture, one without other
searches; else at once."""
_TABLE_TAGS_EVERY = 32
"""The table's own tags are fitted again in every 32nd picture, as the camera may drift, by a tenth
of a pixel in that time if it sags or warms."""
SWEEP_EVERY = 64
SWEEP_TILES = 16
"""One tile in every 64th picture: the whole table is swept in 1024 pictures."""
_BETTER_EVERY = 4
"""While tags are missing, one tile in four is swept thoroughly, for occluded tags too."""
_AROUND_MM = 20.0
"""A nudged tag lies within this distance; a tag that was carried away appears as a change."""
_MOST_SEARCHED = 0.4
"""If more of the table is to be searched, the whole picture is: the camera was bumped, say."""


@dataclass(frozen=True, slots=True, eq=False)
class SearchSchedule:
    """The blocks (count,) to search in a picture, by reason.

    `changed` blocks may show something new; those of them in `moving` keep changing. `swept` blocks
    have their turn in the sweep. `thorough` blocks are to be searched thoroughly, for occluded tags
    too, which costs five times as much: only in `quiet` blocks, which no hand can reach.

    Measured beyond decoding, relative to decoding the picture in grey, while a hand moves: about
    0.55 at 1920 x 1080 and 1.1 on a rendered film of 1280 x 720, then 11 and 33 once for the
    thorough search after it has left. Searching in every fourth picture costs a quarter more, and
    sees the eight moved bases of both films at their new places no sooner: on average in the 54th
    picture, or in the 58th if every eighth is searched.
    """

    changed: Rows
    moving: Rows
    swept: Rows
    thorough: Rows
    quiet: Rows

    @property
    def all(self) -> Rows:
        """The blocks to search for any reason."""
        return self.changed | self.swept | self.thorough

    @property
    def quick(self) -> Rows:
        """The blocks to search for clear tags only."""
        return (self.changed | self.swept) & ~self.thorough

    @property
    def refitted(self) -> Rows:
        """The blocks whose known tags are refitted first; thorough searches refit them anyway."""
        return self.quick & ~self.moving

    def with_misfits(self, blocks: Rows) -> SearchSchedule:
        """Adds changed blocks with tags that could not be fitted again, to find out why.

        Where nothing changed, such a tag is as hidden as when it was found.
        """
        return replace(self, thorough=self.thorough | (blocks & self.changed & self.quiet))

    def still_pending(self, pending: Rows, detected: Changes) -> Rows:
        """Returns the blocks that still need a thorough search after this picture."""
        return np.where(detected.since_before, pending, (pending | self.changed) & ~self.thorough)


def search_schedule(
    number: int,
    detected: Changes,
    refits: RefitResult,
    blocks: Blocks,
    pending: Rows,
    rejections: Sequence[Rejection],
    *,
    tags_are_missing: bool,
) -> SearchSchedule:
    """Decides which blocks to search in a picture.

    `refits` are the tags fitted again, `pending` (count,) the blocks waiting for a thorough search,
    and `rejections` those of the previous picture.
    """
    sweep, is_between = divmod(number, SWEEP_EVERY)
    if is_between and not (detected.waiting.any() or pending.any() or refits.nudged):
        none = np.zeros(blocks.count, dtype=np.bool_)
        return SearchSchedule(none, none, none, none, detected.near_hand == 0)
    quiet = detected.near_hand == 0
    changed = np.zeros_like(pending)
    # All changed blocks in one picture, as many small searches cost more than one.
    if quiet.all() or number % _HAND_EVERY == 0:
        # A tag that has just begun to move will have moved on, but a nudged tag lies near.
        changed = (detected.waiting > 1) | ((detected.waiting == 1) & ~detected.since_before)
        changed |= blocks.around(places_mm(refits.nudged), _AROUND_MM)
    better = _rivals(changed, blocks, rejections)
    swept = np.zeros_like(changed)
    if not quiet.all():
        if number % _THOROUGH_EVERY == _THOROUGH_TURN:
            better |= pending & quiet & ~detected.since_before
    elif not detected.since_before.any():
        better |= changed | pending
        if not is_between:
            swept = blocks.tile(sweep, SWEEP_TILES)
            # Shifted by one a round, so that each tile is swept thoroughly in every fourth round.
            if tags_are_missing and (sweep // SWEEP_TILES - sweep) % _BETTER_EVERY == 0:
                better |= swept
    moving = detected.since_before & (detected.waiting > 1)
    return SearchSchedule(changed, moving, swept, better, quiet)


def _rivals(scheduled: Rows, blocks: Blocks, rejections: Sequence[Rejection]) -> Rows:
    """Marks all places of tags that are seen twice if one of the places is scheduled.

    When one of the places empties, the tag can be trusted at the other.
    """
    copies = [rejection for rejection in rejections if rejection.is_duplicate]
    at = blocks.at(places_mm(copies))
    ids = {copy.tag for copy, is_due in zip(copies, scheduled[at], strict=True) if is_due}
    rivals = np.zeros_like(scheduled)
    rivals[at[[copy.tag in ids for copy in copies]]] = True
    return rivals


@dataclass(frozen=True, slots=True, eq=False)
class FrameReading:
    """The reading of one picture, and the state carried to the next.

    `search` holds all tags on the table now. `fresh` are the ids placed from this very picture; the
    others look as they did when they were placed. `changed_share` is the share of the table that
    changed since it was searched. `is_whole`: the whole picture was searched. The remaining fields
    carry state to the next picture; `pending` (blocks,) marks changed blocks not yet searched
    thoroughly.
    """

    search: SearchResult
    fresh: frozenset[int]
    changed_share: float
    is_whole: bool
    number: int
    camera: Camera
    ground: ReferencePictures
    pending: Rows
    tags: TagAppearances


class IncrementalSearch:
    """Reads one camera's pictures for one roster's tags; a `FrameReading` holds the state."""

    def __init__(self, finder: TagFinder) -> None:
        self._finder = finder
        self._in_passing = finder.quick()
        self._blocks = blocks_of(finder.camera, extent_mm(finder.roster))
        self._is_seen = self._blocks.sizes > 0
        self._tag_count = len(tag_ids(finder.roster))
        self._table_tags = frozenset(tag.id for tag in finder.roster.table_tags)

    def with_camera(self, camera: Camera) -> IncrementalSearch:
        """Returns the search for a camera that moved; it places unchanged tags again, too."""
        return IncrementalSearch(self._finder.with_camera(camera))

    def read(
        self, picture: GreyPicture, before: FrameReading | None, *, whole: bool = False
    ) -> FrameReading:
        """Reads a picture given the previous reading; searches all of it if `whole`.

        Raises:
            ValueError: The picture is not of the camera's size.
        """
        self._check(picture)
        if before is None or whole:
            return self._whole(picture, before)
        before = self.reprojected(before)
        number = before.number + 1
        is_drift_checked = number % _TABLE_TAGS_EVERY == 0
        if is_drift_checked or before.changed_share or before.pending.any():
            picture.grey()  # needed below in any case; the reduced form is then cheaper to make
        now = as_map(picture.reduced_grey())
        refits = self._refit_changed(picture, now, before, all_of_table=is_drift_checked)
        detected = self._changes(now, refits, before.ground)
        schedule = search_schedule(
            number,
            detected,
            refits,
            self._blocks,
            before.pending,
            before.search.rejections,
            tags_are_missing=len(refits.lying) < self._tag_count,
        )
        # Many boxes cost more than one search of the whole picture.
        if self._seen_share(schedule.changed) > _MOST_SEARCHED:
            return self._whole(picture, before)
        search, schedule = self._searched(picture, before.search, refits, schedule)
        changed = (detected.waiting > 0) | detected.since_before
        return FrameReading(
            search=search,
            fresh=refits.fresh(search),
            changed_share=self._seen_share(changed),
            is_whole=False,
            number=number,
            camera=self._finder.camera,
            ground=before.ground.updated(now, detected, self._blocks, searched=schedule.all),
            pending=schedule.still_pending(before.pending, detected),
            tags=refits.after(search, now),
        )

    def reprojected(self, look: FrameReading) -> FrameReading:
        """Returns a reading with its tags placed through this camera; `fresh` is unchanged."""
        old, new = look.camera, self._finder.camera
        if old is new:
            return look
        tags = look.tags.by(old, new)
        search = replace(look.search, sightings=tags.seen)
        return replace(look, search=search, tags=tags, camera=new)

    def _seen_share(self, blocks: Rows) -> float:
        """Returns how many of the blocks in the picture are marked, as a share."""
        return float(np.count_nonzero(blocks & self._is_seen) / np.count_nonzero(self._is_seen))

    def _check(self, picture: GreyPicture) -> None:
        """Requires a picture of the camera's size."""
        lens = self._finder.camera.lens
        if (picture.width_px, picture.height_px) != (lens.width_px, lens.height_px):
            raise ValueError(
                f"expected a picture of {lens.width_px}x{lens.height_px}, got "
                f"{picture.width_px}x{picture.height_px}"
            )

    def _whole(self, picture: GreyPicture, before: FrameReading | None) -> FrameReading:
        """Searches the whole picture; only the noise estimates are taken from `before`."""
        search = self._finder.search(picture.grey())
        now = as_map(picture.reduced_grey())
        ground, tags = (
            ReferencePictures.after_full_search(now, self._blocks),
            TagAppearances.of(search, now),
        )
        if before is not None:
            # The noise is the camera's, so it outlives a whole search.
            ground = replace(ground, noise_grey=before.ground.noise_grey)
            tags = replace(tags, noise_grey=before.tags.noise_grey)
        return FrameReading(
            search=search,
            fresh=frozenset(tag.tag for tag in search.sightings),
            changed_share=1.0,
            is_whole=True,
            # The number continues, so that the sweep does not start over.
            number=0 if before is None else before.number + 1,
            camera=self._finder.camera,
            ground=ground,
            pending=np.zeros(self._blocks.count, dtype=np.bool_),
            tags=tags,
        )

    def _refit_changed(
        self, picture: GreyPicture, now: Map, before: FrameReading, *, all_of_table: bool
    ) -> RefitResult:
        """Refits the tags that look different and reports which still lie where they lay.

        The table's own tags are always refitted together, and now and then anyway: a drifting
        camera shows in all of them long before a single one looks different.
        """
        request = before.tags.compare(now)
        if all_of_table or any(tag.tag in self._table_tags for tag in request.changed):
            request = request.with_all_of(self._table_tags)
        if not request.asked:
            return request.result(())
        blur_px = before.search.blur_px
        return request.result(self._finder.refit(picture.grey(), request.asked, blur_px=blur_px))

    def _changes(self, now: Map, refits: RefitResult, ground: ReferencePictures) -> Changes:
        """Detects where the table changed; places of refused tags always count as changed."""
        doubted = self._blocks.around(places_mm(refits.refused))
        # A waiting block stays in doubt until it is searched or all its hidden tags are back.
        doubted |= self._blocks.around(places_mm(refits.hidden)) & (ground.waiting > 0)
        return detect_changes(now, ground, self._blocks, doubted=doubted)

    def _searched(
        self,
        picture: GreyPicture,
        before: SearchResult,
        refits: RefitResult,
        schedule: SearchSchedule,
    ) -> tuple[SearchResult, SearchSchedule]:
        """Searches the blocks of the schedule; returns all tags and the schedule as carried out."""
        search = replace(before, sightings=refits.lying)
        if not schedule.all.any():
            return search, schedule
        search, misfits = self._refit_blocks(picture, search, schedule.refitted, refits)
        schedule = schedule.with_misfits(self._blocks.around(places_mm(misfits)))
        # The quick search first, so that the thorough one carries its tags over.
        for finder, part in (
            (self._in_passing, schedule.quick),
            (self._finder, schedule.thorough),
        ):
            if part.any():
                boxes_mm = self._blocks.boxes_mm(part)
                search = finder.search(picture.grey(), before=search, within_mm=boxes_mm)
        return search, schedule

    def _refit_blocks(
        self, picture: GreyPicture, search: SearchResult, blocks: Rows, refits: RefitResult
    ) -> tuple[SearchResult, list[TagSighting]]:
        """Refits the unchanged tags of some blocks, as they may have crept.

        Also returns the tags that no longer fit; they keep their places for now.
        """
        fresh = refits.fresh(search)
        is_inside = blocks[self._blocks.at(places_mm(search.sightings))].tolist()
        # Tags placed from this picture have just been fitted.
        asked = [tag for tag in compress(search.sightings, is_inside) if tag.tag not in fresh]
        if not asked:
            return search, []
        placed = self._finder.refit(picture.grey(), asked, blur_px=search.blur_px)
        placed_by_id = {tag.tag: tag for tag in placed}
        sightings = tuple(placed_by_id.get(tag.tag, tag) for tag in search.sightings)
        misfits = [tag for tag in asked if tag.tag not in placed_by_id]
        return replace(search, sightings=sightings), misfits
