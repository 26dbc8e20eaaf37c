"""Plain questions about single rules of Maurice Lite, from poses of units or bare facts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Final

from pydantic import Field as Limits

from tablecam.documents import Document, Json
from tablecam.errors import BadInput
from tablecam.rules.game import Ban
from tablecam.rules.maurice.book import BOOK, Handle
from tablecam.rules.maurice.combat.combat import meeting, scores_of
from tablecam.rules.maurice.combat.results import rally_number
from tablecam.rules.maurice.field.field import GAME, Field, field_of
from tablecam.rules.maurice.field.requests import (
    Card,
    Combat,
    Die,
    Kind,
    ShotAssignment,
    Volley,
    check_dice,
)
from tablecam.rules.maurice.fire.targets import why_never_fires
from tablecam.rules.maurice.resolve import resolve
from tablecam.rules.maurice.rulings.facts import Rulings
from tablecam.rules.maurice.rulings.interpretations import sentence
from tablecam.rules.maurice.rulings.rulings import lane_json
from tablecam.rules.questions import Decided, Facts, Questions, RuleAnswer, decided, doubts
from tablecam.rules.reports import Finding
from tablecam.table.model import Arm, FormationName, Position, TableSize, Unit
from tablecam.table.position_file import BaseSection, CommanderSection
from tablecam.table.sections import Name, Size, TerrainSection

Count = Annotated[int, Limits(ge=0, le=100)]

QUESTIONS: Final = Questions(GAME)
_TABLE_MM = (1800.0, 1200.0)


@dataclass(frozen=True, kw_only=True)
class UnitFacts:
    """A unit's pose; without an id or side it takes those of its part in the question."""

    arm: Arm
    bases: Annotated[list[BaseSection], Limits(min_length=1)]
    id: Name | None = None
    side: Name | None = None
    formation: FormationName | None = None
    disruption: Count = 0
    smoke: bool = False

    def unit(self, part: str, side: str) -> Unit:
        """Returns the unit of a position."""
        state = {"disruption": self.disruption, "smoke": self.smoke}
        bases = tuple(base.to_pose() for base in self.bases)
        return Unit(self.id or part, self.side or side, self.arm, bases, self.formation, state)


@dataclass(frozen=True, kw_only=True)
class OtherUnit(UnitFacts):
    """Another unit on the table, with its id and its side."""

    id: Name
    side: Name


@dataclass(frozen=True, kw_only=True)
class TableFacts(Facts):
    """The rest of the table; BW is the width of the first unit's first base, unless stated."""

    others: list[OtherUnit] = field(default_factory=list)
    commanders: list[CommanderSection] = field(default_factory=list)
    terrain: list[TerrainSection] = field(default_factory=list)
    base_width_mm: Size | None = None
    table_mm: Annotated[list[Size], Limits(min_length=2, max_length=2)] = field(
        default_factory=lambda: [*_TABLE_MM]
    )

    def position(self, *units: Unit) -> Position:
        """Returns the position with these units and the others."""
        width_mm, depth_mm = self.table_mm
        bw_mm = self.base_width_mm or units[0].bases[0].width_mm
        return Position(
            game=GAME,
            table=TableSize(width_mm, depth_mm, bw_mm, self.tolerance_mm),
            units=(*units, *(other.unit("", "") for other in self.others)),
            commanders=tuple(leader.to_commander() for leader in self.commanders),
            terrain=tuple(piece.to_terrain() for piece in self.terrain),
        )


@dataclass(frozen=True, kw_only=True)
class FireDice:
    """The dice to hit, and one to disrupt for each hit, in the order of rolling."""

    hit: list[Die]
    disrupt: list[Die] = field(default_factory=list)


class FireAnswer(RuleAnswer, total=False):
    """`bases` are the rulings on each base that has a target; the rest needs dice."""

    may_fire: Decided
    why_not: Ban
    bases: dict[str, Any]
    shots: list[Any]
    target: dict[str, Any]


class FlankAnswer(RuleAnswer, total=False):
    """`to_flank` is by position alone; the enemy flanks the unit if it also touches it."""

    to_flank: Decided
    touches: Decided
    flanks: Decided


