"""Rules in our own words: each rule that is cited has them, and no sentence is the book's."""

import re
from pathlib import Path

import pytest

from tablecam.cli import main
from tablecam.rules.rule_pages import rule_words
from tests.rules.test_coverage import CODE

WORDS = rule_words("maurice-lite")
BOOKS = {
    "maurice-lite": ("maurice", "GM", 60),
    "syw-d6": ("syw_d6", "S", 60),
    "huzzah-ge": ("huzzah_ge", "H", 60),
    "musket-saber": ("musket_saber", "K", 30),
}
"""The games whose rules have our own words: their folders, the letters of their ids,
and how many of these the code cites at least."""
TEXTS = {"huzzah-ge": "huzzah", "musket-saber": "musket"}
"""How the file of a book's text begins, where it is not named after the game."""
ROWS = {"musket-saber": r"(?:\*\*|^### )(K-(?:G\d|\d+\.\d+[a-z]?))\b"}
"""How a checklist marks its rules, where it is not one a line."""
RUN = 8
"""As many words in a row that equal the book's are no longer our own."""


def cited_ids(game: str) -> set[str]:
    """The ids of rules that the code names, and those that its table of rules lists."""
    folder, letters, _ = BOOKS[game]
    pages = (CODE / "rules" / folder).rglob("*.py")
    code = "".join(path.read_text(encoding="utf-8") for path in pages)
    return set(re.findall(rf'"([{letters}]-[0-9A-Z]+(?:\.\d+[a-z]?)?)"', code))


@pytest.mark.parametrize("game", BOOKS)
def test_every_rule_that_the_code_cites_has_its_words(game: str) -> None:
    assert len(cited_ids(game)) > BOOKS[game][2]
    assert cited_ids(game) - set(rule_words(game)) == set()


@pytest.mark.parametrize("game", BOOKS)
def test_every_rule_of_the_checklist_has_its_words(shared: Path, game: str) -> None:
    text = (shared / "rules" / f"{game}.md").read_text(encoding="utf-8")
    rows = rf"^(?:- |\| (?:\S+ \| )?)\*\*([{BOOKS[game][1]}]-[0-9A-N]+(?:\.\d+)?)\b"
    assert list(rule_words(game)) == re.findall(ROWS.get(game, rows), text, re.MULTILINE)


def runs_of(text: str) -> set[tuple[str, ...]]:
    words = re.findall(r"[a-z0-9']+", text.lower())
    return {tuple(words[at : at + RUN]) for at in range(len(words) - RUN + 1)}


@pytest.mark.parametrize("game", BOOKS)
@pytest.mark.parametrize("page", ["rules/{}.md", "rulebooks/{}*.txt"])
def test_no_sentence_is_the_books(shared: Path, page: str, game: str) -> None:
    (path,) = shared.glob(page.format(TEXTS.get(game, game) if "*" in page else game))
    theirs = runs_of(path.read_text(encoding="utf-8", errors="replace"))
    assert len(theirs) > 1000
    same = {rule: runs_of(words.text) & theirs for rule, words in rule_words(game).items()}
    assert {rule: runs for rule, runs in same.items() if runs} == {}


def test_the_terminal_explains_a_rule(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rule", "maurice-lite", "--explain", "M-1.9"]) == 0
    assert capsys.readouterr().out.startswith("M-1.9 Near the enemy. A unit is near if ")


def test_a_rule_that_there_is_not_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rule", "maurice-lite", "--explain", "M-1.99"]) == 2
    assert 'expected a rule of maurice-lite, got "M-1.99"' in capsys.readouterr().err
