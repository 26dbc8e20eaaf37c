"""How Maurice Lite describes itself to the page: figures, markers, settings, forms and words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Final

from tablecam.rules import descriptions as about
from tablecam.rules.frozen_json import classes_of
from tablecam.rules.game import Json
from tablecam.rules.maurice.field.tables import KINDS
from tablecam.rules.maurice.game.activation import Activating
from tablecam.rules.maurice.game.cards import draws_due
from tablecam.rules.maurice.game.setup import LayingTerrain, RollingFirstRound
from tablecam.rules.maurice.game.state import Card, State, Step
from tablecam.rules.miniatures.battle_game import side_choices
from tablecam.table.model import Scalar
from tablecam.table.sides import side_name
from tablecam.wording import counted

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
_BY_HAND = (
    "Move the unit by hand, and tablecam says what it sees. Or choose one of its usual moves here, "
    "then make it by hand."
)

ACTION_GROUPS: Final[Mapping[str, about.ActionGroup]] = MappingProxyType(
    {
        "activate": about.ActionGroup("Activate a force"),
        "card": about.ActionGroup("Cards", pass_all="Nobody plays a card"),
        "charge": about.ActionGroup("Charge", _BY_HAND),
        "command": about.ActionGroup("Command for this round", is_main=True),
        "commander": about.ActionGroup(
            "Commander", "Move him by hand to any place, or choose one behind a force here."
        ),
        "done": about.ActionGroup("Finish", is_end=True),
        "fall-back": about.ActionGroup("Fall back"),
        "fire": about.ActionGroup("Fire"),
        "march": about.ActionGroup("March", _BY_HAND),
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

_STAGES = (
    about.SettingChoice("first", "first", "Before the first reshuffle"),
    about.SettingChoice("second", "second", "With the Reshuffle card in it"),
    about.SettingChoice("last", "last", "The Reshuffle card is out: it is not shuffled again"),
)

_STEPS = (
    about.SettingChoice("volleys", "Volleys"),
    about.SettingChoice("command", "The command"),
    about.SettingChoice("end", "End of round"),
)


def standing(public: Json) -> about.Standing:
    """Returns how a game stands by its public state."""
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


def markers(unit_state: Mapping[str, Scalar]) -> tuple[about.Marker, ...]:
    """Returns a pip for each disruption (M-1.14), and a cloud for smoke (M-4.23)."""
    level = int(unit_state.get("disruption", 0))
    pips = (about.Marker("pips", counted(level, "disruption"), level, "bad"),) if level else ()
    cloud = (about.Marker("cloud", "smoke"),) if unit_state.get("smoke") else ()
    return (*pips, *cloud)


def settings(state: State) -> tuple[about.Setting, ...]:
    """Returns what players may overrule; where tablecam deals, it counts the cards itself."""
    sides, units, dealt = state.sides, state.position.units, state.is_dealt
    # Cards that are still to be dealt count as part of a hand.
    due = {side.name: draws_due(state.step, side.name) for side in sides}
    hands = {side.name: side.hand + due[side.name] for side in sides}
    number, active = {"": state.round.number}, {"": state.active}
    choices = tuple(about.SettingChoice(side.name, side_name(side.name)) for side in sides)
    morale = {side.name: side.morale for side in sides}
    deck = {"": max(0, state.deck.left - sum(due.values()))}
    levels = {unit.id: int(unit.state.get("disruption", 0)) for unit in units}
    most = max((len(unit.bases) for unit in units), default=0)
    left = about.Setting("deck", "cards left in the deck", "game", "number", deck)
    smoke = {
        unit.id: bool(unit.state.get("smoke", False)) for unit in units if unit.arm == "artillery"
    }
    return (
        about.Setting("number", "round", "game", "number", number, least=1, is_restated=True),
        about.Setting(
            "active", "active side", "game", "choice", active, choices=choices, is_restated=True
        ),
        about.Setting("morale", "morale", "side", "number", morale, least=1),
        about.Setting("hands", "cards in hand", "side", "number", hands, is_rare=dealt),
        replace(left, falls_with="hands", is_rare=True) if dealt else left,
        about.Setting("stage", "deck", "game", "choice", {"": state.deck.stage}, choices=_STAGES),
        about.Setting("step", "continue with", "game", "choice", {}, choices=_STEPS),
        about.Setting(
            "disruption", "disruption", "unit", "number", levels, most=most, marker="pips"
        ),
        about.Setting("smoke", "smoke", "unit", "switch", smoke, marker="cloud"),
    )


def begin_form(sides: Sequence[str]) -> tuple[about.BeginField, ...]:
    """Returns what players choose before a game: where it starts, who begins, cards, measuring."""
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
        "No distance or range is shown before it is declared. A shot, charge or card that does not "
        "reach is lost.",
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


def hand(state: State, seat: str) -> tuple[about.HeldCard, ...]:
    """Returns the cards that a side was dealt and still holds."""
    is_side = seat in {side.name for side in state.sides}
    return tuple(
        about.HeldCard(card.id, card.title, f"{card.span_bw} BW", _kind_of(card), card.text)
        for card in (state.cards_of(seat) if is_side else ())
    )


def _kind_of(card: Card) -> str:
    if card.modifies:
        return card.modifies.symbol
    if card.interrupts:
        return "interrupt"
    return "event" if card.is_event else "for its span"


def forms(state: State) -> tuple[about.Form, ...]:
    """Returns the form of the pending decision: a force of one's own choice, or the terrain."""
    match state.step:
        case Activating():
            cards = hand(state, state.active)
            pick = about.PickUnits(
                title="Another force, or other cards",
                button="Activate",
                action={"type": "activate"},
                units=tuple(unit.id for unit in state.position.units if unit.side == state.active),
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


_EFFECT_WORDS = {
    "is_impassable": "impassable",
    "is_difficult": "difficult",
    "is_cover": "cover",
    "obstructs": "obstructs fire",
    "is_water": "water",
    "bridges": "makes water passable and removes difficult ground",
}
