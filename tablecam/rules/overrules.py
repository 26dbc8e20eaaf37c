"""Overrules: what players set themselves, checked against a game's settings, and in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import Any

from tablecam.rules.descriptions import Setting
from tablecam.rules.frozen_json import Variant
from tablecam.rules.game import Event, Refused
from tablecam.table.model import BasePose, Position
from tablecam.table.sides import side_name
from tablecam.wording import nearest


class Overrule(Variant):
    """What players may set in every game; a game adds a key for each of its settings.

    `units` are base poses, `asked` the units whose move the game waits for, `off` units taken off
    the table, `why` is the players' own text. Anything left out stays as it is.
    """

    why: str = ""
    units: Mapping[str, tuple[BasePose, ...]] = field(default_factory=dict)
    asked: tuple[str, ...] = ()
    off: tuple[str, ...] = ()
    active: str | None = None


def check_overrule(action: Overrule, settings: Sequence[Setting], position: Position) -> None:
    """Checks the names and values of an overrule.

    Raises:
        Refused: There is no such unit, side or commander, or a setting cannot have that value.
    """
    units = [unit.id for unit in position.units]
    leaders = [leader.id for leader in position.commanders]
    placed = [*action.units, *getattr(action, "commanders", ())]
    named = {"units": units, "off": units, "commanders": leaders, "asked": placed}
    for key, known in named.items():
        _check_names(getattr(action, key, ()), known, key)
    for setting in settings:
        values = _values(action, setting)
        if setting.of != "game":
            _check_names(values, units if setting.of == "unit" else [*setting.values], setting.key)
        for name, value in values.items():
            _check_value(setting, name, value)


def overrule_changes(
    action: Overrule, settings: Iterable[Setting], moved: Sequence[str] = ()
) -> Iterator[str]:
    """Yields each change of an overrule in a few words; for units `moved` it was their move."""
    placed = [*action.units, *getattr(action, "commanders", ())]
    unmoved = [name for name in action.asked if name not in moved]
    for who, one, several in (
        ([name for name in placed if name not in action.asked], "stays there", "stay there"),
        (unmoved, "stays there and may still move", "stay there and may still move"),
        (moved, "has moved there", "have moved there"),
    ):
        if who:
            yield f"{', '.join(who)} {one if len(who) == 1 else several}"
    if action.off:
        yield f"{', '.join(action.off)} removed"
    for setting in settings:
        for name, value in _values(action, setting).items():
            yield _words(setting, name, value)


def overrule_event(
    action: Overrule, settings: Iterable[Setting], moved: Sequence[str] = ()
) -> Event:
    """Returns the event of an overrule, about all units that it changes.

    For the units `moved`, it was the move that the game waited for.
    """
    settings = tuple(settings)
    changes = "; ".join(overrule_changes(action, settings, moved)) or "no change"
    text = f"overruled: {changes}" + (f" ({action.why})" if action.why else "")
    set_by_unit = (_values(action, setting) for setting in settings if setting.of == "unit")
    groups = (action.units, action.off, *set_by_unit)
    units = [*dict.fromkeys(name for group in groups for name in group)]
    return Event("overrule", text, None, {"why": action.why, "units": units})


def _values(action: Overrule, setting: Setting) -> Mapping[str, Any]:
    """Returns the values that an action sets, by unit or side, or an empty name for the game."""
    given = getattr(action, setting.key)
    if isinstance(given, Mapping):
        return given
    return {} if given is None else {"": given}


def _check_names(names: Iterable[str], known: Sequence[str], key: str) -> None:
    for name in names:
        if name not in known:
            raise Refused(f"there is no {name}{nearest(name, known)}", key=key)


def _check_value(setting: Setting, name: str, value: Any) -> None:
    whose = f" for {_display(setting, name)}" if name else ""
    title, least, most = setting.title.lower(), setting.least, setting.most
    if setting.kind == "number" and not (least <= value and (most is None or value <= most)):
        limits = f"{least} to {most}" if most is not None else f"at least {least}"
        raise Refused(f"expected {limits} {title}{whose}, got {value}", key=setting.key)
    choices = [str(choice.value) for choice in setting.choices]
    if choices and str(value) not in choices:
        expected = f"expected one of {', '.join(choices)} as {title}{whose}"
        raise Refused(f"{expected}, got {value}", key=setting.key)


def _words(setting: Setting, name: str, value: Any) -> str:
    text = next((choice.text for choice in setting.choices if choice.value == value), str(value))
    title = setting.title.lower()
    if setting.of == "game":
        return f"{title}: {text}"
    who = _display(setting, name)
    if setting.kind == "switch":
        return f"{who} {'with' if value else 'without'} {title}"
    return f"{who} at {text} {title}" if setting.kind == "number" else f"{who}: {title} {text}"


def _display(setting: Setting, name: str) -> str:
    return side_name(name) if setting.of == "side" else name
