"""Pydantic models and checks shared by the table file and the position document."""

from __future__ import annotations

import difflib
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import fields
from typing import Annotated, Any, Literal

import shapely
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from tablecam.documents import Document
from tablecam.errors import BadInput
from tablecam.table.model import (
    FARTHEST_MM,
    HexMap,
    Shape,
    TableNeeds,
    TableSize,
    Terrain,
)
from tablecam.toml_lines import KeyPath
from tablecam.wording import CONTROL_CHARACTERS, nearest, quoted

Positive = Annotated[float, Field(gt=0, le=FARTHEST_MM)]
NotNegative = Annotated[float, Field(ge=0, le=FARTHEST_MM)]
Size = Annotated[float, Field(ge=1.0, le=FARTHEST_MM)]
"""A base's side: at least 1 mm."""
Coordinate = Annotated[float, Field(ge=-FARTHEST_MM, le=FARTHEST_MM)]


_CONTROL_CATEGORIES = frozenset({"Cc", "Zl", "Zp"})
"""Unicode categories of line breaks and other control characters."""


def _single_line(name: str) -> str:
    if CONTROL_CHARACTERS.search(name) or any(
        unicodedata.category(character) in _CONTROL_CATEGORIES for character in name
    ):
        raise ValueError(f"expected a text of one line, got {quoted(name)}")
    return name


Name = Annotated[str, Field(min_length=1, max_length=100), AfterValidator(_single_line)]
"""A text of one line, because pages, tables and logs show it in one."""
Coordinates = Annotated[list[Coordinate], Field(min_length=2, max_length=2)]


class StrictModel(BaseModel):
    """A frozen model that rejects unknown keys and converts no types."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


class OpenModel(StrictModel):
    """A model whose further keys are a game's own, and preserved."""

    model_config = ConfigDict(extra="allow")

    @property
    def extra(self) -> dict[str, Any]:
        """The keys that are not common to all games."""
        return self.model_extra or {}


class FootprintSection(StrictModel):
    """The size and shape of a base; a round one may state `diameter_mm` instead of its sides."""

    width_mm: Size
    depth_mm: Size
    shape: Shape = "rectangle"

    @model_validator(mode="before")
    @classmethod
    def _from_diameter(cls, data: Any) -> Any:
        if not isinstance(data, Mapping):
            return data
        is_round, sides = data.get("shape") == "round", {"width_mm", "depth_mm"} & data.keys()
        if "diameter_mm" not in data:
            if is_round and (not sides or data.get("width_mm") != data.get("depth_mm")):
                raise ValueError("expected diameter_mm, as the base is round")
            return data
        if sides:
            raise ValueError("expected diameter_mm alone, without width_mm and depth_mm")
        if data.get("shape", "rectangle") in ("rectangle", "oval"):
            raise ValueError('expected shape = "round" with diameter_mm')
        plain = {key: value for key, value in data.items() if key != "diameter_mm"}
        return plain | dict.fromkeys(("width_mm", "depth_mm"), data["diameter_mm"])


class TableSection(StrictModel):
    """The section `[table]`."""

    width_mm: Positive
    depth_mm: Positive
    base_width_mm: Size | None = None
    tolerance_mm: NotNegative = 0.0
    inch_mm: Annotated[float, Field(ge=1.0, le=100.0)] = 25.4
    measure_in: Literal["BW", "in", "cm"] | None = None

    def to_size(self, hex_map: MapSection | None) -> TableSize:
        """Returns the frozen `TableSize`."""
        # The table file's section has further keys.
        sizes = self.model_dump(include={field.name for field in fields(TableSize)})
        return TableSize(**sizes, hex_map=None if hex_map is None else hex_map.to_map())


MOST_HEXES = 99
"""The largest number of a column or row: a hex's number has two digits for each."""

Line = Annotated[int, Field(ge=0, le=MOST_HEXES)]


class MapSection(StrictModel):
    """The section `[map]`, for games on a printed hex map."""

    orientation: Literal["flat", "pointy"]
    hex_size_mm: Size
    origin_mm: Coordinates
    rotation_deg: float = 0.0
    columns: Annotated[int, Field(ge=1)]
    rows: Annotated[int, Field(ge=1)]
    first_column: Line = 1
    first_row: Line = 1
    numbering: Literal["CCRR", "RRCC"]
    shifted: Literal["even", "odd"]

    def to_map(self) -> HexMap:
        """Returns the frozen `HexMap`."""
        x_mm, y_mm = self.origin_mm
        return HexMap(**{**self.model_dump(), "origin_mm": (x_mm, y_mm)})


