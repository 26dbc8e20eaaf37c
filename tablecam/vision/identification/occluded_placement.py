"""Scores which tag sits at one place when too much of it is hidden to decode.

The candidates are all tags of the dictionary, as the base faces and turned, blank cards, and, if no
unit neighbour gives the size, tags of other sizes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tablecam.vision.detection.points import tag_points
from tablecam.vision.fitting.light import MIN_GAIN_GREY
from tablecam.vision.fitting.tags import TagFits, TagGuesses
from tablecam.vision.identification.frame_context import FrameContext
from tablecam.vision.identification.occlusion_likelihood import (
    SPREAD,
    costs_with_compact_occluders,
    costs_with_occluders,
)

Array = NDArray[np.float64]
Map = NDArray[np.float32]
Index = NDArray[np.int64]
Rows = NDArray[np.bool_]

_LEAST_PROBABILITY = 0.985
_CLUTTER_PROBABILITY, _VISIBLE_WORTH = 0.997, 130.0
_STRICT_PROBABILITY, _LEAST_PAINT_POINTS = 0.9995, 7
_FAINT_PROBABILITY, _FAINT_WORTH = 0.9999, 90.0
"""Least probabilities of a name in contact with a unit neighbour. Placements with less `worth` must
be surer, and those that show few points of paint: white smoke looks like white cells. In 312
searches of 156 simulated tables of 1.6 to 6 px a cell, half of them with a quarter of their names
wrong, wrong names had at most 0.9946 with 7 points or more, 0.9989 with fewer. Of 598 right ones
533 were sure enough. On crowded tables a tag 37 % visible took a mate's name with a worth of 85 and
0.9997. Without contact all must be surer: of three wrong isolated ones on 72 tables two had 0.998,
and the third was a tag of another size; figures near a unit had 0.9995."""
_LEAST_COMPACT_PROBABILITY, _STRICT_COMPACT_PROBABILITY = 0.99, 0.999
"""Least probabilities of a name under compact occluders as well; those that show few points of
paint must again be surer. Of wrong names that were sure under occluders of any shape, smoke, cards
or dice lay over all that tells them from the true ones: of ten not beside another wrong one nine
had less than 0.98 here, and one with 4 points of paint 0.993. So had 3 % of the right ones."""
AS_SHOWN = 0.35
"""Largest difference, as a share of a tag's contrast, at a point that shows the tag."""
_CARD_PRIOR = 5e-7
"""Prior odds of a black or white card of a tag's size, with a rim, exactly where a unit neighbour
would lie, to a neighbour there."""
_TURNED_PRIOR = 0.1
"""Prior probability that a tag of another unit there is turned by some quarter."""
_OTHER_UNIT_PRIOR = 0.01
"""Least prior odds, turned or not, of another unit's tag in a row whose unit is a guess: five of
360 such names were wrong, all of them of other units and turned."""
_RIVALS, _COMPACT_RIVALS = 4, 12
_CLEAR_WORTH, _CLEAR_PROBABILITY = 60.0, 0.99


@dataclass(frozen=True)
class AcceptanceThresholds:
    """Thresholds that an occluded placement must meet before its name is considered.

    `worth` is how much cheaper the tag must be than chance clutter, `framed` the share of border
    and rim that must look like a tag's, `of_gain` the least contrast as a share of the usual, `rim`
    the share of the rim that must be white. At least `paint` of the tag's black inner points, or
    the share `of_paint` of them, must look black: smoke and dice are white and hide them as if they
    were paper. `lead`, in nats, is how much likelier the name must be than an average name.
    `is_alone`: no unit neighbour gives the tag's heading. `is_unit_guessed`: its neighbours are not
    identified, so other units' tags compete more.
    """

    worth: float
    framed: float
    of_gain: float
    rim: float
    paint: int
    of_paint: float
    lead: float
    is_alone: bool = False
    is_unit_guessed: bool = False


