"""The pages of the rules: each id of the checklist has our words, and a row in the coverage."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tablecam.rules.rule_pages import coverage_of, rule_words
from tests.rules.test_coverage import CODE, TESTS
from tests.rules.test_rule_words import runs_of

GAME = "maida-1806"


def listed_ids(text: str) -> set[str]:
    """The ids of a checklist; a line may be about several."""
    ids = set(re.findall(r"^### (D-G\d+)", text, re.MULTILINE))
    for line in re.findall(r"\*\*(D-[^*]+)\*\*", text):
        ids |= set(re.findall(r"D-(?:W|[G\d][\w.]*\w|\d)", line))
    return ids


@pytest.fixture
def checklist(shared: Path) -> set[str]:
    return listed_ids((shared / "rules" / "maida-1806.md").read_text(encoding="utf-8"))


def test_every_rule_of_the_checklist_has_its_words_and_its_row(checklist):
    assert len(checklist) > 190
    assert set(rule_words(GAME)) == checklist
    assert {row.id for row in coverage_of(GAME) or ()} == checklist


def test_every_rule_that_the_code_cites_has_its_words():
    pages = (CODE / "rules" / "maida_1806").glob("*.py")
    code = "".join(path.read_text(encoding="utf-8") for path in pages)
    cited = set(re.findall(r'"(D-(?:W|[G\d][\w.]*\w|\d))"', code))
    assert len(cited) > 60
    assert cited - set(rule_words(GAME)) == set()


def test_every_row_names_modules_and_tests_that_there_are():
    folders = ("rules/maida_1806", "rules/hexes")
    pages = [path for folder in folders for path in TESTS.glob(f"{folder}/*.py")]
    tests = "".join(path.read_text(encoding="utf-8") for path in pages)
    for row in coverage_of(GAME) or ():
        assert bool(row.tests) == bool(row.modules), row.id
        assert row.tests or row.left_open, row.id
        assert all(f"def test_{name}(" in tests for name in row.tests), row.id
        modules = [CODE / "rules" / "maida_1806" / f"{name}.py" for name in row.modules]
        assert all(module.is_file() for module in modules), row.id


@pytest.mark.parametrize("page", ["rules/maida-1806.md", "rulebooks/maida-1806.txt"])
def test_no_sentence_is_the_books(shared: Path, page: str):
    theirs = runs_of((shared / page).read_text(encoding="utf-8", errors="replace"))
    assert len(theirs) > 1000
    same = {rule: runs_of(words.text) & theirs for rule, words in rule_words(GAME).items()}
    assert {rule: runs for rule, runs in same.items() if runs} == {}
