"""Fire in the game: who fires at whom, the dice, saving throws and morale tests (H-7 to H-10)."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from typing import ClassVar, Final

import shapely

from tablecam.geometry.arrangement import arrangement
from tablecam.geometry.moves.poses import ahead
from tablecam.rules.dice import Roll
from tablecam.rules.game import Ban, DiceGroup, PendingDecision
from tablecam.rules.huzzah_ge import fire
from tablecam.rules.huzzah_ge import state as acts
from tablecam.rules.huzzah_ge.field import expected_of
from tablecam.rules.huzzah_ge.state import Due, FactorDice, State
from tablecam.rules.huzzah_ge.tables import (
    CM_MM,
    GRADES,
    Factor,
    Grade,
    is_huzzah,
    limited,
    succeeds,
    together,
)
from tablecam.rules.huzzah_ge.troops import Officer, grades_of, heading_of
from tablecam.rules.miniatures.battle import disordered, first_ban
from tablecam.rules.miniatures.faces import FaceName
from tablecam.rules.miniatures.ground import centre_mm, footprints
from tablecam.rules.steps import YES_OR_NO, Decide
from tablecam.table.headings import difference_deg
from tablecam.table.model import BasePose, Unit
from tablecam.wording import counted

ROLLED: Final = "the volley"
"""Entry of `tried` in a fire phase whose dice have been thrown."""


def firing_bases(state: State, unit: Unit, target: Unit) -> Sequence[int]:
    """Returns the indices of bases that may fire: the front line, or a square's facing side."""
    if state.troops(unit.id).formation == "square":
        (x, y), (to_x, to_y) = centre_mm(unit.bases), centre_mm(target.bases)
        toward_deg = math.degrees(math.atan2(to_y - y, to_x - x))
        return [
            place
            for place, base in enumerate(unit.bases)
            if abs(difference_deg(base.heading_deg, toward_deg)) < 90.0
        ]
    return sorted(arrangement(unit.bases).ranks[0])


def lies(state: State, shot: acts.Fire) -> fire.Shot | Ban:
    """Returns how a target lies from the firing bases, or why they may not (H-7.3 to H-7.6)."""
    unit, target = state.unit(shot.unit), state.unit(shot.target)
    places = firing_bases(state, unit, target)
    if not shot.bases or not set(shot.bases) <= set(places):
        return Ban("H-7.6", "only bases of the front line fire")
    spans = (tuple(places[start : start + len(shot.bases)]) for start in range(len(places)))
    if tuple(place for place in places if place in shot.bases) not in spans:
        return Ban("H-7.6", "the bases that fire must stand side by side")
    at = lies_now(state, shot, state.field.blockers(unit, target))
    if at is None:
        return Ban("H-7.4", f"{target.id} has no face toward it")
    if not at.is_in_arc and state.troops(unit.id).formation != "square":
        return Ban("H-7.5", f"{target.id} is not in its arc")
    if len(at.clear) < len(shot.bases):
        few = f"only {len(at.clear)} of its bases see" if at.clear else "none of its bases sees"
        return Ban("H-7.6", f"{few} {target.id} clearly")
    ban = fire.ban_on_firing(state.troops(unit.id), at.range_cm)
    return ban if ban is not None else at


def best_shots(state: State, unit: Unit, target: Unit) -> Iterator[tuple[acts.Fire, fire.Shot]]:
    """Yields the shots a unit may want: as many bases as possible, and as many at short range.

    A smaller group of bases may see the target clearly, or be nearer to it (H-7.6).
    """
    places = list(firing_bases(state, unit, target))
    troops, is_found, is_short = state.troops(unit.id), False, False
    # No part of a target is nearer than its outline.
    if state.field.apart_cm(unit, target) > troops.range_cm:
        return
    spans = sorted(combinations(range(len(places) + 1), 2), key=lambda span: span[0] - span[1])
    for start, end in spans:
        shot = acts.Fire(unit.id, target.id, tuple(places[start:end]))
        at = lies(state, shot)
        if isinstance(at, Ban):
            continue
        near = fire.is_short(troops, at.range_cm)
        if not is_found or (near and not is_short):
            yield shot, at
        is_found, is_short = True, is_short or near
        if is_short:
            return


