"""How Maurice Lite describes itself to the page: figures, markers, settings, forms and words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from tablecam.rules.descriptions import (
    ActionGroup,
    BeginChoice,
    BeginField,
    Figure,
    Form,
    HeldCard,
    LayTerrain,
    Marker,
    MomentKind,
    OddsOffer,
    PickUnits,
    Setting,
    SettingChoice,
    SideStanding,
    Sign,
    Standing,
    TerrainKind,
)
from tablecam.rules.frozen_json import classes_of
from tablecam.rules.game import Json
from tablecam.rules.maurice.field.tables import KINDS, Kind
from tablecam.rules.maurice.game.activation import Activating
from tablecam.rules.maurice.game.cards import Drawing
from tablecam.rules.maurice.game.setup import LayingTerrain, RollingFirstRound
from tablecam.rules.maurice.game.state import Card, State, Step
from tablecam.table.model import Scalar
from tablecam.table.sides import side_name
from tablecam.wording import counted

MOMENTS: Final[Mapping[str, MomentKind]] = MappingProxyType(
    {
        "round": "turn",
        "command": "phase",
        "volleys": "phase",
        "charge": "attack",
        "broken": "loss",
        "draw": "detail",
        "drawn": "detail",
        "shot": "detail",
    }
)

_FIGURES: Final[tuple[tuple[str, str, Sign], ...]] = (
    ("morale", "morale", "flag"),
    ("hand", "cards", "card"),
)
_BY_HAND = (
    "Move the unit by hand, and tablecam says what it sees. Or choose one of its usual moves here, "
    "then make it by hand."
)

ACTION_GROUPS: Final[Mapping[str, ActionGroup]] = MappingProxyType(
    {
        "activate": ActionGroup("Activate a force"),
        "card": ActionGroup("Cards", pass_all="Nobody plays a card"),
        "charge": ActionGroup("Charge", _BY_HAND),
        "command": ActionGroup("Command for this round", is_main=True),
        "commander": ActionGroup("Commander"),
        "done": ActionGroup("Finish"),
        "fall-back": ActionGroup("Fall back"),
        "fire": ActionGroup("Fire"),
        "march": ActionGroup("March", _BY_HAND),
        "rally": ActionGroup("Rally"),
        "setup": ActionGroup("Setting up"),
        "volleys": ActionGroup("Volleys", is_main=True),
    }
)

ODDS_OFFERS: Final = (
    OddsOffer(
        "Odds of {a} firing at {b}", {"kind": "volley", "unit": "{a}", "target": "{b}"}, "enemies"
    ),
    OddsOffer("Odds to rally {a}", {"kind": "rally", "unit": "{a}"}, "unit", marker="pips"),
    OddsOffer("Odds of the combat", {"kind": "combat", "active": "{active}"}, "table"),
)

_SETUP_STEPS: Final = {kind.type for kind in classes_of(Step) if kind.is_setup} | {
    RollingFirstRound.type
}

_STAGES = (
    SettingChoice("first", "first", "Before the first reshuffle"),
    SettingChoice("second", "second", "With the Reshuffle card in it"),
    SettingChoice("last", "last", "The Reshuffle card is out: it is not shuffled again"),
)

_STEPS = (
    SettingChoice("volleys", "Volleys"),
    SettingChoice("command", "The command"),
    SettingChoice("end", "End of round"),
)


def standing(public: Json) -> Standing:
    """Returns how a game stands by its public state."""
    game_round, step = public.get("round", {}), public.get("step", {})
    is_setup = step.get("type") in _SETUP_STEPS
    return Standing(
        sides=tuple(
            SideStanding(
                side["name"],
                tuple(
                    Figure(label, side[key], sign) for key, label, sign in _FIGURES if key in side
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


def markers(unit_state: Mapping[str, Scalar]) -> tuple[Marker, ...]:
    """Returns a pip for each disruption (M-1.14), and a cloud for smoke (M-4.23)."""
    level = int(unit_state.get("disruption", 0))
    pips = (Marker("pips", counted(level, "disruption"), level, "bad"),) if level else ()
    cloud = (Marker("cloud", "smoke"),) if unit_state.get("smoke") else ()
    return (*pips, *cloud)


def settings(state: State) -> tuple[Setting, ...]:
    """Returns what players may overrule; where tablecam deals, it counts the cards itself."""
    sides, units = state.sides, state.position.units
    due = {side.name: _drawn_first(state.step, side.name) for side in sides}
    active_choices = tuple(SettingChoice(side.name, side_name(side.name)) for side in sides)
    return (
        Setting(
            key="number",
            title="round",
            of="game",
            kind="number",
            values={"": state.round.number},
            least=1,
            is_restated=True,
        ),
        Setting(
            key="active",
            title="active side",
            of="game",
            kind="choice",
            values={"": state.active},
            choices=active_choices,
            is_restated=True,
        ),
        Setting(
            key="morale",
            title="morale",
            of="side",
            kind="number",
            values={side.name: side.morale for side in sides},
            least=1,
        ),
        Setting(
            key="hands",
            title="cards in hand",
            of="side",
            kind="number",
            # Cards that are still to be dealt count as part of a hand.
            values={side.name: side.hand + due[side.name] for side in sides},
            is_rare=state.is_dealt,
        ),
        Setting(
            key="deck",
            title="cards left in the deck",
            of="game",
            kind="number",
            values={"": max(0, state.deck.left - sum(due.values()))},
            falls_with="hands" if state.is_dealt else "",
            is_rare=state.is_dealt,
        ),
        Setting("stage", "deck", "game", "choice", {"": state.deck.stage}, choices=_STAGES),
        Setting("step", "continue with", "game", "choice", {}, choices=_STEPS),
        Setting(
            key="disruption",
            title="disruption",
            of="unit",
            kind="number",
            values={unit.id: int(unit.state.get("disruption", 0)) for unit in units},
            most=max((len(unit.bases) for unit in units), default=0),
            marker="pips",
        ),
        Setting(
            key="smoke",
            title="smoke",
            of="unit",
            kind="switch",
            values={
                unit.id: bool(unit.state.get("smoke", False))
                for unit in units
                if unit.arm == "artillery"
            },
            marker="cloud",
        ),
    )


def _drawn_first(step: Step, side: str) -> int:
    """Returns how many cards a side draws before anything else, as before the first round."""
    drawn = 0
    while isinstance(step, Drawing):
        drawn += step.count if step.side == side else 0
        step = step.then
    return drawn


def begin_form(sides: Sequence[str]) -> tuple[BeginField, ...]:
    """Returns what players choose before a game: where it starts, who begins, cards, measuring."""
    return (
        BeginField(
            "how",
            "Start from",
            (
                BeginChoice("As it is", {}, "The first round begins with the table as it is now."),
                BeginChoice(
                    "Set up first",
                    {"setup": True},
                    "First put all units anywhere on the table. Then roll for terrain, choose "
                    "edges and deploy.",
                ),
                BeginChoice(
                    "Mid-game",
                    {},
                    "A game continues from the table as it is now: you set the round, morale, "
                    "cards and markers.",
                    opens_settings=True,
                ),
            ),
        ),
        BeginField(
            "active",
            "First side",
            tuple(BeginChoice(side_name(side), {"active": side}, side=side) for side in sides),
            only_with=("how", (0, 2)),
        ),
        BeginField(
            "deck",
            "Cards",
            (
                BeginChoice("Printed cards"),
                BeginChoice("tablecam deals (house deck)", {"deck": "house"}),
            ),
        ),
        BeginField(
            "measuring",
            "Measuring",
            (
                BeginChoice("At any time"),
                BeginChoice(
                    "After declaring",
                    {"measuring": "declared"},
                    "No distance or range is shown before it is declared. A shot, charge or card "
                    "that does not reach is lost.",
                ),
            ),
        ),
    )


def hand(state: State, seat: str) -> tuple[HeldCard, ...]:
    """Returns the cards that a side was dealt and still holds."""
    is_side = seat in {side.name for side in state.sides}
    return tuple(_held(card) for card in state.cards_of(seat)) if is_side else ()


def _held(card: Card) -> HeldCard:
    return HeldCard(card.id, card.title, f"{card.span_bw} BW", _kind_of(card), card.text)


def _kind_of(card: Card) -> str:
    if card.modifies:
        return card.modifies.symbol
    if card.interrupts:
        return "interrupt"
    return "event" if card.is_event else "span only"


def forms(state: State) -> tuple[Form, ...]:
    """Returns the form of the pending decision: a force of one's own choice, or the terrain."""
    return tuple(_forms(state))


def _forms(state: State) -> Iterator[Form]:
    match state.step:
        case Activating():
            cards = hand(state, state.active)
            yield PickUnits(
                title="Another force",
                button="Activate",
                action={"type": "activate"},
                units=tuple(unit.id for unit in state.position.units if unit.side == state.active),
                units_key="force",
                cards=cards,
                cards_key="cards",
                numbers_title="" if cards else "Card spans, BW",
                numbers_key=None if cards else "spans",
            )
        case LayingTerrain(side=side, least=least, most=most):
            kinds = tuple(TerrainKind(name, _effect_words(kind)) for name, kind in KINDS.items())
            yield LayTerrain(side, least, most, kinds, {"type": "lay-terrain"}, "terrain")


_EFFECT_WORDS = {
    "is_impassable": "impassable",
    "is_difficult": "difficult",
    "is_cover": "cover",
    "obstructs": "obstructs fire",
    "is_water": "water",
    "bridges": "makes water passable and removes difficult ground",
}


def _effect_words(kind: Kind) -> str:
    """Describes a kind of terrain for players who agree on it before play (M-2.2)."""
    return ", ".join(text for key, text in _EFFECT_WORDS.items() if getattr(kind, key))
