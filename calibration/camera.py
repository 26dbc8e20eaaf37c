"""Maps between picture pixels and table millimetres for a camera over the table, with covariances.

Frames: the table's (millimetres, z up, see `Pose`) and the picture's (pixels, (0, 0) is the centre
of the top-left pixel).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import cv2
import numpy as np
from numpy.typing import ArrayLike, NDArray

from calibration.lens import LENS_PARAMETERS, Lens

Array = NDArray[np.float64]

CAMERA_PARAMETERS = (*LENS_PARAMETERS, "rx_rad", "ry_rad", "rz_rad", "tx_mm", "ty_mm", "tz_mm")
"""The order of a camera's parameters in all vectors and covariances: lens, then pose."""
LEAST_TAGS = 3
"""Least number of tags from which a camera's pose is found."""

_PX_PER_MM = (0.02, 200.0)
"""The range of scales that a picture of a table may have."""


@dataclass(frozen=True, slots=True)
class Pose:
    """The pose of the table in front of the camera: X_camera = R X_table + t.

    The camera's axes are OpenCV's: x right, y down, z forward.
    """

    rotation_vector_rad: tuple[float, float, float]
    translation_mm: tuple[float, float, float]

    @property
    def rotation(self) -> Array:
        """The 3x3 rotation from the table's axes to the camera's."""
        matrix, _ = cv2.Rodrigues(np.array(self.rotation_vector_rad, dtype=np.float64))
        return np.asarray(matrix, dtype=np.float64)

    @property
    def translation(self) -> Array:
        """The table's origin in the camera's frame, (3,) in millimetres."""
        return np.array(self.translation_mm, dtype=np.float64)

    @property
    def camera_centre_mm(self) -> Array:
        """The camera's place in the table's frame, (3,) in millimetres."""
        centre: Array = -self.rotation.T @ self.translation
        return centre


