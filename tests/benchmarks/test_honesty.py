"""Whether stated uncertainties are true, when the camera is only known as well as it says.

Each table is read through its own camera drawn from the covariance of a real calibration: that of
the shared footage's camera of the same kind, carried over to the simulated one.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from calibration.camera import Camera, Pose
from calibration.lens import Lens
from tests.benchmarks.scores import Tally, honesty, our_way, tally
from tests.benchmarks.simulated import SETTINGS, Setting, pictures, shown
from tests.footage import Rig

LIKE = {"1080p": "hd-b", "4K": "uhd-b"}


@pytest.mark.parametrize("setting", [SETTINGS[1], SETTINGS[4]], ids=lambda setting: setting.name)
def test_simulated_tables(setting: Setting, tables, wanted, report, shared):
    if not wanted(setting):
        pytest.skip("another setting was asked for")
    covariance = Rig(shared / "footage" / LIKE[setting.resolution]).found_camera.covariance
    assert covariance is not None
    rng = np.random.default_rng(1757)
    tallies = []
    for picture in pictures(setting, tables):
        believed = drawn(picture.camera, covariance, rng)
        tallies.append(tally(shown(picture), our_way(believed, picture.roster)))
    report.add("honest", setting.name, *honesty(Tally.joined(tallies)))


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
