"""Activation of a force: who may form it, which cards reach it, interrupts (M-4.11 ff.)."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from tablecam.rules.game import PendingDecision, Refused
from tablecam.rules.maurice.charge.charge import are_enough_chargers, charge_of
from tablecam.rules.maurice.field.field import Field
from tablecam.rules.maurice.game.actions import Action, Activate, Decline, Done, Interrupt
from tablecam.rules.maurice.game.cards import (
    NO_SUCH_CARD,
    Modifying,
    _check_side,
    held_card,
    with_cards_discarded,
)
from tablecam.rules.maurice.game.charge import Charging, able_to_charge, charge_bans
from tablecam.rules.maurice.game.combat import Rallying
from tablecam.rules.maurice.game.commander import after_action
from tablecam.rules.maurice.game.fire import Firing
from tablecam.rules.maurice.game.march import Marching
from tablecam.rules.maurice.game.state import (
    MOMENTS,
    Card,
    Command,
    Effect,
    Moment,
    State,
    Step,
    Symbol,
    permitted,
)
from tablecam.rules.maurice.game.table import field_at, forces_at
from tablecam.rules.maurice.movement.ways import mover_decides
from tablecam.rules.maurice.place import ranges
from tablecam.rules.steps import why_none
from tablecam.table.sides import side_name, side_plural
from tablecam.wording import joined, nearest


@dataclass(frozen=True, slots=True)
class EligibleUnits:
    """The units that may be in an activated force, and those that must make up half of it."""

    may: frozenset[str]
    half: frozenset[str]
    rule: str
    what: str

    def check(self, force: Sequence[str]) -> None:
        """Refuses a force that cannot be activated for the action."""
        is_half = 2 * sum(name in self.half for name in force) >= len(force)
        if not (is_half and self.may.issuperset(force)):
            why = f"expected a force with {self.what}, got {', '.join(force)}"
            raise Refused(why, rule=self.rule, key="force")


def eligible_units(state: State, *, in_doubt: Iterable[str] = ()) -> EligibleUnits:
    """Returns the active side's units that may be activated for the declared action.

    A charge that is too close to call is the charger's choice. This slow check is made only for
    the units in `in_doubt`.
    """
    units = field_at(state).of_side(state.active)
    all_units = frozenset(unit.id for unit in units)
    if state.round.command == "bombard":
        guns = frozenset(unit.id for unit in units if unit.unit.arm == "artillery")
        ready = guns - state.round.fired
        return EligibleUnits(ready, guns, "M-7.3", "only artillery that has not fired")
    if state.round.command == "charge":
        # No charge is declared for artillery (M-8.1).
        fit = frozenset(unit.id for unit in units if unit.unit.arm != "artillery")
        can = {*able_to_charge(state, fit)}
        # Close calls are slow to find, so only the named units are checked.
        can |= {name for name in in_doubt if name in fit - can and may_charge(state, name)}
        able = "allowed to try a charge" if state.declares_first else "able to charge"
        return EligibleUnits(fit, frozenset(can), "M-8.2", f"at least half of its units {able}")
    return EligibleUnits(all_units, all_units, "M-4.15", "units")


def may_charge(state: State, unit: str) -> bool:
    """Whether a unit can charge, too close to call included (M-8.3).

    If players declare first: whether it may try to.
    """
    field, is_able = field_at(state), bool(able_to_charge(state, (unit,)))
    return is_able or (
        not state.declares_first and bool(charge_of(field, field.by_id[unit]).close_calls)
    )


DRAWS: dict[Command, int] = {
    "charge": 0,
    "march": 1,
    "rally": 2,
    "bombard": 2,
    "pass": 3,
    "event": 0,
}
"""The number of cards that each command draws (M-4.9)."""
MODIFIED_BY: Final[Mapping[Command, Symbol]] = {
    "charge": "swords",
    "march": "bugle",
    "bombard": "cannon",
    "rally": "flag",
}
"""The symbol of the cards that modify each command (M-3.5)."""
SPANS_BW: Final = (4, 6, 8, 12)
"""Card spans in the rulebook's examples; players with printed cards may state others (M-3.4)."""
Force = tuple[str, ...]


