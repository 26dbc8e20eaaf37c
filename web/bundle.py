"""Bundles JavaScript modules into one script, for a page that may fetch nothing.

Each module becomes a function that is called once, after the modules that it imports, and returns
its exports, so local names do not clash. In an import cycle one module must come first: what it
imports from later modules must be functions, which it calls through a wrapper. Only the syntax used
here is supported: imports and exports by name, each on a line of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

Read = Callable[[str], str]
"""Returns the text of a module, by its name without an ending."""

_IMPORT: Final = re.compile(r'^import (?P<what>.+) from "\./(?P<name>\w+)\.js";$', re.MULTILINE)
_EXPORT: Final = re.compile(r"^export (?=(?:async )?(?:function|class|const) (\w+))", re.MULTILINE)
_FUNCTION: Final = re.compile(r"^export (?:async )?function (\w+)", re.MULTILINE)
_UNSUPPORTED: Final = re.compile(r"^(?:import|export)\b.*$", re.MULTILINE)


def bundle(main: str, read: Read) -> str:
    """Returns a module and all that it imports as one script.

    Raises:
        ValueError: A module has an unsupported import or export, or imports something other than
            a function from a later module.
    """
    order = modules(main, read)
    index_by_name = {name: index for index, name in enumerate(order)}
    functions = "\n".join(_as_function(name, read, index_by_name) for name in order)
    return f'"use strict";\n(() => {{\nconst module = {{}};\n{functions}\n}})();\n'


def modules(main: str, read: Read) -> list[str]:
    """Returns a module and all that it imports; each follows its own imports where possible."""
    order: list[str] = []
    visited: set[str] = set()

    def visit(name: str) -> None:
        visited.add(name)
        for match in _IMPORT.finditer(read(name)):
            if match["name"] not in visited:
                visit(match["name"])
        order.append(name)

    visit(main)
    return order


def _as_function(name: str, read: Read, index_by_name: dict[str, int]) -> str:
    text = read(name)

    def replacement(match: re.Match[str]) -> str:
        if index_by_name[match["name"]] < index_by_name[name]:
            return _constant(match)
        return "\n".join(_calls(match, frozenset(_FUNCTION.findall(read(match["name"])))))

    body = _EXPORT.sub("", _IMPORT.sub(replacement, text))
    if left := _UNSUPPORTED.search(body):
        raise ValueError(f"{name}.js: expected imports and exports by name, got {left[0]}")
    exports = ", ".join(_EXPORT.findall(text))
    return f"module.{name} = (() => {{\n{body}\nreturn {{ {exports} }};\n}})();"


def _constant(match: re.Match[str]) -> str:
    """Returns `const` for an import of `{ a, b as c }` or `* as a` from an earlier module."""
    pattern = match["what"].removeprefix("* as ").replace(" as ", ": ")
    return f"const {pattern} = module.{match['name']};"


def _calls(match: re.Match[str], functions: frozenset[str]) -> Iterator[str]:
    """Yields a wrapper for each function of `{ a, b as c }` imported from a later module."""
    for part in match["what"].strip("{} ").split(","):
        theirs, _, own = part.strip().partition(" as ")
        if theirs not in functions:
            raise ValueError(f"{match['name']}.js is imported in a circle: {theirs} is no function")
        yield f"const {own or theirs} = (...given) => module.{match['name']}.{theirs}(...given);"
