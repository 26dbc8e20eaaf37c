"""The dice of fire: to hit as each unit fires, to disrupt when all have (M-7.8, M-7.20 ff.)."""

from __future__ import annotations

from dataclasses import replace

from tablecam.rules.dice import Roll, values_of
from tablecam.rules.game import Event, PendingDecision
from tablecam.rules.maurice.fire.volley import RolledShot, disrupt_number, roll_shots, target_result
from tablecam.rules.maurice.game.fire.fire_steps import shots_of, to_disrupt
from tablecam.rules.maurice.game.state.actions import Action
from tablecam.rules.maurice.game.state.losses import without_broken
from tablecam.rules.maurice.game.state.state import State
from tablecam.rules.maurice.game.state.step_rules import RollRules, StateAndEvents
from tablecam.rules.maurice.game.state.steps import Firing, Over, RollingToDisrupt, RollingToHit
from tablecam.rules.maurice.game.state.table import field_at
from tablecam.table.sides import side_name
from tablecam.wording import joined


class RollingToHitRules(RollRules):
    """Rules of `RollingToHit`: a die per musket base, two for canister (M-7.20)."""

    def asked(self, state: State, step: RollingToHit) -> PendingDecision:
        """Asks the firing side to roll."""
        return _rolling(step.firing, self.roll(state, step))

    def roll(self, state: State, step: RollingToHit) -> Roll:
        """Returns a roll with the dice of all shots."""
        shots = shots_of(state, step)
        return Roll(f"{shots[0].unit} to hit", sum(shot.dice for shot in shots))

    def apply(self, state: State, step: RollingToHit, action: Action) -> StateAndEvents:
        """Counts the hits; then another unit may fire."""
        dice = values_of(action, self.roll(state, step), rule="M-7.23")
        fired_shots = roll_shots(shots_of(state, step), dice)
        hits = tuple(
            aim
            for aim, fired_shot in zip(step.aims, fired_shots, strict=True)
            for _ in range(fired_shot.hits)
        )
        firing = replace(step.firing, hits=(*step.firing.hits, *hits))
        return state.to(firing), tuple(_shot_event(fired_shot) for fired_shot in fired_shots)


class RollingToDisruptRules(RollRules):
    """Rules of `RollingToDisrupt`: a die for each hit on a target (M-7.25)."""

    def asked(self, state: State, step: RollingToDisrupt) -> PendingDecision:
        """Asks the firing side to roll."""
        return _rolling(step.firing, self.roll(state, step))

    def roll(self, state: State, step: RollingToDisrupt) -> Roll:
        """Returns a roll of a die for each hit on the target."""
        hits = sum(aim.target == step.target for aim in step.firing.hits)
        return Roll(f"hits on {step.target} to disrupt", hits)

    def apply(self, state: State, step: RollingToDisrupt, action: Action) -> StateAndEvents:
        """Places disruptions at once; units that break leave the table (M-7.25, M-1.14)."""
        dice = values_of(action, self.roll(state, step), rule="M-7.25")
        target = field_at(state).by_id[step.target]
        number = disrupt_number(step.firing.kind, target.unit.arm)
        struck = target_result(target.id, dice, number, target.disruption, len(target.bases))
        level = target.disruption + struck.disruption
        state = state.with_marker(target.unit, disruption=level)
        facts = {"unit": target.id, "disruption": struck.disruption, "level": level}
        outcome = f"{struck.disruption} of {len(dice)} hits disrupt it ({number}+ needed)"
        event = Event("disrupted", f"{target.id}: {outcome}", "M-7.25", facts)
        state, lost = without_broken(state, (target.id,) * struck.is_broken)
        # A unit that broke may have cost the army its last morale (M-2.5).
        if not isinstance(state.step, Over):
            # The target's hits are used up; those on other targets are rolled next.
            left = tuple(aim for aim in step.firing.hits if aim.target != target.id)
            state = to_disrupt(state, replace(step.firing, hits=left))
        return state, (event, *lost)


def _rolling(firing: Firing, roll: Roll) -> PendingDecision:
    return PendingDecision(f"{side_name(firing.side)} rolls {roll}")


def _shot_event(fired: RolledShot) -> Event:
    shot, dice = fired.shot, joined(str(die) for die in fired.rolled)
    outcome = {0: "misses", 1: "hits"}.get(fired.hits, f"scores {fired.hits} hits on")
    text = f"base {shot.base} of {shot.unit} rolls {dice}, needs {shot.to_hit}: {outcome}"
    facts = {**shot.to_json(), "rolled": list(fired.rolled), "hits": fired.hits}
    return Event("shot", f"{text} {shot.target}", "M-7.23", facts)
