"""JavaScript modules as one script, for a page that may fetch nothing.

Each module becomes a function that is called once, after those that it imports, and returns what it
exports; so its own names stay its own. Of modules that import each other one has to be first: what
it imports of the others are functions, and it calls them by way of where they will be. Only what is
used here is understood: imports and exports by name, each on a line of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

Read = Callable[[str], str]
"""The text of a module, by its name without an ending."""

_IMPORT: Final = re.compile(r'^import (?P<what>.+) from "\./(?P<name>\w+)\.js";$', re.MULTILINE)
_EXPORT: Final = re.compile(r"^export (?=(?:async )?(?:function|class|const) (\w+))", re.MULTILINE)
_FUNCTION: Final = re.compile(r"^export (?:async )?function (\w+)", re.MULTILINE)
_LEFT: Final = re.compile(r"^(?:import|export)\b.*$", re.MULTILINE)


def bundle(main: str, read: Read) -> str:
    """A module and all that it imports as one script.

    Raises:
        ValueError: A module imports or exports as is not understood, or imports of one that comes
            after it something else than functions.
    """
    order = modules(main, read)
    places = {name: place for place, name in enumerate(order)}
    functions = "\n".join(_as_function(name, read, places) for name in order)
    return f'"use strict";\n(() => {{\nconst module = {{}};\n{functions}\n}})();\n'


def modules(main: str, read: Read) -> list[str]:
    """A module and all that it imports, each after what it imports, as far as that can be."""
    found: list[str] = []
    met: set[str] = set()

    def visit(name: str) -> None:
        met.add(name)
        for each in _IMPORT.finditer(read(name)):
            if each["name"] not in met:
                visit(each["name"])
        found.append(name)

    visit(main)
    return found


def _as_function(name: str, read: Read, places: dict[str, int]) -> str:
    text = read(name)

    def constant(found: re.Match[str]) -> str:
        if places[found["name"]] < places[name]:
            return _constant(found)
        return "\n".join(_calls(found, frozenset(_FUNCTION.findall(read(found["name"])))))

    body = _EXPORT.sub("", _IMPORT.sub(constant, text))
    if left := _LEFT.search(body):
        raise ValueError(f"{name}.js: expected imports and exports by name, got {left[0]}")
    exports = ", ".join(_EXPORT.findall(text))
    return f"module.{name} = (() => {{\n{body}\nreturn {{ {exports} }};\n}})();"


def _constant(found: re.Match[str]) -> str:
    """`{ a, b as c }` from a module, or `* as a`, as what its function returned."""
    what = found["what"].removeprefix("* as ").replace(" as ", ": ")
    return f"const {what} = module.{found['name']};"


def _calls(found: re.Match[str], functions: frozenset[str]) -> Iterator[str]:
    """`{ a, b as c }` from a module that comes later: functions that call what will be there."""
    for each in found["what"].strip("{} ").split(","):
        theirs, _, own = each.strip().partition(" as ")
        if theirs not in functions:
            raise ValueError(f"{found['name']}.js is imported in a circle: {theirs} is no function")
        yield f"const {own or theirs} = (...given) => module.{found['name']}.{theirs}(...given);"
