"""Every listed march, charge and fall back is accepted, wherever units are."""

from __future__ import annotations

from random import Random

from hypothesis import HealthCheck, given, reject, settings
from hypothesis import strategies as st

from tablecam.errors import BadInput
from tablecam.rules.maurice.field.field import field_of
from tablecam.rules.maurice.field.requests import Combat
from tablecam.rules.maurice.game import GAME
from tablecam.rules.maurice.game.actions import Charge, Done, FallBack, March
from tablecam.rules.maurice.game.charge import Charging
from tablecam.rules.maurice.game.combat import ChoosingFallBacks, RollingCombat
from tablecam.rules.maurice.game.commander import Displacing
from tablecam.rules.maurice.game.march import Marching
from tablecam.rules.maurice.game.state import Modifier
from tablecam.rules.maurice.game.table import field_at
from tablecam.rules.maurice.resolve import resolve
from tablecam.table.model import Position
from tablecam.table.position_file import position_to_json
from tests.rules.maurice.game.random_games import ground
from tests.rules.maurice.game.states import after, dice, state_at
from tests.rules.maurice.game.varied_games import small_tables
from tests.rules.maurice.tables import gun, line, massed, position

COMMON = settings(
    deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


def of_side(table: Position, side: str) -> tuple[str, ...]:
    return tuple(unit.id for unit in table.units if unit.side == side)


def clash(chance: Random) -> Position:
    """Three units of foot or horse within charge reach of three enemies, on any terrain."""
    units = []
    for place in range(3):
        arm, layer = chance.choice((("infantry", line), ("cavalry", line), ("cavalry", massed)))
        at_mm = 400 + 200 * place + chance.uniform(-12, 12), chance.uniform(440, 500)
        units.append(layer(f"F{place}", "french", *at_mm, arm=arm, disruption=chance.randint(0, 3)))
        foe, arm, most = chance.choice(((line, "infantry", 4), (gun, "artillery", 1)))
        at_mm = 400 + 200 * place + chance.uniform(-90, 90), chance.uniform(590, 640)
        facing_deg, level = chance.choice((270.0, 262.0, 280.0)), chance.randint(0, most)
        units.append(foe(f"B{place}", "british", *at_mm, facing_deg, arm=arm, disruption=level))
    return position(*units, terrain=ground(chance))


@settings(COMMON, max_examples=8)
@given(small_tables, st.integers(-1, 3), st.booleans())
def test_m_6_every_listed_march_is_taken(table: Position, extra_bw: int, is_rough: bool) -> None:
    force = of_side(table, "french")
    cards = Modifier("french", "bugle", dict.fromkeys(force, extra_bw))
    state = state_at(
        table, Marching(force), command="march", modifiers=(cards,), is_rough_going=is_rough
    )
    listed = GAME.legal(state)
    assert len(set(map(repr, listed))) == len(listed)
    for action in listed:
        after, events = GAME.apply(state, action)
        assert field_at(after).units
        assert events or action.type == "done"
        if isinstance(action, March):
            step = after.step.then if isinstance(after.step, Displacing) else after.step
            assert not isinstance(step, Marching) or step.moved == (action.unit,)


@settings(COMMON, max_examples=12)
@given(small_tables, st.booleans())
def test_m_8_every_listed_charge_and_move_up_is_taken(table: Position, is_rough: bool) -> None:
    force = of_side(table, "french")
    state = state_at(table, Charging(force), command="charge", is_rough_going=is_rough)
    for action in GAME.legal(state):
        after, _ = GAME.apply(state, action)
        if isinstance(action, Charge) and isinstance(after.step, Charging):
            assert action.target in after.step.charged[action.unit]


@settings(COMMON, max_examples=12)
@given(st.integers(0, 2**32 - 1))
def test_m_8_a_charge_played_step_by_step_ends_as_resolved_at_once(seed: int) -> None:
    players = Random(seed)
    table = clash(players)
    try:
        field_of(table)
    except BadInput:
        reject()  # Two of the enemies overlap.
    state = state_at(table, Charging(of_side(table, "french")), command="charge", hand=0, morale=9)
    while isinstance(state.step, Charging):
        listed = GAME.legal(state)
        homes = [action for action in listed if isinstance(action, Charge)]
        state, _ = after(state, players.choice(homes) if homes else Done())
    if not isinstance(state.step, RollingCombat):
        return
    shown = {name: players.randint(1, 6) for name in state.step.engaged}
    order = tuple(players.sample(sorted(shown), len(shown)))
    fought = Combat("french", {}, shown, order)
    at_once = resolve(field_of(state.position), fought)
    state, _ = after(state, dice(state, *shown.values()))
    while isinstance(state.step, ChoosingFallBacks):
        chosen = next(name for name in order if name in state.step.attackers)
        state, _ = after(state, FallBack(chosen))
    assert position_to_json(state.position)["units"] == at_once["position"]["units"]
