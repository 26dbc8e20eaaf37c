"""Activating a force: which one may be, and which cards reach it (M-4.11 to M-4.15)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from tablecam.rules.game import Asked, Event, Refused
from tablecam.rules.maurice.field.field import Field
from tablecam.rules.maurice.game.command.able import able_units
from tablecam.rules.maurice.game.state.actions import Action, Activate, Done
from tablecam.rules.maurice.game.state.declaring import tried_activations, tried_forces
from tablecam.rules.maurice.game.state.hand import cards_of, is_dealt, without_cards
from tablecam.rules.maurice.game.state.sequence import DRAWS, after_action
from tablecam.rules.maurice.game.state.state import State
from tablecam.rules.maurice.game.state.step_rules import Followed
from tablecam.rules.maurice.game.state.steps import Activating, Interrupting
from tablecam.rules.maurice.game.state.table import field_at, forces_at
from tablecam.rules.maurice.place.activation import least_cards, reaches, span, spans
from tablecam.rules.maurice.place.forces import left_out
from tablecam.table.model import Commander
from tablecam.table.sides import side_name
from tablecam.wording import nearest

Force = tuple[str, ...]


class ActivatingRules:
    """`Activating`: a force and cards that reach it; or none, as no card does.

    Cards were drawn for the action, so nobody changes his mind (M-4.10). Where players hold printed
    cards it is theirs to say that none reaches.
    """

    def asked(self, state: State, step: Activating) -> Asked:
        """The active side."""
        question = f"Which force does {side_name(state.active)} activate to {state.round.command}?"
        return Asked(question, state.active)

    def legal(self, state: State, step: Activating) -> tuple[Action, ...]:
        """Each whole force and each unit that can be activated, with the cheapest cards for it."""
        found = _activations(state)
        return found if found and _is_bound(state) else (*found, Done())

    def apply(self, state: State, step: Activating, action: Action) -> Followed:
        """The cards are spent, and the passive side may interrupt."""
        if isinstance(action, Done):
            return _activates_nobody(state)
        if not isinstance(action, Activate):
            raise Refused(f"expected a force, or done, got {action.type}", rule="M-4.11")
        spans_bw = _played_bw(state, action)
        played = action.cards if is_dealt(state) else (None,) * len(spans_bw)
        if state.declares_first:
            force, left, told = _tried(state, action.force, spans_bw)
        else:
            _check_force(state, field_at(state), action.force)
            force, left = action.force, ()
            told = _check_reached(state, field_at(state), force, spans_bw)
        state = without_cards(state, state.active, played)
        if told.kind == "out-of-reach":
            return after_action(state), (*left, told)
        return state.to(Interrupting("activation", force)), (*left, told)


def _activates_nobody(state: State) -> Followed:
    who = side_name(state.active)
    if _is_bound(state) and (found := _activations(state)):
        names = ", ".join(found[0].force)
        why = f"{who} has declared to {state.round.command}, and its cards reach {names}"
        raise Refused(why, rule="M-4.10", key="type")
    text = f"{who} activates nobody"
    return after_action(state), (Event("no-force", text, "M-4.15", {"side": state.active}),)


def _is_bound(state: State) -> bool:
    """Whether cards were drawn for the action, and tablecam knows which the hand holds."""
    return is_dealt(state) and state.round.command is not None and DRAWS[state.round.command] > 0


def _activations(state: State) -> tuple[Activate, ...]:
    """Each whole force and each unit that can be activated, with the cheapest cards for it."""
    field, able = field_at(state), able_units(state)
    candidates = [
        force
        for force in _candidates(state)
        if able.refusal(force) is None and _is_of_use(state, field, force)
    ]
    if state.declares_first:
        return tuple(each for force in candidates for each in tried_activations(state, force))
    needs_bw = _needs_bw(state, field, candidates)
    cheapest = (
        None if need_bw is None else _cheapest(state, force, need_bw)
        for force, need_bw in zip(candidates, needs_bw, strict=True)
    )
    return tuple(each for each in cheapest if each is not None)


def _candidates(state: State) -> list[Force]:
    """Every maximal force, then every unit by itself (M-1.15, M-4.14).

    Where players declare first, whatever may be one: who is linked to whom is measured.
    """
    if state.declares_first:
        return [*tried_forces(field_at(state).of_side(state.active))]
    whole = forces_at(state, state.active)
    singles = [(name,) for force in whole if len(force) > 1 for name in force]
    return [*whole, *singles]


def _is_of_use(state: State, field: Field, force: Force) -> bool:
    """Whether a force has anything to do in the declared action: nobody rallies from nothing."""
    is_rally = state.round.command == "rally"
    return not is_rally or any(field.by_id[name].disruption for name in force)


def _commander(state: State) -> Commander | None:
    own = (each for each in state.position.commanders if each.side == state.active)
    return next(own, None)


def _needs_bw(state: State, field: Field, candidates: Sequence[Force]) -> list[int | None]:
    """The span that cards must add up to for each force; None where no string reaches it."""
    commander = _commander(state)
    if commander is None or not candidates:
        return [1] * len(candidates)
    return [
        None if found is None else least_cards(field, found)[0]
        for found in spans(field, commander, candidates)
    ]


def _cheapest(state: State, force: Force, need_bw: int) -> Activate | None:
    """The activation with the cheapest cards; None where the hand has not enough span."""
    if not is_dealt(state):
        most_bw = _most_span_bw(state)
        spans_bw = (most_bw,) * ((need_bw - 1) // most_bw)  # a string may bend, and be longer
        spans_bw += (need_bw - sum(spans_bw),)
        enough = state.side(state.active).hand >= len(spans_bw)
        return Activate(force, spans=spans_bw) if enough else None
    plain_first = sorted(cards_of(state, state.active), key=lambda card: card.is_of_further_use)
    held = [(card.span_bw, card.id) for card in plain_first]
    chosen = cheapest_cards(held, need_bw)
    return None if chosen is None else Activate(force, cards=chosen)


def cheapest_cards(held: Iterable[tuple[int, str]], need_bw: int) -> tuple[str, ...] | None:
    """The cards whose spans add up to enough and to as little more as can be, the fewest of such.

    >>> cheapest_cards([(4, "a"), (6, "b"), (12, "c")], 9)
    ('a', 'b')
    """
    best: dict[int, tuple[str, ...]] = {0: ()}
    for span_bw, card in held:
        for total, cards in list(best.items()):
            more = (*cards, card)
            known = best.get(total + span_bw)
            if total < need_bw and (known is None or len(more) < len(known)):
                best[total + span_bw] = more
    enough = [total for total, cards in best.items() if total >= need_bw and cards]
    return best[min(enough)] if enough else None


def _check_force(state: State, field: Field, force: Force) -> None:
    """Refuse what is no force of the active side, or cannot do the declared action."""
    _check_named(state, field, force)
    if (apart := left_out(field, force)) is not None:
        raise Refused(f"no chain of links joins {apart} to the force", rule="M-1.15", key="force")
    able = able_units(state, in_doubt=force)
    if (why := able.refusal(force)) is not None:
        raise Refused(why, rule=able.rule, key="force")


def _check_named(state: State, field: Field, force: Force) -> None:
    """Refuse what are not units of the active side, each once."""
    own = [unit.id for unit in field.of_side(state.active)]
    if not force:
        raise Refused("expected a force, got no unit", rule="M-1.15", key="force")
    for place, name in enumerate(force):
        if name not in own:
            there = f"expected units of {side_name(state.active)}, got {name}{nearest(name, own)}"
            raise Refused(there, rule="M-1.15", key="force")
        if name in force[:place]:
            raise Refused(f"{name} is named twice", rule="M-1.15", key="force")


def _tried(
    state: State, named: Force, spans_bw: tuple[int, ...]
) -> tuple[Force, tuple[Event, ...], Event]:
    """The force that was activated where nobody measured, who was left out, and what is told.

    Whoever is not linked to the first that was named stays out of it, and cards that do not reach
    are spent for nothing.
    """
    field = field_at(state)
    _check_named(state, field, named)
    able = able_units(state)
    if (why := able.refusal(named)) is not None:
        raise Refused(why, rule=able.rule, key="force")
    force, events = named, []
    while (apart := left_out(field, force)) is not None:
        force = tuple(name for name in force if name != apart)
        text = f"{apart} is not linked to {force[0]}: it is not of the force"
        events.append(Event("left-out", text, "M-1.15", {"unit": apart}))
    try:
        told = _check_reached(state, field, force, spans_bw)
    except Refused as refused:
        if not spans_bw:
            raise
        why = refused.message.removeprefix(f"{refused.rule} ")
        text = f"{why}: the cards are spent for nothing"
        told = Event("out-of-reach", text, refused.rule, {"force": list(force)})
    return force, tuple(events), told


def _played_bw(state: State, action: Activate) -> tuple[int, ...]:
    """The spans of the cards that are played."""
    if is_dealt(state):
        if action.spans:
            why = "expected the cards, not their spans: tablecam deals them"
            raise Refused(why, rule="M-3.10", key="spans")
        known = {card.id: card.span_bw for card in cards_of(state, state.active)}
        for card in action.cards:
            if card not in known:
                why = f"{side_name(state.active)} does not hold {card}"
                raise Refused(why, rule="M-3.9", key="cards")
        return tuple(known[card] for card in action.cards)
    if action.cards:
        why = "expected the cards' spans, not their names: the players hold them"
        raise Refused(why, rule="M-3.10", key="cards")
    most_bw = _most_span_bw(state)
    if wrong := [each for each in action.spans if not 1 <= each <= most_bw]:
        why = f"expected spans from 1 to {most_bw} BW, from corner to corner, got {wrong[0]}"
        raise Refused(why, rule="M-3.4", key="spans")
    return action.spans


def _most_span_bw(state: State) -> int:
    """The most that is believed of a printed card: from one corner of the table to the other."""
    table = state.position.table
    return math.ceil(math.hypot(table.width_mm, table.depth_mm) / table.base_width_mm)


def _check_reached(state: State, field: Field, force: Force, spans_bw: tuple[int, ...]) -> Event:
    """What is told of an activation whose cards reach; too close to call is the mover's (G-8)."""
    names, played = ", ".join(force), " + ".join(map(str, spans_bw))
    said = f"{side_name(state.active)} activates {names} to {state.round.command}, with {played} BW"
    facts = {"force": list(force), "spans": list(spans_bw)}
    if not spans_bw:
        raise Refused("even at distance 0 one card is needed", rule="M-4.13", key="spans")
    commander = _commander(state)
    if commander is None:
        text = f"{said}; {side_name(state.active)} has no commander on the table to measure from"
        return Event("activated", text, "M-4.11", facts)
    found = span(field, commander, force)
    if found is None:
        why = f"every way from {commander.id} to {names} passes within 1 BW of an enemy"
        raise Refused(why, rule="M-4.12", key="force")
    answer = reaches(field, found, spans_bw)
    if answer.answer == "no":
        raise Refused(answer.because, rule=answer.rule, key="spans")
    facts |= {"span_bw": round(found.length_bw, 3), "answer": answer.answer}
    if answer.answer == "too_close":
        said += f"; {abs(answer.margin_mm):.1f} mm are too close to call, and the mover's"
    return Event("activated", said, "M-4.11", facts, (found.path,))