class Activating(Step):
    """Activation: the active side names a force and plays cards for its span (M-4.11)."""

    opens = "the {side} force is activated"
    kinds, expects, answer_rule = (Activate, Done), "a force or done", "M-4.11"

    def asked(self, state: State) -> PendingDecision:
        """Asks the active side."""
        question = f"{side_plural(state.active)}: which force will {state.round.command}?"
        hint = "Each force is offered with its cheapest cards; others are at the end of the list."
        return PendingDecision(question, state.active, hint=hint if state.is_dealt else "")

    def legal(self, state: State) -> tuple[Action, ...]:
        """Lists each whole force and each single unit in reach, with the cheapest cards."""
        activations = _activations(state)
        # After a draw for the action, a force in reach must be activated (M-4.10).
        return activations if activations and _is_bound(state) else (*activations, Done())

    def why_missing(self, state: State) -> str:
        """Says which units no cards reach, and which cannot charge."""
        # Reach would have to be measured.
        if state.declares_first:
            return ""
        eligible = eligible_units(state)
        listed = {name for activation in _activations(state) for name in activation.force}
        own = field_at(state).of_side(state.active)
        left = (unit for unit in own if unit.id in eligible.half - listed)
        far = [unit.id for unit in left if unit.disruption or state.round.command != "rally"]
        parts = [f"The cards in hand do not reach {joined(far)}"] if far else []
        if state.round.command == "charge":
            cannot = (unit.id for unit in own if unit.id in eligible.may - eligible.half)
            parts.append(why_none("charge", charge_bans(state, cannot)))
        return ". ".join(filter(None, parts))

    def decided(self, state: State, action: Activate | Done) -> State:
        """Spends the cards; the passive side may interrupt."""
        if isinstance(action, Done):
            side = side_plural(state.active)
            if _is_bound(state) and (activations := _activations(state)):
                reach = f"their cards reach {', '.join(activations[0].force)}"
                why = f"{side} have declared to {state.round.command}, and {reach}"
                raise Refused(why, rule="M-4.10", key="type")
            text = f"{side} activate no force"
            return after_action(state).tells("no-force", text, "M-4.15", side=state.active)
        spans_bw = played_bw(state, action)
        # Cards held by players have no names here.
        played = action.cards if state.is_dealt else (None,) * len(spans_bw)
        activated = _unmeasured if state.declares_first else _measured
        after = activated(state, action.force, spans_bw)
        return with_cards_discarded(after, state.active, played)


def _is_bound(state: State) -> bool:
    """Whether cards were drawn for the action and tablecam knows the hand."""
    return state.is_dealt and state.round.command is not None and DRAWS[state.round.command] > 0


def _activations(state: State) -> tuple[Activate, ...]:
    field = field_at(state)
    eligible = eligible_units(state)
    candidates = permitted(_candidates(state, eligible.half), eligible.check)
    if state.round.command == "rally":
        # No unit rallies without disruption.
        disrupted = {unit.id for unit in field.units if unit.disruption}
        candidates = tuple(force for force in candidates if not disrupted.isdisjoint(force))
    if state.declares_first:
        # With each single card; if players hold them, with example spans.
        spans = SPANS_BW if state.side(state.active).hand else ()
        played: list[dict[str, Any]] = [{"spans": (span_bw,)} for span_bw in spans]
        if state.is_dealt:
            played = [{"cards": (card.id,)} for card in state.cards_of(state.active)]
        return tuple(Activate(force, **cards) for force in candidates for cards in played)
    # Without a commander nothing can be measured, but one card is always needed (M-4.13).
    if (commander := state.commander(state.active)) is None:
        return tuple(filter(None, (_cheapest(state, force, 1) for force in candidates)))
    strings = zip(candidates, ranges.command_strings(field, commander, candidates), strict=True)
    offered: list[tuple[int, bool, Activate]] = []
    for force, string in strings:
        need_bw = 0 if string is None else ranges.least_cards(field, string)[0]
        if string is not None and (activation := _cheapest(state, force, need_bw)) is not None:
            spans_bw = played_bw(state, activation)
            is_close = ranges.reaches(field, string, spans_bw).answer == "too_close"
            offered.append((-len(force), is_close, activation))
    return tuple(made[-1] for made in sorted(offered, key=lambda made: made[:2]))


