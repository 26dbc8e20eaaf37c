"""Errors shared by all bases, like a calibration's: the cost of treating them as independent.

A `Length` adds the variances of the two bases. The calibration's error is nearly the same for
neighbours, and nearly opposite at the far ends of a table.
"""

import numpy as np
import pytest

from calibration.camera import Camera, Pose
from calibration.extrinsics.table_pose import find_table
from calibration.extrinsics.table_tags import FoundTag
from calibration.results import LensCalibration, Origin
from tablecam.table.model import BasePose
from tablecam.uncertainty.lengths import distance
from tests.calibration.board_views import LENS
from tests.calibration.laid_tags import LaidTable

LISTED = {0: (50.0, 50.0), 1: (1750.0, 50.0), 2: (1750.0, 1150.0), 3: (50.0, 1150.0)}
POSE = Pose((3.0775, 0.0621, -0.0775), (-814.9, 555.7, 1870.7))
BW = 40.0
LENS_COVARIANCE = np.diag(np.square([0.15, 0.15, 0.15, 0.15, 3e-4, 1e-3, 1e-5, 1e-5, 1e-3]))
"""As for a lens calibrated from a score of views."""


@pytest.fixture(scope="module")
def calibrated() -> Camera:
    """A camera whose pose was found from the four tags at a table's corners."""
    table = LaidTable(Camera(LENS, POSE), LISTED, 60.0, LENS_COVARIANCE, 0.0, 0.0)
    tags = [
        FoundTag.of_sides(tag, table.corners_px(np.array(at), 0.0), 0.1)
        for tag, at in LISTED.items()
    ]
    origin = Origin("2025-01-01T00:00:00+00:00", ("empty.jpg",))
    calibration = find_table(
        tags,
        LISTED,
        60.0,
        picture_size_px=(LENS.width_px, LENS.height_px),
        lens=LensCalibration(LENS, LENS_COVARIANCE, 0.03, (), origin),
        origin=origin,
        picture_name="empty.jpg",
    ).calibration
    return Camera(calibration.lens, calibration.pose, "found", calibration.covariance)


def shares(camera: Camera, length_bw: float) -> np.ndarray:
    """The true standard deviations of lengths of about `length_bw`, in their stated sigmas."""
    rng = np.random.default_rng(7)
    ratios = []
    while len(ratios) < 150:
        from_mm, angle = rng.uniform((60, 60), (1740, 1140)), rng.uniform(0, 2 * np.pi)
        along = np.array([np.cos(angle), np.sin(angle)])
        places = np.array([from_mm, from_mm + along * length_bw * BW])
        if (places < 60).any() or (places > (1740, 1140)).any():
            continue
        variances = np.trace(camera.table_covariance(places), axis1=1, axis2=2) / 2
        # Bases of hardly any size, as their headings do not matter here.
        bases = [
            BasePose(*place, 0.0, 1e-3, 1e-3, sigma_mm=float(np.sqrt(variance)))
            for place, variance in zip(places.tolist(), variances, strict=True)
        ]
        near, far = camera.place_by_parameter(places)
        change = along @ (far - near)
        true_mm = float(np.sqrt(change @ camera.covariance @ change))
        ratios.append(true_mm / distance(*bases).sigma_mm)
    return np.array(ratios)


@pytest.mark.parametrize(("length_bw", "at_most"), [(0.1, 0.1), (1, 0.25), (4, 1.0), (8, 1.0)])
def test_short_lengths_are_told_less_sure_than_they_are(calibrated, length_bw, at_most):
    """Contact, links, short range, cavalry reach: independence never makes these bolder."""
    assert shares(calibrated, length_bw).max() < at_most


def test_the_longest_are_told_bolder_by_less_than_the_root_of_three(calibrated):
    """Bombardment and strings: errors of opposite ends add up."""
    ratios = shares(calibrated, 24)
    assert 1.0 < np.median(ratios) < ratios.max() < np.sqrt(3)
