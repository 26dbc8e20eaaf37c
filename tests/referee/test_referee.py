"""The referee connects what hands do on the table with the game in progress."""

from dataclasses import replace

import pytest

from tablecam.errors import BadInput
from tablecam.referee.intents import Intent, check_intent
from tablecam.referee.referee import Referee
from tablecam.referee.refusals import NotYours, OutOfDate
from tablecam.referee.seat_view import seat_view
from tablecam.referee.seats import SHARED, SPECTATOR
from tablecam.rules.game import Json, Refused
from tablecam.rules.games import game_of
from tablecam.rules.play import Play
from tablecam.table.model import Terrain
from tests.referee.marching import BRITISH, FRENCH, act, begun, marching
from tests.referee.tables import moved, table


def test_before_a_game_has_begun_there_is_nothing_to_do() -> None:
    referee = Referee(game_of("maurice-lite"))
    assert seat_view(referee, FRENCH)["has_begun"] is False
    with pytest.raises(BadInput, match="none has begun"):
        referee.act(FRENCH, {"type": "done"})


def test_only_who_is_asked_is_offered_actions() -> None:
    referee = begun()
    assert seat_view(referee, FRENCH)["is_yours"]
    for seat in (BRITISH, SPECTATOR):
        now = seat_view(referee, seat)
        assert not now["is_yours"]
        assert now["actions"] == []
    with pytest.raises(NotYours, match="waiting for the French"):
        referee.act(BRITISH, {"type": "declare", "command": "pass"})
    with pytest.raises(NotYours, match="spectators cannot"):
        referee.act(SPECTATOR, {"type": "declare", "command": "pass"})


def test_an_old_tap_changes_nothing() -> None:
    referee = begun()
    version = referee.version
    referee.act(FRENCH, {"type": "declare", "command": "pass"}, version)
    with pytest.raises(OutOfDate, match="moved on"):
        referee.act(FRENCH, {"type": "done"}, version)


def test_a_hand_on_the_table_makes_no_tap_late_but_what_it_moved_is_looked_at_anew() -> None:
    referee = marching()
    looked_at = referee.version
    referee.table_at_rest(moved(table(), "F1", 120.0))
    referee.act(FRENCH, {"type": "overrule", "disruption": {"F2": 1}}, looked_at)
    looked_at = referee.version
    referee.table_at_rest(moved(table(), "F1", 125.0))
    with pytest.raises(OutOfDate):
        referee.confirm(FRENCH, "F1", looked_at)
    looked_at = referee.version
    referee.table_at_rest(moved(moved(table(), "F1", 125.0), "B1", 40.0))
    assert referee.version > looked_at
    referee.confirm(FRENCH, "F1", looked_at)


def test_a_version_of_another_run_is_late() -> None:
    referee = begun()
    with pytest.raises(OutOfDate):
        referee.act(FRENCH, {"type": "declare", "command": "pass"}, referee.version + 7)


def test_a_march_by_hand_is_suggested_and_confirmed_with_one_tap() -> None:
    referee = marching()
    referee.table_at_rest(moved(table(), "F1", 120.0))
    (suggestion,) = seat_view(referee, FRENCH)["moved"]
    assert suggestion["unit"] == "F1"
    assert suggestion["is_legal"]
    referee.confirm(FRENCH, "F1")
    assert seat_view(referee, FRENCH)["moved"] == []
    assert "F1 marches 3.00 BW of 4" in seat_view(referee, FRENCH)["log"][-1]["text"]


def test_a_march_that_is_too_far_is_not_taken_but_said_by_how_much() -> None:
    referee = marching()
    referee.table_at_rest(moved(table(), "F1", 200.0))
    (suggestion,) = seat_view(referee, FRENCH)["moved"]
    assert (suggestion["is_legal"], suggestion["is_back"]) == (False, False)
    assert "4" in suggestion["answer"]["because"]
    with pytest.raises(BadInput):
        referee.confirm(FRENCH, "F1")


