"""The parts that a table file and a position have in common, as pydantic models."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Mapping
from typing import Annotated

import shapely
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from tablecam.documents import Document
from tablecam.table.model import FARTHEST_MM, GAMES, TableSize, Terrain
from tablecam.toml_lines import KeyPath
from tablecam.wording import STEERING, nearest, quoted

Positive = Annotated[float, Field(gt=0, le=FARTHEST_MM)]
NotNegative = Annotated[float, Field(ge=0, le=FARTHEST_MM)]
Size = Annotated[float, Field(ge=1.0, le=FARTHEST_MM)]
"""Of a base: nobody cuts one of less than a millimetre."""
Coordinate = Annotated[float, Field(ge=-FARTHEST_MM, le=FARTHEST_MM)]


_NO_LETTERS = frozenset({"Cc", "Zl", "Zp"})
"""Breaks of lines and other control characters."""


def _of_one_line(name: str) -> str:
    if STEERING.search(name) or any(unicodedata.category(each) in _NO_LETTERS for each in name):
        raise ValueError(f"expected a text of one line, got {quoted(name)}")
    return name


Name = Annotated[str, Field(min_length=1, max_length=100), AfterValidator(_of_one_line)]
"""Of one line, as pages, tables and logs show it; nobody reads longer ones."""
Coordinates = Annotated[list[Coordinate], Field(min_length=2, max_length=2)]


class StrictModel(BaseModel):
    """Knows its keys, and takes text for text and numbers for numbers."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, allow_inf_nan=False)


class TableSection(StrictModel):
    """`[table]`."""

    width_mm: Positive
    depth_mm: Positive
    base_width_mm: Size
    tolerance_mm: NotNegative = 0.0

    def to_size(self) -> TableSize:
        """The frozen fact."""
        return TableSize(self.width_mm, self.depth_mm, self.base_width_mm, self.tolerance_mm)


class TerrainSection(StrictModel):
    """One `[[terrain]]`."""

    id: Name
    kind: Name
    outline_mm: Annotated[list[Coordinates], Field(min_length=3)]
    height_mm: NotNegative | None = None

    def to_terrain(self) -> Terrain:
        """The frozen fact."""
        outline = tuple((x, y) for x, y in self.outline_mm)
        return Terrain(self.id, self.kind, outline, self.height_mm)


def check_game(document: Document, games: Collection[str] = GAMES) -> None:
    """Refuse a document of a game that there is not, or not among those expected.

    Raises:
        BadInput: Naming the games that there are.
    """
    game = document.data.get("game")
    if game is not None and game not in games:
        raise document.error(("game",), f"unknown game {quoted(game)}{nearest(str(game), games)}")


def check_outlines(document: Document, terrain: list[TerrainSection]) -> None:
    """Refuse terrain whose outline crosses itself or covers nothing.

    Raises:
        BadInput: Naming the outline and where it is wrong.
    """
    for index, piece in enumerate(terrain):
        polygon = shapely.Polygon(piece.outline_mm)
        if not polygon.is_valid or polygon.area == 0:
            why = shapely.is_valid_reason(polygon) if polygon.area else "it covers nothing"
            raise document.error(
                ("terrain", index, "outline_mm"),
                f"expected an outline that does not cross itself, got {piece.id}: {why}",
            )


def check_extra(document: Document, path: KeyPath, extra: Mapping[str, object]) -> None:
    """Refuse keys named by a game that do not hold one plain value each.

    Raises:
        BadInput: Naming the key.
    """
    for key, value in extra.items():
        if not isinstance(value, str | int | float):
            raise document.error(
                (*path, key), f"expected text, a number, true or false, got {quoted(value)}"
            )


def check_ids(document: Document, ids: list[tuple[KeyPath, str]]) -> None:
    """Refuse two things of one name, and names that cannot be written in a reference.

    Raises:
        BadInput: Naming the second of the two, and where the first is.
    """
    seen: dict[str, KeyPath] = {}
    for path, name in ids:
        if "/" in name or name != name.strip():
            raise document.error(
                path, f"expected an id without / and without spaces around it, got {quoted(name)}"
            )
        if name in seen:
            first = document.place(seen[name])
            raise document.error(path, f"the id {quoted(name)} is used twice: first by {first}")
        seen[name] = path
