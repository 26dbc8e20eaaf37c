"""What is said to be played is there, and no rule is forgotten."""

import json
import re
from pathlib import Path

import pytest

import tablecam
from tablecam.cli import main
from tablecam.rules.rule_pages import coverage_of

TESTS = Path(__file__).parents[1]
CODE = Path(tablecam.__file__).parent
PACKAGE = CODE / "rules" / "maurice"


@pytest.fixture(scope="module")
def covered():
    return coverage_of("maurice-lite")


def test_every_rule_of_the_checklist_has_its_row(covered, shared):
    text = (shared / "rules" / "maurice-lite.md").read_text(encoding="utf-8")
    ids = re.findall(r"^- \*\*([GMT]-\d+(?:\.\d+)?)\b", text, re.MULTILINE)
    assert [each.id for each in covered] == ids


@pytest.mark.parametrize(
    "rule", ["M-8.4", "S-A.1", "H-3.1", "D-13.1A", "D-13.1.2", "D-G1", "D-3.3a", "K-7.13a", "S-0"]
)
def test_the_ids_of_every_checklist_are_read(monkeypatch, rule):
    text = f"| rule | modules | tests | open |\n|---|---|---|---|\n| {rule} | fire | a_test | |\n"
    monkeypatch.setattr("tablecam.rules.rule_pages.text_of", lambda *_: text)
    assert [row.id for row in coverage_of("any") or ()] == [rule]


def test_every_rule_names_tests_that_there_are(covered):
    there = {
        name
        for path in TESTS.rglob("test_*.py")
        for name in re.findall(r"^def test_(\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
    }
    missing = {each.id: set(each.tests) - there for each in covered if set(each.tests) - there}
    assert missing == {}
    assert [each.id for each in covered if not each.tests] == []


def test_every_rule_names_modules_that_there_are(covered):
    for each in covered:
        assert each.modules or each.id.startswith("T-"), each.id
        for module in each.modules:
            places = (PACKAGE / f"{module}.py", CODE / f"{module}.py")
            assert any(place.is_file() for place in places), (each.id, module)


def test_the_count_is_printed_with_what_is_left_open(covered, capsys):
    assert main(["coverage", "maurice-lite"]) == 0
    first, *others = capsys.readouterr().out.splitlines()
    left = [each for each in covered if each.left_open]
    whole = len(covered) - len(left)
    said = f"maurice-lite: {whole} of {len(covered)} rules and examples are played and tested"
    assert first == said
    assert [line.split()[0] for line in others] == [each.id for each in left]


def test_the_count_is_a_document_too(covered, capsys):
    assert main(["coverage", "maurice-lite", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [rule["id"] for rule in document["rules"]] == [each.id for each in covered]


def test_nothing_is_counted_of_a_game_that_there_is_not(capsys):
    assert main(["coverage", "chess"]) == 2
    assert "expected a game" in capsys.readouterr().err