def _candidates(state: State, half: frozenset[str]) -> list[Force]:
    """Lists maximal forces, their parts with the units of `half` alone, then single units (M-4.14).

    If players declare first: all units alike in arm and formation, as links are measured later.
    """
    if state.declares_first:
        alike: dict[tuple[str, str], list[str]] = {}
        for unit in field_at(state).of_side(state.active):
            alike.setdefault((unit.unit.arm, unit.formation), []).append(unit.id)
        groups = [tuple(names) for names in alike.values() if len(names) > 1]
        return [*groups, *((unit.id,) for unit in field_at(state).of_side(state.active))]
    forces, field = forces_at(state, state.active), field_at(state)
    able = [[field.by_id[name] for name in force if name in half] for force in forces]
    parts = [part for units in able for part in ranges.possible_forces(field, units)]
    return [*dict.fromkeys((*forces, *parts, *((name,) for force in forces for name in force)))]


def _cheapest(state: State, force: Force, need_bw: int) -> Activate | None:
    """Returns the activation with the cheapest cards, or None if the hand lacks the span."""
    if not state.is_dealt:
        most_bw = _most_span_bw(state)
        # A bent path may be longer than the table's diagonal, so it can take several cards.
        spans_bw = (most_bw,) * ((need_bw - 1) // most_bw)
        spans_bw += (need_bw - sum(spans_bw),)
        has_enough = state.side(state.active).hand >= len(spans_bw)
        return Activate(force, spans=spans_bw) if has_enough else None
    # Cards without another effect come first, so that they are preferred among equals (M-3.9).
    plain_first = sorted(
        state.cards_of(state.active),
        key=lambda card: bool(card.modifies or card.interrupts or card.is_event),
    )
    # Those that would help this very action are spent only if the others do not reach (M-3.5).
    others = [(card.span_bw, card.id) for card in plain_first if not _helps(state, card)]
    every = [(card.span_bw, card.id) for card in plain_first]
    chosen = cheapest_cards(others, need_bw) or cheapest_cards(every, need_bw)
    return None if chosen is None else Activate(force, cards=chosen)


def _helps(state: State, card: Card) -> bool:
    """Whether a card's own effect would help its side in the declared action (M-3.5)."""
    command, effect = state.round.command, card.modifies
    if command is None or effect is None or MODIFIED_BY.get(command) != effect.symbol:
        return False
    # Nobody but the active side marches, shoots or rallies; in combat both sides count.
    return effect.to == "own" or command == "charge"


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
            # Once the span suffices, further cards would be wasted.
            if total < need_bw and (fewest is None or len(extended) < len(fewest)):
                best[total + span_bw] = extended
    enough = [total for total, cards in best.items() if total >= need_bw and cards]
    return best[min(enough)] if enough else None


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


def _measured(state: State, force: Force, spans_bw: tuple[int, ...]) -> State:
    """Returns the state with a force activated, or refuses it."""
    field = field_at(state)
    _check_named(state, field, force)
    if (unlinked := ranges.first_unlinked(field, force)) is not None:
        why = f"no chain of linked units connects {unlinked} to the force"
        raise Refused(why, rule="M-1.15", key="force")
    eligible_units(state, in_doubt=force).check(force)
    return _with_reached(state, field, force, spans_bw)


def _unmeasured(state: State, force: Force, spans_bw: tuple[int, ...]) -> State:
    """Returns the state with a force activated without measuring.

    Units not linked to the first named unit are left out, and cards that do not reach are wasted.
    """
    field = field_at(state)
    _check_named(state, field, force)
    eligible_units(state).check(force)
    # Leaving out one unit may unlink others.
    while (unlinked := ranges.first_unlinked(field, force)) is not None:
        force = tuple(name for name in force if name != unlinked)
        text = f"{unlinked} is not linked to {force[0]} and stays out of the force"
        state = state.tells("left-out", text, "M-1.15", unit=unlinked)
    try:
        return _with_reached(state, field, force, spans_bw)
    except Refused as refused:
        if not spans_bw:
            raise
        # A refusal would let players try until the cards reach, so they are lost instead.
        text = f"{refused.why}: the cards are lost"
        return after_action(state).tells("out-of-reach", text, refused.rule, force=list(force))


def played_bw(state: State, action: Activate) -> tuple[int, ...]:
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


def _with_reached(state: State, field: Field, force: Force, spans_bw: tuple[int, ...]) -> State:
    """Activates a force that the cards reach; a close call is the mover's choice (G-8).

    Raises:
        Refused: No card is played, no path leads to the force, or the cards do not reach it.
    """
    if not spans_bw:
        raise Refused("at least one card is needed, even at distance 0", rule="M-4.13", key="spans")
    names, played = ", ".join(force), " + ".join(map(str, spans_bw))
    army = side_plural(state.active)
    text = f"{army} activate {names} to {state.round.command}, with {played} BW"
    facts: dict[str, Any] = {"force": list(force), "spans": list(spans_bw)}
    commander, state = state.commander(state.active), state.to(Interrupting("activation", force))
    if commander is None:
        text = f"{text}; {army} have no commander on the table to measure from"
        return state.tells("activated", text, "M-4.11", **facts)
    reached = ranges.command_string(field, commander, force)
    if reached is None:
        why = f"every path from {commander.name} to {names} comes within 1 BW of an enemy"
        raise Refused(why, rule="M-4.12", key="force")
    answer = ranges.reaches(field, reached, spans_bw)
    if answer.answer == "no":
        raise Refused(answer.because, rule=answer.rule, key="spans")
    facts |= {"span_bw": round(reached.length_bw, 3), "answer": answer.answer}
    if answer.answer == "too_close" and (doubt := mover_decides(answer)):
        text += f"; {doubt}"
    return state.tells("activated", text, "M-4.11", reached.path, **facts)


_EFFECT_WORDS: Mapping[Effect, str] = {
    "first-fire": "First Fire: they shoot first",
    "rough-going": "Rough Going: difficult ground is impassable in this round",
    "foil": "they foil the activation",
    "other": "follow the card's text",
}


class Interrupting(Step):
    """The passive side's chance to interrupt (M-4.17).

    `force` is the force just activated, empty in the volley phase.
    """

    about = "force"
    opens = "the {side} side has decided whether to interrupt"
    kinds, expects, answer_rule = (Interrupt, Decline), "an interrupt or no card", "M-4.17"
    moment: Moment
    force: tuple[str, ...] = ()

    def owner(self, state: State) -> str:
        """Returns the passive side."""
        return state.passive

    def asked(self, state: State) -> PendingDecision:
        """Asks the passive side."""
        names = ", ".join(self.force)
        what = f"{names}, activated to {state.round.command}" if names else "the volley phase"
        return PendingDecision(f"{side_plural(state.passive)}: interrupt {what}?", state.passive)

    def legal(self, state: State) -> tuple[Action, ...]:
        """Lists the interrupts that may be played now, and none."""
        # Players who hold the cards may have any that fits the moment.
        interrupts = [Interrupt(effect) for effect in MOMENTS]
        if state.is_dealt:
            cards = {card.title: card for card in state.cards_of(state.passive)}.values()
            interrupts = [Interrupt(card.interrupts, card.id) for card in cards if card.interrupts]
        return (Decline(state.passive), *permitted(interrupts, partial(self._check, state)))

    def why_missing(self, state: State) -> str:
        """Says why a side without a card is asked (M-3.1)."""
        return NO_SUCH_CARD if state.is_dealt and len(self.legal(state)) == 1 else ""

    def decided(self, state: State, action: Interrupt | Decline) -> State:
        """Resumes the interrupted step, unless it has become impossible (M-4.19)."""
        if isinstance(action, Decline):
            _check_side(action.side, state.passive)
            return after_interrupt(state, self)
        self._check(state, action)
        side = state.passive
        state = with_cards_discarded(state, side, (action.card,))
        state = state.with_round(
            is_interrupted=True,
            passive_fires_first=action.effect == "first-fire",
            is_rough_going=action.effect == "rough-going",
        )
        facts = {"side": side, "effect": action.effect, "card": action.card}
        text = f"{side_plural(side)} interrupt: {_EFFECT_WORDS[action.effect]}"
        state = state.tells("interrupt", text, "M-4.17", **facts)
        if self.moment == "activation" and _is_foiled(state, self, action.effect):
            text = "the activation fails: all cards played for it are discarded"
            return after_action(state).tells("foiled", text, "M-4.19", force=list(self.force))
        return after_interrupt(state, self)

    def _check(self, state: State, action: Interrupt) -> None:
        effect = action.effect
        if state.round.is_interrupted:
            raise Refused("only one interrupt is allowed in a round", rule="M-4.17")
        is_for_moves = effect != "rough-going" or state.round.command in ("march", "charge")
        if self.moment not in MOMENTS[effect] or not is_for_moves:
            raise Refused(f"{effect} cannot be played now", rule="M-4.17", key="effect")
        card = held_card(state, state.passive, action.card)
        if card is not None and card.interrupts != effect:
            does = f"expected the effect of {card.title} ({card.interrupts or 'no interrupt'})"
            raise Refused(f"{does}, got {effect}", rule="M-3.7", key="effect")

    def goes_on(self, state: State) -> State | None:
        """Continues if the passive side cannot interrupt; returns None if it is asked."""
        # A side with any card at all is asked: skipping it would reveal its hand.
        if state.side(state.passive).hand and not state.round.is_interrupted:
            return None
        return after_interrupt(state, self)


def _is_foiled(state: State, step: Interrupting, effect: Effect) -> bool:
    """Whether an interrupt leaves the activated force unable to carry out its action.

    Under Rough Going a force that starts in difficult ground cannot move; guns may still clear
    their smoke. Half of a charging force must still be able to charge (M-8.2).
    """
    if effect != "rough-going":
        return effect == "foil"
    units = [field_at(state).by_id[name] for name in step.force]
    # One unit stands for all: a force is in difficult ground as a whole or not at all (M-1.15).
    if state.round.command == "charge":
        able = able_to_charge(state, step.force)
        return units[0].is_in_difficult or not are_enough_chargers(len(able), len(units))
    return units[0].is_in_difficult and not any(unit.has_smoke for unit in units)


def after_interrupt(state: State, step: Interrupting) -> State:
    """Resumes the step that could be interrupted; modifying cards come first (M-4.16)."""
    if step.moment == "volleys":
        first, second = state.active, state.passive
        # First Fire reverses the order of cards too (M-4.17).
        if state.round.passive_fires_first:
            first, second = second, first
        firing = Firing("volley", first, next_sides=(second,))
        return state.to(Modifying("musket", first, (second,), then=firing))
    force = step.force
    after: dict[Command, Step] = {
        "march": Marching(force),
        "bombard": Firing("bombard", state.active, may=force),
        "rally": Rallying(force),
    }
    command = state.round.command
    if command not in after:
        # A charge plays its modifying cards before the combat (M-4.16).
        return state.to(Charging(force))
    then = after[command]
    return state.to(Modifying(MODIFIED_BY[command], state.active, (state.passive,), then=then))
