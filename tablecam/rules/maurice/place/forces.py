"""Groups units into forces: chains of close units of one kind (M-1.15 to M-1.17)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations

from tablecam.geometry.rectangles import EXACT_MM
from tablecam.rules.maurice.field.distance_matrix import distance_matrix
from tablecam.rules.maurice.field.field import Field, UnitOnField
from tablecam.rules.maurice.field.tables import FORCE_BW
from tablecam.uncertainty.answer import Answer
from tablecam.uncertainty.lengths import distance
from tablecam.uncertainty.within import within

RULE = "M-1.15"


def forces(field: Field, side: str) -> tuple[tuple[str, ...], ...]:
    """Returns the maximal forces of a side: chains of linked units."""
    return _chains(field.of_side(side), partial(are_linked, field))


def possible_forces(field: Field, side: str) -> tuple[tuple[str, ...], ...]:
    """Returns the maximal forces of a side if every link that is too close to call holds.

    Players judge those links and may name any part of such a force (M-4.14): a measuring error must
    not separate units that were placed by hand at exactly 2 BW.
    """
    close_calls = {frozenset((a.id, b.id)) for a, b, _ in _close_calls(field, side)}
    return _chains(
        field.of_side(side),
        lambda a, b: frozenset((a.id, b.id)) in close_calls or are_linked(field, a, b),
    )


def first_unlinked(field: Field, ids: Iterable[str]) -> str | None:
    """Returns the id of the first unit that no chain of links joins to the first one (M-4.14).

    None if all may be activated as one force. A link that is too close to call counts as a link,
    since players judge it.
    """
    units = [field.by_id[unit_id] for unit_id in dict.fromkeys(ids)]
    chains = _chains(units, lambda a, b: link(field, a, b).answer != "no")
    return next((unit.id for unit in units if unit.id not in chains[0]), None)


def linking_obstacle(a: UnitOnField, b: UnitOnField) -> str | None:
    """Returns why two units cannot be in one force at any distance; None if they can."""
    if a.side != b.side:
        return "they are on different sides"
    if a.unit.arm != b.unit.arm:
        return f"one is {a.unit.arm}, the other {b.unit.arm}"
    if a.formation != b.formation:
        return f"one is in {a.formation}, the other in {b.formation}"
    if a.formation == "broken-up":
        return "their formation is unclear"
    if a.is_in_difficult != b.is_in_difficult:
        return "one stands in difficult ground, the other in the open"
    return None


def are_linked(field: Field, a: UnitOnField, b: UnitOnField) -> bool:
    """Returns whether two units are directly linked, as measured."""
    far_mm = distance_matrix(field).mm(a.id, b.id)
    return far_mm <= FORCE_BW * field.bw_mm + EXACT_MM and linking_obstacle(a, b) is None


def link(field: Field, a: UnitOnField, b: UnitOnField) -> Answer:
    """Returns whether two units are linked: alike and at most 2 BW apart (M-1.15)."""
    length = distance(a.unit, b.unit)
    table = field.position.table
    answer = within(length, FORCE_BW, table, a=a.id, b=b.id, rule=RULE)
    obstacle = linking_obstacle(a, b)
    if obstacle is None:
        return answer
    no = replace(answer, answer="no", margin_mm=0.0, sigma_mm=0.0, probability=0.0)
    # The distance does not matter.
    return replace(no, because=obstacle)


def close_call_links(field: Field, side: str) -> tuple[Answer, ...]:
    """Returns the answers of a side's links that are too close to call."""
    return tuple(answer for *_, answer in _close_calls(field, side))


def _close_calls(field: Field, side: str) -> Iterator[tuple[UnitOnField, UnitOnField, Answer]]:
    tolerance_mm, apart = field.position.table.tolerance_mm, distance_matrix(field)
    for a, b in combinations(field.of_side(side), 2):
        margin_mm = abs(FORCE_BW * field.bw_mm - apart.mm(a.id, b.id))
        # Beyond two sigmas no answer is too close, which spares most pairs the full check.
        if linking_obstacle(a, b) is None and margin_mm <= tolerance_mm + 2 * apart.sigma_mm(
            a.id, b.id
        ):
            answer = link(field, a, b)
            if answer.answer == "too_close":
                yield a, b, answer


def _chains(
    units: Sequence[UnitOnField], linked: Callable[[UnitOnField, UnitOnField], bool]
) -> tuple[tuple[str, ...], ...]:
    """Returns the chains that linked units form, each in the units' order."""
    unlinked = list(units)
    chains = []
    while unlinked:
        chain = [unlinked.pop(0)]
        # Grows as links are found.
        for member in chain:
            chain += [other for other in unlinked if linked(member, other)]
            unlinked = [other for other in unlinked if other not in chain]
        chains.append(tuple(unit.id for unit in units if unit in chain))
    return tuple(chains)
