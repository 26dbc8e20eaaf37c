"""Maurice Lite as a `tablecam.rules.game.Game`: setup, rounds, suggestions and JSON."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from random import Random
from types import MappingProxyType
from typing import Any, Final

from pydantic import TypeAdapter

from tablecam.documents import Document, Json
from tablecam.rules import descriptions as about
from tablecam.rules.dice import Roll
from tablecam.rules.frozen_json import classes_of, one_of, to_plain
from tablecam.rules.game import DeclareFirst, PendingDecision, Refused, Suggestion
from tablecam.rules.lay import Lay, with_bases
from tablecam.rules.maurice.field.field import GAME as NAME
from tablecam.rules.maurice.field.tables import KINDS, LONG_BW, SHORT_BW
from tablecam.rules.maurice.game import by_hand
from tablecam.rules.maurice.game.actions import Action, Decline, Draw, Overrule, PlayerAction
from tablecam.rules.maurice.game.activation import Activating, Interrupting
from tablecam.rules.maurice.game.cards import Modifying, settled_draw
from tablecam.rules.maurice.game.command import CommandChoice, VolleyChoice
from tablecam.rules.maurice.game.offers import offer, step_shapes, with_shapes
from tablecam.rules.maurice.game.options import FORMAT as DECK_FORMAT
from tablecam.rules.maurice.game.options import deck_from, first_state
from tablecam.rules.maurice.game.overrule import agreed_on, overruled, settings, settled_overrule
from tablecam.rules.maurice.game.setup import Deploying, LayingTerrain, RollingFirstRound
from tablecam.rules.maurice.game.state import Card, Over, State, Step, refusing
from tablecam.rules.maurice.game.table import field_at, field_on
from tablecam.rules.miniatures.battle_game import side_choices
from tablecam.rules.miniatures.by_hand import ByHand, adopted, lies_as_seen
from tablecam.rules.steps import Events, StepGame
from tablecam.table.formation import formation_name
from tablecam.table.model import (
    LengthUnit,
    Position,
    Scalar,
    TableNeeds,
    TableSize,
    Unit,
    base_widths,
)
from tablecam.table.motion import HAND_MM
from tablecam.table.sides import side_name
from tablecam.wording import counted

_HEAD: Final[Json] = {"format": "tablecam.maurice-lite.state", "version": 1}

MOMENTS: Final[Mapping[str, about.MomentKind]] = MappingProxyType(
    {
        "round": "turn",
        "command": "phase",
        "volleys": "phase",
        "charge": "attack",
        "broken": "loss",
        "score": "detail",
        "draw": "detail",
        "drawn": "detail",
        "shot": "detail",
    }
)

_FIGURES: Final[tuple[tuple[str, str, about.Sign], ...]] = (
    ("morale", "morale", "flag"),
    ("hand", "cards", "card"),
)

ACTION_GROUPS: Final[Mapping[str, about.ActionGroup]] = MappingProxyType(
    {
        "activate": about.ActionGroup("Activate a force"),
        "card": about.ActionGroup("Cards", pass_all="Nobody plays a card"),
        "charge": about.ActionGroup("Charge", "Move the unit into contact, or choose one here."),
        "command": about.ActionGroup("Command for this round", is_main=True),
        "commander": about.ActionGroup(
            "Commander",
            "Costs one card, chosen next. Move him by hand, or behind the force of a unit here.",
        ),
        "done": about.ActionGroup("Finish", is_end=True),
        "fall-back": about.ActionGroup("Fall back"),
        "fire": about.ActionGroup("Fire"),
        "march": about.ActionGroup("March", "Tap a unit for its usual moves, or move it by hand."),
        "rally": about.ActionGroup("Rally"),
        "setup": about.ActionGroup("Setting up"),
        "volleys": about.ActionGroup("Volleys", is_main=True),
    }
)

ODDS_OFFERS: Final = (
    about.OddsOffer(
        "Odds of {a} firing at {b}", {"kind": "volley", "unit": "{a}", "target": "{b}"}, "enemies"
    ),
    about.OddsOffer("Odds to rally {a}", {"kind": "rally", "unit": "{a}"}, "unit", marker="pips"),
    about.OddsOffer("Odds of the combat", {"kind": "combat", "active": "{active}"}, "table"),
)

_SETUP_STEPS: Final = {kind.type for kind in classes_of(Step) if kind.is_setup} | {
    RollingFirstRound.type
}

_EFFECT_WORDS = {
    "is_impassable": "impassable",
    "is_difficult": "difficult",
    "is_cover": "cover",
    "obstructs": "obstructs fire",
    "is_water": "water",
    "bridges": "makes water passable and removes difficult ground",
}


def closed(state: State) -> DeclareFirst | None:
    """Returns what must be declared before anybody measures, or None if measuring is free."""
    step = state.step
    # Declarations remain in force while cards are played.
    while not step.is_setup and isinstance(then := getattr(step, "then", None), Step):
        step = then
    if not state.declares_first or step.is_setup or isinstance(step, Over):
        return None
    # Units that have broken since cannot be measured.
    on_table = {unit.id for unit in state.position.units}
    on_table |= {leader.id for leader in state.position.commanders}
    names = tuple(name for name in dict.fromkeys(step.declared(state)) if name in on_table)
    if not names:
        opening = step.opens.format(side=side_name(step.owner(state)))
        return DeclareFirst(f"Measuring is closed until {opening}")
    return DeclareFirst(f"Only declared units may be measured: {', '.join(names)}", names)


def apply(state: State, action: Action) -> tuple[State, Events]:
    """Returns the state and events that follow from an action.

    Raises:
        Refused: The action is not legal now.
    """
    # The referee's own action: it takes nobody's turn and has no events.
    if isinstance(action, Lay):
        return with_corrected_poses(state, action), ()
    # Allowed at any step, even when the game is over.
    if isinstance(action, Overrule):
        after = onward(overruled(state, action))
    else:
        after = onward(state.step.answered(state, action))
    return replace(after, told=()), with_shapes(state, after, after.told)


def onward(state: State) -> State:
    """Advances until somebody is asked something, or the game is over."""
    # One step that nobody decides may lead to another.
    while (passed := state.step.goes_on(state)) is not None:
        state = passed
    return state


def with_corrected_poses(state: State, action: Lay) -> State:
    """Returns the state with units at the poses of the action, from which the round then begins.

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
    action_groups = ACTION_GROUPS
    odds_offers = ODDS_OFFERS
    moments = MOMENTS

    def begin(self, position: Position, options: Mapping[str, Any]) -> State:
        """Returns the first step of round 1, or the deal before it if tablecam deals."""
        # Steps in which nobody is asked are skipped at once.
        return replace(onward(first_state(position, options)), told=())

    def asked(self, state: State) -> PendingDecision:
        """Returns the pending decision and who makes it; concealed if tablecam deals."""
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
        """Returns the action by which the asked side plays no card."""
        seat, step = state.step.pending(state).seat, state.step
        return Decline(seat) if seat and isinstance(step, Interrupting | Modifying) else None

    def agreed_on(self, state: State, action: Action) -> str:
        """Describes a correction of dealt cards that both sides must agree on, else returns "".

        Raises:
            Refused: A draw names its cards although tablecam deals.
        """
        if isinstance(action, Draw) and state.is_dealt and action.cards is not None:
            raise Refused("expected no card names, as tablecam deals", rule="M-3.10", key="cards")
        return agreed_on(state, action) if isinstance(action, Overrule) else ""

    def irregularities(self, state: State, away: Collection[str]) -> str:
        """Names units on impassable ground."""
        warnings = field_at(state).on_impassable
        return "; ".join(w.sentence for w in warnings if w.concerned_ids.isdisjoint(away))

    def length_unit(self, table: TableSize) -> LengthUnit:
        """Returns the base width."""
        return base_widths(table)

    def weapon_ranges(self, unit: Unit) -> tuple[float, ...]:
        """Returns short range, which is also when enemies are near, and long range (M-7.9 f.)."""
        return (SHORT_BW, LONG_BW) if unit.arm == "artillery" else (SHORT_BW,)

    def formation(self, unit: Unit, listed: int) -> str | None:
        """Returns the formation (M-1.7)."""
        return formation_name(unit.arm, unit.bases, listed)

    def adopt_positions(self, state: State, position: Position) -> Lay | None:
        """Returns the action that adopts all small differences, as a round begins (G-8)."""
        return adopted(state.position, position) if _has_round_just_begun(state) else None

    def detect_moves(self, state: State, position: Position) -> tuple[Suggestion, ...]:
        """Suggests actions for units and commanders that have moved; a deployment as a whole."""
        if isinstance(state.step, Deploying):
            return by_hand.suggest_deployment(state, state.step, position)
        # Nothing is in place yet, or units are being packed away.
        if state.step.is_setup or isinstance(state.step, Over):
            return ()
        return super().detect_moves(state, position)

    def standing(self, public: Json) -> about.Standing:
        """Returns the standing of a game from its public state."""
        game_round, step = public.get("round", {}), public.get("step", {})
        is_setup = step.get("type") in _SETUP_STEPS
        return about.Standing(
            sides=tuple(
                about.SideStanding(
                    side["name"],
                    tuple(
                        about.Figure(label, side[key], sign)
                        for key, label, sign in _FIGURES
                        if key in side
                    ),
                )
                for side in public.get("sides", ())
            ),
            turn=None if is_setup else game_round.get("number"),
            turn_word="round",
            phase="setting up" if is_setup else "",
            active=game_round.get("active"),
            declares_first=public.get("options", {}).get("measuring") == "declared",
        )

    def markers(self, unit_state: Mapping[str, Scalar]) -> tuple[about.Marker, ...]:
        """Returns a pip for each disruption (M-1.14), and a cloud for smoke (M-4.23)."""
        level = int(unit_state.get("disruption", 0))
        pips = (about.Marker("pips", counted(level, "disruption"), level, "bad"),) if level else ()
        cloud = (about.Marker("cloud", "smoke"),) if unit_state.get("smoke") else ()
        return (*pips, *cloud)

    def begin_form(self, sides: Sequence[str]) -> tuple[about.BeginField, ...]:
        """Returns the choices before a game: its start, who begins, cards, measuring."""
        as_it_is = about.BeginChoice(
            "Round 1", hint="The first round begins at once, without deployment."
        )
        set_up = about.BeginChoice(
            "Set up first",
            {"setup": True},
            "First put all units anywhere on the table. Then roll for terrain, choose edges and "
            "deploy.",
        )
        declared = about.BeginChoice(
            "After declaring",
            {"measuring": "declared"},
            "No distance or range is shown before it is declared. A shot, charge or card that does "
            "not reach is lost.",
        )
        hint = (
            "A game continues from the table as it is now: you set the round, morale, cards and "
            "markers."
        )
        middle = about.BeginChoice("Mid-game", hint=hint, opens_settings=True)
        house = about.BeginChoice("tablecam deals (house deck)", {"deck": "house"}, for_demo=True)
        first = side_choices(sides, "active")
        any_time = about.BeginChoice("At any time")
        return (
            about.BeginField("how", "Start with", (as_it_is, set_up, middle)),
            about.BeginField("active", "First side", first, only_with=("how", (0, 2))),
            about.BeginField("deck", "Cards", (about.BeginChoice("Printed cards"), house)),
            about.BeginField("measuring", "Measuring", (any_time, declared)),
        )

    def hand(self, state: State, seat: str) -> tuple[about.HeldCard, ...]:
        """Returns the cards that a side was dealt and still holds."""
        is_side = seat in {side.name for side in state.sides}
        return tuple(
            about.HeldCard(card.id, card.title, f"{card.span_bw} BW", _kind_of(card), card.text)
            for card in (state.cards_of(seat) if is_side else ())
        )

    def forms(self, state: State) -> tuple[about.Form, ...]:
        """Returns the form of the pending decision: a freely chosen force, or the terrain."""
        match state.step:
            case Activating():
                cards = self.hand(state, state.active)
                pick = about.PickUnits(
                    title="Another force, or other cards",
                    button="Activate",
                    action={"type": "activate"},
                    units=tuple(
                        unit.id for unit in state.position.units if unit.side == state.active
                    ),
                    units_key="force",
                    cards=cards,
                    cards_key="cards",
                    numbers_title="" if cards else "Card spans, BW",
                    numbers_key=None if cards else "spans",
                )
                return (pick,)
            case LayingTerrain(side=side, least=least, most=most):
                effects = {
                    name: [text for key, text in _EFFECT_WORDS.items() if getattr(kind, key)]
                    for name, kind in KINDS.items()
                }
                kinds = tuple(
                    about.TerrainKind(name, ", ".join(does)) for name, does in effects.items()
                )
                action = {"type": "lay-terrain"}
                return (about.LayTerrain(side, least, most, kinds, action, "terrain"),)
        return ()

    def action_to_json(self, action: Action) -> Json:
        """Returns an action as JSON, its type first, without omitted values."""
        return {"type": action.type} | super().action_to_json(action)

    def seen_by(self, state: State, seat: str | None) -> Json:
        """Returns the state as JSON without anything concealed from a seat (None: a spectator).

        If tablecam deals, `hand` holds the seat's cards in full; `discards` is the face-up pile.
        """
        # The counts stay, because the size of a hand is public (M-3.1).
        first, second = (replace(side, cards=()) for side in state.sides)
        options, deck = replace(state.options, cards=()), replace(state.deck, cards=(), discards=())
        # Positions are sent beside a state, and would take most of the time.
        bare = Position(state.position.game, state.position.table)
        begun = replace(state.round, began=bare)
        public = replace(state, position=bare, round=begun, sides=(first, second), deck=deck)
        # The head that recordings of 0.1.0 compare.
        plain = _HEAD | self.state_to_json(replace(public, options=options))
        del plain["position"], plain["round"]["began"]
        pile = (state.options.card(card_id) for card_id in state.deck.discards)
        plain["discards"] = [to_plain(card) for card in pile if card is not None]
        if seat is not None and seat in {side.name for side in state.sides}:
            plain["hand"] = [to_plain(card) for card in state.cards_of(seat)]
        return plain

    apply = staticmethod(apply)
    suggestion = staticmethod(by_hand.suggest_move)
    commander_suggestion = staticmethod(by_hand.suggest_place)
    why_still = staticmethod(by_hand.why_still)
    settings = staticmethod(settings)
    offered = staticmethod(offer)
    step_shapes = staticmethod(step_shapes)


def _kind_of(card: Card) -> str:
    if card.modifies:
        return card.modifies.symbol
    if card.interrupts:
        return "interrupt"
    return "event" if card.is_event else "for its span"


GAME: Final = MauriceGame()
