"""Reasons are data; one table has their words."""

import re
from pathlib import Path

import tablecam.rules.maurice
from tablecam.rules.maurice.field.terms import CLAUSES

NAMED = re.compile(r'(?:Reason|Term)\(\s*"[A-Z]+-[\d.]+", "(\w+)"')
CHOSEN = {"beaten", "drawn", "winning"}
"""Codes that a score decides between."""


def test_every_reason_has_words_and_no_words_are_for_nothing():
    folder = Path(tablecam.rules.maurice.__file__).parent
    sources = [path.read_text(encoding="utf-8") for path in folder.rglob("*.py")]
    used = {code for source in sources for code in NAMED.findall(source)}
    assert used | CHOSEN == CLAUSES.keys()
