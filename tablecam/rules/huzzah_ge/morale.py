"""Morale tests, falling back and routing, and officers' escapes (H-9, H-10)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from tablecam.rules.huzzah_ge import tables
from tablecam.rules.huzzah_ge.tables import Factor, factor_of, is_huzzah
from tablecam.rules.huzzah_ge.troops import Officer, Troops

ROUTING_FRIEND_CM = 20.0


def morale_factor(
    troops: Troops,
    bases_lost: int,
    officer: Officer,
    *,
    routing_friend_cm: float | None = None,
    faces_renowned: bool = False,
    support_ranks: int | None = None,
) -> Factor:
    """Returns the factor of a morale test; support ranks as before the losses (H-9.2, H-9.3)."""
    ranks = troops.support_ranks if support_ranks is None else support_ranks
    is_near = routing_friend_cm is not None and routing_friend_cm <= ROUTING_FRIEND_CM
    return factor_of(
        {
            "morale_factor": tables.MORALE[tables.GRADES.index(troops.grade)],
            "bases_lost": -bases_lost,
            "renowned": -faces_renowned,
            "routing_friend": -is_near,
            "officer": officer.modifier,
            "support_ranks": 0 if troops.disordered else ranks,
        }
    )


@dataclass(frozen=True, slots=True)
class Outcome:
    """What becomes of a unit that tests: its order, and how far it goes back."""

    is_disordered: bool
    fall_back_cm: float = 0.0
    rout_cm: float | None = None


def gain_of(troops: Troops, dice: Sequence[int] | None) -> str | None:
    """Returns what a double one gives: an ability, or a better grade (H-9.4)."""
    if dice is None or not is_huzzah(dice):
        return None
    missing = (name for name in ("grognards", "disciplined") if name not in troops.abilities)
    return next(missing, "grade" if troops.grade != "veteran" else None)


def outcome(troops: Troops, bases_lost: int, *, passes: bool) -> Outcome:
    """Returns what follows from a morale test (H-9.5 to H-9.8).

    A charger is never forced back, and routs only if it was disordered.
    """
    if passes:
        return Outcome(troops.disordered)
    shelter = "strongpoint" if troops.strongpoint else troops.cover
    back_cm = max(0.0, tables.FALL_BACK_CM * bases_lost - tables.SHELTER_CM.get(shelter or "", 0.0))
    if troops.charging:
        back_cm = 0.0
    if troops.disordered or back_cm > tables.ROUT_BEYOND_CM:
        return Outcome(is_disordered=True, rout_cm=max(troops.rout_cm, back_cm))
    return Outcome(is_disordered=True, fall_back_cm=back_cm)


def waver_factor(troops: Troops, officer: Officer, *, has_routing_friend: bool) -> Factor:
    """Returns the factor of a waver test (H-13.4)."""
    return factor_of(
        {
            "morale_factor": tables.MORALE[tables.GRADES.index(troops.grade)],
            "disordered": -troops.disordered,
            "routing_friend": -has_routing_friend,
            "hesitant": -("hesitant" in troops.abilities),
            "impulsive": -("impulsive" in troops.abilities),
            "officer": officer.modifier if officer.attached else 0,
            "disciplined": int("disciplined" in troops.abilities),
        }
    )


def waver_outcome(troops: Troops, *, passes: bool) -> Outcome:
    """Returns what follows from a waver test (H-13.5)."""
    if passes:
        return Outcome(troops.disordered)
    return Outcome(is_disordered=True, rout_cm=troops.rout_cm if troops.disordered else None)


def escape_limit(hits: int) -> int:
    """Returns the roll on which an officer lives (H-10.1)."""
    return 12 - hits


@dataclass(frozen=True, slots=True)
class Span:
    """Something straight behind a unit: from where to where, in cm from its rear face.

    A sector of dense terrain is held by nobody, a friend or an enemy; a friend's unit is itself.
    """

    name: str
    near_cm: float
    far_cm: float
    held_by: Literal["friend", "enemy"] | None = None


@dataclass(frozen=True, slots=True)
class WayBack:
    """How far a unit goes back, and what that costs (H-9.8 to H-9.11)."""

    distance_cm: float
    extra_hits: int = 0
    disordered_friends: tuple[str, ...] = ()
    deployed_in: str | None = None
    beyond_far_edge_cm: float | None = None
    is_captured: bool = False


def way_back(
    distance_cm: float,
    deep_cm: float,
    sectors: Sequence[Span],
    friends: Sequence[Span],
    *,
    routs: bool,
) -> WayBack:
    """Returns how far a unit of a depth goes straight to its rear (H-9.9 to H-9.11)."""
    way = WayBack(distance_cm)
    own = next((sector for sector in sectors if sector.near_cm < 0 < sector.far_cm), None)
    if own is not None:
        # Out of dense terrain the distance counts from its edge (H-9.10).
        way = WayBack(own.far_cm + deep_cm + distance_cm, beyond_far_edge_cm=distance_cm)
    for sector in sorted(sectors, key=lambda sector: sector.near_cm):
        if sector is own or not 0 <= sector.near_cm < way.distance_cm:
            continue
        if not routs:
            if own is not None and sector.held_by is None:
                inside_cm = sector.near_cm + deep_cm
                return WayBack(inside_cm, deployed_in=sector.name)
            continue
        if sector.held_by == "enemy":
            return replace(way, distance_cm=sector.near_cm, is_captured=True)
        way = _through(way, sector, deep_cm)
    for friend in sorted(friends, key=lambda friend: friend.near_cm):
        if not 0 <= friend.near_cm < way.distance_cm:
            continue
        clear_cm = friend.far_cm + deep_cm + _CLEAR_CM
        end_cm = max(way.distance_cm, clear_cm)
        passed, hits = (*way.disordered_friends, friend.name), way.extra_hits + 1
        way = replace(way, distance_cm=end_cm, disordered_friends=passed, extra_hits=hits)
    return way


def _through(way: WayBack, sector: Span, deep_cm: float) -> WayBack:
    """Returns the way of a router through a sector that no enemy holds (H-9.11)."""
    beyond_cm = 0.0
    if sector.held_by == "friend":
        beyond_cm = way.distance_cm - sector.near_cm
    elif way.distance_cm - deep_cm >= sector.far_cm:
        # It runs past.
        return replace(way, extra_hits=way.extra_hits + 1)
    end_cm = sector.far_cm + deep_cm + beyond_cm
    hits = way.extra_hits + 1
    return replace(way, distance_cm=end_cm, extra_hits=hits, beyond_far_edge_cm=beyond_cm)


_CLEAR_CM = 0.1
"""H-9.9: how far behind a friend a unit is set down."""
