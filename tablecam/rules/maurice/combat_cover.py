"""Cover in combat: does covering terrain lie between a whole attack and its target (M-8.14)?"""

from __future__ import annotations

import shapely

from tablecam.measure.answer import Shape, shapes_of
from tablecam.measure.lanes import all_ahead
from tablecam.measure.outlines import GRID_MM
from tablecam.measure.sight import HAIR_MM, free_line
from tablecam.rules.maurice.field import Field, UnitOnField
from tablecam.rules.maurice.tables import SLIVER_MM


def has_cover_from(field: Field, attacker: UnitOnField, defender: UnitOnField) -> bool:
    """Whether a defender has cover from an attacker that it is engaged with (M-8.14).

    Cavalry never has; nor has what lies behind the attacker's front line altogether.
    """
    if defender.unit.arm == "cavalry":
        return False
    target = _target(attacker, defender)
    return not shapely.is_empty(target) and _open_line(field, attacker, target) is None


def cover_evidence(field: Field, attacker: UnitOnField, defender: UnitOnField) -> tuple[Shape, ...]:
    """What shows it: the covering terrain in the way, or a line that avoids it."""
    target = _target(attacker, defender)
    line = _open_line(field, attacker, target)
    if line is not None:
        return shapes_of(line, "open-line", f"{defender.id} is open to {attacker.id}")
    between = shapely.convex_hull(shapely.union(_front(attacker), target))
    return shapes_of(
        shapely.intersection(field.ground.cover, between, grid_size=GRID_MM), "cover", "cover"
    )


def _target(attacker: UnitOnField, defender: UnitOnField) -> shapely.Geometry:
    """What of a defender lies ahead of an attacker's front line, less a sliver all around.

    The sliver makes lines to where the two touch a little long, so that the terrain at that place
    decides: what touches at the very edge of a wood in which it stands has cover.
    """
    reach_mm = shapely.hausdorff_distance(_front(attacker), defender.outline)
    half_plane = all_ahead(attacker.axes, reach_mm)
    ahead = shapely.intersection(defender.outline, half_plane, grid_size=GRID_MM)
    return shapely.buffer(ahead, -SLIVER_MM, join_style="mitre")


def _open_line(
    field: Field, attacker: UnitOnField, target: shapely.Geometry
) -> shapely.LineString | None:
    """A straight line from an attacker's front edge to a target that avoids covering terrain.

    A line that begins or ends inside of cover does not avoid it, so only the rest of both is asked.
    """
    cover = field.ground.cover
    in_the_open = shapely.difference(target, cover, grid_size=GRID_MM)
    # What stands along the edge of a wood is not inside of it.
    inside = shapely.buffer(cover, -HAIR_MM, join_style="mitre")
    front = shapely.difference(_front(attacker), inside, grid_size=GRID_MM)
    for part in shapely.get_parts(front):
        line = free_line(part, in_the_open, cover)
        if line is not None:
            return line
    return None


def _front(attacker: UnitOnField) -> shapely.LineString:
    return shapely.LineString([attacker.axes.left_mm, attacker.axes.right_mm])
