"""The numbers that the rulebook states, each with its rule."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

GAME: Final = "maida-1806"
DIE_FACES: Final = 10
"""D-2.2: a die of 0 to 9; 0 counts as zero."""
RIVER: Final = "river"
THICKET: Final = "thicket"
"""The hexside and the terrain that the rules name themselves (D-9.2.1, D-12.9, D-14.11.4)."""
COMMAND_HEXES: Final = 3  # D-4.2
TWO_HEX_FROM: Final[Mapping[str, int]] = {"british": 6, "french": 8}
"""D-6.2: the Strength from which a Line lies on two hexes."""
SQUARE_FROM: Final = 3  # D-7.1
SQUARE_PERCENT: Final = 20  # D-7.3
ALLOWANCE: Final[Mapping[str, int]] = {"infantry": 4, "cavalry": 8, "leader": 9}  # D-12.8
DOUBLE_MARCH: Final = 2  # D-12.9: more Movement Points
TURN_MP: Final = 1.0  # D-12.7: for each corner that a counter turns; companies turn freely
CHARGE_HEXES: Final = 3  # D-9.2.1: hexes straight on before a charge
FIRES: Final = 4  # D-14.10.1: fires a turn
RIFLE_RANGE: Final = 2  # D-14.9
FIRE_MODIFIER: Final = (1, 0, -1, -1)
"""D-14.10.8 to D-14.10.10: by the fires before this one; + is bad for the target."""
COMPANY_MODIFIER: Final = {1: 0, 2: -1}  # D-8.7: a company's fire by the distance
FLANK_FIRE: Final = 1  # D-14.4
DISRUPTED_MORALE: Final = -1  # D-14.8: of a Disrupted unit; its own fire gives as much
ROUT_TOTAL: Final = 9  # D-13.1A
BOTH_TOTAL: Final = 1  # D-13.1A: fire and counterattack
BRITISH_FRONT: Final = -2  # D-13.1A
FAILED_REACTION: Final[Mapping[str, tuple[int, int, bool]]] = {
    "A": (1, 1, False),
    "A rout": (2, 0, True),
    "B": (0, 2, False),
    "C": (2, 0, True),
    "D": (0, 2, False),
    "E": (1, 0, True),
}
"""D-13.1: Losses, hexes of withdrawal, and whether it is a Rout."""
LEADER_FATE: Final[Mapping[int, str]] = {0: "killed", 9: "injured"}  # D-4.6.1: by the die
GUNS_NEAR_LEADER: Final = 3  # D-4.6.2: the hexes within which guns put a leader in danger
AGAINST_CAVALRY: Final[Mapping[str, int]] = {"square": -4, "line": 1, "clear": 1, "skirmish": 2}
"""D-13.1C"""
FLANK_REACTION: Final = 2  # D-13.2
COMMAND_REACTION: Final = -1  # D-13.3
FRENCH_HORSE: Final = -1  # D-9.3: on the Morale of French cavalry after a combat
CLASH_LOSSES: Final = {"loser": 2, "winner": 1}  # D-15.8
VICTORY_POINTS: Final[Mapping[str, int]] = {
    "clash_won": 1,
    "by_fire": 1,
    "by_blocked_withdrawal": 1,
    "battery_captured": 2,
    "battery_recaptured": 2,
    "leader_killed": 3,
}
"""D-16.1"""
RETURN_HEX: Final[Mapping[str, str]] = {"french": "1611", "british": "0111"}
"""D-15.11.4: on the publisher's map; a map file states its own."""
MOST_BATTALIONS: Final = 4
MOST_BESIDE_A_BATTERY: Final = 2
"""D-11.2: of battalions or squadrons."""

THICKET_FIRE: Final = -1  # D-10.8: on the check of a Line in a thicket under artillery fire
AUTOMATIC: Final[Mapping[str, int]] = {"french": 7, "british": 5}  # D-16.4
POOL: Final[Mapping[int, tuple[str, ...]]] = {1: ("compère",), 2: ("compère", "kempt")}
POOL_CHOICE: Final = 2
"""D-17.0c: leaders of a side's choice besides its Overall Commander."""

SHIFT_WORDS: Final = (
    "flank", "rear", "charge", "counterattack", "strength_at_least_double",
    "strength_at_least_triple", "strength_difference:N", "leader_present", "disrupted_enemy",
    "enemy_in_column", "enemy_in_line", "enemy_in_square", "own_in_column", "own_in_line",
    "own_cavalry", "enemy_cavalry", "terrain:NAME", "across:HEXSIDE", "morale_difference:N",
)  # fmt: skip
"""When a chart may shift columns."""


def is_shift_word(when: str) -> bool:
    """Whether a chart may use these words."""
    name, colon, value = when.partition(":")
    needed = {word.partition(":")[0]: word.partition(":")[2] for word in SHIFT_WORDS}.get(name)
    is_complete = needed is not None and bool(colon) == bool(needed)
    return is_complete and (needed != "N" or value.lstrip("-").isdigit())


def check_words(die: int, added: int, morale: int) -> str:
    """Returns a Morale Check as players reckon it (D-3.4f).

    >>> check_words(9, 1, 7), check_words(4, 0, 6)
    ('die 9 +1 against Morale 7', 'die 4 against Morale 6')
    """
    return f"die {die}{f' {added:+d}' if added else ''} against Morale {morale}"


def most_words(most: int) -> str:
    """Returns the dice up to a number in words.

    >>> most_words(-1), most_words(3), most_words(9)
    ('no die', '3 or less', 'any die')
    """
    if most < 0:
        return "no die"
    return f"{most} or less" if most < DIE_FACES - 1 else "any die"


def in_words(parts: Iterable[tuple[str, int]]) -> tuple[str, ...]:
    """Returns modifiers or shifts by their keys as players read them.

    >>> in_words([("british_front", -2), ("across:river", 1)])
    ('British front -2', 'across river +1')
    """
    return tuple(
        f"{key} {value:+d}".replace("_", " ").replace(":", " ").replace("british", "British")
        for key, value in parts
    )