@pytest.mark.parametrize(("length_mm", "answer"), [(120, "yes"), (200, "no"), (0, None)])
def test_a_move_is_ruled_on_before_it_is_made(length_mm: float, answer: str | None) -> None:
    referee = marching()
    referee.table_at_rest(table())
    version = referee.version
    unit = table().unit("F1")
    assert unit is not None
    poses = [(base.x_mm, base.y_mm + length_mm, base.heading_deg) for base in unit.bases]
    move = referee.foresee("F1", poses)
    assert (None if move is None else move.answer.answer) == answer
    assert referee.version == version
    assert referee.suggested == ()
    for name, wrong in (("F9", poses), ("F1", poses[1:])):
        with pytest.raises(BadInput, match="a pose for each base"):
            referee.foresee(name, wrong)


def test_a_march_that_players_accept_though_it_is_too_far_is_the_units_march() -> None:
    referee = marching()
    referee.table_at_rest(moved(moved(table(), "F1", 200.0), "F2", 20.0))
    referee.accept(BRITISH, ["F1", "F2"], "agreed on")
    now = seat_view(referee, FRENCH)
    assert (now["moved"], now["to_place"]) == ([], [])
    text = "overruled: F2 stays there; F1 has moved there (agreed on)"
    assert (now["log"][-1]["kind"], now["log"][-1]["text"]) == ("overrule", text)
    assert "march" not in {action["group"] for action in now["actions"]}
    # F1 marched alone: its commander is next.
    assert "move the commander?" in now["question"]


def test_what_is_too_close_is_recorded_with_the_way_in_which_it_was_decided() -> None:
    referee = marching()
    referee.table_at_rest(moved(table(), "F1", 120.0))
    referee.confirm(FRENCH, "F1", way="intent")
    note = "too close to call, decided by the mover's intent"
    assert seat_view(referee, FRENCH)["log"][-1]["note"] == note
    with referee.locked() as play:
        again = Play.from_json(referee.game, play.to_json())
        assert again.to_json() == play.to_json()
        assert again.log[-1].note == note


def test_a_unit_knocked_out_of_turn_is_told_and_forgotten_when_it_is_put_back() -> None:
    referee = begun()
    referee.table_at_rest(moved(table(), "B1", 30.0))
    (suggestion,) = seat_view(referee, BRITISH)["moved"]
    assert (suggestion["unit"], suggestion["is_legal"], suggestion["is_back"]) == (
        "B1",
        False,
        True,
    )
    mark = seat_view(referee, FRENCH)["log_mark"]
    referee.table_at_rest(table())
    assert seat_view(referee, BRITISH)["moved"] == []
    (line,) = seat_view(referee, FRENCH, mark)["log"][-1:]
    assert (line["kind"], line["text"]) == ("put-back", "B1 was put back")


def test_a_listed_move_is_still_to_be_made_by_hand() -> None:
    referee = marching()
    act(referee, "march", "4.0 BW ahead")
    (due,) = seat_view(referee, FRENCH)["to_place"]
    assert due["unit"] == "F1"
    assert len(due["ghost"]) == 4
    assert seat_view(referee, FRENCH)["moved"] == []
    referee.table_at_rest(moved(table(), "F1", 158.5))  # hands are hands
    assert seat_view(referee, FRENCH)["to_place"] == []
    assert seat_view(referee, FRENCH)["moved"] == []


def test_undo_takes_back_and_says_what_to_put_back() -> None:
    referee = marching()
    seen = moved(table(), "F1", 120.0)
    referee.table_at_rest(seen)
    referee.confirm(FRENCH, "F1")
    referee.undo(FRENCH)
    (due,) = seat_view(referee, FRENCH)["to_place"]
    assert due["text"] == "put F1 where the ghost is, 3.00 BW from here"
    assert seat_view(referee, FRENCH)["log"][-1]["undone"]
    referee.table_at_rest(table())
    assert seat_view(referee, FRENCH)["to_place"] == []


