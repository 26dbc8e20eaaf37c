"""Display names of the sides."""

from __future__ import annotations

from string import capwords


def side_name(side: str) -> str:
    """Capitalises a side's name, unless it already contains a capital letter.

    >>> side_name("prussian"), side_name("king's men"), side_name("IJssel")
    ('Prussian', "King's Men", 'IJssel')
    """
    return side if side != side.lower() else capwords(side, " ")
