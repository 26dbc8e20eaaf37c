"""Looking at a table again and again, only where something changed.

A picture of a table that stands still costs its reduced form and a comparison. Tags that no longer
look as they did when they were placed are fitted again; where that fails, and where the table
changed, is searched. A hand is no tag: blocks that keep changing are searched now and then, and
once for certain when they are still again. All that is compared with is what was last fitted or
searched, not the picture before, so that creeping does not go unnoticed. And tile by tile the
whole table is searched again, whether it seems to have changed or not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import compress

import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from tablecam.vision.detection.grey_picture import GreyPicture
from tablecam.vision.detection.sighting import Rejection, Search, TagSighting, places_mm
from tablecam.vision.search.blocks import Blocks, blocks_of
from tablecam.vision.search.camera_scale import extent_mm
from tablecam.vision.search.changes import Changes, Ground, Map, as_map, changes
from tablecam.vision.search.find import TagFinder
from tablecam.vision.search.tag_appearance import TagLooks, TagNews

_PATIENCE = 4
"""Blocks that keep changing are searched in every so many pictures."""
_PATIENCE_BEHIND = 2
"""And while they do, what they left behind is in every so many; when all is still, at once."""
_PATIENCE_OWED, _TURN = 12, 7
"""And better in every so many, when nothing else is searched; when all is still, at once."""
_SWEEP_EVERY = 16
_SWEEP_TILES = 16
"""So all of the table is swept in 256 pictures, one tile in every sixteenth."""
_BETTER_EVERY = 4
"""Of the tiles one in so many is swept for half hidden tags, too: each once in 1024 pictures."""
_AROUND_MM = 20.0
"""A tag that was nudged lies no farther from where it lay; one that was carried is waited for."""


@dataclass(frozen=True, slots=True, eq=False)
class Due:
    """The blocks (count,) to be searched in a picture, for one reason or another.

    `changed` may show something else than when they were searched; of these some keep `moving`.
    `swept` have their turn. `better`, of both, are to be searched for all that there is.
    """

    changed: Rows
    moving: Rows
    swept: Rows
    better: Rows

    @property
    def all(self) -> Rows:
        """Whatever the reason."""
        return self.changed | self.swept | self.better

    @property
    def in_passing(self) -> Rows:
        """Those to be searched for what is clear alone."""
        return (self.changed | self.swept) & ~self.better

    @property
    def again(self) -> Rows:
        """Those of which known tags are fitted again beforehand: better searches do so anyway."""
        return self.in_passing & ~self.moving

    def with_better(self, blocks: Rows) -> Due:
        """With some blocks to be searched better."""
        return replace(self, better=self.better | blocks)

    def owed(self, owed: Rows, found: Changes) -> Rows:
        """Which blocks are still to be searched better after this picture, of those before it."""
        return np.where(found.since_before, owed, (owed | self.changed) & ~self.better)


def is_swept(number: int) -> bool:
    """Whether a part of the table is swept in a picture."""
    return number % _SWEEP_EVERY == 0


def due_blocks(
    number: int,
    found: Changes,
    news: TagNews,
    blocks: Blocks,
    owed: Rows,
    rejections: Sequence[Rejection],
) -> Due:
    """What to search in a picture after what was found to have changed, and what is owed.

    `rejections` are those of the picture before.
    """
    if not (is_swept(number) or found.waiting.any() or owed.any() or news.nudged):
        nothing = np.zeros(blocks.count, dtype=np.bool_)
        return Due(nothing, nothing, nothing, nothing)
    changed = _changed(number, found, blocks.around(places_mm(news.nudged), _AROUND_MM))
    better = _rivals(changed, blocks, rejections)
    if not found.since_before.any():
        better |= changed | owed
    elif number % _PATIENCE_OWED == _TURN:
        better |= owed & ~found.since_before
    swept = np.zeros_like(changed)
    if is_swept(number):
        turn = number // _SWEEP_EVERY
        # What waits is searched anyway.
        swept = blocks.tile(turn, _SWEEP_TILES) & (found.waiting == 0)
        if (turn // _SWEEP_TILES - turn) % _BETTER_EVERY == 0:
            better |= swept
    return Due(changed, found.since_before & (found.waiting > 1), swept, better)


def _changed(number: int, found: Changes, near_nudged: Rows) -> Rows:
    """Which blocks have waited long enough to be searched."""
    is_over = (found.waiting >= 1) & ~found.since_before
    if found.since_before.any() and number % _PATIENCE_BEHIND:
        is_over[:] = False
    # All that keeps changing at once: many small searches cost more than one.
    goes_on = (found.waiting > 1) & (number % _PATIENCE == 0)
    return np.asarray(is_over | goes_on | (near_nudged & (found.waiting <= 1)))


def _rivals(due: Rows, blocks: Blocks, rejections: Sequence[Rejection]) -> Rows:
    """The blocks of all places of tags that are seen twice, and once in a block that is due.

    Such a tag lies at one of its places, once the other is empty.
    """
    copies = [no for no in rejections if no.is_copy]
    at = blocks.at(places_mm(copies))
    again = {no.tag for no, is_due in zip(copies, due[at], strict=True) if is_due}
    rivals = np.zeros_like(due)
    rivals[at[[no.tag in again for no in copies]]] = True
    return rivals


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
