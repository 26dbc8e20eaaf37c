"""The colours of all pages: text on them is legible."""

from __future__ import annotations

import re
from importlib.resources import files

LEAST = 4.5
"""Contrast required by the accessibility guidelines (WCAG 2, AA) for text of normal size."""

PALETTE = (files("web") / "static" / "shared" / "palette.css").read_text(encoding="utf-8")
SIDE = re.compile(r"\.side-\d \{ --side: (#\w+); --on-side: (#\w+); \}")
SOFT = re.compile(r"--(paper|card|ink|soft|accent|on-accent|good|bad|doubt|doubt-back): (#\w{6});")


def light_of(colour: str) -> float:
    """A colour's relative luminance."""
    digits = colour[1:] if len(colour) == 7 else "".join(2 * each for each in colour[1:])
    shares = [int(digits[place : place + 2], 16) / 255 for place in (0, 2, 4)]
    red, green, blue = (
        share / 12.92 if share <= 0.03928 else ((share + 0.055) / 1.055) ** 2.4 for share in shares
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    dark, bright = sorted((light_of(one), light_of(other)))
    return (bright + 0.05) / (dark + 0.05)


def test_a_sides_name_is_read_on_its_colour() -> None:
    sides = SIDE.findall(PALETTE)
    assert len(sides) == 8
    assert [pair for pair in sides if contrast(*pair) < LEAST] == []


def test_words_are_read_by_day_and_by_night() -> None:
    day, night = PALETTE.split("@media (prefers-color-scheme: dark)")
    for text in (day, night):
        colours = dict(SOFT.findall(text))
        on_ground = [
            (ink, ground)
            for ink in ("ink", "soft", "good", "bad", "doubt")
            for ground in ("paper", "card")
        ]
        pairs = [*on_ground, ("on-accent", "accent"), ("doubt", "doubt-back")]
        assert [pair for pair in pairs if contrast(*(colours[name] for name in pair)) < LEAST] == []
