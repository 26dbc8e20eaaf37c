"""Plain questions to single rules of the sheet, by what counts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Final, Literal

from pydantic import Field as Limits

from tablecam.documents import Document
from tablecam.rules.game import Ban
from tablecam.rules.questions import INCH_MM, Facts, Questions
from tablecam.rules.syw_d6 import fire, morale, movement
from tablecam.rules.syw_d6.table_questions import (
    LyingFacts,
    charge,
    flight,
    lying_shot,
    sight,
    terrain_move,
)
from tablecam.rules.syw_d6.tables import (
    COMMAND_IN,
    DESTROYED,
    DESTROYED_PERCENT,
    GAME,
    LOSSES,
    MUST_USE,
    SHARES,
    Event,
    fog_event,
    fog_lot,
    fog_rule,
    is_fog_consulted,
    pool_in_weather,
    share_of,
)
from tablecam.rules.syw_d6.troops import (
    Face,
    Marker,
    Troops,
    bases_needed,
    bent_line,
    formation_of,
)
from tablecam.rules.syw_d6.unit_keys import Count, Some, UnitFacts
from tablecam.table.sections import Name

Json = dict[str, Any]
Die = Annotated[int, Limits(ge=1, le=6)]
QUESTIONS: Final = Questions(GAME)
Inches = Annotated[float, Limits(ge=0, le=1000)]
Share = Annotated[float, Limits(ge=0, le=1)]
Step = tuple[Literal["march", "wheel"], Annotated[float, Limits(ge=-3600, le=3600)]]


@dataclass(frozen=True, kw_only=True)
class ByBrigade:
    """Friends of the same brigade, and of others."""

    same: Count = 0
    other: Count = 0


@dataclass(frozen=True, kw_only=True)
class WithFacts:
    """What a TEST counts besides the unit itself."""

    command_within: bool = False
    friends_in_sight: Count = 0
    destroyed_friends: ByBrigade = field(default_factory=ByBrigade)
    routed_friends: ByBrigade = field(default_factory=ByBrigade)
    retreating_friends: Count = 0
    charging: bool = False

    @property
    def company(self) -> morale.Company:
        """The same as the rules take it."""
        return morale.Company(
            self.command_within,
            self.friends_in_sight,
            (self.destroyed_friends.same, self.destroyed_friends.other),
            (self.routed_friends.same, self.routed_friends.other),
            self.retreating_friends,
            self.charging,
        )


_CHART_ROWS: Final = (
    "retreat_at", "casualties_artillery", "casualties_flank_rear", "contacted_flank_rear", "green",
    "trained", "disordered",
)  # fmt: skip


def _chart(facts: Facts, document: Document) -> Mapping[str, int | None]:
    """Returns the rows that the sheet has lost, as a chart file gives them (S-N.2)."""
    charts = facts.charts or {}
    if charts.get("game", GAME) != GAME:
        message = f'expected charts of "{GAME}", got "{charts["game"]}"'
        raise document.error(("charts", "game"), message)
    rows: Mapping[str, Any] = charts.get("test", {})
    for row, value in rows.items():
        if row not in _CHART_ROWS:
            raise document.error(("charts", "test", row), f"expected one of {_CHART_ROWS}")
        if row == "retreat_at" and value == "none":
            continue
        if not isinstance(value, int) or isinstance(value, bool) or not -6 <= value <= 6:
            raise document.error(("charts", "test", row), f"expected -6 to 6, got {value!r}")
    return {row: None if value == "none" else value for row, value in rows.items()}


def _check_count(document: Document, place: Sequence[str], dice: Sequence[int], due: int) -> None:
    if len(dice) != due:
        word = "die" if due == 1 else "dice"
        raise document.error(tuple(place), f"expected {due} {word}, got {len(dice)}")


def _test_json(test: morale.MoraleTest) -> Json:
    fate = test.fate
    rout = None if fate is None else fate == "rout"
    parts = dict(test.parts)
    return {
        "total": test.total,
        "parts": parts,
        "rout": rout,
        "result": fate,
        "asks_for": list(test.asks_for),
    }


@dataclass(frozen=True, kw_only=True)
class BasesFacts(Facts):
    """How many bases a unit needs for the figures that it has left."""

    unit: UnitFacts


@QUESTIONS.asks("S-0.7 S-L.4")
def _bases_needed(facts: BasesFacts, document: Document) -> Json:
    """How many bases a unit needs for the figures that it has left."""
    unit = facts.unit
    troops = unit.troops(document, "unit", needs=("figures",))
    return {"bases": bases_needed(troops, unit.files_per_base * unit.ranks_per_base)}


@dataclass(frozen=True, kw_only=True)
class ThresholdFacts(Facts):
    """From how many losses a strength counts 10, 25, 33, 50 and 75 %."""

    strength: Some


@QUESTIONS.asks("S-H.5")
def _thresholds(facts: ThresholdFacts, document: Document) -> Json:
    """From how many losses a strength counts 10, 25, 33, 50 and 75 %."""
    percents = sorted([percent for percent, _ in LOSSES] + [DESTROYED_PERCENT])
    losses = {str(percent): share_of(facts.strength, percent) for percent in percents}
    because = [f"{percent} % of {facts.strength} is {lost}, rounded up"
               for percent, lost in losses.items()]  # fmt: skip
    return {"losses": losses, "because": because, "readings": ["S-H.5"]}


@dataclass(frozen=True, kw_only=True)
class MoveDiceFacts(Facts):
    """The dice with which a unit or a commander moves, and what they allow."""

    unit: UnitFacts | None = None
    commander: bool = False
    command_distance_in: Inches | None = None
    events: list[Event] = field(default_factory=list)
    dice: list[Die] | None = None
    choose: list[Die] | None = None


@QUESTIONS.asks("S-B.3 S-B.4 S-B.6")
def _move_dice(facts: MoveDiceFacts, document: Document) -> Json:
    """The dice with which a unit or a commander moves, and what they allow."""
    if (facts.unit is not None) == facts.commander:
        raise document.error(("unit",), "expected a unit, or commander true")
    must_use: Literal["all", "half", "any"] = "any"
    pool = movement.COMMANDER_DICE
    if facts.unit is not None:
        troops = facts.unit.troops(document, "unit", needs=("experience",))
        rain = facts.options.get("rain_affects") == "fire_and_move"
        distance_in = facts.command_distance_in
        pool = movement.move_dice(troops, distance_in, facts.events, rain_slows=rain)
        must_use = MUST_USE[troops.skill.move]
    answer: Json = {
        "dice": pool.dice,
        "choose_at_most": pool.choose_at_most,
        "added_in": pool.added_in,
        "must_use": must_use,
    }
    if facts.dice is None:
        return answer
    _check_count(document, ("dice",), facts.dice, pool.dice)
    values_in = pool.values_in(facts.dice)
    answer |= {"values_in": values_in, "greatest_in": values_in[-1] if values_in else 0.0}
    used_in = answer["greatest_in"]
    if facts.choose is not None:
        left = list(facts.dice)
        for die in facts.choose:
            if die not in left:
                raise document.error(("choose",), f"expected some of {facts.dice}, got {die}")
            left.remove(die)
        if not 1 <= len(facts.choose) <= pool.choose_at_most:
            most = f"expected 1 to {pool.choose_at_most} dice, got {len(facts.choose)}"
            raise document.error(("choose",), most)
        used_in = answer["final_value_in"] = pool.value_in(facts.choose)
    return answer | {"least_use_in": used_in * SHARES[must_use]}


@dataclass(frozen=True, kw_only=True)
class BrigadeFacts(Facts):
    """The dice of a brigade that moves as one."""

    units: Annotated[list[UnitFacts], Limits(min_length=1)]
    command_distances_in: list[Inches | None]


@QUESTIONS.asks("S-B.7")
def _brigade_move(facts: BrigadeFacts, document: Document) -> Json:
    """The dice of a brigade that moves as one."""
    if len(facts.command_distances_in) != len(facts.units):
        message = f"expected {len(facts.units)} distances, got {len(facts.command_distances_in)}"
        raise document.error(("command_distances_in",), message)
    brigade = [
        unit.troops(document, "units", place, needs=("experience",))
        for place, unit in enumerate(facts.units)
    ]
    pool = movement.brigade_dice(brigade, facts.command_distances_in)
    if pool is None:
        why = "a brigade with a disordered unit cannot move as one"
        return {"possible": False, "why_not": {"rule": "S-B.7", "because": why}}
    return {
        "possible": True,
        "dice": pool.dice,
        "choose_at_most": pool.choose_at_most,
        "added_in": pool.added_in,
    }


@dataclass(frozen=True, kw_only=True)
class PathFacts(Facts):
    """What a way of marches (in) and wheels (degrees) costs."""

    frontage_in: Inches
    steps: list[Step]
    final_value_in: Inches


@QUESTIONS.asks("S-B.8")
def _path(facts: PathFacts, document: Document) -> Json:
    """What a way of marches (in) and wheels (degrees) costs."""
    cost_in = movement.path_cost_in(facts.frontage_in, facts.steps)
    if cost_in <= facts.final_value_in + 1e-9:
        return {"cost_in": cost_in, "legal": True}
    why = f"the way costs {cost_in:.2f} in, and the final value is {facts.final_value_in:g} in"
    return {"cost_in": cost_in, "legal": False, "why_not": {"rule": "S-B.8", "because": why}}


@dataclass(frozen=True, kw_only=True)
class ChargePathFacts(Facts):
    """Whether a way of marches and wheels, by the inches of their arc, is a charge."""

    final_value_in: Inches
    steps: Annotated[list[Step], Limits(min_length=1)]
    off_square_deg: Annotated[float, Limits(ge=-180, le=180)] = 0.0
    obstructed: bool = False


@QUESTIONS.asks("S-B.11 S-B.12")
def _charge_path(facts: ChargePathFacts, document: Document) -> Json:
    """Whether a way of marches and wheels, by the inches of their arc, is a charge."""
    path = movement.charge_path(
        facts.steps, facts.final_value_in, facts.off_square_deg, is_obstructed=facts.obstructed
    )
    answer: Json = {"legal": not path.rule, "charge_distance_in": path.charge_distance_in}
    if path.rule:
        answer["why_not"] = {"rule": path.rule, "because": path.because}
    return answer


@dataclass(frozen=True, kw_only=True)
class ResponseFacts(Facts):
    """Fire in the enemy's sequence, at one who crosses the front or makes contact."""

    firer: UnitFacts
    event: fire.Occasion
    nearest_range_in: Inches = 0.0
    share_ahead: Share = 1.0


