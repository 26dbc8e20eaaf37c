"""Whether rulings are as sure as they say, on tables whose units lie near a rule's limit.

Two lines face each other square (to half a degree, as hands lay them), askew, or corner to corner,
at a random distance about the limit, with a gun, a wall or a friend where the rule needs one. Each
table is measured with the errors of a camera that states them honestly. Two questions, both with
plain rulings on exact positions:

- given what was measured: of tables drawn from what is known of it, in how many does it hold?
- given the truth: of all tables for which so much was stated, on how many does it hold?
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from rich.table import Table

from tablecam.rules.books import Book
from tablecam.rules.huzzah_ge.book import BOOK as HUZZAH
from tablecam.rules.maurice.charge.charge import charge_of
from tablecam.rules.maurice.combat.combat import cover_answer
from tablecam.rules.maurice.combat.engagement import engagements
from tablecam.rules.maurice.field.field import Field, field_of
from tablecam.rules.maurice.fire.fire import fire_of
from tablecam.rules.maurice.place.contacts import contacts_of_field, to_flank
from tablecam.rules.maurice.place.ranges import near_enemy
from tablecam.rules.syw_d6.book import BOOK as SHEET
from tablecam.table.model import Position
from tablecam.table.rows import with_rows_of_unit
from tablecam.testing import shifted
from tablecam.uncertainty.lengths import distance
from tests.benchmarks.report import WIDTH
from tests.rules.huzzah_ge import battles as huzzah
from tests.rules.maurice.drawn import drawn_position, seen_position
from tests.rules.maurice.tables import BW, box, line, position
from tests.rules.syw_d6 import battles as syw

SOUTH = 270.0
SIGMAS = {"sigma_mm": 0.2, "sigma_deg": 0.2}
TABLES = 200
"""Tables of each kind of ruling, measured near its limit."""
DRAWS = 25
"""Truths drawn for each of them: 5,000 per kind."""
TRUTHS = 600
"""Tables of each kind on which the truth itself is tested."""
BINS = np.array([0.0, 0.02, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.98, 1.0])

Asked = Callable[[Position], float]
"""Returns the probability that a ruling holds."""
Laid = Callable[[np.random.Generator], Position]
"""Lays a table whose units are near the ruling's limit, exactly."""


def near(field: Field) -> float:
    return near_enemy(field, field.units[0]).answer.probability


def touches(field: Field) -> float:
    return contacts_of_field(field).answer("F1", "B1").probability


def flanks(field: Field) -> float:
    return to_flank(field, field.units[0], field.units[1]).probability


def engages(field: Field) -> float:
    return engagements(field, "french").answer("F1", "B1").probability


def charges(field: Field) -> float:
    charge = charge_of(field, field.units[0])
    if "B1" in charge.answers:
        return charge.answers["B1"].probability
    return float("B1" in charge.targets)


def fires(field: Field) -> float:
    fire = fire_of(field, field.units[0])["F1/2"]
    hits = [option.probability for option in fire.options if option.target == "B1"]
    missed = [answer.probability for answer in fire.answers if answer.rule == "M-7.12"]
    return max(hits or missed, default=0.0)


def has_cover(field: Field) -> float:
    return cover_answer(field, field.units[0], field.units[1]).probability


def on_field(asked: Callable[[Field], float]) -> Asked:
    """A ruling of Maurice Lite on a position."""
    return lambda table: asked(field_of(table))


def in_book(book: Book, rule: str) -> Asked:
    """The probability that F1's sheet, or its pair's with A1, states under a rule."""

    def asked(table: Position) -> float:
        handle = book.rulings(table, "french")
        lines = (*book.pair_sheet(handle, "F1", "A1").lines, *book.unit_sheet(handle, "F1").lines)
        answers = (line.answer for line in lines if line.answer is not None)
        return next((one.probability for one in answers if one.rule == rule), 0.0)

    return asked


def at_limit(lies_beyond: Callable[[float], bool], low_mm: float, high_mm: float) -> float:
    """The place (mm) from which something lies beyond a limit, by bisection."""
    while high_mm - low_mm > 1e-4:
        middle_mm = (low_mm + high_mm) / 2
        low_mm, high_mm = (low_mm, middle_mm) if lies_beyond(middle_mm) else (middle_mm, high_mm)
    return low_mm


