"""Which missing base lies flush beside its mates, where too much of its tag is hidden to read it.

Such a place is as good as known, and so are the few names that it may have: the unit's missing
ones. So what is seen of border and cells needs only to be likelier as one of these than as all
else together: another tag of the table, one that the table file does not know, a card, or nothing.
How far names that are not the unit's are thought of depends on the table file: it is believed as
far as the clear tags of the picture agree with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tablecam.vision.covered import SPREAD, costs_if_covered
from tablecam.vision.points import expected_at_points, tag_points
from tablecam.vision.sight import Sight
from tablecam.vision.tags import TagFits, TagGuesses

Array = NDArray[np.float64]
Map = NDArray[np.float32]
Index = NDArray[np.int64]
Rows = NDArray[np.bool_]

_LEAST_SURE, _HALF_SURE = 0.985, 0.5
_SURER, _WELL_SEEN = 0.997, 130.0
_SUREST, _MUCH_PAINT = 0.9992, 7
"""What looks less like a tag (`worth`) must be surer of its name, and what shows so few points of
paint the surest: white smoke looks like white cells. In 312 searches of 156 simulated tables of 1.6
to 6 px a cell, a half of them with a quarter of their names wrong, what was given a wrong name had
0.9946 at most with 7 points or more, 0.9989 with fewer. Of 598 right ones 533 were sure enough.
What lies alone must be the surest, too: of three wrong ones on 72 tables two were 0.998 sure, and
the third was a tag of another size."""
_LEAST_GAIN_GREY = 8.0
AS_SHOWN = 0.35
"""Of a tag's contrast: what differs by less from what a tag shows there is seen as it."""
_CARD = 5e-7
"""How likely it is that a black or white card of a tag's size, with its rim, lies beside a mate
just where a base would, for each time that one does."""
_TURNED = 0.1
"""How likely it is that a tag of no mate that lies there is turned by some quarter."""
_AHEAD = 4.5
"""Of two names that may lie at one place, or places for one name, the better must cost so much
less."""
_RIVALS = 4
_CLEAR_WORTH, _CLEARLY = 60.0, 0.99
_MATES_BEFORE, _OTHERS_BEFORE = 150.0, 0.5
"""What is thought of a table file before a picture is seen: 300 of 301 such places hold a mate."""
_ROUNDS = 3
"""Each base that is known leaves fewer names for the others."""


@dataclass(frozen=True)
class Least:
    """What must be seen where a tag may lie.

    `worth` is how much cheaper the tag must be than things that lie there by chance, `framed` how
    much of border and rim must look like a tag's, `of_gain` how much contrast it must have beside
    what is usual, `rim` how much of its rim must be seen white. So many points that are black
    inside the tag must be seen as `paint`, or such a share of them: smoke and dice are white, and
    hide what they will as if it were paper. `ahead`, in nats, is how much likelier it must be than
    a tag of no matter which name. Of what lies alone no mate tells how it is turned.
    """

    worth: float
    framed: float
    of_gain: float
    rim: float
    paint: int
    of_paint: float
    ahead: float
    is_alone: bool = False


FLUSH = Least(16.0, 0.45, 0.3, rim=0.6, paint=4, of_paint=0.3, ahead=-np.inf)
LOOSE = Least(76.0, 0.6, 0.5, rim=0.6, paint=7, of_paint=0.5, ahead=1.5)
ALONE = Least(76.0, 0.6, 0.5, rim=0.6, paint=7, of_paint=0.5, ahead=1.5, is_alone=True)
"""On 36 simulated tables of 3 and 6 px a cell what was right had, flush beside a mate, a worth of
54 or more and 3 such points of 7; near a mate, a worth of 95, 8 points, and it was 2.3 ahead. What
took a wrong name near a mate had 4 points and was 0.1 behind: there was smoke over it. Of rims
99 of a hundred right ones showed 0.6; what took a name between figures and their shadows, in the
light that tags beside it have, showed half or less of one, or was worth less than 76."""


