"""How the page shows a battle: labels, markers, settings, and how it stands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Final

from tablecam.rules import descriptions as about
from tablecam.rules.game import Offer
from tablecam.rules.huzzah_ge import settlements
from tablecam.rules.huzzah_ge import state as acts
from tablecam.rules.huzzah_ge.deployment import layout_words
from tablecam.rules.huzzah_ge.state import State
from tablecam.rules.huzzah_ge.tables import GRADES
from tablecam.rules.huzzah_ge.troops import front_of
from tablecam.rules.miniatures import page as battle
from tablecam.rules.miniatures.battle import Done
from tablecam.rules.miniatures.battle_game import BattleGame
from tablecam.rules.miniatures.move_words import move_words
from tablecam.rules.miniatures.page import UnitSetting, of_unit
from tablecam.table.model import CENTIMETRES, Keys
from tablecam.table.sides import side_name
from tablecam.wording import counted

_DONE: Final = {"orders": "No more orders", "officers": "No more officers move"}


def _fire(state: State, action: acts.Fire) -> Offer:
    count, all_bases = len(action.bases), len(state.unit(action.unit).bases)
    bases = "" if count == all_bases else f" with {counted(count, 'base')}"
    label = f"{action.unit} at {action.target}{bases}"
    return Offer("fire", label, units=(action.unit, action.target))


def _address(state: State, action: acts.Address) -> Offer:
    """Returns the label of whom an officer turns to, under the officer's name."""
    is_unit = state.has(action.group)
    units = (action.group,) if is_unit else ()
    label = action.group if is_unit else f"all of {action.group}"
    return Offer(action.officer, label, units=units)


def _move_words(state: State, action: acts.Move) -> str:
    bases = state.unit(action.unit).bases
    return move_words(front_of(bases), front_of(action.bases), bases, action.bases, CENTIMETRES)


def _number(state: State, action: acts.GiveNumber) -> Offer:
    due = state.due[-1] if state.due else None
    unit = " cm" if isinstance(due, settlements.ForcedBack) else ""
    return Offer("answer", f"{action.value}{unit}")


def _name(state: State, action: acts.GiveName) -> Offer:
    name = "Nobody" if action.name is None else str(action.name)
    words = side_name(name) if name in state.sides else name
    return Offer("answer", words if state.has(name) else words[:1].upper() + words[1:])


def _done(state: State, action: Done) -> Offer:
    if state.due:
        return Offer("give", "No order")
    words = "This order is carried out" if state.under is not None else _DONE.get(state.phase)
    if state.phase == "fire":
        words = "Roll for all declared fire" if state.shots else "Nobody fires"
    return Offer("done", words or "Go on")


_ORDERS: Final = {
    "steady": {},
    "disordered": {"disordered": True},
    "routing": {"routing": True, "disordered": True},
}
_GRADES: Final[Mapping[str, Mapping[str, str]]] = {
    "unknown": {},
    **{grade: {"quality": grade} for grade in GRADES},
}


class EmpiresPage(BattleGame[State]):
    """How the page shows a battle."""

    phase_words: ClassVar = {
        "superiority": "skirmisher superiority",
        "effectiveness": "artillery effectiveness",
        "fire": "fire",
        "orders": "orders and movement",
        "chargers": "fire at chargers",
        "combat": "combat",
        "officers": "officers",
        "rally": "rally",
    }
    phases_shown = phase_words
    action_groups: ClassVar = {
        "fire": about.ActionGroup(
            "Declare fire", "Targets are declared before any dice are rolled."
        ),
        "give": about.ActionGroup("Order", is_main=True),
        "move": about.ActionGroup("Move", "By hand, as far as the order allows."),
        "charge": about.ActionGroup("Charge"),
        "form": about.ActionGroup("Deploy", "By hand, one base where it is."),
        "officer": about.ActionGroup("Officers", "By hand, up to 60 cm."),
        "answer": about.ActionGroup("Answer", is_main=True),
        "roll": about.ActionGroup("Dice"),
        "done": about.ActionGroup("Go on", is_main=True, is_end=True),
    }
    moments: ClassVar = {
        **battle.MOMENTS,
        "combat": "attack",
        "declare": "detail",
        "quality": "detail",
    }
    unit_settings = (
        UnitSetting("status", "Order", _ORDERS, "word"),
        UnitSetting("hits", "Hits", marker="pips"),
        UnitSetting("quality", "Quality", _GRADES),
    )
    offers: ClassVar = {
        **battle.OFFERS,
        acts.Fire: _fire,
        acts.Address: _address,
        acts.GiveOrder: lambda state, action: Offer("give", str(action.order).capitalize()),
        acts.Move: of_unit("move", _move_words),
        acts.Charge: lambda state, action: Offer(
            "charge", f"{action.unit} charges {action.target}", units=(action.unit, action.target)
        ),
        acts.Deploy: of_unit(
            "form", lambda state, action: layout_words(state, state.unit(action.unit), action.bases)
        ),
        acts.Skirmish: of_unit("form", lambda _, action: f"{action.count} into the skirmish line"),
        acts.PassLines: lambda state, action: Offer(
            "form",
            f"{action.unit}: pass lines with {action.other}",
            units=(action.unit, action.other),
        ),
        acts.MoveOfficer: lambda state, action: Offer(
            "officer", f"{action.officer}: {'stay' if action.to is None else f'to {action.to}'}"
        ),
        acts.GiveNumber: _number,
        acts.GiveName: _name,
        Done: _done,
    }

    def markers(self, unit_state: Keys) -> tuple[about.Marker, ...]:
        """Returns the markers as players know them: disorder, rout, hits, smoke, and quality."""
        signs = []
        if unit_state.get("routing"):
            signs.append(about.Marker("word", "routing", 1, "bad"))
        elif unit_state.get("disordered"):
            signs.append(about.Marker("word", "disordered", 1, "warn"))
        if hits := unit_state.get("hits"):
            signs.append(about.Marker("pips", counted(hits, "hit"), hits, "warn"))
        if unit_state.get("fired"):
            signs.append(about.Marker("cloud", "has fired"))
        if quality := unit_state.get("quality"):
            signs.append(about.Marker("word", str(quality)))
        return tuple(signs)

    def side_settings(self, state: State) -> tuple[about.Setting, ...]:
        """Returns the factors of the armies, which players may overrule."""
        skirmish = {side: state.armies[side].skirmish_factor or 0 for side in state.sides}
        artillery = {side: state.armies[side].artillery_factor or 0 for side in state.sides}
        return (
            about.Setting("skirmish_factor", "Skirmish Factor", "side", "number", skirmish),
            about.Setting("artillery_factor", "Artillery Factor", "side", "number", artillery),
        )
