"""How players decide what the camera cannot: as they do without one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from tablecam.referee.intents import Intent

Way = Literal["seen", "intent", "die", "benefit"]
WAYS: Final[Mapping[Way, str]] = {
    "seen": "what is seen",
    "intent": "the mover's intent",
    "die": "a die",
    "benefit": "giving the mover the benefit",
}
"""How players decide what is too close to call."""


def decided_by(way: Way, said: Intent | None) -> str:
    """How players have decided what was too close to call, as the log notes it; empty if seen.

    `said` is what the mover said before, if anything.
    """
    if way == "seen":
        return ""
    meant = f": {said.text}" if way == "intent" and said is not None else ""
    return f"too close to call, decided by {WAYS[way]}{meant}"