@dataclass(frozen=True, slots=True, eq=False)
class Slots:
    """What lies flush beside mates: fits (n,) as missing ones of their units, each a name `ids`.

    `worth` (n,) is how much less each costs than that nothing of the kind lies there.
    """

    fits: TagFits
    ids: Index
    worth: Array
    each: tuple[_Slot, ...]

    def __getitem__(self, rows: Rows) -> Slots:
        each = tuple(slot for slot, is_kept in zip(self.each, rows, strict=True) if is_kept)
        return Slots(self.fits[rows], self.ids[rows], self.worth[rows], each)

    def told(self, free: Rows, odds: float) -> Index:
        """The rows that are known, one a name and one a place.

        `free` (k,) are the tags of the dictionary that are on the table but not found yet. Such a
        place holds a mate `odds` times as often as any other tag.
        """
        told, free = np.empty(0, dtype=np.int64), free.copy()
        wanted = np.array([slot.wanted for slot in self.each])
        for _ in range(_ROUNDS):
            sure = np.array([slot.sure(free, odds) for slot in self.each])
            more = np.flatnonzero((sure >= wanted) & ~self._is_outdone(sure, told))
            if not len(more):
                break
            told = np.concatenate([told, more])
            free[self.ids[more]] = False
        return told

    def strangers(self, free: Rows) -> int:
        """At how many places a tag lies that is none of the unit's."""
        kept: list[int] = []
        for row, slot in enumerate(self.each):
            if slot.is_another(free) and not self._near[row, kept].any():
                kept.append(row)
        return len(kept)

    @property
    def _near(self) -> Rows:
        places_mm = self.fits.tags.places_mm
        away_mm = np.linalg.norm(places_mm[:, None] - places_mm, axis=2)
        return np.asarray(away_mm < self.fits.tags.sizes_mm / 2)

    def _is_outdone(self, sure: Array, told: Index) -> Rows:
        """Where another name costs as little at one place, or another place for one name."""
        near, same = self._near, self.ids[:, None] == self.ids
        ahead = self.worth[:, None] - self.worth
        order = np.arange(len(self.ids))
        again = near & same & ((ahead < 0) | ((ahead == 0) & (order[:, None] > order)))
        elsewhere = ~near & same & (sure >= _HALF_SURE) & (ahead < _AHEAD)
        otherwise = near & ~same & (ahead < _AHEAD)
        return np.asarray((again | elsewhere | otherwise).any(axis=1) | near[:, told].any(axis=1))


def odds_of_mates(mates: int, others: int, strangers: int) -> float:
    """How often a place beside a mate holds a mate, and not another tag.

    By how many bases of the picture lie flush with mates, how many with none but with `others`,
    and beside how many lies what is on no list: a table file may name tags wrongly.
    """
    return (mates + _MATES_BEFORE) / (others + strangers + _OTHERS_BEFORE)


def at_slots(
    sight: Sight, fits: TagFits, likelier: Array, least: Least, *, sizes_mm: Sequence[float] = ()
) -> Slots:
    """The fits (n,) that lie beside mates, flush or not, or alone, as far as they look like tags.

    `likelier` (n, k) is how much likelier each of the roster's patterns is there by its unit, in
    nats. What lies there may be a tag of another of the sizes.
    """
    # Where no tag's contrast is known, what is dim and a little like a tag could be anything.
    least = least if sight.gain_grey > 0 else LOOSE
    by_id = np.zeros((len(fits), len(sight.dictionary.ids)))
    by_id[:, sight.patterns.ids] = likelier
    rows, slots = [], []
    for size_mm in np.unique(fits.tags.sizes_mm):
        mine = np.flatnonzero(fits.tags.sizes_mm == size_mm)
        meant = expected_at_points(sight.dictionary.cells, sight.blur_cells(fits.tags[mine]))
        shown = _shown(sight, fits[mine])
        is_framed = _are_framed(sight, fits[mine], shown, meant, least)
        for row, patch in zip(mine[is_framed], shown[is_framed], strict=True):
            own = int(sight.patterns.ids[fits.tags.pattern[row]])
            fit = fits[np.array([row])]
            slot = _Slot(sight, fit, patch, meant, own, by_id[row], least, sizes_mm)
            if slot.is_worth:
                rows.append(int(row))
                slots.append(slot)
    kept = fits[np.array(rows, dtype=np.int64)]
    worth = np.array([slot.worth for slot in slots])
    return Slots(kept, sight.patterns.ids[kept.tags.pattern], worth, tuple(slots))


