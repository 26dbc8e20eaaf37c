"""The bodies of requests, validated key by key."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeVar

from flask import request
from pydantic import BaseModel, Field, field_validator, model_validator

from tablecam.documents import json_request
from tablecam.referee.intents import TieBreak
from tablecam.table.model import FARTHEST_MM, Mask
from tablecam.table.sections import StrictModel

MOST_BUMP_PX = 100.0
"""A larger bump would mean a fallen camera."""


Body = TypeVar("Body", bound=BaseModel)


def request_body(body: type[Body], source: str) -> Body:
    """Returns the body of the current request; `source` is its name in errors.

    Raises:
        BadInput: Names the key, what was expected and what was found.
    """
    return json_request(request.get_data(), source).parsed(body)


class TakeOff(StrictModel):
    """A thing that left the table while hidden: a unit, a base or a commander."""

    thing: str = Field(min_length=1)


class Dispute(StrictModel):
    """The id of a disputed question on a sheet, and the active side."""

    question: str = Field(min_length=1, max_length=200)
    active: str = Field(min_length=1)


class Bump(StrictModel):
    """A shift of the camera over a simulated table, in pixels of its picture."""

    right_px: float = Field(ge=-MOST_BUMP_PX, le=MOST_BUMP_PX)
    down_px: float = Field(ge=-MOST_BUMP_PX, le=MOST_BUMP_PX)


class Light(StrictModel):
    """The brightness of the lamp over a simulated table, from 0 to 1."""

    light: float = Field(ge=0, le=1)


class KeepTape(StrictModel):
    """The two things that a tape lies between."""

    a: str = Field(min_length=1, max_length=100)
    b: str = Field(min_length=1, max_length=100)


Place = Annotated[float, Field(ge=-FARTHEST_MM, le=FARTHEST_MM)]
MaskCorner = Annotated[list[Place], Field(min_length=2, max_length=2)]


class MaskPart(StrictModel):
    """The outline of a part of the table to ignore, or to stop ignoring."""

    outline_mm: list[MaskCorner] = Field(min_length=3, max_length=64)

    @property
    def mask(self) -> Mask:
        """The outline as tuples."""
        return tuple((x_mm, y_mm) for x_mm, y_mm in self.outline_mm)


class PingAt(StrictModel):
    """A place on the table."""

    x_mm: Place
    y_mm: Place


class Move(StrictModel):
    """A new place for a unit of a simulated table: its middle and heading."""

    unit: str = Field(min_length=1)
    x_mm: float = Field(ge=-FARTHEST_MM, le=FARTHEST_MM)
    y_mm: float = Field(ge=-FARTHEST_MM, le=FARTHEST_MM)
    heading_deg: float


class MoveTogether(StrictModel):
    """New places for units of a simulated table that move as one."""

    moves: list[Move] = Field(min_length=1, max_length=64)


class Lifted(StrictModel):
    """A unit, or its base with a tag, to take off a simulated table or put back."""

    unit: str = Field(min_length=1, max_length=100)
    tag: int | None = None


class Lay(StrictModel):
    """The unit or commander to put in its place on a simulated table; None for everything.

    One whose move is legal stays, unless players want it `back`.
    """

    unit: str | None = Field(default=None, min_length=1, max_length=100)
    back: bool = False


class TakeSeat(StrictModel):
    """The seat that a player at a shared screen takes."""

    seat: str = Field(min_length=1, max_length=100)


class Begin(StrictModel):
    """The options of a new game; their keys are the game's."""

    options: dict[str, Any] = Field(default_factory=dict)

    @field_validator("options")
    @classmethod
    def _names_no_file(cls, options: dict[str, Any]) -> dict[str, Any]:
        """Refuses file names: a page must not make this machine read a file, only a named deck."""
        for key, value in options.items():
            if isinstance(value, str) and value.casefold().endswith(".toml"):
                raise ValueError(f"{key}: expected a name, got a file")
        return options


class Agree(StrictModel):
    """The number of the proposal that a player agrees to."""

    proposal: int = Field(ge=1)


class Act(StrictModel):
    """An action, and the version of the game that the player saw.

    An offered action may contain that version itself (`at`).
    """

    action: dict[str, Any]
    version: int | None = None


class Confirm(StrictModel):
    """A unit whose move by hand the player confirms."""

    unit: str = Field(min_length=1, max_length=100)
    version: int | None = None
    way: TieBreak = "seen"


class ConfirmAll(StrictModel):
    """The units whose moves by hand were offered together, in order."""

    units: list[str] = Field(min_length=2, max_length=100)
    version: int | None = None


class Accept(StrictModel):
    """The units and commanders to accept where they lie, and why."""

    units: list[str] = Field(min_length=1, max_length=100)
    why: str = Field(default="", max_length=200)
    version: int | None = None


class Intend(StrictModel):
    """An intended place of a unit, declared before its move."""

    unit: str = Field(min_length=1, max_length=100)
    of: str = Field(min_length=1, max_length=100)
    range_bw: float | None = Field(default=None, gt=0, le=100)
    limit: float | None = Field(default=None, gt=0, le=1000)
    symbol: Literal["BW", "in", "cm"] = "BW"
    is_within: bool
    version: int | None = None


class Foresee(StrictModel):
    """A unit, and where each of its bases would lie: x and y in mm, and the heading in degrees."""

    unit: str = Field(min_length=1)
    poses: list[Annotated[list[float], Field(min_length=3, max_length=3)]] = Field(
        min_length=1, max_length=100
    )
    version: int | None = None


class Undo(StrictModel):
    """How many actions to undo, or the first of them by its number in the log."""

    steps: int = Field(default=1, ge=1)
    deed: int | None = Field(default=None, ge=0)
    version: int | None = None


class AtVersion(StrictModel):
    """A request without data of its own."""

    version: int | None = None


class Correct(StrictModel):
    """The true values of dice or the true choice of an action, by its number in the log."""

    deed: int = Field(ge=0)
    values: list[int] | None = Field(default=None, min_length=1, max_length=200)
    action: dict[str, Any] | None = None
    why: str = Field(default="", max_length=200)
    version: int | None = None

    @model_validator(mode="after")
    def _is_one_of_two(self) -> Correct:
        if (self.values is None) == (self.action is None):
            raise ValueError("expected either the dice's values or an action")
        return self
