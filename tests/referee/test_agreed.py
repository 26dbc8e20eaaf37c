"""What one side cannot do by itself: name dealt cards, or begin another game."""

import pytest

from tablecam.errors import BadInput
from tablecam.referee.corrections import correct_choice, correct_dice, others, redo, undo_to
from tablecam.referee.guards import MAX_REFUSED, REFUSED_FOR_S
from tablecam.referee.referee import Referee
from tablecam.referee.refusals import NotYours, OutOfDate, TooOften
from tablecam.referee.seat_view import seat_view
from tablecam.referee.seats import BOTH, SHARED, SPECTATOR, Seat
from tablecam.rules.dice import Roll
from tablecam.rules.games import game_of
from tests.referee.marching import BRITISH, FRENCH, act, begun, marching
from tests.referee.tables import moved, table


def dealing() -> Referee:
    """A game with the house deck whose hands are due."""
    referee = Referee(game_of("maurice-lite"))
    referee.begin(table(), {"active": "french", "deck": "house"}, FRENCH)
    return referee


def dealt() -> Referee:
    """A game with the house deck whose hands are dealt."""
    referee = dealing()
    while (now := seat_view(referee, SHARED))["asked"] is None:
        referee.act(SHARED, now["actions"][0]["action"])
    return referee


def cards_of(referee: Referee, side: str) -> tuple[str, ...]:
    with referee.locked() as play:
        assert play is not None
        return play.state.side(side).cards


def declined(referee: Referee, *seats: Seat) -> list[tuple[str, int]]:
    """March, and nobody plays a card; returns the questions, each with its number of answers."""
    seat = seats[0]
    referee.act(seat, {"type": "declare", "command": "march"})
    force = seat_view(referee, seat)["actions"][0]["action"]
    referee.act(seat, force)
    asked = []
    while not (now := seat_view(referee, SHARED))["question"].startswith("French march"):
        seat = next(seat for seat in seats if seat_view(referee, seat)["is_yours"])
        answers = seat_view(referee, seat)["actions"]
        hand = seat_view(referee, FRENCH if now["asked"] == "french" else BRITISH)["hand"]
        assert seat_view(referee, seat)["hand"] == hand
        asked.append((now["question"], len(answers)))
        referee.act(seat, {"type": "decline", "side": now["asked"]})
    return asked


def test_who_plays_both_sides_is_asked_only_where_the_side_has_a_card_to_play() -> None:
    referee = dealt()
    start = len(log_of(referee))
    alone = declined(referee, BOTH)
    undo_to(referee, BOTH, deed_of(referee, start))
    together = declined(referee, FRENCH, BRITISH)
    assert len(together) == 3  # an interrupt, and a bugle for each side
    assert alone == [(question, answers) for question, answers in together if answers > 1]


def deed_of(referee: Referee, line: int) -> int:
    deed: int = seat_view(referee, SPECTATOR)["log"][line]["deed"]
    return deed


def log_of(referee: Referee) -> list[str]:
    return [f"{entry['text']} [{entry['note']}]" for entry in seat_view(referee, SPECTATOR)["log"]]


@pytest.mark.parametrize("seat", [FRENCH, BRITISH, SHARED], ids=["own", "enemy", "screen"])
def test_nobody_but_the_server_names_cards_that_are_drawn(seat) -> None:
    referee = dealing()
    due = seat_view(referee, SHARED)["actions"][0]["action"]
    with referee.locked() as play:
        cards = list(play.state.deck.cards[: due["count"]])
    with pytest.raises(BadInput, match=r"cards: M-3\.10 expected no card names, as tablecam deals"):
        referee.act(seat, due | {"cards": cards})
    assert cards_of(referee, due["side"]) == ()
    referee.act(seat, due)
    assert len(cards_of(referee, due["side"])) == due["count"]


@pytest.mark.parametrize(
    "said",
    [{"deck": 47, "aside": ["runner-1"]}, {"deck": 0}, {"hands": {"british": 40}}],
    ids=["named", "laid open", "drawn"],
)
def test_a_correction_of_dealt_cards_needs_both_seats_and_stands_in_the_log(said) -> None:
    referee, action = dealt(), {"type": "overrule"} | said
    before = log_of(referee)
    referee.act(BRITISH, action)
    referee.act(BRITISH, action)
    assert log_of(referee) == before
    proposed = {seat: seat_view(referee, seat)["proposed"] for seat in (FRENCH, BRITISH, SPECTATOR)}
    assert {seat: each["may_agree"] for seat, each in proposed.items()} == {
        FRENCH: True,
        BRITISH: False,
        SPECTATOR: False,
    }
    for seat, error in ((BRITISH, "expected the other side"), (SPECTATOR, "spectators cannot")):
        with pytest.raises(NotYours, match=error):
            referee.agree(seat, proposed[FRENCH]["number"])
    with pytest.raises(OutOfDate):
        referee.agree(FRENCH, proposed[FRENCH]["number"] - 1)
    referee.agree(FRENCH, proposed[FRENCH]["number"])
    assert seat_view(referee, FRENCH)["proposed"] is None
    (line,) = [entry for entry in log_of(referee) if entry.startswith("overruled")]
    assert f"[agreed by both sides: {proposed[FRENCH]['text']}]" in line
    assert all(card in line for card in said.get("aside", ()))


