"""`tablecam rule`: plain questions about single rules, as documents in and out."""

import io
import json
from typing import Any

import pytest

from tablecam.cli import main
from tablecam.rules.maurice.field.field import field_of
from tablecam.rules.maurice.rulings.facts import Rulings
from tablecam.rules.maurice.rulings.rulings import rulings_document
from tablecam.table.model import Unit
from tablecam.table.position_file import position_to_json
from tests.rules.maurice.tables import column, gun, line, massed, position

GAME = "maurice-lite"
SOUTH = 270.0
RALLY = {"ask": "rally", "unit": {"arm": "infantry", "disruption": 2}, "near_enemy": True}


def facts_of(unit: Unit) -> dict[str, Any]:
    """A unit of a position as questions state it."""
    facts = position_to_json(position(unit))["units"][0]
    return facts | facts.pop("state", {})


@pytest.fixture
def ask(tmp_path, capsys):
    """Asks a document from a file; returns the exit code, standard output and standard error."""

    def ask(document: object) -> tuple[int, Any, str]:
        path = tmp_path / "question.json"
        path.write_text(json.dumps(document, indent=1))
        code = main(["rule", GAME, str(path)])
        out, err = capsys.readouterr()
        return code, json.loads(out) if out else None, err.replace(str(tmp_path), "")

    return ask


def test_one_question_has_one_answer_with_its_rules(ask):
    code, answer, _ = ask(RALLY | {"dice": [4, 3], "bad_terrain": True})
    assert code == 0
    assert answer == {
        "ask": "rally",
        "rules": ["M-9.2", "M-9.3"],
        "because": ["M-9.3 infantry: 4 or more on each die", "M-9.3 in bad terrain: -1"],
        "readings": [],
        "house": False,
        "basic": 4,
        "modifiers": {"bad_terrain": -1},
        "needed": 5,
        "dice": 2,
        "shed": 0,
        "disruption": 2,
    }


def test_a_list_is_answered_in_its_order(ask):
    _, answers, _ = ask([RALLY, RALLY | {"near_enemy": False}, RALLY])
    assert [answer["needed"] for answer in answers] == [4, 3, 4]


def test_keys_that_need_dice_are_left_out_without_them(ask):
    assert "shed" not in ask(RALLY)[1]


def test_standard_input_is_read(monkeypatch, capsys):
    text = io.TextIOWrapper(io.BytesIO(json.dumps(RALLY).encode()))
    monkeypatch.setattr("sys.stdin", text)
    assert main(["rule", GAME, "-"]) == 0
    assert json.loads(capsys.readouterr().out)["needed"] == 4


F1 = line("F1", "french", 500, 300)
B1 = line("B1", "british", 520, 420, SOUTH)
G1 = gun("G1", "british", 700, 320, SOUTH)


def test_fire_and_charge_are_what_the_rulings_of_the_position_say(ask):
    others = [facts_of(G1)]
    fire = {"ask": "fire", "firer": facts_of(F1), "target": facts_of(B1), "others": others}
    charge = {"ask": "charge", "charger": facts_of(F1), "target": facts_of(B1), "others": others}
    _, (of_fire, of_charge), _ = ask([fire, charge])
    ruled = rulings_document(Rulings(field_of(position(F1, B1, G1)), "french"))["units"]["F1"]
    assert of_fire["may_fire"] is True
    assert of_fire["bases"] == ruled["fire"]
    assert of_charge["legal"] is True
    lanes = [lane for lane in ruled["charge"]["lanes"] if lane["target"] == "B1"]
    assert of_charge["lanes"] == json.loads(json.dumps(lanes))


def test_fire_with_dice_hits_and_disrupts(ask):
    dice = {"hit": [4, 5, 6, 1], "disrupt": [6, 6, 3]}
    _, answer, _ = ask({"ask": "fire", "firer": facts_of(F1), "target": facts_of(B1), "dice": dice})
    assert (answer["target"]["hits"], answer["target"]["disruption"]) == (3, 2)
    assert [shot["rolled"] for shot in answer["shots"]] == [[4], [5], [6], [1]]


