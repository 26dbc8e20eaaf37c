"""Orders: who may order whom, the factor, the roll, and what the units may then do (H-11)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal

from tablecam.rules.game import Ban, PendingDecision
from tablecam.rules.huzzah_ge import state as acts
from tablecam.rules.huzzah_ge import tables
from tablecam.rules.huzzah_ge.fire import ban_on_firing
from tablecam.rules.huzzah_ge.state import Due, FactorDice, State
from tablecam.rules.huzzah_ge.troops import Officer, Troops
from tablecam.rules.miniatures.battle import Done, first_ban
from tablecam.rules.miniatures.unit_keys import Count
from tablecam.rules.questions import Facts
from tablecam.rules.steps import ban_on_all
from tablecam.wording import joined

LEVELS: Final = ("division", "corps", "cinc")
ORDERS: Final[tuple[tables.Order, ...]] = ("advance", "retire", "deploy", "manoeuvre")


@dataclass(frozen=True, kw_only=True)
class Situation(Facts):
    """The situation of the ordered units, as it counts in a command factor (H-11.4)."""

    order: tables.Order
    earlier_orders: Count = 0
    all_in_radius: bool = False
    out_of_range: bool = False
    fired: Count = 0
    disordered: Count = 0
    in_dense_terrain: Count = 0
    formed_enemy_within_one_move: bool = False
    hesitant_within_one_move: bool = False
    renowned_ahead_within_one_move: bool = False
    infantry_on_cavalry_within_one_move: bool = False


def order_factor(quality: tables.Command, officer: Officer, situation: Situation) -> tables.Factor:
    """Returns the command factor of an order by its terms (H-11.1, H-11.4)."""
    advances = situation.order == "advance"
    return tables.factor_of(
        {
            "command_factor": tables.COMMAND[quality][0],
            "earlier_orders": -situation.earlier_orders,
            "fired": -(situation.fired > 0),
            "disordered": -(situation.disordered > 0),
            "in_dense_terrain": -(situation.in_dense_terrain > 0),
            "formed_enemy": -situation.formed_enemy_within_one_move,
            "hesitant": -situation.hesitant_within_one_move,
            "renowned": -(situation.renowned_ahead_within_one_move and advances),
            "infantry_on_cavalry": -2
            * (situation.infantry_on_cavalry_within_one_move and advances),
            "all_in_radius": int(situation.all_in_radius),
            "out_of_range": int(situation.out_of_range),
            "attached": int(officer.attached),
            "inspirational": int(officer.inspirational and advances),
        }
    )


@dataclass(frozen=True, slots=True)
class OrderResult:
    """The result of an order for its officer and for the phase (H-11.5 to H-11.8)."""

    is_success: bool
    is_officer_done: bool
    is_second_order_free: bool
    phase_ends: bool


def order_result(factor: int, dice: Sequence[int], *, is_cinc: bool) -> OrderResult:
    """Returns the result of a roll for an order."""
    is_success = tables.succeeds(factor, dice)
    return OrderResult(
        is_success, not is_success, tables.is_huzzah(dice), is_cinc and not is_success
    )


def allowances_cm(group: Sequence[Troops], order: tables.Order) -> list[float]:
    """Returns how far the units of a group may go (H-12.2, H-13.1)."""
    slowest_cm = min(troops.rout_cm for troops in group)
    if order == "retire":
        half_cm = min(troops.allowance_cm for troops in group) / 2
        return [min(half_cm, troops.allowance_cm / 2) for troops in group]
    return [min(troops.allowance_cm, slowest_cm) for troops in group]


def groups_of(state: State, officer: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yields the command groups and units that an officer may order, with their units (H-11.2).

    If attached, he orders his unit alone; units with another officer are left out (H-11.12).
    """
    ground = state.field
    own = ground.officers[officer].state.get("attached_to")
    under = [name for name in ground.units if ground.commanded(officer, name)]
    if own is not None:
        yield own, (own,) if own in ground.units else ()
        return
    free = [name for name in under if ground.attached_to(name) in (None, officer)]
    level = ground.officer_facts[officer].level
    groups: dict[str, list[str]] = {}
    for name in free:
        facts = ground.facts[name]
        names = [facts.division] if level == "division" else [facts.corps, facts.division]
        for group in filter(None, names):
            groups.setdefault(group, []).append(name)
    for group, names_in in groups.items():
        if len(names_in) > 1:
            yield group, tuple(names_in)
    yield from ((name, (name,)) for name in free)


