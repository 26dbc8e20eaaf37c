"""What a page may send, key by key."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field


class TakeOff(BaseModel):
    """What has left the table while it was hidden: a unit, a base or a commander."""

    model_config = ConfigDict(extra="forbid", strict=True)

    thing: str = Field(min_length=1)


class Move(BaseModel):
    """Where a unit of a simulated table is to be put: its middle, and the way that it faces."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

    unit: str = Field(min_length=1)
    x_mm: float
    y_mm: float
    heading_deg: float
