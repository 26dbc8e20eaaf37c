"""Whether stated uncertainties are honest when the camera is known only as well as stated.

Each table is read through its own camera drawn from the covariance of a real calibration: that of
the shared footage's camera of the same kind, carried over to the simulated one.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.benchmarks.calibrated import drawn
from tests.benchmarks.scores import Tally, honesty, our_way, tally
from tests.benchmarks.simulated import SETTINGS, Setting, pictures, shown
from tests.footage import Rig

CAMERAS = 48
"""Number of cameras in all: a camera's error affects all its places, so that with single cameras 33
to 87 % of errors lay within one sigma, and with twelve 53 %."""
LIKE = {"1080p": "hd-b", "4K": "uhd-b"}


@pytest.mark.parametrize("setting", [SETTINGS[1], SETTINGS[4]], ids=lambda setting: setting.name)
def test_simulated_tables(setting: Setting, tables, wanted, report, shared):
    if not wanted(setting):
        pytest.skip("another setting was asked for")
    covariance = Rig(shared / "footage" / LIKE[setting.resolution]).found_camera.covariance
    assert covariance is not None
    rng = np.random.default_rng(1757)
    tallies = []
    shots = pictures(setting, tables)
    for picture in shots * math.ceil(CAMERAS / len(shots)):
        believed = drawn(picture.camera, covariance, rng)
        tallies.append(tally(shown(picture), our_way(believed, picture.roster)))
    report.add("honest", setting.name, *honesty(Tally.joined(tallies)))
