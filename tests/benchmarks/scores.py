"""A detector's results on pictures whose truth is known: one row per true tag of a base."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Protocol

import numpy as np

from calibration.camera import Camera
from tablecam.geometry.rectangles import rectangles
from tablecam.table.headings import difference_deg
from tablecam.table.model import BasePose
from tablecam.table.roster import BaseType, Roster
from tablecam.vision.detection.sighting import TagSighting
from tablecam.vision.search.tag_finder import TagFinder
from tablecam.vision.tracking.tracking import BaseTracker
from tests.benchmarks.peers import Peer
from tests.footage import TrueTag
from tests.vision.sightings import base_poses

NOT_FOUND = np.nan


class TruePlace(Protocol):
    """Where a base lies and faces."""

    @property
    def x_mm(self) -> float: ...
    @property
    def y_mm(self) -> float: ...
    @property
    def heading_deg(self) -> float: ...


@dataclass(frozen=True)
class Shown:
    """A picture and its truth: the true camera, its tags, and their bases."""

    name: str
    grey: np.ndarray
    camera: Camera
    roster: Roster
    tags: Mapping[int, TrueTag]
    bases: Mapping[int, TruePlace]


@dataclass(frozen=True)
class Looked:
    """The roster's tags that a detector reports, and the number of ids outside the roster."""

    sightings: Sequence[TagSighting]
    strangers: int = 0


@dataclass(frozen=True)
class Way:
    """One way of searching a picture: `detect` is timed, `read` turns its result into tags.

    `camera` is the one on whose calibration the sightings rest. Only a way that states its
    uncertainty can tell which bases lie flush.
    """

    name: str
    camera: Camera
    detect: Callable[[np.ndarray], Any]
    read: Callable[[Any], Looked]
    ids: int = 10**9
    has_sigmas: bool = False


@dataclass(frozen=True)
class Tally:
    """Columns with one row per true base's tag, for one way of searching some pictures.

    `visible`, `px_per_cell` and `cells` (the number inside the border in view; nan if unknown) are
    the truth; errors are nan if the tag was not found. `heading_deg` are errors of tags alone,
    `row_deg` of tags together with their flush rows. `sigmas` (n, 3) are errors in x, y and heading
    over their stated sigmas. `wrong` counts the roster's tags reported at a wrong place,
    `strangers` ids that are not in the roster.
    """

    visible: np.ndarray
    px_per_cell: np.ndarray
    centre_px: np.ndarray
    place_mm: np.ndarray
    heading_deg: np.ndarray
    row_deg: np.ndarray
    cells: np.ndarray
    sigmas: np.ndarray
    wrong: int = 0
    strangers: int = 0
    pictures: int = 1

    @property
    def found(self) -> np.ndarray:
        """Which tags were found."""
        return ~np.isnan(self.centre_px)

    def __getitem__(self, rows: np.ndarray) -> Tally:
        columns = {
            key.name: getattr(self, key.name)[rows]
            for key in fields(self)
            if isinstance(getattr(self, key.name), np.ndarray)
        }
        return Tally(**columns, wrong=self.wrong, strangers=self.strangers, pictures=self.pictures)

    @classmethod
    def joined(cls, parts: Iterable[Tally]) -> Tally:
        """The rows of all parts, one part after the other."""
        tallies = list(parts)
        values = {}
        for key in fields(cls):
            column = [getattr(tally, key.name) for tally in tallies]
            is_array = isinstance(column[0], np.ndarray)
            values[key.name] = np.concatenate(column) if is_array else sum(column)
        return cls(**values)


@dataclass(frozen=True)
class Band:
    """Tags between two shares of visibility and two sizes in the picture."""

    name: str
    visible: tuple[float, float]
    px_per_cell: tuple[float, float]

    def of(self, tally: Tally) -> Tally:
        """The tags of a tally in this band."""
        low, high = self.visible
        small, large = self.px_per_cell
        is_seen = (tally.visible >= low) & (tally.visible < high)
        return tally[is_seen & (tally.px_per_cell >= small) & (tally.px_per_cell < large)]


