"""Maurice Lite as a `tablecam.rules.game.Game`: setup, rounds, suggestions and JSON."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from random import Random
from types import MappingProxyType
from typing import Any, Final

from pydantic import TypeAdapter

from tablecam.documents import Document, document_from
from tablecam.rules.dice import Roll
from tablecam.rules.frozen_json import one_of, to_plain
from tablecam.rules.game import DeclareFirst, Json, PendingDecision, Refused, Suggestion
from tablecam.rules.lay import Lay, with_bases
from tablecam.rules.maurice.field.field import GAME as NAME
from tablecam.rules.maurice.game import by_hand, description
from tablecam.rules.maurice.game.actions import Action, Decline, Draw, Overrule, PlayerAction
from tablecam.rules.maurice.game.activation import Interrupting
from tablecam.rules.maurice.game.cards import Modifying, settled_draw
from tablecam.rules.maurice.game.command import CommandChoice, VolleyChoice
from tablecam.rules.maurice.game.offers import offer, step_shapes, with_shapes
from tablecam.rules.maurice.game.options import FORMAT as DECK_FORMAT
from tablecam.rules.maurice.game.options import deck_from, first_state
from tablecam.rules.maurice.game.overrule import agreed_on, overruled, settled_overrule
from tablecam.rules.maurice.game.setup import Deploying
from tablecam.rules.maurice.game.state import Over, State, StateAndEvents, Step, refusing
from tablecam.rules.maurice.game.table import field_at, field_on
from tablecam.rules.miniatures.by_hand import ByHand, adopted, lies_as_seen
from tablecam.rules.steps import StepGame
from tablecam.table.formation import formation_name
from tablecam.table.model import LengthUnit, Position, TableNeeds, TableSize, Unit, base_widths
from tablecam.table.motion import HAND_MM
from tablecam.table.position_file import position_from_json, position_to_json
from tablecam.table.sides import side_name

FORMAT = "tablecam.maurice-lite.state"
VERSION = 1


def closed(state: State) -> DeclareFirst | None:
    """Returns what must be declared before anybody measures, or None where measuring is free."""
    step = state.step
    # What has been declared stays so while cards are played.
    while not step.is_setup and isinstance(then := getattr(step, "then", None), Step):
        step = then
    if not state.declares_first or step.is_setup or isinstance(step, Over):
        return None
    # Units that broke meanwhile cannot be measured.
    on_table = {unit.id for unit in state.position.units}
    on_table |= {leader.id for leader in state.position.commanders}
    names = tuple(name for name in dict.fromkeys(step.declared(state)) if name in on_table)
    if not names:
        opening = step.opens.format(side=side_name(step.owner(state)))
        return DeclareFirst(f"Measuring is closed until {opening}")
    return DeclareFirst(f"Only declared units may be measured: {', '.join(names)}", names)


def apply(state: State, action: Action) -> StateAndEvents:
    """Returns the state and events that follow from an action.

    Raises:
        Refused: The action is not legal now.
    """
    # The referee's own action: it takes nobody's turn and has no events.
    if isinstance(action, Lay):
        return with_corrected_poses(state, action), ()
    # At any step, even when the game is over.
    if isinstance(action, Overrule):
        after, events = onward(overruled(state, action))
    else:
        after, events = onward(state.step.answered(state, action))
    return after, with_shapes(state, after, events)


def onward(followed: StateAndEvents) -> StateAndEvents:
    """Advances until somebody is asked something, or the game is over."""
    state, events = followed
    # One automatic step may lead to another.
    while (passed := state.step.automatic(state)) is not None:
        state, events = passed[0], (*events, *passed[1])
    return state, events


def with_corrected_poses(state: State, action: Lay) -> State:
    """Returns the state with units at the poses of the action, which the round then begins with.

    Raises:
        Refused: The round is under way, a unit is missing, or it lies beyond placement tolerance or
            on top of others.
    """
    if not _has_round_just_begun(state):
        raise Refused("poses can only be corrected at the start of a round", rule="G-8")
    position = state.position
    for name, bases in action.units.items():
        unit = position.unit(name)
        if unit is None or not lies_as_seen(unit, bases):
            why = f"{name} is more than {HAND_MM:g} mm from its place"
            raise Refused(why, rule="G-8", key="units")
    position = with_bases(position, action.units)
    with refusing("G-8"):
        field_on(position)
    # Allowances and views of this round follow from these poses (M-6.2, M-8.4).
    return replace(state, position=position, round=replace(state.round, began=position))


def _has_round_just_begun(state: State) -> bool:
    # Later in the round, moves are measured from the recorded poses.
    return isinstance(state.step, VolleyChoice | CommandChoice) and not state.round.has_volleys


class MauriceGame(ByHand[State], StepGame[State]):
    """The whole game by the numbered rules of its checklist; see `COVERAGE.md` for gaps."""

    name: Final = NAME
    title: Final = "Maurice Lite"
    actions = one_of(Roll, Lay, PlayerAction)
    states = TypeAdapter(State)
    bases_rule = "M-1.6"
    gone_rule = "M-1.14"
    upon_rule = "M-6.8"
    leader_rule = "M-6.27"
    own_formats: Mapping[str, Callable[[Document], object]] = MappingProxyType(
        {DECK_FORMAT: deck_from}
    )
    table_needs = TableNeeds(base_width=True, hex_map=False, edges=True)
    action_groups = description.ACTION_GROUPS
    odds_offers = description.ODDS_OFFERS
    moments = description.MOMENTS

    def begin(self, position: Position, options: Mapping[str, Any]) -> State:
        """Returns the first step of round 1, or the deal before it where tablecam deals."""
        # Steps in which nobody is asked are passed at once.
        state, _ = onward((first_state(position, options), ()))
        return state

    def asked(self, state: State) -> PendingDecision:
        """Returns who decides what now; concealed where tablecam deals, to protect hands."""
        asked = state.step.pending(state)
        is_concealed = asked.seat is not None and state.is_dealt
        return replace(asked, is_concealed=is_concealed, closed=closed(state))

    def legal(self, state: State) -> tuple[Action, ...]:
        """Lists legal actions; none when the game is over."""
        return tuple(state.step.listed(state))

    def settle(self, state: State, action: Action, chance: Random) -> Action:
        """Rolls dice and draws cards that players did not state."""
        if isinstance(action, Draw):
            return settled_draw(state, action, chance)
        if isinstance(action, Overrule):
            return settled_overrule(state, action, chance)
        settled: Action = super().settle(state, action, chance)
        return settled

    def passed(self, state: State) -> Action | None:
        """Returns that the asked side plays no card."""
        seat, step = state.step.pending(state).seat, state.step
        return Decline(seat) if seat and isinstance(step, Interrupting | Modifying) else None

    def agreed_on(self, state: State, action: Action) -> str:
        """Describes a correction of dealt cards that both sides must agree on, else returns "".

        Raises:
            Refused: A draw names its cards where tablecam deals.
        """
        if isinstance(action, Draw) and state.is_dealt and action.cards is not None:
            raise Refused("expected no card names, as tablecam deals", rule="M-3.10", key="cards")
        return agreed_on(state, action) if isinstance(action, Overrule) else ""

    def irregularities(self, state: State, away: Collection[str]) -> str:
        """Names units that stand where no unit may."""
        oddities = field_at(state).on_impassable
        return "; ".join(one.sentence for one in oddities if one.concerned_ids.isdisjoint(away))

    def length_unit(self, table: TableSize) -> LengthUnit:
        """Returns the base width."""
        return base_widths(table)

    def formation(self, unit: Unit, listed: int) -> str | None:
        """Returns the formation (M-1.7)."""
        return formation_name(unit.arm, unit.bases, listed)

    def adopt_positions(self, state: State, position: Position) -> Lay | None:
        """Returns the action that adopts all small differences, as a round begins (G-8)."""
        return adopted(state.position, position) if _has_round_just_begun(state) else None

    def detect_moves(self, state: State, position: Position) -> tuple[Suggestion, ...]:
        """Suggests an action for what is not where the game has it; a deployment as a whole."""
        if isinstance(state.step, Deploying):
            return by_hand.suggest_deployment(state, state.step, position)
        # Nothing has its place yet, or units are being packed away.
        if state.step.is_setup or isinstance(state.step, Over):
            return ()
        return super().detect_moves(state, position)

    def action_to_json(self, action: Action) -> Json:
        """Returns an action as JSON, its type first; omitted values are left out."""
        return {"type": action.type} | super().action_to_json(action)

    def state_to_json(self, state: State) -> Json:
        """Returns a state as JSON; the round's first position is omitted if nothing has moved."""
        # Positions have their own serialiser; they are most of a state and of the time it takes.
        bare = Position(state.position.game, state.position.table)
        begun = replace(state.round, began=bare)
        plain = super().state_to_json(replace(state, position=bare, round=begun))
        plain["position"] = position_to_json(state.position)
        if state.round.began == state.position:
            del plain["round"]["began"]
        else:
            plain["round"]["began"] = position_to_json(state.round.began)
        return {"format": FORMAT, "version": VERSION} | plain

    def state_from_json(self, data: object) -> State:
        """Returns the state in a JSON document.

        Raises:
            BadInput: With the key, what was expected and what came.
        """
        document = document_from(data, "state")
        document.require(FORMAT, VERSION)
        plain = {key: document.data[key] for key in document.data.keys() - {"format", "version"}}
        plain["position"] = _position(plain, "position")
        if isinstance(round_json := plain.get("round"), dict):
            # It is left out while nothing has moved in the round.
            began = _position(round_json, "began") if "began" in round_json else plain["position"]
            plain["round"] = round_json | {"began": began}
        return super().state_from_json(plain)

    def seen_by(self, state: State, seat: str | None) -> Json:
        """Returns the state as JSON without what is concealed from a seat (None: a spectator).

        Where tablecam deals, `hand` holds the seat's cards in full; `discards` is the face-up pile.
        """
        # The counts stay, as the size of a hand is public (M-3.1).
        first, second = (replace(side, cards=()) for side in state.sides)
        options, deck = replace(state.options, cards=()), replace(state.deck, cards=(), discards=())
        plain = self.state_to_json(
            replace(state, sides=(first, second), options=options, deck=deck)
        )
        pile = (state.options.card(card_id) for card_id in state.deck.discards)
        plain["discards"] = [to_plain(card) for card in pile if card is not None]
        if seat is not None and seat in {side.name for side in state.sides}:
            plain["hand"] = [to_plain(card) for card in state.cards_of(seat)]
        return plain

    apply = staticmethod(apply)
    suggestion = staticmethod(by_hand.suggest_move)
    commander_suggestion = staticmethod(by_hand.suggest_place)
    why_still = staticmethod(by_hand.why_still)
    standing = staticmethod(description.standing)
    markers = staticmethod(description.markers)
    settings = staticmethod(description.settings)
    forms = staticmethod(description.forms)
    hand = staticmethod(description.hand)
    begin_form = staticmethod(description.begin_form)
    offered = staticmethod(offer)
    step_shapes = staticmethod(step_shapes)


def _position(data: Mapping[str, Any], key: str) -> Json:
    """Reads a position by its own parser and returns it in the form the adapter expects."""
    position = position_from_json(data.get(key), f"state: {key}", games=(NAME,))
    plain: Json = to_plain(position)
    return plain


GAME: Final = MauriceGame()
