"""Marches in a few words, as on buttons."""

import pytest

from tablecam.geometry.moves.paths import Straight
from tablecam.rules.maurice.field.field import field_of
from tablecam.rules.maurice.game.march import march_words, path_words
from tablecam.rules.maurice.game.marches import usual_marches
from tablecam.rules.maurice.movement.judge import placed
from tablecam.rules.maurice.movement.ways import Way
from tablecam.uncertainty.answer import Answer
from tests.rules.maurice.tables import column, gun, line, massed, position


@pytest.mark.parametrize(
    ("unit", "said"),
    [
        (
            line("F1", "french", 600, 400),
            [
                "2.0 BW ahead",
                "4.0 BW ahead",
                "wheels left 14° (1.0 BW)",
                "wheels left 57° (4.0 BW)",
                "wheels right 14° (1.0 BW)",
                "wheels right 57° (4.0 BW)",
                "2.0 BW back",
                "faced about",
                "into column, facing left",
                "into column, facing right",
            ],
        ),
        (
            column("F1", "french", 600, 400),
            ["4.0 BW ahead", "6.0 BW ahead", "12.0 BW ahead", "faced about"],
        ),
        (gun("F1", "french", 600, 400), ["2.0 BW ahead", "6.0 BW to the left", "turned 45° right"]),
        (
            massed("F1", "french", 600, 400),
            ["8.0 BW ahead", "wheels left 90° (3.1 BW)", "into line"],
        ),
    ],
)
def test_a_usual_march_says_what_it_is(unit, said):
    field = field_of(position(unit, line("B1", "british", 1500, 1100, 270.0)))
    here = field.by_id["F1"]
    ends = (placed(field, here, march.bases).by_id["F1"] for march in usual_marches(field, here))
    words = [march_words(field, here, end) for end in ends]
    assert set(said) <= set(words)
    if unit.formation == "line":
        assert list(dict.fromkeys(words)) == said


def test_straight_moves_in_a_row_are_told_as_one():
    field = field_of(position(line("F1", "french", 600, 400)))
    unit = field.by_id["F1"]
    steps = (Straight(90.0, 53.0), Straight(90.0, 27.0))
    found = Way(Answer("yes", 80.0, 0.0, 1.0, "M-6.12", ""), 2.0, 4.0, steps=steps)
    assert path_words(field, unit, unit, found) == "moved ahead 2 BW"
