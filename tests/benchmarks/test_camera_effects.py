"""Real cameras: what each effect of a camera, a print or a lamp costs.

Every effect is compared with the plain picture of the same moment and noise.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import cycle

import pytest
from rich.table import Table

from tests.benchmarks.camera_effects import CAMERA_EFFECTS, PLAIN
from tests.benchmarks.report import number, percentile, share
from tests.benchmarks.scores import CLEAR, PARTLY, Tally, our_way, recall, tally
from tests.benchmarks.simulated import Setting, shown
from tests.benchmarks.tables import table_pictures

LEAST_OF_PLAIN = 0.9


@pytest.mark.parametrize(
    "setting", [Setting(2.3, "1080p"), Setting(4.0, "4K")], ids=lambda setting: setting.name
)
def test_no_effect_costs_more_than_a_tenth_of_recall(setting, tables, wanted, report):
    if not wanted(setting):
        pytest.skip("another setting was asked for")
    effects = (PLAIN, *CAMERA_EFFECTS)
    pictures = table_pictures(
        setting.px_per_cell, count=tables, resolution=setting.resolution, effects=effects
    )
    tallies = defaultdict(list)
    for effect, picture in zip(cycle(effects), pictures, strict=False):
        way = our_way(picture.camera, picture.roster)
        tallies[effect.name].append(tally(shown(picture), way))
    of = {name: Tally.joined(parts) for name, parts in tallies.items()}
    plain = of[PLAIN.name]
    table = Table(
        "effect", "≥85 %", "x plain", "50-85 %", "wrong", "centre px", "x plain", "place mm",
        title=f"Camera effects, {setting.name}",
    )  # fmt: skip
    for name, mine in of.items():
        centre_px = percentile(mine.centre_px, 50)
        table.add_row(
            name or "plain",
            share(mine, CLEAR),
            number(recall(mine, CLEAR) / recall(plain, CLEAR), 3),
            share(mine, PARTLY),
            str(mine.wrong),
            number(centre_px, 3),
            number(centre_px / percentile(plain.centre_px, 50)),
            number(percentile(mine.place_mm, 50), 3),
        )
    report.show(table)
    worst = min(of, key=lambda name: recall(of[name], CLEAR))
    least = recall(of[worst], CLEAR) / recall(plain, CLEAR)
    where = f"{setting.name}: {worst}"
    report.add("effects", where, f"{least:.3f} x plain", least >= LEAST_OF_PLAIN)
    wrong = sum(mine.wrong for mine in of.values())
    report.add("wrong", f"{setting.name}, effects", str(wrong), wrong == 0)
    assert least >= LEAST_OF_PLAIN, worst
