"""What an army has each turn: skirmisher superiority and the effect of its guns (H-5, H-6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from tablecam.rules.dice import Roll
from tablecam.rules.game import DiceGroup, PendingDecision
from tablecam.rules.huzzah_ge.state import Army, Due, GiveNumber, State
from tablecam.rules.huzzah_ge.tables import is_huzzah, succeeds, together
from tablecam.table.sides import side_name


def skirmish_factors(armies: Mapping[str, Army], *, is_foul_weather: bool) -> dict[str, int]:
    """Returns the modified skirmish factors of two sides (H-5.2, H-5.6)."""
    factors = {}
    for (side, own), enemy in zip(armies.items(), reversed([*armies.values()]), strict=True):
        is_reinforced = 0 < own.skirmish_bases >= 2 * enemy.skirmish_bases
        after = {"won": 1, "failed": -1}.get(own.last_superiority or "", 0)
        factors[side] = (own.skirmish_factor or 0) - is_foul_weather + after + is_reinforced
    return factors


def effect_factors(
    armies: Mapping[str, Army], superior: str | None, ground: str | None, *, is_foul_weather: bool
) -> dict[str, int]:
    """Returns the modified artillery factors of two sides, one perhaps `superior` (H-6.2)."""
    firm, factors = {"soft": -1, "hard": 1}.get(ground or "", 0), {}
    for side, own in armies.items():
        after = {"passed": 1, "failed": -1}.get(own.last_effect or "", 0)
        is_harried = superior not in (None, side)
        factors[side] = (own.artillery_factor or 0) + firm - is_foul_weather + after - is_harried
    return factors


@dataclass(frozen=True, slots=True)
class Contest:
    """The rolls of two sides against their factors; margins only of those who succeed."""

    modified: Mapping[str, int]
    margins: Mapping[str, int | None]
    factors_for_good: Mapping[str, int]

    @property
    def succeeds(self) -> Mapping[str, bool]:
        """Whether each side succeeds."""
        return {side: margin is not None for side, margin in self.margins.items()}

    @property
    def winner(self) -> str | None:
        """The side that succeeds by more; nobody if the margins are alike (H-5.3)."""
        known = {side: margin for side, margin in self.margins.items() if margin is not None}
        best = max(known.values(), default=None)
        leading = [side for side, margin in known.items() if margin == best]
        return leading[0] if len(leading) == 1 else None


def contest(
    bases: Mapping[str, int], modified: Mapping[str, int], dice: Mapping[str, Sequence[int]]
) -> Contest:
    """Returns who succeeds and by how much; a double one lowers the enemy's factor for good."""
    margins = {
        side: modified[side] - sum(dice[side]) if succeeds(modified[side], dice[side]) else None
        for side in modified
    }
    first, second = modified
    enemy = {first: second, second: first}
    lasting = {side: factor - is_huzzah(dice[enemy[side]]) for side, factor in bases.items()}
    return Contest(modified, margins, lasting)


class ArmiesDice(Due):
    """Both sides' dice for their skirmishers, or for the effect of their guns (H-5.3, H-6.3)."""

    is_artillery: bool = False

    def roll(self, state: State) -> Roll:
        """Returns two dice of each side, the first side's first."""
        return Roll("the effect of the guns" if self.is_artillery else "skirmisher superiority", 4)

    def dice_groups(self, state: State) -> tuple[DiceGroup, ...]:
        """Returns each side's dice with what they may come to."""
        factors = enumerate(self._factors(state).items())
        groups = (together(side_name(side), most, 2 * place) for place, (side, most) in factors)
        return tuple(chain.from_iterable(groups))

    def then(self, state: State, answer: tuple[int, ...]) -> State:
        """Returns the state with who has superiority, or whose guns are effective this turn."""
        dice = dict(zip(state.sides, (answer[:2], answer[2:]), strict=True))
        key, last = "skirmish_factor", "last_superiority"
        if self.is_artillery:
            key, last = "artillery_factor", "last_effect"
        bases = {side: int(getattr(state.armies[side], key) or 0) for side in state.sides}
        rolled = contest(bases, self._factors(state), dice)
        for side in state.sides:
            well = "passed" if self.is_artillery else "won" if side == rolled.winner else None
            result = well if rolled.succeeds[side] else "failed"
            state = state.with_army(side, **{key: rolled.factors_for_good[side], last: result})
        if self.is_artillery:
            passed = tuple(side for side, succeeds in rolled.succeeds.items() if succeeds)
            state, rule = replace(state, effective=passed), "H-6.3"
            names = " and ".join(map(side_name, passed))
            text = f"The guns of the {names} are effective" if passed else "No guns are effective"
        else:
            state, rule = replace(state, superiority=rolled.winner), "H-5.3"
            who = "Nobody has" if rolled.winner is None else f"The {side_name(rolled.winner)} have"
            text = f"{who} skirmisher superiority"
        return state.tells("army", text, rule, dice={side: [*pair] for side, pair in dice.items()})

    def _factors(self, state: State) -> dict[str, int]:
        foul = state.options.get("weather") == "foul"
        armies = {side: state.armies[side] for side in state.sides}
        if not self.is_artillery:
            return skirmish_factors(armies, is_foul_weather=foul)
        ground = state.options.get("ground")
        return effect_factors(armies, state.superiority, ground, is_foul_weather=foul)


class FactorDue(Due):
    """A side's skirmish or artillery factor, which the army lists would give (H-15.7)."""

    answers = tuple(map(GiveNumber, range(6, 11)))
    side: str
    is_artillery: bool = False

    def asked(self, state: State) -> PendingDecision:
        """Returns the question."""
        what = "Artillery" if self.is_artillery else "Skirmish"
        question = f"What is the {what} Factor of the {side_name(self.side)}?"
        return PendingDecision(question, self.side, hint="Your army list gives it, from 6 to 10.")

    def then(self, state: State, answer: GiveNumber) -> State:
        """Returns the state with the factor."""
        key = "artillery_factor" if self.is_artillery else "skirmish_factor"
        text = f"The players say: {key.replace('_', ' ')} of the {side_name(self.side)} "
        state = state.tells("chart", f"{text}{answer.value}", "H-15.7", side=self.side)
        return state.with_army(self.side, **{key: answer.value})
