"""The order of a turn: pool, chits, movement in alternating slots, leaders, Clashes (D-3.3)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

from tablecam.rules.game import Ban, Event, PendingDecision, Refused
from tablecam.rules.hexes.zones import Hexes, right_hex
from tablecam.rules.maida_1806 import movement, tables
from tablecam.rules.maida_1806 import state as acts
from tablecam.rules.maida_1806.clash import Combat, begun, combats_of, with_square_tries
from tablecam.rules.maida_1806.field import ban_on_lying, front_of, may_act, targets_of
from tablecam.rules.maida_1806.fire import LeaderLeaves, Shrink, ban_on_fire, fired
from tablecam.rules.maida_1806.reaction import Reactions, triggered
from tablecam.rules.maida_1806.state import Due, MoveStep, Outcome, State, Units, enemy_of
from tablecam.rules.maida_1806.troops import Formation, Piece, needs_two_hexes
from tablecam.table.sides import side_name

# The turn.


def turn_begun(state: State) -> State:
    """Returns the state at the beginning of a turn (D-3.3a)."""
    leaders = tuple(replace(one, injured=False, activated=False) for one in state.leaders)
    return replace(
        state, leaders=leaders, phase="pool", pool=(), chosen=(), drawn="", commanding="",
        units_of="", movers=(), fought=(),
    )  # fmt: skip


def pool_entry(state: State) -> list[str] | dict[Any, int]:
    """Returns who is in the pool in a turn, or how many leaders each side chooses (D-17.0c)."""
    scenario = state.board.scenario
    assert scenario is not None
    known = sorted(int(turn) for turn in scenario.pool)
    latest = max((turn for turn in known if turn <= state.turn), default=known[0])
    entry = scenario.pool[str(latest)]
    return entry if isinstance(entry, list) else dict(entry)


class PoolChoice(Due):
    """A side's secret choice of leaders besides its Overall Commander (D-17.0d)."""

    side: str
    count: int

    def asked(self, state: State) -> PendingDecision:
        """Returns the concealed decision."""
        words = f"Which {self.count} leaders of the {side_name(self.side)} are in the pool?"
        return PendingDecision(words, self.side, is_concealed=True)

    def legal(self, state: State) -> tuple[acts.ChoosePool, ...]:
        """Returns all choices."""
        able = [
            leader.id
            for leader in state.leaders_of(self.side)
            if not leader.dead and not state.is_oc(leader.id)
        ]
        choices = combinations(able, min(self.count, len(able)))
        return tuple(acts.ChoosePool(self.side, leaders) for leaders in choices)

    def follow(self, state: State, answer: acts.ChoosePool) -> Outcome:
        """Returns the state with the chits in the pool; only the side itself hears which."""
        commander = state.board.overall_commander[self.side]
        own = () if state.leader(commander).dead else (commander,)
        chits = (*state.pool, *own, *answer.leaders)
        words = f"In the pool: {', '.join(answer.leaders)}"
        return replace(state, pool=chits, chosen=(*state.chosen, self.side)), (
            Event("pool-filled", f"The {side_name(self.side)} choose", "D-17.0d"),
            Event("pool", words, "D-17.0c", only_for=self.side),
        )


def choices(state: State) -> tuple[Any, ...]:
    """Lists what may be done in the phase, of moves single steps."""
    if state.phase == "draw":
        return (acts.Draw(),)
    if state.phase == "activate":
        return activations(state)
    if state.phase == "movement":
        listed = tuple(dict.fromkeys(movement_choices(state)))
        return listed if state.movers else (*listed, acts.Pass())
    if state.phase == "leaders":
        return (*leader_moves(state), acts.Pass())
    return tuple(
        acts.ClashIn(combat.hexes, combat.attackers, combat.defenders)
        for combat in open_combats(state)
    )