def test_the_tables_own_screen_corrects_dealt_cards_by_itself() -> None:
    referee = dealt()
    referee.act(SHARED, {"type": "overrule", "deck": 47, "aside": ["runner-1"]})
    assert log_of(referee)[-1].endswith(
        "[agreed by the shared screen: cards left in the deck: 47; laid aside: runner-1]"
    )


def test_nobody_fishes_for_cards_by_taking_his_draw_back() -> None:
    referee = dealt()
    before = cards_of(referee, "french")
    referee.act(FRENCH, {"type": "declare", "command": "pass"})
    drawn = cards_of(referee, "french")
    assert len(drawn) > len(before)
    referee.undo(FRENCH)
    assert cards_of(referee, "french") == drawn
    proposed = seat_view(referee, BRITISH)["proposed"]
    assert proposed["may_agree"]
    assert proposed["text"].startswith("taking back 2 actions that showed a side")
    referee.agree(BRITISH, proposed["number"])
    assert cards_of(referee, "french") == before
    redo(referee, FRENCH)
    assert cards_of(referee, "french") == drawn


def test_the_other_side_agrees_to_a_corrected_choice_and_is_told_to_which() -> None:
    referee = dealt()
    referee.act(FRENCH, {"type": "declare", "command": "pass"})
    # A draw follows, which shows cards.
    log = seat_view(referee, FRENCH)["log"]
    (deed,) = (line["deed"] for line in log if line["kind"] == "command")
    march = next(
        each["action"]
        for each in others(referee, FRENCH, deed)
        if each["action"].get("command") == "march"
    )
    correct_choice(referee, FRENCH, deed, march, "a slip")
    proposed = seat_view(referee, BRITISH)["proposed"]
    assert "march" in proposed["text"]
    assert "instead of" in proposed["text"]
    assert proposed.keys() == {"by", "text", "may_agree", "number"}
    referee.agree(BRITISH, proposed["number"])
    with referee.locked() as play:
        assert play is not None
        assert play.state.round.command == "march"


def test_the_other_side_is_told_to_which_dice_it_agrees() -> None:
    referee = dealt()
    referee.act(SHARED, {"type": "overrule", "disruption": {"F1": 2}})
    referee.act(FRENCH, {"type": "declare", "command": "rally"})
    rolls: list[int] = []
    while not rolls:  # the rally's dice, and after them the next draw
        seat = FRENCH if seat_view(referee, FRENCH)["is_yours"] else BRITISH
        referee.act(seat, seat_view(referee, seat)["actions"][0]["action"])
        with referee.locked() as play:
            assert play is not None
            rolls = [at for at, done in enumerate(play.done) if isinstance(done.action, Roll)]
    (deed,) = {entry["deed"] for entry in seat_view(referee, FRENCH)["log"] if entry["dice"]}
    deeds = len(seat_view(referee, FRENCH)["log"])
    while not any(line["kind"] == "draw" for line in seat_view(referee, FRENCH)["log"][deeds:]):
        seat = FRENCH if seat_view(referee, FRENCH)["is_yours"] else BRITISH
        referee.act(seat, seat_view(referee, seat)["actions"][0]["action"])
    correct_dice(referee, FRENCH, deed, [6, 6])
    assert " corrected to 6, 6, taking back " in seat_view(referee, BRITISH)["proposed"]["text"]


def test_what_the_other_side_chose_is_taken_back_only_if_it_agrees() -> None:
    referee = begun()
    act(referee, "command", "March")
    referee.undo(BRITISH)
    proposed = seat_view(referee, FRENCH)["proposed"]
    assert (proposed["by"], proposed["text"]) == (
        "british",
        "taking back an action of the other side",
    )
    assert not seat_view(referee, FRENCH)["log"][-1]["undone"]
    # A side takes back its own action alone.
    referee.undo(FRENCH)
    assert seat_view(referee, FRENCH)["log"][-1]["undone"]


def test_who_takes_back_what_the_other_side_answered_is_told() -> None:
    referee = begun()
    act(referee, "command", "March")
    act(referee, "activate", "F1:")
    act(referee, "card", "No card", BRITISH)
    referee.undo(FRENCH)
    (line,) = (line for line in seat_view(referee, BRITISH)["log"] if line["kind"] == "undo")
    assert line["text"] == "French took back the last action of British"
    assert seat_view(referee, BRITISH)["is_yours"]


def test_what_showed_nothing_is_taken_back_by_one_seat() -> None:
    referee = dealt()
    before = seat_view(referee, FRENCH)["question"]
    referee.undo(BRITISH)
    assert seat_view(referee, FRENCH)["question"] == before
    referee.undo(SHARED)
    assert seat_view(referee, SHARED)["asked"] is None  # it also takes back a deal


