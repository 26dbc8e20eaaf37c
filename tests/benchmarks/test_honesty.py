"""Whether stated uncertainties are true, when the camera is only known as well as it says.

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
"""Tables are read through so many cameras in all: what one has wrong is wrong with all its places,
so that of single ones 33 to 87 % of errors lay within one sigma, and of twelve 53 %."""
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
