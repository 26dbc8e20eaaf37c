"""`tablecam engine`: JSON lines in, JSON lines out."""

import io
import json
import sys

from tablecam.cli import main
from tablecam.rules.games import game_names
from tablecam.table.model import Commander
from tablecam.table.position_file import position_to_json
from tests.rules.maurice.tables import line, position

TABLE = position(
    line("F1", "french", 900, 300),
    line("B1", "british", 900, 900, 270.0),
    commanders=[Commander("fc", "french", 900, 200), Commander("bc", "british", 900, 1000)],
)


def engine(monkeypatch, capsys, *requests, options=()):
    sent = "".join(
        f"{request if isinstance(request, str) else json.dumps(request)}\n" for request in requests
    )
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(sent.encode())))
    code = main(["engine", "maurice-lite", *options])
    return code, [json.loads(answer) for answer in capsys.readouterr().out.splitlines()]


def test_each_line_has_its_answer_and_the_end_of_input_is_the_end(monkeypatch, capsys):
    load = {"do": "load", "position": position_to_json(TABLE), "options": {"active": "british"}}
    code, answers = engine(monkeypatch, capsys, load, "{", "", {"do": "state"})
    assert code == 0
    assert [answer["ok"] for answer in answers] == [True, False, True]
    assert answers[0]["asked"]["seat"] == "british"
    assert answers[2]["state"]["position"]["units"][0]["id"] == "F1"


def test_a_line_that_is_too_long_has_one_answer(monkeypatch, capsys):
    for place in ("tablecam.commands.engine.MOST_BYTES", "tablecam.documents.MOST_BYTES"):
        monkeypatch.setattr(place, 100)
    code, answers = engine(monkeypatch, capsys, {"do": "x" * 350}, {"do": "state"})
    assert code == 0
    assert ["expected at most" in answer["error"] for answer in answers] == [True, False]


def test_a_seed_throws_the_same_dice_again(monkeypatch, capsys):
    table = position(
        line("F1", "french", 900, 300, disruption=3),
        line("B1", "british", 900, 900, 270.0),
        commanders=TABLE.commanders,
    )
    requests = [
        {"do": "load", "position": position_to_json(table)},
        *(
            {"do": "apply", "action": action}
            for action in (
                {"type": "volleys", "invoke": False},
                {"type": "declare", "command": "rally"},
                {"type": "activate", "force": ["F1"], "spans": [4]},
                {"type": "decline", "side": "british"},
                {"type": "decline", "side": "french"},
                {"type": "decline", "side": "british"},
                {"type": "rally", "unit": "F1"},
            )
        ),
        {"do": "legal"},
    ]
    _, answers = engine(monkeypatch, capsys, *requests)
    assert all(answer["ok"] for answer in answers), answers
    (due,) = answers[-1]["legal"]
    requests.append({"do": "apply", "action": due})
    rolled = [
        engine(monkeypatch, capsys, *requests, options=("--seed", "5"))[1][-1] for _ in range(2)
    ]
    assert rolled[0] == rolled[1]
    assert len(rolled[0]["action"]["values"]) == 3


def test_a_game_that_there_is_not_is_refused_with_those_that_there_are(capsys):
    assert main(["engine", "chess"]) == 2
    known = ", ".join(game_names())
    said = f'tablecam: engine: expected a game, got "chess"; there are {known}\n'
    assert capsys.readouterr().err == said


def test_a_table_that_lacks_what_the_game_needs_is_refused(monkeypatch, capsys):
    bare = position_to_json(TABLE)
    del bare["table"]["base_width_mm"]
    _, (answer,) = engine(monkeypatch, capsys, {"do": "load", "position": bare})
    assert not answer["ok"]
    assert "table.base_width_mm: expected this key, but it is missing" in str(answer)


def test_a_hands_move_is_told_as_an_action_that_can_be_sent_back(monkeypatch, capsys):
    setting_out = [
        {"do": "load", "position": position_to_json(TABLE)},
        *(
            {"do": "apply", "action": action}
            for action in (
                {"type": "volleys", "invoke": False},
                {"type": "declare", "command": "march"},
                {"type": "activate", "force": ["F1"], "spans": [4]},
                {"type": "decline", "side": "british"},
                {"type": "decline", "side": "french"},
                {"type": "decline", "side": "british"},
            )
        ),
    ]
    answers = {}
    for ahead_mm in (120.0, 200.0):
        moved = position(line("F1", "french", 900, 300 + ahead_mm), *TABLE.units[1:])
        there = position_to_json(moved) | {"commanders": position_to_json(TABLE)["commanders"]}
        _, told = engine(monkeypatch, capsys, *setting_out, {"do": "moved", "position": there})
        (answers[ahead_mm],) = told[-1]["suggestions"]
    legal, too_far = answers[120.0], answers[200.0]
    assert (legal["unit"], legal["answer"], too_far["answer"]) == ("F1", "yes", "no")
    assert "5.00 BW" in too_far["because"]
    _, told = engine(monkeypatch, capsys, *setting_out, {"do": "apply", "action": legal["action"]})
    assert told[-1]["ok"], told[-1]
    assert told[-1]["events"][0]["facts"]["cost_bw"] == 3.0
