"""Masks: parts of a table that the camera ignores, such as books and snacks.

They have their own file beside the table file (`table.masks.json` beside `table.toml`), because the
page writes it while people play.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import shapely
from pydantic import Field

from tablecam.documents import read_json
from tablecam.errors import BadInput
from tablecam.table.model import Mask, TableSize
from tablecam.table.sections import Coordinates, StrictModel

FORMAT, VERSION = "tablecam-masks", 1
MOST_MASKS = 32


class MasksFile(StrictModel):
    """A whole masks file."""

    format: str
    version: int
    masks: Annotated[
        list[Annotated[list[Coordinates], Field(min_length=3)]], Field(max_length=MOST_MASKS)
    ]


def masks_path(table_path: Path) -> Path:
    """Returns the path of the masks that belong to a table file."""
    return table_path.with_suffix(".masks.json")


def read_masks(table_path: Path) -> tuple[Mask, ...]:
    """Returns the masks that belong to a table file; none without a masks file.

    Raises:
        BadInput: Names the file, the key and what was expected.
    """
    path = masks_path(table_path)
    if not path.exists():
        return ()
    document = read_json(path)
    document.require(FORMAT, VERSION)
    file = document.parsed(MasksFile)
    return tuple(tuple((x, y) for x, y in outline_mm) for outline_mm in file.masks)


def masks_document(masks: Sequence[Mask]) -> str:
    """Returns the text of a masks file."""
    return json.dumps({"format": FORMAT, "version": VERSION, "masks": masks}, indent=1) + "\n"


def check_mask(mask: Mask, table: TableSize) -> None:
    """Refuses an outline that crosses itself, is empty or lies beside the table.

    Raises:
        BadInput: Says which.
    """
    polygon = shapely.Polygon(mask)
    if not polygon.is_valid or polygon.area == 0:
        raise BadInput("mask", "expected an outline that encloses an area without crossing itself")
    if not polygon.intersects(shapely.box(0, 0, table.width_mm, table.depth_mm)):
        raise BadInput("mask", "expected an outline on the table, got one beside it")


def lies_in(x_mm: float, y_mm: float, masks: Sequence[Mask]) -> bool:
    """Whether a place lies in one of the masks."""
    place = shapely.Point(x_mm, y_mm)
    return any(shapely.Polygon(mask).covers(place) for mask in masks)
