"""Writes the sentences of a guided calibration, short enough to be read from two metres away."""

from __future__ import annotations

from calibration.coverage import COLUMNS, ROWS, Tilt

_ROWS = ("top", "middle", "bottom")
_LEAN = {
    "flat": "hold it flat",
    "left": "tilt its left side toward the camera",
    "right": "tilt its right side toward the camera",
    "top": "tilt its top side toward the camera",
    "bottom": "tilt its bottom side toward the camera",
}


def place_words(cell: tuple[int, int]) -> str:
    """Names a part of the picture.

    >>> place_words((0, 0)), place_words((1, 2)), place_words((2, 1))
    ('top left', 'right of the middle', 'bottom, left of the middle')
    """
    row, column = cell
    side = "left" if column < COLUMNS / 2 else "right"
    if column in (0, COLUMNS - 1):
        return side if row == ROWS // 2 else f"{_ROWS[row]} {side}"
    aside = f"{side} of the middle"
    return aside if row == ROWS // 2 else f"{_ROWS[row]}, {aside}"


def target_words(cell: tuple[int, int] | None, tilt: Tilt) -> str:
    """Says where to hold the board, and how to tilt it.

    >>> target_words((0, 0), "left")
    'Move the board to the top left, tilt its left side toward the camera'
    >>> target_words(None, "flat")
    'Move the board somewhere new, at another angle'
    """
    if cell is None:
        lean = "at another angle" if tilt == "flat" else _LEAN[tilt]
        return f"Move the board somewhere new, {lean}"
    return f"Move the board to the {place_words(cell)}, {_LEAN[tilt]}"


def next_sentence(
    cell: tuple[int, int] | None,
    tilt: Tilt,
    *,
    sees_board: bool,
    is_taken: bool,
    is_held: bool,
    doubt: str | None,
    is_enough: bool,
) -> str:
    """Says what to do next, in one short sentence."""
    target = target_words(cell, tilt)
    if doubt is not None:
        return f"Not this one: {doubt}"
    if is_held and not is_taken:
        return "Hold it still"
    if is_enough:
        return "Enough views. More will still improve the calibration"
    if not sees_board:
        return f"Show the lens board. {target}"
    return f"Taken. {target}" if is_taken else target
