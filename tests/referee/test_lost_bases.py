"""A unit that loses bases: players take them off, and put them back after an undo."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tablecam.referee.referee import Referee
from tablecam.referee.seats import SHARED, player
from tablecam.rules.frozen_json import to_plain
from tablecam.rules.games import game_of
from tablecam.table.model import Position, TableSize
from tablecam.testing import position, unit

ROVERS = unit("R1", x_mm=300, y_mm=300, side="rovers", first_tag=10)
BANDITS = unit("B1", x_mm=300, y_mm=500, heading_deg=270, side="bandits", first_tag=20)


def table(left: int = 4) -> Position:
    """The table after a hand has taken bases off B1, from the other end than the game."""
    seen = replace(BANDITS, bases=BANDITS.bases[-left:])
    return position(ROVERS, seen, game="skirmish", table=TableSize(1200, 800, 30))


@pytest.fixture
def referee(toys: None) -> Referee:
    """A game in which B1 has just lost a base that still lies there."""
    referee = Referee(game_of("skirmish"))
    referee.begin(table(), {}, SHARED)
    referee.table_at_rest(table())
    for side, hidden in (("rovers", "R1"), ("bandits", "B1")):
        referee.act(player(side), {"type": "hide", "unit": hidden})
    referee.act(SHARED, {"type": "overrule", "wounds": {"B1": 1}})
    referee.act(SHARED, {"type": "shoot", "unit": "R1", "target": "B1"})
    die = {"type": "roll", "for": "the shot", "count": 1, "sides": 10, "lowest": 0}
    referee.act(SHARED, die | {"values": [9]})
    return referee


def asked(referee: Referee) -> list[str]:
    return [placing.text for placing in referee.to_place]


def test_any_base_of_the_unit_may_be_taken_off(referee: Referee) -> None:
    assert asked(referee) == ["B1 has lost 1 base: take it off the table"]
    assert referee.bases_left == {"R1": 4, "B1": 3}
    assert referee.suggested == ()
    assert referee.lost([20, 21, 22, 23]) == {23}  # nobody misses it
    referee.table_at_rest(table(3))
    assert asked(referee) == []
    assert referee.suggested == ()


def test_the_lost_base_is_marked_and_the_others_go_to_their_ghost(referee: Referee) -> None:
    (placing,) = referee.to_place
    assert ([base.tag for base in placing.lost], placing.moves) == ([23], False)
    fled = [replace(base, y_mm=600) for base in BANDITS.bases[:3]]
    places = {"B1": [to_plain(base) for base in fled]}
    referee.act(SHARED, {"type": "overrule", "units": places})
    rest = "take it off the table, and put the rest where the ghost is"
    assert asked(referee) == [f"B1 has lost 1 base: {rest}"]
    (placing,) = referee.to_place
    assert ([base.tag for base in placing.lost], placing.moves) == ([23], True)


def test_the_game_goes_on_with_the_bases_that_are_left(referee: Referee) -> None:
    referee.table_at_rest(table(3))
    unit = referee.position().unit("B1")
    assert [base.tag for base in unit.bases] == [21, 22, 23]
    assert unit.bases == table(3).unit("B1").bases
    assert len(unit.state) == 0


def test_a_base_is_put_back_when_its_loss_is_undone(referee: Referee) -> None:
    referee.table_at_rest(table(3))
    referee.undo(SHARED)
    assert asked(referee) == ["B1 lacks 1 base: put it where the ghost is"]
    referee.table_at_rest(table())
    assert asked(referee) == []