def acted(state: State, action: Any) -> Outcome:
    """Returns what follows from an action when nothing is due.

    Raises:
        Refused: It is not legal in this phase.
    """
    if state.phase == "movement":
        return movement_action(state, action)
    if isinstance(action, acts.Draw) and state.phase == "draw":
        if action.leader not in state.pool:
            raise Refused("expected a chit of the pool", rule="D-3.3b")
        return drawn(state, action.leader)
    if action not in choices(state):
        rule = {"activate": "D-4.4", "leaders": "D-12.8", "clash": "D-15.2"}.get(state.phase)
        raise Refused(f"expected one of the listed actions, got {action.type}", rule=rule)
    if isinstance(action, acts.Activate):
        return activated(state, action)
    if isinstance(action, acts.ClashIn):
        return begun(state, Combat(action.hexes, action.attackers, action.defenders))
    if isinstance(action, acts.Pass):
        return replace(state, phase="clash", fought=()), ()
    state = state.with_leader(action.leader, hex=action.to, has_moved=True)
    side = side_name(state.leader_side(action.leader))
    text = f"{action.leader} of the {side} goes to {action.to}"
    return state, (Event("leader-move", text, "D-3.3b", {"leader": action.leader}),)


def automatic(state: State) -> Outcome | None:
    """Returns what follows without a decision; None where a player or a draw decides."""
    if state.phase == "pool":
        return _pooled(state)
    if state.phase == "draw":
        return None if state.pool else _turn_ended(state)
    if state.phase == "activate":
        choices = activations(state)
        if len(choices) == 1:
            return activated(state, choices[0])
        return None if choices else (replace(state, phase="draw", drawn=""), ())
    if state.phase == "movement":
        return _movement_goes_on(state)
    if state.phase == "leaders":
        if any(True for _ in leader_moves(state)):
            return None
        return replace(state, phase="clash", fought=()), ()
    return _clash_goes_on(state) if state.phase == "clash" else None


def _clash_goes_on(state: State) -> Outcome | None:
    combats = open_combats(state)
    if len(combats) > 1:
        return None
    return begun(state, combats[0]) if combats else _activation_ended(state)


def _pooled(state: State) -> Outcome:
    entry = pool_entry(state)
    if isinstance(entry, list):
        able = tuple(name for name in entry if not state.leader(name).dead)
        return replace(state, phase="draw", pool=able), ()
    for side, count in entry.items():
        if side not in state.chosen:
            return state.pushed(PoolChoice(side, count)), ()
    return replace(state, phase="draw"), ()


def drawn(state: State, leader: str) -> Outcome:
    """Returns the state with a chit drawn (D-3.3b)."""
    pool = tuple(chit for chit in state.pool if chit != leader)
    state = replace(state, pool=pool, drawn=leader, phase="activate")
    text = f"{leader} of the {side_name(state.leader_side(leader))} is drawn"
    return state, (Event("draw", text, "D-3.3b", {"leader": leader}),)


def activations(state: State) -> tuple[acts.Activate, ...]:
    """Returns whom the drawn chit may activate (D-4.3, D-4.4)."""
    if not state.is_oc(state.drawn):
        return (acts.Activate(state.drawn),)
    side = state.leader_side(state.drawn)
    own = state.leaders_of(side)
    alive = {state.board.troops[piece.id].leader for piece in state.pieces if not piece.eliminated}
    orphans = [leader.id for leader in own if leader.dead and leader.id in alive]
    if orphans:
        return tuple(acts.Activate(units_of=name) for name in orphans)
    able = (leader.id for leader in own if not leader.dead and not leader.injured)
    return tuple(acts.Activate(name) for name in able if name != state.drawn or len(own) == 1)


def activated(state: State, action: acts.Activate) -> Outcome:
    """Returns the state at the beginning of a movement subphase, returns due (D-15.11.3)."""
    commanding = action.leader or state.drawn
    state = replace(state, commanding=commanding, units_of=action.units_of)
    for name in dict.fromkeys((state.drawn, commanding)):
        state = state.with_leader(name, activated=True, has_moved=False)
    own = state.active_units
    pieces = tuple(
        replace(
            piece, mp_left=float(movement.allowance_of(state.board.troops[piece.id]))
            if piece.id in own and piece.formation != "square" else 1.0 * (piece.id in own),
            done=False, double=False, fired=False, held_fire=False, straight=0, passing=False,
            how="" if not state.in_clash(piece) else piece.how,
        )
        for piece in state.pieces
    )  # fmt: skip
    state = replace(state, pieces=pieces, phase="movement", slot=0, passes=0, movers=())
    back = [
        Return(piece.id)
        for piece in state.pieces
        if piece.id in own and piece.returns_turn is not None and piece.returns_turn <= state.turn
    ]
    text = f"{commanding}'s units act"
    if action.units_of:
        text = f"{state.drawn} commands the units of {action.units_of}"
    return state.pushed(*back), (Event("activation", text, "D-3.3b"),)


