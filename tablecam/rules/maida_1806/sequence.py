"""The order of a turn: pool, chits, movement in alternating slots, leaders, Clashes (D-3.3)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from itertools import combinations, product
from typing import Any, Final

from tablecam.rules.game import Ban, Event, PendingDecision, Refused
from tablecam.rules.hexes.zones import Hexes, right_hex
from tablecam.rules.maida_1806 import movement, tables
from tablecam.rules.maida_1806 import state as acts
from tablecam.rules.maida_1806.clash import Combat, begun, combats_of, with_square_tries
from tablecam.rules.maida_1806.field import ban_on_lying, front_of, may_act, reach_of, targets_of
from tablecam.rules.maida_1806.fire import LeaderLeaves, Shrink, ban_on_fire, fired
from tablecam.rules.maida_1806.reaction import Did, Reactions, triggered
from tablecam.rules.maida_1806.state import Due, MoveStep, State, Units, enemy_of
from tablecam.rules.maida_1806.troops import Formation, Piece, Side
from tablecam.rules.steps import ban_on_all
from tablecam.table.sides import side_plural
from tablecam.wording import joined

# The turn.


def turn_begun(state: State) -> State:
    """Returns the state at the beginning of a turn (D-3.3a)."""
    leaders = tuple(replace(one, injured=False, activated=False) for one in state.leaders)
    return replace(
        state, leaders=leaders, phase="pool", pool=(), chosen=(), drawn="", commanding="",
        units_of="", movers=(), fought=(),
    )  # fmt: skip


class PoolChoice(Due):
    """A side's secret choice of leaders besides its Overall Commander (D-17.0d)."""

    side: str
    count: int

    def asked(self, state: State) -> PendingDecision:
        """Returns the concealed decision."""
        words = f"Which {self.count} leaders of the {side_plural(self.side)} are in the pool?"
        return PendingDecision(words, self.side, is_concealed=True)

    def legal(self, state: State) -> tuple[acts.ChoosePool, ...]:
        """Returns all choices."""
        alive = (leader.id for leader in state.leaders_of(self.side) if not leader.dead)
        able = [name for name in alive if not state.is_oc(name)]
        choices = combinations(able, min(self.count, len(able)))
        return tuple(acts.ChoosePool(self.side, leaders) for leaders in choices)

    def follow(self, state: State, answer: acts.ChoosePool) -> State:
        """Returns the state with the chits in the pool; only the side itself hears which."""
        commander = state.board.overall_commander[self.side]
        own = () if state.leader(commander).dead else (commander,)
        chits = (*state.pool, *own, *answer.leaders)
        side, text = side_plural(self.side), f"In the pool: {joined(answer.leaders) or 'nobody'}"
        after = replace(state, pool=chits, chosen=(*state.chosen, self.side))
        if len(self.legal(state)) < 2:
            # Everybody sees how many there are to choose from: it is no secret.
            return after.tells("pool", f"{text} of the {side}", "D-17.0c")
        after = after.tells("pool-filled", f"The {side} choose", "D-17.0d")
        return after.with_events(Event("pool", text, "D-17.0c", only_for=self.side))


def _pooled(state: State) -> State:
    """Returns the state with the turn's pool, or a side's choice of leaders due (D-17.0c)."""
    entry = _pool_entry(state)
    if isinstance(entry, list):
        able = tuple(name for name in entry if not state.leader(name).dead)
        return replace(state, phase="draw", pool=able)
    for side, count in entry.items():
        if side not in state.chosen:
            return state.pushed(PoolChoice(side, count))
    return replace(state, phase="draw")


def _pool_entry(state: State) -> list[str] | dict[Side, int]:
    """Returns the turn's leaders, or how many each side chooses in secret (D-17.0c)."""
    assert state.board.scenario is not None
    pools = state.board.scenario.pool
    return pools[str(max((turn for turn in map(int, pools) if turn <= state.turn), default=1))]


def draws(state: State) -> Iterator[acts.Draw]:
    """Yields a draw, and each chit that hands may have drawn, where all know who is in the pool."""
    yield acts.Draw()
    if isinstance(_pool_entry(state), list) and len(state.pool) > 1:
        yield from map(acts.Draw, state.pool)


