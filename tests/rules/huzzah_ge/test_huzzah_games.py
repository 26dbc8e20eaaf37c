"""Whole battles by random legal players: they end, and replay to the same states."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from tablecam.rules.huzzah_ge.game import GAME
from tablecam.rules.play import Play
from tablecam.simulate.demo import embedded_demo
from tests.rules.conformance import check_replay, check_state, play_at_random
from tests.rules.huzzah_ge.battles import CHART, DOWN, UP, box, officer, table, unit

LAST_TURN = 2


def armies() -> Any:
    """Five units a side of all arms, near enough to fire and to charge in the first turn."""
    things = []
    for side, y_cm, heading_deg, behind in (("F", 30, UP, -12), ("A", 48, DOWN, 12)):
        new = {"quality": None, "heading_deg": heading_deg}
        horse = f"{side} horse"
        things += [
            unit(f"{side}1", 30, y_cm, divisional_artillery=True, abilities=["skirmish"], **new),
            unit(f"{side}2", 50, y_cm, bases=6, ranks=2, abilities=["hesitant"], **new),
            unit(f"{side}3", 70, y_cm, bases=3, kind="irregular_infantry", abilities=["irregular"],
                 **new | {"expected": "militia_b"}),
            unit(f"{side}4", 95, y_cm, arm="cavalry", bases=2, kind="battle_cavalry",
                 abilities=["impulsive"], division=horse, **new),
            unit(f"{side}5", 110, y_cm, arm="artillery", bases=1, kind="reserve_foot",
                 division=horse, **new),
            officer(f"{side}C", 60, y_cm + behind),
            officer(f"{side}D", 40, y_cm + behind, "division", inspirational=True),
            officer(f"{side}H", 100, y_cm + behind, "division", commands=[horse], quality="poor"),
        ]  # fmt: skip
    return table(
        *things,
        box("wood", "wood", 4, 34, 22, 46),
        box("town", "village", 80, 34, 88, 44),
        box("wall", "wall", 60, 31, 80, 31.5, cover="hard"),
    )


def by_kind(actions: tuple[Any, ...], players: Random) -> Any:
    """Choose a kind of action first: else orders would drown everything else."""
    kinds = sorted({action.type for action in actions})
    eager = [kind for kind in kinds if kind != "done"]
    kind = players.choice(eager if eager and players.random() < 0.85 else kinds)
    return players.choice([action for action in actions if action.type == kind])


def begun(seed: int) -> Play[Any, Any]:
    # Every other game has its factors from the players, who are asked for them.
    charts = {"charts": CHART} if seed % 2 else {}
    options = {"first": "french", "turns": LAST_TURN} | charts
    return Play(GAME, armies(), options, chance=Random(seed))


@pytest.mark.parametrize("seed", range(6))
def test_a_random_battle_ends_and_replays(seed):
    play = begun(seed)
    play_at_random(play, seed, most=900, choose=by_kind)
    check_replay(play)


@pytest.mark.parametrize("seed", range(2))
def test_each_state_keeps_what_every_rule_system_must(seed):
    play = begun(100 + seed)
    play_at_random(
        play, seed, most=900, choose=by_kind, after_each=lambda play: check_state(play, tried=1)
    )


def test_the_demo_is_a_table_that_the_game_takes():
    demo = embedded_demo("huzzah-ge")
    state = GAME.begin(demo.truth(), {"first": "french"})
    sizes = {side: sum(unit.side == side for unit in state.position.units) for side in state.sides}
    assert sizes == {"french": 10, "prussians": 10}
    # Every unit has an officer of its own division.
    ground = state.field
    divisions = [name for name, facts in ground.officer_facts.items() if facts.level == "division"]
    assert all(any(ground.commanded(one, name) for one in divisions) for name in ground.units)