def test_when_told_to_legal_moves_are_confirmed_by_themselves() -> None:
    referee = marching(is_automatic=True)
    referee.table_at_rest(moved(table(), "F1", 120.0))
    assert "F1 marches 3.00 BW" in seat_view(referee, FRENCH)["log"][-1]["text"]


def test_a_hair_off_is_taken_over_when_a_round_begins_and_costs_no_undo() -> None:
    referee = begun()
    referee.table_at_rest(moved(table(), "F1", 1.5))
    assert referee.position().unit("F1").bases[0].y_mm == pytest.approx(301.5)
    question = seat_view(referee, FRENCH)["question"]
    referee.act(FRENCH, {"type": "declare", "command": "pass"})
    referee.undo(FRENCH)
    assert seat_view(referee, FRENCH)["question"] == question


def test_a_game_goes_on_from_its_document() -> None:
    referee = marching()
    with referee.locked() as play:
        kept = play.to_json()
    again = Referee(game_of("maurice-lite"))
    again.resume(kept)
    assert seat_view(again, FRENCH)["question"] == seat_view(referee, FRENCH)["question"]
    assert again.position() == referee.position()


def test_an_intent_is_stated_before_the_move_and_checked_after_it() -> None:
    referee = marching()
    referee.intend(FRENCH, Intent("F1", "B1", 10.0, is_within=False))
    (said,) = seat_view(referee, FRENCH)["intents"]
    assert said["text"] == "F1 just outside 10 BW of B1"
    assert said["answer"]["answer"] == "yes"
    referee.table_at_rest(moved(table(), "F1", 159.5))  # 0.5 mm nearer than 10 BW
    (said,) = seat_view(referee, FRENCH)["intents"]
    assert said["answer"]["answer"] == "yes"
    assert said["answer"]["margin_mm"] == pytest.approx(0.5)
    referee.table_at_rest(moved(table(), "F1", 160.5))
    assert seat_view(referee, FRENCH)["intents"][0]["answer"]["answer"] == "no"


def test_an_intent_decides_what_is_too_close_and_is_told_in_the_log() -> None:
    referee = marching()
    referee.intend(FRENCH, Intent("F1", "B1", 10.0, is_within=False))
    referee.table_at_rest(moved(table(), "F1", 120.0))
    referee.confirm(FRENCH, "F1", way="intent")
    said = "too close to call, decided by the mover's intent: F1 just outside 10 BW of B1"
    assert seat_view(referee, FRENCH)["log"][-1]["note"] == said
    with referee.locked() as play:
        again = Play.from_json(referee.game, play.to_json())
        assert again.remarks == play.remarks


def test_an_intent_needs_two_units_that_are_there() -> None:
    referee = marching()
    for intent, said in (
        (Intent("F9", "B1", 4, is_within=True), "there is no unit F9"),
        (Intent("F1", "F1", 4, is_within=True), "expected two units, got F1 twice"),
    ):
        with pytest.raises(BadInput, match=said):
            referee.intend(FRENCH, intent)


def test_an_intent_is_in_a_length_of_its_table() -> None:
    in_cm = replace(table(), table=replace(table().table, base_width_mm=None))
    check_intent(Intent("F1", "B1", 4, is_within=True, symbol="cm"), in_cm)
    with pytest.raises(BadInput, match="symbol: expected one of in, cm, got 'BW'"):
        check_intent(Intent("F1", "B1", 4, is_within=True), in_cm)
    with pytest.raises(BadInput, match="expected one of BW, in, cm, got 'ell'"):
        marching().intend(FRENCH, Intent("F1", "B1", 4, is_within=True, symbol="ell"))


