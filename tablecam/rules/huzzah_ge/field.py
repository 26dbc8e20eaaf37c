"""The table in the book's terms: units as they lie, terrain, officers, and who can reach whom."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, Final, Literal

import numpy as np
import shapely

from tablecam.geometry.arrangement import arrangement
from tablecam.geometry.moves.lanes import lane
from tablecam.geometry.outlines import rim
from tablecam.rules.huzzah_ge import fire
from tablecam.rules.huzzah_ge.tables import CM_MM, COMMAND, TOUCH_MM, Class, Kind
from tablecam.rules.huzzah_ge.troops import (
    Formation,
    Officer,
    OfficerFacts,
    Troops,
    UnitFacts,
    front_of,
    heading_of,
    worst_class,
)
from tablecam.rules.memo import remembered
from tablecam.rules.miniatures.battle import Bases
from tablecam.rules.miniatures.ground import (
    SLIVER_MM2,
    Ground,
    area_of,
    footprints,
    overlaps,
    share_in,
)
from tablecam.rules.miniatures.unit_keys import keys_of, read_keys
from tablecam.table.headings import difference_deg, right
from tablecam.table.model import BasePose, Commander, Point, Terrain, Unit, plain_keys

OUT_OF_RANGE_CM = 80.0
"""H-11.10: the distance beyond which all enemies of the ordered units must be."""
_REVERSED_DEG = 150.0
_WOODS, _BUILDINGS = ("wood", "woods"), ("building", "buildings", "village")


@dataclass(frozen=True)
class Field(Ground):
    """A table as the book sees it."""

    @cached_property
    def facts(self) -> Mapping[str, UnitFacts]:
        """The keys of each unit."""
        return {name: facts_of(unit) for name, unit in self.units.items()}

    @cached_property
    def troops(self) -> Mapping[str, Troops]:
        """Each unit as it counts, without its army's results of this turn."""
        return {name: self._troops(unit) for name, unit in self.units.items()}

    @cached_property
    def officers(self) -> Mapping[str, Commander]:
        """The officers, by name."""
        return {officer.id: officer for officer in self.position.commanders}

    @cached_property
    def officer_facts(self) -> Mapping[str, OfficerFacts]:
        """The keys of each officer."""
        return {name: officer_facts(officer) for name, officer in self.officers.items()}

    @cached_property
    def sectors(self) -> Mapping[str, shapely.Polygon]:
        """The areas of the sectors of dense terrain (H-14.8, H-15.5)."""
        return {piece.id: area_of(piece) for piece in self.position.terrain if is_dense(piece)}

    @cached_property
    def reached(self) -> Mapping[str, frozenset[str]]:
        """Which enemies each unit could reach by an advance (H-11.9)."""
        return {
            name: frozenset(
                enemy.id
                for enemy in self.enemies(unit)
                if self._reaches(unit, enemy, self.troops[name].allowance_cm)
            )
            for name, unit in self.units.items()
        }

    def near_enemies(self, name: str) -> list[str]:
        """Returns the enemies within one move of a unit, either way (H-11.9)."""
        enemies, own = self.enemies(self.units[name]), self.reached[name]
        return [one.id for one in enemies if one.id in own or name in self.reached[one.id]]

    def near_ahead(self, name: str) -> list[str]:
        """Returns the enemies within one move, either way, who are straight ahead (H-11.4)."""
        unit, own = self.units[name], self.reached[name]
        return [
            enemy
            for enemy in self.near_enemies(name)
            if enemy in own
            or self._reaches(unit, self.units[enemy], self.troops[enemy].allowance_cm)
        ]

    def apart_cm(self, a: Unit, b: Unit) -> float:
        """Returns the distance between two units' outlines (H-1.3)."""
        return round(self.apart_mm(a, b) / CM_MM, 6)

    def touching(
        self, unit: Unit, bases: Sequence[BasePose], near_mm: float = TOUCH_MM
    ) -> list[str]:
        """Returns the enemies that a unit touches where some bases lie (H-1.3), or is so near."""
        area = footprints(bases)
        enemies = self.enemies(unit)
        return [
            one.id for one in enemies if shapely.distance(area, self.outlines[one.id]) <= near_mm
        ]

    def attached_to(self, name: str) -> str | None:
        """Returns the officer who is attached to a unit (H-11.12)."""
        officers = self.officers.values()
        return next((one.id for one in officers if one.state.get("attached_to") == name), None)

    def officer_with(self, name: str) -> Officer:
        """Returns the officer with a unit as its tests count him (H-9.3)."""
        officer = self.attached_to(name)
        if officer is None:
            return Officer()
        is_inspirational = self.officer_facts[officer].inspirational
        return Officer(attached=True, inspirational=is_inspirational)

    def commanded(self, officer: str, name: str) -> bool:
        """Whether a unit is under an officer's command (H-11.2)."""
        own, unit = self.officers[officer], self.units[name]
        if own.side != unit.side:
            return False
        facts, level = self.facts[name], self.officer_facts[officer].level
        groups = {"division": facts.division, "corps": facts.corps}
        return level == "cinc" or groups[level] in self.officer_facts[officer].commands

    def all_in_radius(self, officer: str, names: Sequence[str]) -> bool:
        """Whether units lie wholly within an officer's command radius (H-11.11)."""
        quality = self.officer_facts[officer].quality or "average"
        units = [self.units[name].bases for name in names]
        far_mm = max(corner_distances_mm(self.officers[officer].place_mm, units))
        return far_mm <= COMMAND[quality][1] * CM_MM + 1e-6

    def out_of_range(self, names: Sequence[str]) -> bool:
        """Whether all of some units are more than 80 cm from any enemy (H-11.10)."""
        return all(
            self.apart_cm(self.units[name], enemy) > OUT_OF_RANGE_CM
            for name in names
            for enemy in self.enemies(self.units[name])
        )

    def occupant(self, sector: str) -> Unit | None:
        """Returns the unit that is deployed in a sector (H-1.7)."""
        units = self.units.values()
        return next((unit for unit in units if unit.state.get("sector") == sector), None)

    def blockers(self, firer: Unit, target: Unit) -> tuple[Any, ...]:
        """Returns what may hide a target: other units, and terrain that blocks sight (H-7.6)."""
        others = [area for name, area in self.outlines.items() if name not in (firer.id, target.id)]
        for piece in self.position.terrain:
            area = area_of(piece)
            stands = any(overlaps(self.outlines[unit.id], area) for unit in (firer, target))
            if piece.extra.get("blocks_sight") and not stands:
                others.append(area)
        return tuple(others)

    def spans_behind(self, unit: Unit, way: fire.Rear) -> tuple[list[fire.Span], list[fire.Span]]:
        """Returns sectors and friends straight behind a unit (H-9.9 to H-9.11)."""
        sectors = [
            fire.Span(name, *span_cm, self._held_by(name, unit))
            for name, area in self.sectors.items()
            if (span_cm := way.span_cm(area, centre_only=True)) is not None
        ]
        friends = [
            fire.Span(friend.id, *span_cm)
            for friend in self.friends(unit)
            if (span_cm := way.span_cm(self.outlines[friend.id])) is not None
        ]
        return sectors, friends

    def _held_by(self, sector: str, unit: Unit) -> Literal["friend", "enemy"] | None:
        held = self.occupant(sector)
        if held is None or held.id == unit.id:
            return None
        return "friend" if held.side == unit.side else "enemy"

    def sector_under(self, bases: Bases) -> str | None:
        """Returns the sector in which most of some bases lie (H-1.7)."""
        sectors = self.sectors.items()
        return next((name for name, area in sectors if share_in(bases, area) >= 0.5), None)

    def _reaches(self, a: Unit, b: Unit, within_cm: float) -> bool:
        # A unit farther off cannot be reached; this test saves most of the work.
        if self.apart_cm(a, b) > within_cm:
            return False
        others = (area for name, area in self.outlines.items() if name not in (a.id, b.id))
        pieces = (piece for piece in self.position.terrain if piece.extra.get("impassable"))
        obstacles = (*others, *map(area_of, pieces))
        return reaches(a.bases, self.troops[a.id], b.bases, obstacles, within_cm)

    def _troops(self, unit: Unit) -> Troops:
        facts, shelter = self.facts[unit.id], self._shelter(unit)
        known = replace(facts, bases=(), formation=formation_of(unit) or "line").troops()
        kinds: set[Kind] = {piece.kind for piece in facts.pieces} or {known.kind}
        return replace(
            known,
            # A mixed battery has the least range and speed (H-7.3, H-12.1).
            kind="reserve_foot" if len(kinds) > 1 else kinds.pop(),
            ranks=ranks_of(unit.bases),
            base_count=len(unit.bases),
            has_divisional_artillery=artillery_base(unit) is not None,
            in_dense=unit.state.get("sector") is not None,
            cover=None if shelter is None else cover_of(shelter),
            strongpoint=bool(shelter is not None and shelter.extra.get("strongpoint")),
        )

    def _shelter(self, unit: Unit) -> Terrain | None:
        """Returns the terrain that covers a unit: its sector, or a piece with half of it inside."""
        own = unit.state.get("sector")
        for piece in self.position.terrain:
            is_open = own not in self.sectors and not is_dense(piece) and cover_of(piece)
            if piece.id == own or (is_open and share_in(unit.bases, area_of(piece)) >= 0.5):
                return piece
        return None


