"""Formats keys, values and known names of a document for messages."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable
from typing import Final

from tablecam.toml_lines import KeyPath

CONTROL_CHARACTERS: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Control characters, which may steer a terminal, and those that change the writing direction."""

_MAX_QUOTE_LENGTH = 40
_MAX_NAMES = 12


def proper_name(id: str) -> str:
    """Returns an id with capitals like a proper name, unless it has capitals or digits.

    >>> proper_name("frederick"), proper_name("P3")
    ('Frederick', 'P3')
    """
    is_plain = id == id.lower() and not any(letter.isdigit() for letter in id)
    return re.sub(r"[-_]", " ", id).title() if is_plain else id


def written(path: KeyPath) -> str:
    r"""Returns a key path as people write it, with lists counted from 1.

    >>> written(("unit", 1, "tags", 0))
    'unit[2].tags[1]'
    >>> written(("unit\n",))  # a message is one line, whatever a key contains
    'unit\\n'
    """
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part + 1}]"
            continue
        name = part if part.isprintable() else json.dumps(part)[1:-1]
        text += f".{name}" if text else name
    return text


def quoted(value: object) -> str:
    """Returns a value as it stands in a document, shortened if it is long."""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):
        text = str(value)
    return text if len(text) <= _MAX_QUOTE_LENGTH else text[: _MAX_QUOTE_LENGTH - 3] + "..."


def joined(words: Iterable[str], last_by: str = "and") -> str:
    """Joins words with commas and a final `and`; empty if there are none.

    >>> joined(["10"]), joined(["10", "11"]), joined(["10", "11", "12"])
    ('10', '10 and 11', '10, 11 and 12')
    """
    *first, last = [*words] or [""]
    return f"{', '.join(first)} {last_by} {last}" if first else last


def counted(number: int, noun: str) -> str:
    """Returns a number with its noun.

    >>> counted(1, "card"), counted(0, "play"), counted(2, "hex"), counted(3, "entry")
    ('1 card', '0 plays', '2 hexes', '3 entries')
    """
    if number == 1:
        return f"{number} {noun}"
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return f"{number} {noun[:-1]}ies"
    return f"{number} {noun}{'es' if noun.endswith('x') else 's'}"


def nearest(name: str, known: Iterable[str]) -> str:
    """Returns the end of a message about an unknown name: the closest known one, or all of them.

    >>> nearest("fot", ["foot", "horse"])
    '; did you mean foot?'
    >>> nearest("x", ["foot", "horse"])
    '; there are foot, horse'
    """
    names = list(known)
    meant = closest(name, names)
    if meant is not None:
        return f"; did you mean {meant}?"
    if not names:
        return "; there are none"
    more = f" and {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else ""
    return f"; there are {', '.join(names[:_MAX_NAMES])}{more}"


def closest(name: str, known: Iterable[str]) -> str | None:
    """Returns the known name that was probably meant: similar, or the same with a unit suffix.

    >>> closest("x", ["id", "x_mm"])
    'x_mm'
    """
    by_folded = {candidate.casefold(): candidate for candidate in known}
    folded = name.casefold()
    close = difflib.get_close_matches(folded, by_folded, n=1)
    close = close or [candidate for candidate in by_folded if candidate.startswith(f"{folded}_")]
    return by_folded[close[0]] if close else None