def test_a_proposal_lapses_as_soon_as_the_game_goes_on() -> None:
    referee = dealt()
    referee.act(BRITISH, {"type": "overrule", "deck": 0})
    referee.act(FRENCH, {"type": "declare", "command": "march"})
    assert seat_view(referee, FRENCH)["proposed"] is None


def test_a_proposal_lapses_when_a_move_is_confirmed_by_itself() -> None:
    referee = marching(is_automatic=True)
    referee.begin(table(), {"active": "british"}, BRITISH)
    assert seat_view(referee, FRENCH)["proposed"] is not None
    referee.table_at_rest(table())
    assert seat_view(referee, FRENCH)["proposed"] is not None
    referee.table_at_rest(moved(table(), "F1", 120.0))
    assert "F1 marches 3.00 BW" in seat_view(referee, FRENCH)["log"][-1]["text"]
    assert seat_view(referee, FRENCH)["proposed"] is None


def test_a_named_card_that_a_hand_holds_is_not_refused_as_that_would_tell() -> None:
    referee = dealt()
    before = [cards_of(referee, side) for side in ("french", "british")]
    referee.act(SHARED, {"type": "overrule", "deck": 47, "aside": [before[0][0]]})
    assert [cards_of(referee, side) for side in ("french", "british")] == before
    with referee.locked() as play:
        assert (len(play.state.deck.cards), len(play.state.deck.discards)) == (47, 1)
    for aside, why in ((["x"], "there is no card"), (["runner-1"] * 2, "named twice")):
        with pytest.raises(BadInput, match=why):
            referee.act(BRITISH, {"type": "overrule", "deck": 45, "aside": aside})


def test_before_cards_are_dealt_one_seat_takes_a_game_up_in_its_middle() -> None:
    referee = dealing()
    referee.act(FRENCH, {"type": "overrule", "hands": {"french": 3}, "deck": 20})
    assert seat_view(referee, FRENCH)["proposed"] is None
    assert log_of(referee)


def test_refused_corrections_are_counted_and_slowed() -> None:
    now_s = [0.0]
    referee = Referee(game_of("maurice-lite"), now_s=lambda: now_s[0])
    referee.begin(table(), {"active": "french"}, FRENCH)
    upon = [
        {"x_mm": base.x_mm, "y_mm": base.y_mm, "heading_deg": 90, "width_mm": 40, "depth_mm": 40}
        for base in table().unit("F2").bases
    ]
    for _ in range(MAX_REFUSED):
        with pytest.raises(BadInput, match="overlap"):
            referee.act(BRITISH, {"type": "overrule", "units": {"F1": upon}})
    with pytest.raises(TooOften, match="wait a minute"):
        referee.act(BRITISH, {"type": "overrule", "smoke": {"F1": True}})
    assert seat_view(referee, SPECTATOR)["refused"] == {"british": MAX_REFUSED}
    referee.act(FRENCH, {"type": "overrule", "smoke": {"F1": True}})
    now_s[0] = REFUSED_FOR_S
    referee.act(BRITISH, {"type": "overrule", "smoke": {"F1": False}})


def test_one_phone_does_not_begin_another_game_in_the_middle_of_one() -> None:
    referee = begun()
    run, question = referee.run, seat_view(referee, FRENCH)["question"]
    for _ in range(2):
        referee.begin(table(), {"active": "british"}, BRITISH)
    assert (referee.run, seat_view(referee, FRENCH)["question"]) == (run, question)
    proposed = seat_view(referee, FRENCH)["proposed"]
    assert (proposed["by"], proposed["may_agree"], proposed["text"]) == (
        "british",
        True,
        "another game (first side: British)",
    )
    with pytest.raises(NotYours):
        referee.agree(SPECTATOR, proposed["number"])
    referee.agree(FRENCH, proposed["number"])
    assert referee.run != run
    assert seat_view(referee, FRENCH)["proposed"] is None


def test_a_game_of_other_options_is_another_proposal() -> None:
    referee = begun()
    run = referee.run
    referee.begin(table(), {"active": "british"}, BRITISH)
    referee.begin(table(), {"active": "french"}, FRENCH)
    assert referee.run == run
    assert seat_view(referee, BRITISH)["proposed"]["by"] == "french"
    with pytest.raises(BadInput):
        referee.begin(table(), {"active": "turkish"}, BRITISH)


def test_the_tables_own_screen_begins_another_game() -> None:
    referee = begun()
    run = referee.run
    referee.begin(table(), {"active": "french"}, SHARED)
    assert referee.run != run


def test_after_the_end_of_a_game_one_phone_begins_another() -> None:
    referee = begun()
    night = {"deck": 0, "stage": "last", "hands": {"french": 0, "british": 0}}
    referee.act(FRENCH, {"type": "overrule", "step": "volleys"} | night)
    for _ in range(12):
        if not (now := seat_view(referee, SHARED))["is_over"]:
            act(referee, now["actions"][0]["group"], "", SHARED)
    assert seat_view(referee, SHARED)["is_over"]
    run = referee.run
    referee.begin(table(), {"active": "french"}, BRITISH)
    assert referee.run != run
