"""`tablecam odds`: tables for people, a document for programs, one line for bad input."""

import json
from dataclasses import replace
from pathlib import Path

from tablecam.cli import main
from tablecam.table.model import Unit
from tablecam.table.position_file import position_to_json
from tests.rules.maurice.tables import line, position

SOUTH = 270.0
CHARGE = (
    line("F1", "french", 500, 580, disruption=3),
    line("B1", "british", 500, 620, SOUTH),
    line("F2", "french", 500, 525),
)
COMBAT = {"kind": "combat", "active": "french"}


def odds(folder: Path, request: object, *units: Unit, options: tuple[str, ...] = ()) -> int:
    places = folder / "position.json", folder / "request.json"
    for path, document in zip(places, (position_to_json(position(*units)), request), strict=True):
        path.write_text(json.dumps(document))
    return main(["odds", *map(str, places), *options])


def rows(text: str) -> dict[str, list[str]]:
    return {words[0]: words[1:] for line in text.splitlines() if (words := line.split())}


def test_the_odds_of_a_combat_are_a_table_with_those_who_are_passed_through(tmp_path, capsys):
    assert odds(tmp_path, COMBAT, *CHARGE) == 0
    out = capsys.readouterr().out
    assert out.startswith("Odds of the combat, French active")
    assert max(map(len, out.splitlines())) <= 80
    table = rows(out)
    # 3 + die against 6 + die: reached or beaten, and so broken, in all but 3 of 36 ways; in those
    # it takes one, survives at 4, and breaks as it falls back through F2.
    assert table["F1"] == ["3", "B1", "+2.00", "0", "0", "100", "100", "8.3", "8.3"]
    assert table["F2"] == ["+0.08", "91.7", "8.3", "0", "0"]
    assert table["French"] == ["1.00", "0", "100"]


def test_names_like_markup_are_printed_as_they_are(tmp_path, capsys):
    names = ("[b]F", "[red]", "[i]F2")
    units = [replace(unit, id=name) for unit, name in zip(CHARGE, names, strict=True)]
    units = [replace(unit, side=f"[{unit.side}]") for unit in units]
    assert odds(tmp_path, COMBAT | {"active": "[french]"}, *units) == 0
    out = capsys.readouterr().out
    assert out.startswith("Odds of the combat, [french] active")
    assert {*names, "[british]"} <= rows(out).keys()


def test_with_json_the_document_stands_alone(tmp_path, capsys):
    assert odds(tmp_path, COMBAT, *CHARGE, options=("--json",)) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["game"], document["kind"]) == ("maurice-lite", "combat")
    assert document["units"]["F1"]["modifiers"] == {"disruption": -3}
    assert document["units"]["F1"]["engaged_with"] == ["B1"]
    assert document["sides"]["french"]["broken"]["chances"] == {"1": 1.0}


def test_a_request_to_resolve_may_be_asked_for_its_odds_and_its_dice_are_left_aside(
    tmp_path, capsys
):
    dice = {"dice": {"F1": 6, "B1": 1}}
    assert odds(tmp_path, COMBAT | dice, *CHARGE) == 0
    thrown = capsys.readouterr().out
    assert odds(tmp_path, COMBAT, *CHARGE) == 0
    assert capsys.readouterr().out == thrown


def test_fire_and_rally_have_tables_of_their_own(tmp_path, capsys):
    apart = (CHARGE[0], line("B1", "british", 500, 720, SOUTH))
    shots = [{"unit": "F1", "targets": {"F1/1": "B1"}}]
    assert odds(tmp_path, {"kind": "volley", "side": "french", "shots": shots}, *apart) == 0
    # A disrupted shooter needs a 5 (M-7.24), a hit a 4 to disrupt: one chance in six.
    assert rows(capsys.readouterr().out)["B1"] == ["1", "0.33", "+0.17", "83.3", "16.7", "0"]
    assert odds(tmp_path, {"kind": "rally", "unit": "F1"}, *apart) == 0
    table = rows(capsys.readouterr().out)
    assert table["F1"] == ["4+", "-1.50", "12.5", "37.5", "37.5", "12.5"]


def test_bad_input_is_one_line_and_exit_2(tmp_path, capsys):
    assert odds(tmp_path, {"kind": "rally", "unit": "F7"}, *CHARGE) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert len(said.err.splitlines()) == 1
    assert '"F7"' in said.err
