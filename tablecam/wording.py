"""How messages name what stands in a document: its keys, its values, the names that are known."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable
from typing import Final

from tablecam.toml_lines import KeyPath

STEERING: Final = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
"""Control characters, which steer terminals, and what turns the direction of writing about."""

_LONGEST_QUOTE = 40
_MOST_NAMES = 12


def written(path: KeyPath) -> str:
    r"""A key path as people write it, lists counted from 1.

    >>> written(("unit", 1, "tags", 0))
    'unit[2].tags[1]'
    >>> written(("unit\n",))  # a message is one line, whatever a key is
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
    """A value as it stands in a document, cut when it is long."""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except (TypeError, ValueError):
        text = str(value)
    return text if len(text) <= _LONGEST_QUOTE else text[: _LONGEST_QUOTE - 3] + "..."


def nearest(name: str, known: Iterable[str]) -> str:
    """What to add to a message about an unknown name: the nearest known one, or all of them.

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
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return f"; there are {', '.join(names[:_MOST_NAMES])}{more}"


def closest(name: str, known: Iterable[str]) -> str | None:
    """The known name that was probably meant: much alike, or the same with its unit left out.

    >>> closest("x", ["id", "x_mm"])
    'x_mm'
    """
    by_folded = {each.casefold(): each for each in known}
    folded = name.casefold()
    close = difflib.get_close_matches(folded, by_folded, n=1)
    close = close or [each for each in by_folded if each.startswith(f"{folded}_")]
    return by_folded[close[0]] if close else None