CLEAR_LARGE = Band("≥85 % visible, ≥3 px a cell", (0.85, 2.0), (3.0, 1e9))
CLEAR_SMALL = Band("≥85 % visible, 2-3 px a cell", (0.85, 2.0), (2.0, 3.0))
CLEAR = Band("≥85 % visible", (0.85, 2.0), (0.0, 1e9))
PARTLY = Band("50-85 % visible", (0.5, 0.85), (2.0, 1e9))
HIDDEN = Band("<50 % visible", (0.0, 0.5), (0.0, 1e9))


def recall(tally: Tally, band: Band) -> float:
    """The share of a band's tags that were found; nan if it has none."""
    mine = band.of(tally)
    return float(mine.found.mean()) if len(mine.found) else float("nan")


def honesty(mine: Tally) -> tuple[str, bool]:
    """Shares of errors within one and two sigmas, for places along each axis and headings."""
    known = mine.sigmas[mine.found]
    place, turned = within(known[:, :2]), within(known[:, 2])
    good = are_honest(*place) and are_honest(*turned)
    (one, two), (turned_one, turned_two) = ((100 * a, 100 * b) for a, b in (place, turned))
    return f"place {one:.1f}, {two:.1f} %; heading {turned_one:.1f}, {turned_two:.1f} %", good


def within(off_in_sigmas: np.ndarray) -> tuple[float, float]:
    """The shares of errors, in their sigmas, within one and within two."""
    off = np.abs(off_in_sigmas)
    return float((off < 1).mean()), float((off < 2).mean())


def are_honest(one: float, two: float) -> bool:
    """Whether shares of errors within one and two sigmas are near enough to the normal's."""
    return abs(one - 0.68) <= 0.08 and abs(two - 0.95) <= 0.04


def off_in_sigmas(pose: BasePose, true: TruePlace) -> np.ndarray:
    """The errors of a base's place along x and y, in sigmas, (2,)."""
    known = rectangles([pose])
    off_mm = np.array([pose.x_mm - true.x_mm, pose.y_mm - true.y_mm])
    swung_mm = known.sigmas[0, 2] * known.swings_mm[0]
    sigmas_mm = np.hypot(known.sigmas[0, :2], swung_mm)
    return off_mm / np.where(sigmas_mm > 0, sigmas_mm, np.inf)


def heading(mine: Tally) -> tuple[str, float, float]:
    """Heading errors as the page shows them, and alone, in words; median and 95 % of those
    shown."""
    together, alone = (
        [float(np.nanpercentile(turned_deg, percent)) for percent in (50, 95)]
        for turned_deg in (mine.row_deg, mine.heading_deg)
    )
    words = f"{together[0]:.2f}°, {together[1]:.2f}° (alone {alone[0]:.2f}°, {alone[1]:.2f}°)"
    return words, together[0], together[1]


def our_way(camera: Camera, roster: Roster, name: str = "tablecam") -> Way:
    """A whole search by tablecam, through a camera."""
    finder = TagFinder(camera, roster)
    return Way(
        name, camera, finder.search, lambda search: Looked(search.sightings), has_sigmas=True
    )


def peers_way(peer: Peer, camera: Camera, roster: Roster) -> Way:
    """A peer's search; its corners are mapped to the table through a camera."""
    types = roster.base_type_by_tag()
    table_tags = {tag.id for tag in roster.table_tags}

    def read(found: Any) -> Looked:
        corners = peer.corners(found)
        sightings = [
            _sighting(tag, quad, types[tag], camera) for tag, quad in corners if tag in types
        ]
        strangers = sum(tag not in types and tag not in table_tags for tag, _ in corners)
        return Looked(sightings, strangers)

    return Way(peer.name, camera, peer.detect, read, peer.ids)


