"""The toy skirmish: a whole game with units, inches and a concealed relic, in one folder."""

from pathlib import Path
from random import Random

import pytest

from tablecam.rules.game import Refused
from tablecam.rules.play import Play
from tablecam.table.model import TableSize
from tablecam.testing import position, shifted, unit
from tests.rules.conformance import check_replay, check_state, play_at_random
from tests.rules.toys import SYSTEMS

TABLE = TableSize(1200, 800, 30)
UNITS = (
    unit("R1", "line", 300, 300, 90, side="red", first_tag=10),
    unit("R2", "line", 600, 300, 90, side="red", first_tag=20),
    unit("B1", "line", 300, 500, 270, side="blue", first_tag=30),
    unit("B2", "line", 600, 500, 270, side="blue", first_tag=40),
)


@pytest.fixture
def play(skirmish):
    return Play(skirmish, position(*UNITS, game="skirmish", table=TABLE), chance=Random(1))


def act(play, **document):
    return play.apply(play.game.action_from_json(document))


def begun(play):
    act(play, type="hide", unit="R2")
    act(play, type="hide", unit="B1")
    return play


def roll(play, face):
    return act(play, type="roll", count=1, sides=10, lowest=0, values=[face], **{"for": "the shot"})


def test_the_whole_rulebook_is_at_most_250_lines():
    files = [*Path(SYSTEMS / "skirmish").glob("*.py")]
    assert sum(len(file.read_text(encoding="utf-8").splitlines()) for file in files) <= 250


@pytest.mark.parametrize("seed", range(10))
def test_it_keeps_what_every_rule_system_must(play, seed):
    check_state(play, tried=9)
    play_at_random(play, seed, most=99, after_each=lambda play: check_state(play, tried=5))
    check_replay(play)


def test_a_side_does_not_learn_who_carries_the_relic_of_the_other(play):
    done = act(play, type="hide", unit="R2")
    assert [event.only_for for event in done.events] == [None, "red"]
    assert play.game.seen_by(play.state, "red")["relics"] == {"red": "R2"}
    assert all(
        "R2" not in str(play.game.seen_by(play.state, seat)["relics"]) for seat in ("blue", None)
    )


def test_dice_go_from_0_to_9(play):
    begun(play)
    act(play, type="shoot", unit="R1", target="B1")
    with pytest.raises(Refused, match="from 0 to 9, got 10"):
        roll(play, 10)
    assert roll(play, 0).events[0].kind == "miss"


def test_the_second_wound_takes_a_base_off_and_the_last_base_the_unit(play):
    begun(play)
    for shooter, left in (("R1", 3), ("R2", 2), ("R1", 1)):
        act(play, type="overrule", wounds={"B1": 1})
        act(play, type="shoot", unit=shooter, target="B1")
        roll(play, 9)
        assert len(play.state.unit("B1").bases) == left
        if shooter == "R2":
            act(play, type="end-turn")
            act(play, type="end-turn")
    act(play, type="overrule", wounds={"B1": 1})
    act(play, type="shoot", unit="R2", target="B1")
    assert roll(play, 9).events[0].kind == "loss"
    assert play.state.position.unit("B1") is None
    assert play.state.points == {"red": 3, "blue": 0}


@pytest.mark.parametrize(("moved_mm", "word"), [(150, "yes"), (155, "no")])
def test_a_unit_moves_by_hand_up_to_six_inches(play, moved_mm, word):
    begun(play)
    there = shifted(UNITS[0], 0, moved_mm)
    (seen,) = play.detect_moves(position(there, *UNITS[1:], game="skirmish", table=TABLE))
    assert seen.answer.answer == word
    assert seen.answer.because == f"R1 moves {moved_mm / 25.4:.1f} inches, of at most 6"
    if word == "no":
        with pytest.raises(Refused, match="of at most 6"):
            play.apply(seen.action)
    else:
        assert play.apply(seen.action).events[0].kind == "move"


def test_players_overrule_whatever_it_offers_as_a_setting(play):
    begun(play)
    for setting in play.game.settings(play.state):
        name, now = next(iter(setting.values.items()))
        value = {"number": int(now == 1) + 1, "switch": not now, "choice": "blue"}[setting.kind]
        act(play, type="overrule", **{setting.key: {name: value} if name else value})
        (after,) = (s for s in play.game.settings(play.state) if s.key == setting.key)
        assert after.values[name] == value
    act(play, type="overrule", off=["R1"])
    assert play.state.position.unit("R1") is None
