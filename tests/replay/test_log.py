"""The log of a recording, line by line."""

from datetime import UTC, datetime

from tablecam.record.entries import Entry
from tablecam.replay.log import Log
from tablecam.rules.games import described
from tests.replay.small import position

AT = datetime(2026, 5, 1, 19, 30, tzinfo=UTC)


def told(kind, document):
    """The lines of one entry."""
    log = Log(described("maurice-lite"))
    log.add(Entry(1, kind, AT, document))
    return [line.text for line in log.lines]


def ruling(text, **keys):
    answer = {"answer": "no", "margin_mm": -31.42, "sigma_mm": 0.24, "rule": "M-4.2"}
    return {"unit": "F1", "text": text, "answer": answer | {"probability": 0.0} | keys}


def test_a_question_is_told_with_its_answer_and_a_hint_as_it_is():
    asked = "F1 moved ahead 5 BW: march?"
    assert told("ruling", ruling(asked)) == [f"{asked} no, by 31.4 ± 0.2 mm"]
    hint = "F1 was moved 31 mm, but no unit may move now: put it back"
    assert told("ruling", ruling(hint)) == [hint]


def test_a_refused_move_says_why_and_a_legal_one_waits_for_its_own_line():
    moved, why = "F1 moves to 0407", "F1 is out of command"
    log = Log(described("maurice-lite"))
    log.add(Entry(1, "ruling", AT, ruling(moved, because=why, margin_mm=0.0)))
    assert [(line.text, line.note) for line in log.lines] == [(moved, f"refused: {why}")]
    assert told("ruling", ruling(moved, answer="yes", margin_mm=0.0)) == []
    # If no length is in doubt, the line states none.
    asked = "F1 is not seen any more: where is it?"
    assert told("ruling", ruling(asked, answer="too_close", margin_mm=0.0)) == [asked]


def test_a_game_begins_with_its_sides_by_name_and_what_was_agreed():
    options = {"active": "french", "deck_size": 40, "setup": True, "hands": {"french": 3}}
    play = {"position": position(), "options": options, "after": {}}
    assert told("play", play) == [
        "a game begins: French (1 unit) v British (1 unit); "
        "active French; deck size 40; setup; hands: French 3"
    ]
