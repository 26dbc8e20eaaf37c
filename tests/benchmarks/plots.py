"""Pictures of the benchmark: recall and error over the size of tags, honesty of rulings."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import matplotlib as mpl

mpl.use("agg")

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter

from tests.benchmarks.report import percentile
from tests.benchmarks.scores import CLEAR, Tally, recall
from tests.benchmarks.simulated import Outcome, Setting
from tests.benchmarks.test_rulings_honesty import Honesty

Curves = Mapping[str, Mapping[float, Tally]]
"""Each detector's results on the tables of each size, in pixels a cell."""

_LOOKS = {
    "tablecam": ("#0072B2", "o", "-"),
    "OpenCV, defaults": ("#999999", "v", ":"),
    "OpenCV, subpix, small": ("#D55E00", "s", "-"),
    "OpenCV, the same, 2x": ("#E69F00", "D", "--"),
    "Locus, standard": ("#009E73", "^", "-"),
    "Locus, local mean, 2x": ("#CC79A7", "P", "--"),
}
"""Okabe and Ito's colours, distinguished by markers and lines too."""
_FEWEST_FOUND = 20
"""A median of fewer tags' errors is not drawn."""


def curves(outcomes: Mapping[Setting, list[Outcome]]) -> dict[str, dict[float, Tally]]:
    """The results on ordinary tables, by detector and size; both resolutions together."""
    parts: dict[str, dict[float, list[Tally]]] = {}
    for setting, each in outcomes.items():
        for outcome in each if setting.is_ordinary else ():
            sizes = parts.setdefault(outcome.name, {})
            sizes.setdefault(setting.px_per_cell, []).append(outcome.all)
    return {
        name: {size: Tally.joined(tallies) for size, tallies in sorted(sizes.items())}
        for name, sizes in parts.items()
    }


def plot_recall(by_name: Curves, path: Path) -> None:
    """The share of clear tags that are found."""
    axes = _axes("Tags found, of those at least 85 % visible")
    for name, sizes in by_name.items():
        found = [100 * recall(tally, CLEAR) for tally in sizes.values()]
        _line(axes, name, list(sizes), found)
    axes.set_ylim(-3, 103)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:.0f} %"))
    _save(axes, path)


def plot_error(by_name: Curves, path: Path) -> None:
    """The median error of the tags found, in pixels."""
    axes = _axes("Error of a tag's centre in the picture, median (95th percentile: thin)")
    for name, sizes in by_name.items():
        many = {size: one for size, one in sizes.items() if one.found.sum() >= _FEWEST_FOUND}
        if not many:
            continue
        errors = [percentile(tally.centre_px, 50) for tally in many.values()]
        _line(axes, name, list(many), errors)
        most = [percentile(tally.centre_px, 95) for tally in many.values()]
        colour, _, dashes = _LOOKS[name]
        axes.plot(list(many), most, color=colour, linestyle=dashes, linewidth=0.8, alpha=0.7)
    axes.set_yscale("log")
    axes.set_yticks([0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0])
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g} px"))
    axes.yaxis.set_minor_formatter(FuncFormatter(lambda *_: ""))
    _save(axes, path)


def _axes(title: str) -> Axes:
    _, axes = plt.subplots(figsize=(8, 4.8), layout="constrained")
    axes.set_title(title, loc="left", fontsize=11)
    axes.set_xscale("log")
    ticks = [1.6, 2, 2.3, 3, 4, 6]
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.set_xticks([], minor=True)
    axes.set_xlabel("pixels a cell (a tag is 6 cells wide)")
    axes.grid(color="#dddddd", linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    return axes


def _line(axes: Axes, name: str, sizes: list[float], values: list[float]) -> None:
    colour, marker, dashes = _LOOKS[name]
    is_ours = name == "tablecam"
    axes.plot(
        sizes,
        np.array(values),
        color=colour,
        marker=marker,
        linestyle=dashes,
        linewidth=2.6 if is_ours else 1.6,
        markersize=7 if is_ours else 5,
        label=name,
        zorder=3 if is_ours else 2,
    )


def _save(axes: Axes, path: Path) -> None:
    axes.legend(frameon=False, fontsize=9, loc="center left", bbox_to_anchor=(1.0, 0.5))
    axes.figure.savefig(path, dpi=110)
    plt.close(axes.figure)


def plot_honesty(by_kind: Mapping[str, Honesty], path: Path) -> None:
    """How often rulings held for which a probability was stated, from either side."""
    figure, both = plt.subplots(1, 2, figsize=(9, 4.6), layout="constrained", sharey=True)
    titles = ("Given what was measured", "Given the truth")
    for axes, title, side in zip(both, titles, ("given_measured", "given_truth"), strict=True):
        axes.plot([0, 1], [0, 1], color="#999999", linewidth=1)
        for (kind, honesty), (colour, marker, _) in zip(
            by_kind.items(), [*_LOOKS.values(), ("#56B4E9", "X", "-")], strict=True
        ):
            stated, held, counts = zip(*honesty.bins(getattr(honesty, side)), strict=True)
            errors = np.sqrt(np.maximum(np.multiply(held, np.subtract(1, held)), 0) / counts)
            axes.errorbar(
                stated, held, errors, color=colour, marker=marker, linestyle="", label=kind
            )
        axes.set_title(title, loc="left", fontsize=11)
        axes.set_xlabel("probability stated")
        axes.grid(color="#dddddd", linewidth=0.6)
        axes.spines[["top", "right"]].set_visible(False)
    both[0].set_ylabel("share that held, and its standard error")
    both[1].legend(frameon=False, fontsize=9, loc="center left", bbox_to_anchor=(1.0, 0.5))
    figure.savefig(path, dpi=110)
    plt.close(figure)
