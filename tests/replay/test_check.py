"""Checking recordings: sound ones pass, and any change is found in its place."""

import copy
from dataclasses import asdict, replace
from datetime import UTC, datetime

import pytest

import tablecam
from tablecam.errors import BadInput
from tablecam.record.entries import Entry
from tablecam.replay.check import RecordingCheck
from tablecam.rules.measuring import Measures
from tablecam.simulate.demo import embedded_demo
from tablecam.table.position_file import position_to_json
from tests.replay.evening import evening
from tests.replay.golden_recordings import DEALT, OWN, golden

STARTED = datetime(2026, 5, 1, 20, 0, tzinfo=UTC)


def checked(entries, *, game="maurice-lite", written_by=tablecam.__version__):
    check = RecordingCheck(game, "evening.tablecam", written_by)
    for number, each in enumerate(entries, start=1):
        if not check.entry(Entry(number, each.kind, each.at, each.document)):
            break
    return check.checked


@pytest.mark.parametrize("path", [DEALT, OWN], ids=["dealt", "own"])
def test_a_whole_game_holds_to_the_last_state(path):
    entries = golden(path)
    report = checked(entries)
    assert report.fault is None
    deeds = sum(entry.kind == "deed" for entry in entries)
    assert report.counts["action"] + report.counts["roll"] == deeds == report.counts["state"]
    assert report.counts["roll"] > 1
    told = sum(len(entry.document["events"]) for entry in entries if entry.kind == "deed")
    assert report.counts["event"] == told


@pytest.fixture(scope="module")
def held():
    return evening()


@pytest.fixture
def entries(held):
    return [replace(each, document=copy.deepcopy(each.document)) for each in held]


def test_an_evening_with_hands_disputes_and_what_was_taken_back_holds(entries):
    report = checked(entries)
    assert report.fault is None
    counts = report.counts
    assert (counts["ruling"], counts["dispute"], counts["undo"], counts["remark"]) == (3, 1, 1, 1)


def place_of(entries, kind, nth=0):
    return [place for place, each in enumerate(entries) if each.kind == kind][nth]


def test_a_ruling_that_was_told_otherwise_is_found(entries):
    place = place_of(entries, "ruling", 1)
    entries[place].document["answer"]["margin_mm"] += 1.0
    fault = checked(entries).fault
    assert (fault.entry, fault.kind) == (place + 1, "ruling")
    assert fault.because == "answer.margin_mm: recorded 41.0, but the rules give 40.0"
    entries[place].document["unit"] = "F2"
    assert checked(entries).fault.because == ("the referee now has no ruling on F2's move by hand")


def test_a_ruling_of_the_position_before_holds_as_somebody_may_have_tapped_meanwhile(entries):
    place = place_of(entries, "ruling", 1)
    position = place_of(entries, "position", 3)
    assert entries[place_of(entries, "position", 2)].document != entries[position].document
    early = [*entries[:place], entries[position], entries[place]]
    assert checked(early).fault is None


def test_a_dispute_that_was_answered_otherwise_is_found(entries):
    place = place_of(entries, "dispute")
    entries[place].document["dispute"]["answer"]["answer"] = "yes"
    fault = checked(entries).fault
    assert fault.entry == place + 1
    assert fault.because == 'answer.answer: recorded "yes", but the rules give "no"'


def test_a_dispute_of_another_position_is_found(entries):
    place = place_of(entries, "dispute")
    for unit in entries[place].document["position"]["units"]:
        for base in unit["bases"] if unit["id"] == "F1" else ():
            base["y_mm"] += 100.0
    assert "answer.margin_mm" in checked(entries).fault.because


ROLL = "roll"


def roll_in(entries):
    """The first roll of a golden game that scores a hit."""
    return next(
        entry
        for entry in entries
        if entry.kind == "deed" and entry.document["entry"].get("type") == ROLL
    )


def test_dice_that_were_changed_are_found_where_they_fell():
    entries = golden(DEALT)
    roll = roll_in(entries)
    values = roll.document["entry"]["values"]
    roll.document["entry"]["values"] = [7 - value for value in values]
    fault = checked(entries).fault
    assert fault.entry == entries.index(roll) + 1
    assert fault.because.startswith("events[1].")


def test_a_state_that_was_changed_is_found():
    entries = golden()
    place = place_of(entries, "deed", 40)
    entries[place].document["after"]["state"]["sides"][0]["morale"] += 1
    fault = checked(entries).fault
    assert fault.entry == place + 1
    assert fault.because.startswith("after.state.sides[1].morale: recorded ")


@pytest.mark.parametrize("nth", [0, 9, 33])
def test_a_deed_that_is_missing_is_found_at_once_or_where_it_matters(nth):
    entries = golden()
    place = place_of(entries, "deed", nth)
    del entries[place]
    assert checked(entries).fault.entry >= place


def test_an_action_that_the_rules_refuse_is_told_with_why():
    entries = golden()
    place = place_of(entries, "deed", 5)
    entries[place].document["entry"] = {"type": "declare", "command": "march"}
    fault = checked(entries).fault
    assert fault.entry == place + 1
    assert fault.because.startswith("cannot be replayed: action: ")


