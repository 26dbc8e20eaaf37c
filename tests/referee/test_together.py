"""Several units moved at once are confirmed at once, in a legal order (M-6.31)."""

from dataclasses import replace

import pytest

from tablecam.referee.referee import Referee
from tablecam.referee.refusals import NotYours, OutOfDate
from tablecam.referee.seat_view import seat_view
from tablecam.referee.seats import SHARED, SPECTATOR, player
from tablecam.rules.games import game_of
from tablecam.table.model import Commander, Position
from tests.referee.tables import SOUTH, moved
from tests.rules.maurice.tables import line, position

FRENCH, BRITISH = player("french"), player("british")


def table(front: str = "F1", rear: str = "F2") -> Position:
    """One unit stands 10 mm behind another, with F3 beside them; all are one force."""
    places = {front: (600, 300), rear: (600, 250)}
    return position(
        *(line(name, "french", *places[name]) for name in sorted(places)),
        line("F3", "french", 780, 300),
        line("B1", "british", 600, 900, SOUTH),
        commanders=(
            Commander("cinc", "french", 600, 150),
            Commander("general", "british", 600, 1050),
        ),
    )


def marching(here: Position | None = None, *, is_automatic: bool = False) -> Referee:
    """The french march F1, F2 and F3."""
    referee = Referee(game_of("maurice-lite"), is_automatic=is_automatic)
    referee.begin(here or table(), {"active": "french"}, FRENCH)
    referee.act(SHARED, {"type": "declare", "command": "march"})
    choices = seat_view(referee, SHARED)["actions"]
    forces = [choice["action"] for choice in choices if set("123") <= set(choice["label"])]
    referee.act(SHARED, forces[0])
    while (now := seat_view(referee, SHARED))["actions"][-1]["group"] == "card":
        referee.act(SHARED, next(a["action"] for a in now["actions"] if "No" in a["label"]))
    assert now["question"].startswith("French march: F1, F2, F3")
    return referee


def laid(**ahead_mm: float) -> Position:
    seen = table()
    for name, length_mm in ahead_mm.items():
        seen = moved(seen, name, length_mm)
    return seen


def told(referee: Referee) -> list[str]:
    log = seat_view(referee, SHARED)["log"]
    return [line["text"] for line in log if line["kind"] == "march" and not line["undone"]]


def test_all_that_was_moved_is_confirmed_with_one_tap() -> None:
    referee = marching()
    referee.table_at_rest(laid(F1=100, F3=80))
    now = seat_view(referee, FRENCH)
    assert now["together"] == ["F1", "F3"]
    assert [suggestion["text"] for suggestion in now["moved"]] == [
        "F1 moved ahead 2.5 BW: march?",
        "F3 moved ahead 2 BW: march?",
    ]
    assert now["moved"][1]["answer"]["because"] == "2.00 of 4 BW"
    referee.confirm_all(FRENCH, ["F1", "F3"], referee.version)
    assert told(referee) == ["F1 marches 2.50 BW of 4", "F3 marches 2.00 BW of 4"]
    assert seat_view(referee, FRENCH)["moved"] == []


def test_who_moves_into_the_place_that_another_left_goes_after_him() -> None:
    referee = marching()
    referee.table_at_rest(laid(F2=60, F1=120))
    now = seat_view(referee, FRENCH)
    assert now["together"] == ["F1", "F2"]
    first, then = now["moved"]
    assert (first["unit"], first["after"]) == ("F1", [])
    assert (then["unit"], then["after"]) == ("F2", ["F1"])
    assert then["answer"]["answer"] == "yes"
    assert then["answer"]["because"] == "1.50 of 4 BW"
    referee.confirm_all(FRENCH, ["F1", "F2"])
    assert told(referee) == ["F1 marches 3.00 BW of 4", "F2 marches 1.50 BW of 4"]


