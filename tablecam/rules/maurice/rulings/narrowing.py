"""Rulings of a few units, of two, or under one rule."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Final

from tablecam.rules.maurice.rulings.ruled import Rulings

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
"""The keys of the document of rulings, and the rules that they answer."""

ALL_KEYS = frozenset(RULES)

_ALWAYS = frozenset({"game", "active", "units", "warnings", "side"})


def keys_under(rule: str) -> frozenset[str]:
    """The keys that answer a rule (`M-1.12`) or a chapter (`M-7`); none for an unknown one."""
    return frozenset(
        key for key, rules in RULES.items() if any(is_under(rule, each) for each in rules)
    )


def is_under(rule: str, other: str | None) -> bool:
    """Whether a rule is another, or of a chapter.

    >>> is_under("M-7", "M-7.12"), is_under("m-7.1", "M-7.12"), is_under("M-7", None)
    (True, False, False)
    """
    wanted = rule.upper()
    return other is not None and (other == wanted or other.startswith(f"{wanted}."))


def of_units(found: Rulings, ids: Collection[str]) -> Rulings:
    """The rulings that concern one of some units."""
    return replace(
        found,
        units=MappingProxyType({each: found.units[each] for each in found.units if each in ids}),
        forces=MappingProxyType(
            {
                side: tuple(force for force in of_side if not set(ids).isdisjoint(force))
                for side, of_side in found.forces.items()
            }
        ),
        strings=tuple(each for each in found.strings if not set(ids).isdisjoint(each.force)),
        pairs=tuple(pair for pair in found.pairs if not set(ids).isdisjoint(pair.ids)),
        is_close_up=True,
    )


def of_pair(found: Rulings, a_id: str, b_id: str) -> Rulings:
    """The rulings that concern two units, and the two as each sees the other, `a` first."""
    both = (found.pair(a_id, b_id), found.pair(b_id, a_id))
    pairs = tuple(pair for pair in both if pair is not None)
    return replace(of_units(found, (a_id, b_id)), pairs=pairs)


def document_under(rule: str, document: Mapping[str, Any]) -> dict[str, Any]:
    """A document of rulings with only what answers a rule."""
    kept = keys_under(rule) | _ALWAYS
    readings = {
        about: said for about, said in document["readings"].items() if about == rule.upper()
    }
    doubts = [doubt for doubt in document["doubts"] if doubt["rule"] == rule.upper()]
    units = {
        unit_id: {key: value for key, value in found.items() if key in kept}
        for unit_id, found in document["units"].items()
    }
    top = {key: value for key, value in document.items() if key in kept}
    narrowed = {**top, "units": units, "doubts": doubts, "readings": readings}
    if "answers" in document:
        narrowed["answers"] = [each for each in document["answers"] if each["rule"] == rule.upper()]
    return narrowed
