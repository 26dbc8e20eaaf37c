"""How fast all rulings on a table are made, afresh and after a move, against plain shapely calls.

The table is `rulings_battle.py`'s: 40 units, 160 bases, 20 pieces of terrain; exact, as from a
document, and with a standard deviation of every base, as from a camera. The plain calls are
`plain_rulings.py`'s, and must give the same answers. Times are processor times.

Plain calls know nothing of errors. They can tell how sure an answer is only by asking again on
tables drawn from the measurements: the time for that is given too, for as many draws as rulings
make and only for bases whose fire rulings could not decide without draws; from a few of the draws.
"""

import sys
import time
from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import pytest

from tablecam.rules.maurice.field.field import field_of
from tablecam.rules.maurice.fire.fire import fire_of
from tablecam.rules.maurice.rulings.facts import Rulings
from tablecam.rules.maurice.rulings.rulings import rulings_document
from tablecam.table.model import Position, Terrain, Unit
from tablecam.table.motion import steadied
from tablecam.uncertainty.answer import Answer
from tablecam.uncertainty.samples import DRAWS
from tests.benchmarks.plain_rulings import plain_fire, plain_rulings
from tests.benchmarks.rulings_battle import (
    LINE,
    TABLE,
    bases,
    battle,
    drawn,
    jittered,
    measured,
    with_one_moved,
)
from tests.rules.maurice.afresh import afresh

FRAME_MS = 1000 / 15
"""The time for each picture of a camera with 15 a second."""
WANTED = 20
"""Target: how many times as fast all rulings are as plain calls."""
MOVED, BY_MM = "F6", 7.0
PLAIN_DRAWS = 3
"""Number of draws from which the time of plain calls for one is measured."""


def all_afresh(position: Position) -> dict[str, Any]:
    return rulings_document(Rulings(afresh(position), "french"))


def after(position: Position) -> dict[str, Any]:
    """All rulings of a table, while those of the last table are remembered."""
    return rulings_document(Rulings(field_of(position), "french"))


def moves(position: Position) -> Iterator[Position]:
    """The table after different moves of one unit, endlessly."""
    return (with_one_moved(position, MOVED, BY_MM + step / 10) for step in count())


def open_fire(found: Rulings) -> list[tuple[str, int]]:
    """The bases whose fire needed draws: each by its unit and its index there."""
    return [
        (unit_id, place)
        for unit_id, unit in found.units.items()
        for place, fire in enumerate(unit.fire.values())
        if any(answer.rule == "M-7.12" for answer in fire.answers)
    ]


def milliseconds(work: Callable[[], object], repeats: int) -> float:
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return 1000 * min(times)


def test_all_rulings_of_forty_units(capsys: pytest.CaptureFixture[str]) -> None:
    exact, seen = battle(), measured(battle())
    moved, seen_moved = moves(exact), moves(seen)
    for table, of in ((exact, moved), (seen, seen_moved)):
        there = next(of)
        check_the_same(all_afresh(table), plain_rulings(table, "french"))
        remembered = after(there)
        check_the_same(remembered, plain_rulings(there, "french"))
        assert remembered == all_afresh(there)
    plain_ms = milliseconds(lambda: plain_rulings(exact, "french"), repeats=3)
    asked = open_fire(Rulings(field_of(seen), "french"))
    tables = [drawn(seen, seed) for seed in range(PLAIN_DRAWS)]
    draw_ms = milliseconds(
        lambda: [plain_fire(table, *base) for table in tables for base in asked], repeats=1
    )
    plain_seen_ms = plain_ms + draw_ms * DRAWS / PLAIN_DRAWS
    rows = {
        "plain shapely calls, pair by pair": plain_ms,
        f"the same, and {DRAWS} draws of {len(asked)} bases' fire": plain_seen_ms,
        "all rulings afresh": milliseconds(lambda: all_afresh(exact), 5),
        "after one unit moved": milliseconds(lambda: after(next(moved)), 5),
        "a measured table afresh": milliseconds(lambda: all_afresh(seen), 3),
        "a measured table after one unit moved": milliseconds(lambda: after(next(seen_moved)), 5),
        "the same while all others tremble": milliseconds(
            lambda: after(steadied(jittered(next(seen_moved), seed=1), seen)), 5
        ),
        "the same, nothing written down": milliseconds(
            lambda: Rulings(field_of(next(seen_moved)), "french"), 5
        ),
    }
    lines = [f"All rulings of 40 units of 4 bases among 20 pieces of terrain (wanted: {WANTED} x)"]
    for name, took_ms in rows.items():
        frames = f"{took_ms / FRAME_MS:5.1f} frames of 15 a second"
        faster = f"{plain_ms / took_ms:6.1f} x"
        if "measured" in name:
            faster += f" ({plain_seen_ms / took_ms:.0f} x with draws)"
        lines.append(f"  {name:<48}{took_ms:8.0f} ms {faster} {frames}")
    with capsys.disabled():
        sys.stdout.write("\n" + "\n".join(lines) + "\n")


