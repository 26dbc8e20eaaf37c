"""What a referee makes of counters that hands drop on others: a camera sees the top ones alone."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest

from tablecam.referee.referee import Referee
from tablecam.referee.seats import SHARED
from tablecam.rules.game_files import house_options
from tablecam.rules.hexes.grid import grid_of
from tablecam.rules.musket_saber.game import GAME
from tablecam.simulate.demo import embedded_demo
from tablecam.table.model import Position


class Watched:
    """The demo's table with a referee, who hears of counters as a camera sees them."""

    def __init__(self) -> None:
        self.table = embedded_demo("musket-saber")
        self.table.pause()
        self.grid = grid_of(self.table.roster.table.hex_map)
        self.referee = Referee(GAME)
        self.seen = replace(self.table.truth(), units=(), commanders=())
        self.referee.begin(self.look(), dict(house_options("musket-saber")), SHARED)
        self.referee.table_at_rest(self.seen)

    def look(self) -> Position:
        """The table without the counters that others cover; leaders stay where they were seen.

        Counters that have never been seen are not even listed.
        """
        places = self.table.places()
        covered = {
            tag
            for tag, place in places.items()
            for other in places.values()
            if other.level > place.level
            and math.dist((place.x_mm, place.y_mm), (other.x_mm, other.y_mm)) < 10
        }
        truth = self.table.truth()
        units = (
            replace(unit, bases=tuple(base for base in unit.bases if base.tag not in covered))
            for unit in truth.units
        )
        units = (unit for unit in units if unit.bases or self.seen.unit(unit.id))
        leaders = {leader.id: leader for leader in truth.commanders}
        held = {
            leader.id: replace(leader, seen="held")
            for leader in self.seen.commanders
            if leader.id in leaders
        }
        shown = {name: leader for name, leader in leaders.items() if leader.pose.tag not in covered}
        self.seen = replace(truth, units=tuple(units), commanders=tuple((held | shown).values()))
        return self.seen

    def drop(self, name: str, number: str, *, under: bool = False, askew_mm: float = 0.0) -> None:
        x_mm, y_mm = self.grid.middle_mm((number,))
        self.table.move_unit(name, x_mm + askew_mm, y_mm - askew_mm, 60)
        if under:
            (base,) = self.table.truth().unit(name).bases
            self.table.turn_over(name, base.tag, under=True)
        self.referee.table_at_rest(self.look())

    def put_there(self, name: str) -> None:
        self.table.lie_as(self.referee.due_position(name), name)
        self.referee.table_at_rest(self.look())

    def confirms(self, name: str, number: str, **how: Any) -> None:
        self.drop(name, number, **how)
        (move,) = (move for move in self.referee.suggested if move.unit == name)
        self.acts(**GAME.action_to_json(move.action or move.choices[0][1]))

    def acts(self, **action: Any) -> None:
        self.referee.act(SHARED, action)

    def legal(self) -> tuple[Any, ...]:
        with self.referee.locked() as play:
            assert play is not None
            return play.legal()

    @property
    def suggested(self) -> list[str]:
        return [suggestion.text for suggestion in self.referee.suggested]

    @property
    def to_place(self) -> list[str]:
        return [placing.unit for placing in self.referee.to_place]


@pytest.fixture
def watched() -> Watched:
    return Watched()


@pytest.mark.parametrize("askew_mm", [0.0, 4.0])
@pytest.mark.parametrize(
    ("name", "number", "text"),
    [
        ("Red 3rd", "0704", "Red 3rd to 0704"),
        ("Red 3rd", "0705", "Red 3rd to 0705"),
        ("Red Horse", "0804", "Red Horse to 0804"),
        ("Red Guns", "0707", "Red Guns may not go to 0707"),
    ],
    ids=["a friend", "a stack", "from a stack", "an enemy"],
)
def test_a_counter_that_is_dropped_on_others_goes_to_their_hex_k_g4(
    watched: Watched, name: str, number: str, text: str, askew_mm: float
) -> None:
    watched.drop(name, number, askew_mm=askew_mm)
    assert watched.suggested == [text]


def test_a_counter_that_is_pushed_under_others_is_asked_about_k_g4(watched: Watched) -> None:
    watched.drop("Red 3rd", "0704", under=True)
    (asked,) = watched.referee.suggested
    choices = dict(asked.choices)
    assert (asked.text, asked.action) == ("Red 3rd is not seen any more: where is it?", None)
    assert next(iter(choices)) == "It lies in 0804"
    assert choices["It goes to 0704"].path == ("0704",)
    assert "It goes to 0706" not in choices  # nothing lies there
    watched.acts(**GAME.action_to_json(choices["It lies in 0804"]))
    assert watched.suggested == []
    watched.drop("Red 3rd", "0805")
    assert watched.suggested == ["Red 3rd to 0805"]


def test_a_counter_that_is_laid_beside_an_enemy_may_charge_from_there_k_7_13c_k_9_3(
    watched: Watched,
) -> None:
    watched.drop("Red 3rd", "0806")
    (moved,) = watched.referee.suggested
    assert (moved.text, moved.is_legal) == ("Red 3rd to 0806: does it charge?", True)
    # Nobody charges Grey 1st in its village.
    assert [label for label, _ in moved.choices] == [
        "Only move", "Move and charge Grey Rifles in 0907",
    ]  # fmt: skip
    watched.acts(**GAME.action_to_json(moved.choices[1][1]))
    watched.acts(type="pass")
    assert watched.suggested == []
    charges = [action for action in watched.legal() if getattr(action, "how", "") == "charge"]
    assert [(charge.units, charge.target_hex) for charge in charges] == [(("Red 3rd",), "0907")]


