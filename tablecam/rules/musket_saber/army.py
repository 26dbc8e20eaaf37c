"""Recovery, headquarters, trains, Fortunes of War, and units that return."""

from __future__ import annotations

from typing import Literal

from tablecam.rules.game import Ban
from tablecam.rules.hexes.grid import Hex
from tablecam.rules.musket_saber.combat import Check, check_of
from tablecam.rules.musket_saber.field import Field
from tablecam.rules.musket_saber.tables import LINE_OF_SIGHT, TIME_RULE, Time
from tablecam.rules.musket_saber.troops import Unit, is_overstacked

FowChoice = Literal["move_enemy", "move_friend", "charge", "check_enemy", "recover_friend", "keep"]


def ban_on_recovery(field: Field, unit: Unit, *, moved: bool, fought: bool) -> Ban | None:
    """Returns why a unit may not try to recover (K-11.1f, K-11.3, K-14.2)."""
    rule = "K-11.1f" if field.time != "night" else "K-14.2"
    if moved or fought:
        return Ban(rule, "a unit that moves or fights does not recover")
    if field.time == "night":
        return None
    if unit.hex is None or not field.is_far_from_enemies(unit, unit.hex):
        return Ban(rule, "it or its zone is in an enemy zone of control")
    if field.line(unit).kind != "safe":
        return Ban(rule, "it has no safe line of retreat")
    return None


def recovery_check(unit: Unit, *, time: Time = "day", leader: int = 0) -> Check:
    """Returns the check by which Disruption goes: without the addition for it (K-11.1f)."""
    return check_of(unit.morale, time=time, leader=leader)


def is_active(*, moved: bool, in_zone: bool, has_line: bool, attacked: bool) -> bool:
    """Whether an HQ or trains are active at the end of a movement phase (K-12.1, K-12.2)."""
    return has_line and not (moved or in_zone or attacked)


def ban_on_fow(
    choice: FowChoice, *, in_zone: bool = False, disrupted: bool = False, fought: bool = False,
    leaves_map: bool = False,
) -> Ban | None:  # fmt: skip
    """Returns why a Fortune of War may not be used so (K-12.4)."""
    barred = (
        (choice == "keep", "K-12.4", "a Fortune of War is used at once or lost"),
        (choice == "move_enemy" and leaves_map, "K-12.4", "an enemy is not moved off the map"),
        (choice == "charge" and in_zone, "K-12.4", "it is in an enemy zone of control"),
        (choice == "charge" and fought, "K-12.4", "it has fought in this phase"),
        (choice == "charge" and disrupted, "K-7.13c", "a Disrupted unit does not charge"),
        (choice == "check_enemy" and disrupted, "K-12.4", "the enemy is Disrupted already"),
    )
    return next((Ban(rule, why) for is_so, rule, why in barred if is_so), None)


def reentry_hexes(field: Field, side: str) -> tuple[Hex, ...]:
    """Returns the hexes where units of a side may return to the map (K-13.2)."""
    around = field.grid.neighbours
    loc = [number for number in field.loc_of(side) if field.works(side, number)]
    # K-12.3: without a functioning LOC nothing returns.
    if field.loc_of(side) and not loc:
        return ()
    hqs = [p.hex for p in field.posts(field.hq, side) if p.active and p.hex is not None]
    trains = [p.hex for p in field.posts(field.trains, side) if p.active and p.hex is not None]
    near = {*hqs, *loc, *(n for number in (*hqs, *trains, *loc) for n in around(number))}
    newcomer = Unit(side=side)
    return tuple(
        number
        for number in sorted(near)
        if number not in field.enemy_zone(side)
        and field.ban_on_passing(side, number) is None
        and not is_overstacked((*field.units_at(number), newcomer))
    )


def ban_by_time(time: Time, do: str, distance: int) -> Ban | None:
    """Returns why something may not be done at a time of day (K-14.2, K-14.3)."""
    most = LINE_OF_SIGHT[time]
    if do in ("bombard", "support") and most is not None and distance > most:
        return Ban(TIME_RULE[time], f"at {time} guns fire {most} hexes far")
    if time == "night" and do in ("attack", "cavalry_charge", "enter_zone", "bombard", "support"):
        return Ban(TIME_RULE[time], "at night there are only charges of infantry")
    if time == "twilight" and do == "coordinate_by_leader":
        return Ban(TIME_RULE[time], "at twilight attacks are not coordinated")
    return None