@QUESTIONS.asks("S-C.1 S-C.2 S-C.3 S-C.4")
def _response_fire(facts: ResponseFacts, document: Document) -> Json:
    """Fire in the enemy's sequence, at one who crosses the front or makes contact."""
    firer = facts.firer.troops(document, "firer", needs=("experience",))
    ban = fire.ban_on_response(firer, facts.event, facts.nearest_range_in)
    if ban is not None:
        head = {"may_fire": False, "why_not": ban, "dice": None}
        return head | {"marker_after": firer.marker}
    if facts.event == "contacted_front":
        # A section of a line would count apart; the whole unit is struck on its front.
        section = fire.Section(fire.figures_firing(firer), facts.share_ahead)
        enemy = Troops(skill=firer.skill, figures_start=0, figures=0)
        pool = fire.fire_pool(firer, enemy, fire.Shot((section,), 0.0))
    else:
        pool = fire.passing_pool(firer, facts.nearest_range_in)
    marker: Marker = "orange" if firer.is_disordered else "none"
    answer: Json = {"may_fire": True, "dice": pool.dice, "marker_after": marker}
    return answer | {"parts": _pool_parts(pool)}


def _pool_parts(pool: fire.FirePool) -> Json:
    return {
        "figures": pool.figures,
        "fire_bonus": pool.fire_bonus,
        "dense": pool.dense,
        "canister": pool.canister,
        "weather": pool.weather,
    }


