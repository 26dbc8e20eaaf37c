"""The numbers and words that the rulebook states, each with its rule."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

GAME: Final = "musket-saber"
Arm = Literal["infantry", "cavalry", "artillery"]
Time = Literal["day", "twilight", "night"]
FowChoice = Literal["move_enemy", "move_friend", "charge", "check_enemy", "recover_friend", "keep"]
ARMS: Final[tuple[Arm, ...]] = ("infantry", "cavalry", "artillery")

Switch = Literal[
    "K-4.7a", "K-7.2b", "K-7.13a", "K-7.13b", "K-7.13c", "K-7.13d", "K-7.13e", "K-7.14", "K-8.4a",
    "K-8.8", "K-9.3", "K-9.4", "K-9.5a", "K-10.3b", "K-11.2b", "K-12.4",
]  # fmt: skip
"""K-1.1: the rules that a folio may turn off by their ids."""

ALWAYS_PASSES, ALWAYS_FAILS = 1, 6  # K-2.4c: natural morale dice
BATTERY_MORALE: Final = 6  # K-8.1
DISRUPTED_DIE: Final = 2  # K-11.1d: added to a Disrupted unit's morale die
TIME_DIE: Final[Mapping[Time, int]] = {"day": 0, "twilight": 1, "night": 2}
"""K-14.2, K-14.3: added to all morale dice."""
TIME_RULE: Final[Mapping[Time, str]] = {"day": "K-14.1", "twilight": "K-14.3", "night": "K-14.2"}
LINE_OF_SIGHT: Final[Mapping[Time, int | None]] = {"day": None, "twilight": 1, "night": 0}
"""K-14.2, K-14.3: the farthest hex at which guns fire."""
SQUARE_MORALE: Final = 2  # K-9.5c: added to the MR of a Square that cavalry attacks

MARCH: Final[Mapping[Arm, int]] = {"infantry": 9, "cavalry": 15, "artillery": 9}
"""K-4.7a: the allowance of a marching unit."""
MARCH_DICE: Final[Mapping[Arm, int]] = {"infantry": 1, "cavalry": 2, "artillery": 1}
MARCH_BONUS: Final = 3
"""K-4.7b: of a marching unit that rolls."""
LEADER_MA: Final = 12  # K-10.1
VARIABLE_MA: Final = 6
"""R-14: what a "V" counts in a retreat; it is also the most that a die gives."""


def most_points(ma: int | str) -> int:
    """Returns the Movement Points of a printed allowance, at most those of a "V" (R-14)."""
    return VARIABLE_MA if ma == "V" else int(ma)


CHARGE_MP: Final = (1, 2)  # K-7.13c: Movement Points of a charge

MOST_STACKED: Final = 3  # K-5.2: brigades and batteries in a hex before it is overstacked
TACTIC_FACTORS: Final[Mapping[tuple[str, str], int]] = {
    ("attacker", "press"): 2, ("defender", "last_stand"): 3,
}  # fmt: skip
"""K-7.13b, K-7.13e: added to the total of a side."""
SKIRMISH_HEXES: Final = 2  # K-7.13a
HILL, HILL_BONUS = "hill", 1  # K-8.7: added to the range from a hill

ROUT_HEXES: Final = 3  # K-7.10
DISRUPTED_HEXES: Final = 2  # K-11.1
TURNS_AWAY: Final = 2  # K-7.10: turns after which a routed unit is due on the Turn Record Track
ADVANCE, ADVANCE_AFTER_ROUT, ADVANCE_OF_CHARGE = 1, 2, 3  # K-7.12, K-9.3(6): hexes of an advance

CASUALTY: Final[Mapping[str, int]] = {
    "stacked": 6, "coordinating": 6, "participating": 5, "alone": 6,
}  # fmt: skip
"""K-10.4, K-10.1: the lowest die on which a leader dies."""
HQ_FOW: Final = 2  # K-12.1, K-12.2: Fortunes of War for each attack on an HQ or on trains
ENEMY_MOVES_ON: Final = 2  # K-12.4a: the highest die on which an enemy unit moves
COLUMN_MP: Final[Mapping[bool, float]] = {False: 1.0, True: 0.5}
"""K-13.1: more for each unit ahead in column, also marching on a road."""

_RESULT: Final = re.compile(
    r"(?P<main>NE|Ex|[AD][rcxme])(\((?P<second>NE|Ex|[AD][rcxme])\))?"
    r"(?P<added>(\+(DF|Leader|Ammo))*)"
)


class Words(NamedTuple):
    """A result word of the CRT (K-7.8): whom it strikes, and how."""

    side: Literal["A", "D", ""]
    effect: Literal["r", "c", "x", "m", "e", ""]


@dataclass(frozen=True, slots=True)
class Code:
    """A result as the CRT writes it: a word, a second one in parentheses, and additions."""

    main: str
    second: str | None = None
    added: frozenset[str] = frozenset()

    @property
    def words(self) -> Words:
        """Its first word; NE and Ex strike no single side."""
        return Words("", "") if self.main in ("NE", "Ex") else Words(*self.main)

    def __str__(self) -> str:
        second = "" if self.second is None else f"({self.second})"
        return "+".join([f"{self.main}{second}", *sorted(self.added)])

    def in_words(self, none_of: Collection[str] = (), flees: Collection[str] = ()) -> str:
        """Returns what it means, without additions that strike nobody, and as the CRT writes it.

        `flees` are the sides, A or D, whose primary unit is cavalry that does not charge (K-9.2).

        >>> code_of("Dc+Ammo").in_words(none_of=["Ammo"])
        'the defender checks its morale; fails: retreats; passes: no effect (Dc+Ammo)'
        >>> code_of("Ax").in_words(flees="A")
        'the attacker retreats and is Disrupted, as cavalry (Ax)'
        """

        def effect_of(code: Code) -> str:
            if code.words.effect == "x" and code.words.side in {*flees}:
                return f"{_FLEES}, as cavalry"
            instead = f"; cavalry that does not charge {_FLEES} instead"
            return _EFFECTS[code.words.effect or code.main] + (
                instead if code.main == "Ex" and flees else ""
            )

        side, effect = self.words
        words = f"{_STRUCK[side]}{effect_of(self)}"
        if effect in ("c", "m"):
            passed = code_of(self.second or "NE")
            other = "" if passed.words.side == side else _STRUCK[passed.words.side]
            words += f"; passes: {other}{effect_of(passed)}"
        more = (_ADDITIONS[key] for key in sorted(self.added.difference(none_of)))
        return "; ".join([words, *more]) + f" ({self})"


_STRUCK: Final = {"A": "the attacker ", "D": "the defender ", "": ""}
_EFFECTS: Final = {
    "NE": "no effect", "Ex": "both lose a step", "r": "retreats or is Disrupted",
    "x": "loses a step, or retreats and is Disrupted",
    "e": "checks its morale; fails: routs; passes: loses a step and retreats",
    "m": "checks its morale; fails: routs", "c": "checks its morale; fails: retreats",
}  # fmt: skip
_FLEES: Final = "retreats and is Disrupted"
_ADDITIONS: Final = {
    "DF": "a Fortune of War for the defender", "Ammo": "a battery is out of ammunition",
    "Leader": "leaders are in danger",
}  # fmt: skip


def code_of(text: str) -> Code:
    """Returns a result of the CRT.

    Raises:
        ValueError: It is none.

    >>> code_of("Dm(Dr)+Leader").second
    'Dr'
    """
    match = _RESULT.fullmatch(text)
    if match is None:
        raise ValueError(f"expected a result such as NE, Dr or Dm(Dr)+Leader, got {text}")
    added = frozenset(match["added"].split("+")) - {""}
    return Code(match["main"], match["second"], added)


def halved(factor: int, times: int) -> int:
    """Returns a Combat Factor halved some times (K-7.7): once rounds up, more often counts 1.

    >>> [halved(5, times) for times in (0, 1, 2)], halved(0, 2)
    ([5, 3, 1], 0)
    """
    if times == 0 or factor == 0:
        return factor
    return 1 if times > 1 else -(-factor // 2)
