"""Several rules at once in marches, charges, combats and rallies: what they come to together."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tablecam.geometry.outlines import unit_footprint
from tablecam.rules.game import Refused
from tablecam.rules.maurice.game import GAME
from tablecam.rules.maurice.game.actions import (
    Activate,
    Charge,
    ClearSmoke,
    Discard,
    Done,
    FallBack,
    March,
    Rally,
)
from tablecam.rules.maurice.game.activation import Activating
from tablecam.rules.maurice.game.cards import Discarding
from tablecam.rules.maurice.game.charge import Charging
from tablecam.rules.maurice.game.combat import ChoosingFallBacks, Rallying, RollingCombat
from tablecam.rules.maurice.game.commander import Displacing, MovingCommander
from tablecam.rules.maurice.game.march import Marching
from tablecam.rules.maurice.game.state import Modifier, Over, State
from tablecam.table.model import Commander, Terrain, Unit
from tablecam.testing import shifted
from tests.rules.maurice.game.duel import COMMANDERS, hand
from tests.rules.maurice.game.states import after, dice, kinds, level, state_at
from tests.rules.maurice.tables import BW, column, gun, line, massed, position

SOUTH = 270.0
FAR = line("B9", "british", 1500, 1100, SOUTH)
FAR_FRENCH = line("F9", "french", 1500, 100)


def box(kind: str, x_mm: float, y_mm: float, wide_mm: float, deep_mm: float) -> Terrain:
    right, top = x_mm + wide_mm, y_mm + deep_mm
    return Terrain(kind, kind, ((x_mm, y_mm), (right, y_mm), (right, top), (x_mm, top)))


def combat(*units: Unit, engaged: str, **more: object) -> State:
    """All charges made, the dice of those engaged due."""
    terrain, commanders = more.pop("terrain", ()), more.pop("commanders", ())
    table = position(*units, terrain=terrain, commanders=commanders)
    step = RollingCombat(tuple(engaged.split()))
    return state_at(table, step, command="charge", **{"hand": 0, **more})


def scores(events) -> dict[str, int]:
    return {each.facts["unit"]: each.facts["score"] for each in events if each.kind == "score"}


# --- forces and marches ---------------------------------------------------------------------------


def marching(*units: Unit, terrain=(), commanders=COMMANDERS, **more: object) -> State:
    force = tuple(unit.id for unit in units if unit.side == "french")
    table = position(*units, FAR, terrain=terrain, commanders=commanders)
    return state_at(table, Marching(force), command="march", **more)


def march(unit: Unit) -> March:
    return March(unit.id, unit.bases)


def test_through_two_friends_a_line_takes_two_and_each_of_them_one():  # M-6.7
    mover = line("F1", "french", 400, 300, arm="cavalry")
    near, far = line("F2", "french", 400, 360), line("F3", "french", 400, 430)
    state, _ = after(marching(mover, near, far), march(shifted(mover, 0, 4.5 * BW)))
    assert [level(state, name) for name in ("F1", "F2", "F3")] == [2, 1, 1]


def test_through_two_friends_with_three_is_refused_as_it_would_break():  # M-6.8
    mover = line("F1", "french", 400, 300, arm="cavalry", disruption=3)
    near, far = line("F2", "french", 400, 360), line("F3", "french", 400, 430)
    state = marching(mover, near, far)
    with pytest.raises(Refused, match=r"M-6\.8"):
        after(state, march(shifted(mover, 0, 4.5 * BW)))
    past_one = marching(mover, near)
    assert level(after(past_one, march(shifted(mover, 0, 3 * BW)))[0], "F1") == 4


def test_a_friend_and_a_wood_on_one_way_are_counted_together():  # M-6.3, M-6.7, M-6.4
    wood = (box("woods", 350, 395, 100, 15),)
    mover = line("F1", "french", 400, 300, arm="cavalry", disruption=2)
    friend = line("F2", "french", 400, 360)
    state, _ = after(marching(mover, friend, terrain=wood), march(shifted(mover, 0, 4 * BW)))
    assert level(state, "F1") == 4
    worse = replace(mover, state={"disruption": 3})
    with pytest.raises(Refused, match=r"M-6\.[48]"):
        after(marching(worse, friend, terrain=wood), march(shifted(worse, 0, 4 * BW)))


def test_who_was_passed_through_to_four_lets_nobody_else_through():  # M-6.8
    friend = line("F9", "french", 500, 380, disruption=3)
    first, second = line("F1", "french", 420, 300), line("F2", "french", 600, 300)
    state, _ = after(marching(first, second, friend), march(shifted(first, 0, 4 * BW)))
    assert level(state, "F9") == 4
    with pytest.raises(Refused, match=r"M-6\.8"):
        after(state, march(shifted(second, 0, 4 * BW)))


def test_a_bugle_against_a_force_holds_for_each_of_its_units():  # M-3.5, M-6.2
    lanes = Modifier("british", "bugle", {"F1": -1, "F2": -1})
    first, second = line("F1", "french", 400, 300), line("F2", "french", 600, 300)
    state = marching(first, second, modifiers=(lanes,))
    for unit in (first, second):
        with pytest.raises(Refused, match=r"M-6\.17 .* may move only 3"):
            after(state, march(shifted(unit, 0, 4 * BW)))
    state, _ = after(state, march(shifted(first, 0, 3 * BW)), march(shifted(second, 0, 3 * BW)))
    assert isinstance(state.step, MovingCommander)


def test_a_gun_that_smokes_stays_while_the_others_of_its_force_move():  # M-4.23
    smoking, clean = gun("F1", "french", 400, 300, smoke=True), gun("F2", "french", 470, 300)
    state = marching(smoking, clean)
    with pytest.raises(Refused, match=r"M-4\.23"):
        after(state, march(shifted(smoking, 0, BW)))
    state, _ = after(state, march(shifted(clean, 0, BW)))
    with pytest.raises(Refused, match=r"M-4\.23"):
        after(state, ClearSmoke())


def test_a_march_over_both_commanders_moves_the_enemys_at_once_and_ones_own_not():  # M-6.28 f.
    leaders = (Commander("fc", "french", 380, 400), Commander("bc", "british", 420, 360))
    mover = line("F1", "french", 400, 300)
    state, _ = after(marching(mover, commanders=leaders), march(shifted(mover, 0, 4 * BW)))
    assert isinstance(state.step, Displacing)
    assert state.step.side == "british"
    state, _ = after(state, GAME.legal(state)[0])
    assert isinstance(state.step, MovingCommander)


def test_both_commanders_displaced_in_one_round_pay_each_his_own():  # M-6.30
    leaders = (Commander("fc", "french", 400, 460), Commander("bc", "british", 420, 360))
    mover = line("F1", "french", 400, 300)
    state = marching(mover, commanders=leaders, hand=2)
    state, _ = after(state, march(shifted(mover, 0, 4 * BW)))
    state, _ = after(state, GAME.legal(state)[0], Done())
    assert (state.step.side, type(state.step)) == ("french", Displacing)
    state, _ = after(state, GAME.legal(state)[0])
    while isinstance(state.step, Discarding):
        state, _ = after(state, Discard(state.step.side, state.step.count))
    assert (hand(state, "french"), hand(state, "british")) == (1, 1)


# --- charges and combats --------------------------------------------------------------------------


def charging(*units: Unit, terrain=(), commanders=(), **more: object) -> State:
    table = position(*units, terrain=terrain, commanders=commanders)
    force = tuple(unit.id for unit in units if unit.side == "french")
    return state_at(table, Charging(force), command="charge", **{"hand": 0, **more})


def charge(unit: Unit, target: str) -> Charge:
    return Charge(unit.id, target, unit.bases)


def test_a_charge_through_rough_ground_into_it_counts_twice_in_the_combat():  # M-8.6, M-8.16
    foot, foe = line("F1", "french", 500, 500), line("B1", "british", 500, 620, SOUTH)
    rough = (box("rough", 400, 560, 200, 30),)
    state, _ = after(charging(foot, foe, terrain=rough), charge(shifted(foot, 0, 2 * BW), "B1"))
    assert level(state, "F1") == 1
    assert scores(after(state, dice(state, 1, 1))[1]) == {"F1": 4, "B1": 7}


def test_the_first_charger_bars_the_way_of_the_second():  # M-8.5, M-8.4
    first, behind = line("F1", "french", 500, 500), line("F2", "french", 500, 440)
    foe = line("B1", "british", 500, 580, SOUTH)
    state = charging(first, behind, foe)
    state, _ = after(state, charge(shifted(first, 0, BW), "B1"))
    assert not [each for each in GAME.legal(state) if isinstance(each, Charge)]


def test_two_chargers_upon_one_make_it_outnumbered_unless_its_neighbour_helps():  # M-8.17
    chargers = line("F1", "french", 420, 580), line("F2", "french", 580, 580)
    foe = line("B1", "british", 500, 620, SOUTH)
    alone = combat(*chargers, foe, engaged="F1 F2 B1")
    assert scores(after(alone, dice(alone, 1, 1, 1))[1])["B1"] == 5
    helper = line("B2", "british", 660, 620, SOUTH)
    helped = combat(*chargers, foe, helper, engaged="F1 F2 B1 B2")
    assert scores(after(helped, dice(helped, 1, 1, 1, 1))[1])["B1"] == 6


def test_a_column_taken_in_the_flank_is_vulnerable_once():  # M-8.16
    foe = column("B1", "british", 620, 600, 90.0)
    state = combat(line("F1", "french", 580, 600, 0.0), foe, engaged="F1 B1")
    assert scores(after(state, dice(state, 1, 4))[1]) == {"F1": 7, "B1": 4}


def test_a_card_lifts_a_value_that_lies_far_below_nothing_only_so_far():  # M-8.16, M-8.18
    foe = column("B1", "british", 500, 680, SOUTH, disruption=3)
    card = Modifier("british", "swords", {"B1": 2})
    state = combat(line("F1", "french", 500, 580), foe, engaged="F1 B1", modifiers=(card,))
    assert scores(after(state, dice(state, 1, 3))[1])["B1"] == 3  # 6 - 3 - 6 + 2 is below 0


def test_swords_of_both_sides_upon_one_unit_add_up():  # M-4.16, M-8.18
    cards = (Modifier("french", "swords", {"F1": 2}), Modifier("british", "swords", {"F1": -1}))
    state = combat(
        line("F1", "french", 500, 580),
        line("B1", "british", 500, 620, SOUTH),
        engaged="F1 B1",
        modifiers=cards,
    )
    assert scores(after(state, dice(state, 1, 1))[1])["F1"] == 8


def test_a_beaten_gun_breaks_at_once_and_nobody_falls_back_from_it():  # M-1.14, M-8.23
    foe = gun("B1", "british", 500, 620, SOUTH)
    state = combat(line("F1", "french", 500, 580), foe, FAR, engaged="F1 B1")
    state, _ = after(state, dice(state, 6, 6))
    assert level(state, "B1") is None
    assert (level(state, "F1"), type(state.step)) == (1, MovingCommander)


def test_two_who_fall_back_upon_each_others_places_do_so_in_the_order_chosen():  # M-8.24, M-8.25
    first, second = line("F1", "french", 500, 580), line("F2", "french", 560, 535)
    state = state_at(position(first, second, FAR), ChoosingFallBacks(("F1", "F2")), hand=0)
    one, _ = after(state, FallBack("F1"), FallBack("F2"))
    other, _ = after(state, FallBack("F2"), FallBack("F1"))
    ends = [[u.bases[0].y_mm for u in each.position.units[:2]] for each in (one, other)]
    assert ends[0] != ends[1]
    for each in (one, other):  # nobody ends upon a friend, whoever went first
        assert GAME.state_from_json(GAME.state_to_json(each)) == each
        first, second = (unit_footprint(each.position.unit(name)) for name in ("F1", "F2"))
        assert first.intersection(second).area == pytest.approx(0.0, abs=1e-6)


def test_a_friend_broken_by_a_fall_back_may_cost_the_battle_before_the_next_falls_back():  # M-2.5
    attacker, other = line("F1", "french", 500, 580), line("F2", "french", 800, 580)
    friend = line("F3", "french", 500, 525, disruption=4)
    foes = line("B1", "british", 500, 620, SOUTH), line("B2", "british", 800, 620, SOUTH)
    table = position(attacker, other, friend, *foes)
    state = state_at(table, ChoosingFallBacks(("F1", "F2")), hand=0, morale=1)
    state, _ = after(state, FallBack("F1"))
    assert isinstance(state.step, Over)
    assert state.step.winner == "british"


def test_at_the_tables_edge_who_must_fall_back_breaks():  # M-8.27, M-6.32
    attacker, foe = line("F1", "french", 500, 30), line("B1", "british", 500, 70, SOUTH)
    state = state_at(position(attacker, foe, FAR_FRENCH), ChoosingFallBacks(("F1",)), hand=0)
    state, events = after(state, FallBack("F1"))
    assert level(state, "F1") is None
    assert "M-8.27" in {each.rule for each in events}


def test_a_charge_by_the_last_unit_that_breaks_the_last_enemy_wins():  # M-2.5, M-8.20
    attacker = line("F1", "french", 500, 580)
    foe = line("B1", "british", 500, 620, SOUTH, disruption=4)
    state = combat(attacker, foe, engaged="F1 B1", morale=1)
    state, events = after(state, dice(state, 1, 6))
    assert (state.step.winner, kinds(events)[-1]) == ("french", "over")
    assert GAME.legal(state) == ()


def test_what_broke_in_the_volleys_is_charged_by_nobody_and_forces_fall_apart():  # M-1.17, M-8.3
    table = position(
        line("F1", "french", 420, 400),
        line("F2", "french", 600, 400, disruption=4),
        line("F3", "french", 780, 400),
        line("B1", "british", 600, 540, SOUTH),
        commanders=COMMANDERS,
    )
    whole = state_at(table, Activating(), command="march")
    assert ("F1", "F2", "F3") in {
        each.force for each in GAME.legal(whole) if isinstance(each, Activate)
    }
    left = tuple(unit for unit in table.units if unit.id != "F2")
    torn = replace(whole, position=replace(table, units=left))
    forces = {each.force for each in GAME.legal(torn) if isinstance(each, Activate)}
    assert ("F1",) in forces
    assert ("F1", "F3") not in forces


# --- rally ----------------------------------------------------------------------------------------


def test_a_flag_a_wood_and_no_enemy_near_come_to_one_better():  # M-9.3
    wood = (box("woods", 550, 350, 100, 100),)
    table = position(
        massed("F1", "french", 600, 400, disruption=3), FAR, terrain=wood, commanders=COMMANDERS
    )
    card = Modifier("french", "flag", {"F1": 1})
    state = state_at(table, Rallying(("F1",)), command="rally", modifiers=(card,))
    state, _ = after(state, Rally("F1"))
    state, _ = after(state, dice(state, 4, 3, 1))  # 5, less 1 in the wood, 1 for each of the others
    assert level(state, "F1") == 2
