"""Games in which players declare before they measure: `DECLARING.md`, paragraph by paragraph."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tablecam.errors import BadInput
from tablecam.rules.game import Refused
from tablecam.rules.maurice.game import GAME
from tablecam.rules.maurice.game.actions import (
    Activate,
    Charge,
    Declare,
    Decline,
    Done,
    Fire,
    FireFrom,
    Volleys,
)
from tablecam.rules.maurice.game.activation import Activating, Interrupting
from tablecam.rules.maurice.game.cards import Drawing, Modifying
from tablecam.rules.maurice.game.charge import Charging
from tablecam.rules.maurice.game.combat import Rallying, RollingCombat
from tablecam.rules.maurice.game.command import CommandChoice, VolleyChoice
from tablecam.rules.maurice.game.commander import MovingCommander
from tablecam.rules.maurice.game.fire import Firing, RollingToDisrupt, RollingToHit
from tablecam.rules.maurice.game.game import closed
from tablecam.rules.maurice.game.march import Marching
from tablecam.rules.maurice.game.setup import ChoosingEdge
from tablecam.rules.maurice.game.state import Options, Over, State, Step
from tablecam.table.model import Commander, Unit
from tablecam.testing import shifted
from tests.rules.conformance import check_replay, check_state, play_at_random
from tests.rules.maurice.game.random_games import MOST_ACTIONS, Keeping, eager, random_game
from tests.rules.maurice.game.states import after, dice, fire, kinds, laid, state_at
from tests.rules.maurice.tables import BW, SOUTH, column, gun, line, massed, position

LEADERS = (Commander("fc", "french", 600, 300), Commander("bc", "british", 600, 1150))


def declaring(step: Step, *units: Unit, **more: object) -> State:
    """A game of players who declare first, with a step due."""
    state = laid(step, *units, commanders=LEADERS, **more)
    return replace(state, options=Options(measuring="declared"))


def armies(gap_mm: float, aside_mm: float = 0.0) -> tuple[Unit, ...]:
    """Every arm of the french, and as many enemies `gap_mm` ahead of them."""
    far_mm = 400 + gap_mm
    return (
        line("F1", "french", 500, 400),
        massed("F2", "french", 800, 400),
        column("F3", "french", 300, 300),
        gun("F4", "french", 1000, 400),
        line("B1", "british", 500 + aside_mm, far_mm, SOUTH),
        massed("B2", "british", 800 + aside_mm, far_mm, SOUTH),
        gun("B3", "british", 1000 + aside_mm, far_mm, SOUTH),
    )


STEPS = {
    "volleys or none": VolleyChoice(),
    "command": CommandChoice(),
    "force": Activating(),
    "end of the line": Firing("volley", "french"),
    "volley": Firing("volley", "french", direction="left"),
    "bombardment": Firing("bombard", "french", may=("F4",), direction="left"),
    "charges": Charging(("F1", "F2")),
    "cards": Modifying("musket", "french", (), then=Firing("volley", "french")),
}


@pytest.mark.parametrize("step", STEPS.values(), ids=STEPS)
@settings(max_examples=6, deadline=None)
@given(
    command=st.sampled_from(("charge", "march", "bombard")),
    gap_mm=st.floats(80, 600),
    aside_mm=st.floats(-150, 150),
)
def test_what_is_listed_and_shown_is_the_same_however_far_the_enemy_is(
    command, step, gap_mm, aside_mm
):
    """No list of choices reveals distances, nor do the drawing and words of a choice."""
    told = [
        _told(declaring(step, *armies(*places), command=command))
        for places in ((100.0, 0.0), (gap_mm, aside_mm))
    ]
    assert told[0] == told[1]


def _told(state: State) -> str:
    """Everything said about a state's choices, except the places of the enemies named."""
    legal = GAME.legal(state)
    offers = [GAME.offered(state, action) for action in legal]
    shown = [(each.group, each.label, [shape.role for shape in each.evidence]) for each in offers]
    drawn = [(shape.role, shape.label) for shape in GAME.step_shapes(state)]
    listed = [GAME.action_to_json(each) for each in legal]
    return json.dumps([listed, shown, drawn, GAME.asked(state).question])