@dataclass(frozen=True, kw_only=True)
class FireThrow:
    """The dice of fire, and the target's die for the casualty TEST."""

    fire: list[Die]
    test: Die | None = None


@dataclass(frozen=True, kw_only=True)
class SectionFacts:
    """A section of a bent line."""

    figures: Count
    share_ahead: Share


@dataclass(frozen=True, kw_only=True)
class FireFacts(LyingFacts):
    """Fire as the bases lie, or by what counts: the share of the front ahead, and the range."""

    firer: UnitFacts
    target: UnitFacts
    range_in: Inches | None = None
    share_ahead: Share = 1.0
    ahead: bool = True
    in_cone: bool = True
    sections: list[SectionFacts] = field(default_factory=list)
    face: Face | None = None
    events: list[Event] = field(default_factory=list)
    dice: FireThrow | None = None
    with_: WithFacts = field(default_factory=WithFacts, metadata={"alias": "with"})


def _stated_shot(facts: FireFacts, document: Document, firer: Troops) -> fire.Shot:
    """Returns a shot by what counts."""
    if facts.range_in is None:
        raise document.error(("range_in",), "expected this key, or bases of both units")
    sections = [fire.Section(part.figures, part.share_ahead) for part in facts.sections]
    sections = sections or [fire.Section(fire.figures_firing(firer), facts.share_ahead)]
    return fire.Shot(tuple(sections), facts.range_in, facts.ahead, facts.in_cone)