class Return(Due):
    """A routed unit returns Disrupted at its leader's side (D-15.11.3, D-15.11.4)."""

    unit: str
    question = "Where does {unit} return?"

    def legal(self, state: State) -> tuple[acts.Place, ...]:
        """Returns the hexes and facings."""
        troop = state.troop(self.unit)
        near = troop.leader in state.board.leaders and state.leader(troop.leader).hex
        home = state.board.ground.returns[troop.side]
        enemy = enemy_of(troop.side)
        return tuple(
            acts.Place(self.unit, (number,), facing_deg)
            for number in ((near, *state.grid.neighbours(near)) if near else (home,))
            if state.is_free(number, enemy)
            for facing_deg in state.grid.facings_deg
            if ban_on_lying(state, self._back(state, (number,), facing_deg)) is None
        )

    def _back(self, state: State, hexes: Hexes, facing_deg: int) -> Piece:
        """Returns the unit as it returns: on one hex, so a battalion in Column."""
        troop, piece = state.both(self.unit)
        formation: Formation = "column" if troop.is_battalion else piece.formation
        return replace(
            piece, hexes=hexes, facing_deg=facing_deg, formation=formation, disrupted=True,
            returns_turn=None,
        )  # fmt: skip

    def follow(self, state: State, answer: acts.Place | None) -> Outcome:
        """Returns the state with the unit back; without room it waits for the next turn."""
        if answer is None:
            turn = state.turn + 1
            if turn > state.board.turns:
                return acts.eliminated(state, self.unit, "D-15.11.5")
            return state.with_piece(self.unit, returns_turn=turn), ()
        back = self._back(state, answer.hexes, answer.facing_deg)
        text = f"{self.unit} returns to {answer.hexes[0]}"
        return state.put(back), (Event("return", text, "D-15.11.4", {"unit": self.unit}),)


def _activation_ended(state: State) -> Outcome:
    return replace(state, phase="draw", drawn="", commanding="", units_of="", fought=()), ()


def _turn_ended(state: State) -> Outcome:
    """Returns the state in Phase 3 and the next turn, or at the end (D-3.3c, D-16)."""
    pieces = tuple(
        replace(
            piece, disrupted=False, fires=0, silent=piece.captured_by is not None, fired=False,
            held_fire=False, has_moved=False,
        )
        for piece in state.pieces
    )  # fmt: skip
    state = replace(state, pieces=pieces, phase="end")
    if text := outcome(state):
        return replace(state, phase="over"), (Event("over", text, "D-16.3"),)
    state = turn_begun(replace(state, turn=state.turn + 1))
    return state, (Event("turn", f"Turn {state.turn}", "D-3.3c"),)


def winner_of(turn: int, turns: int, vp: int, automatic_vp: dict[str, int]) -> str | None:
    """Returns who has won at the end of a turn; None while the game goes on (D-16.3, D-16.4)."""
    if vp >= automatic_vp["french"]:
        return "french"
    if -vp >= automatic_vp["british"]:
        return "british"
    if turn < turns:
        return None
    return "french" if vp > 0 else "british"


def outcome(state: State) -> str:
    """Returns how the game ends with the turn, nothing if it goes on."""
    charts = state.board.chart("victory").automatic.model_dump()
    turn = state.board.turns if state.phase == "over" else state.turn
    winner = winner_of(turn, state.board.turns, state.vp, charts)
    return "" if winner is None else f"The {side_name(winner)} win with {abs(state.vp)} VP"


# Movement.


def movement_choices(state: State) -> Iterator[Any]:
    """Yields what the side in its slot may do (D-14.5), besides passing."""
    if state.movers:
        yield from _going_on(state)
        return
    yield from fire_choices(state, state.in_slot)
    if state.slot:
        yield from _beginnings(state)