def test_fire_that_does_not_reach_is_lost_and_told_how_far_it_is():
    state = declaring(Firing("volley", "french", direction="left"), *armies(9 * BW))
    state, events = after(state, fire("F1", "B1"))
    assert kinds(events) == ["fires", "fire-lost"]
    assert events[1].text == (
        "4 bases of F1 have no shot at B1, which is 8.00 BW away: the fire is lost"
    )
    assert "F1" in state.round.fired
    assert isinstance(state.step, Firing)
    with pytest.raises(Refused, match=r"M-7\.7"):
        after(state, fire("F1", "B1"))
    # Guns that reach nobody still get smoke.
    state, _ = after(state, fire("F4", "B3", 1))
    assert state.position.unit("F4").state["smoke"]


def test_fire_that_reaches_in_part_is_rolled_for_that_part():
    state = declaring(Firing("volley", "french", direction="left"), *armies(4 * BW, 2.5 * BW))
    state, events = after(state, Fire("F1", {"F1/1": "B2", "F1/3": "B1", "F1/4": "B1"}))
    assert kinds(events) == ["fires", "fire-lost"]
    assert isinstance(state.step, RollingToHit)
    assert [(aim.base, aim.target) for aim in state.step.aims] == [("F1/3", "B1"), ("F1/4", "B1")]


@pytest.mark.parametrize(
    ("unit", "target", "said"),
    [
        ("F2", "B1", "M-7.7"),
        ("F3", "B1", "M-7.7"),
        ("F1", "F2", "no enemy F2"),
        ("F1", "B9", "no enemy B9"),
    ],
)
def test_fire_that_all_can_see_to_be_none_is_refused(unit, target, said):
    state = declaring(Firing("volley", "french", direction="left"), *armies(4 * BW))
    with pytest.raises(Refused, match=said):
        after(state, fire(unit, target, 1))


def test_whoever_the_rules_let_fire_or_charge_may_declare_it():  # M-7.7, M-8.4
    scattered = replace(line("F1", "french", 500, 400), formation="broken-up")
    crowded = massed("F2", "french", 800, 400, arm="infantry")
    enemies = armies(4 * BW)[4:]
    firing = declaring(Firing("volley", "french", direction="left"), scattered, crowded, *enemies)
    _, events = after(firing, fire("F1", "B1"))
    assert kinds(events) == ["fires"]
    charge = declaring(Charging(("F1", "F2")), scattered, crowded, *enemies, command="charge")
    for name in ("F1", "F2"):
        with pytest.raises(Refused, match="may not declare a charge"):
            after(charge, Charge(name, "B1", ()))


def test_nobody_is_skipped_for_having_nobody_in_range_but_who_never_fires_is_as_ever():
    state = declaring(VolleyChoice(), *armies(14 * BW), hand=0)
    assert Decline("british") not in GAME.legal(state)  # nobody holds a card
    state, _ = after(state, Volleys(True))
    assert state.step == Firing("volley", "french", next_sides=("british",))
    assert FireFrom("left") in GAME.legal(state)
    state, _ = after(state, Done())
    assert state.step == Firing("volley", "british")
    horse = massed("F1", "french", 500, 400), line("B1", "british", 500, 600, SOUTH)
    state, _ = after(declaring(VolleyChoice(), *horse, hand=0), Volleys(True))
    assert state.step == Firing("volley", "british")


def test_cards_that_do_not_reach_are_spent_for_nothing():
    far = line("F9", "french", 1500, 1000)
    state = declaring(Activating(), *armies(300), far, command="march")
    state, events = after(state, Activate(("F9",), spans=(4, 6)))
    assert kinds(events) == ["out-of-reach"]
    assert events[0].rule == "M-4.11"
    assert "cards are lost" in events[0].text
    assert state.side("french").hand == 4
    assert isinstance(state.step, MovingCommander)