class ChargeAnswer(RuleAnswer, total=False):
    """`lanes` are the moves: a wheel or none, then straight ahead."""

    legal: Decided
    why_not: Ban
    lanes: list[Any]


class CombatAnswer(RuleAnswer, total=False):
    """`values` before the dice; `units` are the results, `position` the position after them."""

    values: dict[str, int]
    units: dict[str, Any]
    position: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class RallyingUnit:
    """The facts of a unit that rallies."""

    arm: Arm
    disruption: Count


class RallyAnswer(RuleAnswer, total=False):
    """`dice` is how many are thrown."""

    basic: int
    modifiers: dict[str, int]
    needed: int
    dice: int
    shed: int
    disruption: int


# --- answers -----------------------------------------------------------------------------------


@QUESTIONS.asks("M-7.7 M-7.12 M-7.23 M-7.26")
def _fire(
    table: TableFacts,
    document: Document,
    firer: UnitFacts,
    target: UnitFacts,
    kind: Kind = "volley",
    card: Card = 0,
    dice: FireDice | None = None,
) -> FireAnswer:
    """Which bases of a unit may fire at another, the number needed, and with dice the results."""
    shooter, enemy = firer.unit("firer", "firing"), target.unit("target", "fired at")
    rulings = _rulings(table.position(shooter, enemy), shooter.side, document)
    bases = rulings.units[shooter.id].fire
    findings = _findings(rulings, f"fire/{shooter.id}/", shooter.id, enemy.id)
    answer: FireAnswer = {"bases": {name: fire.to_json() for name, fire in bases.items()}}
    if (never := why_never_fires(rulings.units[shooter.id].unit)) is not None:
        ban = Ban(never.rule, sentence(f"{shooter.id} {never.clause}"))
        known: RuleAnswer = {"rules": [ban.rule], "because": [ban.because]}
        return {**answer, **known, "may_fire": False, "why_not": ban}
    answer.update(_answer_of("may_fire", findings))
    if dice is None:
        return answer
    aims = tuple(
        ShotAssignment(shooter.id, name, enemy.id, ("firer",))
        for name, fire in bases.items()
        if any(option.target == enemy.id for option in fire.options)
    )
    if not aims:
        return answer
    hit, disrupt = tuple(dice.hit), tuple(dice.disrupt)
    volley = Volley(kind, shooter.side, aims, {shooter.id: card}, hit, disrupt, document)
    resolved = resolve(rulings.field, volley)
    # A target that no die hits has no entry.
    struck = resolved["units"].get(enemy.id, {"hits": 0, "disruption": 0, "broken": False})
    return {**answer, "shots": resolved["shots"], "target": struck}


@QUESTIONS.asks("M-1.12 M-1.13")
def _flank(table: TableFacts, document: Document, unit: UnitFacts, enemy: UnitFacts) -> FlankAnswer:
    """Whether an enemy is to a unit's flank, touches it, and so flanks it."""
    own, other = unit.unit("unit", "own"), enemy.unit("enemy", "enemy")
    rulings = _rulings(table.position(own, other), own.side, document)
    to_flank = _findings(rulings, f"flank/{own.id}/", own.id, other.id)
    touching = _findings(rulings, "contact/", own.id, other.id)
    answer: FlankAnswer = {"flanks": other.id in rulings.units[own.id].flanked_by}
    answer.update(_answer_of("to_flank", to_flank) | _answer_of("touches", touching))
    answer["because"] = [finding.text for finding in (*to_flank, *touching)]
    answer["rules"] = ["M-1.12", "M-1.10", "M-1.13"]
    return answer


@QUESTIONS.asks("M-8.3 M-8.4 M-8.5")
def _charge(
    table: TableFacts, document: Document, charger: UnitFacts, target: UnitFacts
) -> ChargeAnswer:
    """Whether a unit may charge an enemy, and by which moves."""
    own, enemy = charger.unit("charger", "charging"), target.unit("target", "charged")
    rulings = _rulings(table.position(own, enemy), own.side, document)
    charge = rulings.units[own.id].charge
    lanes = (lane for lane in charge.lanes if lane.target == enemy.id)
    answer: ChargeAnswer = {"lanes": [lane_json(rulings.field, charge, lane) for lane in lanes]}
    findings = _findings(rulings, f"charge/{own.id}/", own.id, enemy.id)
    answer.update(_answer_of("legal", findings))
    return answer


