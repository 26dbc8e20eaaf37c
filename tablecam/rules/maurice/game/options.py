"""Agreements before a game: options, and the deck that tablecam deals (M-3.10).

A deck file is TOML: `format = "tablecam.deck"`, `version`, `game`, `name`, and a `[[card]]` for
each kind of card with its `title`, its `span` in BW and the number of copies (`count`). Further
keys give its effect when it is not played for the span: `symbol` with `adds`, `to` and `units`;
`interrupt`; `event`, `removable`; `text` for the players. The Reshuffle card is not listed, as
every deck has it.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import Field

from tablecam.documents import Document, document_from, read_toml
from tablecam.errors import BadInput
from tablecam.rules.maurice.field.field import GAME, field_of
from tablecam.rules.maurice.field.tables import ALLOWANCES_BW, DEALT
from tablecam.rules.maurice.game.cards import Drawing
from tablecam.rules.maurice.game.command import VolleyChoice
from tablecam.rules.maurice.game.commander import first_step
from tablecam.rules.maurice.game.setup import RollingFirstRound, RollingTerrain, check_room
from tablecam.rules.maurice.game.state import (
    Card,
    Deck,
    Effect,
    Measuring,
    Modification,
    Options,
    Round,
    Side,
    State,
    Step,
    Symbol,
)
from tablecam.table.model import Position
from tablecam.table.sections import Name, StrictModel
from tablecam.toml_lines import KeyPath
from tablecam.wording import nearest, quoted

FORMAT: Final = "tablecam.deck"
VERSION: Final = 1
_SHIPPED: Final = Path(__file__).parent / "decks"


@dataclass(frozen=True, slots=True)
class DeckList:
    """A deck's name and all its cards, each copy separately."""

    name: str
    cards: tuple[Card, ...]


def deck_named(name: str) -> DeckList:
    """Returns a deck that ships with tablecam, by name, or one from a file, by path.

    Raises:
        BadInput: There is no such deck, or the file is not a valid deck.
    """
    if name.endswith(".toml"):
        return deck_from(read_toml(Path(name)))
    shipped = sorted(path.stem for path in _SHIPPED.glob("*.toml"))
    if name not in shipped:
        expected = f"expected the name of a deck or a .toml file, got {quoted(name)}"
        raise BadInput("options", f"{expected}{nearest(name, shipped)}", key="deck")
    return deck_from(read_toml(_SHIPPED / f"{name}.toml"))


def deck_from(document: Document) -> DeckList:
    """Returns the deck in a document.

    Raises:
        BadInput: Naming the file, the line, the key, the expected value and the actual one.
    """
    document.require(FORMAT, VERSION)
    parsed = document.parsed(_DeckDocument)
    if parsed.game != GAME:
        raise document.error(("game",), f"expected {GAME}, got {quoted(parsed.game)}")
    return DeckList(parsed.name, tuple(_cards(document, parsed)))


class _CardSection(StrictModel):
    """A `[[card]]` section; `units` says whether a modifier applies to one unit or to all."""

    title: Name
    span: Annotated[int, Field(ge=1)]
    count: Annotated[int, Field(ge=1)] = 1
    text: str = ""
    symbol: Symbol | None = None
    adds: int | None = None
    to: Literal["own", "enemy"] = "own"
    units: Literal["one", "all"] = "one"
    interrupt: Effect | None = None
    event: bool = False
    removable: bool = False


class _DeckDocument(StrictModel):
    format: str
    version: int
    game: str
    name: Name
    card: Annotated[list[_CardSection], Field(min_length=1)]


def _cards(document: Document, parsed: _DeckDocument) -> Iterator[Card]:
    """Yields all cards of a deck, each copy with an id of its own."""
    titles: set[str] = set()
    for index, section in enumerate(parsed.card):
        # Ids are made of titles, so titles must differ in more than case and punctuation.
        slug = re.sub(r"[^a-z0-9]+", "-", section.title.casefold()).strip("-")
        if slug in titles or not slug:
            why = f"expected a unique title, got {quoted(section.title)} twice"
            raise document.error(("card", index, "title"), why)
        titles.add(slug)
        _check(document, index, section)
        for copy in range(section.count):
            yield _card(section, f"{slug}-{copy + 1}")


