"""`tablecam resolve`: words for people, a document for programs, one line for bad input."""

import json
from pathlib import Path

import pytest

from tablecam.cli import main
from tablecam.rules.games import known_games
from tablecam.table.model import Unit
from tablecam.table.position_file import position_from_json, position_to_json
from tests.rules.maurice.tables import gun, line, position

SOUTH = 270.0
CHARGE = (
    line("F1", "french", 500, 580, disruption=1),
    line("B1", "british", 500, 620, SOUTH),
    line("F2", "french", 500, 525),
)


def resolve(folder: Path, request: object, *units: Unit, options: tuple[str, ...] = ()) -> int:
    places = folder / "position.json", folder / "request.json"
    for path, document in zip(places, (position_to_json(position(*units)), request), strict=True):
        path.write_text(json.dumps(document))
    return main(["resolve", *map(str, places), *options])


def test_a_combat_is_told_with_every_number_and_its_rule(tmp_path, capsys):
    request = {"kind": "combat", "active": "french", "dice": {"F1": 2, "B1": 6}}
    assert resolve(tmp_path, request, *CHARGE) == 0
    assert capsys.readouterr().out.splitlines() == [
        "Combat: French attack",
        "",
        "F1 against B1: 6 - 1 = 5, die 2: 7",
        "     M-8.16 infantry: basic value 6",
        "     M-8.16 1 level of disruption: -1",
        "     M-8.19 value 5, die 2: score 7",
        "     M-8.20 loses to B1 7-12, +2 disruption",
        "     M-8.23 falls back 2.375 BW: an attacker in contact does, even a winner",
        "     M-8.26 passes through F2, +1 disruption",
        "",
        "B1 against F1: 6, die 6: 12",
        "     M-8.16 infantry: basic value 6",
        "     M-8.19 value 6, die 6: score 12",
        "     M-8.20 beats F1 12-7, +1 disruption",
        "",
        "F2 is passed through",
        "     M-8.26 F1 passes through it, +1 disruption",
        "",
        "F1 takes 3 disruptions (now 4), and falls back",
        "B1 takes 1 disruption (now 1)",
        "F2 takes 1 disruption (now 1)",
        "",
        "M-8.25, interpretation: a unit that would end on a friend stops at the first "
        "open ground beyond, not after whole BW",
    ]


def test_a_volley_is_told_shot_by_shot(tmp_path, capsys):
    shots = [{"unit": "G1", "targets": {"G1/1": "B1"}}]
    dice = {"hit": [4, 3], "disrupt": [6]}
    request = {"kind": "volley", "side": "french", "shots": shots, "dice": dice}
    enemy = line("B1", "british", 500, 520, SOUTH, disruption=4)
    assert resolve(tmp_path, request, gun("G1", "french", 480, 400), enemy) == 0
    told = capsys.readouterr().out.splitlines()
    assert told[2] == "G1, base G1/1, at B1 at short range, 4+ to hit: 4, 3, 1 hit"
    assert told[-5:] == [
        "B1: 1 hit, dice 6",
        "     M-7.26 1 of 1 hits disrupt (4+ needed)",
        "     M-1.14 breaks: 5 disruptions are more than its 4 bases",
        "",
        "B1 breaks and leaves the table",
    ]


def test_a_rally_is_told(tmp_path, capsys):
    request = {"kind": "rally", "unit": "F1", "dice": [1]}
    assert resolve(tmp_path, request, line("F1", "french", 500, 580, disruption=1)) == 0
    assert capsys.readouterr().out.splitlines() == [
        "F1 rallies, 3+ needed: 1",
        "     M-9.3 infantry: 4 or more on each die",
        "     M-9.3 not near the enemy: +1",
        "     M-9.2 0 of 1 dice show 3 or more",
        "",
        "F1 sheds no disruptions (now 1)",
    ]


def test_the_document_stands_alone_and_its_position_can_be_resolved_upon(tmp_path, capsys):
    request = {"kind": "combat", "active": "french", "dice": {"F1": 2, "B1": 6}}
    assert resolve(tmp_path, request, *CHARGE, options=("--json",)) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["game"], answer["kind"]) == ("maurice-lite", "combat")
    after = position_from_json(answer["position"], games=known_games())
    rally = {"kind": "rally", "unit": "F1", "dice": [4, 4, 4, 1]}
    assert resolve(tmp_path, rally, *after.units, options=("--json",)) == 0
    units = json.loads(capsys.readouterr().out)["position"]["units"]
    assert units[0]["state"]["disruption"] == 1


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        (
            {"kind": "combat", "active": "french", "dice": {"F1": 7, "B1": 1}},
            "request.json:1: dice.F1: expected a number of 6 or less, got 7",
        ),
        (
            {"kind": "rally", "unit": "B1", "dice": [1]},
            "request.json:1: dice: expected 0 dice, one for each disruption of B1 (M-9.2), got 1",
        ),
        (
            {"kind": "rally", "unit": "B9"},
            'request.json:1: unit: there is no unit "B9" on the table; there are F1, B1, F2',
        ),
        ([], "request.json: expected an object with keys, got []"),
    ],
)
def test_what_cannot_be_resolved_is_refused_in_one_line(tmp_path, capsys, request_, said):
    assert resolve(tmp_path, request_, *CHARGE) == 2
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err == f"tablecam: {tmp_path}/{said}\n"


def test_a_missing_file_is_named(tmp_path, capsys):
    assert main(["resolve", str(tmp_path / "none.json"), str(tmp_path / "request.json")]) == 2
    assert "none.json: there is no such file" in capsys.readouterr().err


def test_a_number_with_thousands_of_digits_is_refused_in_one_line(tmp_path, capsys):
    assert resolve(tmp_path, {}, *CHARGE) == 2
    path = tmp_path / "request.json"
    path.write_text(f'{{"kind": "rally", "unit": "F1", "dice": [{"4" * 5000}]}}')
    capsys.readouterr()
    assert main(["resolve", str(tmp_path / "position.json"), str(path)]) == 2
    said = f"tablecam: {path}: not valid JSON: a number has too many digits\n"
    assert capsys.readouterr().err == said