def drawn(state: State, leader: str) -> State:
    """Returns the state with a chit drawn (D-3.3b)."""
    state = replace(state.without_chit(leader), drawn=leader, phase="activate")
    text = f"{leader} of the {side_plural(state.leader_side(leader))} is drawn from the pool"
    return state.tells("draw", text, "D-3.3b", leader=leader)


def activations(state: State) -> tuple[acts.Activate, ...]:
    """Returns whom the drawn chit may activate (D-4.3, D-4.4)."""
    if not state.is_oc(state.drawn):
        return (acts.Activate(state.drawn),)
    side = state.leader_side(state.drawn)
    own = state.leaders_of(side)
    orphans = [leader.id for leader in own if leader.dead and leader.id in state.led]
    if orphans:
        return tuple(acts.Activate(units_of=name) for name in orphans)
    able = (leader.id for leader in own if not leader.dead and not leader.injured)
    return tuple(acts.Activate(name) for name in able if name != state.drawn or len(own) == 1)


def activated(state: State, action: acts.Activate) -> State:
    """Returns the state at the beginning of a movement subphase, returns due (D-15.11.3)."""
    commanding = action.leader or state.drawn
    state = replace(state, commanding=commanding, units_of=action.units_of)
    for name in dict.fromkeys((state.drawn, commanding)):
        state = state.with_leader(name, activated=True, has_moved=False)
    own = state.active_units
    pieces = tuple(
        replace(
            piece, mp_left=movement.points_of(state, piece) if piece.id in own else 0.0,
            how=piece.how if state.in_clash(piece) else "", done=False, double=False, fired=False,
            held_fire=False, straight=0, passing=False,
        )
        for piece in state.pieces
    )  # fmt: skip
    state = replace(state, pieces=pieces, phase="movement", slot=0, passes=0, movers=())
    waiting = (piece for piece in pieces if piece.id in own and piece.returns_turn is not None)
    back = [Return(piece.id) for piece in waiting if (piece.returns_turn or 0) <= state.turn]
    orphans = f"{state.drawn} commands the units of {action.units_of}"
    text = orphans if action.units_of else f"{commanding}'s units act"
    return state.pushed(*back).tells("activation", text, "D-3.3b")


class Return(Due):
    """A routed unit returns Disrupted at its leader's side (D-15.11.3, D-15.11.4)."""

    unit: str
    question = "Where does {unit} return?"

    def legal(self, state: State) -> tuple[acts.Place, ...]:
        """Returns the hexes and facings."""
        troop = state.troop(self.unit)
        near = troop.leader in state.board.leaders and state.leader(troop.leader).hex
        home = state.board.ground.returns[troop.side]
        hexes = (near, *state.grid.neighbours(near)) if near else (home,)
        free = [(number,) for number in hexes if state.is_free(number, enemy_of(troop.side))]
        places = (self._back(state, *place) for place in product(free, state.grid.facings_deg))
        able = (piece for piece in places if ban_on_lying(state, piece) is None)
        return tuple(acts.Place(piece.id, piece.hexes, piece.facing_deg) for piece in able)

    def _back(self, state: State, hexes: Hexes, facing_deg: int) -> Piece:
        """Returns the unit as it returns: on one hex, so a battalion in Column."""
        troop, piece = state.both(self.unit)
        formation: Formation = "column" if troop.is_battalion else piece.formation
        return replace(
            piece, hexes=hexes, facing_deg=facing_deg, formation=formation, disrupted=True,
            returns_turn=None,
        )  # fmt: skip

    def follow(self, state: State, answer: acts.Place | None) -> State:
        """Returns the state with the unit back; without room it waits for the next turn."""
        if answer is None:
            turn = state.turn + 1
            if turn > state.board.turns:
                return acts.eliminated(state, self.unit, "D-15.11.5")
            return state.with_piece(self.unit, returns_turn=turn)
        back = self._back(state, answer.hexes, answer.facing_deg)
        text = f"{self.unit} returns to {answer.hexes[0]}"
        return state.put(back).tells("return", text, "D-15.11.4", unit=self.unit)


