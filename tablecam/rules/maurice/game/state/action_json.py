"""Actions as documents: `Action` to JSON and back, losing nothing."""

from __future__ import annotations

from typing import Final

from tablecam.rules.frozen_json import from_plain, one_of, renamed, to_plain
from tablecam.rules.game import Json
from tablecam.rules.maurice.game.state.actions import Action

_ADAPTER: Final = one_of(Action)


def action_to_json(action: Action) -> Json:
    """The document of an action, its type first; what it does not say is left out."""
    plain: Json = to_plain(action)
    return {"type": plain["type"]} | plain


def action_from_json(data: object) -> Action:
    """The action that a document holds.

    Raises:
        BadInput: Naming the key, what was expected and what came.
    """
    action: Action = from_plain(_ADAPTER, renamed(data, "for", "for_"), "action")
    return action