def ban_on_declaring(state: State, name: str) -> Ban | None:
    """Returns why a unit may not declare fire now at any target (H-7.1, H-7.7)."""
    is_declared = any(shot.unit == name for shot in state.shots)
    too_late = "all targets are declared before anything is rolled"
    late = first_ban(
        (is_declared, "H-7.1", "it has declared its fire"),
        (ROLLED in state.tried, "H-7.7", too_late),
    )
    return late or fire.ban_on_firing(state.troops(name), 0.0)


def ban_on_shots(state: State, name: str) -> Ban | None:
    """Returns why a unit has no target: by its state, by range, or for the nearest enemy (H-7)."""
    unit, troops = state.unit(name), state.troops(name)
    enemies = state.field.nearest_enemies(unit)
    if any(shot.unit == name for shot in state.shots):
        return None
    if ban := ban_on_declaring(state, name):
        return ban
    if any(True for enemy in enemies for _ in best_shots(state, unit, enemy)):
        return None
    bases = tuple(firing_bases(state, unit, enemies[0]))
    lie = lies(state, acts.Fire(name, enemies[0].id, bases))
    is_near = state.field.apart_cm(unit, enemies[0]) <= troops.range_cm
    if is_near and isinstance(lie, Ban) and lie.rule != "H-7.3":
        return lie
    return Ban("H-7.3", f"no enemy is within {troops.range_cm:g} cm")


def declarations(state: State) -> Iterator[acts.Fire]:
    """Yields the fire that the active side may declare (H-7.1 to H-7.7)."""
    for unit in state.field.of_side(state.active):
        if ban_on_declaring(state, unit.id):
            continue
        ranges_cm = {
            shot: at.range_cm
            for enemy in state.field.enemies(unit)
            for shot, at in best_shots(state, unit, enemy)
        }
        yield from fire.choices(state.troops(unit.id), ranges_cm)


def judged(state: State, action: acts.Fire) -> fire.Shot | Ban:
    """Returns how the target of a shot lies, or why it may not be declared (H-7.1 to H-7.7)."""
    name = action.unit
    if ban := ban_on_declaring(state, name):
        return Ban(ban.rule, f"{name}: {ban.because}")
    at = lies(state, action)
    is_near = isinstance(at, Ban) or fire.is_short(state.troops(name), at.range_cm)
    if not is_near and action not in tuple(declarations(state)):
        return Ban("H-7.7", f"{name} has targets at short range")
    return at


def declared(state: State, action: acts.Fire, at: fire.Shot) -> State:
    """Returns the state with declared fire."""
    name, target = action.unit, action.target
    text = f"{name} will fire at {target} with {counted(len(action.bases), 'base')}"
    state = state.tells("declare", text, "H-7.7", unit=name, target=target, cm=at.range_cm)
    return replace(state, shots=(*state.shots, action))


def volley(state: State) -> State:
    """Returns the state with all declared shots due, and the tests after them (H-9.1)."""
    shots = [ShotDice(shot) for shot in state.shots]
    return replace(state, shots=(), tried=(ROLLED,)).pushed(*shots, TestsDue())


