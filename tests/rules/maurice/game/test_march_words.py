"""Marches in a few words, as on buttons."""

import pytest

from tablecam.geometry.moves.paths import Straight
from tablecam.rules.maurice.field.field import field_of
from tablecam.rules.maurice.game import GAME
from tablecam.rules.maurice.game.march import Marching, march_words, path_words
from tablecam.rules.maurice.game.marches import usual_marches
from tablecam.rules.maurice.movement.judge import placed
from tablecam.rules.maurice.movement.ways import Way
from tablecam.uncertainty.answer import Answer
from tests.rules.maurice.game.states import laid
from tests.rules.maurice.tables import box, column, gun, line, massed, position


@pytest.mark.parametrize(
    ("unit", "said"),
    [
        (
            line("F1", "french", 600, 400),
            [
                "2.0 BW ahead",
                "4.0 BW ahead",
                "wheel left 14° (1.0 BW)",
                "wheel left 57° (4.0 BW)",
                "wheel right 14° (1.0 BW)",
                "wheel right 57° (4.0 BW)",
                "2.0 BW back",
                "face about",
                "into column, facing left",
                "into column, facing right",
            ],
        ),
        (
            column("F1", "french", 600, 400),
            ["4.0 BW ahead", "6.0 BW ahead", "12.0 BW ahead", "face about"],
        ),
        (gun("F1", "french", 600, 400), ["2.0 BW ahead", "6.0 BW to the left", "turn 45° right"]),
        (
            massed("F1", "french", 600, 400),
            [
                "8.0 BW ahead",
                "wheel left 90° (3.1 BW)",
                "into line, to both sides",
                "into line, to the left",
                "into line, to the right",
                "into column, left file first",
                "into column, right file first",
            ],
        ),
        (
            line("F1", "french", 600, 400, arm="cavalry"),
            [
                "into massed, on its right half",
                "into massed, on its left half",
                "into massed, on its middle",
            ],
        ),
        (
            column("F1", "french", 600, 400, arm="cavalry"),
            ["into massed, to the left", "into massed, to the right"],
        ),
    ],
)
def test_m_6_21_a_usual_march_says_what_it_is(unit, said):
    field = field_of(position(unit, line("B1", "british", 1500, 1100, 270.0)))
    here = field.by_id["F1"]
    ends = (placed(field, here, march.bases).by_id["F1"] for march in usual_marches(field, here))
    words = [march_words(field, here, end) for end in ends]
    assert set(said) <= set(words)
    assert len(set(words)) == len(words)
    if len(said) == len(words):
        assert words == said


def test_m_6_7_a_march_is_offered_with_what_it_costs():
    """M-6.3"""
    horse = massed("F1", "french", 600, 400)
    woods = box("woods", 500, 640, 700, 660)
    units = horse, line("F2", "french", 600, 560), line("B1", "british", 1500, 1100, 270.0)
    state = laid(Marching(("F1",)), *units, terrain=(woods,))
    labels = [GAME.offered(state, action).label for action in GAME.legal(state)]
    assert "F1: 8.0 BW ahead: 2 disruptions, F2 1" in labels
    assert "F1: face about" in labels


def test_straight_moves_in_a_row_are_told_as_one():
    field = field_of(position(line("F1", "french", 600, 400)))
    unit = field.by_id["F1"]
    steps = (Straight(90.0, 53.0), Straight(90.0, 27.0))
    found = Way(Answer("yes", 80.0, 0.0, 1.0, "M-6.12", ""), 2.0, 4.0, steps=steps)
    assert path_words(field, unit, unit, found) == "moved ahead 2 BW"
