"""How a page shows battles: labels of actions, what players may overrule, and moments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from tablecam.rules import descriptions as about
from tablecam.rules.dice import Roll
from tablecam.rules.game import Offer
from tablecam.rules.miniatures.battle import Battle, Charge, Move
from tablecam.rules.steps import Decide
from tablecam.table.model import Keys
from tablecam.wording import counted

Label = Callable[[Any, Any], Offer] | tuple[str, str | Callable[[Any, Any], str]]
"""How an action is offered: a function of state and action, or its heading and words. These may
name the action's fields in braces, and `move`, where its bases take the unit."""

OFFERS: Final[Mapping[type, Label]] = {
    Roll: lambda state, action: Offer("roll", str(action), dice=state.step.dice_groups(state)),
    Decide: ("answer", lambda state, action: "Yes" if action.yes else "No"),
    Move: ("move", "{unit}: {move}"),
    Charge: ("charge", "{unit} charges {target}"),
}
"""The labels of actions of every battle."""

GROUPS: Final[Mapping[str, about.ActionGroup]] = {
    "charge": about.ActionGroup("Charge"),
    "roll": about.ActionGroup("Dice"),
    "done": about.ActionGroup("Go on", is_main=True, is_end=True),
}
"""The headings of actions of every battle."""

MOMENTS: Final[Mapping[str, about.MomentKind]] = {
    "turn": "turn",
    "phase": "phase",
    "charge": "attack",
    "fire": "attack",
    "loss": "loss",
    "chart": "detail",
}
"""The kinds of events that the replay marks in every battle."""


@dataclass(frozen=True)
class UnitSetting:
    """What players may overrule for each unit: one of the choices, or without any, a number.

    Each choice sets its marks and removes those of the others; it is read by its first mark.
    """

    key: str
    title: str
    choices: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    marker: about.MarkerKind | None = None

    def value(self, marks: Keys) -> int | str:
        """Returns the value that a unit's marks show: the last choice that fits."""
        if not self.choices:
            return int(marks.get(self.key, 0))
        first = {choice: next(iter(own.items()), None) for choice, own in self.choices.items()}
        fits = (choice for choice, mark in first.items() if not mark or mark in marks.items())
        *_, shown = fits
        return shown

    def marks(self, value: Any) -> Mapping[str, Any]:
        """Returns the marks that a value sets."""
        if not self.choices:
            return {self.key: value}
        others = {mark: None for own in self.choices.values() for mark in own}
        return {**others, **self.choices[value]}

    def of(self, state: Battle) -> about.Setting:
        """Returns the setting with the values of a battle's units."""
        units = state.position.units
        values = {unit.id: self.value(unit.state) for unit in units if unit.bases}
        listed = tuple(about.SettingChoice(choice, choice) for choice in self.choices)
        kind: Literal["choice", "number"] = "choice" if listed else "number"
        return about.Setting(self.key, self.title, "unit", kind, values, listed, marker=self.marker)


@dataclass(frozen=True)
class Sign:
    """The marker for a mark, unless the unit has certain others; the text has its value in braces.

    The number of pips is the value, in units of the text.
    """

    mark: str
    text: str
    kind: about.MarkerKind = "word"
    tone: about.Tone = "plain"
    unless: tuple[str, ...] = ()

    def of(self, marks: Keys) -> about.Marker | None:
        """Returns the marker of a unit with some marks, None if it lacks this mark."""
        value = marks.get(self.mark)
        if not value or any(marks.get(other) for other in self.unless):
            return None
        if self.kind == "pips" and value is not True:
            return about.Marker("pips", counted(value, self.text), value, self.tone)
        return about.Marker(self.kind, self.text.format(value), 1, self.tone)