IN_CONTACT = AcceptanceThresholds(16.0, 0.45, 0.3, rim=0.6, paint=4, of_paint=0.3, lead=-np.inf)
NEAR_NEIGHBOUR = AcceptanceThresholds(90.0, 0.6, 0.5, rim=0.6, paint=7, of_paint=0.5, lead=1.5)
IN_GUESSED_ROW = replace(NEAR_NEIGHBOUR, is_alone=True, is_unit_guessed=True)
ISOLATED = AcceptanceThresholds(
    90.0, 0.6, 0.5, rim=0.6, paint=7, of_paint=0.5, lead=1.5, is_alone=True
)
"""Thresholds in contact with a unit neighbour, near one, and without. On 36 simulated tables of 3
and 6 px a cell, right names in contact had a worth of 54 or more and 3 such points of 7; near a
neighbour, a worth of 95, 8 points, and were 2.3 ahead. A wrong name near a neighbour had 4 points
and was 0.1 behind, under smoke. 99 of 100 right ones showed 0.6 of their rims; figures and their
shadows that took a wrong name, in the light of tags beside them, showed half a rim or less, or had
a worth below 76, and on crowded tables below 82."""


@dataclass(frozen=True, slots=True, eq=False)
class Hypothesis:
    """Tags of one size that a placement may show: `tag` (1,) gives place and size.

    `prior` (4k,) and `costs` (4k,) have each tag of the dictionary, turned 0 to 3 quarters.
    `rivals` (r,) are the most likely few; fitted like the placement's own tag, they may cost less.
    """

    tag: TagGuesses
    prior: Array
    costs: Array
    rivals: Index

    @property
    def guesses(self) -> TagGuesses:
        """The rivals as guesses to fit."""
        tags = self.tag[np.zeros(len(self.rivals), dtype=np.int64)]
        turned_rad = tags.headings_rad + self.rivals % 4 * (np.pi / 2)
        return replace(tags, pattern=self.rivals // 4, headings_rad=turned_rad)


class OccludedPlacement:
    """One fit under its `own` name, with the values seen at its points and those of all tags.

    `values` (m,) are as `values_at_points` gives them; `expected` (k, 4, m) are the dictionary's
    tags, turned 0 to 3 quarters. `unit_nats` (k,) is how much its unit neighbours favour each tag
    there.
    """

    def __init__(
        self,
        sight: FrameContext,
        fit: TagFits,
        values: Map,
        expected: Map,
        own: int,
        unit_nats: Array,
        thresholds: AcceptanceThresholds,
        sizes_mm: Sequence[float],
    ) -> None:
        self.sight, self._fit, self._values, self._expected = sight, fit, values, expected
        self._own, self._unit_nats, self._thresholds = own, unit_nats, thresholds
        # Beside a unit neighbour no other sizes are given: its unit sets the size.
        self._other_sizes_mm = [
            size_mm for size_mm in sizes_mm if size_mm != float(fit.tags.sizes_mm[0])
        ]

    @cached_property
    def _costs(self) -> Array:
        """The cost of each tag of the dictionary, unturned, (k,)."""
        return self._cost_of(self._expected[:, 0])[0]

    @cached_property
    def _no_tag_cost(self) -> float:
        """The cost of no tag at all."""
        return float(self._cost_of(self._expected[:1, 0])[1][0])

    @property
    def worth(self) -> float:
        """How much less its own tag costs than no tag at all."""
        return self._no_tag_cost - float(self._costs[self._own])

    def hypotheses(self, free: Rows, odds: float) -> list[Hypothesis]:
        """Returns what the placement may show, its own size first, if its own name is likely."""
        prior = self._prior(free, odds)
        likely = prior * np.exp((self._costs.min() - self._costs) / SPREAD)
        # Skips the expensive fit of rivals if the name is hopeless anyway.
        if not free[self._own] or likely[self._own] < _LEAST_PROBABILITY * likely.sum():
            return []
        own_size = self._same_size(prior)
        return [own_size, *self._of_other_sizes(own_size.prior)]

    def with_fits(self, hypothesis: Hypothesis, fits: TagFits) -> Hypothesis:
        """Returns the hypothesis with its rivals' costs lowered to those at their best fits."""
        costs, rivals = hypothesis.costs.copy(), hypothesis.rivals
        costs[rivals] = np.minimum(costs[rivals], self._costs_as_fitted(rivals, fits))
        return replace(hypothesis, costs=costs)

    def probability(self, own_size: Hypothesis, *other_sizes: Hypothesis) -> float:
        """Returns the posterior probability of its own name among all hypotheses."""
        own = 4 * self._own
        likely = (
            own_size.prior
            / own_size.prior[own]
            * np.exp((own_size.costs[own] - own_size.costs) / SPREAD)
        )
        # The posterior odds of a blank card of this size at this place.
        card = _CARD_PRIOR * np.exp((own_size.costs[own] - self._cost_of_card()) / SPREAD)
        other_size_odds = [
            float((other.prior * np.exp((self._costs[self._own] - other.costs) / SPREAD)).sum())
            for other in other_sizes
        ]
        return float(1 / (likely.sum() + card + sum(other_size_odds)))

    def compact_probability(self, own_size: Hypothesis, free: Rows) -> float:
        """Returns the posterior probability of its own name under compact occluders."""
        prior, own = own_size.prior, 4 * self._own
        if self._thresholds.is_unit_guessed:
            prior = np.where(free.repeat(4), np.maximum(prior, _OTHER_UNIT_PRIOR), prior)
        ranking = np.argsort(own_size.costs - SPREAD * np.log(prior))
        # Its own name first, then its rivals.
        names = np.append(own, ranking[ranking != own][:_COMPACT_RIVALS])
        expected = self._expected.reshape(-1, self._expected.shape[2])[names]
        costs = costs_with_compact_occluders(self._values, expected, noise=self._noise)
        likely = prior[names] / prior[own] * np.exp((costs[0] - costs) / SPREAD)
        return float(1 / likely.sum())

    def is_another(self, free: Rows) -> bool:
        """Whether it is clearly a tag, but none of the unit's missing ones."""
        prior = self._prior(free, 1.0)
        likely = prior * np.exp((self._costs.min() - self._costs) / SPREAD)
        is_tag = self._no_tag_cost - float(self._costs.min()) >= _CLEAR_WORTH
        return bool(is_tag and likely[prior >= 1].sum() < (1 - _CLEAR_PROBABILITY) * likely.sum())

    @property
    def is_worth(self) -> bool:
        """Whether enough of its own tag, and of the black inside it, is visible."""
        # A cheap test of border and rim first, as the costs take long.
        if not self._is_framed:
            return False
        thresholds = self._thresholds
        # The evidence averaged over all names of the dictionary.
        average = np.log(np.exp((self._costs.min() - self._costs) / SPREAD).mean())
        lead = (self._costs.min() - self._costs[self._own]) / SPREAD - average
        is_shown = self.paint >= min(
            thresholds.paint, thresholds.of_paint * int(self._is_paint.sum())
        )
        return bool(is_shown and lead >= thresholds.lead and self.worth >= thresholds.worth)

    @property
    def _is_framed(self) -> bool:
        """Whether enough of a tag's border and rim is visible, and enough contrast."""
        thresholds, points = self._thresholds, tag_points(self.sight.patterns.side_cells)
        difference = np.abs(self._values - self._expected.mean(axis=(0, 1)))[~points.is_inner]
        gain_grey = max(MIN_GAIN_GREY, thresholds.of_gain * self.sight.gain_grey)
        return bool(
            (difference < AS_SHOWN).mean() >= thresholds.framed
            and (self._values[points.is_rim] > 1 - AS_SHOWN).mean() >= thresholds.rim
            and float(self._fit.gain_grey[0]) >= gain_grey
        )

    @property
    def least_probability(self) -> float:
        """The least posterior probability that its name needs."""
        if self.worth < _FAINT_WORTH:
            return _FAINT_PROBABILITY
        if self.paint < _LEAST_PAINT_POINTS or self._thresholds is not IN_CONTACT:
            return _STRICT_PROBABILITY
        return _CLUTTER_PROBABILITY if self.worth < _VISIBLE_WORTH else _LEAST_PROBABILITY

    @property
    def least_compact_probability(self) -> float:
        """The least posterior probability under compact occluders that its name needs."""
        if self.paint < _LEAST_PAINT_POINTS:
            return _STRICT_COMPACT_PROBABILITY
        return _LEAST_COMPACT_PROBABILITY

    @property
    def paint(self) -> int:
        """The number of inner points of its own tag's black that look black."""
        return int((self._values[self._is_paint] < AS_SHOWN).sum())

    @property
    def _is_paint(self) -> Rows:
        """Which points inside its own tag are black, (m,)."""
        is_inner = tag_points(self.sight.patterns.side_cells).is_inner
        return np.asarray(is_inner & (self._expected[self._own, 0] < AS_SHOWN))

    def _prior(self, free: Rows, odds: float) -> Array:
        """Returns the prior of each tag there (k,), 1 for the most likely unit neighbour."""
        prior = np.where(free, np.exp(self._unit_nats - self._unit_nats[free].max(initial=0)), 0.0)
        # Any tag of the dictionary may lie there, though rarely: the table file may be wrong.
        return np.maximum(prior, 1 / (odds * len(prior)))

    def _same_size(self, prior: Array) -> Hypothesis:
        """Returns the hypothesis of its own size: any tag, which may be turned."""
        turned = (
            prior if self._thresholds.is_alone else np.full(len(prior), _TURNED_PRIOR * prior.min())
        )
        prior = np.column_stack([prior, turned, turned, turned]).ravel()
        costs, own = self._costs_turned(), 4 * self._own
        # With a unit neighbour the heading is known: only unturned tags are worth a fit.
        step = 1 if self._thresholds.is_alone else 4
        ranking = costs[::step] - SPREAD * np.log(prior[::step])
        rivals = step * np.argsort(ranking)[: _RIVALS + 1]
        return Hypothesis(self._fit.tags, prior, costs, rivals[rivals != own])

    def _costs_turned(self) -> Array:
        """Returns the costs of each tag of the dictionary, turned 0 to 3 quarters, (4k,)."""
        turned = self._expected[:, 1:]
        costs, _ = self._cost_of(turned.reshape(-1, turned.shape[2]))
        return np.column_stack([self._costs, costs.reshape(turned.shape[:2])]).ravel()

    def _cost_of(self, expected: Map, values: Map | None = None) -> tuple[Array, Array]:
        """Returns the costs of tags that show `expected` (k, m), and those of no tag at all."""
        return costs_with_occluders(
            self._values if values is None else values, expected, noise=self._noise
        )

    @property
    def _noise(self) -> float:
        """The pixels' noise, as a share of the tag's contrast."""
        return self.sight.noise_grey / max(float(self._fit.gain_grey[0]), MIN_GAIN_GREY)

    def _cost_of_card(self) -> float:
        """Returns the least cost of a black or white card with a tag's border and rim."""
        # All tags share border and rim: their mean shows both.
        ring = self._expected.mean(axis=(0, 1))
        is_inner = tag_points(self.sight.patterns.side_cells).is_inner
        cards = np.stack(
            [np.where(is_inner, level, ring) for level in (np.float32(0), np.float32(1))]
        )
        return float(self._cost_of(cards)[0].min())

    def _of_other_sizes(self, prior: Array) -> Iterator[Hypothesis]:
        """Yields the hypotheses of other sizes; `prior` (4k,) is that of its own size."""
        own, names = 4 * self._own, np.arange(len(prior)) // 4
        # Missing tags of other sizes are as likely as those of its own.
        prior = np.where(prior > prior.min(), 1.0, prior.min()) / prior[own]
        for size_mm in self._other_sizes_mm:
            other_size = replace(
                self._fit, tags=replace(self._fit.tags, sizes_mm=np.array([size_mm]))
            )
            values = values_at_points(self.sight, other_size)
            costs, no_tag_cost = self._cost_of(self._expected.reshape(len(prior), -1), values)
            # Compare costs relative to no tag, as the pixels of another size differ.
            costs += self._no_tag_cost - no_tag_cost
            # Its own name at another size is no rival: the size of each tag is known.
            costs = np.where(names == self._own, np.inf, costs)
            rivals = np.argsort(costs - SPREAD * np.log(prior))[:_RIVALS]
            yield Hypothesis(other_size.tags, prior, costs, rivals)

    def _costs_as_fitted(self, rivals: Index, fits: TagFits) -> Array:
        """Returns the costs of rivals, indexed 4 a pattern by turn, at their best fits."""
        # Grey levels fitted for other tags would change the scale of their costs: use its own.
        own_levels = replace(
            fits,
            black_grey=self._fit.black_grey.repeat(len(rivals)),
            gain_grey=self._fit.gain_grey.repeat(len(rivals)),
        )
        costs, no_tag_cost = self._cost_of(
            self._expected[rivals // 4, 0], values_at_points(self.sight, own_levels)
        )
        # Relative to no tag, as the fit moved the points to other pixels.
        return np.asarray(self._no_tag_cost - no_tag_cost + costs)


def values_at_points(sight: FrameContext, fits: TagFits) -> Map:
    """Returns the values at the points of fits, 0 black paint and 1 white paper, (n, m)."""
    levels = sight.values_at(fits.tags, tag_points(sight.patterns.side_cells))
    gain = np.maximum(fits.gain_grey, MIN_GAIN_GREY)
    return ((levels - fits.black_grey[:, None]) / gain[:, None]).astype(np.float32)
