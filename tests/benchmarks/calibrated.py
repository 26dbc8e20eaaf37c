"""Cameras known only as well as a calibration knows them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from calibration.camera import Camera, Pose
from calibration.lens import Lens


def drawn(true: Camera, covariance: np.ndarray, rng: np.random.Generator) -> Camera:
    """A camera as a calibration of this covariance would have found the true one."""
    lens, pose = true.lens, true.pose
    off = rng.multivariate_normal(np.zeros(len(covariance)), covariance, method="svd")
    focal = (lens.fx_px, lens.fy_px, lens.cx_px, lens.cy_px)
    numbers = np.array([*focal, *lens.distortion]) + off[:9]
    found = Lens(lens.width_px, lens.height_px, *map(float, numbers))
    rotation = np.array(pose.rotation_vector_rad) + off[9:12]
    translation = np.array(pose.translation_mm) + off[12:]
    return replace(
        true,
        lens=found,
        pose=Pose(tuple(map(float, rotation)), tuple(map(float, translation))),
        covariance=covariance,
    )
