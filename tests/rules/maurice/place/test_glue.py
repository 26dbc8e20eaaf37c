"""Inaccurately glued tags: rulings on the bases beneath state correct probabilities."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from tablecam.rules.maurice.field.field import Field, field_of
from tablecam.rules.maurice.place.contacts import contacts_of_field, to_flank
from tablecam.rules.maurice.place.ranges import near_enemy
from tablecam.table.headings import forward
from tablecam.table.model import Position
from tablecam.table.roster import BaseType, Roster, UnitEntry
from tablecam.uncertainty.lengths import distance
from tablecam.vision.detection.sighting import TagSighting
from tablecam.vision.tracking.position import position_of
from tablecam.vision.tracking.tracking import BaseTracker
from tests.rules.maurice.tables import BW, TABLE, line, position
from tests.vision.sightings import CAMERA

GLUE_MM, GLUE_DEG = 0.5, 1.0
FIT_MM, FIT_DEG = 0.05, 0.2
TABLES = 60
"""With 1,200 tables of each kind, likely and unlikely rulings are off by at most 0.026."""
FOOT = BaseType(
    "foot", BW, BW, 14, tag_right_mm=4, tag_forward_mm=-8,
    glue_sigma_mm=GLUE_MM, glue_sigma_deg=GLUE_DEG,
)  # fmt: skip
EXACT = replace(FOOT, glue_sigma_mm=0.0, glue_sigma_deg=0.0)


def roster_of(base_type: BaseType) -> Roster:
    sides = ("F1", "french", range(10, 14)), ("B1", "british", range(20, 24))
    return Roster(
        game="maurice-lite", table=TABLE, dictionary="DICT_4X4_250", table_tag_size_mm=50,
        table_tags=(), base_types=(base_type,), commanders=(), terrain=(),
        units=tuple(
            UnitEntry(name, side, "infantry", base_type, tuple(tags)) for name, side, tags in sides
        ),
    )  # fmt: skip


def seen(truth: Position, base_type: BaseType, luck: np.random.Generator) -> Position:
    """Returns a position as a camera sees it, with random errors of gluing."""
    bases = [base for unit in truth.units for base in unit.bases]
    roster = roster_of(base_type)
    sightings = []
    for base, tag in zip(bases, roster.base_type_by_tag(), strict=True):
        right_mm, ahead_mm = luck.normal((FOOT.tag_right_mm, FOOT.tag_forward_mm), GLUE_MM)
        ahead_x, ahead_y = forward(base.heading_deg)
        x_mm = base.x_mm + ahead_mm * ahead_x + right_mm * ahead_y + luck.normal(0, FIT_MM)
        y_mm = base.y_mm + ahead_mm * ahead_y - right_mm * ahead_x + luck.normal(0, FIT_MM)
        heading_deg = base.heading_deg + luck.normal(0, math.hypot(GLUE_DEG, FIT_DEG))
        covariance = np.diag([FIT_MM**2, FIT_MM**2, math.radians(FIT_DEG) ** 2])
        sightings.append(
            TagSighting(tag, x_mm, y_mm, heading_deg, 0.0, covariance, np.zeros((4, 2)))
        )
    return position_of(BaseTracker(roster, CAMERA).update(sightings, 0.0), roster, None)


def near(field: Field) -> float:
    return near_enemy(field, field.units[0]).answer.probability


def touches(field: Field) -> float:
    return contacts_of_field(field).answer("F1", "B1").probability


def flanks(field: Field) -> float:
    return to_flank(field, field.units[0], field.units[1]).probability


def facing(gap_mm: float, luck: np.random.Generator) -> Position:
    """Two lines, square or oblique, whose nearest points are about `gap_mm` apart."""
    turn_deg = luck.choice([luck.normal(0, 0.5), luck.uniform(5, 20)])
    first, second = line("F1", "french", 600, 400), line("B1", "british", 600, 520, 270 + turn_deg)
    # All of B1 lies straight ahead of F1, so it comes nearer by as much as it moves.
    beyond_mm = distance(first, second).value_mm - gap_mm - luck.uniform(-2.9, 5)
    return position(first, line("B1", "british", 600, 520 - beyond_mm, 270 + turn_deg))


def beside(luck: np.random.Generator) -> Position:
    """Half of B1's bases, beside F1, reach about as far forward as its front line."""
    turn_deg = luck.uniform(-20, 20)
    back_mm = BW / 2 * (math.cos(math.radians(turn_deg)) + abs(math.sin(math.radians(turn_deg))))
    first, x_mm = line("F1", "french", 600, 400), luck.uniform(770, 820)
    second = line("B1", "british", x_mm, 400, turn_deg)
    inner = sorted(base.y_mm for base in second.bases)[1]
    y_mm = 400 + BW / 2 - back_mm - (inner - 400) + luck.uniform(-5, 5)
    return position(first, line("B1", "british", x_mm, y_mm, turn_deg))


KINDS = {
    "near": (near, lambda luck: facing(4 * BW, luck)),
    "touches": (touches, lambda luck: facing(1.0, luck)),
    "to the flank": (flanks, beside),
}


def stated_and_held(kind: str, base_type: BaseType) -> np.ndarray:
    """Returns pairs (n, 2): the probability that a ruling states, and whether it holds."""
    asked, laid = KINDS[kind]
    luck = np.random.default_rng(1741)
    truths = [laid(luck) for _ in range(TABLES)]
    return np.array(
        [
            (asked(field_of(seen(truth, base_type, luck))), asked(field_of(truth)) > 0.5)
            for truth in truths
        ]
    )


def strays(pairs: np.ndarray) -> float:
    """Returns the share of wrong likely or unlikely rulings in excess of the stated share.

    Two standard errors, for so few tables, are subtracted.
    """
    beyond = []
    for part in (pairs[pairs[:, 0] > 0.5], pairs[pairs[:, 0] <= 0.5]):
        stated, held = part.T
        error = math.sqrt(float((stated * (1 - stated)).sum())) / len(part)
        beyond.append(abs(float((stated - held).mean())) - 2 * error)
    return max(beyond)


@pytest.mark.parametrize("kind", KINDS)
def test_rulings_on_bases_with_glued_tags_are_as_sure_as_they_say(kind):
    assert strays(stated_and_held(kind, FOOT)) <= 0.03


def test_rulings_that_take_the_glue_for_exact_are_not():
    assert strays(stated_and_held("to the flank", EXACT)) > 0.03