def fire_choices(state: State, side: str) -> Iterator[acts.Fire]:
    """Yields the fires of single units, and of pairs that fire jointly."""
    able: dict[str, list[str]] = {}
    for piece in state.on_map(side):
        if gun_ban(state, piece) is not None:
            continue
        for target in targets_of(state, piece):
            if ban_on_fire(state, (piece.id,), target) is None:
                yield acts.Fire((piece.id,), target)
                if state.troop(piece.id).is_battalion:
                    able.setdefault(target, []).append(piece.id)
    for target, names in able.items():
        for pair in combinations(names, 2):
            if ban_on_fire(state, pair, target) is None:
                yield acts.Fire(pair, target)


def gun_ban(state: State, piece: Piece) -> Ban | None:
    """Returns why a battery does not fire in a subphase of another leader of its side (D-10.5)."""
    is_gun = state.troop(piece.id).is_battery
    own = state.side(piece.id) == state.active
    if is_gun and own and piece.id not in state.active_units:
        return Ban("D-10.5", f"{piece.id} fires in its own leader's subphase")
    return None


def able_units(state: State) -> tuple[Piece, ...]:
    """Returns the active units that may still begin a move (D-4.2)."""
    pieces = (state.piece(name) for name in state.active_units)
    return tuple(
        piece
        for piece in pieces
        if piece.hexes and not piece.done and not piece.disrupted and not piece.captured_by
        and not state.in_clash(piece)
        and (piece.mp_left > 0 or state.troop(piece.id).is_battery)
        and may_act(state, piece)
    )  # fmt: skip


def _beginnings(state: State) -> Iterator[Any]:
    able = able_units(state)
    names = [piece.id for piece in able]
    groups: list[Units] = [(name,) for name in names]
    for piece in able:
        stack = tuple(p.id for p in state.stack(piece.id) if not state.troop(p.id).is_battery)
        if len(stack) > 1 and stack[0] == piece.id and set(stack) <= set(names):
            groups.append(stack)
    groups += movement.lines_of_units(state, names)
    for units in groups:
        for step, _ in movement.legal_steps(state, units):
            yield acts.Move(units, (step,))
        if all(may_double(state, name) for name in units):
            for step, _ in movement.legal_steps(state, units, double=True):
                if step.to and not step.backward:
                    yield acts.Move(units, (step,), double_march=True)
    for piece in able:
        yield from _own_acts(state, piece)
    yield from entries(state)


def may_double(state: State, name: str) -> bool:
    """Whether a unit may begin a double march: infantry that has not stepped (D-12.9)."""
    troop, piece = state.both(name)
    is_fresh = piece.mp_left == movement.allowance_of(troop) and not piece.fired
    return troop.is_battalion and is_fresh and piece.formation != "square"


def _own_acts(state: State, piece: Piece) -> Iterator[Any]:
    """Yields the changes of formation, detachments and orders of a unit's move."""
    for form, mp in movement.formations(state, piece):
        if mp <= piece.mp_left:
            yield form
    yield from movement.detachments(state, piece)
    if state.stack(piece.id)[0].id == piece.id:
        yield from movement.reorders(state, piece)


def _going_on(state: State) -> Iterator[Any]:
    """Yields how the units in the middle of a move may go on, and that they halt (D-12.13)."""
    pieces = [state.piece(name) for name in state.movers]
    can_go = False
    for step, outcomes in movement.legal_steps(state, state.movers):
        can_go = can_go or bool(outcomes[0].entered)
        yield acts.Move(state.movers, (step,))
    if all(state.troop(name).arm == "cavalry" for name in state.movers):
        for number in front_of(state, pieces[0]):
            if movement.ban_on_charge(state, state.movers, number) is None:
                yield acts.Charge(state.movers, number)
    for name in state.movers:
        for target in targets_of(state, state.piece(name)):
            if ban_on_fire(state, (name,), target) is None:
                yield acts.Fire((name,), target)
    if len(pieces) == 1:
        yield from _own_acts(state, pieces[0])
    if ban_on_halt(state, can_go) is None:
        yield acts.Halt()


