"""A simulated table that plays a script and can be rearranged meanwhile."""

from __future__ import annotations

import math
import secrets
import threading
from collections.abc import Collection, Mapping
from dataclasses import replace

import numpy as np

from tablecam.errors import BadInput
from tablecam.rules.games import described
from tablecam.rules.hexes.grid import grid_of
from tablecam.simulate.overlap import do_overlap, overlaps_mm, stacked, way_out_mm
from tablecam.simulate.rendering.light import Lamp
from tablecam.simulate.rendering.mount import Mount, Tilt
from tablecam.simulate.rendering.places import (
    Place,
    Places,
    carried,
    unit_corners_mm,
    unit_outline_mm,
    unit_place,
)
from tablecam.simulate.rendering.scene import Scene, true_position
from tablecam.simulate.script import Script
from tablecam.simulate.timeline import Faces, Timeline, Visit
from tablecam.table.model import Position
from tablecam.table.roster import BaseType, Roster

_ON_THE_EDGE_MM = 1e-6
_SEEN_MM = 1.0
"""A shorter slide is invisible."""
_ON_TOP = 1e5
"""Later than any time at which a script's hand puts a counter down."""
_INSTANT_S = 1e-6
"""Longer than the rounding error of the elapsed time, which grows with it."""


class SimulatedTable:
    """A roster's bases on a simulated table, with a lamp and a camera on a `mount`. Thread-safe.

    Time passes only through `advance`. A unit that a user moves leaves the script and stays in
    place until `restart`; so does a unit whose path is blocked. `run` names the current run.
    """

    def __init__(self, roster: Roster, script: Script) -> None:
        self.roster = roster
        self._timeline = Timeline(script, roster)
        self._lock = threading.RLock()
        self.run = secrets.token_hex(4)
        self._elapsed_s = 0.0
        self._paused = False
        self._is_left_alone = False
        self._aside: dict[str, Places] = {}
        self._aside_faces: dict[str, Faces] = {}
        # Counters on hexes stack: each new one lies on top, or beneath with a negative number.
        hex_map = roster.table.hex_map
        self._grid = None if hex_map is None else grid_of(hex_map)
        self._joins_beneath = described(roster.game).counters_join == "bottom"
        self._piled: dict[str, float] = {}
        self._piles = 0
        self._pushed: dict[int, Place] = {}
        self._off: frozenset[int] = frozenset()
        self.mount = Mount()
        self.lamp = Lamp()

    @property
    def script_s(self) -> float:
        """The time in the battle, from 0 to `loop_s`."""
        with self._lock:
            return self._elapsed_s % self._timeline.loop_s

    @property
    def loop_s(self) -> float:
        """The duration of the battle, including the time to put everything back."""
        return self._timeline.loop_s

    @property
    def is_paused(self) -> bool:
        """Whether the script is paused."""
        with self._lock:
            return self._paused

    def pause(self) -> None:
        """Pauses the script."""
        with self._lock:
            self._paused = True

    def stand_still(self) -> None:
        """Pauses the script without hands, after each has put down what it carries."""
        with self._lock:
            # While one unit is put down, another hand may pick one up.
            while (carry_s := self._remaining_carry_s()) > 0:
                before_s, self._elapsed_s = self._elapsed_s, self._elapsed_s + carry_s
                self._stop_blocked_units(before_s, self._elapsed_s)
            self._paused = self._is_left_alone = True

    @property
    def is_resting(self) -> bool:
        """Whether the script is paused and no hand is over the table."""
        with self._lock:
            hands = self._timeline.visits_at(self.script_s)
            return self._paused and (self._is_left_alone or not hands)

    def resume(self) -> None:
        """Continues the script."""
        with self._lock:
            self._paused = self._is_left_alone = False

    def restart(self) -> None:
        """Puts everything back to the beginning of the script, paused."""
        with self._lock:
            self.run = secrets.token_hex(4)
            self._elapsed_s = 0.0
            self._aside.clear()
            self._aside_faces.clear()
            self._piled.clear()
            self._off = frozenset()
            self._paused, self._is_left_alone = True, False

    def lie_as(self, position: Position, unit_id: str | None = None) -> None:
        """Moves everything to its place in a position, and keeps the script's hands away.

        With `unit_id` moves only that unit or commander, whatever lies there.

        Raises:
            BadInput: There is no such unit.
        """
        # A counter beneath others may not have been seen yet: a game does not know its tag.
        place_by_tag = {
            self._faces(unit.id)[0] if base.tag is None else base.tag: Place(
                base.x_mm, base.y_mm, base.heading_deg
            )
            for unit in position.units
            for base in unit.bases
        }
        commanders = {commander.id: commander for commander in position.commanders}
        with self._lock:
            if unit_id is None:
                self.restart()
                self._is_left_alone = True
            else:
                self._off -= self._tags_of(unit_id)
            for id in self._timeline.ids if unit_id is None else (unit_id,):
                self._turn_as_seen(id, place_by_tag.keys())
                tags, places = self._faces(id), self._places(id)
                if (commander := commanders.get(id)) is not None:
                    places = (replace(places[0], x_mm=commander.x_mm, y_mm=commander.y_mm),)
                elif unit_id is None and self._lies_beside_map(places):
                    continue  # off the map, it waits to come in
                else:
                    # A base that the position lacks is taken off the table, and goes along.
                    self._off |= set(tags) - place_by_tag.keys()
                    for tag, place in zip(tags, places, strict=True):
                        if tag in place_by_tag:
                            places = carried(places, place, place_by_tag[tag])
                            break
                    places = tuple(
                        place_by_tag.get(tag, place)
                        for tag, place in zip(tags, places, strict=True)
                    )
                self._leave_aside(id, places)
            if unit_id is not None and not self._joins_beneath:
                self._pile(unit_id, under=False)

    def _lies_beside_map(self, places: Places) -> bool:
        if self._grid is None:
            return False
        (place,) = places  # counters have one base
        cube, _ = self._grid.cube_at((place.x_mm, place.y_mm))
        return self._grid.number(cube) is None

    def advance(self, seconds: float) -> None:
        """Advances the time, and the script unless paused; stops units whose path is blocked."""
        self.mount.advance(seconds)
        self.lamp.advance(seconds)
        with self._lock:
            if self._paused:
                return
            before_s = self._elapsed_s
            self._elapsed_s += seconds
            # Only units that have left the script can block others.
            if self._aside:
                self._stop_blocked_units(before_s, self._elapsed_s)

    def move_unit(self, unit_id: str, x_mm: float, y_mm: float, heading_deg: float) -> None:
        """Moves a unit's centre to a place and heading; its bases keep their formation.

        Dropped on another unit it slides off into contact; a counter on hexes lies on top of others
        there, or beneath them if the game has it so. A unit that was taken off the table as a whole
        is put back; a single base that was taken off stays away.

        Raises:
            BadInput: There is no such unit, it would leave the table, or it would overlap another
                unit by more than a base width.
        """
        self.move_units({unit_id: (x_mm, y_mm, heading_deg)})

    def move_units(self, places: Mapping[str, tuple[float, float, float]]) -> tuple[str, ...]:
        """Moves units together, each to a place (x_mm, y_mm, heading_deg); see `move_unit`.

        Returns a sentence about each that slid off another unit.

        Raises:
            BadInput: As for `move_unit`, of any of them; then none is moved.
        """
        with self._lock:
            before = dict(self._aside), self._off
            for unit_id in places:
                tags = self._tags_of(unit_id)
                if self._off >= tags:
                    self._off -= tags
            # In their present order: counters moved together keep it.
            together = sorted(places, key=self._order, reverse=self._joins_beneath)
            try:
                # Take all of them first: a unit may be put where another of them lay.
                for unit_id, place in places.items():
                    self._aside[unit_id] = self._carried_to(unit_id, place)
                slides = []
                for unit_id in places:
                    self._aside[unit_id], slide = self._clear_of_others(
                        unit_id, self._aside[unit_id]
                    )
                    self._check_on_table(unit_id, self._aside[unit_id])
                    slides.append(slide)
            except BadInput:
                self._aside, self._off = before
                raise
            for unit_id in together:
                self._leave_aside(unit_id, self._aside[unit_id])
                self._pile(unit_id, under=self._joins_beneath)
        return tuple(filter(None, slides))

    def turn_over(self, unit_id: str, face: int, *, under: bool = False) -> None:
        """Turns a counter to another of its sides, or exchanges it for that counter, on its stack.

        Args:
            unit_id: The unit.
            face: The tag of the side that lies upward from now on.
            under: Puts it beneath the stack instead.

        Raises:
            BadInput: There is no such unit, or the tag is not one of its own.
        """
        with self._lock:
            self._tags_of(unit_id, face)
            self._aside[unit_id] = self._places(unit_id)
            self._aside_faces[unit_id] = (face,)
            self._pile(unit_id, under=under)

    def _pile(self, unit_id: str, *, under: bool) -> None:
        self._piles += 1
        self._piled[unit_id] = -self._piles if under else _ON_TOP + self._piles

    def _order(self, unit_id: str) -> float:
        """Returns a unit's number in a stack: it lies on overlapping units with smaller numbers."""
        piled = self._piled.get(unit_id)
        return self._timeline.order(unit_id, self.script_s) if piled is None else piled

    def _faces(self, unit_id: str) -> Faces:
        return self._aside_faces.get(unit_id) or self._timeline.faces(unit_id, self.script_s)

    def _base_type(self, unit_id: str) -> BaseType:
        return self._timeline.base_type_by_tag[self._faces(unit_id)[0]]

    def _turn_as_seen(self, unit_id: str, seen: Collection[int | None]) -> None:
        """Turns a counter to the side shown in a position."""
        for tag in self._timeline.all_tags[unit_id]:
            if tag in seen and len(self._faces(unit_id)) == 1:
                self._aside_faces[unit_id] = (tag,)

    def _carried_to(self, unit_id: str, place: tuple[float, float, float]) -> Places:
        _check_finite(*place)
        places = self._places(unit_id)
        start = unit_place(self._lying(unit_id, places), self._base_type(unit_id))
        return carried(places, start, Place(*place))

    @property
    def off(self) -> frozenset[int]:
        """The tags of all bases that were taken off the table."""
        with self._lock:
            return self._off

    def take_off(self, unit_id: str, tag: int | None = None) -> None:
        """Takes a unit off the table, or only its base with a tag.

        Raises:
            BadInput: There is no such unit or base, or it is already off the table.
        """
        with self._lock:
            tags = self._tags_of(unit_id, tag) - self._off
            if not tags:
                raise BadInput("table", f"expected {unit_id} on the table: it was taken off")
            self._aside[unit_id] = self._places(unit_id)  # Takes the unit out of the script.
            self._off |= tags

    def put_back(self, unit_id: str, tag: int | None = None) -> None:
        """Puts a unit that was taken off, or its base with a tag, back to its place.

        If another unit lies there now, it slides off, as in `move_unit`.

        Raises:
            BadInput: There is no such unit or base, it is on the table, or there is no room.
        """
        with self._lock:
            tags = self._tags_of(unit_id, tag) & self._off
            if not tags:
                raise BadInput("table", f"expected {unit_id} off the table, but it is there")
            before, self._off = self._off, self._off - tags
            try:
                places, _ = self._clear_of_others(unit_id, self._places(unit_id))
                self._check_on_table(unit_id, places)
            except BadInput:
                self._off = before
                raise
            self._leave_aside(unit_id, places)

    def bump_camera(self, right_px: float, down_px: float, roll_deg: float = 0.0) -> None:
        """Bumps the camera, so that the middle of its picture shifts by about this much.

        Raises:
            BadInput: A value is not finite.
        """
        _check_finite(right_px, down_px, roll_deg)
        self.mount.bump(Tilt(right_px, down_px, roll_deg))

    def dim_lamp(self, light: float) -> None:
        """Fades the lamp to a share of full light, 0 to 1.

        Raises:
            BadInput: The share is not from 0 to 1.
        """
        if not 0 <= light <= 1:
            raise BadInput("lamp", f"expected a share from 0 to 1, got {light}")
        self.lamp.dim(light)

    @property
    def light(self) -> float:
        """The share of full light at the end of the lamp's current fade."""
        return self.lamp.goal

    def push_table_tag(
        self, tag_id: int, dx_mm: float, dy_mm: float, turn_deg: float = 0.0
    ) -> None:
        """Pushes one of the table tags from its place.

        Raises:
            BadInput: The table has no such tag, or a value is not finite.
        """
        _check_finite(dx_mm, dy_mm, turn_deg)
        listed = {tag.id: Place(tag.x_mm, tag.y_mm, 90.0) for tag in self.roster.table_tags}
        if tag_id not in listed:
            raise BadInput("table", f"expected one of the tags {sorted(listed)}, got {tag_id}")
        with self._lock:
            place = self._pushed.get(tag_id, listed[tag_id])
            pushed = Place(place.x_mm + dx_mm, place.y_mm + dy_mm, place.heading_deg + turn_deg)
            self._pushed = {**self._pushed, tag_id: pushed}

    def places(self) -> dict[int, Place]:
        """Returns the current place of each base, by tag."""
        with self._lock:
            lying = {
                tag: (place, id)
                for id in self._timeline.ids
                for tag, place in zip(self._faces(id), self._places(id), strict=True)
                if tag not in self._off
            }
            places = {tag: place for tag, (place, _) in lying.items()}
            if self._grid is None:
                return places
            order = {tag: self._order(id) for tag, (_, id) in lying.items()}
            return stacked(places, self._timeline.base_type_by_tag, order)

    def truth(self) -> Position:
        """Returns the current exact position."""
        return true_position(self.roster, self.places())

    def scene(self) -> Scene:
        """Returns the current scene of bases and hands."""
        with self._lock:
            now_s = self.script_s
            visits = [
                visit
                for visit in self._timeline.visits_at(now_s)
                if visit.id not in self._aside and not self._is_left_alone
            ]
            held = frozenset(
                tag
                for visit in visits
                if visit.legs and visit.arrive_s <= now_s <= visit.leave_s
                for tag in self._faces(visit.id)
            )
            hands = tuple(self._timeline.hand(visit, now_s) for visit in visits if visit.shows)
            return Scene(self.places(), hands, held, self._pushed, self.mount.tilt, self.lamp.light)

    def _remaining_carry_s(self) -> float:
        """Returns the time until hands have put down the units they carry, 0 if none."""
        now_s = self.script_s
        return max(
            (
                visit.legs[-1].end_s - now_s
                for visit in self._timeline.visits_at(now_s)
                if visit.legs
                and visit.id not in self._aside
                and visit.legs[0].begin_s < now_s < visit.legs[-1].end_s - _INSTANT_S
            ),
            default=0.0,
        )

    def _places(self, id: str) -> Places:
        return self._aside.get(id) or self._timeline.places(id, self.script_s)

    def _tags_of(self, unit_id: str, tag: int | None = None) -> frozenset[int]:
        """Returns the tags of a unit or commander, or only the given one of them."""
        if unit_id not in self._timeline.ids:
            raise BadInput("table", f"expected a unit on the table, got {unit_id!r}")
        tags = frozenset(self._timeline.all_tags[unit_id])
        if tag is not None and tag not in tags:
            raise BadInput(
                "table", f"expected a base of {unit_id}, one of {sorted(tags)}, got {tag}"
            )
        return tags if tag is None else frozenset({tag})

    def _leave_aside(self, unit_id: str, places: Places) -> None:
        """Takes a unit out of the script, and all units that would run into it."""
        self._aside[unit_id] = places
        now_s = self.script_s
        for visit in self._timeline.visits_at(now_s):
            self._stop_if_blocked(visit, now_s)

    def _lying(self, id: str, places: Places) -> Places:
        """Returns the places of a unit's bases without those that were taken off the table."""
        return tuple(
            place
            for tag, place in zip(self._faces(id), places, strict=True)
            if tag not in self._off
        )

    def _clear_of_others(self, unit_id: str, places: Places) -> tuple[Places, str]:
        """Slides a unit off the units that it was dropped on, unless they are counters.

        Returns a sentence about a visible slide, else an empty one.
        """
        if self._grid is not None:
            return places, ""
        # A unit's outline moves as one piece, so gaps between its bases count as covered.
        mine = unit_outline_mm(self._lying(unit_id, places), self._base_type(unit_id))
        others = {
            id: unit_outline_mm(lying, self._base_type(id))
            for id in self._timeline.ids
            if id != unit_id and (lying := self._lying(id, self._places(id)))
        }
        outlines = np.array(list(others.values())).reshape(-1, 4, 2)
        step = way_out_mm(mine, outlines, self.roster.table.marker_mm)
        depths_mm = {
            id: float(overlaps_mm(mine[None], outline[None])[0, 0])
            for id, outline in others.items()
        }
        under = max(depths_mm, key=depths_mm.__getitem__, default="")
        if step is None:
            raise BadInput(
                "table", f"expected a free place for {unit_id}, got one where {under} is"
            )
        dx_mm, dy_mm = (float(value) for value in step)
        slide_mm = math.hypot(dx_mm, dy_mm)
        said = f"{unit_id} lay on {under}: it slid {slide_mm:.0f} mm, into contact"
        return tuple(
            Place(place.x_mm + dx_mm, place.y_mm + dy_mm, place.heading_deg) for place in places
        ), (said if slide_mm >= _SEEN_MM else "")

    def _check_on_table(self, unit_id: str, places: Places) -> None:
        table = self.roster.table
        lying = self._lying(unit_id, places)
        corners = unit_corners_mm(lying, self._base_type(unit_id)).reshape(-1, 2)
        low, high = corners.min(axis=0), corners.max(axis=0)
        edge = np.array([table.width_mm, table.depth_mm])
        if not ((low >= -_ON_THE_EDGE_MM).all() and (high <= edge + _ON_THE_EDGE_MM).all()):
            raise BadInput(
                "table",
                f"expected {unit_id} to lie within {table.width_mm:g} x {table.depth_mm:g} mm, got "
                f"corners from ({low[0]:.0f}, {low[1]:.0f}) to ({high[0]:.0f}, {high[1]:.0f})",
            )

    def _stop_blocked_units(self, before_s: float, now_s: float) -> None:
        """Stops the units whose move began in between and whose path is blocked."""
        loop_s = self._timeline.loop_s
        first = int(before_s // loop_s)
        # The script repeats, so a step may span the end of a loop.
        for turn in range(first, int(now_s // loop_s) + 1):
            for visit in self._timeline.visits:
                if before_s < visit.begin_s + turn * loop_s <= now_s:
                    self._stop_if_blocked(visit, visit.begin_s)

    def _stop_if_blocked(self, visit: Visit, from_s: float) -> None:
        """Takes a visit's unit out of the script if it would run into one that has left it."""
        if not visit.legs or visit.id in self._aside or self._grid is not None:
            return
        base_type = self._base_type(visit.id)
        standing = [
            unit_corners_mm(lying, self._base_type(id))
            for id, places in self._aside.items()
            if (lying := self._lying(id, places))
        ]
        if not standing:
            return
        others = np.concatenate(standing)
        for places in visit.swept(from_s):
            if do_overlap(unit_corners_mm(places, base_type), others):
                # It stops where it is, before its push.
                self._aside[visit.id] = self._timeline.places(visit.id, from_s)
                return


def _check_finite(*values: float) -> None:
    if not all(map(math.isfinite, values)):
        raise BadInput("table", f"expected finite numbers, got {', '.join(map(str, values))}")
