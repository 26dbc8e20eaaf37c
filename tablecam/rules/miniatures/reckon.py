"""Terms that add up to a factor or a number of dice, each with its name."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from typing import Final

_NO_WORDS: Final[Mapping[str, str]] = {}


def terms(parts: Mapping[str, int | None], words: Mapping[str, str] = _NO_WORDS) -> list[str]:
    """Returns the nonzero terms, some in `words`; None stands for one missing from a chart.

    >>> terms({"short_range": 1, "disordered": 0, "cover": -2, "green": None})
    ['short range +1', 'cover -2', 'green is not on the sheet']
    """
    return [
        f"{words.get(name, name.replace('_', ' '))} "
        f"{'is not on the sheet' if part is None else f'{part:+d}'}"
        for name, part in parts.items()
        if part != 0
    ]


def spans(results: Mapping[int, str]) -> str:
    """Returns results with the throws that give them, in the order of the throws.

    >>> spans({2: "veteran", 3: "green", 4: "green", 5: "raw"})
    '2 veteran, 3-4 green, 5 raw'
    """
    runs = ((result, list(throws)) for result, throws in groupby(results, results.__getitem__))
    return ", ".join(
        f"{throws[0]}{f'-{throws[-1]}' if len(throws) > 1 else ''} {result}"
        for result, throws in runs
    )