def test_of_the_orders_that_is_taken_in_which_nobody_passes_through_a_friend() -> None:
    """F1 ends ahead of where F2 stood: moving first, it would have passed through it (M-6.7)."""
    here = table(front="F2", rear="F1")
    referee = marching(here)
    referee.table_at_rest(moved(moved(here, "F1", 110), "F2", 160))
    assert seat_view(referee, FRENCH)["together"] == ["F2", "F1"]
    referee.confirm_all(FRENCH, ["F2", "F1"])
    assert seat_view(referee, FRENCH)["markers"] == {}


def test_one_that_is_not_legal_keeps_nobody_from_confirming_the_others() -> None:
    referee = marching()
    referee.table_at_rest(laid(F1=100, F2=60, F3=220))
    now = seat_view(referee, FRENCH)
    assert now["together"] == ["F1", "F2"]
    assert not now["moved"][2]["is_legal"]
    assert now["moved"][2]["ghost"]
    referee.confirm_all(FRENCH, ["F1", "F2"])
    assert [suggestion["unit"] for suggestion in seat_view(referee, FRENCH)["moved"]] == ["F3"]


def test_who_follows_one_that_may_not_go_waits_with_him() -> None:
    referee = marching()
    referee.table_at_rest(laid(F1=220, F2=60, F3=80))
    now = seat_view(referee, FRENCH)
    assert now["together"] == []
    by_unit = {suggestion["unit"]: suggestion for suggestion in now["moved"]}
    assert by_unit["F3"]["is_legal"]
    assert not by_unit["F2"]["is_legal"]
    said = "F2 is where F1 stood, which may not stay where it is now"
    assert by_unit["F2"]["answer"]["because"] == said


def test_two_that_changed_places_are_told_that_neither_can_go_first() -> None:
    referee = marching()
    seen, here = table(), table()
    for name, other in (("F1", "F2"), ("F2", "F1")):
        bases = tuple(
            replace(base, x_mm=there.x_mm, y_mm=there.y_mm)
            for base, there in zip(here.unit(name).bases, here.unit(other).bases, strict=True)
        )
        units = (replace(unit, bases=bases) if unit.id == name else unit for unit in seen.units)
        seen = replace(seen, units=tuple(units))
    referee.table_at_rest(seen)
    now = seat_view(referee, FRENCH)
    assert now["together"] == []
    said = "F1 is where F2 stood, and F2 is where F1 stood: neither can go first"
    first = next(suggestion for suggestion in now["moved"] if suggestion["unit"] == "F1")
    assert first["answer"]["because"] == said


def test_each_is_confirmed_singly_too_and_the_others_stay_on_offer() -> None:
    referee = marching()
    referee.table_at_rest(laid(F1=100, F2=60, F3=80))
    assert seat_view(referee, FRENCH)["together"] == ["F1", "F3", "F2"]
    referee.confirm(FRENCH, "F3")
    assert seat_view(referee, FRENCH)["together"] == ["F1", "F2"]


def test_what_is_confirmed_at_once_is_taken_back_one_by_one() -> None:
    referee = marching()
    referee.table_at_rest(laid(F1=100, F3=80))
    referee.confirm_all(FRENCH, ["F1", "F3"])
    referee.undo(FRENCH)
    assert told(referee) == ["F1 marches 2.50 BW of 4"]


def test_by_itself_the_referee_confirms_all_in_that_order() -> None:
    referee = marching(is_automatic=True)
    referee.table_at_rest(laid(F2=60, F1=120, F3=220))
    assert told(referee) == ["F1 marches 3.00 BW of 4", "F2 marches 1.50 BW of 4"]
    assert [suggestion["unit"] for suggestion in seat_view(referee, FRENCH)["moved"]] == ["F3"]


def test_other_moves_than_those_offered_are_not_confirmed() -> None:
    referee = marching()
    referee.table_at_rest(laid(F1=100, F3=80))
    with pytest.raises(OutOfDate, match="look again"):
        referee.confirm_all(FRENCH, ["F1", "F2"])
    for seat in (BRITISH, SPECTATOR):
        with pytest.raises(NotYours):
            referee.confirm_all(seat, ["F1", "F3"])
    assert told(referee) == []