def _as_counted(shot: fire.Shot) -> Json:
    """Returns how many files see the target ahead."""
    files = shot.files
    return {"files_ahead": round(shot.share_ahead * files), "files": files}


@QUESTIONS.asks("S-D.1 S-D.3 S-D.4 S-D.5 S-D.8")
def _fire(facts: FireFacts, document: Document) -> Json:
    """Fire as the bases lie, or by what counts: the share of the front ahead, and the range."""
    firer = facts.firer.troops(document, "firer", needs=("experience", "figures"))
    target = facts.target.troops(document, "target")
    if facts.firer.bases and facts.target.bases:
        ground, a, b, lies = lying_shot(facts, document, facts.firer, facts.target)
        firer, target = ground.troops[a.id], ground.target_of(a, b)
        if isinstance(lies, Ban):
            return {"may_fire": False, "why_not": lies, "dice": None}
        shot, counted = lies, _as_counted(lies)
    else:
        shot, counted = _stated_shot(facts, document, firer), {}
    ban = fire.ban_on_firing(firer) or fire.ban_on_shot(firer, target, shot)
    answer: Json = {
        "may_fire": ban is None,
        "range_in": shot.range_in,
        "range_band": fire.range_band(firer, shot.range_in),
        **counted,
    }
    if ban is not None:
        return answer | {"why_not": ban, "dice": None}
    pool = fire.fire_pool(firer, target, shot, facts.events)
    answer |= {
        "canister": pool.canister > 0,
        "dense": pool.dense > 0,
        "halvings": list(pool.halvings),
        "figures_counted": pool.figures_counted,
        "after_halving": pool.after_halving,
        "section_dice": list(pool.section_dice),
        "parts": _pool_parts(pool),
        "dice": pool.dice,
    }
    if firer.arm == "artillery":
        answer |= {"ahead": shot.is_ahead, "in_cone": shot.is_in_cone}
    answer["because"] = [
        f"{pool.figures_counted:g} figures count",
        *(f"halved: {halving.replace('_', ' ')}" for halving in pool.halvings),
        f"rounded down to {pool.figures}",
        *_terms({name: dice for name, dice in answer["parts"].items() if name != "figures"}),
    ]
    if facts.dice is None:
        return answer
    _check_count(document, ("dice", "fire"), facts.dice.fire, pool.dice)
    casualties = fire.hits(facts.dice.fire)
    struck = target.after_losses(casualties)
    is_called = fire.is_called_to_test(struck) and not struck.is_destroyed
    answer |= {
        "casualties": casualties,
        "target": {
            "figures": struck.figures,
            "disordered": struck.is_disordered,
            "destroyed": struck.is_destroyed,
        },
        "casualty_test": is_called,
    }
    if is_called and facts.dice.test is not None:
        chart = _chart(facts, document)
        test = morale.take_test(struck, "casualty", facts.with_.company, facts.dice.test, chart)
        answer |= {"test": _test_json(test), "asks_for": list(test.asks_for)}
    return answer


@dataclass(frozen=True, kw_only=True)
class EvadeFacts(Facts):
    """Whether an evader is caught by its charger."""

    evader: UnitFacts
    gap_in: Inches
    charger_final_value_in: Inches
    dice: list[Die]


@QUESTIONS.asks("S-C.7 S-C.8 S-F.1")
def _evade(facts: EvadeFacts, document: Document) -> Json:
    """Whether an evader is caught by its charger."""
    evader = facts.evader.troops(document, "evader")
    _check_count(document, ("dice",), facts.dice, evader.rate)
    flight = movement.evasion(facts.gap_in, facts.charger_final_value_in, facts.dice)
    between_in = flight.may_stop_between_in
    return {
        "allowed": True,
        "evade_in": flight.evade_in,
        "caught": flight.is_caught,
        "contacted_on": "rear" if flight.is_caught else None,
        "evader_disordered": True,
        "charge_distance_in": flight.charge_distance_in,
        "charger_may_stop_between_in": None if between_in is None else list(between_in),
        # A charger that fails to make contact is disordered (S-F.1).
        "charger_disordered": not flight.is_caught,
    }


