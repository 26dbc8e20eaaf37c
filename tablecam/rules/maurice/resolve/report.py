"""A resolution as text: scores with reasons, results, and what follows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tablecam.table.sides import side_name

Json = Mapping[str, Any]

_INDENT = "     "


def report(answer: Json) -> Iterator[str]:
    """Yields the lines of an answer of `resolve`."""
    kind = answer["kind"]
    if kind == "combat":
        yield from _combat(answer)
    elif kind == "rally":
        yield from _rally(answer)
    else:
        yield from _fire(answer)
    yield from _notes(answer)


def _combat(answer: Json) -> Iterator[str]:
    yield f"Combat: {side_name(answer['active'])} attacks"
    fought = {name: unit for name, unit in answer["units"].items() if "score" in unit}
    for name, unit in fought.items():
        yield ""
        yield f"{name} against {', '.join(unit['engaged_with'])}: {_sum(unit)}"
        yield from _because(unit)
    for name, unit in answer["units"].items():
        if name not in fought:
            yield ""
            yield f"{name} is passed through"
            yield from _because(unit)
    yield ""
    for name, unit in answer["units"].items():
        yield f"{name} {_fate(name, unit, answer)}"


def _fire(answer: Json) -> Iterator[str]:
    yield "Volley" if answer["kind"] == "volley" else "Bombardment"
    yield ""
    for shot in answer["shots"]:
        dice = _dice(shot["rolled"])
        yield (
            f"{shot['unit']}, base {shot['base']}, at {shot['target']} at {shot['range']} range, "
            f"{shot['to_hit']}+ to hit: {dice}, {_count(shot['hits'], 'hit')}"
        )
        yield from _because(shot)
    for name, unit in answer["units"].items():
        yield ""
        rolled = f", dice {_dice(unit['rolled'])}" if unit["rolled"] else ""
        yield f"{name}: {_count(unit['hits'], 'hit')}{rolled}"
        yield from _because(unit)
    yield ""
    for name, unit in answer["units"].items():
        yield f"{name} {_fate(name, unit, answer)}"


def _rally(answer: Json) -> Iterator[str]:
    for name, unit in answer["units"].items():
        dice = _dice(unit["dice"]) if unit["dice"] else "no dice"
        yield f"{name} rallies, {unit['needed']}+ needed: {dice}"
        yield from _because(unit)
        yield ""
        yield f"{name} sheds {_count(-unit['disruption'], 'disruption')}{_now(name, answer)}"


def _notes(answer: Json) -> Iterator[str]:
    """Yields close calls, which were taken as measured, and interpretations that decide."""
    notes = [f"{doubt['rule']} {doubt['because']}" for doubt in answer["doubts"]]
    notes += [f"{rule}, interpretation: {text}" for rule, text in answer["readings"].items()]
    if notes:
        yield ""
    yield from notes


def _sum(unit: Json) -> str:
    """Formats a score as `6 - 2 - 1 = 3, die 2: 5`."""
    amounts = "".join(f" {'-' if n < 0 else '+'} {abs(n)}" for n in unit["modifiers"].values())
    value = f"{unit['basic']}{amounts} = {unit['value']}" if amounts else f"{unit['basic']}"
    return f"{value}, die {unit['die']}: {unit['score']}"


def _fate(name: str, unit: Json, answer: Json) -> str:
    if unit["broken"]:
        return "breaks and leaves the table"
    gained = f"takes {_count(unit['disruption'], 'disruption')}{_now(name, answer)}"
    return f"{gained}, and falls back" if unit.get("falls_back") else gained


def _now(name: str, answer: Json) -> str:
    """Returns the final disruption level of a unit."""
    units = answer["position"]["units"]
    level = next(unit["state"]["disruption"] for unit in units if unit["id"] == name)
    return f" (now {level})"


def _because(unit: Json) -> Iterator[str]:
    yield from (f"{_INDENT}{line}" for line in unit["because"])


def _dice(values: list[int]) -> str:
    return ", ".join(map(str, values))


def _count(number: int, what: str) -> str:
    return f"{number or 'no'} {what}{'s' * (number != 1)}"
