"""Recall and accuracy on rendered photographs of whole battles, compared with other detectors.

Prints one table a picture. `found` cameras are calibrated as a user would, from the lens views and
the empty table; `true` ones are exact, and so are the peers'. Recall is of tags at least 85 %
visible, above 3 px a cell and below, then of those 50 to 85 % visible, then of the rest. Errors are
of bases.
"""

from __future__ import annotations

import numpy as np
import pytest
from rich.table import Table

from tests.benchmarks.peers import Peer, peers, seconds
from tests.benchmarks.report import number, percentile, share
from tests.benchmarks.scores import (
    CLEAR,
    CLEAR_LARGE,
    CLEAR_SMALL,
    HIDDEN,
    PARTLY,
    Shown,
    Tally,
    Way,
    heading,
    honesty,
    our_way,
    peers_way,
    recall,
    tally,
)
from tests.benchmarks.simulated import Outcome, against
from tests.footage import Rig

SCENES = ("scene-1", "scene-2")
MOST_CENTRE_PX = {"hd-b": 0.045, "uhd-b": 0.11}
MOST_HEADING_DEG = {"hd-b": 0.3, "uhd-b": 0.4}
BANDS = (CLEAR_LARGE, CLEAR_SMALL, PARTLY, HIDDEN)
COLUMNS = (
    "by", "≥85 % ≥3 px", "≥85 % <3 px", "50-85 %", "<50 %", "wrong", "centre px", "95 %",
    "place mm", "95 %", "most", "heading °", "95 %", "ms", "x ours",
)  # fmt: skip


@pytest.fixture(scope="module", params=["uhd-b", "hd-b"])
def rig(request, shared):
    return Rig(shared / "footage" / request.param)


@pytest.fixture(scope="module")
def outcomes(rig):
    """The results of each way of searching both scenes; ours with the true camera first."""
    cameras = {"true": rig.camera, "found": rig.found_camera}
    ways = [our_way(camera, rig.roster, f"tablecam, {by} camera") for by, camera in cameras.items()]
    ways += [peers_way(peer, rig.camera, rig.roster) for peer in peers() if isinstance(peer, Peer)]
    return [outcome(rig, way) for way in ways]


def outcome(rig: Rig, way: Way) -> Outcome:
    took = [seconds(way.detect, rig.grey(scene)) for scene in SCENES]
    return Outcome(
        way.name, tuple(tally(shown(rig, scene), way) for scene in SCENES), float(np.mean(took))
    )


def shown(rig: Rig, scene: str) -> Shown:
    tags, bases = rig.tags(scene), rig.bases(scene)
    return Shown(f"{rig.folder.name} {scene}", rig.grey(scene), rig.camera, rig.roster, tags, bases)


def test_beside_peers(rig, outcomes, report):
    name = rig.folder.name
    for number_, scene in enumerate(SCENES):
        light = rig.truth["scenes"][scene]["lighting"]
        table = Table(*COLUMNS, title=f"{name} {scene}, {light} light")
        for each in outcomes:
            table.add_row(each.name, *cells(each.tallies[number_]), *times(each, outcomes[0]))
        report.show(table)
    ours, _, *others = outcomes
    report.add("search", name, *against(ours, others))


def test_targets_of_finding(rig, outcomes, report):
    mine, name = outcomes[1].all, rig.folder.name
    for key, band, least in (
        ("recall large", CLEAR_LARGE, 0.999),
        ("recall small", CLEAR_SMALL, 0.99),
        ("recall partly", PARTLY, 0.9),
    ):
        if len(band.of(mine).found):
            report.add(key, name, share(mine, band), recall(mine, band) >= least)
    wrong = sum(each.all.wrong for each in outcomes[:2])
    report.add("wrong", f"{name}, both cameras", f"{wrong} in {2 * len(SCENES)}", wrong == 0)
    assert wrong == 0
    assert recall(mine, CLEAR) > 0.97


def test_targets_of_placing(rig, outcomes, report):
    exact, mine, name = outcomes[0].all, outcomes[1].all, rig.folder.name
    centre = percentile(exact.centre_px, 50)
    report.add("centre", name, f"{centre:.3f} px", centre <= MOST_CENTRE_PX[name])
    places = [percentile(mine.place_mm, percent) for percent in (50, 95, 100)]
    report.add(
        "place",
        name,
        ", ".join(f"{place:.2f}" for place in places) + " mm",
        bool(np.all(np.array(places) <= [0.12, 0.30, 0.8])),
    )
    words, median, most = heading(mine)
    report.add("heading", name, words, median <= MOST_HEADING_DEG[name] and most <= 1.0)
    report.add("honest", f"{name}, own calibration", *honesty(mine))


def cells(mine: Tally) -> list[str]:
    return [
        *(share(mine, band) for band in BANDS),
        f"{mine.wrong} + {mine.strangers}",
        number(percentile(mine.centre_px, 50), 3),
        number(percentile(mine.centre_px, 95), 3),
        *(number(percentile(mine.place_mm, percent)) for percent in (50, 95, 100)),
        number(percentile(mine.heading_deg, 50)),
        number(percentile(mine.heading_deg, 95)),
    ]


def times(outcome: Outcome, ours: Outcome) -> list[str]:
    return [f"{1000 * outcome.seconds:.0f}", f"{outcome.seconds / ours.seconds:.2f}"]
