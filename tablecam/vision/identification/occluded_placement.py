"""One place where a tag may lie, too much of it hidden to read: what it may be, and how surely.

It is thought of as every tag of the dictionary, as they lie and turned, as cards, and where no mate
tells its size as tags of other sizes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tablecam.vision.detection.points import tag_points
from tablecam.vision.fitting.tags import TagFits, TagGuesses
from tablecam.vision.identification.frame_context import Sight
from tablecam.vision.identification.occlusion_likelihood import SPREAD, costs_if_covered

Array = NDArray[np.float64]
Map = NDArray[np.float32]
Index = NDArray[np.int64]
Rows = NDArray[np.bool_]

_LEAST_SURE = 0.985
_SURER, _WELL_SEEN = 0.997, 130.0
_SUREST, _MUCH_PAINT = 0.9992, 7
"""What looks less like a tag (`worth`) must be surer of its name, and what shows so few points of
paint the surest: white smoke looks like white cells. In 312 searches of 156 simulated tables of 1.6
to 6 px a cell, a half of them with a quarter of their names wrong, what was given a wrong name had
0.9946 at most with 7 points or more, 0.9989 with fewer. Of 598 right ones 533 were sure enough.
What lies alone must be the surest, too: of three wrong ones on 72 tables two were 0.998 sure, and
the third was a tag of another size."""
LEAST_GAIN_GREY = 8.0
AS_SHOWN = 0.35
"""Of a tag's contrast: what differs by less from what a tag shows there is seen as it."""
_CARD = 5e-7
"""How likely it is that a black or white card of a tag's size, with its rim, lies beside a mate
just where a base would, for each time that one does."""
_TURNED = 0.1
"""How likely it is that a tag of no mate that lies there is turned by some quarter."""
_RIVALS = 4
_CLEAR_WORTH, _CLEARLY = 60.0, 0.99


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
class Thought:
    """What lies at a slot may be other tags, of one size: `tag` (1,) says where and how large.

    `prior` (4k,) of each tag of the dictionary, turned 0 to 3 quarters, and what it `costs` (4k,);
    the likeliest few are `rivals` (r,): fitted as the slot's own was, they may cost less.
    """

    tag: TagGuesses
    prior: Array
    costs: Array
    rivals: Index

    @property
    def guesses(self) -> TagGuesses:
        """The rivals, to be fitted."""
        tags = self.tag[np.zeros(len(self.rivals), dtype=np.int64)]
        turned_rad = tags.headings_rad + self.rivals % 4 * (np.pi / 2)
        return replace(tags, pattern=self.rivals // 4, headings_rad=turned_rad)


class Slot:
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
        self.sight, self._fit, self._shown, self._meant = sight, fit, shown, meant
        self._own, self._likelier, self._least = own, likelier, least
        self._other_sizes_mm = [each for each in sizes_mm if each != float(fit.tags.sizes_mm[0])]
        self._costs, nothing = self._cost_of(meant[:, 0])
        self._nothing = float(nothing[0])
        self.worth = self._nothing - float(self._costs[own])

    def thoughts(self, free: Rows, odds: float) -> list[Thought]:
        """What else it may be, of its own size first; nothing where it is hardly its own name."""
        prior = self._priors(free, odds)
        likely = prior * np.exp((self._costs.min() - self._costs) / SPREAD)
        if not free[self._own] or likely[self._own] < _LEAST_SURE * likely.sum():
            return []
        here = self._here(prior)
        return [here, *self._of_other_sizes(here.prior)]

    def as_fitted(self, thought: Thought, fits: TagFits) -> Thought:
        """The thought, its rivals costing no more than where they fit."""
        costs, rivals = thought.costs.copy(), thought.rivals
        costs[rivals] = np.minimum(costs[rivals], self._where_they_fit(rivals, fits))
        return replace(thought, costs=costs)

    def sure(self, here: Thought, *elsewhere: Thought) -> float:
        """How likely it is its own name, of all that was thought of."""
        own = 4 * self._own
        likely = here.prior / here.prior[own] * np.exp((here.costs[own] - here.costs) / SPREAD)
        card = _CARD * np.exp((here.costs[own] - self._cost_of_card()) / SPREAD)
        larger = [
            float((each.prior * np.exp((self._costs[self._own] - each.costs) / SPREAD)).sum())
            for each in elsewhere
        ]
        return float(1 / (likely.sum() + card + sum(larger)))

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
        is_inner = tag_points(self.sight.patterns.side_cells).is_inner
        return np.asarray(is_inner & (self._meant[self._own, 0] < AS_SHOWN))

    def _priors(self, free: Rows, odds: float) -> Array:
        """How likely each tag is there, the likeliest mate 1."""
        prior = np.where(free, np.exp(self._likelier - self._likelier[free].max(initial=0)), 0.0)
        return np.maximum(prior, 1 / (odds * len(prior)))

    def _here(self, prior: Array) -> Thought:
        """It may be any other tag (k,) of its size, which may be turned."""
        turned = prior if self._least.is_alone else np.full(len(prior), _TURNED * prior.min())
        prior = np.column_stack([prior, turned, turned, turned]).ravel()
        costs, own = self._costs_turned(), 4 * self._own
        step = 1 if self._least.is_alone else 4
        unlikely = costs[::step] - SPREAD * np.log(prior[::step])
        rivals = step * np.argsort(unlikely)[: _RIVALS + 1]
        return Thought(self._fit.tags, prior, costs, rivals[rivals != own])

    def _costs_turned(self) -> Array:
        """What each tag of the dictionary costs, turned 0 to 3 quarters, (4k,)."""
        turned = self._meant[:, 1:]
        costs, _ = self._cost_of(turned.reshape(-1, turned.shape[2]))
        return np.column_stack([self._costs, costs.reshape(turned.shape[:2])]).ravel()

    def _cost_of(self, meant: Map, shown: Map | None = None) -> tuple[Array, Array]:
        """What tags that would show what is `meant` (k, m) cost, and what nothing of the kind."""
        noise = self.sight.noise_grey / max(float(self._fit.gain_grey[0]), LEAST_GAIN_GREY)
        return costs_if_covered(self._shown if shown is None else shown, meant, noise=noise)

    def _cost_of_card(self) -> float:
        """What a black or a white square with a tag's border and rim costs at least."""
        ring = self._meant.mean(axis=(0, 1))
        is_inner = tag_points(self.sight.patterns.side_cells).is_inner
        cards = np.stack(
            [np.where(is_inner, level, ring) for level in (np.float32(0), np.float32(1))]
        )
        return float(self._cost_of(cards)[0].min())

    def _of_other_sizes(self, prior: Array) -> Iterator[Thought]:
        """It may be another tag of another size; `prior` (4k,) is of those of its own."""
        own, names = 4 * self._own, np.arange(len(prior)) // 4
        # What is free there is as likely as what is free here.
        prior = np.where(prior > prior.min(), 1.0, prior.min()) / prior[own]
        for size_mm in self._other_sizes_mm:
            there = replace(self._fit, tags=replace(self._fit.tags, sizes_mm=np.array([size_mm])))
            shown = shown_at(self.sight, there)
            costs, nothing = self._cost_of(self._meant.reshape(len(prior), -1), shown)
            costs += self._nothing - nothing
            costs = np.where(names == self._own, np.inf, costs)
            rivals = np.argsort(costs - SPREAD * np.log(prior))[:_RIVALS]
            yield Thought(there.tags, prior, costs, rivals)

    def _where_they_fit(self, rivals: Index, fits: TagFits) -> Array:
        """What other tags of the dictionary, 4 a pattern by their turns, cost as fitted."""
        # Levels of grey that were fitted to other tags would make their worths another measure.
        levels = replace(
            fits,
            black_grey=self._fit.black_grey.repeat(len(rivals)),
            gain_grey=self._fit.gain_grey.repeat(len(rivals)),
        )
        costs, nothing = self._cost_of(self._meant[rivals // 4, 0], shown_at(self.sight, levels))
        return np.asarray(self._nothing - nothing + costs)


def shown_at(sight: Sight, fits: TagFits) -> Map:
    """What is seen at the points of fits, black paint 0 and white paper 1, (n, m)."""
    levels = sight.seen(fits.tags, tag_points(sight.patterns.side_cells))
    gain = np.maximum(fits.gain_grey, LEAST_GAIN_GREY)
    return ((levels - fits.black_grey[:, None]) / gain[:, None]).astype(np.float32)