def _turn_ended(state: State) -> State:
    """Returns the state in Phase 3 and the next turn, or at the end (D-3.3c, D-16)."""
    state = state.with_all(disrupted=False, fires=0, fired=False, held_fire=False, has_moved=False)
    for piece in state.pieces:
        state = state.with_piece(piece.id, silent=piece.captured_by is not None)
    if text := outcome(state):
        return replace(state, phase="over").tells("over", text, "D-16.3")
    state = turn_begun(replace(state, turn=state.turn + 1))
    return state.tells("turn", f"Turn {state.turn}", "D-3.3c")


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
    return "" if winner is None else f"The {side_plural(winner)} win with {abs(state.vp)} VP"


# Movement.


def movement_choices(state: State) -> Iterator[Any]:
    """Yields what the side in its slot may do (D-14.5)."""
    if state.movers:
        yield from _going_on(state)
        return
    yield from fire_choices(state)
    if state.slot:
        yield from _beginnings(state)
    yield acts.Pass()


def fire_choices(state: State) -> Iterator[acts.Fire]:
    """Yields the fires of single units, and in a slot of pairs that fire jointly."""
    able: dict[str, list[str]] = {}
    for piece in map(state.piece, state.movers) if state.movers else state.on_map(state.in_slot):
        for target in targets_of(state, piece):
            if ban_on_fire(state, (piece.id,), target) is None:
                yield acts.Fire((piece.id,), target)
                if state.troop(piece.id).is_battalion and not state.movers:
                    able.setdefault(target, []).append(piece.id)
    pairs = ((pair, target) for target in able for pair in combinations(able[target], 2))
    yield from (acts.Fire(*fire) for fire in pairs if ban_on_fire(state, *fire) is None)


def able_units(state: State) -> tuple[Piece, ...]:
    """Returns the active units that may still begin a move (D-4.2)."""
    able = (name for name in state.active_units if ban_on_beginning(state, name) is None)
    return tuple(map(state.piece, able))


def ban_on_beginning(state: State, name: str) -> Ban | None:
    """Returns why a unit may not begin a move in its side's slot (D-4.2)."""
    troop, piece = state.both(name)
    is_spent = piece.mp_left <= 0 and not troop.is_battery
    barred = (
        (name not in state.active_units, "D-4.2", "is not under the active leader"),
        (not piece.hexes, "D-4.2", "is not on the map"),
        (piece.done, "D-4.2", "has moved"),
        (piece.disrupted, "D-14.8", "is Disrupted"),
        (bool(piece.captured_by), "D-10.12", "is captured"),
        (state.in_clash(piece), "D-14.7", "is in a Clash Hex"),
        (is_spent, "D-12.5", "has no Movement Points left"),
        (not may_act(state, piece), "D-4.5", "is out of command"),
    )
    bans = ((rule, why) for is_so, rule, why in barred if is_so)
    # Several units share its end: "not under the active leader (Foot 3, Foot 4)".
    return next((Ban(r, f"{name} {why}", why.removeprefix("is ")) for r, why in bans), None)


def _ban_on_moving(state: State, name: str) -> Ban | None:
    if not state.movers:
        return ban_on_beginning(state, name) if state.slot else None
    pieces = [state.piece(mover) for mover in state.movers]
    steps = (step for step in movement.steps_of(state, pieces[0]) if not step.turn)
    outcomes = [movement.step_together(state, pieces, step) for step in steps]
    bans = sorted((o for o in outcomes if isinstance(o, Ban)), key=lambda ban: ban.rule != "D-12.5")
    return bans[0] if bans and len(bans) == len(outcomes) else None


def _ban_on_shots(state: State, name: str) -> Ban | None:
    piece, reach = state.piece(name), reach_of(state.troop(name))
    enemies = state.on_map(state.enemy(name))
    near = sorted(enemies, key=lambda enemy: state.grid.distance(piece.hexes, enemy.hexes))
    ban = ban_on_all(ban_on_fire(state, (name,), enemy.id) for enemy in near)
    is_far = ban is not None and ban.rule == "D-14.9"
    return Ban("D-14.9", f"no enemy is within {reach} hexes") if is_far else ban


def _ban_on_charging(state: State, name: str) -> Ban | None:
    troop, piece = state.both(name)
    if troop.arm != "cavalry" or name not in state.active_units or not state.slot:
        return None
    hexes = [n for n in front_of(state, piece) if state.at(n, state.enemy(name))]
    if not hexes:
        return Ban.of(name, "D-9.2.1", "has no enemy in its Front")
    return ban_on_all(movement.ban_on_charge(state, (name,), number) for number in hexes)


