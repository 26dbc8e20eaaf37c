"""Armies' results of each turn, and what players settle where the book lacks a chapter (H-5, H-15).

The game asks, applies their answers by the rules that it has, and records them as theirs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Annotated, Final

from pydantic import Field as Limits

from tablecam.rules.dice import Roll
from tablecam.rules.game import DiceGroup, PendingDecision
from tablecam.rules.huzzah_ge import fire
from tablecam.rules.huzzah_ge import state as acts
from tablecam.rules.huzzah_ge.movement import squaring_up
from tablecam.rules.huzzah_ge.state import Due, State
from tablecam.rules.huzzah_ge.tables import is_huzzah, limited, succeeds, together
from tablecam.rules.huzzah_ge.volleys import SaveDice
from tablecam.rules.miniatures.battle import disordered
from tablecam.rules.miniatures.battle_game import BattleCharts
from tablecam.table.sections import Name, StrictModel
from tablecam.table.sides import side_name, side_plural
from tablecam.wording import counted, joined

OWN_BOOK: Final = (
    "Resolve this combat with your own book, then enter the result: "
    "tablecam's copy of the rules has no combat chapter."
)
ARMY_KEYS: Final = {
    False: ("skirmish_factor", "last_superiority"),
    True: ("artillery_factor", "last_effect"),
}
"""An army's keys for its skirmishers and its artillery: a factor, and its last test."""
MOST_HITS: Final = 12
BACK_STEP_CM: Final = 5
BACKS_CM: Final = tuple(range(0, 31, BACK_STEP_CM))
FATES: Final = ("holds", "disordered", "routs")
RALLIES: Final = ("reformed", "remains", "removed")


class ArmySection(StrictModel):
    """A side's factors from its army list."""

    skirmish_factor: Annotated[int, Limits(ge=6, le=10)] | None = None
    artillery_factor: Annotated[int, Limits(ge=6, le=10)] | None = None
    grand_batteries: bool | None = None


class Charts(BattleCharts):
    """The chapters that owners of the full rules may fill in (H-15.9)."""

    army: dict[Name, ArmySection] = Limits(default_factory=dict)
    manoeuvre: dict[str, float] = Limits(default_factory=dict)
    rally: dict[str, float] = Limits(default_factory=dict)
    combat: dict[str, float] = Limits(default_factory=dict)

    def of(self, side: str) -> acts.Army:
        """Returns those of a side's factors that are given."""
        given = self.army.get(side, ArmySection())
        return acts.Army(given.skirmish_factor, given.artillery_factor)


def skirmish_factors(armies: Mapping[str, acts.Army], *, is_foul_weather: bool) -> dict[str, int]:
    """Returns the modified skirmish factors of two sides (H-5.2, H-5.6)."""
    factors = {}
    for (side, own), enemy in zip(armies.items(), reversed([*armies.values()]), strict=True):
        is_reinforced = 0 < own.skirmish_bases >= 2 * enemy.skirmish_bases
        after = {"won": 1, "failed": -1}.get(own.last_superiority or "", 0)
        factors[side] = (own.skirmish_factor or 0) - is_foul_weather + after + is_reinforced
    return factors


