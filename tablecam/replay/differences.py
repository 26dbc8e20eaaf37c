"""Where two documents differ, in words."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tablecam.toml_lines import KeyPath
from tablecam.wording import quoted, written

SAME: Final = 1e-3
"""Two lengths in mm, or other numbers, that differ by less are the same: documents are rounded to a
tenth of it, and another machine's last digits are not ours."""

_DRAWINGS: Final = frozenset({"evidence", "ghost"})
"""Keys of shapes that show why, which are drawn better without any answer being another."""
_SENTENCES: Final = frozenset({"text", "because", "question", "reading"})
"""Keys of sentences, which another tablecam may put better."""
_ABSENT: Final = object()


@dataclass(frozen=True, slots=True)
class Difference:
    """A value that is not as it was kept. What is not there at all is None, in words too."""

    path: KeyPath
    kept: str
    found: str

    @property
    def is_drawn(self) -> bool:
        """Whether it is in a drawing, which shows what was ruled, and not in the ruling."""
        return not _DRAWINGS.isdisjoint(self.path)

    @property
    def is_worded(self) -> bool:
        """Whether it is in a sentence."""
        return not _SENTENCES.isdisjoint(self.path)

    def __str__(self) -> str:
        place = f"{written(self.path)}: " if self.path else ""
        return f"{place}it says {self.kept}, the rules now say {self.found}"


def differences(kept: object, found: object, *, is_older: bool = False) -> Iterator[Difference]:
    """The values, in the order in which they were kept, that are not found so again.

    What an older program kept says less: what it did not say is no difference.

    >>> print(next(differences({"a": [1, 2.0]}, {"a": [1, 2.5]})))
    a[2]: it says 2.0, the rules now say 2.5
    """
    yield from _differences((), kept, found, is_older)


def _differences(path: KeyPath, kept: Any, found: Any, is_older: bool) -> Iterator[Difference]:
    if isinstance(kept, dict) and isinstance(found, dict):
        new = () if is_older else tuple(key for key in found if key not in kept)
        for key in (*kept, *new):
            inside = kept.get(key, _ABSENT), found.get(key, _ABSENT)
            yield from _differences((*path, key), *inside, is_older)
    elif isinstance(kept, list | tuple) and isinstance(found, list | tuple):
        for place in range(max(len(kept), len(found))):
            inside = _at(kept, place), _at(found, place)
            yield from _differences((*path, place), *inside, is_older)
    elif not _is_same(kept, found):
        yield Difference(path, _words(kept), _words(found))


def _at(values: Sequence[Any], place: int) -> Any:
    return values[place] if place < len(values) else _ABSENT


def _is_same(kept: Any, found: Any) -> bool:
    if _is_number(kept) and _is_number(found):
        return kept == found or math.isclose(kept, found, rel_tol=0.0, abs_tol=SAME)
    return type(kept) is type(found) and bool(kept == found)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _words(value: object) -> str:
    return "nothing" if value is _ABSENT else quoted(value)
