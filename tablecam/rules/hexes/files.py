"""The hex map file: the terrain of a printed map, hex by hex and hexside by hexside."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import AfterValidator, ConfigDict, Field

from tablecam.documents import Document, document_from
from tablecam.errors import BadInput
from tablecam.rules.game_files import Check, GameFile, Models, faults_among, file_faults
from tablecam.rules.hexes.grid import Grid, Hex, grid_of
from tablecam.table.model import HexMap
from tablecam.table.sections import Faults, Name, first_of
from tablecam.toml_lines import KeyPath
from tablecam.wording import nearest, quoted


def _digits(number: str) -> str:
    if not (len(number) == 4 and number.isdigit()):
        raise ValueError(f"expected the four digits of a hex, got {quoted(number)}")
    return number


HexNumber = Annotated[str, AfterValidator(_digits)]
Pair = Annotated[list[HexNumber], Field(min_length=2, max_length=2)]
Sides = Mapping[frozenset[Hex], str]


class HexMapFile(GameFile):
    """A file of the format `tablecam.hexmap`; each extra key is a terrain with its hexes.

    All other hexes have the terrain `default`. `hexsides` are pairs of hexes by kind, `edges` lists
    of hexes by the name of those who enter there, `returns` a hex by side.
    """

    model_config = ConfigDict(extra="allow")

    default: Name
    hexsides: dict[str, list[Pair]] = Field(default_factory=dict)
    edges: dict[str, list[HexNumber]] = Field(default_factory=dict)
    returns: dict[str, HexNumber] = Field(default_factory=dict)

    @property
    def terrain(self) -> dict[str, Any]:
        """The hexes of each terrain that is not the default."""
        return self.model_extra or {}

    def ground(self, grid: Grid) -> Ground:
        """Returns the ground that it describes; a game adds its paths and secondary terrain."""
        return Ground(
            grid,
            self.default,
            {number: kind for kind, hexes in self.terrain.items() for number in hexes},
            {frozenset(pair): kind for kind, pairs in self.hexsides.items() for pair in pairs},
            {name: tuple(hexes) for name, hexes in self.edges.items()},
            dict(self.returns),
        )

    def checks(self) -> Iterator[Check]:
        """Yields the checks that terrains are lists of hexes, and that no hex has two."""
        owners: dict[str, str] = {}
        for kind, hexes in self.terrain.items():
            is_list = isinstance(hexes, list) and all(isinstance(n, str) for n in hexes)
            yield (kind,), is_list, f"expected a list of hexes, got {quoted(hexes)}"
            for index, number in enumerate(hexes if is_list else ()):
                is_hex = len(number) == 4 and number.isdigit()
                why = f"expected the four digits of a hex, got {quoted(number)}"
                yield (kind, index), is_hex, why
                why = f"expected one terrain for {number}, {owners.get(number)} too"
                yield (kind, index), not is_hex or number not in owners, why
                owners[number] = kind

    def faults_on(self, document: Document, hex_map: HexMap) -> Faults:
        """Yields hexsides of hexes that do not touch on a map."""
        grid = grid_of(hex_map)
        for kind, pairs in self.hexsides.items():
            for index, (one, other) in enumerate(pairs):
                is_there = one in grid and other in grid
                if is_there and grid.direction_deg(one, other) is None:
                    yield document.error(
                        ("hexsides", kind, index),
                        f"expected two hexes that touch, got {one} and {other}",
                    )

    def faults_among(self, document: Document, files: Mapping[str, Document]) -> Faults:
        """Yields terrains and hexsides that the game's charts do not describe."""
        if "charts" not in files:
            return
        terrains: list[tuple[KeyPath, str]] = [(("default",), self.default)]
        terrains += [((kind,), kind) for kind in self.terrain]
        sides: list[tuple[KeyPath, str]] = [(("hexsides", kind), kind) for kind in self.hexsides]
        for section, paths in (("terrain", terrains), ("hexside", sides)):
            known = files["charts"].data.get(section, {})
            for path, kind in paths:
                if kind not in known:
                    expected = f"expected a kind of the charts ({', '.join(known)})"
                    yield document.error(
                        path, f"{expected}, got {quoted(kind)}{nearest(kind, known)}"
                    )


@dataclass(frozen=True)
class Ground:
    """What a map says about its hexes and hexsides, and about paths from hex to hex.

    `secondary` is a hex's terrain besides its main one.
    """

    grid: Grid
    default: str
    terrain: Mapping[Hex, str]
    sides: Sides
    edges: Mapping[str, tuple[Hex, ...]] = field(default_factory=dict)
    returns: Mapping[str, Hex] = field(default_factory=dict)
    paths: Sides = field(default_factory=dict)
    secondary: Mapping[Hex, tuple[str, ...]] = field(default_factory=dict)

    def terrain_of(self, number: Hex) -> str:
        """Returns the terrain of a hex."""
        return self.terrain.get(number, self.default)

    def side_of(self, one: Hex, other: Hex) -> str | None:
        """Returns what runs along the side between two hexes, None if nothing does."""
        return self.sides.get(frozenset((one, other)))


def checked_files(
    files: Mapping[str, Any], game: str, models: Models, hex_map: HexMap
) -> dict[str, Document]:
    """Returns the files of a game on a map, checked each by itself and together.

    Raises:
        BadInput: Names the file and key, and what was expected.
    """
    for kind in models:
        if kind not in files:
            why = (
                f"expected the {kind} file, named under [files] in the table file: copy "
                f"empty.{kind}.toml of the rules of {game} and fill it in, or begin with "
                f"the house sample of invented numbers (house.{kind}.toml)"
            )
            raise BadInput("options", why, key=kind)
    documents = {kind: document_from(files[kind], kind) for kind in models}
    for document in documents.values():
        first_of(file_faults(document, game, models, hex_map))
    first_of(faults_among(documents, models))
    return documents