@dataclass(frozen=True, kw_only=True)
class CounterChargeFacts(Facts):
    """A counter-charge, and whether it has the charge bonus."""

    unit: UnitFacts
    charge_distance_in: Inches
    dice: list[Die] | None = None


@QUESTIONS.asks("S-C.6 S-C.9")
def _counter_charge(facts: CounterChargeFacts, document: Document) -> Json:
    """A counter-charge, and whether it has the charge bonus."""
    unit = facts.unit.troops(document, "unit", needs=("experience",))
    if unit.arm != "cavalry" or unit.is_disordered:
        why = "only cavalry in order counter-charges"
        why_not = {"rule": "S-C.6", "because": why}
        return {"allowed": False, "why_not": why_not, "moves_in": None, "charge_bonus": None}
    if facts.dice is None:
        return {"allowed": True}
    _check_count(document, ("dice",), facts.dice, movement.counter_charge_dice(unit))
    moves_in = float(sum(facts.dice))
    has_bonus = moves_in >= facts.charge_distance_in
    return {"allowed": True, "moves_in": moves_in, "charge_bonus": has_bonus}


@dataclass(frozen=True, kw_only=True)
class TestFacts(Facts):
    """The TEST of a unit, factor by factor."""

    __test__ = False

    unit: UnitFacts
    kind: morale.TestKind = "casualty"
    die: Die | None = None
    with_: WithFacts = field(default_factory=WithFacts, metadata={"alias": "with"})


@QUESTIONS.asks("S-H.1 S-H.3 S-H.4 S-F.2")
def _test(facts: TestFacts, document: Document) -> Json:
    """The TEST of a unit, factor by factor."""
    unit = facts.unit.troops(document, "unit", needs=("experience", "figures"))
    chart = _chart(facts, document)
    test = morale.take_test(unit, facts.kind, facts.with_.company, facts.die, chart)
    return {**_test_json(test), "because": _terms(test.parts)}


@dataclass(frozen=True, kw_only=True)
class MeleeThrow:
    """A die for each side, and one for the loser's TEST."""

    attacker: Die
    defender: Die
    loser_test: Die | None = None


@dataclass(frozen=True, kw_only=True)
class BothSides:
    """What the TEST of each side counts."""

    attacker: WithFacts = field(default_factory=WithFacts)
    defender: WithFacts = field(default_factory=WithFacts)


@dataclass(frozen=True, kw_only=True)
class Totals:
    """The totals of a melee."""

    attacker: int
    defender: int


@dataclass(frozen=True, kw_only=True)
class Wishes:
    """Whether each side wishes to go on after a draw."""

    attacker: bool = False
    defender: bool = False


@dataclass(frozen=True, kw_only=True)
class MeleeFacts(Facts):
    """A round of melee between two units, from the totals to what they lead to."""

    attacker: UnitFacts
    defender: UnitFacts
    with_: BothSides = field(default_factory=BothSides, metadata={"alias": "with"})
    dice: MeleeThrow | None = None
    totals: Totals | None = None
    wishes: Wishes = field(default_factory=Wishes)


@QUESTIONS.asks("S-F.2 S-F.3 S-F.4 S-F.6 S-F.7")
def _melee(facts: MeleeFacts, document: Document) -> Json:
    """A round of melee between two units, from the totals to what they lead to."""
    needs = ("experience", "figures")
    attacker = facts.attacker.troops(document, "attacker", needs=needs)
    defender = facts.defender.troops(document, "defender", needs=needs)
    chart, answer = _chart(facts, document), Json()
    tests = {
        "attacker": morale.take_test(
            attacker,
            "melee",
            facts.with_.attacker.company,
            None if facts.dice is None else facts.dice.attacker,
            chart,
        ),
        "defender": morale.take_test(
            defender,
            "melee",
            facts.with_.defender.company,
            None if facts.dice is None else facts.dice.defender,
            chart,
        ),
    }
    totals: dict[str, int | None] = {name: test.total for name, test in tests.items()}
    if facts.totals is not None:
        totals = {"attacker": facts.totals.attacker, "defender": facts.totals.defender}
    else:
        answer["parts"] = {name: dict(test.parts) for name, test in tests.items()}
        answer["because"] = [
            f"{name}: {line}" for name, test in tests.items() for line in _terms(test.parts)
        ]
    answer["totals"] = totals
    asks = [row for test in tests.values() for row in test.asks_for]
    answer["asks_for"] = [] if facts.totals is not None else list(dict.fromkeys(asks))
    known = {name: total for name, total in totals.items() if total is not None}
    if len(known) < 2 or (facts.dice is None and facts.totals is None):
        return answer | {"loser": None, "result": None}
    loss = morale.melee_loss(known, attacker, defender)
    if loss is None:
        return answer | _drawn(facts, attacker, defender)
    fought = {"attacker": attacker, "defender": defender, loss.loser: loss.troops}
    answer |= {
        "loser": loss.loser,
        "figures_due": loss.figures_due,
        "figures": {name: troops.figures for name, troops in fought.items()},
        "destroyed": [loss.loser] if loss.troops.is_destroyed else [],
        "continues": False,
        "charge_bonus_continues": False,
        "disordered": [name for name, troops in fought.items() if not troops.is_destroyed],
    }
    return answer | _fate_of_loser(facts, loss, chart, answer["asks_for"])


