"""Every refusal names the rule that forbids the action."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import tablecam.rules.maurice.game as package

CORRECTIONS = "overrule.py"
"""No rule limits corrections by players: only impossible ones are refused."""

MODULES = sorted(Path(package.__file__).parent.rglob("*.py"))


def unruled(module: Path) -> Iterator[int]:
    """Yields the lines of refusals, and of checks of dice, that name no rule."""
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            is_refusal = node.func.id in {"Refused", "values_of"}
            if is_refusal and "rule" not in {each.arg for each in node.keywords}:
                yield node.lineno


@pytest.mark.parametrize("module", MODULES, ids=lambda module: "/".join(module.parts[-2:]))
def test_every_refusal_of_a_step_names_its_rule(module):
    if module.name != CORRECTIONS:
        assert not [*unruled(module)]
