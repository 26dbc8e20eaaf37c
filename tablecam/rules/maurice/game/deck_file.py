"""Deck files: the cards that tablecam deals, written by the owner of a game (M-3.10).

A file is TOML: `format = "tablecam.deck"`, `version`, `game`, `name`, and a `[[card]]` for each
kind of card with its `title`, its `span` in BW and the number of copies (`count`). Further keys
give its effect when it is not played for the span: `symbol` with `adds`, `to` and `units`;
`interrupt`; `event`, `removable`; `text` for the players. The Reshuffle card is not listed, as
every deck has it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import Field

from tablecam.documents import Document, read_toml
from tablecam.errors import BadInput
from tablecam.rules.maurice.field.field import GAME
from tablecam.rules.maurice.game.state import Card, Effect, Modification, Symbol
from tablecam.table.sections import Name, StrictModel
from tablecam.wording import nearest, quoted

FORMAT: Final = "tablecam.deck"
VERSION: Final = 1
_SHIPPED: Final = Path(__file__).parent / "decks"


@dataclass(frozen=True, slots=True)
class DeckList:
    """A deck's name and all its cards, each copy by itself."""

    name: str
    cards: tuple[Card, ...]


def deck_named(name: str) -> DeckList:
    """Returns a deck that ships with tablecam, by name, or one from a file, by path.

    Raises:
        BadInput: There is no such deck, or the file is not a valid deck.
    """
    if name.endswith(".toml"):
        return read_deck_file(Path(name))
    shipped = sorted(path.stem for path in _SHIPPED.glob("*.toml"))
    if name not in shipped:
        expected = f"expected the name of a deck or a .toml file, got {quoted(name)}"
        raise BadInput("options", f"{expected}{nearest(name, shipped)}", key="deck")
    return read_deck_file(_SHIPPED / f"{name}.toml")


def read_deck_file(path: Path) -> DeckList:
    """Reads a deck file.

    Raises:
        BadInput: With the file, the line and the key, what was expected and what came.
    """
    return deck_from(read_toml(path))


def deck_from(document: Document) -> DeckList:
    """Returns the deck in a document.

    Raises:
        BadInput: As `read_deck_file`.
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
    """A whole deck file."""

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
    """Refuses a card section whose keys contradict each other."""
    if (section.symbol is None) != (section.adds is None):
        missing, there = ("adds", "symbol") if section.adds is None else ("symbol", "adds")
        why = f"expected this key, as {there} is given"
        raise document.error(("card", index, missing), why)
    if section.removable and not section.event:
        why = "expected event = true, as only events can be removed"
        raise document.error(("card", index, "removable"), why)


def _card(section: _CardSection, card_id: str) -> Card:
    modifies = None
    if section.symbol is not None and section.adds is not None:
        is_for_one = section.units == "one"
        modifies = Modification(section.symbol, section.adds, section.to, is_for_one)
    return Card(
        card_id,
        section.title,
        section.span,
        section.text,
        modifies,
        section.interrupt,
        section.event,
        section.removable,
    )
