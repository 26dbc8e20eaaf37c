"""The benchmark's results: targets with measurements, and tables to print."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from rich.console import Console
from rich.table import Table

from tests.benchmarks.scores import Band, Tally
from tests.benchmarks.simulated import Outcome, Setting

WIDTH = 165


@dataclass(frozen=True)
class Target:
    """A target of tablecam; `key` names it in the code."""

    key: str
    what: str
    target: str


@dataclass(frozen=True)
class Measured:
    """A measurement of a target in one place; `met` is None if undecided."""

    key: str
    where: str
    found: str
    met: bool | None


TARGETS = (
    Target("recall large", "recall, ≥85 % visible, ≥3 px a cell", "≥ 99.9 %"),
    Target("recall small", "recall, ≥85 % visible, 2-3 px a cell", "≥ 99 %"),
    Target("recall partly", "recall, 50-85 % visible", "≥ 90 %"),
    Target("recall cells", "of these by how much of the pattern is in view", "-"),
    Target("effects", "recall, ≥85 % visible, under the worst effect of a camera", "≥ 0.9 x plain"),
    Target("rows", "recall, 50-85 % visible, in rows, from an angle", "≥ 90 %"),
    Target("wrong names", "wrong names of half hidden tags, bound at 95 %", "1 in 20,000"),
    Target("wrong", "wrong ids, in every picture there is", "0"),
    Target(
        "centre",
        "centre error in the picture, ≥2 px a cell, median",
        "≤ 0.03 px simulated, ≤ 0.045 hd-b, ≤ 0.11 uhd-b",
    ),
    Target("place", "place of a base, own calibration: median, 95 %, most", "≤ 0.12, 0.30, 0.8 mm"),
    Target(
        "heading",
        "heading, flush rows together: median, 95 %",
        "≤ 0.3° hd-b, 0.4° uhd-b; 95 % ≤ 1°",
    ),
    Target("honest", "errors within 1 sigma, within 2 sigma", "68 ± 8 %, 95 ± 4 %"),
    Target(
        "honest corners",
        "corners of bases: errors within 1, 1.645 and 2 sigma",
        "68 ± 8 %, (90 %), 95 ± 4 %",
    ),
    Target(
        "honest lengths",
        "lengths between bases: errors within 1, 1.645 and 2 sigma",
        "68 ± 8 %, (90 %), 95 ± 4 %",
    ),
    Target(
        "honest share",
        "places, likewise, through many calibrations, on the average",
        "68 ± 8 %, (90 %), 95 ± 4 %",
    ),
    Target("search", "whole search, against the fastest peer with our recall", "≤ 1.0 x"),
    Target("still", "still table beyond decoding", "≤ 0.15 x grey decode, 0.25 x at 720p"),
    Target("hand", "one hand moving in view", "≤ 0.6 x grey decode, 1.2 x at 720p"),
    Target("no moves", "clip-b: moves reported that did not happen", "0"),
    Target("settles", "clip-b: the moved unit settles", "≤ 0.7 s after rest, right place"),
    Target("bumped", "camera bumped by 15 px", "right in 1 s, error ≤ 1.5 x"),
    Target("lamp", "lamp switched off and on (light x 0.6)", "none lost, none moved"),
)


@dataclass
class Report:
    """Collects the tests' measurements; the last test prints them all."""

    measured: list[Measured] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    outcomes: dict[Setting, list[Outcome]] = field(default_factory=dict)

    def add(self, key: str, where: str, found: str, met: bool | None) -> None:
        """Add a measurement of a target."""
        assert key in {target.key for target in TARGETS}, key
        self.measured.append(Measured(key, where, found, met))

    def keep(self, setting: Setting, outcomes: list[Outcome]) -> None:
        """Keep detectors' results on simulated tables, ours first, for plots and curves."""
        self.outcomes[setting] = outcomes

    def show(self, table: Table) -> None:
        """Print a table now, and keep it for the record."""
        self.tables.append(table)
        Console(width=WIDTH).print(table)

    def targets(self) -> Table:
        """All targets, each with its measurements."""
        table = Table("what", "target", "on", "measured", "met", title="Targets")
        for target in TARGETS:
            found = [one for one in self.measured if one.key == target.key]
            for number, one in enumerate(found):
                head = (target.what, target.target) if number == 0 else ("", "")
                table.add_row(*head, one.where, one.found, _said(one.met))
            if not found:
                table.add_row(target.what, target.target, "-", "not measured in this run", "-")
        return table


def _said(met: bool | None) -> str:
    return "-" if met is None else "yes" if met else "NO"


def share(tally: Tally, band: Band) -> str:
    """The number of a band's tags found, and their total."""
    mine = band.of(tally)
    count = len(mine.found)
    return f"{100 * mine.found.mean():.1f} % of {count}" if count else "-"


def percentile(errors: np.ndarray, percent: float) -> float:
    """A percentile of the errors of found tags; nan if there are none."""
    known = errors[~np.isnan(errors)]
    return float(np.percentile(known, percent)) if len(known) else float("nan")


def number(value: float, digits: int = 2) -> str:
    """A number, or a dash where there is none."""
    return "-" if np.isnan(value) else f"{value:.{digits}f}"