def facing(rng: np.random.Generator, is_beyond: Callable[[Field], bool]) -> Position:
    """Two lines, from one of three sides, about as far apart as a ruling allows."""
    way = rng.integers(3)
    turn_deg = (rng.normal(0, 0.5), rng.uniform(5, 20), rng.uniform(20, 40))[way]
    x_mm = (600.0, 600.0, 740.0)[way]
    first, second = line("F1", "french", 600, 400), line("B1", "british", x_mm, 0, SOUTH + turn_deg)
    # From where the two just touch.
    touching_mm = at_limit(
        lambda y_mm: distance(first, shifted(second, 0, y_mm)).value_mm > 0, 430, 700
    )

    def laid(y_mm: float) -> Position:
        return position(first, shifted(second, 0, y_mm))

    y_mm = at_limit(lambda y_mm: is_beyond(field_of(laid(y_mm))), touching_mm, 1000)
    return laid(y_mm + rng.normal(0, 0.3))


def at_a_distance(limit_mm: float, rng: np.random.Generator) -> Position:
    return facing(rng, lambda field: distance(*(u.unit for u in field.units)).value_mm > limit_mm)


def beside(rng: np.random.Generator) -> Position:
    """Half of B1's bases, beside F1, reach as far ahead as its front line."""
    first, turn_deg, x_mm = (
        line("F1", "french", 600, 400),
        rng.uniform(-20, 20),
        rng.uniform(770, 820),
    )
    at_mm = partial(line, "B1", "british", x_mm, heading_deg=turn_deg)

    def is_to_front(y_mm: float) -> bool:
        field = field_of(position(first, at_mm(y_mm=y_mm)))
        return to_flank(field, *field.units).answer == "no"

    y_mm = at_limit(is_to_front, 300, 600)
    return position(first, at_mm(y_mm=y_mm + rng.normal(0, 0.3)))


def at_musket_range(rng: np.random.Generator) -> Position:
    return facing(rng, lambda field: fires(field) < 0.5)


def past_a_wall(rng: np.random.Generator) -> Position:
    """A wall between two lines that ends about where the last line of sight would pass."""
    end_mm = 679.5 + rng.normal(0, 0.4)
    first, second = line("F1", "french", 600, 480), line("B1", "british", 600, 540, SOUTH)
    return position(first, second, terrain=[box("trench", 300, 508, end_mm, 514)])


def shot_by_the_sheet(rng: np.random.Generator) -> Position:
    """Two lines about a musket's 6 in apart."""
    x_in, turn_deg = 20 + rng.uniform(-3, 3), rng.choice([rng.normal(0, 0.5), rng.uniform(-30, 30)])

    def laid(y_in: float) -> Position:
        return syw.table(syw.unit("F1", 20, 20), syw.unit("A1", x_in, y_in, SOUTH + turn_deg))

    y_in = at_limit(lambda y_in: in_book(SHEET, "S-D.8")(laid(y_in)) < 0.5, 23, 32)
    return laid(y_in + rng.normal(0, 0.012))


def led_by_the_sheet(rng: np.random.Generator) -> Position:
    """A commander about 18 in behind the end of a line."""
    x_in, turn_deg = 20 + rng.uniform(-6, 6), rng.uniform(60, 120)

    def laid(back_in: float) -> Position:
        lines = syw.unit("F1", 20, 26, turn_deg), syw.unit("A1", 20, 45, SOUTH)
        return syw.table(*lines, syw.commander("FC", x_in, 26 - back_in))

    back_in = at_limit(lambda back_in: in_book(SHEET, "S-K.1")(laid(back_in)) < 0.5, 10, 26)
    return laid(back_in + rng.normal(0, 0.012))


def shot_in_huzzah(rng: np.random.Generator) -> Position:
    """Two lines about 20 cm apart, from the centre of one to a face of the other."""
    x_cm, turn_deg = 60 + rng.uniform(-4, 4), rng.choice([rng.normal(0, 0.5), rng.uniform(-30, 30)])

    def laid(y_cm: float) -> Position:
        return huzzah.table(
            huzzah.unit("F1", 60, 40), huzzah.unit("A1", x_cm, y_cm, SOUTH + turn_deg)
        )

    y_cm = at_limit(lambda y_cm: in_book(HUZZAH, "H-7.4")(laid(y_cm)) < 0.5, 50, 64)
    return laid(y_cm + rng.normal(0, 0.03))


def led_in_huzzah(rng: np.random.Generator) -> Position:
    """An officer about 40 cm from the farthest corner of a line."""
    turn_deg = rng.uniform(60, 120)

    def laid(y_cm: float) -> Position:
        lines = huzzah.unit("F1", 60, 60, turn_deg), huzzah.unit("A1", 60, 90, SOUTH)
        return huzzah.table(*lines, huzzah.officer("FC", 58, y_cm))

    y_cm = at_limit(lambda y_cm: in_book(HUZZAH, "H-11.11")(laid(60 - y_cm)) < 0.5, 5, 60)
    return laid(60 - y_cm + rng.normal(0, 0.03))


