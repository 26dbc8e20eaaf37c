"""Marches to judge: a unit's old and new poses, other units and terrain."""

from tablecam.rules.maurice.field.field import Field, field_of
from tablecam.rules.maurice.movement.judge import judge_move
from tablecam.rules.maurice.movement.ways import Way
from tablecam.table.model import Terrain, Unit
from tests.rules.maurice.tables import position


def field(*units: Unit, terrain: tuple[Terrain, ...] = ()) -> Field:
    return field_of(position(*units, terrain=terrain))


def judged(start: Unit, end: Unit, *others: Unit, terrain: tuple[Terrain, ...] = ()) -> Way:
    here = field(start, *others, terrain=terrain)
    return judge_move(here, here.by_id[start.id], end.bases)
