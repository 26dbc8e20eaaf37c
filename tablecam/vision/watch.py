"""Looking at a table again and again, only where something changed.

A picture of a table that stands still costs its reduced form and a comparison. Tags that no longer
look as they did when they were placed are fitted again; where that fails, and where the table
changed, is searched. A hand is no tag: blocks that keep changing are searched now and then, and
once for certain when they are still again. All that is compared with is what was last fitted or
searched, not the picture before, so that creeping does not go unnoticed. And tile by tile the
whole table is searched again, whether it seems to have changed or not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from tablecam.vision.blocks import blocks_of
from tablecam.vision.changes import Changes, Ground, Map, as_map, changes
from tablecam.vision.find import TagFinder
from tablecam.vision.grey_picture import GreyPicture
from tablecam.vision.outlook import extent_mm
from tablecam.vision.sighting import Rejection, Search, TagSighting
from tablecam.vision.tag_looks import TagLooks, TagNews

Rows = NDArray[np.bool_]

_PATIENCE = 4
"""Blocks that keep changing are searched in every so many pictures."""
_PATIENCE_BEHIND = 2
"""And while they do, what they left behind is in every so many; when all is still, at once."""
_SWEEP_EVERY = 16
_SWEEP_TILES = 16
"""So all of the table is swept in 256 pictures, one tile in every sixteenth."""
_MOST_DUE = 0.4
"""Where so much of the table is due, all of it is searched: the camera was bumped, say."""
_AROUND_MM = 20.0
"""A tag that was nudged lies no farther from where it lay; one that was carried is waited for."""


@dataclass(frozen=True, slots=True, eq=False)
class Look:
    """What one picture shows, and all that is remembered for the next.

    `search` is all that lies there now. `fresh` are the tags that were placed from this very
    picture; the others look as they did when they were placed. `changed` is the share of the
    table that changed since it was searched. `is_whole` says that all of it was searched. What
    else there is, is for the next look alone.
    """

    search: Search
    fresh: frozenset[int]
    changed: float
    is_whole: bool
    number: int
    camera: Camera
    ground: Ground
    tags: TagLooks


class Watch:
    """Looks at pictures of one camera for the tags of one roster; it remembers nothing itself."""

    def __init__(self, finder: TagFinder) -> None:
        self._finder = finder
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
        is_swept = number % _SWEEP_EVERY == 0
        if is_swept or before.changed:
            picture.grey()  # it will be wanted, and its reduced form is then soon made from it
        now = as_map(picture.reduced_grey())
        news = self._tag_news(picture, now, before, is_swept=is_swept)
        found = self._changes(now, news, before.ground)
        due = self._due(number, found, news)
        if due[self._is_seen].mean() > _MOST_DUE:
            return self._whole(picture, before)
        if is_swept:
            due |= self._blocks.tile(number // _SWEEP_EVERY, _SWEEP_TILES)
        due = self._with_rivals(due, before.search.rejections)
        search = replace(before.search, sightings=news.lying)
        if due.any():
            boxes_mm = self._blocks.boxes_mm(due)
            search = self._finder.search(picture.grey(), before=search, within_mm=boxes_mm)
        changed = (found.waiting > 0) | found.since_before
        return Look(
            search=search,
            fresh=news.fresh(search),
            changed=float(changed[self._is_seen].mean()),
            is_whole=False,
            number=number,
            camera=self._finder.camera,
            ground=before.ground.after(now, found, self._blocks, searched=due),
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
            tags=tags,
        )

    def _tag_news(self, picture: GreyPicture, now: Map, before: Look, *, is_swept: bool) -> TagNews:
        """Which tags lie where they lay, after another fit of those that seem not to.

        The table's own tags are fitted all at once, and now and then in any case: a camera that
        drifts shows in all of them together, long before one looks otherwise.
        """
        doubts = before.tags.compared(now)
        if is_swept or any(tag.tag in self._table_tags for tag in doubts.changed):
            doubts = doubts.with_all_of(self._table_tags)
        if not doubts.asked:
            return doubts.answered(())
        blur_px = before.search.blur_px
        return doubts.answered(self._finder.refit(picture.grey(), doubts.asked, blur_px=blur_px))

    def _changes(self, now: Map, news: TagNews, ground: Ground) -> Changes:
        """Where the table changed; it did where tags were refused, whatever else it shows."""
        doubted = self._around(news.refused, 0.0)
        # Once it waits, it waits until it is searched, or all its hidden tags are back.
        doubted |= self._around(news.hidden, 0.0) & (ground.waiting > 0)
        return changes(now, ground, self._blocks, doubted=doubted)

    def _due(self, number: int, found: Changes, news: TagNews) -> Rows:
        """Which blocks have to be searched in this picture."""
        is_over = (found.waiting >= 1) & ~found.since_before
        if found.since_before.any() and number % _PATIENCE_BEHIND:
            is_over[:] = False
        # All that keeps changing at once: many small searches cost more than one.
        goes_on = (found.waiting > 1) & (number % _PATIENCE == 0)
        nudged = self._around(news.nudged, _AROUND_MM) & (found.waiting <= 1)
        return np.asarray(is_over | goes_on | nudged)

    def _with_rivals(self, due: Rows, rejections: Sequence[Rejection]) -> Rows:
        """The due blocks, and those of all places of tags that were refused in one of them.

        A tag that is seen twice lies at one of its places, once the other is empty.
        """
        places = np.array([[no.x_mm, no.y_mm] for no in rejections]).reshape(-1, 2)
        blocks = self._blocks.at(places)
        again = {no.tag for no, is_due in zip(rejections, due[blocks], strict=True) if is_due}
        more = due.copy()
        more[blocks[[no.tag in again for no in rejections]]] = True
        return more

    def _around(self, tags: Iterable[TagSighting], reach_mm: float) -> Rows:
        """The blocks (count,) that hold some tags, or that these may have been pushed to."""
        places = np.array([[tag.x_mm, tag.y_mm] for tag in tags]).reshape(-1, 1, 2)
        sides = np.array([[x, y] for x in (-reach_mm, reach_mm) for y in (-reach_mm, reach_mm)])
        chosen = np.zeros(self._blocks.count, dtype=np.bool_)
        chosen[self._blocks.at(places + sides)] = True
        return chosen
