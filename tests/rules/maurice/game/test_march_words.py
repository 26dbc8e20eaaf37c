"""Marches in a few words, as buttons say them."""

import pytest

from tablecam.rules.maurice.field import field_of
from tablecam.rules.maurice.game.march_words import march_words
from tablecam.rules.maurice.game.marches import marches
from tests.rules.maurice.tables import column, gun, line, massed, position


@pytest.mark.parametrize(
    ("unit", "said"),
    [
        (
            line("F1", "french", 600, 400),
            [
                "2.0 BW ahead",
                "4.0 BW ahead",
                "wheels left 1.0 BW",
                "wheels left 4.0 BW",
                "wheels right 1.0 BW",
                "wheels right 4.0 BW",
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
        (massed("F1", "french", 600, 400), ["8.0 BW ahead", "wheels left 3.1 BW", "into line"]),
    ],
)
def test_a_usual_march_says_what_it_is(unit, said):
    field = field_of(position(unit, line("B1", "british", 1500, 1100, 270.0)))
    there = field.by_id["F1"]
    words = [march_words(field, there, march.bases) for march in marches(field, there)]
    assert set(said) <= set(words)
    if unit.formation == "line":
        assert list(dict.fromkeys(words)) == said
