"""The size of a benchmark, and the report that gathers its results.

`make bench` runs them: with `--setting 2.3` only simulated tables of 2.3 px a cell; with `--record`
results are written to tests/benchmarks/README.md, docs/recall.png, docs/error.png, and the
expectations of `tablecam plan`.
"""

from __future__ import annotations

import time
from importlib.util import find_spec

import pytest
from rich.console import Console

from tests.benchmarks.record import record
from tests.benchmarks.report import WIDTH, Report

TABLES, RECORDED_TABLES = 4, 12
"""A hundred bases each, in four lights in turn; nine in ten are at least 85 % visible."""


# Without the extra `bench` there are no plots; everything else is measured.
collect_ignore = [] if find_spec("matplotlib") else ["plots.py"]


def pytest_addoption(parser):
    parser.addoption("--games", type=int, help="games of random players")
    parser.addoption("--tables", type=int, help="simulated tables a setting")
    parser.addoption("--setting", type=float, help="only tables of so many pixels a cell")
    parser.addoption("--record", action="store_true", help="write down what was found")


def pytest_configure(config):
    if config.getoption("--record") and config.getoption("--setting"):
        raise pytest.UsageError("--record writes down a whole benchmark: leave --setting out")


@pytest.fixture(scope="session")
def tables(request):
    """The number of simulated tables of each setting."""
    asked = request.config.getoption("--tables")
    return asked or (RECORDED_TABLES if request.config.getoption("--record") else TABLES)


@pytest.fixture(scope="session")
def wanted(request):
    """Whether a setting of simulated tables is to be measured."""
    only = request.config.getoption("--setting")
    return lambda setting: only is None or setting.px_per_cell == only


@pytest.fixture(scope="session")
def report(request, tables):
    """The report of everything measured; shown after the last test."""
    found, started = Report(), time.monotonic()
    yield found
    Console(width=WIDTH).print(found.targets())
    if request.config.getoption("--record"):
        record(found, tables, time.monotonic() - started)