@QUESTIONS.asks("M-8.10 M-8.16 M-8.20")
def _combat(
    table: TableFacts,
    document: Document,
    units: Annotated[tuple[OtherUnit, ...], Limits(min_length=2)],
    active: Name,
    cards: dict[Name, Card] | None = None,
    dice: dict[Name, Die] | None = None,
    fall_back_order: tuple[Name, ...] = (),
) -> CombatAnswer:
    """What each engaged unit adds to its die, and with one die each, the combat's results."""
    field = _field(table.position(*(unit.unit("", "") for unit in units)), document)
    if dice is None:
        values = scores_of(field, meeting(field, active), cards or {})
        because = [f"{name}: {line}" for name, value in values.items() for line in value.because]
        return {"values": {name: of.value for name, of in values.items()}, "because": because}
    resolved = resolve(field, Combat(active, cards or {}, dice, fall_back_order, document))
    fought = resolved["units"]
    return {
        "values": {name: unit["value"] for name, unit in fought.items() if "value" in unit},
        "units": fought,
        "position": resolved["position"],
        "because": [f"{name}: {line}" for name, unit in fought.items() for line in unit["because"]],
        "readings": list(resolved["readings"]),
        "doubts": {str(index): doubt for index, doubt in enumerate(resolved["doubts"])},
    }


@QUESTIONS.asks("M-9.2 M-9.3")
def _rally(
    document: Document,
    unit: RallyingUnit,
    near_enemy: bool = False,
    bad_terrain: bool = False,
    card: Card = 0,
    dice: tuple[Die, ...] | None = None,
) -> RallyAnswer:
    """The number that each die needs to shed a disruption, and with dice, how many are shed."""
    rallying = rally_number(
        "the unit",
        unit.arm,
        unit.disruption,
        is_in_bad_terrain=bad_terrain,
        is_near=near_enemy,
        card=card,
    )
    answer: RallyAnswer = {
        "basic": rallying.basic,
        "modifiers": dict(rallying.modifiers),
        "needed": rallying.needed,
        "dice": rallying.dice,
        "because": list(map(str, rallying.because)),
    }
    if dice is None:
        return answer
    why = "one for each disruption (M-9.2)"
    shed = rallying.shed(check_dice(document, ("dice",), dice, rallying.dice, why))
    return {**answer, "shed": shed, "disruption": unit.disruption - shed}


def _field(position: Position, document: Document) -> Field:
    try:
        return field_of(position, document.source)
    except BadInput as error:
        raise document.error((), error.message) from None


def _rulings(position: Position, active: str, document: Document) -> Rulings:
    return Rulings(_field(position, document), active)


def _findings(rulings: Rulings, question: str, a_id: str, b_id: str) -> list[Finding]:
    """Returns the page's answers to a question about two units."""
    sections = BOOK.sections(Handle(rulings), a_id, b_id)
    lines = (line for section in sections if section.answers(question) for line in section.lines)
    return [line for line in lines if line.question and line.question.id.startswith(question)]


def _answer_of(key: str, findings: Sequence[Finding]) -> Any:
    """Returns an answer under `key`, with its reasons; it is yes if one of the findings is."""
    answers = [finding.answer for finding in findings if finding.answer is not None]
    # Yes beats too close, which beats no: each finding is about some of a unit's bases.
    answer = max(answers, key=lambda answer: (answer.answer != "no", answer.answer == "yes"))
    verdict = decided(answer)
    readings = [finding.reading.rule for finding in findings if finding.reading is not None]
    document: Json = {
        key: verdict,
        "rules": list(dict.fromkeys(finding.rule for finding in findings if finding.rule)),
        "because": [finding.text for finding in findings],
        "readings": list(dict.fromkeys(readings)),
    }
    if verdict is False:
        document["why_not"] = Ban(answer.rule, findings[0].text)
    if in_doubt := doubts(**{key: answer}):
        document["doubts"] = in_doubt
    return document
