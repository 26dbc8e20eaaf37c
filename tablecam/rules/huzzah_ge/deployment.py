"""Deploying: formations, dense terrain, the skirmish line and passages of lines (H-14)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

import shapely

from tablecam.geometry.moves.poses import ahead, in_ranks, shifted
from tablecam.geometry.shapes import shapes_of
from tablecam.rules.game import Ban
from tablecam.rules.huzzah_ge import state as acts
from tablecam.rules.huzzah_ge.field import formation_of, ranks_of
from tablecam.rules.huzzah_ge.movement import charges, fights_in_woods, manoeuvres, straight_ways
from tablecam.rules.huzzah_ge.orders import acted, addresses
from tablecam.rules.huzzah_ge.state import State
from tablecam.rules.huzzah_ge.tables import CM_MM, TOUCH_MM
from tablecam.rules.huzzah_ge.troops import Troops, faces_alike, front_of, heading_of
from tablecam.rules.miniatures.battle import Bases, disordered, first_ban
from tablecam.rules.miniatures.faces import faces_of
from tablecam.rules.miniatures.ground import centre_mm, footprints, overlaps
from tablecam.rules.miniatures.moves import MoveLaw
from tablecam.table.headings import difference_deg, forward
from tablecam.table.model import Unit
from tablecam.table.motion import HAND_MM, lies_there
from tablecam.uncertainty.answer import Answer, certain
from tablecam.wording import counted

ALIKE_DEG = 5.0
"""H-14.9: the greatest difference between the headings of units that pass lines."""
LAW: Final = MoveLaw(bases="H-14.2", table="H-12.3", upon="H-14.7", impassable="H-11.9")


def ways(state: State) -> Iterator[Any]:
    """Yields how units may act on the order in force, or without one, whom officers may address."""
    if (under := state.under) is None:
        yield from addresses(state)
        return
    for name, allowed_cm in under.allowed_cm.items():
        unit = state.unit(name)
        if under.order == "deploy":
            yield from deployments(state, unit)
        elif under.order == "manoeuvre":
            yield from manoeuvres(state, unit)
        else:
            yield from straight_ways(state, unit, under)
        if under.order == "advance":
            yield from charges(state, unit, allowed_cm)


def deployments(state: State, unit: Unit) -> Iterator[Any]:
    """Yields the usual formations, dense ground, skirmishers and passages of lines (H-14)."""
    for bases in (*layouts(state, unit), *_ground_layouts(state, unit)):
        deploy = acts.Deploy(unit.id, bases)
        if judged(state, deploy).answer != "no":
            yield deploy
    most = _skirmishers(state, unit)
    yield from (acts.Skirmish(unit.id, count) for count in range(1, most + 1))
    for friend in state.field.friends(unit):
        exchange = acts.PassLines(unit.id, friend.id)
        if ban_on_passing(state, exchange) is None:
            yield exchange


def layouts(state: State, unit: Unit) -> Iterator[Bases]:
    """Yields a unit's bases in each formation it may take, its front left corner fixed (H-14.2)."""
    bases, count, half = unit.bases, len(unit.bases), -(-len(unit.bases) // 2)
    at_mm, heading_deg = front_of(bases).left_mm, heading_of(bases)
    is_open = "irregular" in state.troops(unit.id).abilities
    laid = {
        files: in_ranks(bases, files, at_mm, heading_deg, file=-0.5) for files in (count, half, 1)
    }
    yield from laid.values()
    if unit.arm == "infantry" and count > 1 and not is_open:
        yield tuple(
            replace(base, heading_deg=base.heading_deg + 180.0 * (place % 2))
            for place, base in enumerate(laid[half])
        )


def _ground_layouts(state: State, unit: Unit) -> Iterator[Bases]:
    """Yields a unit's bases in dense terrain that it touches, or out of its own (H-14.8)."""
    ground, heading_deg = state.field, heading_of(unit.bases)
    own = unit.state.get("sector")
    if own is not None:
        edge = ground.sectors[str(own)]
        rear = faces_of(unit.bases, heading_deg)["rear"]
        points = shapely.get_coordinates(edge) - rear.middle_mm
        out_mm = float((points @ forward(heading_deg)).max())
        yield ahead(unit.bases, heading_deg, out_mm + 1.0)
        return
    for outline in ground.sectors.values():
        if outline.distance(ground.outlines[unit.id]) <= TOUCH_MM:
            (x, y), centre = centre_mm(unit.bases), outline.representative_point()
            yield shifted(unit.bases, centre.x - x, centre.y - y)


def judged(state: State, deploy: acts.Deploy) -> Answer:
    """Judges a deployment of a unit (H-14.1 to H-14.8)."""
    name, bases, unit = deploy.unit, deploy.bases, state.unit(deploy.unit)
    if state.order_of(name) != "deploy":
        return certain("no", "H-14.1", f"{name} has no order to deploy")
    if ban := LAW.ban_on_count(unit, bases):
        return certain("no", ban.rule, f"{name} {ban.because}")
    area = footprints(bases)
    if ban := _ban_on_layout(state, unit, bases, area):
        return certain("no", ban.rule, ban.because)
    words = f"{name} deploys: {layout_words(state, unit, bases)}"
    return certain("yes", "H-14.1", words, shapes_of(area, "target"))


def _ban_on_layout(state: State, unit: Unit, bases: Bases, area: Any) -> Ban | None:
    name, ground, facing_deg = unit.id, state.field, heading_of(unit.bases)
    into = [name for name, piece in ground.sectors.items() if overlaps(area, piece)]
    changes_ground = bool(into) or unit.state.get("sector") is not None
    dense = _dense_ban(state, unit, into, area) if changes_ground else ""
    stay, engaged = [*map(lies_there, bases, unit.bases)], ground.touching(unit, bases)
    turn_deg = abs(difference_deg(heading_of(bases), facing_deg))
    is_turned = not faces_alike(bases, facing_deg)
    ban = first_ban(
        (formation_of(replace(unit, bases=bases)) is None, "H-14.1", f"{name} is in no formation"),
        (bool(dense), "H-14.8", f"{name} {dense}"),
        (not (changes_ground or any(stay)), "H-14.2", f"one base of {name} must stay where it is"),
        (is_turned, "H-14.2", f"{name} turns by {turn_deg:.0f}°, and must keep its facing"),
    )
    if ban is None and (end := LAW.ban_on_end(ground, unit, bases)):
        ban = Ban(end.rule, f"{name} {end.because}")
    breaks_off = bool(ground.touching(unit, unit.bases))
    return ban or first_ban(
        (breaks_off, "H-14.7", f"{name} cannot break off by deploying"),
        (bool(engaged), "H-14.7", f"{name} would engage {', '.join(engaged)}"),
        (all(stay) and not changes_ground, "H-14.1", f"{name} lies as before"),
    )


def layout_words(state: State, unit: Unit, bases: Bases) -> str:
    """Returns in words how a unit would be deployed."""
    area = footprints(bases)
    for name, piece in state.field.sectors.items():
        if overlaps(area, piece):
            return f"into {name}"
    own = unit.state.get("sector")
    if own is not None:
        return f"out of {own}"
    formation = formation_of(replace(unit, bases=bases))
    word = "no formation" if formation is None else formation.replace("_", " ")
    has_ranks = formation in ("line", "open") and len(bases) > 1
    return f"{word}, {counted(len(ranks_of(bases)), 'rank')}" if has_ranks else word


def _dense_ban(state: State, unit: Unit, into: Sequence[str], area: Any) -> str:
    """Returns why a unit may not deploy into or out of dense terrain (H-14.8)."""
    ground, troops = state.field, state.troops(unit.id)
    own = unit.state.get("sector")
    if not fights_in_woods(troops):
        return "is not of the arm that deploys in dense terrain"
    if len(into) > 1:
        return "would lie in two sectors"
    if into:
        piece = ground.sectors[into[0]]
        holder = ground.occupant(into[0])
        if holder is not None and holder.id != unit.id:
            return f"finds {into[0]} held by {holder.id}"
        if into[0] != own and piece.distance(ground.outlines[unit.id]) > TOUCH_MM:
            return f"must touch {into[0]} before"
        return ""
    edge = ground.sectors[str(own)]
    return "" if edge.distance(area) <= HAND_MM else f"must touch {own} outside of it"


def deployed(state: State, deploy: acts.Deploy, ruling: Answer) -> State:
    """Returns the state with a unit deployed; friends it now touches are disordered (H-14.7)."""
    name, before, unit = deploy.unit, state.field, state.unit(deploy.unit)
    state = state.tells("form", ruling.because, "H-14.1", *ruling.evidence, unit=name)
    state = acts.settled_sector(acts.placed(state, name, deploy.bases), name)
    state = state.changed(name, formation=formation_of(state.unit(name)), moved=True)
    for friend in state.field.friends(state.unit(name)):
        touched = before.apart_mm(unit, before.units[friend.id]) <= TOUCH_MM
        if not touched and state.field.apart_mm(state.unit(name), friend) <= TOUCH_MM:
            state = disordered(state, friend.id, "H-14.7")
    return acted(state, name)


def _skirmishers(state: State, unit: Unit) -> int:
    """Returns how many bases a unit may send into the skirmish line (H-14.5)."""
    troops = state.troops(unit.id)
    if troops.disordered or troops.routing:
        return 0
    if "skirmish" in troops.abilities:
        return len(unit.bases)
    is_limited = "skirmish_limited" in troops.abilities and not unit.state.get("skirmished")
    return int(is_limited)


def ban_on_skirmishing(state: State, action: acts.Skirmish) -> Ban | None:
    """Returns why a unit may not send so many bases into the skirmish line (H-14.5)."""
    name, most = action.unit, _skirmishers(state, state.unit(action.unit))
    return first_ban(
        (state.order_of(name) != "deploy", "H-14.5", f"{name} has no order to deploy"),
        (not 1 <= action.count <= most, "H-14.5", f"expected 1 to {most} bases of {name}"),
    )


def skirmished(state: State, action: acts.Skirmish, _: None) -> State:
    """Returns the state with bases in the skirmish line."""
    name, unit = action.unit, state.unit(action.unit)
    side = unit.side
    known = state.armies[side].skirmish_bases + action.count
    state = state.with_army(side, skirmish_bases=known)
    division = state.field.facts[name].division
    left = unit.bases[: len(unit.bases) - action.count]
    text = f"{name} sends {action.count} into the skirmish line"
    state = state.tells("form", text, "H-14.5", unit=name, bases=action.count)
    if left:
        return acted(state.changed(name, bases=left, skirmished=True, moved=True), name)
    under = state.under
    state = acts.removed(state, name, "skirmishes with all its bases", "H-14.5")
    state = replace(state, under=under)
    if not any(facts.division == division for facts in state.field.facts.values()):
        for officer, facts in state.field.officer_facts.items():
            if facts.level == "division" and division in facts.commands:
                state = state.without_commander(officer)
    return acted(state, name)


def ban_on_passage(a: Troops, b: Troops, apart_cm: float, turned_deg: float) -> Ban | None:
    """Returns why two units may not pass lines (H-14.9)."""
    shortest_cm = min(a.allowance_cm, b.allowance_cm)
    return first_ban(
        (a.arm != b.arm, "H-14.9", "they are of different arms"),
        ({a.formation, b.formation} != {"line"}, "H-14.9", "both must be in line of battle"),
        (a.support_ranks + b.support_ranks > 0, "H-14.9", "neither may have support ranks"),
        (abs(turned_deg) > ALIKE_DEG, "H-14.9", f"they face {abs(turned_deg):g}° apart"),
        (apart_cm > shortest_cm, "H-14.9", f"they are {apart_cm:g} cm apart, of {shortest_cm:g}"),
        (a.disordered or b.disordered, "H-14.9", "one of them is disordered"),
    )


def ban_on_passing(state: State, action: acts.PassLines) -> Ban | None:
    """Returns why two friends may not change places now (H-14.9)."""
    unit, other = state.unit(action.unit), state.unit(action.other)
    if state.order_of(unit.id) != "deploy":
        return Ban("H-14.9", f"{unit.id} has no order to deploy")
    if unit.side != other.side or other.id == unit.id:
        return Ban("H-14.9", "they are not two friends")
    a, b = front_of(unit.bases), front_of(other.bases)
    turned_deg = difference_deg(a.heading_deg, b.heading_deg)
    apart_cm = round(abs(float(a.ahead_mm([b.middle_mm])[0])) / CM_MM, 6)
    ban = ban_on_passage(state.troops(unit.id), state.troops(other.id), apart_cm, turned_deg)
    if ban is not None or abs(turned_deg) > ALIKE_DEG:
        return ban
    ground = state.field
    same = ground.facts[unit.id].division == ground.facts[other.id].division
    officer = "" if state.under is None else state.under.officer
    is_higher = officer in ground.officers and ground.officer_facts[officer].level != "division"
    if not same and not is_higher:
        return Ban("H-14.9", "they are of two divisions")
    ends = [footprints(bases) for bases in exchanged(unit, other)]
    is_clear = all(ground.has_room(end, unit.id, other.id) for end in ends)
    return None if is_clear and not overlaps(*ends) else Ban("H-14.9", "another unit is in the way")


def exchanged(unit: Unit, other: Unit) -> tuple[Bases, Bases]:
    """Returns the bases of two units after they swap the middles of their fronts (H-14.9)."""
    a, b = front_of(unit.bases).middle_mm, front_of(other.bases).middle_mm
    x_mm, y_mm = b[0] - a[0], b[1] - a[1]
    return shifted(unit.bases, x_mm, y_mm), shifted(other.bases, -x_mm, -y_mm)


def passed(state: State, action: acts.PassLines, _: None) -> State:
    """Returns the state with two friends in each other's places."""
    unit, other, under = state.unit(action.unit), state.unit(action.other), state.under
    assert under is not None
    text = f"{unit.id} and {other.id} pass lines"
    state = state.tells("form", text, "H-14.9", unit=unit.id, other=other.id)
    for one, bases in zip((unit, other), exchanged(unit, other), strict=True):
        state = acts.placed(state, one.id, bases).changed(one.id, moved=True)
    return acted(acted(state, other.id) if other.id in under.allowed_cm else state, unit.id)
