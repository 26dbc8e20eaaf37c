"""How the page shows a battle: labels, markers, settings, and how it stands."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Final

from tablecam.rules import descriptions as about
from tablecam.rules.game import Offer
from tablecam.rules.miniatures import page as battle
from tablecam.rules.miniatures.battle import Done
from tablecam.rules.miniatures.battle_game import BattleGame
from tablecam.rules.miniatures.ground import axes_of
from tablecam.rules.miniatures.move_words import move_words
from tablecam.rules.miniatures.page import UnitSetting, of_unit
from tablecam.rules.miniatures.reckon import terms
from tablecam.rules.steps import Decide
from tablecam.rules.syw_d6 import charges, marches, volleys
from tablecam.rules.syw_d6 import state as acts
from tablecam.rules.syw_d6.fog_of_war import Pick
from tablecam.rules.syw_d6.morale import row_words
from tablecam.rules.syw_d6.state import State
from tablecam.table.model import Keys, inches
from tablecam.wording import proper_name

_DONE: Final = {"swap": "No more units reform", "move": "End the moves", "fire": "End firing"}


def _together(state: State, action: acts.ThrowTogether) -> Offer:
    units = marches.brigade_of(state, action.brigade)[0]
    return Offer("brigade", proper_name(action.brigade), units=units)


def _charge(state: State, action: acts.Charge) -> Offer:
    unit, target = state.unit(action.unit), state.unit(action.target)
    value_in = state.allowed[unit.id].value_in if unit.id in state.allowed else 0.0
    struck = charges.judged_charge(state, unit, target, action.bases, value_in)[1]
    face = "" if struck is None else f" {acts.face_word(struck.face)}"
    return Offer("charge", f"{unit.id} charges {target.id}{face}", units=(unit.id, target.id))


def _fire(state: State, action: acts.Fire) -> Offer:
    dice = _dice(volleys.FireDice(action.unit, action.target).pool(state).dice)
    units = (action.unit, action.target)
    return Offer("fire", f"{action.unit} at {action.target}: {dice}", units=units)


def _decision(state: State, action: Decide) -> Offer:
    """Returns the label of a yes or a no, which is to fire or to hold fire in response."""
    if state.due and isinstance(state.due[-1], charges.ResponseFire):
        return Offer("response", "Fire" if action.yes else "Hold fire")
    return Offer("answer", "Yes" if action.yes else "No")


def _answer(words: Callable[[Any], str]) -> Callable[[State, Any], Offer]:
    """Returns what labels an answer."""
    return lambda state, action: Offer("answer", words(action))


def _dice(count: int) -> str:
    return f"{count} {'die' if count == 1 else 'dice'}"


def _throw_words(state: State, action: acts.Throw) -> str:
    pool = marches.dice_of(state, action.unit)
    why = ", ".join(terms(dict(pool.parts)))
    return f"{_dice(pool.dice)} ({why})" if why else _dice(pool.dice)


def _take(state: State, action: acts.Take) -> Offer:
    """Returns the label of a final value, with the inches that must be used of it (S-B.6)."""
    step: Any = state.step
    group = "answer" if action.value_in == max(step.values_in) else "less"
    least_in = action.value_in * step.least_share(state)
    least = f" (at least {least_in:g} in of it)" if least_in else ""
    return Offer(group, f"{action.value_in:g} in{least}")


def _shares(action: acts.ShareLosses) -> str:
    return ", ".join(f"{name} {count}" for name, count in action.figures.items())


def _move_words(state: State, action: acts.Move) -> str:
    unit = state.unit(action.unit)
    fronts = axes_of(unit), axes_of(unit, action.bases)
    return move_words(*fronts, unit.bases, action.bases, inches(state.position.table))


class SheetPage(BattleGame[State]):
    """How the page shows a battle."""

    phase_words: ClassVar = {
        "fog": "Fog of War",
        "flights": "flights",
        "clear": "clearing disorder",
        "swap": "reforming",
        "move": "move",
        "fire": "fire",
        "melee": "melee",
        "moral": "moral",
    }
    action_groups: ClassVar = {
        "throw": about.ActionGroup("Throw dice to move"),
        "brigade": about.ActionGroup("Move a brigade as one"),
        "move": about.ActionGroup("Move", "By hand, within the inches of the dice."),
        "charge": about.ActionGroup("Charge"),
        "form": about.ActionGroup("Reform or change formation"),
        "fire": about.ActionGroup("Fire"),
        "answer": about.ActionGroup("Answer", is_main=True),
        "less": about.ActionGroup("To go less far"),
        "response": about.ActionGroup("Response fire", is_main=True),
        "roll": about.ActionGroup("Dice"),
        "done": about.ActionGroup("Go on", is_main=True, is_end=True),
    }
    moments: ClassVar = {**battle.MOMENTS, "melee": "attack", "throw": "detail"}
    unit_settings = (
        UnitSetting("figures", "Figures"),
        UnitSetting(
            "marker",
            "Marker",
            {"none": {}, "orange": {"disordered": True}, "red": {"reforming": True}},
            "pips",
        ),
        UnitSetting(
            "status",
            "Status",
            {"steady": {}, **{flight: {"status": flight} for flight in ("retreating", "routing")}},
            "word",
        ),
    )
    offers: ClassVar = {
        **battle.OFFERS,
        acts.Throw: of_unit("throw", _throw_words),
        acts.ThrowTogether: _together,
        acts.Take: _take,
        acts.Move: of_unit("move", _move_words),
        acts.MoveCommander: lambda state, action: Offer("move", f"{action.commander}: stay"),
        acts.StayPut: of_unit("move", "stay"),
        acts.Charge: _charge,
        acts.Fire: _fire,
        acts.Reform: of_unit("form", "reform"),
        acts.ChangeFormation: of_unit("form", "change formation"),
        acts.RetreatByChoice: of_unit("form", "retreat, losing 3 figures"),
        acts.FormUp: of_unit("form", "stay as it lies"),
        acts.Respond: _answer(lambda action: str(action.way).capitalize()),
        Decide: _decision,
        acts.GiveRow: _answer(row_words),
        acts.ShareLosses: _answer(_shares),
        Pick: _answer(lambda action: proper_name(str(action.name))),
        Done: lambda state, action: Offer("done", _DONE.get(state.phase, "Go on")),
    }

    def begin_form(self, sides: Sequence[str]) -> tuple[about.BeginField, ...]:
        """Returns what players choose before a battle, and what they are asked later (S-N.1)."""
        asked = (about.BeginChoice("asked once each, unless the charts file gives them"),)
        lost = about.BeginField("charts", "Numbers of the TEST that the text lacks", asked)
        return (*super().begin_form(sides), lost)

    def markers(self, unit_state: Keys) -> tuple[about.Marker, ...]:
        """Returns the markers as players know them: orange, red, flight, and figures left."""
        signs = []
        if unit_state.get("reforming"):
            signs.append(about.Marker("word", "reforming", 1, "bad"))
        elif unit_state.get("disordered") and not unit_state.get("status"):
            signs.append(about.Marker("word", "disordered", 1, "warn"))
        if status := unit_state.get("status"):
            signs.append(about.Marker("word", str(status), 1, "bad"))
        if unit_state.get("fired"):
            signs.append(about.Marker("cloud", "has fired"))
        if (figures := unit_state.get("figures")) is not None:
            signs.append(about.Marker("word", f"{figures} fig."))
        return tuple(signs)
