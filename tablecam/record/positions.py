"""Positions as differences: what changed between two documents, and the later one again.

A list whose members all have ids of their own, as units and terrain have, differs member by
member; anything else that differs is told whole.
"""

from __future__ import annotations

from typing import Final

from tablecam.record.entries import Json

WHOLE: Final = "whole"
CHANGED: Final = "changed"
GONE: Final = "gone"
ORDER: Final = "order"
MISSED: Final = "missed"
"""Beside a difference: the tags of bases that are in the position, but without which it is judged.
"""


WHOLE_EVERY: Final = 50
"""Every so many positions one is told whole, so that any moment is near one that is."""


class Chain:
    """Turns positions, one after the other, into the documents of their entries."""

    def __init__(self) -> None:
        self._before: Json | None = None
        self._since_whole = 0

    def document(self, position: Json) -> Json:
        """What is to be kept of the next position."""
        before = self._before if self._since_whole < WHOLE_EVERY else None
        self._since_whole = 1 if before is None else self._since_whole + 1
        self._before = position
        return difference(before, position)


def difference(before: Json | None, now: Json) -> Json:
    """What makes `now` out of `before`; all of it where there was nothing.

    >>> difference({"units": [{"id": "F1", "x": 1}, {"id": "F2", "x": 5}]},
    ...            {"units": [{"id": "F1", "x": 2}, {"id": "F2", "x": 5}]})
    {'changed': {'units': {'changed': {'F1': {'id': 'F1', 'x': 2}}}}}
    """
    if before is None:
        return {WHOLE: now}
    told: Json = {}
    changed = {
        key: _told(before.get(key), value)
        for key, value in now.items()
        if key not in before or not _is_same(before[key], value)
    }
    gone = [key for key in before if key not in now]
    if changed:
        told[CHANGED] = changed
    if gone:
        told[GONE] = gone
    return told


def applied(before: Json | None, told: Json) -> Json:
    """The document after a difference.

    Raises:
        ValueError: The difference is from another document, or none at all.
    """
    if WHOLE in told:
        whole: Json = told[WHOLE]
        return whole
    if before is None:
        raise ValueError("expected a whole position before any difference")
    gone = set(told.get(GONE, ()))
    kept = {key: value for key, value in before.items() if key not in gone}
    return kept | {
        key: _value(before.get(key), value) for key, value in told.get(CHANGED, {}).items()
    }


def _told(before: object, now: object) -> Json:
    """How one value differs: member by member where both are lists of things with ids."""
    old, new = _by_id(before), _by_id(now)
    if old is None or new is None:
        return {WHOLE: now}
    changed = {
        key: each for key, each in new.items() if key not in old or not _is_same(old[key], each)
    }
    gone = [key for key in old if key not in new]
    told: Json = {CHANGED: changed} | ({GONE: gone} if gone else {})
    if [*(key for key in old if key in new), *(key for key in new if key not in old)] != [*new]:
        told[ORDER] = [*new]
    return told


def _value(before: object, told: Json) -> object:
    if WHOLE in told:
        return told[WHOLE]
    members = _by_id(before)
    if members is None:
        raise ValueError("expected a list of things with ids before a difference of such")
    gone = set(told.get(GONE, ()))
    members = {key: each for key, each in members.items() if key not in gone} | told[CHANGED]
    order = told.get(ORDER, members)
    if set(order) != set(members):
        raise ValueError("expected the order of all that is there")
    return [members[key] for key in order]


def _by_id(value: object) -> dict[str, Json] | None:
    """The members of a list by their ids; None of anything else."""
    if not isinstance(value, list):
        return None
    members: dict[str, Json] = {}
    for each in value:
        name = each.get("id") if isinstance(each, dict) else None
        if not isinstance(name, str) or name in members:
            return None
        members[name] = each
    return members


def _is_same(one: object, other: object) -> bool:
    """Equal as JSON, where 1, 1.0 and true are three things."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_is_same(one[key], other[key]) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_is_same, one, other))
    return one == other
