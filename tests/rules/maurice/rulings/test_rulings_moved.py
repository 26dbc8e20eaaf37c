"""No ruling depends on the place on the table, the compass direction, or left and right."""

from dataclasses import replace
from typing import Any

from hypothesis import given, settings

from tablecam.rules.maurice.combat.combat import cover_answer, meeting
from tablecam.rules.maurice.field.field import Field, field_of
from tablecam.rules.maurice.field.requests import Combat
from tablecam.rules.maurice.movement.judge import judge_move
from tablecam.rules.maurice.resolve import resolve
from tablecam.rules.maurice.rulings.facts import Rulings
from tablecam.rules.maurice.rulings.rulings import rulings_document
from tablecam.table.headings import forward
from tablecam.table.model import BasePose, Position
from tests.rules.maurice.moved import Motion, motions
from tests.rules.maurice.tables import SOUTH, box, column, gun, line, massed, position

UNITS = (
    line("F1", "french", 470, 443),
    massed("F2", "french", 660, 456, 91.0),
    gun("F3", "french", 760, 390, 95.0),
    column("F4", "french", 900, 350, 80.0),
    line("B1", "british", 480, 483.5, SOUTH),
    line("B2", "british", 655, 570, 268.0),
    massed("B3", "british", 830, 560, 250.0),
    gun("B4", "british", 345, 522, SOUTH + 20),
)
GROUND = (
    box("woods", 560, 505, 640, 620),
    box("wall", 700, 500, 860, 506),
    box("rough", 850, 300, 1000, 420),
)


def ruled(of: Position) -> dict[str, Any]:
    """Returns the rulings without places and words for left and right."""
    found = rulings_document(Rulings(field_of(of), "french"))
    units = {
        name: {
            "near": (unit["near_enemy"]["answer"], unit["near_enemy"]["nearest"]),
            "fire": {
                base: (
                    fire["blocked"],
                    sorted((each["target"], each["range"], each["to_hit"]) for each in options),
                )
                for base, fire in unit["fire"].items()
                for options in [fire["options"]]
            },
            "charge": (unit["charge"]["eligible"], sorted(unit["charge"]["targets"])),
            "same": [
                unit[key]
                for key in ("in_contact", "flanked_by", "engaged_with", "bad_terrain", "in_water")
            ],
            "allowance": unit["allowance_bw"],
        }
        for name, unit in found["units"].items()
    }
    pairs = {
        (each["a"], each["b"]): (each["b_is"], each["b_to_flank_of_a"]) for each in found["pairs"]
    }
    field = field_of(of)
    ours, theirs = field.of_side("french"), field.of_side("british")
    return {
        "units": units,
        "pairs": pairs,
        "forces": found["forces"],
        "doubts": found["doubts"],
        "covers": [cover_answer(field, a, b).answer for a in ours for b in theirs],
        "combat": fought(field),
        "marches": [
            judge_move(field, field.by_id["F1"], set_back(of, back_mm)).is_legal.answer
            for back_mm in (30.0, 90.0)
        ],
    }


def fought(field: Field) -> Any:
    """Returns the result of a combat of all engaged units, falling back included."""
    dice = {name: 1 + place % 6 for place, name in enumerate(meeting(field, "french").engaged)}
    return resolve(field, Combat("french", {}, dice))["units"]


def set_back(of: Position, back_mm: float) -> tuple[BasePose, ...]:
    """Returns the bases of F1 moved back."""
    moved = []
    for base in of.units[0].bases:
        x, y = forward(base.heading_deg)
        moved.append(replace(base, x_mm=base.x_mm - back_mm * x, y_mm=base.y_mm - back_mm * y))
    return tuple(moved)


AS_LAID = ruled(position(*UNITS, terrain=GROUND))


def test_the_table_has_something_of_everything() -> None:
    units = AS_LAID["units"].values()
    assert any(unit["charge"][1] for unit in units)
    assert any(options for unit in units for _, options in unit["fire"].values())
    assert AS_LAID["units"]["F1"]["same"][2] == ["B1"]
    assert {*AS_LAID["covers"]} == {"yes", "no"}
    assert AS_LAID["combat"].keys() >= {"F1", "B1"}
    assert not AS_LAID["doubts"]


@settings(max_examples=12)
@given(motion=motions)
def test_moving_turning_and_mirroring_the_whole_table_change_no_ruling(motion: Motion) -> None:
    terrain = [motion.terrain(piece) for piece in GROUND]
    assert ruled(position(*map(motion.unit, UNITS), terrain=terrain)) == AS_LAID
