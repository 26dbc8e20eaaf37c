"""Maurice Lite as a `tablecam.rules.game.Game`: setup, rounds, suggestions and JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from random import Random
from types import MappingProxyType
from typing import Any, Final

from tablecam.documents import Document
from tablecam.rules.descriptions import ActionGroup, MomentKind, OddsOffer
from tablecam.rules.dice import Roll
from tablecam.rules.game import DeclareFirst, Game, PendingDecision
from tablecam.rules.maurice.field.field import GAME as NAME
from tablecam.rules.maurice.game import description, offers
from tablecam.rules.maurice.game.cards import deck_file
from tablecam.rules.maurice.game.cards.draw_steps import check_unnamed, settled_draw
from tablecam.rules.maurice.game.cards.overruled_cards import settled_overrule
from tablecam.rules.maurice.game.command.command_steps import is_nobody_near
from tablecam.rules.maurice.game.hands import detect_moves as hands
from tablecam.rules.maurice.game.procedure import drawing
from tablecam.rules.maurice.game.procedure import round as rounds
from tablecam.rules.maurice.game.procedure.overrule import agreed_on
from tablecam.rules.maurice.game.setup import laying
from tablecam.rules.maurice.game.setup.options import first_state
from tablecam.rules.maurice.game.state import state_json, steps
from tablecam.rules.maurice.game.state.actions import Action, Decline, Draw, Overrule
from tablecam.rules.maurice.game.state.state import State
from tablecam.rules.maurice.game.state.table import field_at
from tablecam.table.formation import formation_name
from tablecam.table.model import (
    LengthUnit,
    Position,
    TableNeeds,
    TableSize,
    Unit,
    base_widths,
)
from tablecam.table.sides import side_name


def _forced(state: State) -> Action | None:
    """Returns the one action left to choose, or None where players have a choice.

    For other steps than these `legal` lists the usual actions only, or the move is made by hand.
    """
    match state.step:
        case steps.ChoosingFallBacks() | steps.Displacing() | steps.MovingCommander():
            pass
        case steps.VolleyChoice() if is_nobody_near(field_at(state)):
            pass
        case steps.Drawing() if any(side.cards for side in state.sides):
            pass
        case _:
            return None
    first, *others = rounds.legal(state)
    return None if others else first


def _passed(state: State) -> Action | None:
    """Returns that the asked side plays no card."""
    seat, step = rounds.asked(state).seat, state.step
    return (
        Decline(seat) if seat and isinstance(step, steps.Interrupting | steps.Modifying) else None
    )


def closed(state: State) -> DeclareFirst | None:
    """Returns what must be declared before anybody measures, or None where measuring is free."""
    # What has been declared stays so while cards are played.
    step = _after_cards(state.step)
    if not state.declares_first or isinstance(step, (*steps.SETUP, steps.Over)):
        return None
    names = _declared(state, step)
    if not names:
        return DeclareFirst(f"Measuring is closed until {_opening_event(state, step)}")
    text = f"Only declared units may be measured: {', '.join(names)}"
    return DeclareFirst(text, names)


def _after_cards(step: steps.Step) -> steps.Step:
    """Returns the step that follows all card and displacement steps before it."""
    while isinstance(
        step, steps.Drawing | steps.Modifying | steps.Removing | steps.Displacing | steps.Discarding
    ):
        step = step.then
    return step


def _opening_event(state: State, step: steps.Step) -> str:
    """Describes the declaration that opens measuring again."""
    match step:
        case steps.Firing():
            return f"the {side_name(step.side)} fire is declared"
        case steps.Charging():
            return f"the {side_name(state.active)} charge is declared"
        case steps.Activating():
            return f"the {side_name(state.active)} force is activated"
        case steps.Interrupting():
            return f"the {side_name(state.passive)} side has decided whether to interrupt"
        case _:
            return f"the {side_name(state.active)} action is declared"


def _declared(state: State, step: steps.Step) -> tuple[str, ...]:
    """Returns the units and commanders whose declared action is under way."""
    match step:
        case steps.RollingToHit(aims=aims):
            names = [name for aim in aims for name in (aim.unit, aim.target)]
        case steps.RollingToDisrupt(target=target, firing=firing):
            names = [*(aim.unit for aim in firing.hits if aim.target == target), target]
        case (
            steps.Marching(force=units)
            | steps.Rallying(force=units)
            | steps.Interrupting(force=units)
        ):
            names = [*units]
            # The commander's span to the force was declared with it (M-4.11).
            if units and (leader := state.commander(state.active)) is not None:
                names.append(leader.id)
        case steps.Charging(charged=charged):
            names = [name for unit, met in charged.items() if met for name in (unit, *met)]
        case steps.RollingCombat(engaged=units) | steps.ChoosingFallBacks(attackers=units):
            names = [*units]
        case steps.RollingRally(unit=unit):
            names = [unit]
        case _:
            names = []
    # Units that broke meanwhile cannot be measured.
    on_table = {unit.id for unit in state.position.units}
    on_table |= {leader.id for leader in state.position.commanders}
    return tuple(name for name in dict.fromkeys(names) if name in on_table)


class MauriceGame(Game[State, Action]):
    """The whole game by the numbered rules of its checklist; see `COVERAGE.md` for gaps."""

    name: Final = NAME

    def begin(self, position: Position, options: Mapping[str, Any]) -> State:
        """Returns the first step of round 1, or the deal before it where tablecam deals."""
        # Steps in which nobody is asked are passed at once.
        state, _ = rounds.onward((first_state(position, options), ()))
        return state

    def asked(self, state: State) -> PendingDecision:
        """Returns who decides what now; concealed where tablecam deals, to protect hands."""
        asked = rounds.asked(state)
        is_concealed = asked.seat is not None and state.is_dealt
        return replace(asked, is_concealed=is_concealed, closed=closed(state))

    def settle(self, state: State, action: Action, chance: Random) -> Action:
        """Rolls dice and draws cards that players did not state."""
        if isinstance(action, Roll):
            return action.rolled(chance)
        if isinstance(action, Draw):
            return settled_draw(state, action, chance)
        if isinstance(action, Overrule):
            return settled_overrule(state, action, chance)
        return action

    def agreed_on(self, state: State, action: Action) -> str:
        """Describes a correction of dealt cards that both sides must agree on, else returns "".

        Raises:
            Refused: A draw names its cards where tablecam deals.
        """
        if isinstance(action, Draw):
            check_unnamed(state, action)
        return agreed_on(state, action) if isinstance(action, Overrule) else ""

    def irregularities(self, state: State) -> str:
        """Names units that stand where no unit may."""
        return "; ".join(oddity.sentence for oddity in field_at(state).on_impassable)

    def position(self, state: State) -> Position:
        """Returns the game's own position."""
        return state.position

    @property
    def own_formats(self) -> Mapping[str, Callable[[Document], object]]:
        """Decks of cards."""
        return MappingProxyType({deck_file.FORMAT: deck_file.deck_from})

    @property
    def table_needs(self) -> TableNeeds:
        """A table with a base width, and bases with a front edge."""
        return TableNeeds(base_width=True, hex_map=False, edges=True)

    def length_unit(self, table: TableSize) -> LengthUnit:
        """Returns the base width."""
        return base_widths(table)

    def formation(self, unit: Unit, listed: int) -> str | None:
        """Returns the formation (M-1.7)."""
        return formation_name(unit.arm, unit.bases, listed)

    @property
    def action_groups(self) -> Mapping[str, ActionGroup]:
        """The headings of the groups of actions."""
        return description.ACTION_GROUPS

    @property
    def odds_offers(self) -> tuple[OddsOffer, ...]:
        """The questions about chances that a page offers."""
        return description.ODDS_OFFERS

    @property
    def moments(self) -> Mapping[str, MomentKind]:
        """The kinds of events that players look for in a replay."""
        return description.MOMENTS

    legal = staticmethod(rounds.legal)
    apply = staticmethod(rounds.apply)
    forced = staticmethod(_forced)
    passed = staticmethod(_passed)
    detect_moves = staticmethod(hands.detect_moves)
    standing = staticmethod(description.standing)
    markers = staticmethod(description.markers)
    settings = staticmethod(description.settings)
    forms = staticmethod(description.forms)
    hand = staticmethod(description.hand)
    begin_form = staticmethod(description.begin_form)
    offered = staticmethod(offers.offer)
    step_shapes = staticmethod(drawing.step_shapes)
    adopt_positions = staticmethod(laying.pose_corrections)
    seen_by = staticmethod(state_json.visible_json)
    state_to_json = staticmethod(state_json.state_to_json)
    state_from_json = staticmethod(state_json.state_from_json)
    action_to_json = staticmethod(state_json.action_to_json)
    action_from_json = staticmethod(state_json.action_from_json)


GAME: Final = MauriceGame()
