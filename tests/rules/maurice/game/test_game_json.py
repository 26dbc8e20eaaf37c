"""States and actions as documents: nothing is lost, and what is wrong is said."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tablecam.errors import BadInput
from tablecam.rules.dice import Roll
from tablecam.rules.maurice.field.requests import ShotAssignment
from tablecam.rules.maurice.game import GAME, actions
from tablecam.rules.maurice.game.cards import Discarding, Drawing, Modifying, Removing
from tablecam.rules.maurice.game.charge import Charging
from tablecam.rules.maurice.game.combat import Rallying, RollingCombat, RollingRally
from tablecam.rules.maurice.game.command import CommandChoice, VolleyChoice
from tablecam.rules.maurice.game.commander import Displacing, EndingRound, MovingCommander
from tablecam.rules.maurice.game.fire import Firing, RollingToHit
from tablecam.rules.maurice.game.march import Marching
from tablecam.rules.maurice.game.state import (
    Card,
    Deck,
    Modification,
    Modifier,
    Options,
    Over,
    Round,
    Side,
    State,
)
from tablecam.table.model import BasePose
from tests.rules.maurice.game.battles import battles
from tests.rules.maurice.game.states import state_at
from tests.rules.maurice.tables import line, position

names = st.text(min_size=1, max_size=5)
some_names = st.lists(names, max_size=3).map(tuple)
counts = st.integers(-9, 99)
dice = st.integers(1, 100)
finite = st.floats(-1e6, 1e6)
poses = st.builds(
    BasePose,
    x_mm=finite,
    y_mm=finite,
    heading_deg=st.floats(0, 359.99),
    width_mm=st.floats(1, 99),
    depth_mm=st.floats(1, 99),
    tag=st.none() | st.integers(0, 99),
    sigma_mm=st.floats(0, 9),
    sigma_deg=st.floats(0, 9),
)
amounts = st.dictionaries(names, counts, max_size=3)


leaf_steps = st.sampled_from(
    [
        VolleyChoice(),
        CommandChoice(),
        MovingCommander(),
        EndingRound(),
        Marching(("F1", "F2"), ("F1",)),
        Charging(("F1",), {"F1": ("B1", "B2")}),
        RollingCombat(("F1", "B1")),
        RollingRally("F1", Rallying(("F1",), ("F2",))),
        RollingToHit(
            (ShotAssignment("F1", "F1/1", "B1"),),
            Firing("volley", "french", "left", None, (), ("british",)),
        ),
        Over(None, "night falls", "M-4.6"),
    ]
)
any_step = st.recursive(
    leaf_steps,
    lambda then: st.one_of(
        st.builds(Drawing, names, counts, then),
        st.builds(Displacing, names, then),
        st.builds(Discarding, names, counts, st.just("hand-limit"), then),
        st.builds(Removing, names, some_names, then, st.none() | names),
        st.builds(Modifying, st.just("bugle"), names, some_names, then),
    ),
    max_leaves=4,
)
any_card = st.builds(
    Card,
    id=names,
    title=names,
    span_bw=st.integers(1, 20),
    text=st.text(max_size=9),
    modifies=st.none() | st.builds(Modification, st.just("flag"), counts),
    interrupts=st.none() | st.just("foil"),
    is_event=st.booleans(),
)


@st.composite
def states(draw):
    laid, began = draw(battles()), draw(battles())
    step = draw(any_step)
    sides = tuple(
        Side(name, draw(counts), draw(counts), draw(some_names)) for name in ("french", "british")
    )
    deck = Deck(draw(counts), draw(counts), "second", draw(some_names), draw(some_names))
    round_ = Round(
        draw(counts),
        "french",
        draw(st.sampled_from([laid, began])),
        fired=frozenset(draw(some_names)),
        modifiers=tuple(
            draw(st.lists(st.builds(Modifier, names, st.just("swords"), amounts), max_size=2))
        ),
        displaced=frozenset(draw(some_names)),
    )
    options = Options(draw(st.none() | names), tuple(draw(st.lists(any_card, max_size=2))))
    return State(laid, sides, deck, round_, step, options, draw(counts))


@settings(max_examples=30)  # a state is large: each holds two whole tables
@given(states())
def test_a_state_is_the_same_after_a_document(before):
    document = json.loads(json.dumps(GAME.state_to_json(before)))
    again = GAME.state_from_json(document)
    assert again == before
    assert type(again.step) is type(before.step)


any_action = st.one_of(
    st.builds(Roll, names, dice, st.just(6), st.none() | st.lists(counts, max_size=4).map(tuple)),
    st.builds(actions.Volleys, st.booleans()),
    st.builds(actions.Interrupt, st.sampled_from(["first-fire", "foil"]), st.none() | names),
    st.builds(actions.Modify, names, st.just("musket"), amounts, st.none() | names),
    st.builds(actions.Decline, names),
    st.builds(actions.Remove, names),
    st.builds(actions.Draw, names, counts, st.none() | some_names, st.none() | counts),
    st.builds(actions.Declare, st.sampled_from(["pass", "event"]), st.none() | names),
    st.builds(actions.Activate, some_names, st.lists(counts, max_size=3).map(tuple), some_names),
    st.builds(actions.FireFrom, st.sampled_from(["left", "right"])),
    st.builds(actions.Fire, names, st.dictionaries(names, names, max_size=3)),
    st.builds(actions.March, names, st.lists(poses, max_size=4).map(tuple)),
    st.builds(actions.ClearSmoke),
    st.builds(actions.Charge, names, names, st.lists(poses, max_size=4).map(tuple)),
    st.builds(actions.FallBack, names),
    st.builds(actions.Rally, names),
    st.builds(actions.PlaceCommander, names, finite, finite, st.none() | names),
    st.builds(actions.Discard, names, counts, some_names),
    st.builds(actions.Done),
)


@given(any_action)
def test_an_action_is_the_same_after_a_document(before):
    document = json.loads(json.dumps(GAME.action_to_json(before)))
    assert next(iter(document)) == "type"
    again = GAME.action_from_json(document)
    assert again == before
    assert type(again) is type(before)


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
        (
            {"type": "activate", "force": "F1"},
            'action: force: expected a list, got "F1"',
        ),
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
        ({"version": 9}, "state: version: expected 1, got 9"),
        ({"position": 3}, "state: position: expected an object with keys, got 3"),
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
