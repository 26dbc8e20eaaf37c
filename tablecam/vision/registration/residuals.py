"""Measures how far the table tags of a frame lie from where they should."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from calibration.extrinsics.tag_pose import offsets_from, pose_jacobian
from tablecam.table.roster import Roster
from tablecam.vision.detection.sighting import TagSighting
from tablecam.vision.registration.tag_memory import POSE, TagMemory, TagObservations, triples

Array = NDArray[np.float64]

_READ_TO_PX = 0.01
"""The best accuracy of a tag's place, even if its fit claims better."""
_UNREAD_PX = 0.3
"""How far a tag that looks unchanged may have moved: a third of this shows on small tags, but on
large ones, which have less edge for their area, only about this much."""


def tag_observations(
    tags: Sequence[TagSighting],
    camera: Camera,
    roster: Roster,
    memory: TagMemory,
    *,
    fresh: Collection[int] | None = None,
) -> TagObservations:
    """Converts sightings to observations; tags not in `fresh` get a larger noise."""
    rows = np.array([memory.ids.index(tag.tag) for tag in tags], dtype=np.int64)
    places = np.array([(tag.x_mm, tag.y_mm, np.radians(tag.heading_deg)) for tag in tags])
    is_unread = np.array([fresh is not None and tag.tag not in fresh for tag in tags])
    read_to_mm = np.where(is_unread, _UNREAD_PX, _READ_TO_PX) / camera.px_per_mm(places[:, :2])
    noise = np.zeros((3 * len(tags), 3 * len(tags)))
    for index, tag in enumerate(tags):
        own = triples([index])
        # The rotation that moves the tag's edge, half its size away, by the same distance.
        turn_rad = 2 * read_to_mm[index] / roster.table_tag_size_mm
        # Adds a floor to the fit's covariance, which may be too optimistic.
        floor = np.square([read_to_mm[index], read_to_mm[index], turn_rad])
        noise[np.ix_(own, own)] = tag.covariance + np.diag(floor)
    return TagObservations(rows, places, noise, pose_jacobian(camera, places))


def offset_from_listed(
    observed: TagObservations, index: int, memory: TagMemory
) -> tuple[float, float]:
    """Returns how far one observed tag lies from its listed place, in mm and rad."""
    offset = offsets_from(observed.places[index], memory.listed[observed.rows[index]])
    return distance_mm(offset, np.zeros(2)), abs(float(offset[2]))


def distance_mm(place: Array, other: Array) -> float:
    """Returns the distance of two places on the table."""
    return float(np.hypot(*(place[:2] - other[:2])))


def largest_outliers(memory: TagMemory, observed: TagObservations) -> tuple[int, ...]:
    """Returns the ids of the tags whose offset is at least a quarter as unlikely as the worst."""
    offset, covariance = memory.innovation(observed)
    chi2 = [
        float(offset[own] @ np.linalg.solve(covariance[np.ix_(own, own)], offset[own]))
        for own in (triples([index]) for index in range(len(observed)))
    ]
    worst = max(chi2)
    return tuple(
        memory.ids[row]
        for row, tag_chi2 in zip(observed.rows, chi2, strict=True)
        if tag_chi2 > worst / 4
    )


def largest_offset_px(observed: TagObservations, memory: TagMemory, camera: Camera) -> float:
    """Returns the largest offset of a tag from where it is expected, in the picture."""
    offset, _ = memory.innovation(observed)
    off_mm = np.hypot(*offset.reshape(-1, 3)[:, :2].T)
    return float((off_mm * camera.px_per_mm(observed.places[:, :2])).max())


def drift_px(camera: Camera, memory: TagMemory) -> tuple[float, float]:
    """Returns how far the drift shifts the tag that it shifts most, and the standard deviation."""
    scale = camera.px_per_mm(memory.listed[:, :2])[:, None]
    by_drift = pose_jacobian(camera, memory.listed).reshape(-1, 3, POSE)[:, :2]
    shift = np.hypot(*(by_drift @ memory.drift * scale).T)
    covariance = by_drift @ memory.drift_covariance @ by_drift.transpose(0, 2, 1)
    sigma = np.sqrt(np.trace(covariance, axis1=1, axis2=2) / 2) * scale[:, 0]
    # The largest shift counts: drift may leave the table's middle in place.
    most = int(np.argmax(shift))
    return float(shift[most]), float(sigma[most])


def shift_px(before: Camera, now: Camera, places: Array) -> float:
    """Returns how far table places (n, 3) shift in the picture, root mean square."""
    points = np.column_stack([places[:, :2], np.zeros(len(places))])
    return _root_mean_square(now.to_image(points) - before.to_image(points))


def shift_mm(before: Camera, now: Camera, places: Array) -> float:
    """Returns how far table places (n, 3) shift in the picture, in millimetres on the table."""
    return shift_px(before, now, places) / float(np.mean(now.px_per_mm(places[:, :2])))


def rms_offsets(
    tags: Sequence[TagSighting], memory: TagMemory, camera: Camera
) -> tuple[float | None, float | None]:
    """Returns the root mean square offset of tags from their listed places, in px and mm."""
    if not tags:
        return None, None
    places = np.array([(tag.x_mm, tag.y_mm, 0.0) for tag in tags])
    listed = memory.listed[[memory.ids.index(tag.tag) for tag in tags]] * [1, 1, 0]
    beside_px = camera.to_image(places) - camera.to_image(listed)
    return _root_mean_square(beside_px), _root_mean_square((places - listed)[:, :2])


def _root_mean_square(offsets: Array) -> float:
    """Returns the root mean square length of offsets (n, 2)."""
    return float(np.sqrt(np.square(offsets).sum(axis=1).mean()))
