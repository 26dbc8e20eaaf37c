"""Options that players agree on before a game, and the first state they lead to."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field

from tablecam.documents import Document, document_from
from tablecam.errors import BadInput
from tablecam.rules.maurice.field.field import UnitOnField, field_of
from tablecam.rules.maurice.field.tables import ALLOWANCES_BW, DEALT
from tablecam.rules.maurice.game.cards import Drawing
from tablecam.rules.maurice.game.command import VolleyChoice
from tablecam.rules.maurice.game.commander import first_step
from tablecam.rules.maurice.game.deck_file import DeckList, deck_named
from tablecam.rules.maurice.game.deploying import check_room
from tablecam.rules.maurice.game.setup import RollingFirstRound, RollingTerrain
from tablecam.rules.maurice.game.state import Deck, Measuring, Options, Round, Side, State, Step
from tablecam.table.model import Position
from tablecam.table.sections import Name, StrictModel
from tablecam.toml_lines import KeyPath
from tablecam.wording import nearest, quoted

DECK_SIZE = 60
"""The assumed size of the players' own deck; the rulebook gives none (M-3.10)."""
MOST_COUNTED = 1000
"""The largest number of cards or morale; more is a typing error."""
_NameOrPath = Annotated[str, Field(min_length=1)]
_Count = Annotated[int, Field(ge=0, le=MOST_COUNTED)]


class _OptionsDocument(StrictModel):
    """All options; each may be left out.

    `hands` are the sides' first hands, `deck_size` the cards in all without the Reshuffle card;
    `morale` is for armies that have already lost units. With `setup` the game begins with the
    terrain roll, else with the first round of `active`. `measuring` is `free`, or `declared`:
    closed until an action is declared (`DECLARING.md`).
    """

    active: Name | None = None
    setup: bool = False
    deck: _NameOrPath | None = None
    deck_size: _Count | None = None
    hands: dict[Name, _Count] = Field(default_factory=dict)
    morale: dict[Name, Annotated[int, Field(ge=1, le=MOST_COUNTED)]] = Field(default_factory=dict)
    measuring: Measuring = "free"


def first_state(position: Position, options: Mapping[str, Any]) -> State:
    """Returns the first state of a game on a position.

    Raises:
        BadInput: The position does not fit the game, or an option is unknown or wrong.
    """
    sides = sides_of(position)
    document = document_from(dict(options), "options")
    parsed = document.parsed(_OptionsDocument)
    _check_sides(document, parsed, sides)
    if parsed.setup and parsed.active is not None:
        raise document.error(("active",), "expected no value, as setup decides it by dice")
    hands = {side: parsed.hands.get(side, DEALT) for side in sides}
    first, second = (Side(side, _morale(position, parsed, side), hands[side]) for side in sides)
    active = parsed.active or sides[0]
    deck = _counted_deck(document, parsed, sum(hands.values()))
    begun = Round(1, active, position)
    agreed = Options(measuring=parsed.measuring)
    state = State(position, (first, second), deck, begun, VolleyChoice(), agreed)
    if parsed.deck is not None:
        state = _undealt(state, deck_named(parsed.deck))
    return _setting_up(state, hands) if parsed.setup else _beginning(state, hands)


def _beginning(state: State, hands: Mapping[str, int]) -> State:
    """Starts round 1 after dealing the hands, the active side's first (M-2.6)."""
    # By the hand that is to be dealt, as the state's is still empty.
    is_without_cards = hands[state.active] == 0
    state = first_step(state, 1, state.active)
    state = replace(state, round=replace(state.round, is_without_cards=is_without_cards))
    return state.to(_dealt_before(state, hands, state.step))


def _setting_up(state: State, hands: Mapping[str, int]) -> State:
    """Starts with the terrain roll and the rest of setup (M-2)."""
    # An army that does not fit in rows cannot be deployed: refuse it now rather than later.
    check_room(state.position, tuple(hands))
    return state.to(RollingTerrain(_dealt_before(state, hands, RollingFirstRound())))


