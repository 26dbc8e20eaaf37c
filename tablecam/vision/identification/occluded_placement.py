"""Scores which tag sits at one place when too much of it is hidden to decode.

The candidates are all tags of the dictionary, as the base faces and turned, blank cards, and, if no
unit neighbour gives the size, tags of other sizes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tablecam.vision.detection.points import tag_points, values_of_print
from tablecam.vision.fitting.light import MIN_GAIN_GREY
from tablecam.vision.fitting.tags import TagFits
from tablecam.vision.identification.frame_context import FrameContext
from tablecam.vision.identification.occlusion_likelihood import (
    SPREAD,
    costs_with_compact_occluders,
    costs_with_occluders,
    most_worth,
)

Array = NDArray[np.float64]
Map = NDArray[np.float32]
Rows = NDArray[np.bool_]

_LEAST_PROBABILITY, _LEAST_NATS, _WORTH_OF_A_NAT = 0.975, 13.0, 20.0
"""Least probability of a name under occluders of any shape, least log odds under compact ones, and
how much `worth` adds a nat to those. In 244 pictures where four of five tags were covered on
purpose, 8,147 right names of half hidden tags pass and three wrong ones; the true place outdoes one
of these. A single guess of compact occluders, and eight thresholds, let 7,787 and three pass."""
_LEAST_WORTH_ELSEWHERE = 70.0
"""Least worth of another place for a name to compete."""
AS_SHOWN = 0.35
"""Largest difference, as a share of a tag's contrast, at a point that shows the tag."""
_CARD_PRIOR = 5e-7
"""Prior odds of a black or white card of a tag's size, with a rim, exactly where a unit neighbour
would lie, to a neighbour there."""
_TURNED_PRIOR = 0.1
"""Prior probability that a tag of another unit there is turned by one or more quarters."""
_OTHER_UNIT_PRIOR = 0.01
"""Least prior odds, turned or not, of another unit's tag in a row whose unit is a guess: five of
360 such names were wrong, all of them of other units and turned."""
_RIVALS, _LEAST_ODDS = 12, 1e-12
_CLEAR_WORTH, _CLEAR_PROBABILITY = 60.0, 0.99