def test_one_base_with_doubtful_cover(capsys: pytest.CaptureFixture[str]) -> None:
    clear, close = (shooting_past_a_wood(edge_x_mm) for edge_x_mm in (960.0, 970.6))
    assert not doubts_of_first_base(clear)
    assert [answer.rule for answer in doubts_of_first_base(close)] == ["M-7.19"]
    clear_ms, close_ms = (
        milliseconds(lambda position=position: doubts_of_first_base(position), 3)
        for position in (clear, close)
    )
    ratio = f"{close_ms:8.0f} ms {close_ms / clear_ms:6.1f} x without doubt"
    with capsys.disabled():
        sys.stdout.write(f"\n  {'one base with doubtful cover':<48}{ratio}\n")


def shooting_past_a_wood(edge_x_mm: float) -> Position:
    """A line fires at another past a wood; its first base sees it past the wood's left edge."""
    ends_mm = ((edge_x_mm, 560.0), (1200.0, 560.0), (1200.0, 590.0), (edge_x_mm, 590.0))
    lines = tuple(
        Unit(name, side, "infantry", tuple(bases(x_mm, y_mm, heading_deg, LINE)), "line")
        for name, side, x_mm, y_mm, heading_deg in (
            ("F1", "french", 1000.0, 500.0, 90.0),
            ("B1", "british", 1060.0, 620.0, 270.0),
        )
    )
    wood = Terrain("wood", "woods", ends_mm)
    return measured(Position("maurice-lite", TABLE, lines, (), (wood,)))


def doubts_of_first_base(position: Position) -> tuple[Answer, ...]:
    field = afresh(position)
    (fire, *_) = fire_of(field, field.units[0]).values()
    return fire.answers


def check_the_same(ours: dict[str, Any], plain: dict[str, Any]) -> None:
    """Both give the same answers, so that they can be compared."""
    flanks = {(pair["a"], pair["b"]) for pair in ours["pairs"] if pair["b_to_flank_of_a"]}
    for name, unit in ours["units"].items():
        other = plain["units"][name]
        assert (unit["near_enemy"]["answer"] == "yes") == other["near"], name
        assert unit["in_contact"] == other["contact"], name
        assert unit["bad_terrain"] == other["bad_terrain"], name
        assert {b for a, b in flanks if a == name} == set(other["to_flank"]), name
        assert set(unit["charge"]["targets"]) == plain["charge"][name], name
        for place, fire in enumerate(unit["fire"].values()):
            wanted = set(other["fire"].get(place, ()))
            assert {option["target"] for option in fire["options"]} == wanted, (name, place)
    for name, enemies in plain["engaged"].items():
        assert set(ours["units"][name]["engaged_with"]) == set(enemies), name
    for span in ours["spans"]:
        wanted_mm = min(plain["strings"][name] for name in span["force"])
        # Round a corner's arc it is shorter than round the corner that encloses it.
        most_mm = wanted_mm + 1e-3
        least_mm = wanted_mm * 0.98 - 1e-3
        assert least_mm <= span["length_bw"] * 40.0 <= most_mm, span["force"]
