"""What a page may send, key by key."""

from __future__ import annotations

from typing import Any, TypeVar

from flask import request
from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from tablecam.documents import json_request
from tablecam.referee.ways import Way
from tablecam.table.model import FARTHEST_MM

MOST_BUMP_PX = 100.0
"""More would be no bump, but a camera that has fallen."""


Body = TypeVar("Body", bound=BaseModel)


def asked(body: type[Body], source: str) -> Body:
    """What the current request asks for; `source` is what errors call it.

    Raises:
        BadInput: Naming the key, what was expected and what came.
    """
    return json_request(request.get_data(), source).parsed(body)


class TakeOff(BaseModel):
    """What has left the table while it was hidden: a unit, a base or a commander."""

    model_config = ConfigDict(extra="forbid", strict=True)

    thing: str = Field(min_length=1)


class Dispute(BaseModel):
    """Which of a sheet's questions players dispute, by its id, and whose round it is."""

    model_config = ConfigDict(extra="forbid", strict=True)

    question: str = Field(min_length=1, max_length=200)
    active: str = Field(min_length=1)


class Bump(BaseModel):
    """How far the camera over a simulated table is knocked aside, in its picture."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    right_px: float = Field(ge=-MOST_BUMP_PX, le=MOST_BUMP_PX)
    down_px: float = Field(ge=-MOST_BUMP_PX, le=MOST_BUMP_PX)


class Light(BaseModel):
    """How much of its light the lamp over a simulated table is to give."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    light: float = Field(ge=0, le=1)


class Move(BaseModel):
    """Where a unit of a simulated table is to be put: its middle, and the way that it faces."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    unit: str = Field(min_length=1)
    x_mm: float = Field(ge=-FARTHEST_MM, le=FARTHEST_MM)
    y_mm: float = Field(ge=-FARTHEST_MM, le=FARTHEST_MM)
    heading_deg: float


class Lifted(BaseModel):
    """A unit that is taken off a simulated table or put back, or only its base of a tag."""

    model_config = ConfigDict(extra="forbid", strict=True)

    unit: str = Field(min_length=1, max_length=100)
    tag: int | None = None


class TakeSeat(BaseModel):
    """Which seat somebody at a shared screen takes."""

    model_config = ConfigDict(extra="forbid", strict=True)

    seat: str = Field(min_length=1, max_length=100)


class Begin(BaseModel):
    """How players have agreed to play; the keys are the game's."""

    model_config = ConfigDict(extra="forbid", strict=True)

    options: dict[str, Any] = Field(default_factory=dict)

    @field_validator("options")
    @classmethod
    def _names_no_file(cls, options: dict[str, Any]) -> dict[str, Any]:
        """A page in somebody else's hands has no file of this computer read: a deck is by name."""
        for key, value in options.items():
            if isinstance(value, str) and value.casefold().endswith(".toml"):
                raise ValueError(f"{key}: expected a name, got a file")
        return options


class Agree(BaseModel):
    """The number of the proposal that is agreed to."""

    model_config = ConfigDict(extra="forbid", strict=True)

    proposal: int = Field(ge=1)


class Act(BaseModel):
    """An action of the game's, and the version of the game that was looked at.

    An action that was offered may bring that version along itself (`at`).
    """

    model_config = ConfigDict(extra="forbid", strict=True)

    action: dict[str, Any]
    version: int | None = None


class Confirm(BaseModel):
    """The unit that a hand moved, as the player says."""

    model_config = ConfigDict(extra="forbid", strict=True)

    unit: str = Field(min_length=1, max_length=100)
    version: int | None = None
    way: Way = "seen"


class ConfirmAll(BaseModel):
    """The units that hands moved, in the order in which their moves were offered together."""

    model_config = ConfigDict(extra="forbid", strict=True)

    units: list[str] = Field(min_length=2, max_length=100)
    version: int | None = None


class Accept(BaseModel):
    """The units and commanders that are to stay where they lie, and why."""

    model_config = ConfigDict(extra="forbid", strict=True)

    units: list[str] = Field(min_length=1, max_length=100)
    why: str = Field(default="", max_length=200)
    version: int | None = None


class Intend(BaseModel):
    """Where a unit is going to be put, said before it is moved."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    unit: str = Field(min_length=1, max_length=100)
    of: str = Field(min_length=1, max_length=100)
    range_bw: float = Field(gt=0, le=100)
    is_within: bool
    version: int | None = None


class Undo(BaseModel):
    """How many actions are taken back, or the first of them by its place in the log."""

    model_config = ConfigDict(extra="forbid", strict=True)

    steps: int = Field(default=1, ge=1)
    deed: int | None = Field(default=None, ge=0)
    version: int | None = None


class Redo(BaseModel):
    """What was taken back is done again."""

    model_config = ConfigDict(extra="forbid", strict=True)

    version: int | None = None


class Correct(BaseModel):
    """Dice as they really came up, or what was really chosen, by the deed's place in the log."""

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
