"""The documents: links work, commands and terms are listed, quoted code is real."""

import re
from pathlib import Path

import pytest

from tablecam.cli import COMMANDS

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("docs", "examples", "tablecam", "tests/benchmarks")
PAGES = [
    *ROOT.glob("*.md"),
    *(page for folder in FOLDERS for page in (ROOT / folder).rglob("*.md")),
]
LINK = re.compile(r"\]\((?!https?:)([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
CODE = re.compile(r"^ *```python\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)


def text_of(page: str | Path) -> str:
    return (ROOT / page).read_text(encoding="utf-8")


def anchors(page: Path) -> set[str]:
    """The names that links to a page may have after `#`, as GitHub derives them from headings."""
    headings = HEADING.findall(text_of(page))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_link_leads_somewhere(page: Path) -> None:
    broken = []
    for link in LINK.findall(text_of(page)):
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    assert broken == []


def test_every_command_is_described() -> None:
    page = text_of("docs/commands.md")
    assert [name for name in COMMANDS if f"`tablecam {name}" not in page] == []


def test_the_glossary_is_short_and_in_order() -> None:
    terms = re.findall(r"^\| (.+?) \| [vwt] \|", text_of("docs/glossary.md"), re.MULTILINE)
    assert terms == sorted(set(terms), key=str.lower)
    assert 50 <= len(terms) <= 90


def test_the_page_about_rulebooks_shows_the_toy_as_it_is() -> None:
    sources = ("systems/nim/game.py", "test_play.py", "test_questions.py")
    source = "".join(text_of(f"tests/rules/{name}") for name in sources)
    blocks = CODE.findall(text_of("docs/adding-a-rulebook.md"))
    assert len(blocks) >= 8
    assert [block for block in blocks if block.strip("\n") not in source] == []


def test_a_version_in_the_changelog_has_at_most_20_lines() -> None:
    versions = re.split(r"^## ", text_of("CHANGELOG.md"), flags=re.MULTILINE)[1:]
    assert len(versions) >= 2
    assert max(len([line for line in version.splitlines() if line]) for version in versions) <= 20


def test_commits_are_checked_with_the_linter_that_ci_uses() -> None:
    (pinned,) = re.findall(r"^ruff==(.+)$", text_of(".ci/tested.txt"), re.MULTILINE)
    assert re.search(rf"rev: v{re.escape(pinned)}\b", text_of(".pre-commit-config.yaml"))
