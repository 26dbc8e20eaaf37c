"""Activation of a force: which units may form it, and which cards reach it (M-4.11 to M-4.15)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from tablecam.rules.game import Event, PendingDecision, Refused
from tablecam.rules.maurice.field.field import Field
from tablecam.rules.maurice.game.command.command_steps import EligibleUnits, eligible_units
from tablecam.rules.maurice.game.state.actions import Action, Activate, Done
from tablecam.rules.maurice.game.state.declaring import declarable_activations, declarable_forces
from tablecam.rules.maurice.game.state.hand import with_cards_discarded
from tablecam.rules.maurice.game.state.sequence import DRAWS, after_action
from tablecam.rules.maurice.game.state.state import State, StateAndEvents
from tablecam.rules.maurice.game.state.steps import Activating, Interrupting
from tablecam.rules.maurice.game.state.table import field_at, forces_at
from tablecam.rules.maurice.movement.ways import mover_decides
from tablecam.rules.maurice.place.command_string import (
    command_string,
    command_strings,
    least_cards,
    reaches,
)
from tablecam.rules.maurice.place.forces import first_unlinked
from tablecam.table.sides import side_name, side_plural
from tablecam.wording import nearest

Force = tuple[str, ...]


class ActivatingRules:
    """Rules of `Activating`: a force with cards that reach it, or none if no cards do.

    Cards were drawn for the action, so the side cannot change its mind (M-4.10). Players who hold
    the cards decide themselves whether any reaches.
    """

    def asked(self, state: State, step: Activating) -> PendingDecision:
        """Asks the active side."""
        question = f"{side_plural(state.active)}: which force will {state.round.command}?"
        return PendingDecision(question, state.active)

    def legal(self, state: State, step: Activating) -> tuple[Action, ...]:
        """Lists each whole force and each single unit in reach, with the cheapest cards."""
        activations = _activations(state)
        # After a draw for the action, a force in reach must be activated (M-4.10).
        return activations if activations and _is_bound(state) else (*activations, Done())

    def apply(self, state: State, step: Activating, action: Action) -> StateAndEvents:
        """Spends the cards; the passive side may interrupt."""
        if isinstance(action, Done):
            return _activates_nobody(state)
        if not isinstance(action, Activate):
            raise Refused(f"expected a force or done, got {action.type}", rule="M-4.11")
        spans_bw = _played_bw(state, action)
        # Cards that players hold have no names here.
        played = action.cards if state.is_dealt else (None,) * len(spans_bw)
        if state.declares_first:
            force, left_out_events, event = _unmeasured_force(state, action.force, spans_bw)
        else:
            _check_force(state, field_at(state), action.force)
            force, left_out_events = action.force, ()
            event = _check_reached(state, field_at(state), force, spans_bw)
        state = with_cards_discarded(state, state.active, played)
        # The cards are spent, but nobody is activated.
        if event.kind == "out-of-reach":
            return after_action(state), (*left_out_events, event)
        return state.to(Interrupting("activation", force)), (*left_out_events, event)


def _activates_nobody(state: State) -> StateAndEvents:
    """Ends the action without a force, unless the side's cards reach one."""
    side = side_plural(state.active)
    if _is_bound(state) and (activations := _activations(state)):
        names = ", ".join(activations[0].force)
        why = f"{side} have declared to {state.round.command}, and their cards reach {names}"
        raise Refused(why, rule="M-4.10", key="type")
    text = f"{side} activate no force"
    return after_action(state), (Event("no-force", text, "M-4.15", {"side": state.active}),)


def _is_bound(state: State) -> bool:
    """Whether cards were drawn for the action and tablecam knows the hand."""
    return state.is_dealt and state.round.command is not None and DRAWS[state.round.command] > 0


def _activations(state: State) -> tuple[Activate, ...]:
    """Lists each whole force and each single unit in reach, with the cheapest cards."""
    field, able = field_at(state), eligible_units(state)
    candidates = [
        force
        for force in _candidates(state)
        if able.refusal(force) is None and _is_of_use(state, field, force)
    ]
    if state.declares_first:
        return tuple(
            activation
            for force in candidates
            for activation in declarable_activations(state, force)
        )
    needs_bw = _needs_bw(state, field, candidates)
    cheapest = (
        None if need_bw is None else _cheapest(state, force, need_bw)
        for force, need_bw in zip(candidates, needs_bw, strict=True)
    )
    return tuple(activation for activation in cheapest if activation is not None)


