"""How fast all lengths among a table's units are measured, compared with plain shapely loops.

The table: 40 units of four bases of 40 x 40 mm, in line, column and massed in turn, at seeded
places and headings on 2400 x 1600 mm; every base known to 0.2 mm and 0.3 degrees. 780 pairs.
"""

import sys
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
import shapely

from tablecam.geometry.outlines import footprint
from tablecam.table.model import Unit
from tablecam.testing import unit
from tablecam.uncertainty.contact import contacts
from tablecam.uncertainty.lengths import distance, distances

UNITS = 40


def table() -> list[Unit]:
    rng = np.random.default_rng(1759)
    formations = ("line", "column", "massed")
    return [
        unit(
            f"U{index}",
            formations[index % 3],
            float(rng.uniform(100, 2300)),
            float(rng.uniform(100, 1500)),
            float(rng.uniform(0, 360)),
            sigma_mm=0.2,
            sigma_deg=0.3,
        )
        for index in range(UNITS)
    ]


def exact(each: Unit) -> Unit:
    return replace(
        each, bases=tuple(replace(base, sigma_mm=0.0, sigma_deg=0.0) for base in each.bases)
    )


def seconds(work: Callable[[], object], repeats: int = 5) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def plain_lengths(units: list[Unit]) -> np.ndarray:
    """Every pair of units by a double loop over their bases, the rectangles made beforehand."""
    outlines = [[footprint(base) for base in each.bases] for each in units]
    found = np.zeros((len(units), len(units)))
    for i, j in combinations(range(len(units)), 2):
        found[i, j] = found[j, i] = min(
            shapely.distance(a, b) for a in outlines[i] for b in outlines[j]
        )
    return found


def test_all_lengths_among_forty_units(capsys: pytest.CaptureFixture[str]) -> None:
    units = table()
    without_sigma = [exact(each) for each in units]
    assert np.allclose(distances(units).value_mm, plain_lengths(units))
    plain_s = seconds(lambda: plain_lengths(units), repeats=3)
    one_by_one_s = seconds(lambda: [distance(a, b) for a, b in combinations(units, 2)], repeats=1)
    rows = [
        ("double loop of shapely calls, no sigma", plain_s),
        ("distances(), exact positions", seconds(lambda: distances(without_sigma))),
        ("distances(), with standard deviations", seconds(lambda: distances(units))),
        ("distance() for each pair, the same", one_by_one_s),
        ("contacts(), with standard deviations", seconds(lambda: contacts(units))),
    ]
    lines = [f"All pairs among {UNITS} units of 4 bases ({UNITS * (UNITS - 1) // 2} pairs)"]
    for name, took_s in rows:
        ratio = f"{plain_s / took_s:6.1f} x as fast as the double loop"
        lines.append(f"  {name:<40} {1000 * took_s:8.1f} ms {ratio}")
    with capsys.disabled():
        sys.stdout.write("\n" + "\n".join(lines) + "\n")
