"""Drawings of events: every line of the log shows something on the table."""

from __future__ import annotations

from pathlib import Path

import pytest

from tablecam.rules.game import Event
from tablecam.rules.maurice.game import GAME
from tablecam.rules.maurice.game.actions import Fire, FireFrom, Overrule
from tablecam.rules.maurice.game.fire import Firing
from tablecam.rules.maurice.game.state import State
from tests.rules.maurice.game.states import after, dice, state_at
from tests.rules.maurice.tables import SOUTH, line, position
from tests.rules.playthrough import KEPT, played

ALL_OF_F1 = {f"F1/{place}": "B1" for place in (1, 2, 3, 4)}
ABOUT_NO_PLACE = {"over", "reshuffle", "rolled", "tie"}
"""Dice for the setup, the deck, and the end of the game."""
ON_THE_TABLE = {
    *("activate", "fire", "fire-from", "march", "charge", "fall-back", "rally", "roll"),
    *("place-commander", "clear-smoke", "choose-edge", "choose-order", "deploy"),
}


def facing() -> State:
    table = position(line("F1", "french", 600, 400), line("B1", "british", 600, 560, SOUTH))
    return state_at(table, Firing("volley", "french", next_sides=("british",)))


def roles(event: Event) -> list[str]:
    return [shape.role for shape in event.evidence]


def results(events: tuple[Event, ...]) -> list[str]:
    return [shape.label for event in events for shape in event.evidence if shape.role == "result"]


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.stem)
def test_every_line_of_a_whole_game_is_drawn(path: Path) -> None:
    play = played(path.read_text(encoding="utf-8"))
    undrawn = {
        event.kind
        for done in play.done
        for event in done.events
        if not event.evidence and event.kind not in ABOUT_NO_PLACE
    }
    assert undrawn == set()


def test_a_shot_is_drawn_from_its_base_to_its_target_and_the_hits_are_told_once() -> None:
    state, _ = after(facing(), FireFrom("left"), Fire("F1", ALL_OF_F1))
    state, told = after(state, dice(state, 6, 1, 6, 1))
    assert roles(told[0]) == ["unit", "unit", *["shooter", "shot"] * 4, "result"]
    way = told[0].evidence[3]
    assert way.points_mm[0] in {(base.x_mm, base.y_mm) for base in state.position.units[0].bases}
    assert way.points_mm[1][1] == pytest.approx(540.0)
    assert results(told) == ["2 of 4 hit"]


def test_a_disruption_is_told_at_the_unit_that_has_it() -> None:
    state, _ = after(facing(), FireFrom("left"), Fire("F1", ALL_OF_F1))
    state, _ = after(state, dice(state, 6, 1, 6, 1))
    state, told = after(state, dice(state, 6, 6))
    assert results(told) == ["+2 \N{BLACK CIRCLE}"]
    (place,) = next(shape for shape in told[0].evidence if shape.role == "result").points_mm
    assert place == pytest.approx((600.0, 560.0))


def test_an_overrule_draws_the_units_that_it_sets() -> None:
    _, (told,) = after(facing(), Overrule(disruption={"F1": 1}, smoke={"B1": True}))
    assert [shape.label for shape in told.evidence] == ["F1", "B1"]


@pytest.mark.parametrize("path", KEPT, ids=lambda path: path.stem)
def test_all_that_may_be_done_on_the_table_is_drawn_when_it_is_pointed_at(path: Path) -> None:
    play = played(path.read_text(encoding="utf-8"))
    offered = [
        (action.type, GAME.offered(done.state, action))
        for done in play.done[::5]
        for action in GAME.legal(done.state)
    ]
    undrawn = {kind for kind, offer in offered if kind in ON_THE_TABLE and not offer.evidence}
    assert undrawn == set()


def test_targets_are_numbered_from_the_end_that_is_begun_at() -> None:
    labels = {
        action.direction: [shape.label for shape in GAME.offered(facing(), action).evidence]
        for action in (FireFrom("left"), FireFrom("right"))
    }
    assert labels == {"left": ["1. F1"], "right": ["1. F1"]}


def test_the_dice_show_who_fires_at_whom() -> None:
    state, _ = after(facing(), FireFrom("left"), Fire("F1", ALL_OF_F1))
    (roll,) = GAME.legal(state)
    assert [shape.role for shape in GAME.offered(state, roll).evidence] == ["unit"] * 2 + [
        "shot"
    ] * 4