def test_who_lies_beneath_a_counter_that_is_seen_is_not_asked_about_k_g4(watched: Watched) -> None:
    for name, number in (("Red 2nd", "0706"), ("Red 1st", "0806")):
        watched.confirms(name, number)
    # Nobody had seen the Guard before, and it lies untidily on the 2nd.
    watched.confirms("Red Guard", "0706", askew_mm=4)
    assert (watched.suggested, watched.to_place) == ([], [])


def test_a_move_that_is_taken_back_before_a_hand_has_made_it_asks_nothing_k_g4(
    watched: Watched,
) -> None:
    watched.confirms("Red 2nd", "0704")
    watched.acts(type="move", units=["Red Guns"], path=["0803"])
    watched.referee.undo(SHARED)
    assert (watched.suggested, watched.to_place) == ([], [])


def test_victors_advance_onto_each_other_and_each_is_named_once_k_7_12(watched: Watched) -> None:
    for name, number in (("Red 1st", "0706"), ("Red 3rd", "0806"), ("Red Guard", "0706")):
        watched.confirms(name, number)
    watched.acts(type="pass")
    watched.acts(type="attack", units=["Red 1st"], target_hex="0707", how="attack")
    for name in ("Red 3rd", "Red Guard"):
        watched.acts(type="join", unit=name, joins=True)
    watched.acts(type="declare", yes=True)
    for _ in range(2):
        watched.acts(type="tactic", choice="none")
    watched.acts(**GAME.action_to_json(replace(watched.legal()[0], values=(3,))))
    watched.acts(type="choose", choice="retreat")
    watched.acts(**GAME.action_to_json(watched.legal()[0]))
    watched.put_there("Grey 1st")
    watched.acts(type="advance", unit="Red 1st", to="0707")
    watched.put_there("Red 1st")
    watched.drop("Red Guard", "0707")
    assert watched.suggested == ["Red Guard to 0707"]
    # Before that is confirmed, another victor hides it.
    watched.drop("Red 3rd", "0707")
    moved, asked = watched.referee.suggested
    assert (moved.text, asked.unit) == ("Red 3rd to 0707", "Red Guard")
    assert [label for label, _ in asked.choices] == ["It lies in 0706", "It goes to 0707"]


def test_a_leader_who_is_put_on_a_stack_hides_it_and_nobody_has_moved_k_4_2(
    watched: Watched,
) -> None:
    watched.confirms("Red 1st", "0706")
    watched.acts(type="start", unit="Red Guard", leader="Red Chief")
    watched.acts(type="move", units=["Red Guard", "Red Chief"], path=["0706"])
    # Nobody had seen the Guard before the 1st was lifted off it.
    assert watched.to_place == ["Red Chief", "Red Guard"]
    watched.confirms("Red 3rd", "0806")
    watched.put_there("Red Chief")
    assert (watched.suggested, watched.to_place) == ([], ["Red Guard"])
    watched.put_there("Red Guard")
    assert (watched.suggested, watched.to_place) == ([], [])


def test_a_leader_who_is_laid_near_enemies_goes_there_with_a_unit_k_10_1_k_6_2b(
    watched: Watched,
) -> None:
    for name in ("Red 1st", "Red Chief"):
        watched.drop(name, "0706")
    (asked,) = watched.referee.suggested
    assert (asked.unit, asked.text) == ("Red Chief", "Red Chief to 0706 with a unit")
    assert "he enters it only along with a unit (K-10.1)" in asked.answer.because
    first, second = asked.choices
    assert (first[0], second[0]) == ("Red 1st goes with him", "Red Guard goes with him")
    watched.acts(**GAME.action_to_json(first[1]))
    assert (watched.suggested, watched.to_place) == ([], [])


def test_a_unit_may_take_its_leader_along_where_he_could_not_follow_k_10_1(
    watched: Watched,
) -> None:
    watched.drop("Red 1st", "0706")
    (moved,) = watched.referee.suggested
    assert "only along with a unit (K-10.1)" in moved.answer.because
    assert [label for label, _ in moved.choices] == ["Only Red 1st", "Red Chief goes along"]
    assert moved.text == "Red 1st to 0706: does Red Chief go along?"
    watched.acts(**GAME.action_to_json(moved.choices[1][1]))
    # He went along beneath the counter, where no camera sees him.
    assert (watched.suggested, watched.to_place) == ([], [])


def test_a_dead_leader_is_taken_off_the_table_k_10_4(watched: Watched) -> None:
    watched.confirms("Red 1st", "0706")
    watched.confirms("Red Guard", "0706")
    assert "Red Chief" in {leader.id for leader in watched.seen.commanders}
    watched.acts(type="overrule", off=["Red Chief"])
    (placing,) = watched.referee.to_place
    assert placing.text == "Red Chief is out of play: take it off the table"
    assert watched.referee.bases_left["Red Chief"] == 0
    assert watched.suggested == []
    watched.table.take_off("Red Chief")
    watched.referee.table_at_rest(watched.look())
    assert watched.to_place == []
