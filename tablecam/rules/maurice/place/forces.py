"""Forces: units of one arm, formation and kind of going, linked in a chain (M-1.15 to M-1.17)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import replace
from itertools import combinations

from tablecam.errors import BadInput
from tablecam.geometry.rectangles import EXACT_MM
from tablecam.rules.maurice.field.field import Field, UnitOnField
from tablecam.rules.maurice.field.spacing import Spacing, spacing
from tablecam.rules.maurice.field.tables import FORCE_BW
from tablecam.uncertainty.answer import Answer
from tablecam.uncertainty.lengths import distance
from tablecam.uncertainty.within import within

RULE = "M-1.15"


def forces(field: Field, side: str, apart: Spacing | None = None) -> tuple[tuple[str, ...], ...]:
    """The maximal forces of a side: whichever units are linked, as far as the chain goes."""
    apart = spacing(field) if apart is None else apart
    return _chains(field.of_side(side), field, apart)


def possible_forces(field: Field, side: str) -> tuple[tuple[str, ...], ...]:
    """The maximal forces of a side when links that are too close to call are links.

    Players judge those, and may name any part of such a force (M-4.14): units laid at 2 BW by a
    hand are not parted by what a camera is off by.
    """
    apart = spacing(field)
    units = field.of_side(side)
    doubtful = {frozenset((a.id, b.id)) for a, b, _ in _doubtful(field, units, apart)}
    return _chains(units, field, apart, doubtful)


def is_force(field: Field, ids: Iterable[str], apart: Spacing | None = None) -> bool:
    """Whether these units by themselves may be activated as one force (M-4.14).

    Raises:
        BadInput: One of them is not on the table.
    """
    units = [_known(field, unit_id) for unit_id in dict.fromkeys(ids)]
    if not units:
        return False
    apart = spacing(field) if apart is None else apart
    return len(_chains(units, field, apart)) == 1


def left_out(field: Field, ids: Iterable[str]) -> str | None:
    """The first of some units that no chain of links joins to the first one (M-4.14).

    None when all may be activated as one force. A link that is too close to call is the players'
    to judge, and does not part them here.
    """
    units = [_known(field, unit_id) for unit_id in dict.fromkeys(ids)]
    chain = units[:1]
    for member in chain:  # grows as links are found
        chain += [
            other
            for other in units
            if other not in chain and link(field, member, other).answer != "no"
        ]
    return next((unit.id for unit in units if unit not in chain), None)


def why_apart(a: UnitOnField, b: UnitOnField) -> str | None:
    """What keeps two units from one force wherever they stand; None where nothing does."""
    if a.side != b.side:
        return "they are of different sides"
    if a.unit.arm != b.unit.arm:
        return f"one is {a.unit.arm}, the other {b.unit.arm}"
    if a.formation != b.formation:
        return f"one is in {a.formation}, the other in {b.formation}"
    if a.formation == "broken-up":
        return "how they are formed is unclear"
    if a.is_in_difficult != b.is_in_difficult:
        return "one stands in difficult ground, the other in the open"
    return None


def link(field: Field, a: UnitOnField, b: UnitOnField) -> Answer:
    """Whether two units are near enough to be linked, the other conditions apart."""
    length = distance(a.unit, b.unit)
    table = field.position.table
    answer = within(length, FORCE_BW, table, a=a.id, b=b.id, rule=RULE)
    apart = why_apart(a, b)
    if apart is None:
        return answer
    sure = replace(answer, answer="no", margin_mm=0.0, sigma_mm=0.0, probability=0.0)
    return replace(sure, because=f"no force: {apart}")  # no distance decides


def doubtful_links(field: Field, side: str, apart: Spacing | None = None) -> tuple[Answer, ...]:
    """The links of a side that are too close to call."""
    apart = spacing(field) if apart is None else apart
    return tuple(answer for *_, answer in _doubtful(field, field.of_side(side), apart))


def _doubtful(
    field: Field, units: Sequence[UnitOnField], apart: Spacing
) -> Iterator[tuple[UnitOnField, UnitOnField, Answer]]:
    tolerance_mm = field.position.table.tolerance_mm
    for a, b in combinations(units, 2):
        margin_mm = abs(FORCE_BW * field.bw_mm - apart.mm(a.id, b.id))
        # Beyond this no answer is too close; most pairs are never asked about.
        if why_apart(a, b) is None and margin_mm <= tolerance_mm + 2 * apart.sigma_mm(a.id, b.id):
            answer = link(field, a, b)
            if answer.answer == "too_close":
                yield a, b, answer


def _chains(
    units: Sequence[UnitOnField],
    field: Field,
    apart: Spacing,
    doubtful: Set[frozenset[str]] = frozenset(),
) -> tuple[tuple[str, ...], ...]:
    limit_mm = FORCE_BW * field.bw_mm + EXACT_MM
    left = list(units)
    chains = []
    while left:
        chain = [left.pop(0)]
        for member in chain:  # grows as links are found
            linked = [
                other
                for other in left
                if frozenset((member.id, other.id)) in doubtful
                or (apart.mm(member.id, other.id) <= limit_mm and why_apart(member, other) is None)
            ]
            chain += linked
            left = [other for other in left if other not in linked]
        chains.append({member.id for member in chain})
    order = [unit.id for unit in units]
    return tuple(tuple(unit_id for unit_id in order if unit_id in chain) for chain in chains)


def _known(field: Field, unit_id: str) -> UnitOnField:
    if unit_id not in field.by_id:
        raise BadInput("force", f"there is no unit {unit_id} on the table")
    return field.by_id[unit_id]