def _candidates(state: State) -> list[Force]:
    """Lists every maximal force, then every unit by itself (M-1.15, M-4.14).

    Where players declare first: every group that might be a force, as links are only measured
    later.
    """
    if state.declares_first:
        return [*declarable_forces(field_at(state).of_side(state.active))]
    forces = forces_at(state, state.active)
    # A force of one unit is listed already.
    singles = [(name,) for force in forces if len(force) > 1 for name in force]
    return [*forces, *singles]


def _is_of_use(state: State, field: Field, force: Force) -> bool:
    """Whether a force has anything to do: no unit rallies without disruption."""
    is_rally = state.round.command == "rally"
    return not is_rally or any(field.by_id[name].disruption for name in force)


def _needs_bw(state: State, field: Field, candidates: Sequence[Force]) -> list[int | None]:
    """Returns the total span that each force needs, None where no path reaches it."""
    commander = state.commander(state.active)
    # Without a commander nothing can be measured, but one card is always needed (M-4.13).
    if commander is None or not candidates:
        return [1] * len(candidates)
    return [
        None if reach is None else least_cards(field, reach)[0]
        for reach in command_strings(field, commander, candidates)
    ]


def _cheapest(state: State, force: Force, need_bw: int) -> Activate | None:
    """Returns the activation with the cheapest cards, or None if the hand lacks the span."""
    if not state.is_dealt:
        most_bw = _most_span_bw(state)
        # A path that bends may be longer than the table's diagonal, so it can take several cards.
        spans_bw = (most_bw,) * ((need_bw - 1) // most_bw)
        spans_bw += (need_bw - sum(spans_bw),)
        has_enough = state.side(state.active).hand >= len(spans_bw)
        return Activate(force, spans=spans_bw) if has_enough else None
    # Cards without another effect come first, to be preferred among equals.
    plain_first = sorted(state.cards_of(state.active), key=lambda card: card.is_of_further_use)
    span_ids = [(card.span_bw, card.id) for card in plain_first]
    chosen = cheapest_cards(span_ids, need_bw)
    return None if chosen is None else Activate(force, cards=chosen)


def cheapest_cards(held: Iterable[tuple[int, str]], need_bw: int) -> tuple[str, ...] | None:
    """Returns the fewest cards with the least total span that is at least `need_bw`.

    Solves the subset sum by dynamic programming over totals.

    >>> cheapest_cards([(4, "a"), (6, "b"), (12, "c")], 9)
    ('a', 'b')
    """
    best: dict[int, tuple[str, ...]] = {0: ()}
    for span_bw, card in held:
        # A copy of the totals: each card counts once.
        for total, cards in list(best.items()):
            extended = (*cards, card)
            fewest = best.get(total + span_bw)
            # Once the span suffices, further cards are only lost.
            if total < need_bw and (fewest is None or len(extended) < len(fewest)):
                best[total + span_bw] = extended
    enough = [total for total, cards in best.items() if total >= need_bw and cards]
    return best[min(enough)] if enough else None


def _check_force(state: State, field: Field, force: Force) -> None:
    """Refuses what is no force of the active side or cannot do the declared action."""
    _check_named(state, field, force)
    if (unlinked := first_unlinked(field, force)) is not None:
        why = f"no chain of linked units connects {unlinked} to the force"
        raise Refused(why, rule="M-1.15", key="force")
    _check_eligible(eligible_units(state, in_doubt=force), force)


def _check_eligible(able: EligibleUnits, force: Force) -> None:
    if (why := able.refusal(force)) is not None:
        raise Refused(why, rule=able.rule, key="force")


def _check_named(state: State, field: Field, force: Force) -> None:
    """Refuses names that are not units of the active side, or occur twice."""
    own = [unit.id for unit in field.of_side(state.active)]
    if not force:
        raise Refused("expected a force, got no units", rule="M-1.15", key="force")
    for place, name in enumerate(force):
        if name not in own:
            why = f"expected units of {side_name(state.active)}, got {name}{nearest(name, own)}"
            raise Refused(why, rule="M-1.15", key="force")
        if name in force[:place]:
            raise Refused(f"{name} is named twice", rule="M-1.15", key="force")


def _unmeasured_force(
    state: State, named: Force, spans_bw: tuple[int, ...]
) -> tuple[Force, tuple[Event, ...], Event]:
    """Returns the force activated without measuring, events for units left out, and its event.

    Units not linked to the first named unit are left out, and cards that do not reach are spent for
    nothing.
    """
    field = field_at(state)
    _check_named(state, field, named)
    _check_eligible(eligible_units(state), named)
    force, events = named, []
    # Leaving one out may unlink others.
    while (unlinked := first_unlinked(field, force)) is not None:
        force = tuple(name for name in force if name != unlinked)
        text = f"{unlinked} is not linked to {force[0]} and stays out of the force"
        events.append(Event("left-out", text, "M-1.15", {"unit": unlinked}))
    try:
        event = _check_reached(state, field, force, spans_bw)
    except Refused as refused:
        if not spans_bw:
            raise
        # A refusal would let players try until the cards reach: they are lost instead.
        text = f"{refused.why}: the cards are lost"
        event = Event("out-of-reach", text, refused.rule, {"force": list(force)})
    return force, tuple(events), event


def _played_bw(state: State, action: Activate) -> tuple[int, ...]:
    """Returns the spans of the played cards."""
    if state.is_dealt:
        if action.spans:
            why = "expected card ids, not spans, as tablecam deals the cards"
            raise Refused(why, rule="M-3.10", key="spans")
        known = {card.id: card.span_bw for card in state.cards_of(state.active)}
        for card in action.cards:
            if card not in known:
                why = f"{side_plural(state.active)} do not hold {card}"
                raise Refused(why, rule="M-3.9", key="cards")
        return tuple(known[card] for card in action.cards)
    if action.cards:
        why = "expected spans, not card ids, as the players hold the cards"
        raise Refused(why, rule="M-3.10", key="cards")
    most_bw = _most_span_bw(state)
    if wrong := [span_bw for span_bw in action.spans if not 1 <= span_bw <= most_bw]:
        why = f"expected spans from 1 to {most_bw} BW (the table's diagonal), got {wrong[0]}"
        raise Refused(why, rule="M-3.4", key="spans")
    return action.spans


def _most_span_bw(state: State) -> int:
    """Returns the largest plausible span of a printed card: the table's diagonal."""
    table = state.position.table
    return math.ceil(math.hypot(table.width_mm, table.depth_mm) / table.bw_mm)


def _check_reached(state: State, field: Field, force: Force, spans_bw: tuple[int, ...]) -> Event:
    """Returns the event of an activation whose cards reach; too close to call is the mover's (G-8).

    Raises:
        Refused: No card is played, no path leads to the force, or the cards do not reach it.
    """
    names, played = ", ".join(force), " + ".join(map(str, spans_bw))
    who = side_plural(state.active)
    text = f"{who} activate {names} to {state.round.command}, with {played} BW"
    facts = {"force": list(force), "spans": list(spans_bw)}
    if not spans_bw:
        raise Refused("at least one card is needed, even at distance 0", rule="M-4.13", key="spans")
    commander = state.commander(state.active)
    if commander is None:
        text = f"{text}; {who} have no commander on the table to measure from"
        return Event("activated", text, "M-4.11", facts)
    reached = command_string(field, commander, force)
    if reached is None:
        why = f"every path from {commander.id} to {names} comes within 1 BW of an enemy"
        raise Refused(why, rule="M-4.12", key="force")
    answer = reaches(field, reached, spans_bw)
    if answer.answer == "no":
        raise Refused(answer.because, rule=answer.rule, key="spans")
    facts |= {"span_bw": round(reached.length_bw, 3), "answer": answer.answer}
    if answer.answer == "too_close":
        text += f"; {mover_decides(answer)}"
    return Event("activated", text, "M-4.11", facts, (reached.path,))
