"""What is said to be answered of the Seven Years' War sheet is there, and no rule is forgotten."""

import re
from pathlib import Path

from tablecam.rules.rule_pages import coverage_of
from tests.rules.test_coverage import CODE, TESTS

FOLDER = CODE / "rules" / "syw_d6"


def test_every_rule_of_the_checklist_has_its_row(shared: Path) -> None:
    text = (shared / "rules" / "syw-d6.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"\*\*(S-[0-9A-N]\.\d+)\b", text))
    assert {rule.id for rule in coverage_of("syw-d6") or ()} == listed


def test_every_row_names_modules_and_tests_that_there_are() -> None:
    tests = "".join(path.read_text(encoding="utf-8") for path in TESTS.glob("rules/syw_d6/*.py"))
    covered = coverage_of("syw-d6") or ()
    assert len([rule for rule in covered if rule.tests]) > 60
    for rule in covered:
        assert bool(rule.tests) == bool(rule.modules), rule.id
        assert rule.tests or rule.left_open, rule.id
        assert all(f"def test_{name}(" in tests for name in rule.tests), rule.id
        assert all((FOLDER / f"{module}.py").is_file() for module in rule.modules), rule.id
