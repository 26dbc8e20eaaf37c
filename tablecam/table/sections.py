"""Pydantic models and checks shared by the table file and the position document."""

from __future__ import annotations

import unicodedata
from collections.abc import Collection, Mapping
from dataclasses import fields
from typing import Annotated

import shapely
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from tablecam.documents import Document
from tablecam.table.model import FARTHEST_MM, GAMES, TableSize, Terrain
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


class TableSection(StrictModel):
    """The section `[table]`."""

    width_mm: Positive
    depth_mm: Positive
    base_width_mm: Size
    tolerance_mm: NotNegative = 0.0
    inch_mm: Annotated[float, Field(ge=1.0, le=100.0)] = 25.4

    def to_size(self) -> TableSize:
        """Returns the frozen `TableSize`."""
        # The table file's section has further keys.
        sizes = self.model_dump(include={field.name for field in fields(TableSize)})
        return TableSize(**sizes)


class TerrainSection(StrictModel):
    """An entry of `[[terrain]]`."""

    id: Name
    kind: Name
    outline_mm: Annotated[list[Coordinates], Field(min_length=3)]
    height_mm: NotNegative | None = None

    def to_terrain(self) -> Terrain:
        """Returns the frozen `Terrain`."""
        outline = tuple((x, y) for x, y in self.outline_mm)
        return Terrain(self.id, self.kind, outline, self.height_mm)


def check_game(document: Document, games: Collection[str] = GAMES) -> None:
    """Refuses a document whose game is not among `games`.

    Raises:
        BadInput: Names the known games.
    """
    game = document.data.get("game")
    if game is not None and game not in games:
        raise document.error(("game",), f"unknown game {quoted(game)}{nearest(str(game), games)}")


def check_outlines(document: Document, terrain: list[TerrainSection]) -> None:
    """Refuses terrain whose outline crosses itself or has no area.

    Raises:
        BadInput: Names the outline and where it is wrong.
    """
    for index, piece in enumerate(terrain):
        polygon = shapely.Polygon(piece.outline_mm)
        # Self-crossing outlines have no well-defined inside.
        if not polygon.is_valid or polygon.area == 0:
            why = shapely.is_valid_reason(polygon) if polygon.area else "it encloses no area"
            raise document.error(
                ("terrain", index, "outline_mm"),
                f"expected an outline that does not cross itself, got {piece.id}: {why}",
            )


def check_extra(document: Document, path: KeyPath, extra: Mapping[str, object]) -> None:
    """Refuses additional keys whose value is not a text, number or boolean.

    Raises:
        BadInput: Names the key.
    """
    for key, value in extra.items():
        # A `bool` is an `int`, too.
        if not isinstance(value, str | int | float):
            raise document.error(
                (*path, key), f"expected text, a number, true or false, got {quoted(value)}"
            )


def check_ids(document: Document, ids: list[tuple[KeyPath, str]]) -> None:
    """Refuses duplicate ids and ids that a reference such as `F1/2` cannot contain.

    Raises:
        BadInput: Names the second of two duplicates and the place of the first.
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
