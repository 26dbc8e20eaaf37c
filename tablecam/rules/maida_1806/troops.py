"""What counters print, and what is left of a unit: Strength, Morale, Firepower (D-3.4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from typing import Annotated, Final, Literal

from pydantic import Field, StringConstraints

from tablecam.errors import BadInput
from tablecam.rules.hexes.zones import Hexes
from tablecam.rules.maida_1806 import tables
from tablecam.table.model import Arm
from tablecam.table.sections import Name, StrictModel

Side = Literal["french", "british"]
Kind = Literal["battalion", "company", "squadron", "foot-battery", "horse-battery"]
Formation = Literal["line", "column", "square", "skirmish", "battery"]
FireResult = Annotated[str, StringConstraints(pattern=r"^(\d?M|M-\d)$")]
Count = Annotated[int, Field(ge=0, le=99)]
Level = Annotated[int, Field(ge=1, le=10)]
KINDS: Final[Mapping[str, Kind]] = {
    "infantry": "battalion", "cavalry": "squadron", "artillery": "foot-battery",
}  # fmt: skip
"""What a unit of an arm usually is."""
SIDES: Final[tuple[Side, ...]] = ("french", "british")


class GunRange(StrictModel):
    """A result of a battery from one distance to another."""

    start: Annotated[int, Field(alias="from", ge=1)]
    to: Annotated[int, Field(ge=1)]
    result: FireResult


class Firepower(StrictModel):
    """Percent of the Strength by formation."""

    line: Count | Literal[100]
    column: Count | Literal[100]
    square: Count | Literal[100]


class Enters(StrictModel):
    """From which turn, and by which edge of the map, reinforcements enter."""

    turn: Annotated[int, Field(ge=1)]
    edge: Name


class Troop(StrictModel):
    """What a unit's counters print; a question may leave out what it does not need."""

    id: Name
    side: Side
    leader: str = ""
    arm: Arm
    kind: Kind
    nation: Name | None = None
    full_strength: Level | None = None
    morale: Annotated[list[Count], Field(default_factory=list, min_length=1, max_length=2)]
    firepower: Firepower | None = None
    fire_result: FireResult | None = None
    stars: Count = 0
    ranges: list[GunRange] = Field(default_factory=list)
    companies: list[Name] = Field(default_factory=list)
    acts_with_oc: bool = False
    enters: Enters | None = None

    @property
    def is_battery(self) -> bool:
        """Whether it is artillery."""
        return self.arm == "artillery"

    @property
    def is_company(self) -> bool:
        """Whether it is a company, which is always in Skirmish Order (D-8.1)."""
        return self.kind == "company"

    @property
    def is_battalion(self) -> bool:
        """Whether it is infantry other than a company."""
        return self.arm == "infantry" and not self.is_company

    @property
    def whole(self) -> int:
        """Its full Strength; a battery fights as one of 1 (D-10.10).

        Raises:
            BadInput: A question left it out.
        """
        if self.full_strength is None and not self.is_battery:
            raise BadInput("setup", f"expected full_strength of {self.id}, but it is missing")
        return self.full_strength or 1


def formation_of(kind: Kind, stated: Formation) -> Formation:
    """Returns a unit's formation: the stated one, unless its kind has no other (D-8.1)."""
    only: Mapping[str, Formation] = {
        "company": "skirmish", "foot-battery": "battery", "horse-battery": "battery"
    }  # fmt: skip
    return only.get(kind, stated)


@dataclass(frozen=True, slots=True)
class Piece:
    """A unit in play; without hexes it is off the map.

    `losses` include the Strength of companies that are `out`. `mp_left` and what follows it count
    for a movement subphase, `fires`, `silent` and `has_moved` for a turn. `straight` are the hexes
    moved without a turn, `passing` says that it stands among friends it may yet leave (D-11.3),
    `entered_from` are the hexes from which it entered a Clash Hex, `returns_turn` is its space on
    the Turn Track.
    """

    id: str
    hexes: Hexes = ()
    formation: Formation = "column"
    facing_deg: int = 0
    losses: int = 0
    out: tuple[str, ...] = ()
    disrupted: bool = False
    fires: int = 0
    silent: bool = False
    has_moved: bool = False
    mp_left: float = 0.0
    done: bool = False
    double: bool = False
    fired: bool = False
    held_fire: bool = False
    straight: int = 0
    passing: bool = False
    how: str = ""
    entered_from: Hexes = ()
    returns_turn: int | None = None
    eliminated: bool = False
    captured_by: str | None = None


def rounded(value: Fraction) -> int:
    """Returns a number with a half rounded up (D-3.4g)."""
    exact = Decimal(value.numerator) / Decimal(value.denominator)
    return int(exact.quantize(Decimal(1), ROUND_HALF_UP))


def strength_of(troop: Troop, piece: Piece) -> int:
    """Returns the current Strength (D-3.4c)."""
    return max(troop.whole - piece.losses, 0)


def is_reduced(troop: Troop, piece: Piece) -> bool:
    """Whether the back of its counter lies upward: half its levels are lost (D-3.4h)."""
    if troop.is_battery:
        return piece.fired or piece.silent
    return piece.losses > 0 and strength_of(troop, piece) <= troop.whole // 2


def morale_of(troop: Troop, piece: Piece) -> int:
    """Returns the Morale of the side that shows, less 1 if Disrupted (D-3.4b, D-14.8).

    Raises:
        BadInput: A question left it out.
    """
    if not troop.morale:
        raise BadInput("setup", f"expected morale of {troop.id}, but it is missing")
    printed = troop.morale[-1] if is_reduced(troop, piece) else troop.morale[0]
    return printed + (tables.DISRUPTED_MORALE if piece.disrupted else 0)


def firepower_of(troop: Troop, piece: Piece) -> int:
    """Returns the Firepower, at least 1 (D-3.4d, D-7.3); a company's is its Strength (D-14.10.4).

    Raises:
        BadInput: A question left its percentage out.
    """
    strength = strength_of(troop, piece)
    if troop.is_company:
        return strength
    percent: int | None = getattr(troop.firepower, piece.formation, None)
    if percent is None and piece.formation == "square":
        percent = tables.SQUARE_PERCENT
    if percent is None:
        raise BadInput("setup", f"expected firepower of {troop.id} in {piece.formation}")
    # A printed "66%" means two thirds exactly (D-3.4d).
    share = Fraction(2, 3) if percent == 66 else Fraction(percent, 100)
    return max(rounded(share * strength), 1)


def needs_two_hexes(troop: Troop, strength: int) -> bool:
    """Whether a battalion of a Strength in Line lies on two hexes (D-6.2)."""
    return strength >= tables.TWO_HEX_FROM[troop.side]


def modifier_of(result: str) -> int:
    """Returns the modifier of the check that a fire result demands: `2M` is +2, `M-1` is -1."""
    before, _, after = result.partition("M")
    return int(before or 0) + int(after or 0)