def _beginnings(state: State) -> Iterator[Any]:
    able = able_units(state)
    names = [piece.id for piece in able]
    groups: list[Units] = [(name,) for name in names]
    for name in names:
        stack = state.foot(other.id for other in state.stack(name))
        if len(stack) > 1 and stack[0] == name and set(stack) <= set(names):
            groups.append(stack)
    pairs = combinations(names, 2)
    groups += (pair for pair in pairs if state.piece(pair[1]) not in state.stack(pair[0]))
    for units in groups:
        if movement.may_move_together(state, units):
            continue
        may_march = all(may_double(state, name) for name in units)
        for double in (False, True) if may_march else (False,):
            for step, _ in movement.legal_steps(state, units, double=double):
                yield acts.Move(units, (step,), double)
    for piece in able:
        yield from _own_acts(state, piece)
    for name in state.active_units:
        yield from places_of_entry(state, name)


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
    companies = movement.detachable(state, piece)
    yield from (acts.Detach(piece.id, companies[:n]) for n in range(1, len(companies) + 1))
    if not state.is_covered(piece.id):
        yield from movement.reorders(state, piece)


def _going_on(state: State) -> Iterator[Any]:
    """Yields how the units in the middle of a move may go on, and that they halt (D-12.13)."""
    pieces = [state.piece(name) for name in state.movers]
    for step, _ in movement.legal_steps(state, state.movers):
        yield acts.Move(state.movers, (step,))
    for number in front_of(state, pieces[0]):
        if movement.ban_on_charge(state, state.movers, number) is None:
            yield acts.Charge(state.movers, number)
    yield from fire_choices(state)
    if len(pieces) == 1:
        yield from _own_acts(state, pieces[0])
    if ban_on_halting(state) is None:
        yield acts.Halt()


def deeds(state: State) -> Iterator[str]:
    """Yields in words what the active side in its slot may do."""
    if not state.movers:
        yield from ("move a unit",) if any(_beginnings(state)) else ()
        yield from ("fire",) if any(fire_choices(state)) else ()
        yield "pass"
        return
    choices = [*_going_on(state)]
    goes = any(isinstance(act, acts.Move) and not act.steps[0].turn for act in choices)
    words = {acts.Charge: "charge", acts.Fire: "fire", acts.Halt: "halt"}
    words[acts.Move] = "go on" if goes else "turn"
    yield from dict.fromkeys(words.get(type(act), "change formation") for act in choices)


def ban_on_halting(state: State) -> Ban | None:
    """Returns why units that can still go to another hex may not stop here (D-11.0, D-12.9)."""
    if not state.movers:
        return Ban("D-12.13", "expected units in the middle of a move")
    steps = movement.legal_steps(state, state.movers)
    can_go = any(outcomes[0].entered for _, outcomes in steps)
    for name in state.movers if can_go else ():
        troop, piece = state.both(name)
        if piece.double:
            return Ban("D-12.9", f"{name} spends all Movement Points of its double march")
        ban = ban_on_lying(state, piece, moving=troop.companies)
        if ban is not None and not any(name in other.out for other in state.stack(name)):
            return ban
    return None


def places_of_entry(state: State, name: str) -> Iterator[acts.Place]:
    """Yields the free hexes of the edge where a unit may enter now, facing into the map (R-34)."""
    troop, piece = state.both(name)
    waits = not (piece.hexes or piece.eliminated or piece.done) and piece.returns_turn is None
    if troop.enters is None or not waits or not state.is_oc(state.drawn):
        return
    if state.turn < troop.enters.turn:
        return
    edge = state.board.ground.edges[troop.enters.edge]
    wide = state.needs_two_hexes(name)
    enemy = enemy_of(troop.side)
    for left, facing_deg in product(edge, state.grid.facings_deg):
        right = right_hex(state.grid, left, facing_deg) if wide else left
        if right is None or right not in edge:
            continue
        hexes: Hexes = (left, right) if wide else (left,)
        there = replace(piece, hexes=hexes, facing_deg=facing_deg, formation="line")
        is_inward = len(front_of(state, there)) == len(hexes) + 1
        is_free = all(state.is_free(number, enemy) for number in hexes)
        if is_inward and is_free and ban_on_lying(state, there) is None:
            yield acts.Place(name, hexes, facing_deg)


