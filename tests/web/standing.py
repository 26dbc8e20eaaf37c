"""A still live table for tests of the application."""

from __future__ import annotations

import threading
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tablecam.errors import BadInput
from tablecam.live.disputing import Disputing
from tablecam.live.map_follower import MapFollower
from tablecam.live.pointing import Pointing
from tablecam.live.rulings import LiveRulings
from tablecam.live.state import Health, Reading, Snapshot
from tablecam.referee.referee import Referee
from tablecam.rules.games import game_of
from tablecam.simulate.demo import demo_camera
from tablecam.table.model import (
    BasePose,
    Commander,
    LengthUnit,
    Mask,
    Position,
    TableSize,
    Terrain,
    Unit,
)
from tablecam.table.roster import BaseType, CommanderEntry, Roster, UnitEntry

FOOT = BaseType("foot", 40, 40, 14)
TABLE = TableSize(1800, 1200, 40)
WOOD = Terrain("wood", "woods", ((400, 300), (520, 310), (500, 420)))
ROSTER = Roster(
    game="maurice-lite",
    table=TABLE,
    dictionary="DICT_4X4_250",
    table_tag_size_mm=60,
    table_tags=(),
    base_types=(FOOT,),
    units=(
        UnitEntry("F1", "french", "infantry", FOOT, (10, 11), {"name": "Champagne"}),
        UnitEntry("B1", "british", "cavalry", FOOT, (20, 21)),
    ),
    commanders=(CommanderEntry("french-cinc", "french", FOOT, 90),),
    terrain=(WOOD,),
)
F1 = Unit(
    "F1",
    "french",
    "infantry",
    (
        BasePose(500, 400, 90, 40, 40, tag=10, sigma_mm=0.2, sigma_deg=0.3),
        BasePose(540, 400, 90, 40, 40, tag=11, sigma_mm=0.2, sigma_deg=0.3, seen="held"),
    ),
    formation="line",
)
POSITION = Position(
    "maurice-lite", TABLE, (F1,), (Commander("french-cinc", "french", 300, 200),), (WOOD,)
)
HEALTH = Health(
    "camera 0", "live", "1920 x 1080", "camera.json", 10.0, 5, 1, (20, 21), 0.21, 0.08, ("Dark.",)
)