KINDS: Mapping[str, tuple[Asked, Laid]] = {
    "near the enemy": (on_field(near), partial(at_a_distance, 4 * BW)),
    "in contact": (on_field(touches), partial(at_a_distance, 1.0)),
    "to the flank": (on_field(flanks), beside),
    "engaged": (on_field(engages), partial(at_a_distance, 1.0)),
    "may charge": (on_field(charges), partial(at_a_distance, 4 * BW)),
    "may fire": (on_field(fires), at_musket_range),
    "has cover": (on_field(has_cover), past_a_wall),
    "the sheet's range": (in_book(SHEET, "S-D.8"), shot_by_the_sheet),
    "the sheet's command": (in_book(SHEET, "S-K.1"), led_by_the_sheet),
    "Huzzah!'s range": (in_book(HUZZAH, "H-7.4"), shot_in_huzzah),
    "Huzzah!'s radius": (in_book(HUZZAH, "H-11.11"), led_in_huzzah),
}


@dataclass(frozen=True)
class Honesty:
    """Pairs (n, 2) of what was stated and whether it held, from either side."""

    given_measured: np.ndarray
    given_truth: np.ndarray

    @staticmethod
    def bins(pairs: np.ndarray) -> list[tuple[float, float, int]]:
        """For each bin, the mean of what was stated, how often it held, and the count."""
        index = np.digitize(pairs[:, 0], BINS[1:-1])
        parts = [pairs[index == bin_] for bin_ in range(len(BINS) - 1)]
        return [(*part.mean(axis=0).tolist(), len(part)) for part in parts if len(part)]

    @staticmethod
    def wrong_when_sure(pairs: np.ndarray) -> tuple[int, int]:
        """The number of wrong answers among those with more than 0.99, and of all of those."""
        sure = pairs[(pairs[:, 0] > 0.99) | (pairs[:, 0] < 0.01)]
        return int((sure[:, 1] != (sure[:, 0] > 0.5)).sum()), len(sure)


def with_sigmas(table: Position) -> Position:
    units = (
        replace(unit, bases=tuple(replace(base, **SIGMAS) for base in unit.bases))
        for unit in table.units
    )
    return replace(table, units=tuple(units))


def honesty_of(asked: Asked, laid: Laid) -> Honesty:
    rng = np.random.default_rng(1756)
    drawn, true = [], []
    for number in range(TRUTHS):
        truth = laid(rng)
        seen = with_sigmas(seen_position(with_sigmas(truth), rng))
        # As in the camera's positions: flush bases as one row.
        seen = replace(seen, units=tuple(map(with_rows_of_unit, seen.units)))
        stated = asked(seen)
        true.append((stated, asked(truth) > 0.5))
        draws = DRAWS if number < TABLES else 0
        tables = (drawn_position(seen, rng) for _ in range(draws))
        drawn += [(stated, asked(table) > 0.5) for table in tables]
    return Honesty(np.array(drawn, dtype=float), np.array(true, dtype=float))


def test_rulings_are_as_sure_as_they_say(request: pytest.FixtureRequest) -> None:
    honesty = {kind: honesty_of(*how) for kind, how in KINDS.items()}
    table = Table(title=f"Rulings near their limits ({TABLES} tables x {DRAWS} draws a kind)")
    for head in ("ruling", "given", "stated: held (of)", "wrong when sure"):
        table.add_column(head)
    for kind, found in honesty.items():
        for given, pairs in (("measured", found.given_measured), ("truth", found.given_truth)):
            bins = "  ".join(f"{p:.2f}:{held:.2f} ({n})" for p, held, n in Honesty.bins(pairs))
            wrong, sure = Honesty.wrong_when_sure(pairs)
            table.add_row(kind, given, bins, f"{wrong} of {sure}")
    Console(width=WIDTH).print(table)
    if request.config.getoption("--record"):
        from tests.benchmarks.plots import plot_honesty

        plot_honesty(honesty, Path("docs/honesty.png"))
    for kind, found in honesty.items():
        for stated, held, count in Honesty.bins(found.given_measured):
            # Three points, and three standard errors of a share of so many draws.
            error = 0.03 + 3 * math.sqrt(max(stated * (1 - stated), 0.01) / count)
            assert abs(stated - held) <= error, kind
