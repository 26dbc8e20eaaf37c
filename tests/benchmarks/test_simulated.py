"""Recall and accuracy on simulated tables of 2 to 6 px a cell, compared with other detectors.

Recall is of tags at least 85 % visible, then of those 50 to 85 % visible. Errors are of all tags
found. Peers' corners are mapped through the true camera, as ours are.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from rich.table import Table

from tests.benchmarks.peers import APRILTAG, Missing
from tests.benchmarks.report import number, percentile, share
from tests.benchmarks.scores import (
    CLEAR,
    CLEAR_LARGE,
    CLEAR_SMALL,
    PARTLY,
    Tally,
    heading,
    recall,
)
from tests.benchmarks.simulated import (
    EXTRA,
    SETTINGS,
    Outcome,
    against,
    april_seconds,
    our_outcome,
    peers_outcomes,
)

COLUMNS = (
    "by", "≥85 %", "50-85 %", "wrong", "beyond roster", "centre px", "95 %", "place mm", "95 %",
    "heading °", "95 %", "ms", "x ours",
)  # fmt: skip


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
def test_beside_peers(setting, tables, wanted, report):
    if not wanted(setting):
        pytest.skip("another setting was asked for")
    ours = our_outcome(setting, tables)
    peers, missing = peers_outcomes(setting, tables)
    title = f"Simulated tables, {setting.name}: {100 * tables} bases"
    table = Table(*COLUMNS, title=title)
    for outcome in (ours, *peers):
        table.add_row(*cells(outcome, ours))
    april_s = april_seconds(setting)
    if isinstance(april_s, Missing):
        missing = [*missing, april_s]
    else:
        ratio = f"{april_s / ours.seconds:.2f}"
        table.add_row(APRILTAG, *["-"] * 10, f"{1000 * april_s:.0f}", ratio)
    for peer in missing:
        table.add_row(peer.name, peer.because, *["-"] * 11)
    report.show(table)
    report.add("search", setting.name, *against(ours, peers))
    report.keep(setting, [ours, *peers])


@pytest.mark.parametrize("setting", EXTRA, ids=lambda setting: setting.name)
def test_for_the_curves(setting, tables, wanted, report):
    if not wanted(setting):
        pytest.skip("another setting was asked for")
    ours = our_outcome(setting, tables)
    table = Table(*COLUMNS, title=f"Simulated tables, {setting.name}")
    table.add_row(*cells(ours, ours))
    report.show(table)
    report.keep(setting, [ours])


def test_targets(tables, wanted, report):
    settings = [setting for setting in SETTINGS if wanted(setting)]
    every = Tally.joined([our_outcome(setting, tables).all for setting in settings])
    for key, band, least in (
        ("recall large", CLEAR_LARGE, 0.999),
        ("recall small", CLEAR_SMALL, 0.99),
        ("recall partly", PARTLY, 0.9),
    ):
        if len(band.of(every).found):
            found = recall(every, band)
            report.add(key, "simulated", share(every, band), found >= least)
    for least, most in ((12, 16), (10, 11), (0, 9)):
        mine = PARTLY.of(every)
        mine = mine[(mine.cells >= least) & (mine.cells <= most)]
        where = f"simulated, {least}-{most} of 16 cells"
        report.add("recall cells", where, share(mine, PARTLY), None)
    report.add("wrong", "simulated", f"{every.wrong} in {every.pictures}", every.wrong == 0)
    extra = [our_outcome(setting, tables).all for setting in EXTRA if wanted(setting)]
    if extra:
        more = Tally.joined(extra)
        where = "simulated, smaller, noisier, softer"
        report.add("wrong", where, f"{more.wrong} in {more.pictures}", more.wrong == 0)
    for setting in settings:
        mine = our_outcome(setting, tables).all
        median = percentile(mine[mine.px_per_cell >= 2].centre_px, 50)
        where = setting.name
        report.add("centre", where, f"{median:.3f} px", median <= 0.03)
        words, _, most = heading(mine)
        report.add("heading", where, words, most <= 1.0)
    assert every.wrong == 0


def cells(outcome: Outcome, ours: Outcome) -> Sequence[str]:
    mine = outcome.all
    return (
        outcome.name,
        share(mine, CLEAR),
        share(mine, PARTLY),
        str(mine.wrong),
        str(mine.strangers),
        number(percentile(mine.centre_px, 50), 3),
        number(percentile(mine.centre_px, 95), 3),
        number(percentile(mine.place_mm, 50), 3),
        number(percentile(mine.place_mm, 95), 3),
        number(percentile(mine.heading_deg, 50)),
        number(percentile(mine.heading_deg, 95)),
        f"{1000 * outcome.seconds:.0f}",
        f"{outcome.seconds / ours.seconds:.2f}",
    )