def ban_on_deed(
    troops: Troops,
    deed: Literal["advance", "retire", "deploy", "fire", "be_ordered"],
    *,
    has_moved: bool,
) -> Ban | None:
    """Returns why a unit may not do something now (H-1.12, H-7.1, H-11.13, H-12.1)."""
    if deed == "fire":
        never_both = "reserve artillery fires or moves in a turn, never both"
        is_done = troops.is_reserve and has_moved
        return ban_on_firing(troops, 0.0) or first_ban((is_done, "H-1.12", never_both))
    moves = deed in ("advance", "retire")
    return first_ban(
        (troops.routing, "H-11.13", "a routing unit takes no orders"),
        (troops.is_reserve and troops.fired, "H-11.13", "reserve artillery that fired is done"),
        (moves and troops.formation == "square", "H-12.1", "a square does not move"),
    )


def able(state: State, names: Iterable[str]) -> tuple[str, ...]:
    """Returns the units that can take orders now (H-1.12, H-11.13, H-12.7)."""
    return tuple(name for name in names if _ban_on_obeying(state, name) is None)


def _ban_on_obeying(state: State, name: str) -> Ban | None:
    ban = ban_on_deed(state.troops(name), "be_ordered", has_moved=False)
    is_charging = any(rush.unit == name for rush in state.rushes)
    had_second = any(given.is_second and name in given.units for given in state.given)
    return ban or first_ban(
        (is_charging, "H-12.7", "it is charging"),
        (had_second, "H-11.8", "it has had its second order"),
    )


def addresses(state: State) -> Iterator[acts.Address]:
    """Yields whom officers of the active side may address, lowest first (H-11.3, H-11.7)."""
    ground = state.field
    own = (name for name in state.leaders if name not in state.done_officers)
    for name in sorted(own, key=lambda name: LEVELS.index(ground.officer_facts[name].level)):
        for group, names in groups_of(state, name):
            if ban_on_address(state, name, group, names) is None:
                yield acts.Address(name, group)


def ban_on_address(state: State, officer: str, group: str, names: Sequence[str]) -> Ban | None:
    """Returns why an officer may not order a group now (H-11.6, H-11.7)."""
    by_others = [
        (given.officer, shared)
        for given in state.given
        if given.officer != officer and (shared := [name for name in names if name in given.units])
    ]
    taken = "; ".join(f"{other} has ordered {joined(shared)}" for other, shared in by_others)
    own = [given.group for given in state.given if given.officer == officer]
    has_turned = group in own and own[-1] != group
    return first_ban(
        (officer in state.done_officers, "H-11.6", f"{officer} gives no more orders this turn"),
        (bool(taken), "H-11.7", taken),
        (has_turned, "H-11.7", f"{officer} has turned away from {group}"),
        (not able(state, names), "H-11.13", f"{group} takes no orders now"),
    )


def ban_on_ordering(state: State, name: str) -> Ban | None:
    """Returns why no officer may order a unit, while no order is in force (H-11.6 to H-11.13)."""
    if state.under is not None:
        return None
    return _ban_on_obeying(state, name) or ban_on_all(
        ban_on_address(state, officer, group, names)
        for officer in state.leaders
        for group, names in groups_of(state, officer)
        if name in names
    )


def ban_on_addressing(state: State, action: acts.Address) -> Ban | None:
    """Returns why an officer may not address a group (H-11.2, H-11.6, H-11.7)."""
    name = action.officer
    if name not in state.leaders:
        return Ban("H-11.2", f"expected an officer of yours, got {name}")
    names = dict(groups_of(state, name)).get(action.group)
    if names is None:
        return Ban("H-11.2", f"{name} does not command {action.group}")
    return ban_on_address(state, name, action.group, names)


def addressed(state: State, action: acts.Address, _: None) -> State:
    """Returns the state in which an order is chosen."""
    return state.pushed(OrderChoice(action.officer, action.group))


class OrderChoice(Due):
    """Which order an officer gives; a second one after a double one needs no roll (H-11.8)."""

    answers = (*map(acts.GiveOrder, ORDERS), Done())
    officer: str
    group: str
    is_second: bool = False

    def units(self, state: State) -> tuple[str, ...]:
        """Returns the units that take the order."""
        is_there = self.officer in state.field.officers
        groups = dict(groups_of(state, self.officer)) if is_there else {}
        return able(state, groups.get(self.group, ()))

    def asked(self, state: State) -> PendingDecision | None:
        """Returns the question."""
        names = self.units(state)
        if not names:
            return None
        which = "a double one, which second order" if self.is_second else "which order"
        question = f"{self.officer} orders {self.group}: {which}?"
        if self.is_second:
            return PendingDecision(question, state.active)
        odds: dict[int, list[str]] = {}
        for order in ORDERS:
            factor = OrderDice(self.officer, self.group, order, names).factor(state)
            odds.setdefault(factor.value, []).append(order)
        words = (f"{joined(listed, 'or')} on {most} or less" for most, listed in odds.items())
        hint = f"Two dice decide: {'; '.join(words)}."
        if (closed := self._closed(state)) is not None:
            hint += f" {closed} gives no more orders then."
        return PendingDecision(question, state.active, hint=hint)

    def follow(self, state: State, answer: acts.GiveOrder | Done | None) -> State:
        """Returns the state in which the order is rolled for; a second one is in force at once."""
        if not isinstance(answer, acts.GiveOrder):
            return state
        dice = OrderDice(self.officer, self.group, answer.order, self.units(state))
        if self.is_second:
            given = acts.Given(self.officer, self.group, dice.units, is_second=True)
            return dice.enacted(replace(state, given=(*state.given, given)))
        if (closed := self._closed(state)) is not None:
            state = replace(state, done_officers=(*state.done_officers, closed))
        return state.pushed(dice)

    def _closed(self, state: State) -> str | None:
        """Returns the officer whose orders end if this one gives an order (H-11.7)."""
        before = state.given[-1].officer if state.given else self.officer
        return None if before in (self.officer, *state.done_officers) else before