def entered(state: State, action: acts.Place) -> State:
    """Returns the state with reinforcements on the map, who pay the dearer hex (D-17.0e)."""
    name, hexes = action.unit, action.hexes
    mp = max(state.board.cost(number, "line") for number in hexes)
    left = max(movement.allowance_of(state.troop(name)) - mp, 0.0)
    lies = {"hexes": hexes, "facing_deg": action.facing_deg, "formation": "line"}
    state = replace(state.with_piece(name, mp_left=left, has_moved=True, **lies), movers=(name,))
    state = state.tells("enter", f"{name} enters by {joined(hexes)}", "D-17.0b", unit=name)
    return with_reactions(state, (name,), "entered", hexes)


def _movement_goes_on(state: State) -> State | None:
    """Returns what follows where the side in its slot has nothing to do."""
    if any(choice not in (acts.Halt(), acts.Pass()) for choice in movement_choices(state)):
        return None
    if not state.movers:
        return passed(state)
    return halted(state.tells("halt", f"The move of {joined(state.movers)} is over", "D-12.13"))


def passed(state: State) -> State:
    """Returns the state after a pass; two in a row end the subphase (R-28)."""
    if state.passes:
        return movement_ended(state)
    return replace(state, slot=1 - state.slot, passes=1)


def halts(state: State) -> State:
    """Returns the state after a move that its player ends."""
    word = "halts" if len(state.movers) == 1 else "halt"
    return halted(state.tells("halt", f"{joined(state.movers)} {word}", "D-12.13"))


def halted(state: State) -> State:
    """Returns the state after a move; the other side's slot follows."""
    for name in state.movers:
        state = state.with_piece(name, done=True)
    return replace(reduce(_reattached, state.movers, state), movers=(), slot=0, passes=0)


def _reattached(state: State, name: str) -> State:
    """Returns the state with a company back in its battalion, alone together in a hex (D-8.3)."""
    pairs = ((piece, company) for piece in state.stack(name) for company in piece.out)
    for piece, company in pairs:
        there = state.piece(company).hexes
        if set(there) & set(piece.hexes) and len(state.stack(piece.id)) == 2:
            losses = max(piece.losses - state.strength(company), 0)
            out = tuple(other for other in piece.out if other != company)
            state = state.with_piece(company, hexes=(), has_moved=True)
            state = _widened(state.with_piece(piece.id, out=out, losses=losses), piece.id)
            text = f"{company} rejoins {piece.id}"
            return state.tells("reattach", text, "D-8.3", unit=company)
    return state


def _widened(state: State, name: str) -> State:
    """Returns the state with a line on two hexes, or in Column where there is no room (D-6.3.8)."""
    piece = state.piece(name)
    is_line = piece.formation == "line" and len(piece.hexes) == 1
    if not is_line or not state.needs_two_hexes(name):
        return state
    for hexes in movement.second_hexes(state, piece, piece.hexes[0], piece.facing_deg):
        return state.with_piece(name, hexes=hexes)
    return state.with_piece(name, formation="column")


def movement_ended(state: State) -> State:
    """Returns the state after a movement subphase."""
    companies = [p.id for p in state.pieces if p.hexes and state.troop(p.id).is_company]
    state = reduce(_reattached, companies, state)
    state = state.with_all(mp_left=0.0, double=False, straight=0, fired=False, held_fire=False)
    return replace(state, phase="leaders", movers=(), slot=1, passes=0)


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
    pieces = [movement.doubled(state.piece(name), double) for name in units]
    outcome = movement.step_together(state, pieces, step)
    if isinstance(outcome, Ban):
        return outcome
    return movement.moved(state, pieces, outcome, double=double), outcome[0].mp