class ShotDice(FactorDice):
    """The dice of a shot; at a charger it is always at short range and at its front (H-8.2)."""

    dice = "{shot.unit} firing at {shot.target}"
    shot: acts.Fire
    is_at_charger: bool = False

    def names(self, state: State) -> tuple[str, ...]:
        """Returns the firer and its target."""
        return self.shot.unit, self.shot.target

    def factor(self, state: State) -> Factor:
        """Returns the factor of the shot by its terms (H-7.8, H-8.2)."""
        shot = self.shot
        return shot_factor(state, shot, None if self.is_at_charger else lies_now(state, shot))

    def follow(self, state: State, answer: tuple[int, ...]) -> State:
        """Returns the state with the hits; the tests follow when all have fired."""
        shot, factor = self.shot, self.factor(state)
        hits = fire.hits_of(factor.value, answer)
        words = "misses" if hits is None else counted(hits, "hit")
        text = f"{shot.unit} fires at {shot.target}: {words} ({factor})"
        facts = {"unit": shot.unit, "target": shot.target, "dice": list(answer), "hits": hits}
        state = state.changed(shot.unit, fired=True)
        result = f"missed by {shot.unit}" if hits is None else words
        state = state.tells("fire", text, "H-7.8", **facts, result=result)
        if hits is None:
            if not self.is_at_charger:
                return state
            # If its fire at a charger misses, the firer tests and may rout before contact (H-8.4).
            there = MoveOn(shot.target, shot.unit, state.unit(shot.unit).bases)
            return state.pushed(MoraleDice(shot.unit, is_forced=False), there)
        troops, before = state.troops(shot.target), state.struck_of(shot.target)
        lost = min(fire.removal(troops, hits).bases_removed, troops.base_count)
        struck = acts.Struck(before.hits + hits, before.bases_lost + lost, before.support_ranks)
        state = replace(state, struck={**state.struck, shot.target: struck})
        return acts.hit(state, shot.target, hits)


def shot_factor(
    state: State, shot: acts.Fire, at: fire.Shot | None, grade: Grade | None = None
) -> Factor:
    """Returns the factor of a shot at a target as it lies, for another grade if given.

    Without `at`, the target is a charger, in front and at short range (H-7.8, H-8.2).
    """
    firer, target = state.troops(shot.unit), state.troops(shot.target)
    firer = replace(firer, ranks=(len(shot.bases), *firer.ranks[1:]), grade=grade or firer.grade)
    face: FaceName = "front" if at is None else at.face
    range_cm, foul = at.range_cm if at else 0.0, state.options.get("weather") == "foul"
    return fire.fire_factor(firer, target, range_cm, face, is_foul_weather=foul)


def needed(state: State, shot: acts.Fire) -> str:
    """Returns the rolls that a shot needs, by the unit's possible grades (H-7.9, H-3.1)."""
    facts, at = state.field.facts[shot.unit], lies_now(state, shot)
    grades = [facts.quality] if facts.quality else grades_of(expected_of(facts), facts.abilities)
    values = {shot_factor(state, shot, at, grade).value for grade in grades}
    least, most = min(values), max(values)
    if least == most:
        return f"on {most} or less"
    return f"on {least} or less, up to {most} if {shot.unit} proves better"


def lies_now(
    state: State, shot: acts.Fire, blockers: tuple[shapely.Geometry, ...] = ()
) -> fire.Shot | None:
    """Returns how a target lies; its range is to the nearest point if players so agreed (H-7.4)."""
    unit, target = state.unit(shot.unit), state.unit(shot.target)
    firing = tuple(unit.bases[place] for place in shot.bases)
    at = fire.shot_at(firing, target.bases, blockers)
    if at is None or state.options.get("range_to") != "nearest_base":
        return at
    far_mm = shapely.distance(shapely.Point(centre_mm(firing)), state.field.outlines[target.id])
    return replace(at, range_cm=round(float(far_mm) / CM_MM, 6))


class TestsDue(Due):
    """After all fire: officers' saving throws, then tests of the units hit (H-9.1)."""

    __test__ = False

    def follow(self, state: State, answer: None) -> State:
        """Returns the state with the throws and tests due."""
        saves = (
            SaveDice(officer, name, struck.hits)
            for name, struck in state.struck.items()
            if struck.hits and (officer := state.field.attached_to(name)) is not None
        )
        charging = {rush.unit for rush in state.rushes}
        tests = (MoraleDice(name, is_forced=name not in charging) for name in state.struck)
        return state.pushed(*saves, *tests)


