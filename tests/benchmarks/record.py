"""Writes down what a benchmark found."""

from __future__ import annotations

from tests.benchmarks.report import Report


def record(report: Report) -> None:
    """Write README.md, the plots, and the curves behind `tablecam plan`."""
