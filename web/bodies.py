"""The bodies of requests, validated key by key."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeVar

from flask import request
from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from tablecam.documents import json_request
from tablecam.referee.intents import TieBreak
from tablecam.table.model import FARTHEST_MM, Mask

MOST_BUMP_PX = 100.0
"""A larger bump would mean a fallen camera."""


Body = TypeVar("Body", bound=BaseModel)


def request_body(body: type[Body], source: str) -> Body:
    """Returns the body of the current request; `source` is its name in errors.

    Raises:
        BadInput: Names the key, what was expected and what was found.
    """
    return json_request(request.get_data(), source).parsed(body)


class TakeOff(BaseModel):
    """A thing that left the table while hidden: a unit, a base or a commander."""

    model_config = ConfigDict(extra="forbid", strict=True)

    thing: str = Field(min_length=1)


class Dispute(BaseModel):
    """The id of a disputed question on a sheet, and the active side."""

    model_config = ConfigDict(extra="forbid", strict=True)

    question: str = Field(min_length=1, max_length=200)
    active: str = Field(min_length=1)


class Bump(BaseModel):
    """A shift of the camera over a simulated table, in pixels of its picture."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    right_px: float = Field(ge=-MOST_BUMP_PX, le=MOST_BUMP_PX)
    down_px: float = Field(ge=-MOST_BUMP_PX, le=MOST_BUMP_PX)


class Light(BaseModel):
    """The brightness of the lamp over a simulated table, from 0 to 1."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    light: float = Field(ge=0, le=1)


class KeepTape(BaseModel):
    """The two things that a tape lies between."""

    model_config = ConfigDict(extra="forbid", strict=True)

    a: str = Field(min_length=1, max_length=100)
    b: str = Field(min_length=1, max_length=100)


Place = Annotated[float, Field(ge=-FARTHEST_MM, le=FARTHEST_MM)]
MaskCorner = Annotated[list[Place], Field(min_length=2, max_length=2)]


class MaskPart(BaseModel):
    """The outline of a part of the table to ignore, or to stop ignoring."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    outline_mm: list[MaskCorner] = Field(min_length=3, max_length=64)

    @property
    def mask(self) -> Mask:
        """The outline as tuples."""
        return tuple((x_mm, y_mm) for x_mm, y_mm in self.outline_mm)


class PingAt(BaseModel):
    """A place on the table."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    x_mm: Place
    y_mm: Place


class Move(BaseModel):
    """A new place for a unit of a simulated table: its middle and heading."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    unit: str = Field(min_length=1)
    x_mm: float = Field(ge=-FARTHEST_MM, le=FARTHEST_MM)
    y_mm: float = Field(ge=-FARTHEST_MM, le=FARTHEST_MM)
    heading_deg: float


class MoveTogether(BaseModel):
    """New places for units of a simulated table that move as one."""

    model_config = ConfigDict(extra="forbid", strict=True)

    moves: list[Move] = Field(min_length=1, max_length=64)


class Lifted(BaseModel):
    """A unit, or its base with a tag, to take off a simulated table or put back."""

    model_config = ConfigDict(extra="forbid", strict=True)

    unit: str = Field(min_length=1, max_length=100)
    tag: int | None = None


class Lay(BaseModel):
    """The unit or commander to put in its place on a simulated table; None for everything.

    One whose move is legal stays, unless players want it `back`.
    """

    model_config = ConfigDict(extra="forbid", strict=True)

    unit: str | None = Field(default=None, min_length=1, max_length=100)
    back: bool = False


class TakeSeat(BaseModel):
    """The seat that a player at a shared screen takes."""

    model_config = ConfigDict(extra="forbid", strict=True)

    seat: str = Field(min_length=1, max_length=100)


class Begin(BaseModel):
    """The options of a new game; their keys are the game's."""

    model_config = ConfigDict(extra="forbid", strict=True)

    options: dict[str, Any] = Field(default_factory=dict)

    @field_validator("options")
    @classmethod
    def _names_no_file(cls, options: dict[str, Any]) -> dict[str, Any]:
        """Refuses file names: a page must not make this machine read a file, only a named deck."""
        for key, value in options.items():
            if isinstance(value, str) and value.casefold().endswith(".toml"):
                raise ValueError(f"{key}: expected a name, got a file")
        return options


class Agree(BaseModel):
    """The number of the proposal that a player agrees to."""

    model_config = ConfigDict(extra="forbid", strict=True)

    proposal: int = Field(ge=1)


class Act(BaseModel):
    """An action, and the version of the game that the player saw.

    An offered action may contain that version itself (`at`).
    """

    model_config = ConfigDict(extra="forbid", strict=True)

    action: dict[str, Any]
    version: int | None = None


class Confirm(BaseModel):
    """A unit whose move by hand the player confirms."""

    model_config = ConfigDict(extra="forbid", strict=True)

    unit: str = Field(min_length=1, max_length=100)
    version: int | None = None
    way: TieBreak = "seen"


class ConfirmAll(BaseModel):
    """The units whose moves by hand were offered together, in order."""

    model_config = ConfigDict(extra="forbid", strict=True)

    units: list[str] = Field(min_length=2, max_length=100)
    version: int | None = None


class Accept(BaseModel):
    """The units and commanders to accept where they lie, and why."""

    model_config = ConfigDict(extra="forbid", strict=True)

    units: list[str] = Field(min_length=1, max_length=100)
    why: str = Field(default="", max_length=200)
    version: int | None = None


class Intend(BaseModel):
    """An intended place of a unit, declared before its move."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    unit: str = Field(min_length=1, max_length=100)
    of: str = Field(min_length=1, max_length=100)
    range_bw: float | None = Field(default=None, gt=0, le=100)
    limit: float | None = Field(default=None, gt=0, le=1000)
    symbol: Literal["BW", "in", "cm"] = "BW"
    is_within: bool
    version: int | None = None


class Foresee(BaseModel):
    """A unit, and where each of its bases would lie: x and y in mm, and the heading in degrees."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    unit: str = Field(min_length=1)
    poses: list[Annotated[list[float], Field(min_length=3, max_length=3)]] = Field(
        min_length=1, max_length=100
    )
    version: int | None = None


class Undo(BaseModel):
    """How many actions to undo, or the first of them by its number in the log."""

    model_config = ConfigDict(extra="forbid", strict=True)

    steps: int = Field(default=1, ge=1)
    deed: int | None = Field(default=None, ge=0)
    version: int | None = None


class AtVersion(BaseModel):
    """A request without data of its own."""

    model_config = ConfigDict(extra="forbid", strict=True)

    version: int | None = None


class Correct(BaseModel):
    """The true values of dice or the true choice of an action, by its number in the log."""

    model_config = ConfigDict(extra="forbid", strict=True)

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