def _are_framed(sight: Sight, fits: TagFits, shown: Map, meant: Map, least: Least) -> Rows:
    """Which fits show enough of a tag's border and rim, and contrast enough."""
    points = tag_points(sight.patterns.side_cells)
    amiss = np.abs(shown - meant.mean(axis=(0, 1)))[:, ~points.is_inner]
    gain_grey = max(_LEAST_GAIN_GREY, least.of_gain * sight.gain_grey)
    is_framed = (amiss < AS_SHOWN).mean(axis=1) >= least.framed
    is_framed &= (shown[:, points.is_rim] > 1 - AS_SHOWN).mean(axis=1) >= least.rim
    return np.asarray(is_framed & (fits.gain_grey >= gain_grey))


def _shown(sight: Sight, fits: TagFits) -> Map:
    """What is seen at the points of fits, black paint 0 and white paper 1, (n, m)."""
    levels = sight.seen(fits.tags, tag_points(sight.patterns.side_cells))
    gain = np.maximum(fits.gain_grey, _LEAST_GAIN_GREY)
    return ((levels - fits.black_grey[:, None]) / gain[:, None]).astype(np.float32)


class _Slot:
    """One fit as its `own` name, what is `shown` there (m,), and what tags would show.

    `meant` (k, 4, m) are the dictionary's tags, turned 0 to 3 quarters; `likelier` (k,) tells
    how much likelier each is there by its unit, in nats.
    """

    def __init__(
        self,
        sight: Sight,
        fit: TagFits,
        shown: Map,
        meant: Map,
        own: int,
        likelier: Array,
        least: Least,
        sizes_mm: Sequence[float],
    ) -> None:
        self._sight, self._fit, self._shown, self._meant = sight, fit, shown, meant
        self._own, self._likelier, self._least = own, likelier, least
        self._other_sizes_mm = [each for each in sizes_mm if each != float(fit.tags.sizes_mm[0])]
        self._costs, self._nothing = self._cost_of(meant[:, 0])
        self.worth = self._nothing - float(self._costs[own])

    def sure(self, free: Rows, odds: float) -> float:
        """How likely it is its own name, of all that it may be."""
        prior = self._priors(free, odds)
        likely = prior * np.exp((self._costs.min() - self._costs) / SPREAD)
        sure = float(likely[self._own] / likely.sum())
        return self._thought_over(prior) if sure >= _LEAST_SURE and free[self._own] else 0.0

    def is_another(self, free: Rows) -> bool:
        """Whether it is clearly a tag, and clearly none of the unit's."""
        prior = self._priors(free, 1.0)
        likely = prior * np.exp((self._costs.min() - self._costs) / SPREAD)
        is_tag = self._nothing - float(self._costs.min()) >= _CLEAR_WORTH
        return bool(is_tag and likely[prior >= 1].sum() < (1 - _CLEARLY) * likely.sum())

    @property
    def is_worth(self) -> bool:
        """Whether so much is seen of its own tag, and of what is black inside it."""
        least = self._least
        behind = np.log(np.exp((self._costs.min() - self._costs) / SPREAD).mean())
        ahead = (self._costs.min() - self._costs[self._own]) / SPREAD - behind
        is_shown = self.paint >= min(least.paint, least.of_paint * int(self._is_paint.sum()))
        return bool(is_shown and ahead >= least.ahead and self.worth >= least.worth)

    @property
    def wanted(self) -> float:
        """How sure it must be."""
        if self.paint < _MUCH_PAINT or self._least.is_alone:
            return _SUREST
        return _SURER if self.worth < _WELL_SEEN else _LEAST_SURE

    @property
    def paint(self) -> int:
        """At how many points inside of it black is seen where its own tag is black."""
        return int((self._shown[self._is_paint] < AS_SHOWN).sum())

    @property
    def _is_paint(self) -> Rows:
        is_inner = tag_points(self._sight.patterns.side_cells).is_inner
        return np.asarray(is_inner & (self._meant[self._own, 0] < AS_SHOWN))

    def _priors(self, free: Rows, odds: float) -> Array:
        """How likely each tag is there, the likeliest mate 1."""
        prior = np.where(free, np.exp(self._likelier - self._likelier[free].max(initial=0)), 0.0)
        return np.maximum(prior, 1 / (odds * len(prior)))

    def _thought_over(self, prior: Array) -> float:
        """How sure it is beside tags that are turned, cards, and rivals fitted as it was."""
        turned = prior if self._least.is_alone else np.full(len(prior), _TURNED * prior.min())
        prior = np.column_stack([prior, turned, turned, turned]).ravel()
        costs, _ = self._cost_of(self._meant.reshape(len(prior), -1))
        own = 4 * self._own
        step = 1 if self._least.is_alone else 4
        unlikely = costs[::step] - SPREAD * np.log(prior[::step])
        rivals = step * np.argsort(unlikely)[: _RIVALS + 1]
        rivals = rivals[rivals != own]
        costs[rivals] = np.minimum(costs[rivals], self._refitted(rivals, self._fit.tags))
        likely = prior / prior[own] * np.exp((costs[own] - costs) / SPREAD)
        card = _CARD * np.exp((costs[own] - self._cost_of_card()) / SPREAD)
        return float(1 / (likely.sum() + card + self._of_other_sizes(prior)))

    def _cost_of(self, meant: Map, shown: Map | None = None) -> tuple[Array, float]:
        """What tags that would show what is `meant` (k, m) cost, and what nothing of the kind."""
        noise = self._sight.noise_grey / max(float(self._fit.gain_grey[0]), _LEAST_GAIN_GREY)
        return costs_if_covered(self._shown if shown is None else shown, meant, noise=noise)

    def _cost_of_card(self) -> float:
        """What a black or a white square with a tag's border and rim costs at least."""
        ring = self._meant.mean(axis=(0, 1))
        is_inner = tag_points(self._sight.patterns.side_cells).is_inner
        cards = np.stack(
            [np.where(is_inner, level, ring) for level in (np.float32(0), np.float32(1))]
        )
        return float(self._cost_of(cards)[0].min())

    def _of_other_sizes(self, prior: Array) -> float:
        """How likely it is another tag of another size; 1 is as likely as its own."""
        own, names = 4 * self._own, np.arange(len(prior)) // 4
        # What is free there is as likely as what is free here.
        prior = np.where(prior > prior.min(), 1.0, prior.min()) / prior[own]
        likely = 0.0
        for size_mm in self._other_sizes_mm:
            there = replace(self._fit, tags=replace(self._fit.tags, sizes_mm=np.array([size_mm])))
            shown = _shown(self._sight, there)[0]
            costs, nothing = self._cost_of(self._meant.reshape(len(prior), -1), shown)
            costs += self._nothing - nothing
            costs = np.where(names == self._own, np.inf, costs)
            rivals = np.argsort(costs - SPREAD * np.log(prior))[:_RIVALS]
            costs[rivals] = np.minimum(costs[rivals], self._refitted(rivals, there.tags))
            likely += float((prior * np.exp((self._costs[self._own] - costs) / SPREAD)).sum())
        return likely

    def _refitted(self, rivals: Index, tag: TagGuesses) -> Array:
        """What other tags of the dictionary, 4 a pattern by their turns, cost where they fit."""
        sight = self._sight
        tags = tag[np.zeros(len(rivals), dtype=np.int64)]
        turned_rad = tags.headings_rad + rivals % 4 * (np.pi / 2)
        guesses = replace(tags, pattern=rivals // 4, headings_rad=turned_rad)
        fits = sight.lit(guesses, sight.dictionary)
        # Levels of grey that were fitted to other tags would make their worths another measure.
        levels = replace(
            fits,
            black_grey=self._fit.black_grey.repeat(len(rivals)),
            gain_grey=self._fit.gain_grey.repeat(len(rivals)),
        )
        costs = []
        shown = _shown(sight, levels)
        for row, rival in enumerate((rivals // 4).tolist()):
            cost, nothing = self._cost_of(self._meant[rival, :1], shown[row])
            costs.append(self._nothing - nothing + float(cost[0]))
        return np.array(costs, dtype=np.float64)
