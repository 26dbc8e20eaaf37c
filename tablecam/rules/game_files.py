"""Reads the files that owners of a rulebook fill in: charts, a map's terrain, a scenario.

One format serves all games: `format`, `version`, `game` and `source` stand first, and the game's
own model (`Described.file_models`) says what follows. A game begins with the contents as options,
so that its recording needs no files.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, Protocol

from tablecam.documents import Document, Json, document_from, read_toml
from tablecam.errors import BadInput
from tablecam.rules.discovery import text_of
from tablecam.table.model import HexMap
from tablecam.table.sections import Faults, Name, StrictModel, first_of
from tablecam.toml_lines import KeyPath
from tablecam.wording import quoted

FORMATS: Mapping[str, str] = MappingProxyType(
    {"charts": "tablecam.charts", "map": "tablecam.hexmap", "scenario": "tablecam.scenario"}
)
"""The format of each kind of file."""

VERSION = 1


Check = tuple[KeyPath, bool, str]
"""The path of a value in a file, whether it is right, and what was expected."""
MISSING = "expected this key, but it is missing"


class Listed(Protocol):
    """An entry of a list with an id."""

    @property
    def id(self) -> str:
        """Its id."""


def each_id_once(**lists: Sequence[Listed]) -> Iterator[Check]:
    """Yields the checks that no two entries of some lists, given by key, have the same id."""
    seen: set[str] = set()
    for key, entries in lists.items():
        for index, entry in enumerate(entries):
            why = f"expected another id, {quoted(entry.id)} is used twice"
            yield (key, index, "id"), entry.id not in seen, why
            seen.add(entry.id)


class GameFile(StrictModel):
    """A file of a game; a game adds its own keys.

    The numbers of a `house` file are invented: pages, answers and recordings that use it say so.
    """

    format: str
    version: int
    game: Name
    source: Literal["owner", "house"] = "owner"

    def checks(self) -> Iterator[Check]:
        """Yields the checks within the file."""
        yield from ()

    def faults(self, document: Document) -> Faults:
        """Yields where the file contradicts itself or the rulebook."""
        return (document.error(path, why) for path, is_so, why in self.checks() if not is_so)

    def faults_on(self, document: Document, hex_map: HexMap) -> Faults:
        """Yields where the file does not fit a table's hex map."""
        yield from ()

    def faults_among(self, document: Document, files: Mapping[str, Document]) -> Faults:
        """Yields where the file does not fit the game's other files, each valid by itself."""
        yield from ()


Models = Mapping[str, type[GameFile]]
"""The model of each kind of file that a game reads."""


def file_faults(
    document: Document, game: str, models: Models, hex_map: HexMap | None = None
) -> Faults:
    """Yields everything that is wrong with a game's file.

    The hexes that it names must be on `hex_map`, if that is given.
    """
    kind = next((kind for kind, name in FORMATS.items() if name == document.data.get("format")), "")
    document.require(FORMATS.get(kind, " or ".join(FORMATS.values())), VERSION)
    stated = document.data.get("game")
    if stated != game:
        yield document.error(("game",), f"expected {quoted(game)}, got {quoted(stated)}")
        return
    if kind not in models:
        yield document.error(("format",), f"expected no {kind} file: {game} has none")
        return
    faults = document.model_faults(models[kind])
    yield from faults
    if not faults:
        yield from document.parsed(models[kind]).faults(document)
    if hex_map is not None:
        yield from _hex_faults(document, hex_map)
        if not faults:
            yield from document.parsed(models[kind]).faults_on(document, hex_map)


def faults_among(files: Mapping[str, Document], models: Models) -> Faults:
    """Yields where a game's files, each valid by itself, do not fit together."""
    for kind, document in files.items():
        yield from document.parsed(models[kind]).faults_among(document, files)


def options_with_files(
    options: Mapping[str, Any],
    game: str,
    models: Models,
    files: Mapping[str, Path],
    hex_map: HexMap | None = None,
) -> Json:
    """Returns the options of a new game with the contents of its files, each checked.

    `files` are paths by kind; for other kinds, an option already holds the contents.

    Raises:
        BadInput: A file cannot be read, or is not one of the game's.
    """
    complete = dict(options)
    documents: dict[str, Document] = {}
    for kind in models:
        if kind in files:
            document = read_toml(files[kind])
        elif kind in options:
            document = document_from(options[kind], kind)
        else:
            continue
        document.require(FORMATS[kind], VERSION)
        first_of(file_faults(document, game, models, hex_map))
        documents[kind] = document
        complete[kind] = dict(document.data)
    first_of(faults_among(documents, models))
    return complete


def files_among(options: Mapping[str, Any]) -> dict[str, Path]:
    """Returns the files that options name by a path instead of their contents."""
    return {
        key: Path(value)
        for key, value in options.items()
        if key in FORMATS and isinstance(value, str)
    }


@cache
def house_options(game: str) -> Mapping[str, Any]:
    """Returns the files of a game's house sample as options of a game."""
    texts = {kind: text_of(game, f"house.{kind}.toml") for kind in FORMATS}
    return {kind: tomllib.loads(text) for kind, text in texts.items() if text is not None}


def house_files(options: Mapping[str, Any]) -> tuple[str, ...]:
    """Returns the kinds of files whose numbers are invented."""
    return tuple(
        kind
        for kind in FORMATS
        if isinstance(contents := options.get(kind), Mapping) and contents.get("source") == "house"
    )


_HEX = re.compile(r"\d{4}")


def _hex_faults(document: Document, hex_map: HexMap) -> Iterator[BadInput]:
    """Yields hex numbers that are not on the map."""
    lines = {
        "C": (hex_map.first_column, hex_map.columns, "column"),
        "R": (hex_map.first_row, hex_map.rows, "row"),
    }
    for path, text in _texts(document.data):
        if not _HEX.fullmatch(text):
            continue
        for letter, digits in ((hex_map.numbering[0], text[:2]), (hex_map.numbering[2], text[2:])):
            first, count, what = lines[letter]
            if not first <= int(digits) < first + count:
                yield document.error(
                    path,
                    f"expected a hex of the map ({hex_map.numbering}, {what}s {first:02} to "
                    f"{first + count - 1:02}), got {text}",
                )
                break


def _texts(value: Any, path: KeyPath = ()) -> Iterator[tuple[KeyPath, str]]:
    """Yields every text in a document with its path."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Mapping | list):
        items = value.items() if isinstance(value, Mapping) else enumerate(value)
        for key, item in items:
            yield from _texts(item, (*path, key))
