"""What there is to be drawn, and known, at one instant of a simulated table."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from tablecam.simulate.mount import UPRIGHT, Tilt
from tablecam.simulate.places import Place
from tablecam.table.model import BasePose, Commander, Position, Unit
from tablecam.table.roster import BaseType, Roster


@dataclass(frozen=True, slots=True)
class Hand:
    """A player's hand over the table: where its palm is and along which heading it reaches.

    `grip` is 0 for an open hand, 1 when its fingers have closed upon a base.
    """

    side: str
    x_mm: float
    y_mm: float
    heading_deg: float
    grip: float = 0.0


@dataclass(frozen=True, slots=True)
class Scene:
    """Where each base lies, by its tag, and whose hands are over the table.

    `held` are the tags that a hand is moving; `pushed` says where those of the table's own tags
    lie that are not where they are listed. `tilt` is how the camera hangs, `light` how much there
    is of the lamp's, from 0 to 1.
    """

    places: Mapping[int, Place]
    hands: tuple[Hand, ...] = ()
    held: frozenset[int] = field(default_factory=frozenset)
    pushed: Mapping[int, Place] = field(default_factory=dict)
    tilt: Tilt = UPRIGHT
    light: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "places", MappingProxyType(dict(self.places)))
        object.__setattr__(self, "pushed", MappingProxyType(dict(self.pushed)))


def true_position(roster: Roster, places: Mapping[int, Place]) -> Position:
    """The exact position of bases by their tags; bases that lie nowhere are left out."""
    return Position(
        game=roster.game,
        table=roster.table,
        units=tuple(
            Unit(
                id=unit.id,
                side=unit.side,
                arm=unit.arm,
                bases=tuple(
                    _pose(tag, places[tag], unit.base_type) for tag in unit.tags if tag in places
                ),
                extra=unit.extra,
            )
            for unit in roster.units
        ),
        commanders=tuple(
            Commander(
                id=leader.id,
                side=leader.side,
                x_mm=places[leader.tag].x_mm,
                y_mm=places[leader.tag].y_mm,
                pose=_pose(leader.tag, places[leader.tag], leader.base_type),
            )
            for leader in roster.commanders
            if leader.tag in places
        ),
        terrain=roster.terrain,
    )


def _pose(tag: int, place: Place, base_type: BaseType) -> BasePose:
    return BasePose(
        place.x_mm,
        place.y_mm,
        place.heading_deg,
        base_type.width_mm,
        base_type.depth_mm,
        tag=tag,
    )
