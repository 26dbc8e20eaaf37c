"""The bodies of the replay page's requests about a branch, validated key by key."""

from __future__ import annotations

from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field

_Name = Annotated[str, Field(min_length=1, max_length=100)]
_Number = Annotated[float, Field(ge=-100_000, le=100_000)]
_Place = tuple[_Number, _Number, _Number]
_Places = Annotated[list[_Place], Field(max_length=64)]


class OfBranch(BaseModel):
    """A moment of the recording, by its entry, with the bases of some units placed elsewhere."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    moment: int = Field(ge=1)
    laid: Annotated[dict[_Name, _Places], Field(max_length=200)] = Field(default_factory=dict)


class MeasuredBranch(OfBranch):
    """Two things to measure between."""

    a: _Name
    b: _Name


class AboutBranch(OfBranch):
    """A thing to explain."""

    thing: _Name


class SheetOfBranch(OfBranch):
    """A unit or two, and the active side."""

    a: _Name
    b: _Name | None = None
    active: _Name


class OddsOfBranch(OfBranch):
    """The request whose chances are asked for, in the game's own format."""

    wanted: dict[_Name, Any]


Asked = TypeVar("Asked", bound=OfBranch)
