"""Display names of the sides."""

from __future__ import annotations

from string import capwords


def side_name(side: str) -> str:
    """Capitalises a side's name, unless it already contains a capital letter.

    >>> side_name("prussian"), side_name("king's men"), side_name("house-red"), side_name("IJssel")
    ('Prussian', "King's Men", 'House Red', 'IJssel')
    """
    return side if side != side.lower() else capwords(side.replace("-", " "), " ")


def side_plural(side: str) -> str:
    """Names the players of a side, as the subject of a plural verb.

    Names that English does not plainly pluralise stay: "French draw", as in "England win".

    >>> side_plural("prussian"), side_plural("french"), side_plural("union")
    ('Prussians', 'French', 'Union')
    """
    name = side_name(side)
    return f"{name}s" if name.endswith(("an", "er", "ist", "ite")) else name
