"""Charted: Skirmish with the range and the wounds of a chart that its owner fills in."""

from __future__ import annotations

from types import MappingProxyType
from typing import Annotated, Final

from pydantic import Field

from tablecam.errors import BadInput
from tablecam.rules.game_files import GameFile
from tablecam.table.sections import StrictModel
from tests.rules.systems.skirmish.game import Skirmish

Die = Annotated[int, Field(ge=0, le=9)]


class Row(StrictModel):
    start: Annotated[Die, Field(alias="from")]
    to: Die
    result: str


class Fire(StrictModel):
    range_in: float
    rows: list[Row]


class Charts(GameFile):
    fire: Fire

    def faults(self, document):
        rolled = [die for row in self.fire.rows for die in range(row.start, row.to + 1)]
        for die in range(10):
            if rolled.count(die) != 1:
                expected = f"expected one row for a roll of {die}, got {rolled.count(die)}"
                yield document.error(("fire", "rows"), expected)


class Charted(Skirmish):
    name: Final = "charted"
    file_models: Final = MappingProxyType({"charts": Charts})

    def begin(self, position, options):
        options = dict(options)
        if "charts" not in options:
            raise BadInput("options", "expected the owner's charts", key="charts")
        self.charts = options.pop("charts")
        return super().begin(position, options)


GAME: Final = Charted()
