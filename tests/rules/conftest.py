"""Rule systems that only tests know."""

import sys
from pathlib import Path

import pytest

import tablecam.rules
from tablecam.rules.games import game_of

SYSTEMS = Path(__file__).parent / "systems"


@pytest.fixture
def nim(monkeypatch):
    """A rule system that is added as any is: its folder lies beside the others."""
    monkeypatch.setattr(tablecam.rules, "__path__", [*tablecam.rules.__path__, str(SYSTEMS)])
    known = set(sys.modules)
    yield game_of("nim")
    for name in set(sys.modules) - known:
        if name.startswith("tablecam.rules.nim"):
            del sys.modules[name]