class SaveDice(Due):
    """Whether the officer with a unit that was hit survives (H-10.1)."""

    officer: str
    unit: str
    hits: int

    def roll(self, state: State) -> Roll | None:
        """Returns the dice, unless he is charmed or gone."""
        officer = state.field.officers.get(self.officer)
        if officer is None or officer.state.get("charmed"):
            return None
        most = limited(fire.escape_limit(self.hits))
        return Roll(f"{self.officer} to escape, on {most} or less", 2)

    def dice_groups(self, state: State) -> tuple[DiceGroup, ...]:
        """Returns both dice with what they may come to."""
        return together(self.officer, fire.escape_limit(self.hits))

    def follow(self, state: State, answer: tuple[int, ...] | None) -> State:
        """Returns the state with the officer alive or dead (H-10.2, H-10.4)."""
        name = self.officer
        if answer is None:
            is_there = name in state.field.officers
            return state.with_commander(name, charmed=None) if is_there else state
        if succeeds(fire.escape_limit(self.hits), answer):
            state = state.with_commander(name, charmed=is_huzzah(answer))
            return state.tells("officer", f"{name} lives", "H-10.1", officer=name)
        is_inspirational = state.field.officer_facts[name].inspirational
        killed = {**state.killed, self.unit: is_inspirational}
        state = replace(state.without_commander(name), killed=killed)
        return state.tells("loss", f"{name} is killed", "H-10.2", officer=name)


class UnitTest(FactorDice, is_family=True):
    """A test of a unit, and what follows from it (H-9.4 to H-9.8, H-13.5)."""

    test: ClassVar[str]
    rules: ClassVar[tuple[str, str]]
    """The rules of the test, and of the disorder that it causes."""
    unit: str

    @abstractmethod
    def outcome(self, state: State, *, passes: bool) -> fire.Outcome:
        """Returns what follows."""

    def follow(self, state: State, answer: tuple[int, ...]) -> State:
        """Returns the state after the test: gains, disorder, fall back or rout."""
        name, factor = self.unit, self.factor(state)
        passes = factor.succeeds(answer)
        follows = self.outcome(state, passes=passes)
        word = "stands" if passes else "fails"
        text = f"{name} {word} its {self.test} test: {factor.told(answer)}"
        facts = {"unit": name, "dice": list(answer), "factor": factor.value}
        state = state.tells("test", text, self.rules[0], **facts)
        struck = {unit: done for unit, done in state.struck.items() if unit != name}
        state = _gained(replace(state, struck=struck), name, answer)
        if passes:
            return state
        if follows.is_disordered:
            state = disordered(state, name, self.rules[1])
        back_cm, routs = follows.rout_cm or follows.fall_back_cm, follows.rout_cm is not None
        return acts.gone_back(state, name, back_cm, routs=routs) if routs or back_cm else state


def _gained(state: State, name: str, dice: tuple[int, ...]) -> State:
    """Returns the state with a unit's gain from a double one (H-9.4)."""
    troops = state.troops(name)
    gain = fire.gain_of(troops, dice)
    if gain is None:
        return state
    if gain in GRADES:
        return state.changed(name, quality=gain).tells("quality", f"{name} is now {gain}", "H-9.4")
    state = state.changed(name, abilities=(*sorted(troops.abilities), gain))
    return state.tells("quality", f"{name} is now {gain}", "H-9.4", unit=name)


