"""Display names and colours of the sides."""

from __future__ import annotations

import re
from collections.abc import Iterable
from string import capwords
from typing import Final

COLOURS: Final = (
    ("blue", "bleu"), ("red", "scarlet", "rouge"), ("green",), ("pink", "purple"),
    ("orange", "gold"), ("sky",), ("yellow",), ("grey", "gray", "black"),
)  # fmt: skip
"""Words in the name of a side for each colour of the palette, in the palette's order."""


def side_name(side: str) -> str:
    """Capitalises a side's name, unless it already contains a capital letter.

    >>> side_name("prussian"), side_name("king's men"), side_name("house-red"), side_name("IJssel")
    ('Prussian', "King's Men", 'House Red', 'IJssel')
    """
    return side if side != side.lower() else capwords(side.replace("-", " "), " ")


def side_plural(side: str) -> str:
    """Names the players of a side, as the subject of a plural verb.

    Names without a simple English plural stay unchanged: "French draw", as in "England win".

    >>> side_plural("prussian"), side_plural("french"), side_plural("blue"), side_plural("the-blue")
    ('Prussians', 'French', 'Blues', 'The Blue')
    """
    name = side_name(side)
    is_colour = name.lower() in {word for words in COLOURS for word in words}
    return f"{name}s" if is_colour or name.endswith(("an", "er", "ist", "ite")) else name


def colour_numbers(sides: Iterable[str]) -> dict[str, int]:
    """Returns the number of each side's colour in the palette, in the order of first mention.

    A side whose name contains a colour gets that colour, unless another side already has it.

    >>> colour_numbers(["prussian", "austrian"])
    {'prussian': 0, 'austrian': 1}
    >>> colour_numbers(["house-red", "north", "house-grey"])
    {'house-red': 1, 'north': 0, 'house-grey': 7}
    """
    named: dict[str, int] = {}
    for side in dict.fromkeys(sides):
        words = {*re.findall(r"\w+", side.lower().replace("-", " "))}
        fits = (n for n, names in enumerate(COLOURS) if words & {*names})
        number = next(fits, None)
        named[side] = -1 if number is None or number in named.values() else number
    free = [n for n in range(len(COLOURS)) if n not in named.values()]
    return {
        side: number if number >= 0 else free.pop(0) if free else 0
        for side, number in named.items()
    }
