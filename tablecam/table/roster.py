"""The frozen contents of a table file: tags, base types, units, commanders and terrain.

`table_file.py` reads them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType

from tablecam.table.model import Arm, Glue, Keys, Mask, Shape, TableSize, Terrain, frozen_keys


@dataclass(frozen=True, slots=True)
class BaseType:
    """The size of a kind of base and the place of its tag.

    The tag's centre lies `tag_right_mm` and `tag_forward_mm` from the base's centre, its plane
    `tag_height_mm` above the table, turned by `tag_turn_deg` from the base. The sigmas say how
    accurately tags are glued on and bases are cut, as in `Glue`.
    """

    name: str
    width_mm: float
    depth_mm: float
    tag_size_mm: float
    tag_right_mm: float = 0.0
    tag_forward_mm: float = 0.0
    tag_height_mm: float = 0.0
    shape: Shape = "rectangle"
    glue_sigma_mm: float = 0.0
    glue_sigma_deg: float = 0.0
    cut_sigma_mm: float = 0.0
    tag_turn_deg: float = 0.0

    @property
    def glue(self) -> Glue | None:
        """How accurately bases of this kind are made; None if exactly."""
        sigmas = (self.glue_sigma_mm, self.glue_sigma_deg, self.cut_sigma_mm)
        return Glue(*sigmas) if any(sigmas) else None


@dataclass(frozen=True, slots=True)
class TableTag:
    """A fixed tag that registers the camera: its centre at z = 0, its top row toward +y."""

    id: int
    x_mm: float
    y_mm: float


@dataclass(frozen=True, slots=True)
class UnitEntry:
    """A unit as the table file lists it, with one tag per base.

    A counter is one base with a tag on each of its printed sides: `faces` gives the base type of
    each side by its tag; only one faces upward. `extra` says what the sides mean.
    """

    id: str
    side: str
    arm: Arm
    base_type: BaseType
    tags: tuple[int, ...]
    extra: Keys = field(default_factory=dict)
    faces: Mapping[int, BaseType] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "extra", frozen_keys(self.extra))
        object.__setattr__(self, "faces", MappingProxyType(dict(self.faces)))

    def upward(self, seen: Collection[int] = ()) -> tuple[int, ...]:
        """Returns the tags that face upward: for a counter the faces seen, else its first."""
        if not self.faces:
            return self.tags
        return tuple(tag for tag in self.tags if tag in seen) or self.tags[:1]


@dataclass(frozen=True, slots=True)
class CommanderEntry:
    """A commander as the table file lists them."""

    id: str
    side: str
    base_type: BaseType
    tag: int
    extra: Keys = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "extra", frozen_keys(self.extra))


@dataclass(frozen=True, slots=True)
class Roster:
    """The whole table file. Tag ids are unique across table tags and bases.

    `name` is the players' name for the table, empty if they gave none; `files` are the paths of
    the game's `charts`, `map` and `scenario`; `masks` come from a file beside the table file.
    `calibrated` maps tags to the types of bases that were measured individually.
    """

    game: str
    table: TableSize
    dictionary: str
    table_tag_size_mm: float
    table_tags: tuple[TableTag, ...]
    base_types: tuple[BaseType, ...]
    units: tuple[UnitEntry, ...]
    commanders: tuple[CommanderEntry, ...]
    terrain: tuple[Terrain, ...]
    source: str = "table file"
    name: str = ""
    files: Mapping[str, Path] = field(default_factory=dict)
    masks: tuple[Mask, ...] = ()
    calibrated: Mapping[int, BaseType] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "files", MappingProxyType(dict(self.files)))
        object.__setattr__(self, "calibrated", MappingProxyType(dict(self.calibrated)))

    @property
    def sides(self) -> list[str]:
        """The sides, in the order in which the table file first names them."""
        sides = [unit.side for unit in self.units]
        return list(dict.fromkeys([*sides, *(commander.side for commander in self.commanders)]))

    @property
    def table_tags_mm(self) -> tuple[tuple[float, float], ...]:
        """The centres of the table tags."""
        return tuple(self.table_tag_places_mm.values())

    @property
    def table_tag_places_mm(self) -> dict[int, tuple[float, float]]:
        """The centre of each table tag, by tag id."""
        return {tag.id: (tag.x_mm, tag.y_mm) for tag in self.table_tags}

    def base_type_by_tag(self) -> dict[int, BaseType]:
        """Returns the base type of each tag of a unit or commander, by tag id."""
        types = {
            tag: unit.faces.get(tag, unit.base_type) for unit in self.units for tag in unit.tags
        }
        types |= {commander.tag: commander.base_type for commander in self.commanders}
        return {**types, **self.calibrated}

    def with_base_types(self, change: Callable[[BaseType], BaseType]) -> Roster:
        """Returns the roster with each base type changed, without measured ones."""

        def changed(unit: UnitEntry) -> UnitEntry:
            faces = {tag: change(face) for tag, face in unit.faces.items()}
            return replace(unit, base_type=change(unit.base_type), faces=faces)

        return replace(
            self,
            base_types=tuple(map(change, self.base_types)),
            units=tuple(map(changed, self.units)),
            commanders=tuple(
                replace(commander, base_type=change(commander.base_type))
                for commander in self.commanders
            ),
            calibrated={},
        )

    def lies_in_rows(self, unit: UnitEntry) -> bool:
        """Whether a unit's bases may lie flush in a row; counters on hexes do not."""
        return not unit.faces and self.table.hex_map is None

    def missing(self, seen: Collection[int]) -> tuple[int, ...]:
        """Returns the tags of bases that should be on the table but are not seen."""
        upward = [tag for unit in self.units for tag in unit.upward(seen)]
        upward += [commander.tag for commander in self.commanders]
        return tuple(tag for tag in upward if tag not in seen)

    def owner_by_tag(self) -> dict[int, str]:
        """Returns the id of the unit or commander that each tag belongs to, by tag id."""
        owners = {tag: unit.id for unit in self.units for tag in unit.tags}
        return owners | {commander.tag: commander.id for commander in self.commanders}