class StandingTable:
    """A live table that changes only by `show`, for tests of the application."""

    def __init__(
        self,
        *,
        simulated: StandingControls | None = None,
        roster: Roster = ROSTER,
        position: Position = POSITION,
    ) -> None:
        self.roster = roster
        self._rulings = LiveRulings(roster)
        self._disputing = Disputing(self._rulings, roster, None)
        self.has_rules = self._rulings.has_rules
        self.simulated = simulated
        self.jpeg = b"\xff\xd8 a picture"
        self._changed = threading.Condition()
        self.pointing = Pointing(lambda: self.show(pointed=self.pointing.now))
        self.map = MapFollower(roster.table.hex_map, lambda text: None, self.show)
        self._snapshot = Snapshot(3, 7, position, HEALTH, {11: 12.34})
        game = game_of(roster.game)
        self.referee = None if game is None else Referee(game, tell=self._show_game)

    def show(self, **changes: Any) -> None:
        with self._changed:
            newer = replace(self._snapshot, version=self._snapshot.version + 1, **changes)
            self._snapshot = newer
            self._changed.notify_all()

    def _show_game(self, version: int) -> None:
        self.show(game=version)

    def snapshot(self) -> Snapshot:
        return self._snapshot

    def wait(self, after_version: int, timeout_s: float) -> Snapshot | None:
        with self._changed:
            newer = self._changed.wait_for(
                lambda: self._snapshot.version > after_version, timeout_s
            )
            return self._snapshot if newer else None

    def picture(self) -> bytes:
        return self.jpeg

    def measure(
        self,
        a: str,
        b: str,
        ranges: Sequence[float] | None = (),
        unit: LengthUnit | None = None,
    ) -> dict[str, Any]:
        if "nobody" in (a + b):
            raise BadInput("measure", "expected a thing on the table, got 'unit:nobody'")
        symbol = None if unit is None else unit.symbol
        return {"a": a, "b": b, "within": ranges and list(ranges), "unit": symbol}

    def mask(self, mask: Mask) -> None:
        self.show(masks=(*self._snapshot.masks, mask))

    def unmask(self, mask: Mask) -> None:
        self.show(masks=tuple(known for known in self._snapshot.masks if known != mask))

    def keep_tape(self, by: str, a: str, b: str) -> None:
        self.pointing.keep(by, a, b)

    def unit_sheet(
        self, unit: str, active: str, only: Collection[str] | None = None
    ) -> dict[str, Any]:
        sheet = self._rulings.unit_sheet(self._snapshot.position, unit, active, only)
        version = self._snapshot.version
        return {"unit": unit, "active": active, "version": version} | sheet.to_json(only)

    def pair_sheet(
        self, a: str, b: str, active: str, only: Collection[str] | None = None
    ) -> dict[str, Any]:
        sheet = self._rulings.pair_sheet(self._snapshot.position, a, b, active, only)
        version = self._snapshot.version
        return {"a": a, "b": b, "active": active, "version": version} | sheet.to_json(only)

    def dispute(self, question: str, active: str) -> dict[str, Any]:
        frozen = Reading(self._snapshot, None, demo_camera())
        kept = self._disputing.dispute(frozen, question, active)
        self.show(disputes=len(self.disputes()))
        return kept

    def disputes(self) -> list[dict[str, Any]]:
        return self._disputing.record.disputes()

    @property
    def trouble(self) -> str:
        return self._disputing.record.trouble

    def dispute_picture(self, number: int, *, plain: bool = False) -> bytes:
        return self._disputing.record.dispute_picture(number, plain=plain)

    def dispute_position(self, number: int) -> dict[str, Any]:
        return self._disputing.record.dispute_position(number)

    def take_off(self, thing: str) -> None:
        if thing != "unit:F1":
            raise BadInput(thing, "the camera sees it: only what is hidden can be taken off")
        self.show(position=replace(POSITION, units=()))

    def about(self, thing: str) -> dict[str, Any]:
        return {"thing": thing, "lines": [], "shapes": []}


class StandingControls:
    """Controls that record their calls."""

    def __init__(self) -> None:
        self.deeds: list[Any] = []

    @property
    def is_paused(self) -> bool:
        return self.deeds[-1:] == ["pause"]

    run = "first"

    @property
    def is_resting(self) -> bool:
        return self.is_paused

    @property
    def light(self) -> float:
        return next((deed[1] for deed in reversed(self.deeds) if deed[0] == "light"), 1.0)

    def bump_camera(self, right_px: float, down_px: float) -> None:
        self.deeds.append(("bump", right_px, down_px))

    def dim_lamp(self, light: float) -> None:
        self.deeds.append(("light", light))

    def move_unit(self, unit_id: str, x_mm: float, y_mm: float, heading_deg: float) -> None:
        if unit_id != "F1":
            raise BadInput("table", f"expected a unit on the table, got {unit_id!r}")
        self.deeds.append((unit_id, x_mm, y_mm, heading_deg))

    def move_units(self, places: Mapping[str, tuple[float, float, float]]) -> tuple[str, ...]:
        for unit_id, place in places.items():
            self.move_unit(unit_id, *place)
        return ()

    def take_off(self, unit_id: str, tag: int | None = None) -> None:
        if unit_id != "F1":
            raise BadInput("table", f"expected a unit on the table, got {unit_id!r}")
        self.deeds.append(("take off", unit_id, tag))

    def put_back(self, unit_id: str, tag: int | None = None) -> None:
        self.deeds.append(("put back", unit_id, tag))

    @property
    def off(self) -> frozenset[int]:
        taken = [deed for deed in self.deeds if deed[0] == "take off"]
        return frozenset({10, 11}) if taken else frozenset()

    def pause(self) -> None:
        self.deeds.append("pause")

    def stand_still(self) -> None:
        self.deeds.append("stand-still")

    def resume(self) -> None:
        self.deeds.append("resume")

    def restart(self) -> None:
        self.deeds.append("restart")

    def lie_as(self, position: Position, unit_id: str | None = None) -> None:
        self.deeds.append((unit_id, position))