class OrderDice(FactorDice):
    """The roll of an order (H-11.4)."""

    dice = "{officer}: {group} to {order}"
    officer: str
    group: str
    order: tables.Order
    units: tuple[str, ...]

    def factor(self, state: State) -> tables.Factor:
        """Returns the factor of the order by its terms (H-11.4)."""
        ground, facts = state.field, state.field.officer_facts[self.officer]
        troops = [state.troops(name) for name in self.units]
        near = [[ground.troops[one] for one in ground.near_enemies(name)] for name in self.units]
        ahead = [
            (own, ground.troops[enemy])
            for own, name in zip(troops, self.units, strict=True)
            for enemy in ground.near_ahead(name)
        ]
        situation = Situation(
            order=self.order,
            earlier_orders=sum(not {*self.units}.isdisjoint(given.units) for given in state.given),
            fired=sum(one.fired for one in troops),
            disordered=sum(one.disordered for one in troops),
            in_dense_terrain=sum(one.in_dense for one in troops),
            formed_enemy_within_one_move=any(
                not enemy.disordered and not enemy.routing for enemies in near for enemy in enemies
            ),
            hesitant_within_one_move=any(
                enemies and "hesitant" in own.abilities
                for own, enemies in zip(troops, near, strict=True)
            ),
            renowned_ahead_within_one_move=any("renowned" in enemy.abilities for _, enemy in ahead),
            infantry_on_cavalry_within_one_move=any(
                (own.arm, enemy.arm) == ("infantry", "cavalry") for own, enemy in ahead
            ),
            all_in_radius=bool(self.units) and ground.all_in_radius(self.officer, self.units),
            out_of_range=ground.out_of_range(self.units),
        )
        is_attached = ground.officers[self.officer].state.get("attached_to") is not None
        own = Officer(attached=is_attached, inspirational=facts.inspirational)
        return order_factor(facts.quality or "average", own, situation)

    def enacted(self, state: State, *, has_second: bool = False) -> State:
        """Returns the state in which units act, each with its allowance (H-12.2, H-13.1)."""
        allowed_cm = allowances_cm([*map(state.troops, self.units)], self.order)
        ways = dict(zip(self.units, allowed_cm, strict=True))
        under = acts.Under(self.officer, self.group, self.order, ways, has_second)
        return replace(state, under=under)

    def follow(self, state: State, answer: tuple[int, ...]) -> State:
        """Returns the state in which the units act, or the officer is done (H-11.5, H-11.6)."""
        officer, group = self.officer, self.group
        factor = self.factor(state)
        level = state.field.officer_facts[officer].level
        result = order_result(factor.value, answer, is_cinc=level == "cinc")
        given = acts.Given(officer, group, self.units)
        state = replace(state, given=(*state.given, given))
        word = "obeys" if result.is_success else "does not obey"
        text = f"{officer} orders {group} to {self.order}: it {word}: {factor.told(answer)}"
        text += "; a double one gives a second order" if result.is_second_order_free else ""
        facts = {"officer": officer, "dice": list(answer), "units": list(self.units)}
        state = state.tells("order", text, "H-11.4", **facts)
        if result.is_success:
            return self.enacted(state, has_second=result.is_second_order_free)
        done = [officer]
        if result.phase_ends:
            # If the commander in chief fails, his side's orders end.
            done = [*state.leaders]
            text = f"{officer} has failed: no more orders for his side"
            state = state.tells("order", text, "H-11.6", officer=officer)
        return replace(state, done_officers=(*state.done_officers, *done))


def acted(state: State, name: str) -> State:
    """Returns the state in which a unit has acted on the order; after the last, it is over."""
    assert state.under is not None
    under = state.under.less(name)
    state = replace(state, under=under)
    return state if under.allowed_cm else ended(state)


def ended(state: State) -> State:
    """Returns the state after an order; a double one gives a second (H-11.8)."""
    under = state.under
    assert under is not None
    state = replace(state, under=None)
    if under.has_second and under.officer in state.field.officers:
        return state.pushed(OrderChoice(under.officer, under.group, is_second=True))
    return state
