"""The state of a simulated table at one instant, for drawing and as ground truth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from tablecam.simulate.rendering.mount import UPRIGHT, Tilt
from tablecam.simulate.rendering.places import Place
from tablecam.table.model import BasePose, Commander, Position, Unit
from tablecam.table.roster import BaseType, Roster


@dataclass(frozen=True, slots=True)
class Hand:
    """A player's hand over the table: the place of its palm, and its heading.

    `grip` is 0 for an open hand, 1 for fingers closed on a base.
    """

    side: str
    x_mm: float
    y_mm: float
    heading_deg: float
    grip: float = 0.0


@dataclass(frozen=True, slots=True)
class Scene:
    """The place of each base, by its tag, and the hands over the table.

    `held` are the tags that a hand is moving, `pushed` the places of table tags that differ from
    the table file. `tilt` is the camera's displacement, `light` the share of the lamp's light, 0 to
    1.
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
    """Returns the exact position of the bases in `places`, by tag."""
    return Position(
        game=roster.game,
        table=roster.table,
        units=tuple(
            Unit(
                id=unit.id,
                side=unit.side,
                arm=unit.arm,
                bases=tuple(
                    _pose(tag, places[tag], unit.faces.get(tag, unit.base_type))
                    for tag in unit.tags
                    if tag in places
                ),
                extra=unit.extra,
            )
            for unit in roster.units
        ),
        commanders=tuple(
            Commander(
                id=commander.id,
                side=commander.side,
                x_mm=places[commander.tag].x_mm,
                y_mm=places[commander.tag].y_mm,
                pose=_pose(commander.tag, places[commander.tag], commander.base_type),
                extra=commander.extra,
            )
            for commander in roster.commanders
            if commander.tag in places
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
        shape=base_type.shape,
    )
