"""Units and leaders as they stand: the numbers of the side that shows, and their state.

What belongs to a question or to a game in progress is the same dataclass, so that both call the
same rulings.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import AliasChoices, Field

from tablecam.rules.hexes.asking import HexName
from tablecam.rules.musket_saber.files import Allowance
from tablecam.rules.musket_saber.tables import BATTERY_MORALE, LEADER_MA, MOST_STACKED, Arm
from tablecam.rules.questions import FactError, NestedFacts

Place = Annotated[HexName | None, Field(validation_alias=AliasChoices("hex", "in_hex"))]
"""Its hex; None off the map."""
Size = Literal["brigade", "battalion", "squadron", "battery"]
LineKind = Literal["safe", "valid", "edge", "none"]
"""K-7.6: the best line of retreat; `edge` leads off the map alone."""


class Unit(NestedFacts):
    """A combat unit. `participates`, `primary` and `line` are its part in a combat."""

    id: str = "unit"
    side: str = ""
    arm: Arm = "infantry"
    size: Size = "brigade"
    formation: str = ""
    hex: Place = None
    cf: int | None = None
    paren: bool = False
    mr: int | None = None
    ma: Allowance | None = None
    bracket: bool = False
    steps: int = 1
    charge: int | None = None
    attack: int | None = None
    defence: int | None = None
    range: int | None = None
    red_dots: int = 0
    reduced: bool = False
    disrupted: bool = False
    ineffective: bool = False
    square: bool = False
    moved: bool = False
    marched: bool = False
    fought: bool = False
    charging: bool = False
    trt: int | None = None
    set_aside: bool = False
    captured: bool = False
    destroyed: bool = False
    exited: bool = False
    primary: bool = False
    participates: bool = True
    line: LineKind = "safe"

    @property
    def is_battery(self) -> bool:
        """Whether it is artillery (K-8.1)."""
        return self.arm == "artillery"

    @property
    def is_small(self) -> bool:
        """Whether it is a battalion or a squadron (K-2.7)."""
        return self.size in ("battalion", "squadron")

    @property
    def is_out(self) -> bool:
        """Whether it is captured, destroyed, off the map or set aside."""
        return self.captured or self.destroyed or self.exited or self.set_aside

    @property
    def face(self) -> Literal["front", "back"]:
        """The printed side of its counter that shows (K-G4)."""
        return "back" if self.reduced or self.ineffective else "front"

    @property
    def flips(self) -> bool:
        """Whether its back side is an ineffective one (K-2.6, K-2.7)."""
        return self.arm != "infantry" or self.is_small

    @property
    def morale(self) -> int:
        """Its MR (K-8.1)."""
        return BATTERY_MORALE if self.is_battery else int(self.printed("mr"))

    @property
    def is_parenthesised(self) -> bool:
        """Whether its CF counts as in parentheses (K-2.4b, K-11.1b)."""
        return self.paren or self.disrupted

    @property
    def exerts_zone(self) -> bool:
        """Whether it has a zone of control at all (K-6.4, K-9.5d)."""
        return not (self.disrupted or self.ineffective or self.square)

    def printed(self, key: str) -> int | str:
        """Returns a printed number.

        Raises:
            FactError: It is needed and not stated.
        """
        value: int | str | None = getattr(self, key)
        if value is None:
            raise FactError(key, f"expected this key of {self.id}, but it is missing", self)
        return value


class Leader(NestedFacts):
    """A leader, and his part in a combat."""

    id: str = "leader"
    side: str = ""
    hex: Place = None
    span: tuple[str, ...] = ()
    movement: int = 0
    morale: int = 0
    combat: int = 0
    ineffective: bool = False
    helped: bool = False
    moved: bool = False
    dead: bool = False
    participates: bool = False
    coordinates: bool = False

    @property
    def ma(self) -> int:
        """His Movement Points (K-10.1)."""
        return LEADER_MA


class Post(NestedFacts):
    """An HQ or trains; without a side it is that of whoever asks."""

    id: str = "post"
    side: str = ""
    hex: HexName | None = None
    ma: int | None = None
    active: bool = True
    moved: bool = False
    attacked: bool = False


def is_active(*, moved: bool, in_zone: bool, has_line: bool, attacked: bool) -> bool:
    """Whether an HQ or trains are active at the end of a movement phase (K-12.1, K-12.2)."""
    return has_line and not (moved or in_zone or attacked)


def is_overstacked(units: Sequence[Unit]) -> bool:
    """Whether the units of a hex are more than three brigades and batteries (K-5.2)."""
    return sum(not unit.is_small for unit in units) > MOST_STACKED


def fighting(units: Sequence[Unit]) -> tuple[Unit, ...]:
    """Returns who fights from a hex: a battery, a small unit and one other, the first named."""
    slots: dict[str, Unit] = {}
    for unit in units:
        kind = "battery" if unit.is_battery else "small" if unit.is_small else "other"
        slots.setdefault(kind if kind not in slots else "other", unit)
    return tuple(unit for unit in units if any(unit is chosen for chosen in slots.values()))
