"""Whole games of the house folio by random legal players, and counters as hands lay them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from tablecam.rules.game import Refused
from tablecam.rules.hexes.counters import laid
from tablecam.rules.hexes.stacks import out_of_boxes
from tablecam.rules.musket_saber import state as acts
from tablecam.rules.musket_saber.book import BOOK
from tablecam.rules.musket_saber.game import GAME
from tablecam.simulate.demo import demo_roster
from tablecam.table.model import BasePose, Position, Unit
from tests.rules.conformance import check_replay, check_state, play_at_random
from tests.rules.musket_saber.folios import battle, begun, close_up, eager
from tests.rules.musket_saber.folios import unit as regiment


@pytest.mark.parametrize("seed", range(2))
def test_a_random_game_ends_and_replays_k_3_2(seed):
    play = close_up(seed, turns=["day", "twilight"])
    play_at_random(play, seed, most=3000, choose=eager)
    check_replay(play)
    told = Counter(event.kind for done in play.done for event in done.events)
    assert told["combat"] > 4
    # Each die that decides something has its line in the log.
    assert all(done.events for done in play.done if done.action.type == "roll")
    assert told["score"]


def test_each_state_keeps_what_every_rule_system_must():
    play = close_up(3, turns=["day"])
    play_at_random(play, 3, most=3000, choose=eager,
                   after_each=lambda play: check_state(play, tried=1))  # fmt: skip


def test_a_game_that_uses_invented_numbers_says_house():
    play = begun()
    assert play.house == ("charts", "map", "scenario")


# Counters as hands lay them.


def with_counter(play: Any, name: str, number: str, **changes: Any) -> Position:
    """The table as the game has it, one counter in another hex, those under others unseen."""
    position = GAME.position(play.state)
    x_mm, y_mm = play.state.grid.middle_mm((number,))
    units = tuple(
        replace(unit, bases=(replace(unit.bases[0], x_mm=x_mm, y_mm=y_mm, seen="now", **changes),))
        if unit.id == name
        else unit
        for unit in position.units
    )
    return replace(position, units=units)


def test_a_table_as_the_game_has_it_suggests_nothing_k_g4():
    play = begun()
    assert GAME.detect_moves(play.state, GAME.position(play.state)) == ()


def test_a_counter_that_a_hand_moves_takes_a_legal_way_k_4_2():
    play = begun()
    (suggestion,) = GAME.detect_moves(play.state, with_counter(play, "Red 2nd", "0606"))
    assert (suggestion.answer.answer, suggestion.action.path) == ("yes", ("0605", "0606"))
    (suggestion,) = GAME.detect_moves(play.state, with_counter(play, "Red 2nd", "0612"))
    assert (suggestion.answer.answer, suggestion.action) == ("no", None)
    # It is drawn where it was, to be put back.
    assert suggestion.nearest == GAME.position(play.state)


def test_a_unit_that_must_roll_is_sent_to_roll_first_and_learns_what_it_needs_k_4_4():
    play = begun()
    there = with_counter(play, "Red Militia", "1104")
    (suggestion,) = GAME.detect_moves(play.state, there)
    assert suggestion.action == acts.Start("Red Militia")
    assert suggestion.text.endswith("before it moves: to 1104 with 2 or more")
    play.apply(suggestion.action)
    play.apply(replace(play.legal()[0], values=(1,)))
    (suggestion,) = GAME.detect_moves(play.state, there)
    assert suggestion.text == "Red Militia may not go to 1104"
    assert suggestion.answer.because == "it costs 2 of 1 Movement Points (K-4.3)"


def test_a_refused_move_says_what_bars_it_before_any_dice_k_6_2b():
    play = begun()
    (suggestion,) = GAME.detect_moves(play.state, with_counter(play, "Red Militia", "0906"))
    assert suggestion.action is None
    assert suggestion.answer.because == "alone it enters no enemy zone of control (K-6.2b)"


def test_a_unit_that_returns_is_laid_by_hand_k_13_2():
    gone = {"hex": None, "trt": 1}
    play = battle(regiment("R1", "0505"), regiment("G1", "1018"), marks={"R1": gone})
    x_mm, y_mm = play.state.grid.middle_mm(("0102",))
    position = GAME.position(play.state)
    counter = Unit("R1", "red", "infantry", (BasePose(x_mm, y_mm, 90, 15, 15),))
    position = replace(position, units=(*position.units, counter))
    (suggestion,) = GAME.detect_moves(play.state, position)
    assert suggestion.action == acts.Place("R1", "0102")
    play.apply(acts.Pass())
    (suggestion,) = GAME.detect_moves(play.state, position)
    assert suggestion.text == "R1 is off the map: its counter does not belong in 0102"


def test_a_new_top_counter_is_no_action_k_g4():
    play = begun()
    swapped: dict[str, Any] = {"Red Horse": "held", "Red Lancers": "now"}
    position = GAME.position(play.state)
    units = tuple(
        replace(unit, bases=(replace(unit.bases[0], seen=swapped[unit.id]),))
        if unit.id in swapped
        else unit
        for unit in position.units
    )
    assert GAME.detect_moves(play.state, replace(position, units=units)) == ()


def test_the_marker_of_a_box_beside_the_map_moves_what_lies_in_it_k_g4():
    play = begun()
    position = with_counter(play, "Red 2nd", "0605")
    box = Unit("box", "house-red", "infantry", position.unit("Red 2nd").bases,
               extra={"box_mm": [0, 0, 30, 30]})  # fmt: skip
    inside = tuple(
        replace(unit, bases=(replace(unit.bases[0], x_mm=15, y_mm=15, seen="now"),))
        if unit.id == "Red 2nd" else unit
        for unit in position.units
    )  # fmt: skip
    table = replace(position, units=(*inside, box))
    (suggestion,) = GAME.detect_moves(play.state, out_of_boxes(table))
    assert (suggestion.unit, suggestion.action.path) == ("Red 2nd", ("0605",))
    (place,) = BOOK.sections(BOOK.rulings(table, ""), "Red 2nd")
    assert [line.text for line in place.lines] == ["Red 2nd lies in 0605, 10.5 mm from its side"]


def test_a_leader_whom_hands_moved_too_soon_is_accepted_where_he_lies():
    state = begun().state
    x_mm, y_mm = state.grid.middle_mm(("0708",))
    position = GAME.position(state)
    chief = replace(position.commanders[0], x_mm=x_mm, y_mm=y_mm)
    table = replace(position, commanders=(chief, *position.commanders[1:]))
    (suggestion,) = GAME.detect_moves(state, table)
    assert suggestion.answer.answer == "no"
    keys = {"type": "overrule", "commanders": {chief.id: chief.place_mm}}
    state, _ = GAME.apply(state, GAME.action_from_json(keys))
    assert GAME.detect_moves(state, table) == ()


def test_a_counter_near_a_hexside_is_asked_about_k_g3():
    play = begun()
    position = with_counter(play, "Red 3rd", "0805", sigma_mm=8.0)
    (suggestion,) = GAME.detect_moves(play.state, position)
    assert suggestion.answer.answer == "too_close"


def test_a_counter_shows_the_side_that_the_game_knows_k_g4():
    (entry,) = (one for one in demo_roster("musket-saber").units if one.id == "Red 1st")
    base = BasePose(0, 0, 90, 15, 15, 10)
    listed = (Unit(entry.id, entry.side, entry.arm, (base,), extra=entry.extra),)
    play = begun()
    play._first = replace(play.first, position=replace(play.first.position, units=listed))
    shown = GAME.position(play.state).unit("Red 1st")
    assert shown.bases[0].tag == 10
    play.apply(acts.Overrule(steps={"Red 1st": 1}))
    shown = GAME.position(play.state).unit("Red 1st")
    assert (shown.bases[0].tag, shown.state["cf"]) == (11, "3")
    position = with_counter(play, "Red 1st", "0705", tag=10)
    (suggestion,) = GAME.detect_moves(play.state, position)
    assert suggestion.text.endswith("wrong side of its counter: expected the back")


def test_a_retreat_is_laid_by_hand_k_7_9a():
    play = battle(regiment("R1", "0505", front={"cf": 8}), regiment("G1", "0506"), phase="combat")
    for kind, values in (("attack", None), ("declare", None), ("tactic", None), ("tactic", None),
                         ("roll", (4,)), ("choose", None)):  # fmt: skip
        some = [action for action in play.legal() if action.type == kind]
        play.apply(some[-1] if kind == "choose" else some[0] if values is None
                   else replace(some[0], values=values))  # fmt: skip
    (suggestion,) = GAME.detect_moves(play.state, with_counter(play, "G1", "0508"))
    assert (suggestion.action.type, suggestion.answer.rule) == ("retreat", "K-7.9a")


def test_players_overrule_places_and_marks():
    play = begun()
    there = laid(play.state.grid, ("0101",), 60, tag=None)
    play.apply(acts.Overrule(units={"Red 1st": (there,)}, off=("Grey 1st",),
                             disrupted={"Red 2nd": True}, turn=2))  # fmt: skip
    assert play.state.unit("Red 1st").hex == "0101"
    assert play.state.unit("Grey 1st").captured
    assert (play.state.unit("Red 2nd").disrupted, play.state.turn) == (True, 2)
    away = replace(there, x_mm=-500.0)
    with pytest.raises(Refused, match="expected Red 1st on the map"):
        play.apply(acts.Overrule(units={"Red 1st": (away,)}))