def ban_on_halt(state: State, can_go: bool) -> Ban | None:
    """Returns why units that can still go to another hex may not stop here (D-11.0, D-12.9)."""
    for name in state.movers:
        piece = state.piece(name)
        if piece.double and can_go:
            return Ban("D-12.9", f"{name} spends all Movement Points of its double march")
        own = tuple(state.troop(name).companies)
        ban = ban_on_lying(state, piece, moving=own)
        if ban is not None and not _own_battalion(state, name) and can_go:
            return ban
    return None


def _own_battalion(state: State, company: str) -> str | None:
    """Returns the battalion of a company that lies in its hex."""
    for piece in state.stack(company):
        if company in piece.out:
            return piece.id
    return None


def entries(state: State) -> Iterator[acts.Place]:
    """Yields the hexes by which reinforcements enter (D-17.0b, D-17.0e)."""
    for name in state.active_units:
        if can_enter(state, name):
            yield from places_of_entry(state, name)


def can_enter(state: State, name: str) -> bool:
    """Whether a unit waits beside the map and may enter now (R-34)."""
    troop, piece = state.both(name)
    waits = not piece.hexes and not piece.eliminated and piece.returns_turn is None
    is_due = troop.enters is not None and state.turn >= troop.enters.turn
    return waits and is_due and not piece.done and state.is_oc(state.drawn)


def places_of_entry(state: State, name: str) -> Iterator[acts.Place]:
    """Yields the hexes of the edge that are free of enemies, with facings into the map."""
    troop, piece = state.both(name)
    assert troop.enters is not None
    edge = state.board.ground.edges[troop.enters.edge]
    wide = needs_two_hexes(troop, state.strength(name))
    enemy = enemy_of(troop.side)
    for left in edge:
        for facing_deg in state.grid.facings_deg:
            right = right_hex(state.grid, left, facing_deg) if wide else left
            if right not in edge:
                continue
            hexes: Hexes = (left, right) if wide and right is not None else (left,)
            there = replace(piece, hexes=hexes, facing_deg=facing_deg, formation="line")
            inward = len(front_of(state, there)) == len(hexes) + 1
            free = not any(state.at(n, enemy) or not state.board.is_passable(n) for n in hexes)
            if inward and free and ban_on_lying(state, there) is None:
                yield acts.Place(name, hexes, facing_deg)


def entered(state: State, action: acts.Place) -> Outcome:
    """Returns the state with reinforcements on the map, who pay the dearer hex (D-17.0e)."""
    troop = state.board.troops[action.unit]
    mp = max(state.board.cost(number, "line") for number in action.hexes)
    left = max(movement.allowance_of(troop) - mp, 0.0)
    state = state.with_piece(
        action.unit, hexes=action.hexes, facing_deg=action.facing_deg, formation="line",
        mp_left=left, has_moved=True,
    )  # fmt: skip
    state = replace(state, movers=(action.unit,))
    text = f"{action.unit} enters by {' '.join(action.hexes)}"
    return with_reactions(state, (action.unit,), "entered", action.hexes, (
        Event("enter", text, "D-17.0b", {"unit": action.unit}),
    ))  # fmt: skip


def _movement_goes_on(state: State) -> Outcome | None:
    """Returns what follows where the side in its slot has nothing to do."""
    if state.movers:
        choices = list(_going_on(state))
        if choices and choices != [acts.Halt()]:
            return None
        return halted(state)
    if any(True for _ in movement_choices(state)):
        return None
    return passed(state)


def passed(state: State) -> Outcome:
    """Returns the state after a pass; two in a row end the subphase (R-28)."""
    if state.passes:
        return movement_ended(state)
    return replace(state, slot=1 - state.slot, passes=1), ()


def halted(state: State) -> Outcome:
    """Returns the state after a move; the other side's slot follows."""
    events: tuple[Event, ...] = ()
    for name in state.movers:
        state = state.with_piece(name, done=True)
        state, more = _reattached(state, name)
        events += more
    return replace(state, movers=(), slot=0, passes=0), events