def test_a_table_that_is_seen_carries_what_the_game_knows_of_its_units() -> None:
    referee = marching()
    assert referee.with_game_state(table()) == table()
    referee.act(FRENCH, {"type": "overrule", "disruption": {"F1": 2}, "smoke": {"F2": True}})
    marked = referee.with_game_state(moved(table(), "F1", 50.0))
    assert marked.unit("F1").state == {"disruption": 2}
    assert marked.unit("F2").state["smoke"] is True
    assert marked.unit("F1").bases == moved(table(), "F1", 50.0).unit("F1").bases


def test_another_game_begins_without_the_markers_of_the_one_before() -> None:
    referee = begun()
    referee.act(FRENCH, {"type": "overrule", "disruption": {"F1": 2}, "smoke": {"B1": True}})
    assert set(seat_view(referee, FRENCH)["markers"]) == {"F1", "B1"}
    referee.begin(referee.position(), {"active": "british"}, SHARED)
    assert seat_view(referee, FRENCH)["markers"] == {}


def test_a_step_without_a_choice_is_passed_and_undone_with_the_choice_before_it() -> None:
    referee = marching()
    referee.act(FRENCH, {"type": "overrule", "hands": {"french": 0}})
    before = seat_view(referee, FRENCH)["question"]
    referee.act(FRENCH, {"type": "done"})
    # No commander moves without a card, and no unit is near enough for volleys.
    assert seat_view(referee, FRENCH)["question"] == "British: choose a command"
    told = {line["text"] for line in seat_view(referee, FRENCH)["log"] if not line["is_chosen"]}
    assert "Volley phase: nobody is within 4 BW of an enemy" in told
    referee.undo(FRENCH)
    assert seat_view(referee, FRENCH)["question"] == before


def test_what_nobody_chose_cannot_be_undone() -> None:
    referee = begun()
    with referee.locked() as play:
        assert play is not None
        assert play.done
    assert not seat_view(referee, FRENCH)["can_undo"]
    with pytest.raises(Refused, match="none has been done"):
        referee.undo(FRENCH)


def test_the_shared_screen_passes_for_all_seats_at_once() -> None:
    referee = begun()
    act(referee, "command", "March")
    act(referee, "activate", "F1:")
    now = seat_view(referee, SHARED)
    assert now["question"] == "British: interrupt F1, activated to march?"
    assert now["pass_all"] == "Nobody plays a card"
    assert seat_view(referee, FRENCH)["pass_all"] == ""
    assert passes_to(now) == ["french"]
    while passes_to(now) != [""]:  # the last seat has the same effect as all
        passing = next(action for action in now["actions"] if "passes_to" in action)
        referee.act(SHARED, passing["action"])
        now = seat_view(referee, SHARED)
    assert now["question"] == "British: play a card with a bugle?"
    with pytest.raises(NotYours, match="each seat passes for itself"):
        referee.pass_all(BRITISH)
    referee.pass_all(SHARED, now["version"])
    now = seat_view(referee, SHARED)
    assert (now["question"][:14], now["pass_all"]) == ("French march: ", "")
    told = [(line["text"], line["note"]) for line in now["log"][-2:]]
    assert told == [("French: no card", ""), ("British: no card", "everybody passes")]
    with pytest.raises(Refused, match="expected a decision"):
        referee.pass_all(SHARED)


def passes_to(view: Json) -> list[str]:
    return [offer["passes_to"] for offer in view["actions"] if "passes_to" in offer]


def test_units_inside_impassable_ground_are_not_taken_in_without_a_word() -> None:
    town = Terrain("leuthen", "impassable", ((500, 200), (600, 200), (600, 400), (500, 400)))
    there = replace(table(), terrain=(town,))
    referee = Referee(game_of("maurice-lite"))
    referee.begin(there, {"active": "french"}, FRENCH)
    assert seat_view(referee, FRENCH)["trouble"] == "F1 stands on impassable ground (M-5.1)"
    referee.table_at_rest(moved(there, "F1", 200.0))
    assert seat_view(referee, FRENCH)["trouble"] == ""
