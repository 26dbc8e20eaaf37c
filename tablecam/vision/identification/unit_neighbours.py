"""Where a unit's missing bases may lie: flush beside those of its bases that are known.

Bases of a unit stand in contact, in line, in column or massed, and face one way. So of what lies
flush beside a base it is likely, before anything is read, that it belongs to the same unit.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tablecam.table.roster import Roster
from tablecam.vision.fitting.dictionary import TagPatterns
from tablecam.vision.fitting.tags import NO_TAGS, TagGuesses

Array = NDArray[np.float64]
Index = NDArray[np.int64]
Rows = NDArray[np.bool_]

_NO_UNIT = -1
_STEPS = range(-2, 3)
_SIDES = np.array([(a, r) for a in _STEPS for r in _STEPS if 1 <= abs(a) + abs(r) <= 2])
"""Where mates lie flush, in depths ahead and widths right: next to it, or next but one."""
_BESIDE_MM, _TURNED_RAD = 1.5, 0.14
"""How truly hands lay bases flush, and half hidden tags are fitted: of 254 that lay so, 12 seemed
turned by more than 0.08, none by more than 0.14."""
FLUSH_NATS = 10.0
"""About three of four bases of a unit lie flush with another; of all the places on a table, and
all headings, such a slot is one in a hundred thousand."""
_NEAR_MM, _NEAR_RAD = 25.0, 0.35
NEAR_NATS = 4.5
"""About nine of ten bases lie that near to a mate; one in a hundred bases of others does."""


@dataclass(frozen=True, slots=True, eq=False)
class Mates:
    """Which unit each of k patterns belongs to, (k,), and how deep and wide its base is, (k, 2)."""

    unit: Index
    base_mm: Array

    @classmethod
    def of(cls, roster: Roster, patterns: TagPatterns) -> Mates:
        """The units of a table file; table tags and commanders have no mates."""
        unit = np.full(len(patterns.ids), _NO_UNIT)
        base_mm = np.zeros((len(patterns.ids), 2))
        for number, entry in enumerate(roster.units):
            rows = [patterns.index_of[tag] for tag in entry.tags]
            unit[rows] = number
            base_mm[rows] = entry.base_type.depth_mm, entry.base_type.width_mm
        return cls(unit, base_mm)

    @property
    def is_lone(self) -> Rows:
        """Which patterns have no mates, (k,)."""
        bases = np.bincount(self.unit[self.unit != _NO_UNIT], minlength=1)
        return np.asarray((self.unit == _NO_UNIT) | (bases[self.unit.clip(0)] == 1))

    def places(self, known: TagGuesses, missing: Index) -> TagGuesses:
        """Where each of the patterns `missing` (j,) lies if it is flush with a known mate."""
        mate, tag = np.nonzero(self._are_mates(known.pattern, missing))
        if not len(mate):
            return NO_TAGS
        beside = self._beside_mm(known)[mate].reshape(-1, 2)
        each = mate.repeat(len(_SIDES))
        guesses = TagGuesses(
            missing[tag].repeat(len(_SIDES)),
            beside,
            known.headings_rad[each],
            known.heights_mm[each],
            known.sizes_mm[each],
        )
        # Two mates may mean the same place.
        coarse = np.column_stack([guesses.pattern, np.rint(guesses.places_mm / _BESIDE_MM)])
        return guesses[np.unique(coarse, axis=0, return_index=True)[1]]

    def likelier(self, tags: TagGuesses, known: TagGuesses) -> Array:
        """How much likelier each pattern lies where each of the tags (n,) is, in nats, (n, k).

        For patterns of units of which a known base lies flush with it, or near.
        """
        in_unit = self.unit[known.pattern]
        reach_mm = np.hypot(*self.base_mm[known.pattern].T)
        turned_rad = _turned_rad(tags, known)
        away_mm = np.linalg.norm(known.places_mm - tags.places_mm[:, None], axis=2)
        is_about = (away_mm < 2 * reach_mm) & (turned_rad < _NEAR_RAD) & (in_unit != _NO_UNIT)
        tag, mate = np.nonzero(is_about)
        is_flush = self._are_flush(tags[tag], known[mate], self._beside_mm(known)[mate])
        is_near = away_mm[tag, mate] < reach_mm[mate] + _NEAR_MM
        nats = np.where(is_flush, FLUSH_NATS, np.where(is_near, NEAR_NATS, 0.0))
        of_unit = np.zeros((len(tags), int(self.unit.max(initial=0)) + 1))
        np.maximum.at(of_unit, (tag, in_unit[mate]), nats)
        return np.asarray(np.where(self.unit != _NO_UNIT, of_unit[:, self.unit], 0.0))

    def near(self, squares: TagGuesses, known: TagGuesses, missing: Index) -> TagGuesses:
        """What squares may be, whatever they look like: missing patterns with known mates near.

        A square's pattern is not looked at; it is turned by quarters to face as its mate does.
        """
        mate, tag = np.nonzero(self._are_mates(known.pattern, missing))
        reach_mm = np.hypot(*self.base_mm[known.pattern].T) + _NEAR_MM
        away_mm = np.linalg.norm(squares.places_mm[:, None] - known.places_mm, axis=2)
        square, pair = np.nonzero((away_mm < reach_mm)[:, mate])
        turned = known.headings_rad[mate[pair]] - squares.headings_rad[square]
        quarters = np.rint(turned / (np.pi / 2))
        is_alike = np.abs(turned - quarters * (np.pi / 2)) < _NEAR_RAD
        square, pair, quarters = square[is_alike], pair[is_alike], quarters[is_alike]
        pattern = missing[tag[pair]]
        once = np.unique(np.stack([square, pattern, quarters % 4]), axis=1, return_index=True)[1]
        headings_rad = squares.headings_rad[square] + quarters * (np.pi / 2)
        guesses = replace(squares[square], pattern=pattern, headings_rad=headings_rad)
        return guesses[once]

    def agreement(self, known: TagGuesses) -> tuple[int, int]:
        """How many known bases lie flush with a mate; and how many with none but with others'."""
        in_unit = self.unit[known.pattern]
        away_mm = np.linalg.norm(known.places_mm[:, None] - known.places_mm, axis=2)
        reach_mm = self.base_mm[known.pattern].max(axis=1) + _BESIDE_MM
        is_about = (away_mm > 0) & (away_mm < reach_mm) & (in_unit != _NO_UNIT)
        tag, beside = np.nonzero(is_about & (in_unit != _NO_UNIT)[:, None])
        is_flush = self._are_flush(known[tag], known[beside], self._beside_mm(known)[beside])
        tag, beside = tag[is_flush], beside[is_flush]
        is_mate = in_unit[tag] == in_unit[beside]
        mates, others = np.unique(tag[is_mate]), np.unique(tag[~is_mate])
        return len(mates), len(np.setdiff1d(others, mates))

    def _are_flush(self, tags: TagGuesses, known: TagGuesses, beside_mm: Array) -> Rows:
        """Which of n tags lie flush with as many known ones, whose neighbours lie at (n, s, 2)."""
        out_mm = np.linalg.norm(beside_mm - tags.places_mm[:, None], axis=2)
        turned = known.headings_rad - tags.headings_rad
        turned_rad = np.abs((turned + np.pi) % (2 * np.pi) - np.pi)
        is_beside = out_mm.min(axis=1, initial=np.inf) < _BESIDE_MM
        return np.asarray(is_beside & (turned_rad < _TURNED_RAD))

    def _are_mates(self, known: Index, pattern: Index) -> Rows:
        """Which of the known patterns (n,) are of one unit with which others (j,): (n, j)."""
        unit = self.unit[known][:, None]
        return np.asarray((unit == self.unit[pattern]) & (unit != _NO_UNIT))

    def _beside_mm(self, known: TagGuesses) -> Array:
        """Where the tags of flush neighbours would lie, (n, 4, 2)."""
        ahead = np.stack([np.cos(known.headings_rad), np.sin(known.headings_rad)], axis=1)
        right = np.stack([ahead[:, 1], -ahead[:, 0]], axis=1)
        axes = np.stack([ahead, right], axis=1) * self.base_mm[known.pattern][:, :, None]
        return np.asarray(known.places_mm[:, None] + np.einsum("sa,nax->nsx", _SIDES, axes))


def _turned_rad(tags: TagGuesses, others: TagGuesses) -> Array:
    """How far each of n tags is turned from each of k others, (n, k)."""
    turned = others.headings_rad - tags.headings_rad[:, None]
    return np.asarray(np.abs((turned + np.pi) % (2 * np.pi) - np.pi))
