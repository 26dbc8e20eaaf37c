"""Rulebooks that answer questions without a game yet: no rule of theirs is forgotten."""

import re
from pathlib import Path

import pytest

from tablecam.rules.rule_pages import coverage_of
from tests.rules.test_coverage import CODE, TESTS

GAMES = {
    "syw-d6": ("syw_d6", 60),
    "huzzah-ge": ("huzzah_ge", 40),
    "musket-saber": ("musket_saber", 70),
}


@pytest.mark.parametrize("game", GAMES)
def test_every_rule_of_the_checklist_has_its_row(shared: Path, game: str) -> None:
    text = (shared / "rules" / f"{game}.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"(?:\*\*|### )([SHK]-(?:G\d|[0-9A-N]+\.\d+[a-z]?))\b", text))
    assert {rule.id for rule in coverage_of(game) or ()} == listed


@pytest.mark.parametrize("game", GAMES)
def test_every_row_names_modules_and_tests_that_there_are(game: str) -> None:
    folder, least = GAMES[game]
    pages = TESTS.glob(f"rules/{folder}/*.py")
    tests = "".join(path.read_text(encoding="utf-8") for path in pages)
    covered = coverage_of(game) or ()
    assert len([rule for rule in covered if rule.tests]) > least
    for rule in covered:
        assert bool(rule.tests) == bool(rule.modules), rule.id
        assert rule.tests or rule.left_open, rule.id
        assert all(f"def test_{name}(" in tests for name in rule.tests), rule.id
        modules = [CODE / "rules" / folder / f"{module}.py" for module in rule.modules]
        assert all(module.is_file() for module in modules), rule.id