def _reattached(state: State, name: str) -> Outcome:
    """Returns the state with a company back in its battalion, alone together in a hex (D-8.3)."""
    for piece in state.stack(name) if state.piece(name).hexes else ():
        for company in piece.out:
            there = state.piece(company)
            if set(there.hexes) & set(piece.hexes) and len(state.stack(piece.id)) == 2:
                strength = state.strength(company)
                state = state.with_piece(company, hexes=(), has_moved=True)
                out = tuple(other for other in piece.out if other != company)
                losses = max(piece.losses - strength, 0)
                state = state.with_piece(piece.id, out=out, losses=losses)
                state = _widened(state, piece.id)
                text = f"{company} rejoins {piece.id}"
                return state, (Event("reattach", text, "D-8.3", {"unit": company}),)
    return state, ()


def _widened(state: State, name: str) -> State:
    """Returns the state with a line on two hexes, or in Column where there is no room (D-6.3.8)."""
    troop, piece = state.both(name)
    is_line = piece.formation == "line" and len(piece.hexes) == 1
    if not is_line or not needs_two_hexes(troop, state.strength(name)):
        return state
    for hexes in movement.second_hexes(state, piece, piece.hexes[0], piece.facing_deg):
        return state.with_piece(name, hexes=hexes)
    return state.with_piece(name, formation="column")


def movement_ended(state: State) -> Outcome:
    """Returns the state after a movement subphase."""
    events: tuple[Event, ...] = ()
    for piece in state.pieces:
        if state.board.troops[piece.id].is_company and piece.hexes:
            state, more = _reattached(state, piece.id)
            events += more
    pieces = tuple(
        replace(piece, mp_left=0.0, double=False, straight=0, fired=False, held_fire=False)
        for piece in state.pieces
    )
    return replace(state, pieces=pieces, phase="leaders", movers=(), slot=1, passes=0), events


# Steps.


def walk(
    state: State, units: Units, steps: Sequence[MoveStep], *, double: bool = False
) -> tuple[State, float] | Ban:
    """Returns the state after steps that nobody reacts to, and the first unit's points spent."""
    if ban := movement.may_move_together(state, units):
        return ban
    if double and any(not may_double(state, name) for name in units):
        return Ban("D-12.9", "expected infantry that has not stepped")
    spent = 0.0
    for index, step in enumerate(steps):
        after = _step(state, units, step, double=double and index == 0)
        if isinstance(after, Ban):
            return after
        state, mp = after
        spent += mp
    return state, spent


def _step(state: State, units: Units, step: MoveStep, *, double: bool) -> tuple[State, float] | Ban:
    pieces = [state.piece(name) for name in units]
    if double:
        more = float(tables.DOUBLE_MARCH)
        pieces = [replace(piece, double=True, mp_left=piece.mp_left + more) for piece in pieces]
    outcome = movement.step_together(state, pieces, step)
    if isinstance(outcome, Ban):
        return outcome
    return movement.moved(state, pieces, outcome, double=double), outcome[0].mp


class GoOn(Due):
    """The steps that a move has still to take, after reactions to those before."""

    units: Units
    steps: tuple[MoveStep, ...]
    double: bool = False

    def follow(self, state: State, answer: Any) -> Outcome:
        """Returns the state after the next step; a unit that cannot go on stops where it is."""
        units = tuple(name for name in self.units if name in state.movers)
        if not units or units != self.units:
            return state, ()
        before = {n for name in units for n in state.piece(name).hexes}
        after = _step(state, units, self.steps[0], double=self.double)
        if isinstance(after, Ban):
            text = f"{', '.join(units)} goes no farther: {after.because}"
            return state, (Event("stop", text, after.rule),)
        state, _ = after
        if len(self.steps) > 1:
            state = state.pushed(GoOn(units, self.steps[1:]))
        now = tuple(n for name in units for n in state.piece(name).hexes)
        new = tuple(n for n in now if n not in before)
        words = "turns" if not new else f"moves to {' '.join(now)}"
        facts = {"units": list(units), "hexes": list(now)}
        event = Event("move", f"{', '.join(units)} {words}", "D-12.1", facts)
        did = "entered" if new else "turned"
        return with_reactions(state, units, did, new, (event,))


