"""How players decide what the camera cannot: as they do without one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

Way = Literal["seen", "intent", "die", "benefit"]
WAYS: Final[Mapping[Way, str]] = {
    "seen": "what is seen",
    "intent": "the mover's intent",
    "die": "a die",
    "benefit": "giving the mover the benefit",
}
"""How players decide what is too close to call."""