class GoOn(Due):
    """The steps that a move has still to take, after reactions to those before.

    A turn on the way is told with the hex before or after it, `is_told` if that is told already.
    """

    units: Units
    steps: tuple[MoveStep, ...]
    double: bool = False
    is_told: bool = False

    def follow(self, state: State, answer: Any) -> State:
        """Returns the state after the next step; a unit that cannot go on stops where it is."""
        units = self.units
        if not set(units) <= set(state.movers):
            return state
        before = set().union(*state.places(units))
        after = _step(state, units, self.steps[0], double=self.double)
        who = ", ".join(units)
        if isinstance(after, Ban):
            return state.tells("stop", f"{who} goes no farther: {after.because}", after.rule)
        state, _ = after
        now = tuple(number for place in state.places(units) for number in place)
        new = tuple(number for number in now if number not in before)
        did: Did = "entered" if new else "turned"
        rest = GoOn(units, self.steps[1:], is_told=bool(new) or self.is_told)
        if rest.steps:
            if not new and with_reactions(state, units, did, new).due == state.due:
                return rest.follow(state, None)
            state = state.pushed(rest)
        words = f"moves to {joined(now)}" if new else "turns"
        if new or not self.is_told:
            facts = {"units": list(units), "hexes": list(now)}
            state = state.tells("move", f"{who} {words}", "D-12.1", **facts)
        return with_reactions(state, units, did, new)


def with_reactions(state: State, units: Units, did: Did, entered_hexes: Hexes) -> State:
    """Returns the state with all that a step triggers due (D-13.8, D-14.11.8, D-7.2)."""
    enemy = state.enemy(units[0])
    must, may = triggered(state, units, did)
    if must or may:
        state = state.pushed(Reactions(units, must, may))
    for leader in state.leaders_of(enemy) if entered_hexes else ():
        if leader.hex in entered_hexes and not state.at(leader.hex, enemy):
            state = state.pushed(LeaderLeaves(leader.id))
        elif leader.hex and state.grid.distance((leader.hex,), entered_hexes) == 1:
            state = state.pushed(LeaderLeaves(leader.id, True))
    enemies = tuple(dict.fromkeys(p.id for n in entered_hexes for p in state.at(n, enemy)))
    return with_square_tries(state, units, enemies)


# Actions of the side in its slot, and why it may not do them.


def ban_on_fires(state: State, action: acts.Fire) -> Ban | None:
    """Returns why units do not fire in the slot."""
    for name in action.units:
        if state.troop(name).side != state.in_slot:
            return Ban("D-14.5", f"expected a unit of the {side_plural(state.in_slot)}, got {name}")
    if state.movers and not set(action.units) <= set(state.movers):
        return Ban("D-12.13", "expected the units that are moving")
    return ban_on_fire(state, action.units, state.piece(action.target).id)


def ban_on_move(state: State, action: acts.Move | acts.Charge) -> Ban | None:
    """Returns why units do not move or charge so now."""
    units = action.units
    if not units or len(set(units)) < len(units):
        return Ban("D-12.13", "expected units that move, each once")
    if state.movers and set(units) != set(state.movers):
        return Ban("D-12.13", "expected the units that are moving")
    for name in () if state.movers else units:
        if ban := ban_on_beginning(state, name):
            return ban
    if isinstance(action, acts.Charge):
        return movement.ban_on_charge(state, units, action.target)
    if not action.steps:
        return Ban("D-12.1", "expected a step")
    walked = walk(state, units, action.steps, double=action.double_march)
    return walked if isinstance(walked, Ban) else None


def fires(state: State, action: acts.Fire) -> State:
    """Returns the state with a fire; the slot is the other side's, unless units are moving."""
    if not state.movers:
        state = replace(state, slot=1 - state.slot, passes=0)
    return fired(state, action.units, action.target)


def moves(state: State, action: acts.Move) -> State:
    """Returns the state with the steps of a move due."""
    state = replace(state, movers=action.units)
    return state.pushed(GoOn(action.units, action.steps, action.double_march))


def charges(state: State, action: acts.Charge) -> State:
    """Returns the state with a charge on the enemies' hex and its Clash due (D-9.2)."""
    walked = walk(state, action.units, (MoveStep(to=(action.target,)),))
    assert not isinstance(walked, Ban)
    state = walked[0]
    for name in action.units:
        state = state.with_piece(name, how="charge")
    defenders = tuple(p.id for p in state.at(action.target, state.enemy(action.units[0])))
    text = f"{', '.join(action.units)} charges {', '.join(defenders)}"
    state = state.tells("charge", text, "D-9.2.1")
    return begun(state, Combat((action.target,), action.units, defenders, "charge"))


