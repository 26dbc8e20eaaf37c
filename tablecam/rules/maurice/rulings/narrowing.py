"""The rules that each key of the rulings document answers."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

RULES: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "formation": ("M-1.7",),
        "near_enemy": ("M-1.9",),
        "in_contact": ("M-1.10",),
        "flanked_by": ("M-1.13",),
        "bad_terrain": ("M-5.3",),
        "in_water": ("M-5.6",),
        "allowance_bw": ("M-6.2", "M-6.11", "M-6.19"),
        "reach": ("M-6.2", "M-6.11", "M-6.19"),
        "fire": tuple(f"M-7.{number}" for number in (*range(6, 8), *range(9, 25))),
        "charge": ("M-8.3", "M-8.4", "M-8.5", "M-8.6", "M-8.7", "M-8.8"),
        "engaged_with": ("M-8.10", "M-8.11", "M-8.12"),
        "forces": ("M-1.15",),
        "spans": ("M-4.11", "M-4.12"),
        "pairs": ("M-1.11", "M-1.12"),
    }
)
"""The keys of the rulings document, and the rules that each answers."""

ALL_KEYS = frozenset(RULES)

_ALWAYS = frozenset({"game", "active", "units", "warnings", "side"})


def keys_under(rule: str) -> frozenset[str]:
    """Returns the keys that answer a rule (`M-1.12`) or chapter (`M-7`); none if unknown."""
    return frozenset(
        key for key, rules in RULES.items() if any(is_under(rule, answered) for answered in rules)
    )


def is_under(rule: str, other: str | None) -> bool:
    """Whether a rule equals another or lies in its chapter, ignoring case.

    >>> is_under("M-7", "M-7.12"), is_under("m-7.1", "M-7.12"), is_under("M-7", None)
    (True, False, False)
    """
    prefix = rule.upper()
    return other is not None and (other == prefix or other.startswith(f"{prefix}."))


def document_under_rule(rule: str, document: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a rulings document reduced to what answers a rule."""
    keys = keys_under(rule) | _ALWAYS
    readings = {
        about: text for about, text in document["readings"].items() if about == rule.upper()
    }
    doubts = [doubt for doubt in document["doubts"] if doubt["rule"] == rule.upper()]
    units = {
        unit_id: {key: value for key, value in unit.items() if key in keys}
        for unit_id, unit in document["units"].items()
    }
    top = {key: value for key, value in document.items() if key in keys}
    narrowed = {**top, "units": units, "doubts": doubts, "readings": readings}
    if "answers" in document:
        narrowed["answers"] = [
            answer for answer in document["answers"] if answer["rule"] == rule.upper()
        ]
    return narrowed
