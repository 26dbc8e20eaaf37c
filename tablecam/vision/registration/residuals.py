"""What is measured on the table tags of a look: how far they lie beside where they should."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from calibration.tag_pose import beside, pose_jacobian
from tablecam.table.roster import Roster
from tablecam.vision.detection.sighting import TagSighting
from tablecam.vision.registration.tag_memory import POSE, TagLook, TagMemory, triples

Array = NDArray[np.float64]

_READ_TO_PX = 0.01
"""How well a tag is read at best, whatever its fit says."""
_UNREAD_PX = 0.3
"""How far one may have moved that still looks as it did; small tags are noticed at a third of it,
large ones, of which less is edge, at about this."""


def tag_look(
    tags: Sequence[TagSighting],
    camera: Camera,
    roster: Roster,
    memory: TagMemory,
    *,
    fresh: Collection[int] | None = None,
) -> TagLook:
    """The sightings as what they say of drift and places; those not `fresh` say it vaguely."""
    rows = np.array([memory.ids.index(tag.tag) for tag in tags], dtype=np.int64)
    places = np.array([(tag.x_mm, tag.y_mm, np.radians(tag.heading_deg)) for tag in tags])
    unread = np.array([fresh is not None and tag.tag not in fresh for tag in tags])
    read_to_mm = np.where(unread, _UNREAD_PX, _READ_TO_PX) / camera.px_per_mm(places[:, :2])
    noise = np.zeros((3 * len(tags), 3 * len(tags)))
    for number, tag in enumerate(tags):
        own = triples([number])
        turn_rad = 2 * read_to_mm[number] / roster.table_tag_size_mm
        least = np.square([read_to_mm[number], read_to_mm[number], turn_rad])
        noise[np.ix_(own, own)] = tag.covariance + np.diag(least)
    return TagLook(rows, places, noise, pose_jacobian(camera, places))


def beside_listed(look: TagLook, number: int, memory: TagMemory) -> tuple[float, float]:
    """How far a tag of the look lies beside its listed place, and by how many radians turned."""
    off = beside(look.places[number], memory.listed[look.rows[number]])
    return apart_mm(off, np.zeros(2)), abs(float(off[2]))


def apart_mm(place: Array, other: Array) -> float:
    """How far two places are apart on the table."""
    return float(np.hypot(*(place[:2] - other[:2])))


def farthest_off(memory: TagMemory, look: TagLook) -> tuple[int, ...]:
    """The tags that lie farther from where they should than a bump leaves unexplained."""
    off, spread = memory.surprise(look)
    chi2 = [
        float(off[own] @ np.linalg.solve(spread[np.ix_(own, own)], off[own]))
        for own in (triples([number]) for number in range(len(look)))
    ]
    worst = max(chi2)
    return tuple(
        memory.ids[row] for row, one in zip(look.rows, chi2, strict=True) if one > worst / 4
    )


def farthest_px(look: TagLook, memory: TagMemory, camera: Camera) -> float:
    """How far the tag that lies farthest from where it should does so, in the picture."""
    off, _ = memory.surprise(look)
    off_mm = np.hypot(*off.reshape(-1, 3)[:, :2].T)
    return float((off_mm * camera.px_per_mm(look.places[:, :2])).max())


def drift_px(camera: Camera, memory: TagMemory) -> tuple[float, float]:
    """How far the drift shifts the tag that it shifts most, and how well that is known."""
    scale = camera.px_per_mm(memory.listed[:, :2])[:, None]
    by_drift = pose_jacobian(camera, memory.listed).reshape(-1, 3, POSE)[:, :2]
    shift = np.hypot(*(by_drift @ memory.drift * scale).T)
    spread = by_drift @ memory.drift_covariance @ by_drift.transpose(0, 2, 1)
    sigma = np.sqrt(np.trace(spread, axis1=1, axis2=2) / 2) * scale[:, 0]
    most = int(np.argmax(shift))
    return float(shift[most]), float(sigma[most])


def shift_px(before: Camera, now: Camera, places: Array) -> float:
    """How far table places (n, 3) are shifted in the picture, root mean square."""
    points = np.column_stack([places[:, :2], np.zeros(len(places))])
    return _root_mean_square(now.to_image(points) - before.to_image(points))


def rms_beside(
    tags: Sequence[TagSighting], memory: TagMemory, camera: Camera
) -> tuple[float | None, float | None]:
    """How far tags lie beside their listed places, in the picture and on the table."""
    if not tags:
        return None, None
    found = np.array([(tag.x_mm, tag.y_mm, 0.0) for tag in tags])
    listed = memory.listed[[memory.ids.index(tag.tag) for tag in tags]] * [1, 1, 0]
    beside_px = camera.to_image(found) - camera.to_image(listed)
    return _root_mean_square(beside_px), _root_mean_square((found - listed)[:, :2])


def _root_mean_square(offsets: Array) -> float:
    return float(np.sqrt(np.square(offsets).sum(axis=1).mean()))
