"""Activating a force: spans, parts of forces, and the abilities that the force needs."""

from dataclasses import replace

import pytest

from tablecam.rules.game import Refused
from tablecam.rules.maurice.game import GAME
from tablecam.rules.maurice.game.actions import Activate, Declare, Decline, Done
from tablecam.rules.maurice.game.activation import Activating, Interrupting
from tablecam.rules.maurice.game.command import CommandChoice
from tablecam.rules.maurice.game.march import Marching
from tablecam.table.model import Commander
from tests.rules.maurice.game.duel import COMMANDERS, SOUTH, hand
from tests.rules.maurice.game.states import after, laid, state_at
from tests.rules.maurice.tables import gun, line, position


def far(bw):
    """A unit whose nearest point is `bw` BW from the edge of its commander's marker."""
    x_mm = 600 + 20 + bw * 40 + 80
    commanders = (Commander("fc", "french", 600, 200), COMMANDERS[1])
    units = line("F1", "french", x_mm, 200), line("B1", "british", 600, 1000, SOUTH)
    return state_at(position(*units, commanders=commanders), Activating(), command="march")


@pytest.mark.parametrize(
    ("at_bw", "spans", "refused"),
    [
        (17, (12,), r"M-4\.11 .* 17\.00 BW, straight: cards of 12 BW are not"),
        (17, (12, 6), None),
        (11, (11,), None),
        (0, (), r"M-4\.13"),
        (0, (4,), None),
    ],
)
def test_t_3_cards_are_added_and_equal_is_enough_but_one_is_needed(at_bw, spans, refused):
    """M-3.4, M-4.11, M-4.13"""
    if refused:
        with pytest.raises(Refused, match=refused):
            after(far(at_bw), Activate(("F1",), spans))
        return
    state, told = after(far(at_bw), Activate(("F1",), spans))
    assert isinstance(state.step, Interrupting)
    assert (hand(state, "french"), state.deck.discarded) == (6 - len(spans), len(spans))
    assert told[0].text == f"French activate F1 to march, with {' + '.join(map(str, spans))} BW"


def test_m_4_11_the_least_cards_that_reach_are_offered():
    assert GAME.legal(far(11)) == (Activate(("F1",), (11,)), Done())


def test_no_more_cards_are_played_than_are_held():  # M-3.9
    state = far(11)
    state = state.with_side(replace(state.side("french"), hand=1))
    with pytest.raises(Refused, match="French hold only 1 card"):
        after(state, Activate(("F1",), (6, 6)))


def three_lines():
    """FA, FB and FC in a row, 2 BW or less apart, about to be activated to march."""
    row = [line(f"F{n}", "french", x, 300) for n, x in zip("ABC", (200, 400, 600), strict=True)]
    enemy = line("B1", "british", 600, 1000, SOUTH)
    return laid(Activating(), *row, enemy, commanders=COMMANDERS, command="march")


def test_a_part_of_a_force_is_activated_and_the_rest_stays():  # T-4, M-4.14, M-4.15, M-1.17
    state = three_lines()
    assert Activate(("FA", "FB", "FC"), (4,)) in GAME.legal(state)
    no_cards = replace(state, sides=tuple(replace(side, hand=0) for side in state.sides))
    assert GAME.why_missing(no_cards) == "The cards in hand do not reach FA, FB and FC"
    assert GAME.why_missing(state) == ""
    state, _ = after(state, Activate(("FB", "FC"), (4,)), Decline("british"), Decline("french"))
    state, _ = after(state, Decline("british"))
    assert state.step == Marching(("FB", "FC"))


def test_what_is_no_force_is_not_activated():  # M-1.15, M-4.14
    state = three_lines()
    for force, said in (
        (("FA", "FC"), r"M-1\.15 no chain of linked units connects FC"),
        (("B1",), r"M-1\.15 expected units of French, got B1"),
        ((), r"M-1\.15 expected a force"),
        (("FA", "FA"), "FA is named twice"),
    ):
        with pytest.raises(Refused, match=said):
            after(state, Activate(force, (20,)))


def test_those_of_a_force_who_can_charge_are_offered_together():  # M-8.2, M-4.14
    row = [line(f"F{n}", "french", 200 + 200 * n, 300) for n in range(5)]
    foes = [line(f"B{n}", "british", 200 + 200 * n, 420, SOUTH) for n in range(2)]
    step = {"commanders": COMMANDERS, "command": "charge"}
    state = laid(Activating(), *row, *foes, **step)
    forces = [action.force for action in GAME.legal(state) if isinstance(action, Activate)]
    # Two of five are not half of them.
    assert forces == [("F0", "F1"), ("F0",), ("F1",)]