def _drawn(facts: MeleeFacts, attacker: Troops, defender: Troops) -> Json:
    """Returns what follows from a draw: the melee goes on if anybody wishes (S-F.6)."""
    goes_on = facts.wishes.attacker or facts.wishes.defender
    return {
        "loser": None,
        "figures_due": 0,
        "figures": {"attacker": attacker.figures, "defender": defender.figures},
        "destroyed": [],
        "result": "draw",
        "moves_in": None,
        "continues": goes_on,
        "charge_bonus_continues": goes_on and facts.with_.attacker.charging,
        "disordered": [] if goes_on else ["attacker", "defender"],
        "moral_tests": _moral_tests(None),
    }


def _fate_of_loser(
    facts: MeleeFacts,
    loss: morale.MeleeLoss,
    chart: Mapping[str, int | None],
    asks_for: Sequence[str],
) -> Json:
    """Returns whether the loser retreats, routs or is destroyed (S-F.4)."""
    if loss.troops.is_destroyed:
        return {"result": "destroyed", "moves_in": None, "moral_tests": _moral_tests("destroyed")}
    if facts.dice is None or facts.dice.loser_test is None:
        return {}
    company: morale.Company = getattr(facts.with_, loss.loser).company
    test = morale.take_test(loss.troops, "melee", company, facts.dice.loser_test, chart)
    rows = list(dict.fromkeys([*asks_for, *test.asks_for]))
    answer: Json = {"loser_test": _test_json(test), "asks_for": rows, "result": None}
    if test.fate is None:
        return answer
    is_rout = test.fate == "rout"
    return answer | {
        "result": "rout" if is_rout else "retreat",
        "moves_in": "owner's-next-sequence",
        "moral_tests": _moral_tests("routs" if is_rout else "retreats"),
    }


def _moral_tests(event: morale.Calamity | None) -> Json:
    """Returns the moral TESTs that an event calls, and what it counts in them (S-G.1)."""
    if event is None:
        return {"called": False, "within_in": COMMAND_IN, "same_brigade": None,
                "other_brigade": None}  # fmt: skip
    return {
        "called": True,
        "within_in": COMMAND_IN,
        "same_brigade": morale.friend_factor(event, is_same_brigade=True),
        "other_brigade": morale.friend_factor(event, is_same_brigade=False),
    }


def _terms(parts: Mapping[str, int | None]) -> list[str]:
    """Returns a sentence for each factor that counts."""
    return [
        f"{name.replace('_', ' ')} {'is not on the sheet' if value is None else f'{value:+d}'}"
        for name, value in parts.items()
        if value != 0
    ]


@dataclass(frozen=True, kw_only=True)
class FormationFacts(Facts):
    """The formation in which a unit lies, or of a line with bends, forward positive."""

    unit: UnitFacts | None = None
    bends_deg: list[Annotated[float, Limits(ge=-180, le=180)]] | None = None


