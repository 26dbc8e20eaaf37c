"""Bundles JavaScript modules into one script, for a page that may fetch nothing.

Each module becomes a function that runs once, after the modules that it imports, and returns its
exports, so that names stay private to a module. It understands only the forms that the page uses:
imports of names or of a whole module, exports of declarations.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
from typing import Final

Read = Callable[[str], str]
"""Returns the text of a module, by its path without an ending."""

_IMPORT: Final = re.compile(
    r'^import (?P<names>\{[^}]+\}|\* as \w+) from "(?P<path>\.{1,2}/[\w./]+)\.js";$', re.MULTILINE
)
_EXPORT: Final = re.compile(r"^export (?=(?:async )?(?:function|class|const) (\w+))", re.MULTILINE)
_LEFT: Final = re.compile(r"^(?:import|export)\b.*$", re.MULTILINE)


def bundle(main: str, read: Read) -> str:
    """Returns a module and its imports as one script.

    Raises:
        ValueError: Modules import each other in a circle, or in an unsupported form.
    """
    functions = "\n".join(_as_function(module, read(module)) for module in modules(main, read))
    return f'"use strict";\n(() => {{\nconst modules = {{}};\n{functions}\n}})();\n'


def modules(main: str, read: Read) -> list[str]:
    """Returns a module and all its imports, each after its own imports.

    Raises:
        ValueError: Modules import each other in a circle.
    """
    order: list[str] = []
    open_modules: list[str] = []

    def visit(module: str) -> None:
        if module in open_modules:
            raise ValueError(f"modules import each other: {' → '.join([*open_modules, module])}")
        if module in order:
            return
        open_modules.append(module)
        for imported in _IMPORT.finditer(read(module)):
            visit(_resolved(module, imported["path"]))
        # Only after all its imports.
        order.append(open_modules.pop())

    visit(main)
    return order


def _resolved(module: str, path: str) -> str:
    """Resolves a path that a module imports: `./b` and `../board/b` in `game/a`."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(module), path))


def _as_function(module: str, text: str) -> str:
    def constant(imported: re.Match[str]) -> str:
        # In an import names are renamed by `as`, in a pattern by a colon.
        names = imported["names"].removeprefix("* as ").replace(" as ", ": ")
        return f'const {names} = modules["{_resolved(module, imported["path"])}"];'

    body = _EXPORT.sub("", _IMPORT.sub(constant, text))
    # Any other form would be a syntax error inside a function.
    if left := _LEFT.search(body):
        raise ValueError(f"{module}.js: expected imports and exports by name, got {left[0]}")
    exports = ", ".join(_EXPORT.findall(text))
    return f'modules["{module}"] = (() => {{\n{body}\nreturn {{ {exports} }};\n}})();'
