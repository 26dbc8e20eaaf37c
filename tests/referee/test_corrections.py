"""A wrong choice is corrected later, and the actions after it are repeated."""

import pytest

from tablecam.errors import BadInput
from tablecam.referee.corrections import correct_choice, others
from tablecam.referee.referee import Referee
from tablecam.referee.refusals import NotYours
from tablecam.referee.seat_view import seat_view
from tablecam.referee.seats import SPECTATOR
from tablecam.rules.games import game_of
from tablecam.rules.play import Play
from tests.referee.marching import BRITISH, FRENCH, marching
from tests.referee.tables import moved
from tests.rules.maurice.tables import line, position

SOUTH = 270.0
LINKED = position(
    line("F1", "french", 600, 300),
    line("F2", "french", 800, 300),
    line("B1", "british", 600, 380, SOUTH),
    line("B2", "british", 800, 380, SOUTH),
)
DICE = {"count": 2, "sides": 6}


def rallied(levels: tuple[int, int] = (2, 2)) -> Referee:
    """F1 of a force of two has rallied, and a marker was set since; F2 was meant."""
    referee = Referee(game_of("maurice-lite"))
    referee.begin(LINKED, {"active": "french", "hands": {"british": 0}}, FRENCH)
    for action in (
        {"type": "overrule", "disruption": dict(zip(("F1", "F2"), levels, strict=True))},
        {"type": "volleys", "invoke": False},
        {"type": "declare", "command": "rally"},
        {"type": "activate", "force": ["F1", "F2"], "spans": [3]},
        {"type": "decline", "side": "french"},
        {"type": "rally", "unit": "F1"},
        {"type": "roll", "for": "F1 to rally", **DICE, "values": [6, 1]},
        {"type": "overrule", "smoke": {"B1": True}},
    ):
        referee.act(FRENCH, action)
    return referee


def deed_of(referee: Referee, kind: str) -> int:
    with referee.locked() as play:
        assert play is not None
        return next(at for at, each in enumerate(play.log) if each.action.type == kind)


def levels(referee: Referee) -> dict[str, object]:
    return {
        name: marks["disruption"]
        for name, marks in seat_view(referee, FRENCH)["markers"].items()
        if "disruption" in marks
    }


def test_a_wrongly_tapped_unit_is_put_right_and_the_dice_stand() -> None:
    referee = rallied()
    deed = deed_of(referee, "rally")
    (other,) = others(referee, FRENCH, deed)
    assert (other["label"], other["action"]) == ("F2", {"type": "rally", "unit": "F2"})
    correct_choice(referee, FRENCH, deed, other["action"], "wrong button")
    assert levels(referee) == {"F1": 2, "F2": 1}
    assert seat_view(referee, FRENCH)["markers"]["B1"]["smoke"] is True
    with referee.locked() as play:
        assert play is not None
        again = Play.from_json(referee.game, play.to_json())
        assert again.state == play.state
        notes = [each.note for each in again.done]
    assert "overruled: F1 was chosen first (wrong button)" in notes


def test_dice_that_do_not_fit_any_more_are_to_be_thrown_again() -> None:
    referee = rallied(levels=(2, 3))
    correct_choice(referee, FRENCH, deed_of(referee, "rally"), {"type": "rally", "unit": "F2"})
    assert levels(referee) == {"F1": 2, "F2": 3}
    assert seat_view(referee, FRENCH)["question"] == "French roll 3 dice for F2 to rally"


@pytest.mark.parametrize("kind", ["roll", "overrule", "decline"])
def test_what_left_no_other_choice_of_its_kind_has_none(kind: str) -> None:
    referee = rallied()
    assert others(referee, FRENCH, deed_of(referee, kind)) == []


def test_what_a_hand_did_is_not_corrected_by_a_tap() -> None:
    referee = marching()
    with referee.locked() as play:
        assert play is not None
        seen = play.game.position(play.state)
    referee.table_at_rest(moved(seen, "F1", 100.0))
    referee.confirm(FRENCH, "F1")
    assert others(referee, FRENCH, deed_of(referee, "march")) == []


def test_nobody_chooses_for_another_nor_what_was_not_to_be_chosen() -> None:
    referee = rallied()
    deed, wanted = deed_of(referee, "rally"), {"type": "rally", "unit": "F2"}
    assert others(referee, BRITISH, deed) == []
    for seat, action, error in (
        (SPECTATOR, wanted, NotYours),
        (BRITISH, wanted, BadInput),
        (FRENCH, {"type": "rally", "unit": "B1"}, BadInput),
        (FRENCH, {"type": "rally", "unit": "F1"}, BadInput),
        (FRENCH, {"type": "done"}, BadInput),
    ):
        before = seat_view(referee, FRENCH)["log"]
        with pytest.raises(error):
            correct_choice(referee, seat, deed, action)
        assert seat_view(referee, FRENCH)["log"] == before
    with pytest.raises(BadInput, match="done and not undone"):
        others(referee, FRENCH, 99)