@QUESTIONS.asks("S-L.7 S-L.8 S-L.9 S-L.12 S-L.14")
def _formation(facts: FormationFacts, document: Document) -> Json:
    """The formation in which a unit lies, or of a line with bends, forward positive."""
    if (facts.unit is None) == (facts.bends_deg is None):
        raise document.error(("unit",), "expected a unit with bases, or bends_deg")
    if facts.unit is None:
        read = bent_line(facts.bends_deg or [], 1, 1)
        answer: Json = {}
    else:
        if not facts.unit.bases:
            raise document.error(("unit", "bases"), "expected bases, but the key is missing")
        read = formation_of(
            [base.to_pose() for base in facts.unit.bases],
            facts.unit.troops(document, "unit"),
            facts.unit.files_per_base,
            facts.unit.ranks_per_base,
            inch_mm=INCH_MM,
            is_regular=facts.unit.regular,
        )
        answer = {"ranks": read.ranks, "files": read.files}
    answer |= {"formation": read.formation, "correct": not read.rule}
    if read.rule:
        answer["why_not"] = {"rule": read.rule, "because": read.because}
    return answer


@dataclass(frozen=True, kw_only=True)
class ClearFacts(Facts):
    """The throw of a unit with a red marker."""

    unit: UnitFacts
    dice: Annotated[list[Die], Limits(min_length=1)] | None = None
    centre_before_mm: tuple[float, float] | None = None
    centre_after_mm: tuple[float, float] | None = None


@QUESTIONS.asks("S-A.3 S-A.4")
def _clear(facts: ClearFacts, document: Document) -> Json:
    """The throw of a unit with a red marker."""
    unit = facts.unit.troops(document, "unit", needs=("experience",))
    answer: Json = {}
    if facts.dice is not None:
        due = movement.clearing_dice(unit.skill.clear, facts.dice[0])
        _check_count(document, ("dice",), facts.dice, due)
        is_kind = facts.options.get("second_chance") == "not_one"
        thrown = movement.clearing(unit, facts.dice, is_kind=is_kind)
        answer |= {
            "cleared": thrown.is_cleared,
            "dice_used": thrown.dice_used,
            "marker": thrown.marker,
        }
    if facts.centre_before_mm is not None and facts.centre_after_mm is not None:
        moved_in = math.dist(facts.centre_before_mm, facts.centre_after_mm) / INCH_MM
        answer |= {"centre_legal": moved_in <= 2.0 + 1e-9, "centre_moved_in": moved_in}
    return answer


@dataclass(frozen=True, kw_only=True)
class FogFacts(Facts):
    """The Fog of War: the first die, the throw of the table, or an event and a pool of fire."""

    first_die: Die | None = None
    roll: Annotated[list[Die], Limits(min_length=2, max_length=2)] | None = None
    active: Name | None = None
    event: Event | None = None
    pool: Count | None = None


@QUESTIONS.asks("S-0.12")
def _fog(facts: FogFacts, document: Document) -> Json:
    """The Fog of War: the first die, the throw of the table, or an event and a pool of fire."""
    answer: Json = {}
    if facts.first_die is not None:
        answer["consulted"] = is_fog_consulted(facts.first_die)
    event, rule = facts.event, "" if facts.event is None else fog_rule(facts.event)
    if facts.roll is not None:
        if facts.active is None:
            raise document.error(("active",), "expected the active side, but the key is missing")
        event, rule = fog_event(facts.roll, facts.active)
    if event is not None:
        answer |= {"event": event, "rule": rule, "rules": [rule]}
    if facts.pool is not None:
        if event is None:
            raise document.error(("event",), "expected an event, but the key is missing")
        answer["pool"] = pool_in_weather(event, facts.pool)
    return answer


@dataclass(frozen=True, kw_only=True)
class FogLotFacts(Facts):
    """On which commander the lot falls."""

    commanders: Annotated[list[Name], Limits(min_length=1)]
    army: Name
    value: Some | None = None


@QUESTIONS.asks("S-M.2 S-M.3")
def _fog_lot(facts: FogLotFacts, document: Document) -> Json:
    """On which commander the lot falls."""
    if facts.army not in facts.commanders:
        raise document.error(("army",), f"expected one of {', '.join(facts.commanders)}")
    sides = 2 * (len(facts.commanders) - 1) + 1
    if facts.value is None:
        return {"sides": sides}
    if facts.value > sides:
        raise document.error(("value",), f"expected 1 to {sides}, got {facts.value}")
    return {"sides": sides, "falls": fog_lot(facts.commanders, facts.army, facts.value)}


@dataclass(frozen=True, kw_only=True)
class GapFacts(Facts):
    """Whether a gap between two friends is wide enough to fire through."""

    gap_in: Inches
    target_frontage_in: Inches