def test_half_of_a_force_that_is_activated_to_charge_can_charge():  # M-8.2, T-30
    lines = [line(f"F{place}", "french", 300 + 200 * place, 400) for place in range(6)]

    def activated(attacked):
        enemies = [
            line(f"B{place}", "british", 300 + 200 * place, 560, SOUTH) for place in range(attacked)
        ]
        commanders = (Commander("fc", "french", 800, 200), COMMANDERS[1])
        table = position(*lines, *enemies, commanders=commanders)
        state = state_at(table, Activating(), command="charge")
        return after(state, Activate(tuple(unit.id for unit in lines), (12,)))[0]

    assert isinstance(activated(3).step, Interrupting)
    with pytest.raises(
        Refused, match=r"M-8\.2 expected a force with at least half of its units able to"
    ):
        activated(1)


def test_only_guns_that_have_not_fired_bombard():  # M-7.3, M-4.24
    guns = [gun(f"G{place}", "french", 600 + 60 * place, 300) for place in range(3)]
    table = position(*guns, line("B1", "british", 600, 900, SOUTH), commanders=COMMANDERS)
    state = state_at(table, Activating(), command="bombard", fired=frozenset({"G0"}))
    listed = [each.force for each in GAME.legal(state) if isinstance(each, Activate)]
    assert listed == [("G1",), ("G2",)]
    with pytest.raises(
        Refused, match=r"M-7\.3 expected a force with only artillery that has not fired"
    ):
        after(state, Activate(("G0", "G1"), (20,)))
    state, _ = after(state, Activate(("G1", "G2"), (20,)))
    assert isinstance(state.step, Interrupting)


@pytest.mark.parametrize(("apart_mm", "may"), [(160.2, True), (163.0, False)])
def test_a_charge_that_is_too_close_to_call_is_declared_and_activated_for(apart_mm, may):  # M-4.8
    units = (
        line("F1", "french", 600, 400, sigma_mm=0.3, sigma_deg=0.1),
        line("B1", "british", 600, 440 + apart_mm, SOUTH, sigma_mm=0.3, sigma_deg=0.1),
    )
    state = state_at(position(*units, commanders=COMMANDERS), CommandChoice())
    if not may:
        with pytest.raises(Refused, match=r"M-4\.8 French cannot charge"):
            after(state, Declare("charge"))
        return
    state, _ = after(state, Declare("charge"), Activate(("F1",), (8,)))
    assert isinstance(state.step, Interrupting)


def test_a_side_without_a_commander_measures_by_itself():
    units = line("F1", "french", 600, 200), line("B1", "british", 600, 1000, SOUTH)
    state = state_at(position(*units), Activating(), command="march")
    _, told = after(state, Activate(("F1",), (4,)))
    assert "no commander on the table" in told[0].text


def test_a_measured_span_that_is_too_close_to_call_is_the_movers():  # M-4.11, G-7
    state = far(11.05)
    tolerant = replace(state.position.table, tolerance_mm=5.0)
    state = replace(state, position=replace(state.position, table=tolerant))
    _, told = after(state, Activate(("F1",), (11,)))
    assert told[0].text.endswith("2.0 mm is too close to call, so the mover decides")


def test_m_4_11_a_force_whose_distance_is_too_close_to_call_is_not_offered_first():
    commanders = (Commander("fc", "french", 600, 200, sigma_mm=0.02), COMMANDERS[1])
    # F1 lies 4 BW from the commander, F2 3.5 BW.
    units = line("F1", "french", 860, 200), line("F2", "french", 360, 200)
    enemy = line("B1", "british", 600, 1000, SOUTH)
    table = position(*units, enemy, commanders=commanders)
    state = state_at(table, Activating(), command="march")
    offers = {GAME.offered(state, each).label for each in GAME.legal(state)[1:2]}
    assert [each.force for each in GAME.legal(state)[:2]] == [("F2",), ("F1",)]
    assert offers == {"F1: with 1 card of 4 BW (Fc is 4.00 BW away: too close, the mover decides)"}


def test_the_card_that_is_a_hair_too_short_is_offered_to_the_mover():  # M-4.11, G-7
    state = far(4.00004)
    (exact, _) = GAME.legal(state)
    assert exact.spans == (5,)
    unsure = tuple(replace(leader, sigma_mm=0.02) for leader in state.position.commanders)
    state = replace(state, position=replace(state.position, commanders=unsure))
    (offered, _) = GAME.legal(state)
    assert offered.spans == (4,)
    after(state, offered)


@pytest.mark.parametrize("span_bw", [0, 56, 10**9])
def test_no_printed_card_spans_more_than_the_table(span_bw):  # M-3.4
    state = far(11)
    with pytest.raises(Refused, match=r"expected spans from 1 to 55 BW.*got") as refused:
        GAME.apply(state, Activate(("F1",), (span_bw,)))
    assert refused.value.rule == "M-3.4"
    after(state, Activate(("F1",), (55,)))
