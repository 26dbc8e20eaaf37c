"""TESTs and moral in the game: who takes them, their dice, and what becomes of units."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import compress
from typing import Annotated, Final, Literal

from pydantic import Field as Limits

from tablecam.rules.dice import Roll
from tablecam.rules.game import DiceGroup, Event, PendingDecision, Sum
from tablecam.rules.miniatures.reckon import spans, terms
from tablecam.rules.miniatures.unit_keys import Count
from tablecam.rules.syw_d6 import state as acts
from tablecam.rules.syw_d6 import tables
from tablecam.rules.syw_d6.field import commands
from tablecam.rules.syw_d6.state import CalamityKind, Due, State
from tablecam.rules.syw_d6.troops import Troops
from tablecam.table.sections import Name
from tablecam.wording import joined

SKILLS: Final[tuple[tables.Experience, ...]] = ("green", "trained", "veteran")
TestKind = Literal["casualty", "melee", "moral"]
Fate = Literal["none", "retreat", "rout"]
Chart = Mapping[str, int | None]
_NO_CHART: Final[Chart] = {}
Inches = Annotated[float, Limits(ge=0, le=1000)]


test_terms = partial(terms, words=tables.TEST_ROWS)
"""Returns the factors of a TEST that count, in words."""


@dataclass(frozen=True, kw_only=True)
class ByBrigade:
    """Friends of the same brigade, and of others."""

    same: Count = 0
    other: Count = 0


_NOBODY: Final = ByBrigade()


@dataclass(frozen=True, kw_only=True)
class Company:
    """What a TEST counts besides the unit itself (S-H.4)."""

    command_within: bool = False
    friends_in_sight: Count = 0
    destroyed_friends: ByBrigade = _NOBODY
    routed_friends: ByBrigade = _NOBODY
    retreating_friends: Count = 0
    charging: bool = False


ALONE: Final = Company()


@dataclass(frozen=True, slots=True)
class MoraleTest:
    """A TEST: its named factors, their sum, and what becomes of the unit (S-H.3, S-N.3).

    A factor is None while its chart row is missing; then so are the sum and the result.
    """

    parts: Mapping[str, int | None]
    total: int | None
    is_rout: bool | None
    result: Fate | None
    asks_for: tuple[str, ...]

    @property
    def of_loser(self) -> Fate | None:
        """What becomes of the loser of a melee, who retreats at least (S-F.4)."""
        return "retreat" if self.result == "none" else self.result


def losses_factor(troops: Troops) -> int:
    """Returns what the losses of the whole battle count (S-H.4, S-H.5)."""
    start = troops.figures_start
    factors = (
        factor
        for percent, factor in tables.LOSSES
        if troops.lost >= tables.share_of(start, percent)
    )
    return next(factors, 0)


def take_test(
    troops: Troops, kind: TestKind, company: Company, die: int | None, chart: Chart = _NO_CHART
) -> MoraleTest:
    """Returns the TEST of a unit (S-H); without a die its modifier is left out.

    `chart` holds the rows that the sheet has lost, as its owner has filled them in (S-N.2).
    """
    flees = troops.status if kind == "moral" else "steady"
    in_order, skill = not troops.is_disordered, troops.skill.test
    lost_rows = {
        "casualties_artillery": "artillery" in troops.casualties_from,
        "casualties_flank_rear": "flank_rear" in troops.casualties_from,
        "contacted_flank_rear": troops.contacted_on in ("flank", "rear"),
        "green": skill == "green",
        "trained": skill == "trained",
    }
    parts: dict[str, int | None] = {
        "losses": losses_factor(troops),
        "disordered": 0 if in_order else chart.get("disordered", tables.DISORDERED),
        **{row: chart.get(row) if counts else 0 for row, counts in lost_rows.items()},
        "retreats": tables.FRIENDS["retreats"][0] if flees == "retreating" else 0,
        "retreating_friends": tables.FRIENDS["retreats"][0] * company.retreating_friends,
        "routs": tables.FRIENDS["routs"][0] if flees == "routing" else 0,
        "routed_friends": _of_friends("routs", company.routed_friends),
        "destroyed_friends": _of_friends("destroyed", company.destroyed_friends),
        "charging": int(company.charging and in_order),
        "friends_in_sight": int(company.friends_in_sight > 0),
        "command": int(company.command_within and in_order),
    }
    if die is not None:
        parts["modifier_die"] = tables.MODIFIER[skill].get(die, 0)
    missing = tuple(row for row, counts in lost_rows.items() if counts and row not in chart)
    known = [part for part in parts.values() if part is not None]
    if len(known) < len(parts):
        return MoraleTest(parts, None, None, None, missing)
    total, retreat_at = sum(known), chart.get("retreat_at")
    retreats = retreat_at is not None and total <= retreat_at
    result: Fate = "rout" if total <= tables.ROUT_AT else "retreat" if retreats else "none"
    return MoraleTest(parts, total, result == "rout", result, missing)


def _of_friends(kind: CalamityKind, friends: ByBrigade) -> int:
    same, other = tables.FRIENDS[kind]
    return same * friends.same + other * friends.other


@dataclass(frozen=True, kw_only=True)
class Friend:
    """A friend of a unit that fled or fell: how far off, and whether it has tested this turn."""

    distance_in: Inches
    brigade: Name | None = None
    tested_this_turn: bool = False


def moral_order(friends: Mapping[str, Friend]) -> list[str]:
    """Returns who takes the moral TEST, the nearest first (S-G.1 to S-G.3)."""
    called = {
        name: friend.distance_in
        for name, friend in friends.items()
        if friend.distance_in <= tables.COMMAND_IN and not friend.tested_this_turn
    }
    return sorted(called, key=lambda name: (called[name], name))


_WEIGHT: Final[Sequence[CalamityKind]] = ("evades", "retreats", "routs", "destroyed")


def company_of(state: State, name: str, *, is_charging: bool = False) -> Company:
    """Returns what a TEST of a unit counts besides itself (S-H.4, S-H.9)."""
    unit, ground = state.unit(name), state.field
    inspired = "inspired_command" in state.events and bool(unit.state.get("inspired"))
    # A unit has one status: it counts once, as the worst that befell it near by (S-H.4).
    by_weight = sorted(state.calamities, key=lambda one: _WEIGHT.index(one.kind))
    near = {one.unit: one for one in by_weight if name in dict(one.near_in)}.values()
    brigade = unit.extra.get("brigade")

    def count(kind: CalamityKind) -> ByBrigade:
        same = sum(one.brigade == brigade for one in near if one.kind == kind)
        return ByBrigade(same=same, other=sum(one.kind == kind for one in near) - same)

    return Company(
        command_within=ground.is_commanded(unit) or inspired,
        friends_in_sight=int(ground.has_friends_in_sight(unit)),
        destroyed_friends=count("destroyed"),
        routed_friends=count("routs"),
        retreating_friends=sum(one.kind in ("retreats", "evades") for one in near),
        charging=is_charging,
    )


class RowDue(Due):
    """A row that the sheet has lost, which the players state (S-N.3)."""

    row: str

    def asked(self, state: State) -> PendingDecision:
        """Returns the question."""
        is_score, row = self.row == "retreat_at", tables.TEST_ROWS[self.row]
        asked = "At which score does a TEST mean" if is_score else "What counts in a TEST for"
        question = f"{asked} “{row}”, by your printed sheet?"
        hint = "The text at hand has lost this number, which counts now. To be asked no more, "
        hint += f"give {self.row} under [test] in the charts file of the table."
        return PendingDecision(question, state.active, hint=hint)

    def legal(self, state: State) -> tuple[acts.GiveRow, ...]:
        """Returns the values that a row may have."""
        never = (None,) if self.row == "retreat_at" else ()
        return tuple(acts.GiveRow(self.row, value) for value in (*never, *range(-6, 7)))

    def follow(self, state: State, answer: acts.GiveRow) -> State:
        """Returns the state with the row, which holds for the rest of the game."""
        text = f"The players say: {row_words(answer)}"
        state = state.tells("chart", text, "S-N.3", row=self.row, value=answer.value)
        return replace(state, chart={**state.chart, self.row: answer.value})


def row_words(answer: acts.GiveRow) -> str:
    """Returns a row of the TEST with its value, in words."""
    value = f"{answer.value or 0:+d}".replace("+0", "0")
    if answer.row != "retreat_at":
        return f"{tables.TEST_ROWS[answer.row]} {value}"
    return "no retreat by a TEST" if answer.value is None else f"retreat at {value} or less"


class TestDie(Due):
    """The TEST of a unit (S-H)."""

    __test__ = False

    dice = "the TEST of {unit}"
    unit: str
    kind: TestKind
    enemy: str = ""
    """Whose fire or melee calls for it; a moral TEST has none (S-C.11)."""

    def needs(self, state: State) -> tuple[RowDue, ...]:
        """Returns the rows that it needs."""
        ((test, _),) = self._tests(state, 3)
        asks_retreat = self.kind != "melee" and "retreat_at" not in state.chart
        return tuple(map(RowDue, (*test.asks_for, "retreat_at") if asks_retreat else test.asks_for))

    def sums(self, state: State) -> tuple[Sum, ...]:
        """Returns what counts before the die."""
        ((test, _),) = self._tests(state, None)
        return (and_a_die(self.unit, test.parts, state.field.troops[self.unit].skill.test),)

    def roll(self, state: State) -> Roll | None:
        """Returns the die, none if its number changes nothing."""
        fates = {fate for _, fate in self._tests(state, *range(1, 7))}
        return super().roll(state) if len(fates) > 1 else None

    def follow(self, state: State, answer: tuple[int, ...] | None) -> State:
        """Returns the state with what becomes of the unit."""
        ((test, fate),) = self._tests(state, answer[0] if answer else None)
        if self.kind != "melee":
            state = state.changed(self.unit, tested_this_turn=True)
        words = ", ".join(test_terms(test.parts)) or "no factor"
        any_die = "" if answer else ", whatever the die"
        text = f"{self.unit} takes a TEST: {words}; {_FATES[fate]} at {test.total}{any_die}"
        facts = {"unit": self.unit, "total": test.total, "parts": dict(test.parts), "fate": fate}
        state = state.tells("test", text, "S-H.1", **facts)
        if fate == _FATE_OF[state.field.troops[self.unit].status]:
            return state
        if fate == "rout":
            # It counts for the TESTs that follow, and calls those who have not tested (S-G.2).
            state = acts.with_calamity(state, self.unit, "routs")
        # It flees in its owner's next sequence (S-F.4).
        status = "routing" if fate == "rout" else "retreating"
        if self.enemy:
            state = state.changed(self.unit, flees_from=self.enemy)
        return state.changed(self.unit, status=status, disordered=True, reforming=False, fled=None)

    def dice_groups(self, state: State) -> tuple[DiceGroup, ...]:
        """Returns the die with what becomes of the unit on each number."""
        tests = enumerate(self._tests(state, *range(1, 7)), 1)
        fates = {die: f"{_FATES[fate]} at {test.total}" for die, (test, fate) in tests}
        return (DiceGroup(self.unit, None, (0,), spans(fates)),)

    def _tests(self, state: State, *dice: int | None) -> Iterator[tuple[MoraleTest, Fate]]:
        """Yields the TEST with each die, and what becomes of the unit."""
        troops, company = state.field.troops[self.unit], company_of(state, self.unit)
        known = _FATE_OF[troops.status]
        retreated = any((one.unit, one.kind) == (self.unit, "retreats") for one in state.calamities)
        if self.kind == "moral" and troops.status == "steady" and retreated:
            # What has retreated this turn is steady again, but tests for it (S-A.2, S-H.10).
            troops = replace(troops, status="retreating")
        for die in dice:
            test = take_test(troops, self.kind, company, die, state.chart)
            result = (test.of_loser if self.kind == "melee" else test.result) or "none"
            # No TEST ends a flight (S-A.2).
            yield test, max(result, known, key=list(_FATES).index)


_FATES: Final[Mapping[Fate, str]] = {
    "none": "it holds",
    "retreat": "it retreats",
    "rout": "it routs",
}
_FATE_OF: Final[Mapping[str, Fate]] = {"steady": "none", "retreating": "retreat", "routing": "rout"}


def and_a_die(who: str, parts: Mapping[str, int | None], skill: tables.Experience) -> Sum:
    """Returns what counts before a die is thrown, with what each number on it counts."""
    faces = joined(f"{count:+d} on a {face}" for face, count in tables.MODIFIER[skill].items())
    total = sum(part or 0 for part in parts.values())
    return Sum(f"{who} {total:+d} and a die", (*test_terms(parts), f"die {faces}"))


def too_far_to_command(state: State, names: Sequence[str]) -> tuple[str, ...]:
    """Returns in words which commander is nearest to units in order, beyond his reach (S-H.8)."""
    ground = state.field
    units = [state.unit(name) for name in names if not ground.troops[name].is_disordered]
    own = [
        (ground.leader_in(unit, leader), leader.name)
        for unit in units
        for leader in ground.position.commanders
        if commands(leader, unit)
    ]
    return tuple(
        f"no command: {name}, the nearest over it, is {far_in:.1f} in off"
        for far_in, name in sorted(own)[:1]
    )


def moral_due(state: State) -> State:
    """Returns the state with the next moral TEST due, if there is one (S-G.2).

    Friends of the destroyed come first, then of the routed and of the retreating, nearest first.
    """
    for kind in ("destroyed", "routs", "retreats"):
        near: dict[str, Friend] = {}
        for calamity in state.calamities:
            if calamity.has_called or calamity.kind != kind:
                continue
            own = () if kind == "destroyed" else ((calamity.unit, 0.0),)
            for name, apart_in in (*own, *calamity.near_in):
                unit, known = state.position.unit(name), near.get(name)
                if unit is not None and (known is None or apart_in < known.distance_in):
                    has_tested = bool(unit.state.get("tested_this_turn"))
                    near[name] = Friend(distance_in=apart_in, tested_this_turn=has_tested)
        if order := moral_order(near):
            return state.pushed(TestDie(order[0], "moral"))
    called = tuple(replace(calamity, has_called=True) for calamity in state.calamities)
    return replace(_summed_up(state), calamities=called)


def _summed_up(state: State) -> State:
    """Returns the state with a line before the TESTs that have run by together without a die."""
    is_test = ["fate" in event.facts for event in state.told]
    tests = [event.facts for event in compress(state.told, is_test)]
    if len(tests) < 3:
        return state
    units = {facts["unit"] for facts in tests}
    # A unit may take one in a melee and one for its friends (S-G.3).
    failed = dict.fromkeys(str(facts["unit"]) for facts in tests if facts["fate"] != "none")
    verb = "fails" if len(failed) == 1 else "fail"
    fate = f"{joined(failed)} {verb}" if failed else "all hold"
    count = "a TEST" if len(units) == len(tests) else f"{len(tests)} TESTs"
    text = f"{len(units)} units take {count}: {fate}"
    first, summary = is_test.index(True), Event("tests", text, "S-G.1")
    return replace(state, told=(*state.told[:first], summary, *state.told[first:]))