def effect_factors(
    armies: Mapping[str, acts.Army],
    superior: str | None,
    ground: str | None,
    *,
    is_foul_weather: bool,
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
    """The rolls of two sides against their factors, with margins only for those who succeed."""

    modified: Mapping[str, int]
    margins: Mapping[str, int | None]
    factors_for_good: Mapping[str, int]

    @property
    def succeeds(self) -> Mapping[str, bool]:
        """Whether each side succeeds."""
        return {side: margin is not None for side, margin in self.margins.items()}

    @property
    def winner(self) -> str | None:
        """The side that succeeds by more; None if the margins are equal (H-5.3)."""
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
        """Returns two dice for each side, the first side's first."""
        return Roll("the effect of the guns" if self.is_artillery else "skirmisher superiority", 4)

    def dice_groups(self, state: State) -> tuple[DiceGroup, ...]:
        """Returns each side's dice with their limit."""
        factors = enumerate(self._factors(state).items())
        groups = (together(side_name(side), most, 2 * place) for place, (side, most) in factors)
        return tuple(chain.from_iterable(groups))

    def follow(self, state: State, answer: tuple[int, ...]) -> State:
        """Returns the state with the superior side, or the sides with effective guns, this turn."""
        dice = dict(zip(state.sides, (answer[:2], answer[2:]), strict=True))
        key, last = ARMY_KEYS[self.is_artillery]
        bases = {side: int(getattr(state.armies[side], key) or 0) for side in state.sides}
        rolled = contest(bases, self._factors(state), dice)
        for side in state.sides:
            well = "passed" if self.is_artillery else "won" if side == rolled.winner else None
            result = well if rolled.succeeds[side] else "failed"
            state = state.with_army(side, **{key: rolled.factors_for_good[side], last: result})
        if self.is_artillery:
            passed = tuple(side for side, succeeds in rolled.succeeds.items() if succeeds)
            state, rule = replace(state, effective=passed), "H-6.3"
            whose = f"of the {' and '.join(map(side_name, passed))} are" if passed else "are not"
            text = f"Divisional and reserve guns {whose} effective"
        else:
            state, rule = replace(state, superiority=rolled.winner), "H-5.3"
            winner = rolled.winner
            who = "Nobody has" if winner is None else f"The {side_plural(winner)} have"
            text = f"{who} skirmisher superiority"
        sums = (
            f"{side_name(side)} {sum(dice[side])}, of at most {limited(most)}"
            + (f", by {limited(most) - sum(dice[side])}" if rolled.succeeds[side] else "")
            for side, most in rolled.modified.items()
        )
        text = f"{text}: {'; '.join(sums)}"
        return state.tells("army", text, rule, dice={side: [*pair] for side, pair in dice.items()})

    def _factors(self, state: State) -> dict[str, int]:
        foul = state.options.get("weather") == "foul"
        armies = {side: state.armies[side] for side in state.sides}
        if not self.is_artillery:
            return skirmish_factors(armies, is_foul_weather=foul)
        ground = state.options.get("ground")
        return effect_factors(armies, state.superiority, ground, is_foul_weather=foul)


class FactorDue(Due):
    """A side's skirmish or artillery factor, which army lists would give (H-15.7)."""

    answers = tuple(map(acts.GiveNumber, range(6, 11)))
    side: str
    is_artillery: bool = False

    def asked(self, state: State) -> PendingDecision:
        """Returns the question."""
        what = "Artillery" if self.is_artillery else "Skirmish"
        question = f"What is the {what} Factor of the {side_plural(self.side)}?"
        return PendingDecision(question, self.side, hint="Your army list gives it, from 6 to 10.")

    def follow(self, state: State, answer: acts.GiveNumber) -> State:
        """Returns the state with the factor."""
        key, _ = ARMY_KEYS[self.is_artillery]
        text = f"The players say: {key.replace('_', ' ')} of the {side_plural(self.side)} "
        state = state.tells("chart", f"{text}{answer.value}", "H-15.7", side=self.side)
        return state.with_army(self.side, **{key: answer.value})


class CombatResult(Due, is_family=True):
    """A unit's result that players look up in their own book; any of them enters it (H-15.2)."""

    hint = OWN_BOOK
    unit: str

    def asked(self, state: State) -> PendingDecision | None:
        """Returns the question, which belongs to no seat."""
        asked = super().asked(state)
        return asked and replace(asked, seat=None)


class CombatHits(CombatResult):
    """The hits that a unit took in its combat (H-15.2)."""

    answers = tuple(map(acts.GiveNumber, range(MOST_HITS + 1)))

    def asked(self, state: State) -> PendingDecision:
        """Returns the question, with what counts for the units in combat."""
        (units,) = (due.units for due in state.due if isinstance(due, LoserDue))
        question = f"Combat of {joined(units)}: how many hits on {self.unit}?"
        counts = (_support(state, name) for name in units if state.has(name))
        return PendingDecision(question, hint=" ".join([OWN_BOOK, *counts]))

    def follow(self, state: State, answer: acts.GiveNumber) -> State:
        """Returns the state without the bases that the hits remove (H-7.10, H-10.1)."""
        name, hits = self.unit, answer.value
        if not hits:
            return state
        text = f"{name} takes {counted(hits, 'hit')} in combat"
        officer = state.field.attached_to(name)
        state = acts.hit(state.tells("melee", text, "H-15.2", unit=name, hits=hits), name, hits)
        if officer in state.field.officers and officer is not None:
            state = state.pushed(SaveDice(officer, name, hits))
        return state


def _support(state: State, name: str) -> str:
    """Returns what counts for a unit in combat, as far as the book says (H-2.5, H-12.9)."""
    unit, troops = state.unit(name), state.troops(name)
    enemies = filter(state.has, unit.state.get("in_combat_with", ()))
    struck = {enemy: squaring_up(state.unit(enemy).bases, unit.bases) for enemy in enemies}
    words = [counted(troops.support_ranks, "support rank")]
    words += [
        f"{enemy} strikes its {at.face}{' flank' * (at.face in ('left', 'right'))}"
        for enemy, at in struck.items()
        if at is not None
    ]
    words += ["charging"] if troops.charging else []
    words += ["disordered"] if troops.disordered else []
    return f"{name}: {', '.join(words)}."


class SideDue(Due, is_family=True):
    """Which side has lost or won, or neither."""

    def legal(self, state: State) -> tuple[acts.GiveName, ...]:
        """Returns the sides, and nobody."""
        return (*map(acts.GiveName, state.sides), acts.GiveName(None))


class LoserDue(SideDue):
    """Which side lost a combat (H-15.2)."""

    units: tuple[str, ...]

    def asked(self, state: State) -> PendingDecision | None:
        """Returns the question, if both sides are still there."""
        left = {state.unit(name).side for name in self.units if state.has(name)}
        question = f"Combat of {joined(self.units)}: who lost?"
        return PendingDecision(question, hint=OWN_BOOK) if len(left) > 1 else None

    def follow(self, state: State, answer: acts.GiveName | None) -> State:
        """Returns the state in which the losers' fates are asked for."""
        if answer is None or answer.name is None:
            return state
        losers = [name for name in self.units if state.has(name)]
        losers = [name for name in losers if state.unit(name).side == answer.name]
        text = f"The {side_plural(answer.name)} lose the combat of {', '.join(self.units)}"
        return state.tells("melee", text, "H-15.2").pushed(*map(ForcedBack, losers))


class ForcedBack(CombatResult):
    """How far a unit that lost is forced back (H-9.13, H-15.2)."""

    question = "How far is {unit} forced back?"
    hint = f"{OWN_BOOK} Before any cover."
    number = "{} cm"
    answers = tuple(map(acts.GiveNumber, BACKS_CM))

    def follow(self, state: State, answer: acts.GiveNumber) -> State:
        """Returns the state in which the unit's order is asked for."""
        return state.pushed(LoserFate(self.unit, answer.value))


class LoserFate(CombatResult):
    """Whether a unit that lost holds, is disordered or routs (H-15.2)."""

    question = "{unit} goes {back_cm} cm back: does it hold its order?"
    answers = tuple(map(acts.GiveName, FATES))
    back_cm: int

    def follow(self, state: State, answer: acts.GiveName) -> State:
        """Returns the state after a fall back, shorter in cover, or a rout (H-9.6 to H-9.12)."""
        name = self.unit
        troops = replace(state.troops(name), charging=False, disordered=False)
        # Cover and the limit of a fall back apply in combat as in fire (H-9.6, H-9.7).
        follows = fire.outcome(troops, self.back_cm // BACK_STEP_CM, passes=False)
        routs = answer.name == "routs" or follows.rout_cm is not None
        if routs:
            rout_cm = follows.rout_cm or max(troops.rout_cm, follows.fall_back_cm)
            return acts.gone_back(state, name, rout_cm, routs=True)
        if answer.name == "disordered":
            state = disordered(state, name, "H-15.2")
        if follows.fall_back_cm:
            return acts.gone_back(state, name, follows.fall_back_cm, routs=False)
        return state


class RallyDue(Due):
    """The fate of a unit in disorder or rout in the Rally phase (H-15.4)."""

    answers = tuple(map(acts.GiveName, RALLIES))
    unit: str

    def asked(self, state: State) -> PendingDecision:
        """Returns the question."""
        unit = state.unit(self.unit)
        word = "routing" if unit.state.get("routing") else "disordered"
        question = f"{self.unit} is {word}: does it rally?"
        hint = "Look it up in your own book: tablecam's copy of the rules has no rally chapter."
        return PendingDecision(question, unit.side, hint=hint)

    def follow(self, state: State, answer: acts.GiveName) -> State:
        """Returns the state with the unit in order, unchanged, or gone."""
        if answer.name == "remains":
            return state
        if answer.name == "removed":
            return acts.removed(state, self.unit, "is removed", "H-15.4")
        state = state.changed(self.unit, disordered=None, routing=None)
        return state.tells("rally", f"{self.unit} reforms", "H-15.4", unit=self.unit)


class WinnerDue(SideDue):
    """Who has won, as the players see it: the book has no victory conditions (H-15.8)."""

    question = "Who has won?"

    def follow(self, state: State, answer: acts.GiveName) -> State:
        """Returns the state at the end."""
        winner = answer.name
        won = "Nobody has won" if winner is None else f"The {side_plural(winner)} have won"
        return replace(state, phase="over", due=()).tells("over", won, "H-15.8")
