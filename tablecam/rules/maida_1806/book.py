"""Rulings on counters as they lie: their hexes and facings with doubts, sight, and who reacts.

A position knows neither terrain nor Strength: sight is ruled on as over open ground.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any, Final

from tablecam.geometry.shapes import Shape
from tablecam.rules.hexes.counters import Place, place_finding, place_of, range_findings, seen_faces
from tablecam.rules.hexes.files import Ground
from tablecam.rules.hexes.grid import grid_of
from tablecam.rules.hexes.stacks import box_of, out_of_boxes
from tablecam.rules.hexes.zones import ZONES, zones_of
from tablecam.rules.maida_1806 import field, page, reaction
from tablecam.rules.maida_1806.board import Board
from tablecam.rules.maida_1806.files import SomeCharts
from tablecam.rules.maida_1806.state import State
from tablecam.rules.maida_1806.tables import GAME, RIFLE_RANGE
from tablecam.rules.maida_1806.troops import KINDS, Kind, Piece, Troop
from tablecam.rules.measuring import Measures
from tablecam.rules.reports import Finding, Question, Section
from tablecam.table.model import Position, Unit
from tablecam.uncertainty.answer import Answer, certain


class HexBook(Measures):
    """What the rules say of counters on a map, without a game in progress."""

    def sections(self, handle: object, *units: str) -> Sequence[Section]:
        """Returns a unit's place and zones, or distance, sight and reactions of two units."""
        position = out_of_boxes(self.ruled_position(handle))
        if position.table.hex_map is None:
            return super().sections(handle, *units)
        by_id = {unit.id: unit for unit in position.units}
        named = [by_id[unit] for unit in units]
        state = state_of(position)
        place = Section("place", "Place", partial(_places, position, named))
        if {*units} - {piece.id for piece in state.on_map()}:
            return [place]
        if len(named) == 1:
            return [place, Section("zones", "Zones", partial(_zones, state, *named))]
        pairs = (tuple(named), tuple(named[::-1]))
        return [
            Section("range", "Range", partial(range_findings, position, "D-G8", *named)),
            Section("sight", "Sight", lambda: (_sight(state, *pair) for pair in pairs)),
            Section("react", "Reaction", lambda: (_reacts(state, *pair) for pair in pairs)),
        ]


def state_of(position: Position) -> State:
    """Returns the counters of a position on open ground, those off the map left out."""
    assert position.table.hex_map is not None
    grid = grid_of(position.table.hex_map)
    pieces, troops = [], {}
    for unit in position.units:
        if not unit.bases or box_of(unit) is not None:
            continue
        place = place_of(grid, unit.bases[0])
        formation = _formation(unit, place)
        kind: Kind = "company" if formation == "skirmish" else KINDS[unit.arm]
        # Unchecked, as the sides of any table are ruled on.
        printed: dict[str, Any] = {"id": unit.id, "side": unit.side, "arm": unit.arm, "kind": kind}
        troops[unit.id] = Troop.model_construct(**printed)
        pieces.append(Piece(unit.id, place.hexes, formation, place.facing_deg))  # type: ignore[arg-type]
    board = Board(Ground(grid, "clear", {}, {}), SomeCharts(), troops, {}, {})
    return State(position, {}, tuple(pieces), (), phase="movement", given=board)


def _formation(unit: Unit, place: Place) -> str:
    """Returns a unit's formation by its face, else by how its counter lies."""
    for face in seen_faces(unit)[:1]:
        if face["formation"]:
            return str(face["formation"])
    if unit.arm == "artillery":
        return "battery"
    return str(unit.state.get("formation") or ("line" if len(place.hexes) > 1 else "column"))


def _places(position: Position, units: Sequence[Unit]) -> Iterator[Finding]:
    """Yields in which hexes counters lie and how they face, each with its doubt (D-G3, D-G4)."""
    for unit in units:
        if not unit.bases:
            continue
        place, finding = place_finding(position, unit, "D-G3", has_facing=True)
        yield finding
        if not place.hexes:
            continue
        faces = f"{unit.id} faces {field.facing_words(place.facing_deg)}"
        answer = certain("yes", "D-G4", faces)
        if place.other_facing_deg is not None:
            faces += f" or {field.facing_words(place.other_facing_deg)}"
            answer = Answer("too_close", 0.0, 0.0, 0.5, "D-G4", faces)
        yield Finding(faces, answer)


def _zones(state: State, unit: Unit) -> Iterator[Finding | Shape]:
    """Yields a unit's Front, Flank and Rear hexes, and draws its field of view."""
    piece = state.piece(unit.id)
    zones = zones_of(state.grid, piece.hexes, piece.facing_deg)
    for name in ZONES:
        hexes = state.grid.on_map(zones.of(name))
        yield Finding(f"{name.capitalize()}: {', '.join(hexes) or 'off the map'}", rule="D-G5")
        yield from state.grid.outlines(hexes, name)
    if unit.arm == "infantry":
        yield from page.field_of_view(state, unit.id)


def _sight(state: State, firer: Unit, target: Unit) -> Finding:
    """Returns whether a unit has another in sight, on open ground (D-14.2)."""
    piece, hexes = state.piece(firer.id), state.piece(target.id).hexes
    shape = state.grid.way((piece.hexes, hexes), "line-of-sight")
    apart = not set(piece.hexes) & set(hexes)
    hidden = field.blockers(state, piece, hexes) if apart else ()
    in_front = apart and field.leaves_by_front(state, piece, hexes)
    sees = in_front and not hidden
    why = f"{firer.id} has {target.id} in sight"
    if not apart:
        why = f"{firer.id} and {target.id} lie in the same hex"
    elif hidden:
        why = f"{', '.join(hidden)} hide {target.id} from {firer.id}"
    elif not in_front:
        why = f"{target.id} is not before the Front of {firer.id}"
    far = state.grid.distance(piece.hexes, hexes) > RIFLE_RANGE
    if sees and far and firer.arm == "infantry":
        why += ", out of range"
    asked = Question(f"sight/{firer.id}/{target.id}", f"Does {firer.id} see {target.id}?")
    rule = "D-14.1" if hidden else "D-14.2"
    answer = certain("yes" if sees else "no", rule, why, (shape,))
    return Finding(why, answer, question=asked)


def _reacts(state: State, mover: Unit, unit: Unit) -> Finding:
    """Returns whether a unit reacts to another that enters its hex (D-13.1)."""
    must, may = reaction.triggered(state, (mover.id,), "entered")
    reacts = mover.side != unit.side and unit.id in (*must, *may)
    why = f"{unit.id} {'reacts' if reacts else 'does not react'} if {mover.id} moves here"
    asked = Question(f"react/{mover.id}/{unit.id}", f"Does {unit.id} react to {mover.id}?")
    return Finding(why, certain("yes" if reacts else "no", "D-13.1", why), question=asked)


BOOK: Final = HexBook(GAME)
"""The book that other modules look up."""
