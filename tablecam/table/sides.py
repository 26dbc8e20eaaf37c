"""What the sides at a table are called where people read of them."""

from __future__ import annotations

from string import capwords


def side_name(side: str) -> str:
    """A side as a name: table files mostly write it small, as they do all their words.

    What has a capital was written as its players mean it.

    >>> side_name("prussian"), side_name("king's men"), side_name("IJssel")
    ('Prussian', "King's Men", 'IJssel')
    """
    return side if side != side.lower() else capwords(side, " ")
