"""How fast all rulings of a table are made, afresh and after a move, beside plain shapely calls.

The table is `rulings_battle.py`'s: 40 units, 160 bases, 20 pieces of terrain. The plain calls are
`plain_rulings.py`'s, and must come to the same answers.
"""

import sys
import time
from collections.abc import Callable
from typing import Any

import pytest

from tablecam.rules.maurice.field import field_of
from tablecam.rules.maurice.renewed import renewed
from tablecam.rules.maurice.rulings import all_rulings, rulings_document
from tablecam.table.model import Position
from tests.benchmarks.plain_rulings import plain_rulings
from tests.benchmarks.rulings_battle import battle, with_one_moved

FRAME_MS = 1000 / 15
"""What a camera of 15 pictures a second leaves for each."""
WANTED = 20
"""How many times as fast as pair by pair all rulings are to be."""


def afresh(position: Position) -> dict[str, Any]:
    return rulings_document(all_rulings(field_of(position), "french"))


def milliseconds(work: Callable[[], object], repeats: int) -> float:
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return 1000 * min(times)


def test_all_rulings_of_forty_units(capsys: pytest.CaptureFixture[str]) -> None:
    position = battle()
    moved = with_one_moved(position, "F6", 7.0)
    before = all_rulings(field_of(position), "french")

    def after_one_moved() -> dict[str, Any]:
        return rulings_document(renewed(before, field_of(moved)))

    check_the_same(afresh(position), plain_rulings(position, "french"))
    check_the_same(after_one_moved(), plain_rulings(moved, "french"))
    assert after_one_moved() == afresh(moved)
    plain_ms = milliseconds(lambda: plain_rulings(position, "french"), repeats=3)
    rows = [
        ("plain shapely calls, pair by pair", plain_ms),
        ("all rulings afresh", milliseconds(lambda: afresh(position), repeats=5)),
        ("after one unit moved", milliseconds(after_one_moved, repeats=5)),
    ]
    lines = [f"All rulings of 40 units of 4 bases among 20 pieces of terrain (wanted: {WANTED} x)"]
    for name, took_ms in rows:
        frames = f"{took_ms / FRAME_MS:5.1f} frames of 15 a second"
        lines.append(f"  {name:<48}{took_ms:8.0f} ms {plain_ms / took_ms:6.1f} x {frames}")
    with capsys.disabled():
        sys.stdout.write("\n" + "\n".join(lines) + "\n")


def check_the_same(ours: dict[str, Any], plain: dict[str, Any]) -> None:
    """Both answer alike, so that they can be compared."""
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
