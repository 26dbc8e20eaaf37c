"""Whether sigmas are honest after a user's calibration: of places, and of lengths between them.

All bases of a picture share the error of their calibration, so the footage's own calibration is one
draw, with table tags more exact than any hand lays them. Here the same sightings are read through
many calibrations, with exact tags and with tags laid by hand.
"""

from __future__ import annotations

import numpy as np
import pytest

from tablecam.uncertainty.lengths import distances
from tests.benchmarks.calibrations import SeenBases, calibrations, laid_table
from tests.benchmarks.scores import are_honest, within
from tests.footage import Rig

SCENES = ("scene-1", "scene-2")
HAND_MM = 0.3
"""How accurately a hand lays tags with a ruler."""
EXACT_DRAWS, HAND_DRAWS = 60, 250
"""Number of calibrations; the mean of a share is then known to 0.3 to 1.6 points."""
SURE = 1.645
"""Sigmas within which nine in ten errors lie: rulings take a larger margin as sure.
"""
NEAR_MM, FAR_MM = 3.0, 400.0
"""Lengths that players ask for: up to ten base widths; between flush bases none is measured."""


@pytest.fixture(scope="module", params=["uhd-b", "hd-b"])
def rig(request, shared):
    return Rig(shared / "footage" / request.param)


@pytest.fixture(scope="module")
def seen(rig):
    return SeenBases.of(rig, SCENES, rig.camera)


def test_places_through_the_true_camera_and_many_calibrations(rig, seen, report):
    name, table = rig.folder.name, laid_table(rig)
    own = seen.off_in_sigmas(rig.found_camera)
    for words, drawn in (
        ("true camera", [rig.camera]),
        ("tags that lie exactly", calibrations(table, 0.0, EXACT_DRAWS, spreads_known=False)),
        ("the same, known to", calibrations(table, 0.0, EXACT_DRAWS, spreads_known=True)),
        (
            f"tags laid to {HAND_MM:g} mm",
            calibrations(table, HAND_MM, HAND_DRAWS, spreads_known=False),
        ),
    ):
        shares = np.array([_shares(seen.off_in_sigmas(camera)) for camera in drawn])
        report.add("honest share", f"{name}, {words}", _said(shares, _shares(own)[0]), _met(shares))


def test_lengths_between_bases(rig, report):
    camera, off = rig.found_camera, []
    for scene in SCENES:
        seen = SeenBases.of(rig, (scene,), camera)
        found, true = distances(seen.poses(camera)), distances(seen.bases)
        asked = np.triu((true.value_mm > NEAR_MM) & (true.value_mm < FAR_MM))
        off.append(((found.value_mm - true.value_mm)[asked]) / found.sigma_mm[asked])
    shares = np.array([_shares(np.concatenate(off))])
    where = f"{rig.folder.name}, own calibration"
    report.add("honest lengths", where, _said(shares), _met(shares))


def test_corners_of_bases(rig, seen, report):
    """Where rulings measure: the front swings farthest about its tag, the rear hardly."""
    aside, ahead = seen.corners_off_in_sigmas(rig.found_camera)
    front, rear = slice(0, 2), slice(2, 4)
    for words, off in (
        ("front, aside", aside[:, front]),
        ("rear, aside", aside[:, rear]),
        ("all, ahead", ahead),
    ):
        shares = np.array([_shares(off)])
        where = f"{rig.folder.name}, own calibration, {words}"
        report.add("honest corners", where, _said(shares), _met(shares))


def _shares(off_in_sigmas: np.ndarray) -> tuple[float, float, float]:
    """Shares of errors within one sigma, what rulings take as sure, and two sigmas."""
    one, two = within(off_in_sigmas)
    return one, float((np.abs(off_in_sigmas) < SURE).mean()), two


def _met(shares: np.ndarray) -> bool:
    """Whether shares (draws, 3) are honest on average, as far as the number of draws can tell."""
    mean, error = shares.mean(axis=0), shares.std(axis=0) / np.sqrt(len(shares))
    usual = np.array([0.68, 0.9, 0.95])
    one, _, two = mean - np.clip(mean - usual, -error, error)
    return are_honest(one, two)


def _said(shares: np.ndarray, own: float | None = None) -> str:
    """Mean shares (draws, 3), and how often at least `own` is within one sigma."""
    one, sure, two = 100 * shares.mean(axis=0)
    if len(shares) == 1 or own is None:
        return f"{one:.1f}, {sure:.1f}, {two:.1f} %"
    spread = 100 * shares[:, 0].std()
    as_much = 100 * (shares[:, 0] >= own).mean()
    return (
        f"{one:.1f} ± {spread / np.sqrt(len(shares)):.1f}, {sure:.1f}, {two:.1f} %; a single one "
        f"± {spread:.0f}, {100 * own:.1f} % or more in {as_much:.0f} %"
    )
