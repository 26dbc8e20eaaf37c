"""How long the odds of the largest combats take: 40 units in contact, and friends behind them.

Twenty French lines touch twenty British, each two of them. In the second case twenty more French
lie 10 mm behind; in the third all French are also askew by a degree, so that their paths back
cross. All of them are one melee, so throws are sampled.
"""

import sys
import time
from dataclasses import replace

import pytest

from tablecam.rules.maurice.field.field import Field, field_of
from tablecam.rules.maurice.odds import odds
from tablecam.table.model import TableSize
from tests.rules.maurice.tables import BW, line, position, read_request

PAIRS = 20


def front(*, reserves: bool = False, askew_deg: float = 0.0) -> Field:
    gap_mm = 0.5 if askew_deg else 0.0
    units = []
    for place in range(PAIRS):
        x_mm, turn_deg = 200 + 4 * BW * place, askew_deg * (-1) ** place
        units.append(line(f"F{place}", "french", x_mm, 400, 90 + turn_deg, disruption=place % 3))
        units.append(line(f"B{place}", "british", x_mm + 2 * BW, 440 + gap_mm, 270))
        if reserves:
            units.append(line(f"R{place}", "french", x_mm + 50, 350))
    return field_of(replace(position(*units), table=TableSize(4000, 1200, BW)))


def test_odds_of_a_front_of_forty_units(capsys: pytest.CaptureFixture[str]) -> None:
    cases = {
        "40 units in one front": front(),
        "20 friends behind them": front(reserves=True),
        "and their ways back cross": front(reserves=True, askew_deg=1.0),
    }
    lines = ["Odds of one combat, sampled (wanted: within 2000 ms)"]
    for name, field in cases.items():
        asked = read_request({"kind": "combat", "active": "french"}, "request", field)
        times = []
        for _ in range(3):
            start = time.perf_counter()
            found = odds(field, asked)
            times.append(time.perf_counter() - start)
        for unit in found["units"].values():
            assert sum(unit["disruption"]["chances"].values()) == pytest.approx(1)
        lines.append(f"  {name:<30}{1000 * min(times):6.0f} ms, {len(found['units'])} units told")
    with capsys.disabled():
        sys.stdout.write("\n" + "\n".join(lines) + "\n")