@dataclass(frozen=True, slots=True)
class Camera:
    """A lens and its pose over the table.

    `covariance` (15, 15), ordered as `CAMERA_PARAMETERS`, is the joint uncertainty of lens and
    pose; None if they are exact, as in a simulated camera. `name` is the calibration's and is
    stored with every measurement made under it; `title` is its name for people. The calibration
    fits while the table tags' rms offset is at most `fits_within_mm`; None if unknown.
    """

    lens: Lens
    pose: Pose
    name: str = ""
    covariance: Array | None = field(default=None, compare=False, repr=False)
    title: str = field(default="", compare=False)
    fits_within_mm: float | None = field(default=None, compare=False)

    def __post_init__(self) -> None:
        size = len(CAMERA_PARAMETERS)
        if self.covariance is not None and self.covariance.shape != (size, size):
            raise ValueError(
                f"expected a {size}x{size} covariance, got shape {self.covariance.shape}"
            )

    def to_image(self, points_mm: ArrayLike) -> Array:
        """Projects table points (n, 3), in millimetres, to pixels (n, 2).

        A point behind the camera gives NaN.
        """
        directions, _ = self._directions(points_mm)
        return self.lens.to_pixels(directions)

    def to_image_with_jacobian(self, points_mm: ArrayLike) -> tuple[Array, Array]:
        """Projects like `to_image`, with each pixel's derivative, (n, 2, 3) px/mm."""
        rotation = self.pose.rotation
        directions, depth = self._directions(points_mm)
        pixels, by_direction = self.lens.to_pixels_with_jacobian(directions)
        # The derivative of x/z and y/z by x, y and z.
        by_seen = np.zeros((*directions.shape[:-1], 2, 3))
        by_seen[..., 0, 0] = by_seen[..., 1, 1] = 1 / depth
        by_seen[..., 2] = -directions / depth[..., None]
        return pixels, by_direction @ by_seen @ rotation

    def _directions(self, points_mm: ArrayLike) -> tuple[Array, Array]:
        """Returns directions x/z, y/z (n, 2) of table points (n, 3), and their depths, (n,)."""
        points = np.asarray(points_mm, dtype=np.float64)
        seen = points @ self.pose.rotation.T + self.pose.translation
        # A point behind the camera would otherwise appear mirrored in the picture.
        depth = np.where(seen[..., 2] > 0, seen[..., 2], np.nan)
        return seen[..., :2] / depth[..., None], depth

    def to_table(self, points_px: ArrayLike, height_mm: ArrayLike = 0.0) -> Array:
        """Maps pixels to places (n, 2), in millimetres, on the plane `height_mm` above the table.

        `height_mm` is one number or (n,). A pixel that looks away from the table, or that no
        direction reaches, gives NaN.
        """
        directions = self.lens.to_directions(points_px)
        rays = np.concatenate([directions, np.ones((*directions.shape[:-1], 1))], axis=-1)
        rays = rays @ self.pose.rotation  # rows times R: the camera's axes back to the table's
        centre = self.pose.camera_centre_mm
        with np.errstate(divide="ignore", invalid="ignore"):
            reach = (np.asarray(height_mm, dtype=np.float64) - centre[2]) / rays[..., 2]
        # A pixel above the horizon meets the plane only behind the camera.
        reach = np.where(reach > 0, reach, np.nan)
        return np.asarray(centre[:2] + reach[..., None] * rays[..., :2])

    def to_plane(self, points_mm: ArrayLike, height_mm: ArrayLike) -> Array:
        """Returns where the rays through table points (n, 3) meet the plane `height_mm`, (n, 2).

        `height_mm` is one number or (n,), below the camera.
        """
        points = np.asarray(points_mm, dtype=np.float64)
        centre = self.pose.camera_centre_mm
        reach = (centre[2] - height_mm) / (centre[2] - points[..., 2])
        return np.asarray(centre[:2] + reach[..., None] * (points[..., :2] - centre[:2]))

    def sees(self, places_mm: ArrayLike) -> NDArray[np.bool_]:
        """Returns which places (n, 2) on the table appear in or near the picture and map back.

        This excludes places behind the camera, where its lens folds back, or at a scale that no
        picture of a table has.
        """
        places = np.asarray(places_mm, dtype=np.float64)
        size_px = np.array([self.lens.width_px, self.lens.height_px])
        with np.errstate(all="ignore"):
            pixels = self.to_image(_at_height(places, 0.0))
            back = self.to_table(pixels)
            scale = self.px_per_mm(places)
        is_near = ((pixels > -size_px) & (pixels < 2 * size_px)).all(axis=-1)
        is_in_scale = (scale > _PX_PER_MM[0]) & (scale < _PX_PER_MM[1])
        # A lens that folds back sends far places to pixels of other places.
        maps_back = (np.abs(back - places) < 1.0).all(axis=-1)
        return np.asarray(is_near & is_in_scale & maps_back)

    def to_table_with_jacobian(
        self, points_px: ArrayLike, height_mm: ArrayLike = 0.0
    ) -> tuple[Array, Array]:
        """Maps like `to_table`, with each place's derivative by its pixel, (n, 2, 2) mm/px."""
        places = self.to_table(points_px, height_mm)
        _, by_point = self.to_image_with_jacobian(_at_height(places, height_mm))
        # The inverse function theorem: invert the derivative of the projection.
        by_pixel = np.linalg.inv(by_point[..., :2]).astype(np.float64)
        return places, by_pixel

    def parameter_jacobian(self, points_mm: ArrayLike) -> Array:
        """Returns the derivative of points' pixels by the camera's parameters, (n, 2, 15).

        `points_mm` is (n, 3); parameters are ordered as `CAMERA_PARAMETERS`.
        """
        points = np.asarray(points_mm, dtype=np.float64).reshape(-1, 3)
        _, jacobian = cv2.projectPoints(
            points,
            np.array(self.pose.rotation_vector_rad, dtype=np.float64),
            self.pose.translation,
            self.lens.matrix,
            self.lens.distortion,
        )
        # OpenCV's columns are ordered pose first; `CAMERA_PARAMETERS` has the lens first.
        by_pose, by_lens = jacobian[:, :6], jacobian[:, 6:15]
        return np.asarray(np.hstack([by_lens, by_pose]), dtype=np.float64).reshape(-1, 2, 15)

    def table_covariance(self, places_mm: ArrayLike, height_mm: ArrayLike = 0.0) -> Array:
        """Returns the covariance of places (n, 2) caused by the calibration: (n, 2, 2) in mm².

        Even an exactly read pixel has this error; nearby places share it. Zeros if the camera is
        exact.
        """
        places = np.asarray(places_mm, dtype=np.float64)
        if self.covariance is None:
            return np.zeros((len(places), 2, 2))
        by_parameter = self.place_by_parameter(places, height_mm)
        return np.asarray(by_parameter @ self.covariance @ by_parameter.transpose(0, 2, 1))

    def place_by_parameter(self, places_mm: ArrayLike, height_mm: ArrayLike = 0.0) -> Array:
        """Returns the derivative of places by the camera's parameters at fixed pixels, (n, 2, 15).

        `places_mm` is (n, 2); parameters are ordered as `CAMERA_PARAMETERS`.
        """
        points = _at_height(np.asarray(places_mm, dtype=np.float64), height_mm)
        _, by_point = self.to_image_with_jacobian(points)
        # At a fixed pixel the place moves to cancel the parameter's effect (implicit function
        # theorem).
        return np.asarray(-np.linalg.inv(by_point[..., :2]) @ self.parameter_jacobian(points))

    def px_per_mm(self, places_mm: ArrayLike, height_mm: ArrayLike = 0.0) -> Array:
        """Returns the scale (n,) at places (n, 2): the root of the area that 1 mm² covers."""
        places = np.asarray(places_mm, dtype=np.float64)
        _, by_point = self.to_image_with_jacobian(_at_height(places, height_mm))
        return np.asarray(np.sqrt(np.abs(np.linalg.det(by_point[..., :2]))))


def _at_height(places_mm: Array, height_mm: ArrayLike) -> Array:
    """Returns places (n, 2) as points (n, 3) at a height."""
    heights = np.broadcast_to(np.asarray(height_mm, dtype=np.float64), places_mm.shape[:-1])
    return np.concatenate([places_mm, heights[..., None]], axis=-1)
