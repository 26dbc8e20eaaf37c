"""Predicts where a unit's missing bases lie: in contact with those already identified.

Bases of a unit stand in contact, in line, in column or massed, and face one way. So a tag in
contact with a base probably belongs to the same unit, even before its cells are read.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tablecam.table.headings import signed_rad
from tablecam.table.roster import Roster
from tablecam.vision.fitting.dictionary import TagPatterns
from tablecam.vision.fitting.tags import NO_TAGS, TagGuesses

Array = NDArray[np.float64]
Index = NDArray[np.int64]
Rows = NDArray[np.bool_]

_NO_UNIT = -1
_STEP_RANGE = range(-2, 3)
_NEIGHBOUR_STEPS = np.array(
    [(a, r) for a in _STEP_RANGE for r in _STEP_RANGE if 1 <= abs(a) + abs(r) <= 2]
)
"""Positions of unit neighbours, in depths ahead and widths right: adjacent, or one further."""
_CONTACT_MM, _CONTACT_RAD = 1.5, 0.14
"""Tolerances of hand placement and of fits to partly occluded tags: of 254 in contact, 12 appeared
turned by more than 0.08, none by more than 0.14."""
CONTACT_NATS = 10.0
"""Prior of a position in contact: three of four bases of a unit have one; of all places and
headings on a table, such a position is one in a hundred thousand."""
_NEAR_MM, _NEAR_RAD = 25.0, 0.35
NEAR_NATS = 4.5
"""Prior of a position near a unit neighbour: nine of ten bases have one; so do one in a hundred
bases of other units."""


@dataclass(frozen=True, slots=True, eq=False)
class UnitNeighbours:
    """The unit of each of k patterns, (k,), and the depth and width of its base, (k, 2).

    `to_middle_mm` (k, 2) is the offset from a tag to its base's middle, forward and to the right.
    """

    unit: Index
    base_mm: Array
    to_middle_mm: Array

    @classmethod
    def of(cls, roster: Roster, patterns: TagPatterns) -> UnitNeighbours:
        """Reads the units of a table file; table tags and commanders have no unit neighbours."""
        unit = np.full(len(patterns.ids), _NO_UNIT)
        base_mm, to_middle_mm = np.zeros((2, len(patterns.ids), 2))
        for number, entry in enumerate(roster.units):
            tags = entry.tags if roster.lies_in_rows(entry) else ()
            rows = [patterns.index_of[tag] for tag in tags]
            unit[rows] = number
            base = entry.base_type
            base_mm[rows] = base.depth_mm, base.width_mm
            to_middle_mm[rows] = -base.tag_forward_mm, -base.tag_right_mm
        return cls(unit, base_mm, to_middle_mm)

    @property
    def is_isolated(self) -> Rows:
        """Which patterns have no unit neighbours, (k,)."""
        bases = np.bincount(self.unit[self.unit != _NO_UNIT], minlength=1)
        return np.asarray((self.unit == _NO_UNIT) | (bases[self.unit.clip(0)] == 1))

    def are_on_bases(self, tags: TagGuesses, known: TagGuesses) -> Rows:
        """Returns which tags (n,) would lie on a known base, or whose bases on a known tag.

        Two white rims with figures between them can look like a tag with its own rims.
        """
        covered = self._cover(known, tags.places_mm).any(axis=0)
        return np.asarray(covered | self._cover(tags, known.places_mm).any(axis=1))

    def _cover(self, tags: TagGuesses, places_mm: Array) -> Rows:
        """Returns which bases of tags (n,) reach over which places (m, 2): (n, m)."""
        x_mm, y_mm = places_mm.T[:, None] - tags.places_mm.T[..., None]
        is_covered = np.ones(x_mm.shape, dtype=np.bool_)
        # Tests ahead and to the right one after the other.
        for (by_x, by_y), middle_mm, side_mm in zip(
            _axes(tags.headings_rad).transpose(1, 2, 0)[..., None],
            self.to_middle_mm[tags.pattern].T[..., None],
            self.base_mm[tags.pattern].T[..., None],
            strict=True,
        ):
            is_covered &= np.abs(by_x * x_mm + by_y * y_mm - middle_mm) < side_mm / 2
        return is_covered

    def guesses_in_contact(self, known: TagGuesses, missing: Index) -> TagGuesses:
        """Returns where the patterns `missing` (j,) lie if in contact with known neighbours."""
        mate, tag = np.nonzero(self._are_mates(known.pattern, missing))
        if not len(mate):
            return NO_TAGS
        beside = self._neighbours_mm(known)[mate].reshape(-1, 2)
        row = mate.repeat(len(_NEIGHBOUR_STEPS))
        guesses = TagGuesses(
            missing[tag].repeat(len(_NEIGHBOUR_STEPS)),
            beside,
            known.headings_rad[row],
            known.heights_mm[row],
            known.sizes_mm[row],
        )
        # Two neighbours may predict the same place: keep one.
        rounded = np.column_stack([guesses.pattern, np.rint(guesses.places_mm / _CONTACT_MM)])
        return guesses[np.unique(rounded, axis=0, return_index=True)[1]]

    def evidence_nats(self, tags: TagGuesses, known: TagGuesses) -> Array:
        """Returns how much the known bases favour each pattern at each tag, in nats, (n, 4, k).

        Units with a known base in contact with the tag, or near it, are favoured, if the tag faces
        as that base does. The second axis is the tag turned 0 to 3 quarters.
        """
        quarters_rad = np.arange(4) * (np.pi / 2)
        turned = tags[np.arange(len(tags)).repeat(4)]
        headings_rad = (tags.headings_rad[:, None] + quarters_rad).ravel()
        nats = self._evidence_nats(replace(turned, headings_rad=headings_rad), known)
        return nats.reshape(len(tags), 4, nats.shape[1])

    def _evidence_nats(self, tags: TagGuesses, known: TagGuesses) -> Array:
        """Returns how much the known bases favour each pattern at each tag as it faces, (n, k)."""
        in_unit = self.unit[known.pattern]
        reach_mm = np.hypot(*self.base_mm[known.pattern].T)
        angle_rad = _angles_rad(tags, known)
        distance_mm = np.linalg.norm(known.places_mm - tags.places_mm[:, None], axis=2)
        # A coarse test first: only these pairs are compared position by position.
        is_close = (distance_mm < 2 * reach_mm) & (angle_rad < _NEAR_RAD) & (in_unit != _NO_UNIT)
        # A tag says nothing about itself.
        is_close &= tags.pattern[:, None] != known.pattern
        tag, mate = np.nonzero(is_close)
        is_in_contact = self._are_in_contact(
            tags[tag], known[mate], self._neighbours_mm(known)[mate]
        )
        is_near = distance_mm[tag, mate] < reach_mm[mate] + _NEAR_MM
        nats = np.where(is_in_contact, CONTACT_NATS, np.where(is_near, NEAR_NATS, 0.0))
        of_unit = np.zeros((len(tags), int(self.unit.max(initial=0)) + 1))
        # Of several neighbours only the strongest evidence counts: they are not independent.
        np.maximum.at(of_unit, (tag, in_unit[mate]), nats)
        return np.asarray(np.where(self.unit != _NO_UNIT, of_unit[:, self.unit], 0.0))

    def in_contact(self, tags: TagGuesses) -> Rows:
        """Returns which tags (n,), all of units, lie in contact with which others, (n, n)."""
        apart_mm = np.linalg.norm(tags.places_mm[:, None] - tags.places_mm, axis=2)
        reach_mm = 2 * self.base_mm[tags.pattern].max(axis=1) + _CONTACT_MM
        tag, mate = np.nonzero((apart_mm > 0) & (apart_mm < reach_mm))
        is_flush = np.zeros(apart_mm.shape, dtype=np.bool_)
        is_flush[tag, mate] = self._are_in_contact(
            tags[tag], tags[mate], self._neighbours_mm(tags)[mate]
        )
        return is_flush

    def guesses_near(self, squares: TagGuesses, known: TagGuesses, missing: Index) -> TagGuesses:
        """Returns the missing patterns that squares near known unit neighbours may show.

        A square's own pattern is ignored; it is turned by quarters to face as its neighbour does.
        """
        mate, tag = np.nonzero(self._are_mates(known.pattern, missing))
        reach_mm = np.hypot(*self.base_mm[known.pattern].T) + _NEAR_MM
        distance_mm = np.linalg.norm(squares.places_mm[:, None] - known.places_mm, axis=2)
        square, pair = np.nonzero((distance_mm < reach_mm)[:, mate])
        turned = known.headings_rad[mate[pair]] - squares.headings_rad[square]
        quarters = np.rint(turned / (np.pi / 2))
        # A square's heading is known up to quarter turns: the remainder must be small.
        is_aligned = np.abs(turned - quarters * (np.pi / 2)) < _NEAR_RAD
        square, pair, quarters = square[is_aligned], pair[is_aligned], quarters[is_aligned]
        pattern = missing[tag[pair]]
        unique = np.unique(np.stack([square, pattern, quarters % 4]), axis=1, return_index=True)[1]
        headings_rad = squares.headings_rad[square] + quarters * (np.pi / 2)
        guesses = replace(squares[square], pattern=pattern, headings_rad=headings_rad)
        return guesses[unique]

    def contact_counts(self, known: TagGuesses) -> tuple[int, int]:
        """Counts known bases in contact with their own unit, and with other units only."""
        in_unit = self.unit[known.pattern]
        distance_mm = np.linalg.norm(known.places_mm[:, None] - known.places_mm, axis=2)
        reach_mm = self.base_mm[known.pattern].max(axis=1) + _CONTACT_MM
        is_close = (distance_mm > 0) & (distance_mm < reach_mm) & (in_unit != _NO_UNIT)
        tag, beside = np.nonzero(is_close & (in_unit != _NO_UNIT)[:, None])
        is_in_contact = self._are_in_contact(
            known[tag], known[beside], self._neighbours_mm(known)[beside]
        )
        tag, beside = tag[is_in_contact], beside[is_in_contact]
        is_mate = in_unit[tag] == in_unit[beside]
        mates, others = np.unique(tag[is_mate]), np.unique(tag[~is_mate])
        # A base in contact with both counts for its own unit only.
        return len(mates), len(np.setdiff1d(others, mates))

    def _are_in_contact(self, tags: TagGuesses, known: TagGuesses, neighbours_mm: Array) -> Rows:
        """Returns which of n tags lie at a position (n, s, 2) beside a known tag, facing alike."""
        offset_mm = np.linalg.norm(neighbours_mm - tags.places_mm[:, None], axis=2)
        angle_rad = np.abs(signed_rad(known.headings_rad - tags.headings_rad))
        is_in_contact = offset_mm.min(axis=1, initial=np.inf) < _CONTACT_MM
        return np.asarray(is_in_contact & (angle_rad < _CONTACT_RAD))

    def _are_mates(self, known: Index, pattern: Index) -> Rows:
        """Returns which of the known patterns (n,) share a unit with which others (j,): (n, j)."""
        unit = self.unit[known][:, None]
        return np.asarray((unit == self.unit[pattern]) & (unit != _NO_UNIT))

    def _neighbours_mm(self, known: TagGuesses) -> Array:
        """Returns the tag positions of all neighbours in contact, (n, s, 2)."""
        # One step ahead is a base's depth, one step right its width.
        axes = _axes(known.headings_rad) * self.base_mm[known.pattern][:, :, None]
        return np.asarray(
            known.places_mm[:, None] + np.einsum("sa,nax->nsx", _NEIGHBOUR_STEPS, axes)
        )


def _axes(headings_rad: Array) -> Array:
    """Returns the directions ahead and to the right, (n, 2, 2)."""
    cosine, sine = np.cos(headings_rad), np.sin(headings_rad)
    return np.stack([cosine, sine, sine, -cosine], axis=1).reshape(-1, 2, 2)


def _angles_rad(tags: TagGuesses, others: TagGuesses) -> Array:
    """Returns the angle between each of n tags and each of k others, (n, k)."""
    return np.asarray(np.abs(signed_rad(others.headings_rad - tags.headings_rad[:, None])))
