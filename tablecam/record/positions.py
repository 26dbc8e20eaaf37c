"""Stores positions as differences: computes and applies the change between two documents.

A list whose members all have ids, as units and terrain have, is compared member by member;
anything else that changed is stored whole.
"""

from __future__ import annotations

from typing import Final

from tablecam.documents import Json

WHOLE: Final = "whole"
CHANGED: Final = "changed"
GONE: Final = "gone"
ORDER: Final = "order"
MISSED: Final = "missed"
"""Key beside a difference: the tags of bases that are left out when the position is judged."""


WHOLE_EVERY: Final = 50
"""One position in this many is stored whole, so that few differences lead to any moment."""


class DifferenceEncoder:
    """Turns a series of positions into the documents of their entries."""

    def __init__(self) -> None:
        self._before: Json | None = None
        self._since_whole = 0

    def document(self, position: Json) -> Json:
        """Returns the document to store for the next position."""
        # Now and then a whole one, so that no moment is many differences away.
        before = self._before if self._since_whole < WHOLE_EVERY else None
        self._since_whole = 1 if before is None else self._since_whole + 1
        self._before = position
        return difference(before, position)


def difference(before: Json | None, now: Json) -> Json:
    """Returns the change from `before` to `now`; all of `now` if there was nothing before.

    >>> difference({"units": [{"id": "F1", "x": 1}, {"id": "F2", "x": 5}]},
    ...            {"units": [{"id": "F1", "x": 2}, {"id": "F2", "x": 5}]})
    {'changed': {'units': {'changed': {'F1': {'id': 'F1', 'x': 2}}}}}
    """
    if before is None:
        return {WHOLE: now}
    change: Json = {}
    changed = {
        key: _value_difference(before.get(key), value)
        for key, value in now.items()
        if key not in before or not _is_same(before[key], value)
    }
    gone = [key for key in before if key not in now]
    if changed:
        change[CHANGED] = changed
    if gone:
        change[GONE] = gone
    return change


def applied(before: Json | None, change: Json) -> Json:
    """Returns the document after a difference.

    Raises:
        ValueError: The difference does not fit the document, or is none.
    """
    if WHOLE in change:
        whole: Json = change[WHOLE]
        return whole
    if before is None:
        raise ValueError("expected a whole position before any difference")
    gone = set(change.get(GONE, ()))
    remaining = {key: value for key, value in before.items() if key not in gone}
    return remaining | {
        key: _applied_value(before.get(key), value)
        for key, value in change.get(CHANGED, {}).items()
    }


def _value_difference(before: object, now: object) -> Json:
    """Returns the change of one value: member by member if both are lists of members with ids."""
    old, new = _by_id(before), _by_id(now)
    if old is None or new is None:
        return {WHOLE: now}
    changed = {
        key: member
        for key, member in new.items()
        if key not in old or not _is_same(old[key], member)
    }
    gone = [key for key in old if key not in new]
    change: Json = {CHANGED: changed} | ({GONE: gone} if gone else {})
    # New members go last when applied; any other order must be stored.
    if [*(key for key in old if key in new), *(key for key in new if key not in old)] != [*new]:
        change[ORDER] = [*new]
    return change


def _applied_value(before: object, change: Json) -> object:
    if WHOLE in change:
        return change[WHOLE]
    members = _by_id(before)
    if members is None:
        raise ValueError("expected a list of members with ids to apply the difference to")
    gone = set(change.get(GONE, ()))
    members = {key: member for key, member in members.items() if key not in gone} | change[CHANGED]
    order = change.get(ORDER, members)
    # A damaged difference must not drop or invent members.
    if set(order) != set(members):
        raise ValueError("expected an order that names every member")
    return [members[key] for key in order]


def _by_id(value: object) -> dict[str, Json] | None:
    """Returns the members of a list by their ids; None for anything else."""
    if not isinstance(value, list):
        return None
    members: dict[str, Json] = {}
    for member in value:
        name = member.get("id") if isinstance(member, dict) else None
        # Members without unique ids cannot be compared one by one.
        if not isinstance(name, str) or name in members:
            return None
        members[name] = member
    return members


def _is_same(one: object, other: object) -> bool:
    """Whether two values are equal as JSON, where 1, 1.0 and true are three different values."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_is_same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_is_same, one, other))
    return one == other