field_of: Final = remembered(Field)
"""Returns a table as the book sees it, the same one for the same position."""


def corner_distances_mm(officer_mm: Point, units: Sequence[Bases]) -> list[float]:
    """Returns the distance from an officer to the farthest corner of each unit (H-11.11)."""
    return [
        max(float(np.linalg.norm(rim(base) - officer_mm, axis=1).max()) for base in bases)
        for bases in units
    ]


def reaches(
    bases: Bases, troops: Troops, enemy: Bases, obstacles: Sequence[Any], within_cm: float
) -> bool:
    """Whether a unit could reach an enemy by a straight advance of `within_cm` (H-11.9).

    `obstacles` are outlines of other units and of impassable terrain.
    """
    if troops.routing or troops.formation == "square":
        return False
    heading_deg = heading_of(bases)
    front = front_of(bases)
    outline = footprints(enemy)
    met = shapely.intersection(lane(front, within_cm * CM_MM), outline)
    if met.area <= SLIVER_MM2:
        return False
    across = shapely.get_coordinates(met) @ right(heading_deg)
    middle = (float(across.min()) + float(across.max())) / 2
    aside = middle - float(np.dot(front.middle_mm, right(heading_deg)))
    (x, y), (right_x, right_y) = front.middle_mm, right(heading_deg)
    start = shapely.Point(x + right_x * aside, y + right_y * aside)
    way = shapely.shortest_line(start, met)
    return not any(shapely.crosses(way, obstacle) for obstacle in obstacles)