def test_who_is_not_linked_to_the_first_named_is_left_out_of_the_force():
    far = line("F9", "french", 1500, 400)
    state = declaring(Activating(), *armies(300), far, command="march")
    state, events = after(state, Activate(("F1", "F9"), spans=(6,)))
    assert kinds(events) == ["left-out", "activated"]
    assert events[0].facts["unit"] == "F9"
    assert state.step == Interrupting("activation", ("F1",))


def test_even_so_a_card_is_needed_and_the_force_is_of_ones_own():
    state = declaring(Activating(), *armies(300), command="march")
    with pytest.raises(Refused, match=r"M-4\.13"):
        after(state, Activate(("F1",)))
    with pytest.raises(Refused, match=r"M-1\.15"):
        after(state, Activate(("B1",), spans=(6,)))


def test_a_charge_is_declared_by_its_target_and_goes_where_it_leads():
    state = declaring(Charging(("F1", "F2")), *armies(3 * BW), command="charge", hand=0)
    state, events = after(state, Charge("F1", "B1", ()))
    assert kinds(events) == ["charge"]
    assert state.step == Charging(("F1", "F2"), charged={"F1": ("B1",)})
    assert state.position.unit("F1").bases[0].y_mm == pytest.approx(400 + 3 * BW - 40)


def test_a_charge_that_does_not_reach_is_lost_and_counts_as_made():
    state = declaring(Charging(("F1", "F2")), *armies(9 * BW), command="charge", hand=0)
    state, events = after(state, Charge("F1", "B1", ()))
    assert kinds(events) == ["charge-lost"]
    assert events[0].text == (
        "F1 has no charge that reaches B1, which is 8.00 BW away: it stays where it is"
    )
    assert state.position.unit("F1") == line("F1", "french", 500, 400)
    after(state, Done())  # half of two have charged (M-8.2)
    with pytest.raises(Refused, match=r"M-8\.5"):
        after(state, Charge("F1", "B1", ()))


def test_half_of_a_force_must_declare_whatever_it_can_reach():
    state = declaring(Charging(("F1", "F2")), *armies(9 * BW), command="charge")
    with pytest.raises(Refused, match=r"M-8\.2"):
        after(state, Done())


@pytest.mark.parametrize(("unit", "target"), [("F1", "B2"), ("F4", "B1"), ("F3", "B1")])
def test_a_charge_that_all_can_see_to_be_none_is_refused(unit, target):
    state = declaring(Charging(("F1", "F3", "F4")), *armies(3 * BW), command="charge")
    with pytest.raises(Refused, match=r"M-8\.4"):
        after(state, Charge(unit, target, ()))


def test_a_charge_by_hand_is_judged_where_it_has_ended():
    state = declaring(Charging(("F1",)), *armies(3 * BW), command="charge")
    bases = line("F1", "french", 500, 400 + 3 * BW - 41).bases
    state, events = after(state, Charge("F1", "B1", bases))
    assert "charge" in kinds(events)


@pytest.mark.parametrize(
    ("step", "because"),
    [
        (VolleyChoice(), "until the French action is declared"),
        (Drawing("french", 2, Activating()), "until the French force is activated"),
        (Firing("volley", "british"), "until the British fire is declared"),
        (Modifying("musket", "french", (), Firing("volley", "french")), "fire is declared"),
        (Charging(("F1", "F2")), "until the French charge is declared"),
        (Interrupting("volleys"), "until the British side has decided whether to interrupt"),
    ],
)
def test_measuring_is_closed_for_all_until_something_is_declared(step, because):
    found = closed(declaring(step, *armies(300)))
    assert because in found.because
    assert not found.permits(["F1", "B1"])