def reordered(state: State, action: acts.Reorder) -> State:
    """Returns the state with a stack in another order, a point of each unit spent (D-11.0)."""
    paid = [replace(piece, mp_left=piece.mp_left - 1) for piece in map(state.piece, action.order)]
    others = (piece for piece in state.pieces if piece.id not in action.order)
    state = replace(state, pieces=(*others, *paid), movers=state.movers or action.order)
    return state.tells("reorder", f"{action.order[0]} is on top in {action.hex}", "D-11.0")


def formed(state: State, action: acts.Form) -> State:
    """Returns the state with a unit in another formation (D-6.3)."""
    piece = state.piece(action.unit)
    mp = dict(movement.formations(state, piece))[action]
    lies = {"formation": action.to, "facing_deg": action.facing_deg, "hexes": action.hexes}
    state = state.with_piece(piece.id, mp_left=piece.mp_left - mp, straight=0, **lies)
    text = f"{action.unit} forms {action.to.capitalize()}"
    return replace(state, movers=(action.unit,)).tells("formation", text, "D-6.3")


def detached(state: State, action: acts.Detach) -> State:
    """Returns the state with companies beside their battalion, which is weaker by them (D-8.2)."""
    piece = state.piece(action.unit)
    losses = piece.losses + sum(state.strength(name) for name in action.companies)
    lies = {"hexes": piece.hexes[:1], "facing_deg": piece.facing_deg, "formation": "skirmish"}
    marks = lies | {"mp_left": piece.mp_left, "done": False, "returns_turn": None}
    for name in action.companies:
        state = state.with_piece(name, **marks)
    state = state.with_piece(action.unit, losses=losses, out=(*piece.out, *action.companies))
    text = f"{action.unit} detaches {', '.join(action.companies)}"
    state = replace(state, movers=(action.unit,)).pushed(Shrink(action.unit))
    return state.tells("detach", text, "D-8.2", unit=action.unit)


# Leaders and Clashes.


def leader_moves(state: State) -> Iterator[acts.MoveLeader]:
    """Yields the hexes that the activated leaders may go to (D-3.3b, D-11.4)."""
    enemy = enemy_of(state.active)
    held = {leader.hex for leader in state.leaders if state.leader_side(leader.id) == enemy}

    def may_step(_: str, number: str) -> bool:
        return state.is_free(number, enemy) and number not in held

    for name in dict.fromkeys((state.drawn, state.commanding)):
        leader = state.leader(name)
        if leader.hex is not None and not leader.has_moved and not state.is_clash(leader.hex):
            reached = state.grid.reached((leader.hex,), tables.ALLOWANCE["leader"], may_step)
            yield from (acts.MoveLeader(name, n) for n in reached if n != leader.hex)


def leader_moved(state: State, action: acts.MoveLeader) -> State:
    """Returns the state with a leader elsewhere (D-3.3b)."""
    state = state.with_leader(action.leader, hex=action.to, has_moved=True)
    side = side_plural(state.leader_side(action.leader))
    text = f"{action.leader} of the {side} goes to {action.to}"
    return state.tells("leader-move", text, "D-3.3b", leader=action.leader)


def open_combats(state: State) -> tuple[Combat, ...]:
    """Returns the Clashes that are still to be fought (D-15.2 to D-15.6)."""
    units = tuple(n for n in state.active_units if n not in state.fought)
    return combats_of(state, state.active, units, state.fought)


def recaptured(state: State) -> State | None:
    """Returns the state with a gun taken back by friends who stand with it, if any (D-10.12)."""
    for piece in state.pieces:
        side, enemy = state.side(piece.id), state.enemy(piece.id)
        is_taken = piece.captured_by == enemy and piece.hexes
        if is_taken and state.at(piece.hexes[0], side) and not state.at(piece.hexes[0], enemy):
            points = tables.VICTORY_POINTS["battery_recaptured"]
            state = state.with_piece(piece.id, captured_by=side).gains(side, points)
            text = f"{piece.id} is recaptured: {points} VP for the {side_plural(side)}"
            return state.tells("recaptured", text, "D-10.12", unit=piece.id)
    return None


# Phases.


def clash_phase(state: State) -> State:
    """Returns the state after the leaders' moves."""
    return replace(state, phase="clash", fought=())


def _activating(state: State) -> State | None:
    listed = activations(state)
    if len(listed) == 1:
        return activated(state, listed[0])
    return None if listed else replace(state, phase="draw", drawn="")