def with_reactions(
    state: State, units: Units, did: Any, entered_hexes: Hexes, events: tuple[Event, ...]
) -> Outcome:
    """Returns the state with all that a step triggers due (D-13.8, D-14.11.8, D-7.2)."""
    side = state.side(units[0])
    who = triggered(state, units, did)
    if who.must or who.may:
        state = state.pushed(Reactions(units, who.must, who.may))
    enemy = enemy_of(side)
    for leader in state.leaders:
        if leader.hex is None or state.leader_side(leader.id) != enemy or not entered_hexes:
            continue
        if leader.hex in entered_hexes and not state.at(leader.hex, enemy):
            state = state.pushed(LeaderLeaves(leader.id))
        elif state.grid.distance((leader.hex,), entered_hexes) == 1:
            state = state.pushed(LeaderLeaves(leader.id, True))
    enemies = tuple(dict.fromkeys(p.id for n in entered_hexes for p in state.at(n, enemy)))
    if enemies:
        state = with_square_tries(state, units, enemies)
    return state, events


def movement_action(state: State, action: Any) -> Outcome:
    """Returns what follows from an action of the side in its slot.

    Raises:
        Refused: It is not legal now.
    """
    if isinstance(action, acts.Pass):
        if state.movers:
            raise Refused("expected the move to end first", rule="D-12.13")
        return passed(state)
    if isinstance(action, acts.Fire):
        return _fires(state, action)
    if not state.slot and not state.movers:
        raise Refused("expected a fire or a pass: the other side moves next", rule="D-14.5")
    if isinstance(action, acts.Halt):
        return _halts(state)
    if isinstance(action, acts.Move):
        _check_movers(state, action.units)
        if not action.steps:
            raise Refused("expected a step")
        outcome = walk(state, action.units, action.steps, double=action.double_march)
        _refuse(outcome if isinstance(outcome, Ban) else None)
        state = replace(state, movers=action.units)
        return state.pushed(GoOn(action.units, action.steps, action.double_march)), ()
    if isinstance(action, acts.Charge):
        return _charges(state, action)
    choices = list(movement_choices(state))
    if action not in choices:
        raise Refused(f"expected one of the {len(choices)} choices of the slot", rule="D-14.5")
    return _other_action(state, action)


def _halts(state: State) -> Outcome:
    if not state.movers:
        raise Refused("expected units in the middle of a move", rule="D-12.13")
    steps = movement.legal_steps(state, state.movers)
    _refuse(ban_on_halt(state, any(outcomes[0].entered for _, outcomes in steps)))
    return halted(state)


def _refuse(ban: Ban | None) -> None:
    if ban is not None:
        raise ban.refused()


def _check_movers(state: State, units: Units) -> None:
    if not units or len(set(units)) < len(units):
        raise Refused("expected units that move, each once", rule="D-12.13")
    if state.movers:
        if set(units) != set(state.movers):
            raise Refused("expected the units that are moving", rule="D-12.13")
        return
    able = {piece.id for piece in able_units(state)}
    for name in units:
        state.piece(name)
        if name not in able:
            raise Refused(f"expected a unit that may move, got {name}", rule="D-4.2")


def _fires(state: State, action: acts.Fire) -> Outcome:
    for name in action.units:
        if state.side(state.piece(name).id) != state.in_slot:
            raise Refused(f"expected a unit of the {state.in_slot}, got {name}", rule="D-14.5")
        _refuse(gun_ban(state, state.piece(name)))
    state.piece(action.target)
    _refuse(ban_on_fire(state, action.units, action.target))
    if state.movers and not set(action.units) <= set(state.movers):
        raise Refused("expected the units that are moving", rule="D-12.13")
    if not state.movers:
        state = replace(state, slot=1 - state.slot, passes=0)
    return fired(state, action.units, action.target)


