"""Looking at a table again and again, only where something changed.

A picture of a table that stands still costs its reduced form and a comparison. Tags that no longer
look as they did when they were placed are fitted again; where that fails, and where the table
changed, is searched. A hand is no tag: blocks that keep changing are searched now and then, and
once for certain when they are still again. All that is compared with is what was last fitted or
searched, not the picture before, so that creeping does not go unnoticed. And tile by tile the
whole table is searched again, whether it seems to have changed or not.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from tablecam.vision.detection.grey_picture import GreyPicture
from tablecam.vision.detection.sighting import Search, TagSighting, places_mm
from tablecam.vision.search.blocks import blocks_of
from tablecam.vision.search.camera_scale import extent_mm
from tablecam.vision.search.changes import Changes, Ground, Map, as_map, changes
from tablecam.vision.search.find import TagFinder
from tablecam.vision.search.search_schedule import Due, due_blocks, is_swept
from tablecam.vision.search.tag_appearance import TagLooks, TagNews

Rows = NDArray[np.bool_]

_MOST_DUE = 0.4
"""Where so much of the table is due, all of it is searched: the camera was bumped, say."""


@dataclass(frozen=True, slots=True, eq=False)
class Look:
    """What one picture shows, and all that is remembered for the next.

    `search` is all that lies there now. `fresh` are the tags that were placed from this very
    picture; the others look as they did when they were placed. `changed` is the share of the
    table that changed since it was searched. `is_whole` says that all of it was searched. What
    else there is, is for the next look alone: `owed` (blocks,) were searched in passing since they
    changed, and not better yet.
    """

    search: Search
    fresh: frozenset[int]
    changed: float
    is_whole: bool
    number: int
    camera: Camera
    ground: Ground
    owed: Rows
    tags: TagLooks


class Watch:
    """Looks at pictures of one camera for the tags of one roster; it remembers nothing itself."""

    def __init__(self, finder: TagFinder) -> None:
        self._finder = finder
        self._in_passing = finder.in_passing()
        self._blocks = blocks_of(finder.camera, extent_mm(finder.roster))
        self._is_seen = self._blocks.sizes > 0
        self._table_tags = frozenset(tag.id for tag in finder.roster.table_tags)

    def with_camera(self, camera: Camera) -> Watch:
        """The same for a camera that moved; tags that look unchanged are placed by it, too."""
        return Watch(self._finder.with_camera(camera))

    def look(self, picture: GreyPicture, before: Look | None, *, whole: bool = False) -> Look:
        """What a picture shows, after the look `before`; all of it searched if `whole`.

        Raises:
            ValueError: The picture is not of the camera's size.
        """
        self._check(picture)
        if before is None or whole:
            return self._whole(picture, before)
        before = self.placed(before)
        number = before.number + 1
        if is_swept(number) or before.changed or before.owed.any():
            picture.grey()  # it will be wanted, and its reduced form is then soon made from it
        now = as_map(picture.reduced_grey())
        news = self._tag_news(picture, now, before, all_of_table=is_swept(number))
        found = self._changes(now, news, before.ground)
        due = due_blocks(number, found, news, self._blocks, before.owed, before.search.rejections)
        if due.changed[self._is_seen].mean() > _MOST_DUE:
            return self._whole(picture, before)
        search, due = self._searched(picture, before.search, news, due)
        changed = (found.waiting > 0) | found.since_before
        return Look(
            search=search,
            fresh=news.fresh(search),
            changed=float(changed[self._is_seen].mean()),
            is_whole=False,
            number=number,
            camera=self._finder.camera,
            ground=before.ground.after(now, found, self._blocks, searched=due.all),
            owed=due.owed(before.owed, found),
            tags=news.after(search, now),
        )

    def placed(self, look: Look) -> Look:
        """A look with the places that this camera gives to what it saw; fresh is what was fresh."""
        old, new = look.camera, self._finder.camera
        if old is new:
            return look
        tags = look.tags.by(old, new)
        search = replace(look.search, sightings=tags.seen)
        return replace(look, search=search, tags=tags, camera=new)

    def _check(self, picture: GreyPicture) -> None:
        lens = self._finder.camera.lens
        if (picture.width_px, picture.height_px) != (lens.width_px, lens.height_px):
            raise ValueError(
                f"expected a picture of {lens.width_px}x{lens.height_px}, got "
                f"{picture.width_px}x{picture.height_px}"
            )

    def _whole(self, picture: GreyPicture, before: Look | None) -> Look:
        """Nothing is taken for granted, not even how sharp the picture is."""
        search = self._finder.search(picture.grey())
        now = as_map(picture.reduced_grey())
        ground, tags = Ground.all_searched(now, self._blocks), TagLooks.of(search, now)
        if before is not None:
            ground = replace(ground, noise_grey=before.ground.noise_grey)
            tags = replace(tags, noise_grey=before.tags.noise_grey)
        return Look(
            search=search,
            fresh=frozenset(tag.tag for tag in search.sightings),
            changed=1.0,
            is_whole=True,
            number=0 if before is None else before.number + 1,
            camera=self._finder.camera,
            ground=ground,
            owed=np.zeros(self._blocks.count, dtype=np.bool_),
            tags=tags,
        )

    def _tag_news(
        self, picture: GreyPicture, now: Map, before: Look, *, all_of_table: bool
    ) -> TagNews:
        """Which tags lie where they lay, after another fit of those that seem not to.

        The table's own tags are fitted all at once, and now and then in any case: a camera that
        drifts shows in all of them together, long before one looks otherwise.
        """
        doubts = before.tags.compared(now)
        if all_of_table or any(tag.tag in self._table_tags for tag in doubts.changed):
            doubts = doubts.with_all_of(self._table_tags)
        if not doubts.asked:
            return doubts.answered(())
        blur_px = before.search.blur_px
        return doubts.answered(self._finder.refit(picture.grey(), doubts.asked, blur_px=blur_px))

    def _changes(self, now: Map, news: TagNews, ground: Ground) -> Changes:
        """Where the table changed; it did where tags were refused, whatever else it shows."""
        doubted = self._blocks.around(places_mm(news.refused))
        # Once it waits, it waits until it is searched, or all its hidden tags are back.
        doubted |= self._blocks.around(places_mm(news.hidden)) & (ground.waiting > 0)
        return changes(now, ground, self._blocks, doubted=doubted)

    def _searched(
        self, picture: GreyPicture, before: Search, news: TagNews, due: Due
    ) -> tuple[Search, Due]:
        """All that lies there, by a search of the blocks that are due; and which these came to be.

        Where a tag can no longer be placed a search is to tell why.
        """
        search = replace(before, sightings=news.lying)
        if not due.all.any():
            return search, due
        search, unsure = self._placed_again(picture, search, due.again, news)
        due = due.with_better(self._blocks.around(places_mm(unsure)))
        for finder, part in ((self._in_passing, due.in_passing), (self._finder, due.better)):
            if part.any():
                boxes_mm = self._blocks.boxes_mm(part)
                search = finder.search(picture.grey(), before=search, within_mm=boxes_mm)
        return search, due

    def _placed_again(
        self, picture: GreyPicture, search: Search, blocks: Rows, news: TagNews
    ) -> tuple[Search, list[TagSighting]]:
        """The tags in some blocks that look as they did, fitted all the same: they may have crept.

        With those that could not be; they stay where they were.
        """
        fresh = news.fresh(search)
        there = blocks[self._blocks.at(places_mm(search.sightings))].tolist()
        asked = [tag for tag in compress(search.sightings, there) if tag.tag not in fresh]
        if not asked:
            return search, []
        placed = self._finder.refit(picture.grey(), asked, blur_px=search.blur_px)
        found = {tag.tag: tag for tag in placed}
        sightings = tuple(found.get(tag.tag, tag) for tag in search.sightings)
        unsure = [tag for tag in asked if tag.tag not in found]
        return replace(search, sightings=sightings), unsure