def test_not_allowed_is_an_answer_with_its_rule(ask):
    far = line("B1", "british", 520, 900, SOUTH)
    code, answer, _ = ask({"ask": "fire", "firer": facts_of(F1), "target": facts_of(far)})
    assert code == 0
    assert answer["may_fire"] is False
    assert answer["why_not"]["rule"] == "M-7.9"


@pytest.mark.parametrize(
    ("firer", "why"),
    [
        (massed("F1", "french", 500, 300), "F1 is cavalry, which never fires."),
        (column("F1", "french", 500, 300), "F1 is in column and may not fire."),
    ],
)
def test_m_7_7_a_unit_that_never_fires_may_not_fire(ask, firer, why):
    code, answer, _ = ask({"ask": "fire", "firer": facts_of(firer), "target": facts_of(B1)})
    assert code == 0
    assert answer["may_fire"] is False
    assert answer["why_not"] == {"rule": "M-7.7", "because": why, "clause": ""}


def test_a_flank_that_is_touched_is_flanked(ask):
    # B1 faces north, wholly behind F1's front line, its left edge on F1's right edge.
    behind = line("B1", "british", 660, 300)
    _, answer, _ = ask({"ask": "flank", "unit": facts_of(F1), "enemy": facts_of(behind)})
    assert (answer["to_flank"], answer["touches"], answer["flanks"]) == (True, True, True)


def test_measured_lengths_may_be_too_close(ask):
    unit, enemy = facts_of(F1), facts_of(line("B1", "british", 500, 341.0, SOUTH))
    for base in enemy["bases"]:
        base |= {"sigma_mm": 0.3, "sigma_deg": 0.2}
    _, answer, _ = ask({"ask": "flank", "unit": unit, "enemy": enemy})
    assert answer["touches"] == "too_close"
    assert answer["doubts"]["touches"]["sigma_mm"] > 0


def test_a_combat_has_values_before_the_dice_and_results_after(ask):
    units = [facts_of(F1), facts_of(line("B1", "british", 500, 340, SOUTH, disruption=1))]
    before = {"ask": "combat", "active": "french", "units": units}
    _, (values, fought), _ = ask([before, before | {"dice": {"F1": 4, "B1": 1}}])
    assert values["values"] == {"F1": 6, "B1": 5}
    assert fought["units"]["B1"]["disruption"] == 2
    assert fought["position"]["units"][1]["state"]["disruption"] == 3


def test_the_list_names_every_question_with_its_keys(capsys):
    assert main(["rule", GAME, "--list"]) == 0
    listed = json.loads(capsys.readouterr().out)
    questions = {question["ask"]: question for question in listed["questions"]}
    assert list(questions) == ["fire", "flank", "charge", "combat", "rally"]
    assert questions["rally"]["in"]["required"] == ["unit"]
    assert {"needed", "shed", "because"} <= set(questions["rally"]["out"]["properties"])


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ({"ask": "fier"}, ":2: ask: expected one of fire, flank, charge, combat, rally, got "),
        ({}, "ask: expected one of fire, flank, charge, combat, rally, but the key is missing"),
        ([RALLY, 3], ": [2]: expected an object with keys, got 3"),
        ([RALLY | {"nearenemy": True}], "[1].nearenemy: unknown key; did you mean near_enemy?"),
        ([RALLY | {"unit": {"arm": "foot"}}], "[1].unit.arm: expected infantry, cavalry or art"),
        (RALLY | {"dice": [7, 1]}, "dice[1]: expected a number of 6 or less, got 7"),
        ([RALLY, RALLY | {"dice": [1]}], "[2].dice: expected 2 dice, one for each disruption"),
        (
            {"ask": "fire", "firer": facts_of(F1) | {"bases": facts_of(F1)["bases"][:3]},
             "target": facts_of(B1)},
            "unit F1: expected 4 bases of infantry, got 3",
        ),
    ],
)  # fmt: skip
def test_a_fault_is_one_line_that_names_the_file_and_the_place(ask, document, expected):
    code, answer, error = ask(document)
    assert (code, answer) == (2, None)
    assert error.startswith("tablecam: /question.json")
    assert expected in error
    assert len(error.splitlines()) == 1


def test_an_unknown_game_is_one_line(capsys):
    assert main(["rule", "maurice", "question.json"]) == 2
    assert 'expected a game, got "maurice"; did you mean maurice-lite?' in capsys.readouterr().err