def _clashing(state: State) -> State | None:
    combats = open_combats(state)
    if combats:
        return begun(state, combats[0]) if len(combats) == 1 else None
    return replace(state, phase="draw", drawn="", commanding="", units_of="", fought=())


CHOICES: Final[Mapping[str, Callable[[State], Iterable[Any]]]] = {
    "draw": draws,
    "activate": activations,
    "movement": lambda state: dict.fromkeys(movement_choices(state)),
    "leaders": lambda state: (*leader_moves(state), acts.Pass()),
    "clash": lambda state: (
        acts.ClashIn(combat.hexes, combat.attackers, combat.defenders)
        for combat in open_combats(state)
    ),
}
"""What may be done in a phase, of moves single steps."""
AUTOMATIC: Final[Mapping[str, Callable[[State], State | None]]] = {
    "pool": _pooled,
    "draw": lambda state: None if state.pool else _turn_ended(state),
    "activate": _activating,
    "movement": _movement_goes_on,
    "leaders": lambda state: None if any(leader_moves(state)) else clash_phase(state),
    "clash": _clashing,
}
"""What follows in a phase without a decision; None where a player or a draw decides."""


def automatic(state: State) -> State | None:
    """Returns what follows by itself when nothing is due."""
    return recaptured(state) or AUTOMATIC[state.phase](state)


HANDLERS: Final[Mapping[tuple[str, type], Callable[[State, Any], State]]] = {
    ("draw", acts.Draw): lambda state, action: drawn(state, action.leader),
    ("activate", acts.Activate): activated,
    ("movement", acts.Fire): fires,
    ("movement", acts.Move): moves,
    ("movement", acts.Charge): charges,
    ("movement", acts.Halt): lambda state, action: halts(state),
    ("movement", acts.Form): formed,
    ("movement", acts.Detach): detached,
    ("movement", acts.Reorder): reordered,
    ("movement", acts.Place): entered,
    ("movement", acts.Pass): lambda state, action: passed(state),
    ("leaders", acts.MoveLeader): leader_moved,
    ("leaders", acts.Pass): lambda state, action: clash_phase(state),
    ("clash", acts.ClashIn): lambda state, action: begun(
        state, Combat(action.hexes, action.attackers, action.defenders)
    ),
}
"""What follows from an action, by its phase and its type."""
WHY_NOT: Final[Mapping[str, Mapping[str, Callable[[State, str], Ban | None]]]] = {
    "movement": {
        "move": _ban_on_moving,
        "halt": lambda state, name: ban_on_halting(state) if state.movers else None,
        "charge": _ban_on_charging,
        "fire": _ban_on_shots,
    }
}
"""Why a unit lacks what others may do, by the phase and the deed."""
BANS: Final[Mapping[type, Callable[[State, Any], Ban | None]]] = {
    acts.Fire: ban_on_fires,
    acts.Move: ban_on_move,
    acts.Charge: ban_on_move,
    acts.Halt: lambda state, action: ban_on_halting(state),
    acts.Pass: lambda state, action: (
        Ban("D-12.13", "expected the move to end first") if state.movers else None
    ),
}
"""Why an action is not legal, where more of them are than are listed."""


def acted(state: State, action: Any) -> State:
    """Returns what follows from an action when nothing is due."""
    handler, kind = HANDLERS.get((state.phase, type(action))), type(action)
    if handler is None:
        raise Refused(f"expected an action of this phase, got {action.type}")
    waits = state.phase == "movement" and not (state.slot or state.movers)
    if waits and kind not in (acts.Fire, acts.Pass):
        raise Refused("expected a fire or a pass: the other side moves next", rule="D-14.5")
    ban = BANS[kind](state, action) if kind in BANS else _ban_unlisted(state, action)
    if ban is not None:
        raise ban.refused()
    return handler(state, action)


def _ban_unlisted(state: State, action: Any) -> Ban | None:
    listed = CHOICES[state.phase](state)
    if action in listed or (isinstance(action, acts.Draw) and action.leader in state.pool):
        return None
    rule = {"draw": "D-3.3b", "activate": "D-4.4", "movement": "D-14.5", "leaders": "D-12.8"}
    return Ban(rule.get(state.phase, "D-15.2"), "expected one of the listed actions")