@pytest.mark.parametrize(
    ("step", "ends"),
    [
        (Marching(("F1", "F2")), ("F1", None)),
        (Marching(("F1", "F2")), ("fc", "F2")),
        (Modifying("bugle", "french", (), Marching(("F1",))), ("F1", None)),
        (Interrupting("activation", ("F1",)), ("F1", "fc")),
        (Charging(("F1", "F2"), charged={"F1": ("B1",)}), ("F1", "B1")),
        (RollingCombat(("F1", "B1")), ("B1", "F1")),
        (Rallying(("F1", "F2")), ("F1", "F2")),
    ],
)
def test_measuring_is_open_between_what_was_declared(step, ends):
    found = closed(declaring(step, *armies(300)))
    assert found.permits(ends)
    assert not found.permits([ends[0]]), "a unit's own rings tell of all others"
    assert not found.permits([ends[0], "B2"])
    assert not found.permits([None, None])


def test_measuring_is_open_between_shooter_and_target_until_it_is_settled():
    state = declaring(Firing("volley", "french", direction="left"), *armies(4 * BW))
    state, _ = after(state, fire("F1", "B1"))
    assert closed(state).permits(["F1", "B1"])
    state, _ = after(state, dice(state, 6, 6, 6, 6), Done())
    assert isinstance(state.step, RollingToDisrupt)
    assert closed(state).permits(["F1", "B1"])
    state, _ = after(state, dice(state, 1, 1, 1, 1))
    assert not closed(state).permits(["F1", "B1"])


@pytest.mark.parametrize("step", [ChoosingEdge("french", VolleyChoice()), Over(None, "", "M-4.1")])
def test_measuring_is_free_while_armies_are_laid_out_and_after_the_game(step):
    assert closed(declaring(step, *armies(300))) is None


@pytest.mark.parametrize("step", [VolleyChoice(), Firing("volley", "french")])
def test_measuring_is_free_unless_players_agree_otherwise(step):
    table = position(*armies(300))
    assert closed(state_at(table, step)) is None
    assert GAME.asked(GAME.begin(table, {})).closed is None
    assert GAME.asked(GAME.begin(table, {"measuring": "declared"})).closed is not None
    with pytest.raises(BadInput, match="measuring"):
        GAME.begin(table, {"measuring": "sometimes"})


@pytest.mark.parametrize(("seed", "options"), [(3, {"deck_size": 20}), (6, {"deck": "house"})])
def test_a_game_of_players_who_declare_first_ends_and_comes_out_the_same_again(seed, options):
    play = random_game(seed, measuring="declared", **options)
    keeping = Keeping(play)

    def check(play):
        keeping.check(play)
        if len(play.done) % 5 == 0:
            check_state(play, tried=1, seed=seed)

    play_at_random(play, seed, most=MOST_ACTIONS, choose=eager, after_each=check)
    check_replay(play)


def test_foot_that_has_only_horse_against_it_has_nobody_to_charge() -> None:
    foot, horse = line("F1", "french", 500, 500), massed("B1", "british", 500, 620, SOUTH)
    state = declaring(CommandChoice(), foot, horse)
    assert "charge" not in {action.command for action in GAME.legal(state)}
    with pytest.raises(Refused, match=r"M-4\.8"):
        after(state, Declare("charge"))
    activated = declaring(Charging(("F1",)), foot, horse, command="charge", hand=0)
    assert GAME.legal(activated) == (Done(),)


def test_a_hand_that_moves_up_who_must_charge_is_shown_no_place_where_nobody_is_in_reach() -> None:
    foot, enemy = line("F1", "french", 500, 300), line("B1", "british", 500, 900, SOUTH)
    state = declaring(Charging(("F1",)), foot, enemy, command="charge", hand=0)
    moved_up = replace(state.position, units=(shifted(foot, 0, 80), enemy))
    (suggested,) = GAME.detect_moves(state, moved_up)
    assert suggested.answer.rule == "M-8.2"
    assert suggested.nearest is None