def _charges(state: State, action: acts.Charge) -> Outcome:
    _check_movers(state, action.units)
    _refuse(movement.ban_on_charge(state, action.units, action.target))
    outcome = walk(state, action.units, (MoveStep(to=(action.target,)),))
    _refuse(outcome if isinstance(outcome, Ban) else None)
    assert not isinstance(outcome, Ban)
    state = outcome[0]
    for name in action.units:
        state = state.with_piece(name, how="charge")
    enemy = enemy_of(state.side(action.units[0]))
    defenders = tuple(piece.id for piece in state.at(action.target, enemy))
    combat = Combat((action.target,), action.units, defenders, "charge")
    text = f"{', '.join(action.units)} charges {', '.join(defenders)}"
    state, events = begun(state, combat)
    return state, (Event("charge", text, "D-9.2.1"), *events)


def _other_action(state: State, action: Any) -> Outcome:
    if isinstance(action, acts.Place):
        return entered(state, action)
    if isinstance(action, acts.Reorder):
        order = [state.piece(name) for name in action.order]
        others = [piece for piece in state.pieces if piece.id not in action.order]
        paid = [replace(piece, mp_left=piece.mp_left - 1) for piece in order]
        state = replace(state, pieces=(*others, *paid))
        if not state.movers:
            state = replace(state, movers=action.order)
        text = f"{action.order[0]} is on top in {action.hex}"
        return state, (Event("reorder", text, "D-11.0"),)
    if isinstance(action, acts.Detach):
        return _detached(state, action)
    piece = state.piece(action.unit)
    mp = next(mp for form, mp in movement.formations(state, piece) if form == action)
    state = state.with_piece(
        action.unit, formation=action.to, facing_deg=action.facing_deg, hexes=action.hexes,
        mp_left=piece.mp_left - mp, straight=0,
    )  # fmt: skip
    text = f"{action.unit} forms {action.to.capitalize()}"
    return replace(state, movers=(action.unit,)), (Event("formation", text, "D-6.3"),)


def _detached(state: State, action: acts.Detach) -> Outcome:
    piece = state.piece(action.unit)
    strength = 0
    for name in action.companies:
        strength += state.strength(name)
        state = state.with_piece(
            name, hexes=piece.hexes[:1], facing_deg=piece.facing_deg, formation="skirmish",
            mp_left=piece.mp_left, done=False, returns_turn=None,
        )  # fmt: skip
    state = state.with_piece(
        action.unit, losses=piece.losses + strength, out=(*piece.out, *action.companies)
    )
    text = f"{action.unit} detaches {', '.join(action.companies)}"
    state = replace(state, movers=(action.unit,)).pushed(Shrink(action.unit))
    return state, (Event("detach", text, "D-8.2", {"unit": action.unit}),)


# Leaders and Clashes.


def leader_moves(state: State) -> Iterator[acts.MoveLeader]:
    """Yields the hexes that the activated leaders may go to (D-3.3b, D-11.4)."""
    for name in dict.fromkeys((state.drawn, state.commanding)):
        leader = state.leader(name)
        if leader.hex is None or leader.has_moved or state.is_clash(leader.hex):
            continue
        enemy = enemy_of(state.leader_side(name))

        def may_enter(number: str, enemy: str = enemy) -> bool:
            return state.board.is_passable(number) and not state.at(number, enemy)

        reached = state.grid.reached((leader.hex,), tables.ALLOWANCE["leader"], may_enter)
        yield from (acts.MoveLeader(name, n) for n in sorted(reached) if n != leader.hex)


def open_combats(state: State) -> tuple[Combat, ...]:
    """Returns the Clashes that are still to be fought (D-15.2 to D-15.6)."""
    units = tuple(n for n in state.active_units if n not in state.fought)
    return combats_of(state, state.active, units, state.fought)


def recaptured(state: State) -> Outcome:
    """Returns the state with guns that friends stand with taken back (D-10.12)."""
    events: tuple[Event, ...] = ()
    for piece in state.pieces:
        side = state.board.troops[piece.id].side
        if piece.captured_by != enemy_of(side) or not piece.hexes:
            continue
        number = piece.hexes[0]
        if state.at(number, side) and not state.at(number, enemy_of(side)):
            points = tables.VICTORY_POINTS["battery_recaptured"]
            state = state.with_piece(piece.id, captured_by=side).gains(side, points)
            text = f"{piece.id} is recaptured: {points} VP for the {side_name(side)}"
            events += (Event("recaptured", text, "D-10.12", {"unit": piece.id}),)
    return state, events
