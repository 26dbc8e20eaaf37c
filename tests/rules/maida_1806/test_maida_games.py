"""Whole games by random legal players, and what each seat may see."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from tablecam.errors import BadInput
from tablecam.referee.game_views import event_lines
from tablecam.referee.seats import SPECTATOR
from tablecam.rules.game import Refused
from tablecam.rules.maida_1806 import hands
from tablecam.rules.maida_1806 import state as acts
from tablecam.rules.maida_1806.game import GAME
from tablecam.rules.play import Play
from tablecam.rules.steps import Decide
from tests.rules.conformance import check_replay, check_state, play_at_random
from tests.rules.maida_1806.games import POSITION, begun, close_up, files, horse_in_front


def by_kind(actions: tuple[Any, ...], players: Random) -> Any:
    """Choose a kind of action first: else moves would drown everything else."""
    kinds = sorted({action.type for action in actions})
    idle = ("pass", "halt", "formation", "reorder", "spread")
    eager = [kind for kind in kinds if kind not in idle]
    kind = players.choice(eager if eager and players.random() < 0.8 else kinds)
    return players.choice([action for action in actions if action.type == kind])


def with_the_horse(play: Play[Any, Any]) -> Any:
    """Ride straight at the nearest enemy first, and charge where that is legal."""

    def ridden(action: Any) -> tuple[int, int]:
        name = action.units[0]
        after, _ = GAME.apply(play.state, action)
        piece, side = after.piece(name), after.side(name)
        if not piece.hexes:
            return 0, 0
        enemies = (one.hexes for one in after.on_map() if after.side(one.id) != side)
        return piece.straight, -min(after.grid.distance(piece.hexes, at) for at in enemies)

    def choose(actions: tuple[Any, ...], players: Random) -> Any:
        charges = [action for action in actions if action.type == "charge"]
        moves = [action for action in actions if action.type == "move"]
        rides = [a for a in moves if all(play.state.troop(n).arm == "cavalry" for n in a.units)]
        if charges:
            return players.choice(charges)
        if rides and players.random() < 0.9:
            return max(rides, key=lambda action: (*ridden(action), players.random()))
        return by_kind(actions, players)

    return choose


def test_the_horse_charges_in_random_games_which_replay_d_9_2_1_d_15_10():
    told: Counter[str] = Counter()
    for seed in range(4):
        play = horse_in_front(seed)
        play_at_random(play, seed, most=3000, choose=with_the_horse(play))
        check_replay(play)
        told.update(event.kind for done in play.done for event in done.events)
    assert told["charge"] >= 4
    # A square is tried, but most charges come to a Clash.
    assert told["clash"] >= told["charge"]


@pytest.mark.parametrize("seed", range(3))
def test_a_random_game_ends_and_replays_d_3_2(seed):
    play = close_up(seed, turns=2)
    play_at_random(play, seed, most=3000, choose=by_kind)
    check_replay(play)


def test_each_state_keeps_what_every_rule_system_must():
    play = close_up(100, turns=1)
    play_at_random(play, 1, most=3000, choose=by_kind,
                   after_each=lambda play: check_state(play, tried=1))  # fmt: skip


def test_hidden_leaders_never_leave_their_seat_d_17_0d():
    """10,000 answers: neither the British seat nor a spectator hears whom the French chose."""
    answers = seed = 0
    while answers < 10_000:
        seed += 1
        play = third_turn(seed)
        secret = Random(seed).choice(play.legal())
        done = play.apply(secret)
        (hidden,) = secret.leaders
        for seat in ("british", None):
            told = GAME.seen_by(play.state, seat)
            # Who the leaders are is no secret, nor whose units are whose.
            told["leaders"] = [{**one, "id": ""} for one in told["leaders"]]
            values = [*leaves(told), *leaves(event_lines(play.game, done, SPECTATOR))]
            assert hidden not in values
            assert not any(hidden in value for value in values if isinstance(value, str))
            answers += len(values)
        assert GAME.seen_by(play.state, "french")["pool"]["own"] == ["Marshal", hidden]


def test_a_side_without_a_choice_of_leaders_says_whom_it_has_d_17_0c():
    play = begun(scenario={"pool": {"1": {"french": 2, "british": 2}}})
    first = play.apply(play.legal()[0]).events[0]
    text = "In the pool: General Blue and General Rouge of the French"
    assert (first.text, first.only_for) == (text, None)


def leaves(document: Any) -> list[Any]:
    """Every value of a document."""
    if isinstance(document, dict):
        return [leaf for value in document.values() for leaf in leaves(value)]
    if isinstance(document, list):
        return [leaf for value in document for leaf in leaves(value)]
    return [document]


def third_turn(seed: int) -> Play[Any, Any]:
    """A game in which each side chooses one of its leaders at once."""
    if not _CHOOSING:
        pool = {"1": {"french": 1, "british": 1}}
        _CHOOSING.append(files(scenario={"pool": pool}))
    return Play(GAME, POSITION, _CHOOSING[0], chance=Random(seed))


_CHOOSING: list[Any] = []


def test_a_game_without_files_names_them_and_the_house_sample():
    with pytest.raises(BadInput, match=r"options: charts: expected the charts file.*house sample"):
        Play(GAME, POSITION, {})


@pytest.mark.parametrize(
    ("kind", "change", "message"),
    [
        ("charts", ("clash", "rows"), "clash.rows: expected 10 entries, for a die of 0 to 9"),
        ("map", ("default",), 'expected a kind of the charts .* got "moor"'),
        ("map", ("thicket",), r"map: thicket\[2\]: expected one terrain for 0101"),
        ("map", ("hexsides",), "expected two hexes that touch, got 0101 and 0505"),
        ("scenario", ("leader", "Nobody"), 'unit.* expected a leader of the french, got "Nobody"'),
        ("scenario", ("facing_deg", 30), "scenario: unit.*facing_deg: expected one of 0, 60, 120"),
        ("scenario", ("second_hex", "0604"), "scenario: unit.*second_hex: expected 0603, the hex"),
    ],
)  # fmt: skip
def test_a_fault_in_a_file_is_named_in_one_line(kind, change, message):
    options = files()
    document = options[kind]
    if kind == "charts":
        del document["clash"]["rows"][-1]
    elif change == ("default",):
        document["default"] = "moor"
    elif change == ("thicket",):
        document["thicket"] = ["0101", "0101"]
    elif change == ("hexsides",):
        document["hexsides"]["river"] = [["0101", "0505"]]
    else:
        document["unit"][0] |= [change]
    with pytest.raises(BadInput, match=message) as fault:
        Play(GAME, POSITION, options)
    assert "\n" not in str(fault.value)


@pytest.mark.parametrize(
    ("begin", "phase", "in_slot"),
    [
        ({"phase": "pool"}, "pool", ""),
        ({"pool": ["General Rouge"], "phase": "draw"}, "draw", ""),
        ({"active_leader": "General Rouge", "phase": "activation"}, "movement", "british"),
        ({"active_leader": "General Rouge", "active_side": "french"}, "movement", "french"),
        ({"active_leader": "General Rouge", "subphase": "leaders"}, "leaders", "french"),
        ({"active_leader": "General Rouge", "subphase": "clash"}, "clash", "french"),
    ],
)
def test_a_game_begins_in_its_middle_d_3_3(begin, phase, in_slot):
    state = GAME.begun(POSITION, files() | {"begin": begin})
    assert state.phase == phase
    assert not in_slot or state.in_slot == in_slot


@pytest.mark.parametrize(
    ("begin", "message"),
    [
        ({"phase": "draw"}, "begin.phase: expected pool, where its pool and leader lead, got draw"),
        ({"subphase": "clash"}, "begin.subphase: expected begin.active_leader beside it"),
        ({"active_side": "spanish"}, "begin.active_side: expected "),
        ({"active_leader": "Nobody"}, "begin.active_leader: expected a leader, got Nobody"),
    ],
)
def test_a_beginning_that_does_not_fit_together_is_refused(begin, message):
    with pytest.raises(BadInput, match=f"^options: {message}"):
        Play(GAME, POSITION, files() | {"begin": begin})


def test_a_die_of_10_is_refused_d_2_2():
    play = begun(1)
    play_at_random_until_a_roll(play)
    roll = play.legal()[0]
    count = roll.count
    with pytest.raises(BadInput, match="expected dice from 0 to 9, got 10"):
        play.apply(type(roll)(roll.for_, count, roll.sides, (10,) * count, roll.lowest))


def test_a_check_of_a_unit_that_players_take_off_lapses_d_13_1():
    play = begun(1)
    play_at_random_until_a_roll(play)
    check = play.state.step
    play.apply(acts.Overrule(off=check.names(play.state)))
    assert check not in play.state.due


def test_a_captured_gun_is_adopted_where_it_lies_d_10_12():
    state = begun().state
    gun = next(name for name, troop in state.board.troops.items() if troop.is_battery)
    state = state.with_piece(gun, captured_by=state.enemy(gun), hexes=("0101",))
    assert gun in GAME.adopt_positions(state, GAME.position(state)).units


def play_at_random_until_a_roll(play: Play[Any, Any]) -> None:
    players = Random(7)
    while play.legal()[0].type != "roll":
        play.apply(by_kind(play.legal(), players))


def test_a_game_that_uses_invented_numbers_says_house():
    assert begun().house == ("charts", "map", "scenario")


@pytest.mark.parametrize(("formation", "is_other"), [("square", False), ("column", True)])
def test_a_square_is_a_marker_on_the_counter_for_one_hex_d_6_3_6_d_g13(formation, is_other):
    state = begun().state
    unit = GAME.position(state).unit("Foot 4")
    formed = replace(state.piece("Foot 4"), formation=formation)
    assert (hands.wrong_face(state.put(formed), unit) != "") is is_other


ODD = (
    acts.Halt(), acts.Move((), ()), acts.Move(("nobody",), (acts.MoveStep(turn=60),)),
    acts.Move(("Foot 1",), ()), acts.Move(("Guards",), (acts.MoveStep(turn=60),)),
    acts.Move(("Foot 1",), (acts.MoveStep(to=("9999",)),)),
    acts.Move(("Foot 1", "Foot 1"), (acts.MoveStep(wheel="left"),)),
    acts.Charge((), "0101"), acts.Charge(("Foot 1",), "9999"), acts.Fire((), "Guards"),
    acts.Fire(("Guards",), "nobody"), acts.Fire(("Foot 1",), "Late"),
    acts.Reorder("9999", ()), acts.Detach("nobody", ()), acts.KeepHex("nobody", "0101"),
    acts.Form("nobody", "line", 0, ()), acts.Place("nobody", (), 0), acts.Face((), 0),
    acts.MoveLeader("nobody", "0101"), acts.ClashIn((), (), ()), acts.Losses("french", {}),
    acts.Withdraw("nobody"), acts.React("nobody", "fire"), Decide(True), acts.Draw("nobody"),
    acts.Activate("nobody"), acts.ChoosePool("french", ()), acts.Overrule(off=("nobody",)),
)  # fmt: skip


@pytest.mark.parametrize("draws", [0, 1])
def test_an_action_that_is_not_legal_is_refused_and_changes_nothing(draws):
    play = begun()
    for _ in range(draws):
        play.apply(acts.Draw())
    before = play.state
    for action in ODD:
        with pytest.raises(Refused):
            play.apply(action)
        assert play.state == before, action
