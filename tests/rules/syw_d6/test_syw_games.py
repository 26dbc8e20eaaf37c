"""Whole battles by random legal players: they end, and replay to the same states."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from tablecam.live.questions import about
from tablecam.replay.film_table import table_facts
from tablecam.rules.game_files import house_options
from tablecam.rules.games import with_formations
from tablecam.rules.lay import with_bases
from tablecam.rules.play import Play
from tablecam.rules.syw_d6 import tables
from tablecam.rules.syw_d6.field import field_of
from tablecam.rules.syw_d6.forming import in_formation
from tablecam.rules.syw_d6.game import GAME
from tablecam.simulate.demo import embedded_demo
from tests.rules.conformance import check_replay, check_state, play_at_random
from tests.rules.syw_d6.battles import DOWN, UP, box, commander, table, unit

LAST_TURN = 3


def armies() -> Any:
    """Five units a side, near enough to charge and to fire in the first turn."""
    things = []
    for side, y_in, heading_deg, behind in (("F", 20, UP, -3), ("A", 28, DOWN, 3)):
        ready = {"heading_deg": heading_deg, "brigade": f"{side} line"}
        things += [
            unit(f"{side}1", 14, y_in, experience="green", **ready),
            unit(f"{side}2", 24, y_in, experience="veteran", **ready),
            unit(f"{side}3", 33, y_in, bases=2, weight="light", figures=9, **ready),
            unit(f"{side}4", 40, y_in, heading_deg, arm="cavalry", bases=2, figures=8, files=4),
            unit(f"{side}5", 48, y_in, heading_deg, arm="artillery", bases=1, figures=6, files=6),
            commander(side, 24, y_in + behind),
            commander(f"{side}B", 30, y_in + behind, "brigade"),
        ]
    return table(
        *things, box("wood", "woods", 30, 22, 36, 26), box("wall", "wall", 10, 24, 20, 24.3)
    )


def by_kind(actions: tuple[Any, ...], players: Random) -> Any:
    """Choose a kind of action first: else moves would drown everything else."""
    kinds = sorted({action.type for action in actions})
    eager = [kind for kind in kinds if kind not in ("done", "change-formation", "stay-put")]
    kind = players.choice(eager if eager and players.random() < 0.9 else kinds)
    return players.choice([action for action in actions if action.type == kind])


def begun(seed: int) -> Play[Any, Any]:
    return Play(GAME, armies(), {"first": "french", "turns": LAST_TURN}, chance=Random(seed))


@pytest.mark.parametrize("seed", range(4))
def test_a_random_battle_ends_and_replays(seed):
    play = begun(seed)
    play_at_random(play, seed, most=900, choose=by_kind, after_each=check_apart)
    check_replay(play)


def check_apart(play: Play[Any, Any]) -> None:
    """No base lies on another, which cannot be on a table (S-J.6)."""
    ground = play.state.field
    upon = {name: ground.upon(area, name) for name, area in ground.outlines.items()}
    assert not any(upon.values()), (upon, [event.text for event in play.done[-1].events])


@pytest.mark.parametrize("seed", range(2))
def test_each_state_keeps_what_every_rule_system_must(seed):
    play = begun(100 + seed)
    play_at_random(
        play, seed, most=900, choose=by_kind, after_each=lambda play: check_state(play, tried=1)
    )


def test_the_demo_is_a_table_that_the_game_takes():
    demo = embedded_demo("syw-d6")
    state = GAME.begin(demo.truth(), {"first": "french"})
    sizes = {side: sum(unit.side == side for unit in state.position.units) for side in state.sides}
    assert sizes == {"french": 10, "allies": 10}
    assert all(troops.formation != "none" for troops in state.field.troops.values())


def test_a_page_knows_the_experience_and_the_brigade_of_each_unit_s_0_4():
    words = {
        unit["id"]: unit["words"] for unit in table_facts(embedded_demo("syw-d6").roster)["units"]
    }
    assert (words["F1"], words["F4"]) == (
        "veteran, Guerchy brigade", "green, Saint Germain brigade"
    )  # fmt: skip


def test_the_card_of_a_unit_in_square_says_so_s_l_14():
    demo = embedded_demo("syw-d6")
    position = demo.truth()
    square = in_formation(field_of(position), position.unit("F1"), "square")
    laid = with_formations(with_bases(position, {"F1": square}), demo.roster)
    assert about(laid, "unit:F1", demo.roster)["lines"] == [
        "French infantry, square, 4 bases in 3 ranks."
    ]


def test_the_demos_chart_gives_all_rows_and_says_that_they_are_invented_s_n_2():
    (charts,) = house_options("syw-d6").values()
    assert Play(GAME, armies(), {"charts": charts}, chance=Random(1)).house == ("charts",)
    state = GAME.begin(armies(), {"charts": charts})
    assert set(state.chart) == set(tables.TEST_ROWS)
