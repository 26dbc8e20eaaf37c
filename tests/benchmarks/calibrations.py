"""One table's bases through many calibrations, each of whose errors is one draw for all bases.

A picture of two hundred bases samples the error of a fit two hundred times, but that of its
calibration once. So the bases in a picture are placed again through calibrations that differ at
random: in the lens, in the reading of table tags, and in how a hand laid these tags.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from calibration.camera import Camera
from calibration.extrinsics.tag_adjustment import Adjustment, Spreads
from tablecam.geometry.rectangles import rectangles
from tablecam.table.model import BasePose
from tablecam.table.roster import BaseType
from tablecam.vision.detection.sighting import TagSighting
from tablecam.vision.search.tag_finder import TagFinder
from tests.benchmarks.scores import is_right, off_in_sigmas
from tests.calibration.laid_tags import ARM_MM, OVERSTATED, LaidTable
from tests.footage import Rig
from tests.vision.sightings import base_poses

_SIDES_PX = {"hd-b": (0.025, 0.014), "uhd-b": (0.033, 0.066)}
"""Errors of sides in the pattern readings of the footage's table tags, and of their ends relative
to each other, so that centres and headings err as they do there: by 0.018 and 0.024 px, and 0.007
and 0.033 px over half a side."""
_ARM_MM = 5.0
"""Distance from a tag's centre at which its direction is carried over to another camera."""
_LEAST_MM = 1e-3
"""The spread stated to a calibration for tags that lie exactly."""


@dataclass(frozen=True, eq=False)
class SeenBases:
    """The bases of a table as its pictures show them through `camera`."""

    camera: Camera
    sightings: tuple[TagSighting, ...]
    base_types: tuple[BaseType, ...]
    bases: tuple[BasePose, ...]

    @classmethod
    def of(cls, rig: Rig, scenes: tuple[str, ...], camera: Camera) -> SeenBases:
        """All bases of a rig's scenes that are found through a camera."""
        types, finder = rig.roster.base_type_by_tag(), TagFinder(camera, rig.roster)
        found: list[tuple[TagSighting, BasePose]] = []
        for scene in scenes:
            tags, bases = rig.tags(scene), rig.bases(scene)
            seen = finder.search(rig.grey(scene)).sightings
            found += [(each, bases[each.tag]) for each in seen if _is_base(each, tags, bases)]
        sightings, true = zip(*found, strict=True)
        return cls(camera, sightings, tuple(types[sighting.tag] for sighting in sightings), true)

    def poses(self, camera: Camera) -> tuple[BasePose, ...]:
        """Where another camera puts them."""
        return base_poses(self._through(camera), self.base_types, camera)

    def off_in_sigmas(self, camera: Camera) -> np.ndarray:
        """The errors of places by another camera along x and y, in its sigmas, (n, 2)."""
        pairs = zip(self.poses(camera), self.bases, strict=True)
        return np.array([off_in_sigmas(pose, true) for pose, true in pairs])

    def corners_off_in_sigmas(self, camera: Camera) -> np.ndarray:
        """The errors of corners by another camera, aside and ahead, in sigmas, (2, n, 4).

        The corners are front left, front right, rear right, rear left.
        """
        seen, true = rectangles(self.poses(camera)), rectangles(self.bases)
        beside_mm = seen.corners_mm() - true.corners_mm()
        arms_mm = seen.corners_mm() - seen.centres_mm[:, None]
        off = []
        for along in seen.axes.transpose(1, 0, 2)[:, :, None]:
            by_turn = along[..., 1] * arms_mm[..., 0] - along[..., 0] * arms_mm[..., 1]
            by_pose = np.dstack([*np.broadcast_arrays(along[..., 0], along[..., 1], by_turn)])
            sigmas_mm = np.linalg.norm(seen.in_sigmas(by_pose), axis=2)
            off.append((beside_mm * along).sum(axis=2) / sigmas_mm)
        return np.array(off)

    def _through(self, camera: Camera) -> list[TagSighting]:
        """The same pixels, read through another camera."""
        centres = np.array([[sighting.x_mm, sighting.y_mm] for sighting in self.sightings])
        heights = np.array([sighting.height_mm for sighting in self.sightings])
        headings = np.radians([sighting.heading_deg for sighting in self.sightings])
        ahead = _ARM_MM * np.column_stack([np.cos(headings), np.sin(headings)])
        front, back = (
            camera.to_table(self.camera.to_image(np.column_stack([ends, heights])), heights)
            for ends in (centres + ahead, centres - ahead)
        )
        x_mm, y_mm = ((front + back) / 2).T
        headings_deg = np.degrees(np.arctan2(*(front - back).T[::-1])) % 360
        moved = zip(self.sightings, x_mm, y_mm, headings_deg, strict=True)
        return [replace(each, x_mm=x, y_mm=y, heading_deg=turned) for each, x, y, turned in moved]


def laid_table(rig: Rig) -> LaidTable:
    """A rig's table, for laying its tags and calibrating again and again."""
    listed = rig.roster.table_tag_places_mm
    size_mm, covariance = rig.roster.table_tag_size_mm, rig.found_lens.covariance
    sides_px = _SIDES_PX[rig.folder.name]
    return LaidTable(rig.camera, listed, size_mm, covariance, *sides_px, read_by_pattern=True)


def calibrations(
    table: LaidTable, laid_mm: float, count: int, *, spreads_known: bool
) -> Iterator[Camera]:
    """`count` calibrations of a table whose tags are laid anew with this standard deviation.

    As made by a user, or with the spreads known that no calibration can know: those of laying and
    of reading the tags.
    """
    least_mm = max(laid_mm, _LEAST_MM)
    known = Spreads(least_mm, least_mm / ARM_MM, 1 / OVERSTATED)
    rng = np.random.default_rng(1757)
    for _ in range(count):
        seen = table.seen(rng, laid_mm)
        yield _camera(seen.solve(known) if spreads_known else seen.learn())


def _camera(found: Adjustment) -> Camera:
    return Camera(found.camera.lens, found.camera.pose, "found", found.covariance)


def _is_base(seen: TagSighting, tags: Mapping, bases: Mapping[int, BasePose]) -> bool:
    return seen.tag in bases and is_right(seen, tags)
