"""Ways in which players decide a move that is too close to call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from tablecam.referee.intents import Intent

TieBreak = Literal["seen", "intent", "die", "benefit"]
WAYS: Final[Mapping[TieBreak, str]] = {
    "seen": "what is seen",
    "intent": "the mover's intent",
    "die": "a die",
    "benefit": "giving the mover the benefit",
}
"""The wording of each way in the log."""


def decided_by(way: TieBreak, intent: Intent | None) -> str:
    """Returns the log's note on how players decided a close call, empty if it was `seen`.

    `intent` is the intent declared before the move, if any.
    """
    if way == "seen":
        return ""
    declared = f": {intent.text}" if way == "intent" and intent is not None else ""
    return f"too close to call, decided by {WAYS[way]}{declared}"