def test_entries_of_another_shape_are_faults_not_crashes(entries):
    for kind, document in (
        ("ruling", {}),
        ("dispute", {"dispute": {}, "position": 3}),
        ("dispute", {"dispute": None}),
        ("deed", {"entry": 5}),
        ("deed", {}),
        ("play", {"format": "tablecam.play"}),
        ("position", {"changed": {"units": {"changed": {}, "order": ["F9"]}}}),
        ("position", {"whole": 7}),
        ("move", [1]),
        ("picture", {}),
        ("notice", {"said": "the camera was moved"}),
        ("wombat", {"text": "what no tablecam keeps"}),
    ):
        for before in ([], entries[:8]):
            fault = checked([*before, replace(entries[0], kind=kind, document=document)]).fault
            assert (fault.entry, fault.kind) == (len(before) + 1, kind)
            assert "\n" not in str(fault)


def test_what_an_older_tablecam_put_otherwise_is_no_difference_but_what_followed_is():
    entries = golden(DEALT)
    roll = roll_in(entries)
    roll.document["events"][0] |= {"text": "a hit!", "evidence": []}
    assert "events[1].text: recorded" in checked(entries).fault.because
    older = checked(entries, written_by="0.0.1")
    assert (older.fault, older.reworked) == (None, 1)
    roll.document["events"][0]["kind"] = "miss"
    assert "events[1].kind: recorded" in checked(entries, written_by="0.0.1").fault.because


def test_an_older_tablecam_may_be_less_sure_of_an_answer_but_not_answer_otherwise(entries):
    asked = entries[place_of(entries, "dispute")].document["dispute"]
    asked["answer"] |= {"probability": 0.5, "sigma_mm": 9.0, "margin_mm": 0.1}
    assert "answer.margin_mm: recorded" in checked(entries).fault.because
    older = checked(entries, written_by="0.0.1")
    assert (older.fault, older.reworked) == (None, 1)
    asked["answer"]["answer"] = "too_close"
    assert "answer.answer: recorded" in checked(entries, written_by="0.0.1").fault.because


def test_what_is_only_drawn_otherwise_is_counted_and_no_fault(entries):
    ruling = entries[place_of(entries, "ruling")].document
    assert ruling["answer"]["evidence"]
    assert ruling["ghost"]
    ruling["answer"]["evidence"] = ruling["answer"]["evidence"][:-1]
    ruling["ghost"][0]["x_mm"] += 1.0
    event = next(e for entry in entries for e in entry.document.get("events", ()) if e["evidence"])
    event["evidence"][0]["points_mm"][0][0] += 1.0
    dispute = entries[place_of(entries, "dispute")].document["dispute"]
    dispute["answer"]["evidence"] = []
    report = checked(entries)
    assert (report.fault, report.reworked) == (None, 3)


@pytest.mark.parametrize(
    ("key", "other"),
    [
        ("answer", "yes"),
        ("margin_mm", -41.0),
        ("sigma_mm", 0.5),
        ("probability", 0.02),
        ("rule", "M-6.18"),
        ("because", "Too far."),
    ],
)
def test_whatever_a_ruling_says_otherwise_is_a_fault_though_its_drawing_is_another_too(
    entries, key, other
):
    place = place_of(entries, "ruling")
    answer = entries[place].document["answer"]
    assert answer[key] != other
    entries[place].document["answer"] = answer | {"evidence": [], key: other}
    fault = checked(entries).fault
    assert fault.entry == place + 1
    assert fault.because.startswith(f"answer.{key}: recorded ")


def test_what_an_older_tablecam_did_not_tell_is_no_difference():
    entries = golden()
    for entry in entries:
        if entry.kind == "deed":
            del entry.document["after"]["state"]["options"]
    assert "after.state.options: recorded nothing" in checked(entries).fault.because
    assert checked(entries, written_by="0.0.1").fault is None
    for entry in entries:
        if entry.kind == "deed":  # as version 2 of recordings kept them
            entry.document.clear()
    older = golden()
    for each, whole in zip(entries, older, strict=True):
        if each.kind == "deed":
            each.document["entry"] = whole.document["entry"]
    report = checked(entries)
    assert report.fault is None
    assert report.counts["event"] == 0


def test_a_game_that_tablecam_has_no_rules_for_cannot_be_checked():
    with pytest.raises(BadInput, match="tablecam has no rules for whist"):
        checked([], game="whist")


def test_what_was_measured_without_a_rulebook_is_measured_again():
    table = embedded_demo("free").truth()
    line = Measures("free").answer(table, "sight/F8/B4")
    position = position_to_json(table)
    asked = {"active": "french", "question": asdict(line.question)}
    dispute = asked | {"answer": line.answer.to_json(), "line": line.to_json()}
    kept = [
        Entry(1, "position", STARTED, {"whole": position}),
        Entry(2, "dispute", STARTED, {"dispute": dispute, "position": position}),
    ]
    result = checked(kept, game="free")
    assert result.fault is None
    assert result.counts == {"position": 1, "dispute": 1}
    dispute["answer"] = dispute["answer"] | {"answer": "yes"}
    assert checked(kept, game="free").fault.entry == 2
