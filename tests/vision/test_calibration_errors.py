"""Bases share the calibration's errors: lengths between neighbours hardly depend on them."""

import itertools

import numpy as np
import pytest

from calibration.camera import Camera, Pose
from calibration.lens import Lens
from tablecam.geometry.rectangles import rectangles
from tablecam.uncertainty.lengths import distance
from tablecam.uncertainty.samples import draw_poses
from tablecam.vision.tracking.bases import base_sightings, calibration_errors
from tests.vision.sightings import CAMERA, FOOT, ROSTER, sighting

COVARIANCE = np.diag(
    [1.0, 1.0, 1.0, 1.0, 1e-6, 1e-6, 1e-9, 1e-9, 1e-6, 1e-7, 1e-7, 1e-7, 0.04, 0.04, 0.16]
)
"""The lens errs by 1 px, the pose by 0.3 mrad and 0.2 to 0.4 mm, all independent."""

PLACES = [(60.0, 60.0), (120.0, 60.0), (600.0, 400.0), (660.0, 440.0), (1150.0, 750.0)]
CAMERAS = 400


def lengths_and_sigmas(camera: Camera, errors: np.ndarray) -> np.ndarray:
    """The lengths between all apparent places of bases, and their sigmas: (pairs, 2)."""
    seen = [
        sighting(tag, x_mm, y_mm, sigma_mm=1e-6)
        for tag, (x_mm, y_mm) in enumerate(where_they_seem(camera))
    ]
    bases = [base.pose() for base in base_sightings(seen, [FOOT] * len(seen), camera, errors)]
    lengths = (distance(a, b) for a, b in itertools.combinations(bases, 2))
    return np.array([(length.value_mm, length.sigma_mm) for length in lengths])


def where_they_seem(camera: Camera) -> list[tuple[float, float]]:
    """The apparent places, by this camera, of tags that the true camera sees at the places."""
    px = CAMERA.to_image(np.array([(*place, 3.0) for place in PLACES]))
    return [tuple(place) for place in camera.to_table(px, 3.0).tolist()]


def drawn(rng: np.random.Generator) -> Camera:
    """A camera as a calibration of this covariance would have found the true one."""
    off = rng.multivariate_normal(np.zeros(15), COVARIANCE)
    lens, pose = CAMERA.lens, CAMERA.pose
    focal = np.array([lens.fx_px, lens.fy_px, lens.cx_px, lens.cy_px]) + off[:4]
    return Camera(
        Lens(lens.width_px, lens.height_px, *focal.tolist(), *off[4:9].tolist()),
        Pose(
            tuple((np.array(pose.rotation_vector_rad) + off[9:12]).tolist()),
            tuple((np.array(pose.translation_mm) + off[12:]).tolist()),
        ),
        covariance=COVARIANCE,
    )


def test_lengths_near_and_far_err_as_much_as_they_say():
    unsure = Camera(CAMERA.lens, CAMERA.pose, covariance=COVARIANCE)
    errors = calibration_errors(unsure, ROSTER.table)
    stated = lengths_and_sigmas(unsure, errors)
    alone_mm = lengths_and_sigmas(unsure, np.zeros((15, 0)))[:, 1]
    rng = np.random.default_rng(20)
    lengths_mm = [lengths_and_sigmas(drawn(rng), errors)[:, 0] for _ in range(CAMERAS)]
    off_mm = np.sqrt(np.mean((np.array(lengths_mm) - stated[:, 0]) ** 2, axis=0))
    is_far = stated[:, 0] > 100
    # From 400 samples a standard deviation is known to 3.5 %.
    assert off_mm[is_far] == pytest.approx(stated[is_far, 1], rel=0.12)
    # Sigmas of neighbours are cautious, but no longer thirty times too large.
    assert (off_mm[~is_far] < 1.1 * stated[~is_far, 1]).all()
    assert (off_mm[~is_far] > 0.4 * stated[~is_far, 1]).all()
    assert (alone_mm[~is_far] > 10 * stated[~is_far, 1]).all()


def test_what_bases_share_is_drawn_once_for_all_of_them():
    unsure = Camera(CAMERA.lens, CAMERA.pose, covariance=COVARIANCE)
    errors = calibration_errors(unsure, ROSTER.table)
    seen = [sighting(10, 600, 400, sigma_mm=1e-6), sighting(11, 640, 400, sigma_mm=1e-6)]
    bases = [base.pose() for base in base_sightings(seen, [FOOT] * 2, unsure, errors)]
    centres_mm = draw_poses(rectangles(bases), ["10", "11"]).centres_mm.reshape(-1, 2, 2)
    spread_mm = centres_mm.std(axis=0).mean()
    apart_mm = (centres_mm[:, 1] - centres_mm[:, 0]).std(axis=0).mean()
    assert spread_mm == pytest.approx(bases[0].sigma_mm, rel=0.15)
    assert apart_mm < 0.4 * spread_mm