def _check(document: Document, index: int, section: _CardSection) -> None:
    if (section.symbol is None) != (section.adds is None):
        missing, given = ("adds", "symbol") if section.adds is None else ("symbol", "adds")
        why = f"expected this key, as {given} is given"
        raise document.error(("card", index, missing), why)
    if section.removable and not section.event:
        why = "expected event = true, as only events can be removed"
        raise document.error(("card", index, "removable"), why)


def _card(section: _CardSection, card_id: str) -> Card:
    modifies = None
    if section.symbol is not None and section.adds is not None:
        modifies = Modification(section.symbol, section.adds, section.to, section.units == "one")
    effects = modifies, section.interrupt, section.event, section.removable
    return Card(card_id, section.title, section.span, section.text, *effects)


DECK_SIZE = 60
"""The assumed size of the players' own deck; the rulebook gives none (M-3.10)."""
MOST_COUNTED = 1000
"""The largest number of cards or morale; more is a typing error."""
_NameOrPath = Annotated[str, Field(min_length=1)]
_Count = Annotated[int, Field(ge=0, le=MOST_COUNTED)]


class _OptionsDocument(StrictModel):
    """All options; each may be left out.

    `hands` are the sides' first hands, `deck_size` the number of cards without the Reshuffle card;
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
    # Half of an army's units, rounded up (M-2.5).
    counts = Counter(unit.side for unit in position.units)
    morale = {side: math.ceil(counts[side] / 2) for side in sides} | parsed.morale
    first, second = (Side(side, morale[side], hands[side]) for side in sides)
    active = parsed.active or sides[0]
    deck = _counted_deck(document, parsed, sum(hands.values()))
    begun = Round(1, active, position)
    agreed = Options(measuring=parsed.measuring)
    state = State(position, (first, second), deck, begun, VolleyChoice(), agreed)
    if parsed.deck is not None:
        state = _undealt(state, deck_named(parsed.deck))
    if parsed.setup:
        # An army that does not fit in rows cannot be deployed: refuse it now rather than later.
        check_room(state.position, sides)
        return state.to(RollingTerrain(_dealt_before(state, hands, RollingFirstRound())))
    state = first_step(state, 1, state.active)
    # Uses the hand to be dealt, as the state's is still empty.
    begun = replace(state.round, is_without_cards=hands[state.active] == 0)
    return replace(state, round=begun, step=_dealt_before(state, hands, state.step))


def _dealt_before(state: State, hands: Mapping[str, int], then: Step) -> Step:
    """Returns the steps that deal both hands before `then`, the active side's first."""
    if state.options.deck is None:
        return then
    # Built backwards from the last step, as each holds the next.
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
        # A formation without an allowance is not allowed at the start (M-1.7).
        if (unit.unit.arm, unit.formation) not in ALLOWANCES_BW:
            known = " or ".join(name for arm, name in ALLOWANCES_BW if arm == unit.unit.arm)
            fault = f" is {unit.formation}: place it"
            if unit.formation == "broken-up":
                fault = "'s bases are apart: put them together"
            raise BadInput("", f"{unit.id}{fault} in {known}")
        if unit.disruption > len(unit.bases):
            why = f"expected at most {len(unit.bases)} disruptions, got {unit.disruption}"
            raise BadInput("position", f"unit {unit.id}: {why}")
    return sides[0], sides[1]


def _check_sides(document: Document, parsed: _OptionsDocument, sides: tuple[str, str]) -> None:
    named: list[tuple[KeyPath, str | None]] = [(("active",), parsed.active)]
    named += [((key, side), side) for key in ("hands", "morale") for side in getattr(parsed, key)]
    for path, side in named:
        if side is not None and side not in sides:
            raise document.error(path, f"there is no side {quoted(side)}{nearest(side, sides)}")


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