def facts_of(unit: Unit) -> UnitFacts:
    """Returns the keys of a unit from its table file and its state.

    Raises:
        BadInput: A key is missing or wrong.
    """
    keys, left_out = keys_of(unit), ("ranks", "base_count")
    facts, document = read_keys(UnitFacts, unit.id, keys, *left_out, arm=unit.arm)
    has_classes = bool(facts.pieces) and all(piece.expected for piece in facts.pieces)
    if facts.expected is None and not has_classes:
        raise document.error(("expected",), "expected a class such as regulars_b")
    if facts.division is None:
        raise document.error(("division",), "expected the name of its division")
    return facts


def officer_facts(officer: Commander) -> OfficerFacts:
    """Returns the keys of an officer.

    Raises:
        BadInput: A key is missing or wrong.
    """
    keys, left_out = plain_keys(officer.extra), ("x_mm", "y_mm")
    facts, document = read_keys(OfficerFacts, officer.id, keys, *left_out)
    if facts.quality is None:
        raise document.error(("quality",), f"expected one of {', '.join(COMMAND)}")
    if facts.level != "cinc" and not facts.commands:
        raise document.error(("commands",), "expected what he commands, but it is missing")
    return facts


def expected_of(facts: UnitFacts) -> Class:
    """Returns the class of a unit; of a grand battery, its lowest (H-3.4)."""
    pieces = [piece.expected for piece in facts.pieces if piece.expected is not None]
    classes = [*pieces, *([facts.expected] if facts.expected is not None else [])]
    return worst_class(classes)


@lru_cache(maxsize=1024)
def ranks_of(bases: tuple[BasePose, ...]) -> tuple[int, ...]:
    """Returns the bases of each rank, front rank first; a square's as if all faced its heading."""
    heading_deg = heading_of(bases)
    faced = [replace(base, heading_deg=heading_deg) for base in bases]
    return tuple(len(rank) for rank in arrangement(faced).ranks)


def formation_of(unit: Unit) -> Formation | None:
    """Returns the formation of a unit's bases, None if they do not form one (H-14.1).

    A single base has the formation declared, at first line.
    """
    bases, abilities = unit.bases, unit.extra.get("abilities", ())
    heading_deg = heading_of(bases)
    turned = [abs(difference_deg(base.heading_deg, heading_deg)) for base in bases]
    faced = [replace(base, heading_deg=heading_deg) for base in bases]
    # A disordered unit may be staggered by half a base (H-1.9).
    slack_mm = bases[0].depth_mm / 2 if unit.state.get("disordered") else TOUCH_MM
    lie = arrangement(faced, apart_mm=max(slack_mm, TOUCH_MM))
    if len(lie.groups) > 1:
        return None
    if "irregular" in abilities:
        return "open"
    if any(deg > _REVERSED_DEG for deg in turned):
        return "square" if unit.arm == "infantry" else None
    if len(bases) == 1:
        return "road_column" if unit.state.get("formation") == "road_column" else "line"
    return "road_column" if len(lie.files) == 1 else "line"


def artillery_base(unit: Unit) -> int | None:
    """Returns the index of a unit's divisional artillery base, None if it has none (H-1.11)."""
    key = unit.extra.get("divisional_artillery", False)
    if key is False:
        return None
    if key is True:
        return len(unit.bases) - 1
    tags = [base.tag for base in unit.bases]
    return tags.index(key) if key in tags else None


def is_dense(piece: Terrain) -> bool:
    """Whether a piece is a sector of dense terrain (H-15.5)."""
    return bool(piece.extra.get("dense", piece.kind in (*_WOODS, *_BUILDINGS)))


def cover_of(piece: Terrain) -> Literal["soft", "hard"] | None:
    """Returns the cover that a piece gives (H-15.5)."""
    known = {**dict.fromkeys(_WOODS, "soft"), **dict.fromkeys(_BUILDINGS, "hard")}
    cover = piece.extra.get("cover", known.get(piece.kind))
    return cover if cover in ("soft", "hard") else None