@dataclass(frozen=True)
class AcceptanceThresholds:
    """Thresholds that an occluded placement must meet before its name is considered.

    `worth` is how much cheaper the tag must be than random clutter, `framed` the share of border
    and rim that must look like a tag's, `of_gain` the least contrast as a share of the usual, `rim`
    the share of the rim that must be white. At least `paint` of the tag's black inner points, or
    the share `of_paint` of them, must look black: smoke and dice are white and make them look like
    paper. `lead`, in nats, is how much likelier the name must be than an average name.
    `is_alone`: no unit neighbour in contact gives the tag's heading. `is_unit_guessed`: its
    neighbours are not identified, so other units' tags compete more.
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
NEAR_NEIGHBOUR = AcceptanceThresholds(
    90.0, 0.6, 0.5, rim=0.6, paint=7, of_paint=0.5, lead=1.5, is_alone=True
)
IN_GUESSED_ROW = replace(NEAR_NEIGHBOUR, is_unit_guessed=True)
ISOLATED = replace(NEAR_NEIGHBOUR)
"""Thresholds in contact with a unit neighbour, near one, and without. On 36 simulated tables of 3
and 6 px a cell, right names in contact had a worth of 54 or more and 3 such points of 7; near a
neighbour, a worth of 95, 8 points, and were 2.3 ahead. A wrong name near a neighbour had 4 points
and was 0.1 behind, under smoke. 99 of 100 right ones showed 0.6 of their rims; figures and their
shadows that took a wrong name, in the light of tags beside them, showed half a rim or less, or had
a worth below 76, and on crowded tables below 82."""


class OccludedPlacement:
    """One fit under its `own` name, with the values seen at its points and those of all tags.

    `values` (m,) are as `values_at_points` gives them; `expected` (k, 4, m) are the dictionary's
    tags, turned 0 to 3 quarters, and `ring` (m,) their mean: all share border and rim. `unit_nats`
    (4, k) is how much its unit neighbours favour each tag there, turned 0 to 3 quarters.
    """

    def __init__(
        self,
        sight: FrameContext,
        fit: TagFits,
        values: Map,
        expected: Map,
        ring: Map,
        own: int,
        unit_nats: Array,
        thresholds: AcceptanceThresholds,
        sizes_mm: Sequence[float],
    ) -> None:
        self.sight, self._fit, self._values, self._expected = sight, fit, values, expected
        self._ring, self._own = ring, own
        self._unit_nats, self._thresholds = unit_nats, thresholds
        # Beside a unit neighbour no other sizes are given: its unit sets the size.
        self._other_sizes_mm = [
            size_mm for size_mm in sizes_mm if size_mm != float(fit.tags.sizes_mm[0])
        ]

    @cached_property
    def _costs_unturned(self) -> tuple[Array, Array]:
        """The cost of each tag of the dictionary, (k,), and that of no tag at all, (1,)."""
        return self._cost_of(self._expected[:, 0])

    @property
    def _costs(self) -> Array:
        """The cost of each tag of the dictionary, unturned, (k,)."""
        return self._costs_unturned[0]

    @property
    def _no_tag_cost(self) -> float:
        """The cost of no tag at all."""
        return float(self._costs_unturned[1][0])

    @property
    def worth(self) -> float:
        """How much less its own tag costs than no tag at all."""
        return self._no_tag_cost - float(self._costs[self._own])

    def is_likely(self, free: Rows, odds: float) -> bool:
        """Whether its own name is likely under occluders of any shape."""
        # Skips the comparison with turned tags and other sizes if the name is hopeless anyway.
        if not free[self._own] or self.probability(free, odds) < _LEAST_PROBABILITY:
            return False
        own, prior = 4 * self._own, self._prior(free, odds).ravel()
        cost = self._costs[self._own]
        likely = prior / prior[own] * np.exp((cost - self._costs_turned) / SPREAD)
        # The posterior odds of a blank card of this size at this place.
        card = _CARD_PRIOR * float(np.exp((cost - self._cost_of_card) / SPREAD))
        most_odds = 1 / _LEAST_PROBABILITY - float(likely.sum()) - card
        # A bound mostly shows that no other size matters: their costs are slow to compute.
        return (
            self._odds_of_other_sizes(prior, self._most_worths_of_other_sizes) <= most_odds
            or self._odds_of_other_sizes(prior, self._worths_of_other_sizes) <= most_odds
        )

    def probability(self, free: Rows, odds: float) -> float:
        """Returns the probability of its own name among unturned tags of its size.

        Under occluders of any shape.
        """
        prior, cost = self._prior(free, odds)[:, 0], self._costs[self._own]
        likely = prior / prior[self._own] * np.exp((cost - self._costs) / SPREAD)
        return float(1 / likely.sum())

    def is_sure(self, free: Rows, odds: float, elsewhere: Iterable[OccludedPlacement] = ()) -> bool:
        """Whether its own name, if likely, is also sure under compact occluders.

        Places `elsewhere` compete for the tag.
        """
        log_odds_against = float(
            np.log1p(_LEAST_ODDS - self.probability_elsewhere(free, odds, elsewhere))
        )
        return self._sureness_nats(free, odds) + log_odds_against >= _LEAST_NATS

    @staticmethod
    def probability_elsewhere(
        free: Rows, odds: float, elsewhere: Iterable[OccludedPlacement]
    ) -> float:
        """Returns the probability of a tag at the likeliest of other places that show one."""
        probabilities = [
            place.probability(free, odds)
            for place in elsewhere
            if place.is_framed and place.worth >= _LEAST_WORTH_ELSEWHERE
        ]
        return max(probabilities, default=0.0)

    def is_another(self, free: Rows) -> bool:
        """Whether it is clearly a tag, but not one of the unit's missing ones."""
        prior = self._prior(free, 1.0)[:, 0]
        likely = prior * np.exp((self._costs.min() - self._costs) / SPREAD)
        is_tag = self._no_tag_cost - float(self._costs.min()) >= _CLEAR_WORTH
        return bool(is_tag and likely[prior >= 1].sum() < (1 - _CLEAR_PROBABILITY) * likely.sum())

    @property
    def is_worth(self) -> bool:
        """Whether enough of its own tag, and of the black inside it, is visible."""
        # Cheap tests of frame and black first, because the costs are slow to compute.
        thresholds = self._thresholds
        least_paint = min(thresholds.paint, thresholds.of_paint * int(self._is_paint.sum()))
        if not self.is_framed or self.paint < least_paint:
            return False
        # The evidence averaged over all names of the dictionary.
        average = np.log(np.exp((self._costs.min() - self._costs) / SPREAD).mean())
        lead = (self._costs.min() - self._costs[self._own]) / SPREAD - average
        return bool(lead >= thresholds.lead and self.worth >= thresholds.worth)

    @property
    def is_framed(self) -> bool:
        """Whether enough of a tag's border and rim is visible, and enough contrast."""
        thresholds, points = self._thresholds, tag_points(self.sight.patterns.side_cells)
        is_known = ~np.isnan(self._values)
        difference = np.abs(self._values - self._ring)
        gain_grey = max(MIN_GAIN_GREY, thresholds.of_gain * self.sight.gain_grey)
        return bool(
            (difference[is_known & ~points.is_inner] < AS_SHOWN).mean() >= thresholds.framed
            and (self._values[is_known & points.is_rim] > 1 - AS_SHOWN).mean() >= thresholds.rim
            and float(self._fit.gain_grey[0]) >= gain_grey
        )

    @property
    def paint(self) -> int:
        """The number of inner points of its own tag's black that look black."""
        return int((self._values[self._is_paint] < AS_SHOWN).sum())

    @property
    def _is_paint(self) -> Rows:
        """Which points inside its own tag are black, (m,)."""
        is_inner = tag_points(self.sight.patterns.side_cells).is_inner
        return np.asarray(is_inner & (self._expected[self._own, 0] < AS_SHOWN))

    def _sureness_nats(self, free: Rows, odds: float) -> float:
        """Returns how sure its own name is under compact occluders, its worth included."""
        return self._log_odds(free, odds) + self.worth / _WORTH_OF_A_NAT

    def _log_odds(self, free: Rows, odds: float) -> float:
        """Returns the log odds of its own name under compact occluders, in nats.

        The mean over several models of occluders: wrong names are seldom sure under all of them.
        """
        prior, own = self._prior(free, odds).ravel(), 4 * self._own
        if self._thresholds.is_unit_guessed:
            prior = np.where(free.repeat(4), np.maximum(prior, _OTHER_UNIT_PRIOR), prior)
        ranking = np.argsort(self._costs_turned - SPREAD * np.log(prior))
        # Its own name first, then its rivals.
        names = np.append(own, ranking[ranking != own][:_RIVALS])
        expected = self._expected.reshape(-1, self._expected.shape[2])[names]
        costs = costs_with_compact_occluders(self._values, expected, noise=self._noise)
        likely = prior[names] / prior[own] * np.exp((costs[:, :1] - costs) / SPREAD)
        return float(-np.log(likely[:, 1:].sum(axis=1) + _LEAST_ODDS).mean())

    def _prior(self, free: Rows, odds: float) -> Array:
        """Returns the prior of each tag there, turned 0 to 3 quarters, (k, 4).

        It is 1 for the most likely unit neighbour.
        """
        nats = self._unit_nats.T
        prior = np.where(free[:, None], np.exp(nats - nats[free].max(initial=0)), 0.0)
        # Any tag of the dictionary may lie there, though rarely: the table file may be wrong.
        least = 1 / (odds * len(prior))
        prior = np.maximum(prior, least)
        if not self._thresholds.is_alone:
            prior[:, 1:] = _TURNED_PRIOR * least
        return prior

    @cached_property
    def _costs_turned(self) -> Array:
        """Returns the costs of each tag of the dictionary, turned 0 to 3 quarters, (4k,)."""
        turned = [self._cost_of(self._expected[:, turns])[0] for turns in (1, 2, 3)]
        return np.column_stack([self._costs, *turned]).ravel()

    def _cost_of(self, expected: Map, values: Map | None = None) -> tuple[Array, Array]:
        """Returns the costs of tags that show `expected` (k, m), and those of no tag at all."""
        return costs_with_occluders(
            self._values if values is None else values, expected, noise=self._noise
        )

    @property
    def _noise(self) -> float:
        """The pixels' noise, as a share of the tag's contrast."""
        return self.sight.noise_grey / max(float(self._fit.gain_grey[0]), MIN_GAIN_GREY)

    @cached_property
    def _cost_of_card(self) -> float:
        """The least cost of a black or white card with a tag's border and rim."""
        is_inner = tag_points(self.sight.patterns.side_cells).is_inner
        cards = np.stack(
            [np.where(is_inner, level, self._ring) for level in (np.float32(0), np.float32(1))]
        )
        return float(self._cost_of(cards)[0].min())

    def _odds_of_other_sizes(self, prior: Array, worths: Array) -> float:
        """Returns the odds of tags of other sizes; `prior` (4k,) is that of its own size.

        `worths` (s, 4k) or (s, 1) is how much less than no tag they cost.
        """
        own, names = 4 * self._own, np.arange(len(prior)) // 4
        # Missing tags of other sizes are as likely as those of its own.
        prior = np.where(prior > prior.min(), 1.0, prior.min()) / prior[own]
        # Its own name at another size does not compete: the size of each tag is known.
        prior = np.where(names == self._own, 0.0, prior)
        return float((prior * np.exp((worths - self.worth) / SPREAD)).sum())

    @cached_property
    def _values_in_other_sizes(self) -> list[Map]:
        """The values seen at the points of tags of s other sizes, (m,) each."""
        tags = [
            replace(self._fit.tags, sizes_mm=np.array([size_mm]))
            for size_mm in self._other_sizes_mm
        ]
        return [values_at_points(self.sight, replace(self._fit, tags=tag))[0] for tag in tags]

    @cached_property
    def _most_worths_of_other_sizes(self) -> Array:
        """A bound of how much less tags of s other sizes cost than no tag, (s, 1)."""
        low, high = self._expected.min(axis=(0, 1)), self._expected.max(axis=(0, 1))
        most = [
            most_worth(values, low, high, noise=self._noise)
            for values in self._values_in_other_sizes
        ]
        return np.array(most).reshape(-1, 1)

    @cached_property
    def _worths_of_other_sizes(self) -> Array:
        """How much less tags of s other sizes cost than no tag, turned 0 to 3 quarters, (s, 4k)."""
        # Not costs, as the pixels of another size differ.
        worths = np.empty((len(self._other_sizes_mm), len(self._expected), 4))
        for row, values in enumerate(self._values_in_other_sizes):
            for turns in range(4):  # all at once would not fit into the processor's cache
                costs, no_tag_cost = self._cost_of(self._expected[:, turns], values)
                worths[row, :, turns] = no_tag_cost - costs
        return worths.reshape(len(worths), 4 * len(self._expected))


def values_at_points(sight: FrameContext, fits: TagFits) -> Map:
    """Returns the values at the points of fits, as `values_of_print` gives them, (n, m)."""
    points = tag_points(sight.patterns.side_cells)
    gain = np.maximum(fits.gain_grey, MIN_GAIN_GREY)
    levels = sight.values_at(fits.tags, points)
    return values_of_print(levels, fits.black_grey, gain, points, fits.glare)