@QUESTIONS.asks("S-E.5")
def _gap(facts: GapFacts, document: Document) -> Json:
    """Whether a gap between two friends is wide enough to fire through."""
    may_fire, needed_in = fire.may_fire_through(facts.gap_in, facts.target_frontage_in)
    return {"may_fire": may_fire, "needed_in": needed_in}


@dataclass(frozen=True, kw_only=True)
class FriendFacts:
    """A friend: how far it is, of which brigade, and whether it has tested this turn."""

    distance_in: Inches
    brigade: Name | None = None
    tested_this_turn: bool = False


@dataclass(frozen=True, kw_only=True)
class FallenFacts:
    """A unit that fled or fell."""

    id: Name | None = None
    brigade: Name | None = None


@dataclass(frozen=True, kw_only=True)
class MoralFacts(Facts):
    """Who takes the moral TEST, in which order, and what the event counts for each."""

    event: morale.Calamity
    unit: FallenFacts
    friends: dict[str, FriendFacts]


@QUESTIONS.asks("S-G.1 S-G.2 S-G.3")
def _moral_order(facts: MoralFacts, document: Document) -> Json:
    """Who takes the moral TEST, in which order, and what the event counts for each."""
    friends = {
        name: morale.Friend(friend.distance_in, friend.brigade, friend.tested_this_turn)
        for name, friend in facts.friends.items()
    }
    order = morale.moral_order(friends)
    own = facts.unit.brigade
    factors = {
        name: morale.friend_factor(
            facts.event, is_same_brigade=own is not None and friends[name].brigade == own
        )
        for name in order
    }
    not_tested = [name for name in friends if name not in order]
    return {"order": order, "factors": factors, "not_tested": not_tested}


@dataclass(frozen=True, kw_only=True)
class CommanderFacts:
    """A commander and the brigades that he commands."""

    level: Literal["brigade", "division", "army"]
    commands: list[Name] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class ContactedFacts(Facts):
    """What the loss of a commander counts for his units."""

    commander: CommanderFacts
    friends: list[FriendFacts]


@QUESTIONS.asks("S-K.3 S-K.4")
def _commander_contacted(facts: ContactedFacts, document: Document) -> Json:
    """What the loss of a commander counts for his units."""
    factors = [
        DESTROYED[0]
        if friend.brigade in facts.commander.commands and friend.distance_in <= COMMAND_IN
        else None
        for friend in facts.friends
    ]
    return {"removed": True, "factors": factors}


@dataclass(frozen=True, kw_only=True)
class PairFacts(Facts):
    """Two friendly units that pass through each other."""

    a: UnitFacts
    b: UnitFacts


@QUESTIONS.asks("S-J.6")
def _interpenetration(facts: PairFacts, document: Document) -> Json:
    """Two friendly units that pass through each other."""
    return {"disordered": "light" not in (facts.a.weight, facts.b.weight)}


@dataclass(frozen=True, kw_only=True)
class RetreatThrow:
    """The die of the TEST, and the dice of the move."""

    test: Die
    move: list[Die]


@dataclass(frozen=True, kw_only=True)
class ManufacturedFacts(Facts):
    """A retreat that a unit takes of its own choice."""

    unit: UnitFacts
    dice: RetreatThrow
    with_: WithFacts = field(default_factory=WithFacts, metadata={"alias": "with"})


@QUESTIONS.asks("S-B.10")
def _manufactured_retreat(facts: ManufacturedFacts, document: Document) -> Json:
    """A retreat that a unit takes of its own choice."""
    unit = facts.unit.troops(document, "unit", needs=("experience", "figures"))
    _check_count(document, ("dice", "move"), facts.dice.move, unit.rate)
    chart = _chart(facts, document)
    left, test = morale.manufactured_retreat(unit, facts.with_.company, facts.dice.test, chart)
    fate = test.fate
    return {
        "figures": left.figures,
        "test": _test_json(test),
        "result": None if fate is None else "rout" if fate == "rout" else "retreat",
        "distance_in": float(sum(facts.dice.move)),
        "disordered": True,
        "asks_for": list(test.asks_for),
    }


QUESTIONS.asks("S-B.11 S-B.12 S-B.14 S-L.11")(charge)

QUESTIONS.asks("S-C.11 S-C.12 S-C.13")(flight)

QUESTIONS.asks("S-E.1 S-E.2 S-E.3 S-E.4")(sight)

QUESTIONS.asks("S-J.2 S-J.8 S-J.9")(terrain_move)
