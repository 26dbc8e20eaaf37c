"""Rules in our own words: each rule that is cited has them, and no sentence is the book's."""

import re
from pathlib import Path

import pytest

from tablecam.cli import main
from tablecam.rules.rule_pages import rule_words
from tests.rules.test_coverage import PACKAGE

WORDS = rule_words("maurice-lite")
RUN = 8
"""As many words in a row that equal the book's are no longer our own."""


def cited_ids() -> set[str]:
    """The ids of rules that the code names, and those that its table of rules lists."""
    code = "".join(path.read_text(encoding="utf-8") for path in PACKAGE.rglob("*.py"))
    return set(re.findall(r'"([GM]-\d+(?:\.\d+)?)"', code))


def test_every_rule_that_the_code_cites_has_its_words() -> None:
    assert len(cited_ids()) > 90
    assert cited_ids() - set(WORDS) == set()


def test_every_rule_of_the_checklist_has_its_words(shared: Path) -> None:
    text = (shared / "rules" / "maurice-lite.md").read_text(encoding="utf-8")
    ids = re.findall(r"^- \*\*([GM]-\d+(?:\.\d+)?)\b", text, re.MULTILINE)
    assert list(WORDS) == ids


def runs_of(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"[a-z0-9']+", text.lower())
    return {tuple(words[at : at + RUN]) for at in range(len(words) - RUN + 1)}


@pytest.mark.parametrize("page", ["rules/maurice-lite.md", "rulebooks/maurice-lite.txt"])
def test_no_sentence_is_the_books(shared: Path, page: str) -> None:
    theirs = runs_of((shared / page).read_text(encoding="utf-8", errors="replace"))
    assert len(theirs) > 1000
    same = {rule: runs_of(words.text) & theirs for rule, words in WORDS.items()}
    assert {rule: runs for rule, runs in same.items() if runs} == {}


def test_the_terminal_explains_a_rule(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rule", "maurice-lite", "--explain", "M-1.9"]) == 0
    assert capsys.readouterr().out.startswith("M-1.9 Near the enemy. A unit is near if ")


def test_a_rule_that_there_is_not_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rule", "maurice-lite", "--explain", "M-1.99"]) == 2
    assert 'expected a rule of maurice-lite, got "M-1.99"' in capsys.readouterr().err