def _dealt_before(state: State, hands: Mapping[str, int], then: Step) -> Step:
    """Returns the steps that deal both hands before `then`, the active side's first."""
    if state.options.deck is None:
        return then
    # Built from the last step back, as each holds the next.
    second = Drawing(state.passive, hands[state.passive], then)
    return Drawing(state.active, hands[state.active], second)


def _undealt(state: State, cards: DeckList) -> State:
    """Returns the state with a whole deck face down and empty hands."""
    deck = Deck(len(cards.cards), 0, cards=tuple(card.id for card in cards.cards))
    in_hands = sum(side.hand for side in state.sides)
    if in_hands >= deck.left:
        expected = f"expected a deck of more than the {in_hands} cards to deal"
        raise BadInput("options", f"{expected}, got {deck.left}", key="deck")
    for side in state.sides:
        state = state.with_side(replace(side, hand=0))
    return replace(
        state, deck=deck, options=replace(state.options, deck=cards.name, cards=cards.cards)
    )


def sides_of(position: Position) -> tuple[str, str]:
    """Returns the two sides of a position that fits the game.

    Raises:
        BadInput: It does not fit: its sides, commanders or formations.
    """
    field = field_of(position)
    sides = tuple(dict.fromkeys(unit.side for unit in position.units))
    if len(sides) != 2:
        raise BadInput("position", f"expected units of two sides, got {len(sides)}", key="units")
    for side in sides:
        commanders = [leader.id for leader in position.commanders if leader.side == side]
        if len(commanders) > 1:
            got = " and ".join(commanders)
            raise BadInput("position", f"expected one commander for {side}, got {got}")
    for unit in field.units:
        # Whatever has no allowance is no formation to begin with (M-1.7).
        if (unit.unit.arm, unit.formation) not in ALLOWANCES_BW:
            raise BadInput("", _formation_error(unit))
        if unit.disruption > len(unit.bases):
            why = f"expected at most {len(unit.bases)} disruptions, got {unit.disruption}"
            raise BadInput("position", f"unit {unit.id}: {why}")
    return sides[0], sides[1]


def _check_sides(document: Document, parsed: _OptionsDocument, sides: tuple[str, str]) -> None:
    """Refuses options that name an unknown side."""
    named: list[tuple[KeyPath, str]] = []
    if parsed.active is not None:
        named.append((("active",), parsed.active))
    named += [(("hands", side), side) for side in parsed.hands]
    named += [(("morale", side), side) for side in parsed.morale]
    for path, side in named:
        if side not in sides:
            raise document.error(path, f"there is no side {quoted(side)}{nearest(side, sides)}")


def _morale(position: Position, parsed: _OptionsDocument, side: str) -> int:
    """Returns an army's morale: half of its units, rounded up (M-2.5), or the given option."""
    units = sum(unit.side == side for unit in position.units)
    return parsed.morale.get(side, math.ceil(units / 2))


def _counted_deck(document: Document, parsed: _OptionsDocument, in_hands: int) -> Deck:
    """Returns the players' own deck after the hands are dealt from it."""
    if parsed.deck is not None and parsed.deck_size is not None:
        raise document.error(("deck_size",), "expected no value, as the deck has a fixed size")
    size = DECK_SIZE if parsed.deck_size is None else parsed.deck_size
    # The size of a dealt deck is checked by `_undealt`.
    if parsed.deck is None and size <= in_hands:
        why = f"expected more than the {in_hands} cards in hand, got {size}"
        raise document.error(("deck_size",), why)
    return Deck(size - in_hands, 0)


def _formation_error(unit: UnitOnField) -> str:
    """Explains which formation no game can begin with (M-1.7)."""
    known = " or ".join(formation for arm, formation in ALLOWANCES_BW if arm == unit.unit.arm)
    if unit.formation != "broken-up":
        return f"{unit.id} is {unit.formation}: place it in {known}"
    return f"{unit.id}'s bases are apart: put them together in {known}"
