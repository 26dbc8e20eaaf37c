"""Table tags as seen by a camera that may be bumped: sightings without pictures."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np

from calibration.camera import Camera
from calibration.extrinsics.tag_pose import SeenTags
from tablecam.simulate.rendering.mount import Tilt
from tablecam.vision.detection.sighting import TagSighting
from tablecam.vision.registration.registration import register
from tablecam.vision.registration.state import Registration

SIGMA = np.array([0.02, 0.02, 5e-4])
"""Errors of the demo's table tags as fitted: x_mm, y_mm, heading_rad."""
UP = np.pi / 2


def sightings(
    roster,
    true: Camera,
    believed: Camera,
    *,
    rng: np.random.Generator | None = None,
    off: Mapping[int, tuple[float, float, float]] | None = None,
    hidden: Collection[int] = (),
) -> list[TagSighting]:
    """The sightings of a finder that assumes one camera, of tags seen through another.

    `off` is the offset of tags from their listed places: x_mm, y_mm, heading_rad. Without a random
    generator everything is read exactly.
    """
    tags = [tag for tag in roster.table_tags if tag.id not in hidden]
    places = [np.add((tag.x_mm, tag.y_mm, UP), (off or {}).get(tag.id, (0, 0, 0))) for tag in tags]
    seen = SeenTags.at(true, np.array(places).reshape(-1, 3)).places(believed)
    seen += 0 if rng is None else rng.normal(size=seen.shape) * SIGMA
    return [
        TagSighting(
            tag.id, x_mm, y_mm, np.degrees(heading_rad), 0.0, np.diag(SIGMA**2), np.zeros((4, 2))
        )
        for tag, (x_mm, y_mm, heading_rad) in zip(tags, seen.tolist(), strict=True)
    ]


class Table:
    """A table watched through a camera at ten looks a second, as in the live loop."""

    def __init__(self, roster, camera: Camera, *, seed: int | None = 1, off=None) -> None:
        self.roster = roster
        self.true = self.believed = camera
        self.off = dict(off or {})
        self.hidden: set[int] = set()
        self.last: Registration | None = None
        self._rng = None if seed is None else np.random.default_rng(seed)
        self._looks = 0

    def look(self, times: int = 1) -> Registration:
        """Look `times` times; returns the last registration. A new camera is used from then on."""
        for _ in range(times):
            seen = sightings(
                self.roster,
                self.true,
                self.believed,
                rng=self._rng,
                off=self.off,
                hidden=self.hidden,
            )
            self.last = register(
                seen,
                self.believed,
                self.roster,
                before=self.last,
                taken_at_s=self._looks / 10,
            )
            self.believed = self.last.camera or self.believed
            self._looks += 1
        assert self.last is not None
        return self.last

    def bump(self, right_px: float, down_px: float, roll_deg: float = 0.0) -> None:
        self.true = Tilt(right_px, down_px, roll_deg).of(self.true)

    def error_px(self) -> float:
        """The error of the assumed camera over places on the table (rms)."""
        return float(np.sqrt(np.square(self._beside_px()).sum(axis=1).mean()))

    def _beside_px(self) -> np.ndarray:
        places = places_mm(self.roster)
        points = np.column_stack([places, np.zeros(len(places))])
        return self.believed.to_image(points) - self.true.to_image(points)


def places_mm(roster) -> np.ndarray:
    """A grid of places all over the table."""
    table = roster.table
    x, y = np.meshgrid(np.linspace(0, table.width_mm, 9), np.linspace(0, table.depth_mm, 7))
    return np.column_stack([x.ravel(), y.ravel()])