class TerrainSection(OpenModel):
    """An entry of `[[terrain]]`; a game's additional keys are preserved."""

    id: Name
    kind: Name
    outline_mm: Annotated[list[Coordinates], Field(min_length=3)]
    height_mm: NotNegative | None = None

    def to_terrain(self) -> Terrain:
        """Returns the frozen `Terrain`."""
        outline = tuple((x, y) for x, y in self.outline_mm)
        return Terrain(self.id, self.kind, outline, self.height_mm, self.extra)


Faults = Iterator[BadInput]


Games = Mapping[str, TableNeeds] | Collection[str]
"""The games that a document may state: their names, or what each needs of its table."""


def needs_of(document: Document, games: Games) -> TableNeeds:
    """Returns what a document's game requires of its table; nothing if only names are given.

    Raises:
        BadInput: The game is missing or none of `games`.
    """
    game = document.data.get("game")
    if game is None:
        raise document.error(("game",), "expected this key, but it is missing")
    if not isinstance(game, str) or game not in games:
        raise document.error(("game",), f"unknown game {quoted(game)}{nearest(str(game), games)}")
    return games[game] if isinstance(games, Mapping) else TableNeeds()


def table_faults(
    document: Document,
    needs: TableNeeds,
    table: TableSection,
    hex_map: MapSection | None,
    terrain: list[TerrainSection],
) -> Faults:
    """Yields faults of the table itself: its lengths, its map and its terrain."""
    game = document.data["game"]
    if table.base_width_mm is None and (needs.base_width or table.measure_in == "BW"):
        why = f"{game} measures in base widths" if needs.base_width else "measure_in names it"
        yield document.error(
            ("table", "base_width_mm"), f"expected this key, but it is missing: {why}"
        )
    if hex_map is None and needs.hex_map:
        yield document.error(
            ("map",), f"expected where the hexes lie, but it is missing: {game} is played on them"
        )
    if hex_map is not None:
        yield from _map_faults(document, needs, hex_map)
    yield from id_faults(
        document, ((("terrain", index, "id"), piece.id) for index, piece in enumerate(terrain))
    )
    yield from _outline_faults(document, terrain)
    for index, piece in enumerate(terrain):
        yield from mistyped_keys(document, ("terrain", index), piece)


def _map_faults(document: Document, needs: TableNeeds, hex_map: MapSection) -> Faults:
    if needs.hex_map is False:
        game = document.data["game"]
        yield document.error(("map",), f"expected no [map]: {game} is not played on hexes")
    for key, first, count in (
        ("columns", hex_map.first_column, hex_map.columns),
        ("rows", hex_map.first_row, hex_map.rows),
    ):
        last = first + count - 1
        if last > MOST_HEXES:
            yield document.error(
                ("map", key),
                f"expected {key} up to number {MOST_HEXES}, as two digits of a hex's number "
                f"name them, got {first} to {last}",
            )


def _outline_faults(document: Document, terrain: list[TerrainSection]) -> Faults:
    for index, piece in enumerate(terrain):
        polygon = shapely.Polygon(piece.outline_mm)
        # Self-crossing outlines have no well-defined inside.
        if not polygon.is_valid or polygon.area == 0:
            why = shapely.is_valid_reason(polygon) if polygon.area else "it encloses no area"
            yield document.error(
                ("terrain", index, "outline_mm"),
                f"expected an outline that does not cross itself, got {piece.id}: {why}",
            )


def mistyped_keys(document: Document, path: KeyPath, section: OpenModel) -> Faults:
    """Yields further keys that nearly match a common key: typing errors.

    A game may use any other.
    """
    for key in section.extra:
        common = type(section).model_fields
        # No required key is missing.
        known = [name for name in common if not common[name].is_required()]
        close = difflib.get_close_matches(key, known, n=1, cutoff=0.8)
        for meant in close or [name for name in known if name == f"{key}_mm"]:
            yield document.error((*path, key), f"unknown key; did you mean {meant}?")


def id_faults(document: Document, ids: Iterable[tuple[KeyPath, str]]) -> Faults:
    """Yields duplicate ids and ids that a reference such as `F1/2` cannot contain."""
    seen: dict[str, KeyPath] = {}
    for path, name in ids:
        if "/" in name or name != name.strip():
            yield document.error(
                path, f"expected an id without / and without spaces around it, got {quoted(name)}"
            )
        elif name in seen:
            first = document.place(seen[name])
            yield document.error(path, f"the id {quoted(name)} is used twice: first by {first}")
        else:
            seen[name] = path


def first_of(faults: Faults) -> None:
    """Raises the first of some faults, if there is one.

    Raises:
        BadInput: As the fault says.
    """
    for fault in faults:
        raise fault
