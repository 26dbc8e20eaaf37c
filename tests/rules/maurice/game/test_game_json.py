"""States and actions as documents: nothing is lost, and errors are explained."""

import pytest

from tablecam.errors import BadInput
from tablecam.rules.dice import Roll
from tablecam.rules.maurice.game import GAME, actions
from tablecam.rules.maurice.game.command import VolleyChoice
from tests.rules.maurice.game.states import state_at
from tests.rules.maurice.tables import line, position


def test_what_is_empty_unless_said_is_left_out_of_an_action():
    due = GAME.action_to_json(Roll("to hit", 3))
    assert due == {"type": "roll", "for": "to hit", "count": 3, "sides": 6}
    assert GAME.action_to_json(actions.Fire("F1", {})) == {
        "type": "fire",
        "unit": "F1",
        "targets": {},
    }


@pytest.mark.parametrize(
    ("document", "said"),
    [
        (3, "action: expected an object with keys, got 3"),
        ({}, "action: expected a key that gives the type, but it is missing"),
        ({"type": "fly"}, "action: expected type to be one of roll, "),
        (
            {"type": "roll", "for": "F1 to hit", "count": 10**6, "sides": 6},
            "action: expected 1 to 100 dice of 2 to 100 sides, got 1000000 of 6",
        ),
        (
            {"type": "roll", "for": "F1 to hit", "count": 10**9, "sides": 6},
            "action: count: expected a number from -1000000 to 1000000, got 1000000000",
        ),
        ({"type": "volleys"}, "action: invoke: expected this key, but it is missing"),
        ({"type": "volleys", "invoke": 1}, "action: invoke: expected true or false, got 1"),
        ({"type": "done", "so": 1}, "action: so: unknown key"),
        ({"type": "activate", "force": "F1"}, 'action: force: expected a list, got "F1"'),
        (
            {"type": "activate", "force": ["F1"], "spans": [4, "6"]},
            'action: spans[2]: expected a whole number, got "6"',
        ),
        (
            {"type": "march", "unit": "F1", "bases": [{"x_mm": 1.0}]},
            "action: bases[1].y_mm: expected this key, but it is missing",
        ),
    ],
)
def test_an_action_that_is_none_is_refused_in_one_line(document, said):
    with pytest.raises(BadInput) as refused:
        GAME.action_from_json(document)
    assert str(refused.value).startswith(said)


def test_a_state_that_is_none_is_refused_by_its_key():
    table = position(line("F1", "french", 500, 400), line("B1", "british", 500, 800, 270.0))
    document = GAME.state_to_json(state_at(table, VolleyChoice()))
    for changed, said in (
        ({"position": 3}, "state: position: expected a table of keys, got 3"),
        ({"step": {}}, "state: step: expected a key that gives the type, but it is missing"),
        ({"step": {"type": "flying"}}, "state: step: expected type to be one of "),
        (
            {"step": {"type": "drawing", "side": "french", "count": 1, "then": {"type": "flying"}}},
            "state: step.then: expected type to be one of ",
        ),
        (
            {"step": {"type": "rolling-rally", "unit": "F1", "rallying": {"type": "marching"}}},
            "state: step.rallying.",
        ),
        ({"deck": {"left": "many", "discarded": 0}}, "state: deck.left: expected a whole number"),
    ):
        with pytest.raises(BadInput) as refused:
            GAME.state_from_json(document | changed)
        assert str(refused.value).startswith(said)