def tally(shown: Shown, way: Way) -> Tally:
    """The result of a way on a picture. Tags that the way cannot know are left out."""
    looked = way.read(way.detect(shown.grey))
    right = {seen.tag: seen for seen in looked.sightings if is_right(seen, shown.tags)}
    poses = _poses(right, shown.roster, way.camera)
    in_rows = _in_rows(right, shown.roster, way.camera) if way.has_sigmas else poses
    listed = [
        tag for tag in shown.tags if tag in shown.bases and tag < way.ids
    ]  # table tags are large, and known to no peer: they are not counted
    rows = [_row(tag, shown, right, poses, in_rows) for tag in listed]
    columns = np.array(rows).reshape(-1, 10).T
    wrong = sum(not is_right(seen, shown.tags) for seen in looked.sightings)
    return Tally(
        columns[0],
        columns[1],
        columns[2],
        columns[3],
        columns[4],
        columns[5],
        columns[6],
        columns[7:].T,
        wrong=wrong,
        strangers=looked.strangers,
    )


def is_right(seen: TagSighting, tags: Mapping[int, TrueTag]) -> bool:
    """Whether a tag lies within half its size of its reported place."""
    true = tags.get(seen.tag)
    if true is None:
        return False
    beside_px = np.hypot(*(seen.corners_px.mean(axis=0) - true.corners_px.mean(axis=0)))
    return bool(beside_px < 3 * true.px_per_cell)


def _poses(right: Mapping[int, TagSighting], roster: Roster, camera: Camera) -> dict[int, BasePose]:
    types = roster.base_type_by_tag()
    mine = [seen for tag, seen in right.items() if tag in types]
    poses = base_poses(mine, [types[seen.tag] for seen in mine], camera)
    return {seen.tag: pose for seen, pose in zip(mine, poses, strict=True)}


def _in_rows(
    right: Mapping[int, TagSighting], roster: Roster, camera: Camera
) -> dict[int, BasePose]:
    """The bases as the page shows them: in flush rows, headings combine row and tag."""
    bases = BaseTracker(roster, camera).update(tuple(right.values()), 0.0)
    return {base.tag: base.pose for base in bases}


def _row(
    tag: int,
    shown: Shown,
    right: Mapping[int, TagSighting],
    poses: Mapping[int, BasePose],
    in_rows: Mapping[int, BasePose],
) -> tuple[float, ...]:
    true_tag, true = shown.tags[tag], shown.bases[tag]
    cells = float("nan") if true_tag.cells is None else float(true_tag.cells)
    if tag not in poses:
        return true_tag.visible, true_tag.px_per_cell, *(NOT_FOUND,) * 4, cells, *(NOT_FOUND,) * 3
    pose = poses[tag]
    beside = right[tag].corners_px.mean(axis=0) - true_tag.corners_px.mean(axis=0)
    turned = difference_deg(pose.heading_deg, true.heading_deg)
    return (
        true_tag.visible,
        true_tag.px_per_cell,
        float(np.hypot(*beside)),
        math.dist((pose.x_mm, pose.y_mm), (true.x_mm, true.y_mm)),
        abs(turned),
        abs(difference_deg(in_rows[tag].heading_deg, true.heading_deg)),
        cells,
        *off_in_sigmas(pose, true),
        turned / (pose.sigma_deg or np.inf),
    )


def _sighting(tag: int, corners_px: np.ndarray, kind: BaseType, camera: Camera) -> TagSighting:
    places = camera.to_table(corners_px, kind.tag_height_mm)
    x_mm, y_mm = places.mean(axis=0)
    up = places[:2].mean(axis=0) - places[2:].mean(axis=0)
    heading = float(np.degrees(np.arctan2(up[1], up[0])))
    unknown = np.zeros((3, 3))
    return TagSighting(tag, x_mm, y_mm, heading, kind.tag_height_mm, unknown, corners_px)