class MoraleDice(UnitTest):
    """The morale test of a unit; one that is not `is_forced` is never forced back (H-9, H-8.3)."""

    dice = "the morale of {unit}"
    test = "morale"
    rules = ("H-9.2", "H-9.5")
    is_forced: bool = True

    def outcome(self, state: State, *, passes: bool) -> fire.Outcome:
        """Returns what follows (H-9.5 to H-9.8)."""
        troops = replace(state.troops(self.unit), charging=not self.is_forced)
        return fire.outcome(troops, state.struck_of(self.unit).bases_lost, passes=passes)

    def factor(self, state: State) -> Factor:
        """Returns the factor of the test (H-9.3)."""
        name, ground, unit = self.unit, state.field, state.unit(self.unit)
        routing = [one for one in ground.friends(unit) if one.state.get("routing")]
        officer = ground.officer_with(name)
        if name in state.killed:
            officer = Officer(killed=True, inspirational=state.killed[name])
        return fire.morale_factor(
            state.troops(name),
            unit.state.get("bases_lost_this_turn", 0),
            officer,
            routing_friend_cm=min((ground.apart_cm(unit, one) for one in routing), default=None),
            faces_renowned=any(
                "renowned" in ground.troops[enemy].abilities for enemy in ground.near_enemies(name)
            ),
            support_ranks=state.struck_of(self.unit).support_ranks,
        )


class WaverDice(UnitTest):
    """The waver test of a unit that has retired near an enemy (H-13.3)."""

    dice = "{unit} not to waver"
    test = "waver"
    rules = ("H-13.4", "H-13.5")

    def outcome(self, state: State, *, passes: bool) -> fire.Outcome:
        """Returns what follows (H-13.5)."""
        return fire.waver_outcome(state.troops(self.unit), passes=passes)

    def factor(self, state: State) -> Factor:
        """Returns the factor of the test (H-13.4)."""
        ground, unit, troops = state.field, state.unit(self.unit), state.troops(self.unit)
        has_routing = any(
            one.state.get("routing") and ground.apart_cm(unit, one) <= troops.allowance_cm
            for one in ground.friends(unit)
        )
        officer = ground.officer_with(self.unit)
        return fire.waver_factor(troops, officer, has_routing_friend=has_routing)


class TargetOfCharges(Due):
    """A charged unit fires at its charger, or at one of its choice (H-8.1)."""

    question = "At which charger does {unit} fire?"
    least_answers = 2
    unit: str

    def legal(self, state: State) -> tuple[acts.GiveName, ...]:
        """Returns the chargers."""
        return tuple(map(acts.GiveName, self._chargers(state)))

    def follow(self, state: State, answer: acts.GiveName | None) -> State:
        """Returns the state with the fire due, and the charger's test after it."""
        chargers = self._chargers(state)
        if not chargers or fire.ban_on_firing(state.troops(self.unit), 0.0):
            return state
        charger = chargers[0] if answer is None else str(answer.name)
        unit, target = state.unit(self.unit), state.unit(charger)
        places = tuple(firing_bases(state, unit, target))
        shot = ShotDice(acts.Fire(self.unit, charger, places), is_at_charger=True)
        return state.pushed(shot, TestsDue())

    def _chargers(self, state: State) -> tuple[str, ...]:
        rushes = (rush for rush in state.rushes if rush.target == self.unit)
        return tuple(rush.unit for rush in rushes if state.has(rush.unit))


class MoveOn(Due):
    """Whether a charger moves on to the ground of a unit that routed from it (H-8.4)."""

    question = "{routed} is gone: does {unit} take its ground?"
    answers = YES_OR_NO
    unit: str
    routed: str
    ground: tuple[BasePose, ...]

    def asked(self, state: State) -> PendingDecision | None:
        """Returns the question, if the other unit has routed."""
        is_gone = not state.has(self.routed) or state.unit(self.routed).state.get("routing")
        is_free = state.field.has_room(footprints(self._there(state)), self.unit)
        return super().asked(state) if is_gone and is_free else None

    def follow(self, state: State, answer: Decide | None) -> State:
        """Returns the state with the charger on that ground, or where it is."""
        if answer is None or not answer.yes:
            return state
        text = f"{self.unit} takes the ground of {self.routed}"
        state = state.tells("move", text, "H-8.4", unit=self.unit)
        return acts.placed(state, self.unit, self._there(state))

    def _there(self, state: State) -> tuple[BasePose, ...]:
        unit = state.unit(self.unit)
        rear = fire.Rear.of(self.ground)
        return ahead(unit.bases, heading_of(unit.bases), rear.deep_cm * CM_MM)
