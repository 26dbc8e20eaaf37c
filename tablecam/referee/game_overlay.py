"""Adds what only the game knows to a seen position: states, terrain, and lost bases."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from tablecam.table.model import BasePose, Commander, Position, Scalar


@dataclass(frozen=True, slots=True)
class _Known:
    """What a game knows about its table; `beneath` are counters that lie under others."""

    states: Mapping[str, Mapping[str, Scalar]]
    beneath: Mapping[str, BasePose]
    position: Position
    tags: frozenset[int | None]


class GameOverlay:
    """The latest units and terrain of a game. Thread-safe, and never waits."""

    def __init__(self) -> None:
        self._now: _Known | None = None

    def follow(self, position: Position) -> None:
        """Updates to the table according to the game."""
        # Replaced as a whole: threads that read it need no lock.
        self._now = _Known(
            {unit.id: unit.state for unit in position.units},
            {
                unit.id: unit.bases[0]
                for unit in position.units
                if len(unit.bases) == 1 and unit.bases[0].seen == "held"
            },
            position,
            frozenset(base.tag for unit in position.units for base in unit.bases),
        )

    @property
    def position(self) -> Position | None:
        """The table according to the game; None without one."""
        known = self._now
        return None if known is None else known.position

    def lost(self, tags: Collection[int]) -> frozenset[int]:
        """Returns the tags of units' bases that the game does not have; none without a game."""
        known = self._now
        return frozenset() if known is None else frozenset(tags) - known.tags

    def marked(self, seen: Position) -> Position:
        """Returns a position with the game's states and terrain, unchanged if there is no game.

        A counter or a leader under others, hidden where it was last seen, is put where the game
        has it.
        """
        known = self._now
        if known is None:
            return seen
        units = tuple(
            replace(
                unit,
                state=known.states.get(unit.id, unit.state),
                bases=_beneath(unit.bases, known.beneath.get(unit.id)),
            )
            for unit in seen.units
        )
        leaders = {leader.id: leader for leader in known.position.commanders}
        commanders = tuple(_led(leader, leaders.get(leader.id)) for leader in seen.commanders)
        return replace(seen, units=units, commanders=commanders, terrain=known.position.terrain)


def _led(leader: Commander, believed: Commander | None) -> Commander:
    if believed is None or leader.pose is None or leader.seen != "held":
        return leader
    x_mm, y_mm = believed.place_mm
    return replace(leader, x_mm=x_mm, y_mm=y_mm, pose=replace(leader.pose, x_mm=x_mm, y_mm=y_mm))


def _beneath(bases: tuple[BasePose, ...], believed: BasePose | None) -> tuple[BasePose, ...]:
    if believed is None or len(bases) != 1 or bases[0].seen != "held":
        return bases
    x_mm, y_mm, heading_deg = believed.x_mm, believed.y_mm, believed.heading_deg
    return (replace(bases[0], x_mm=x_mm, y_mm=y_mm, heading_deg=heading_deg),)
