"""Plays whole games: decisions, legal actions, their results, and what each seat may know."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Final, Literal

from pydantic import Field, TypeAdapter

from tablecam.documents import Json, document_from
from tablecam.errors import BadInput
from tablecam.rules import descriptions as about
from tablecam.rules.dice import Roll
from tablecam.rules.frozen_json import one_of
from tablecam.rules.hexes.hex_game import HexGame, HexOptions
from tablecam.rules.lay import Lay
from tablecam.rules.musket_saber import hands, page, sequence, troops
from tablecam.rules.musket_saber import state as acts
from tablecam.rules.musket_saber.files import FILE_MODELS
from tablecam.rules.musket_saber.state import State
from tablecam.rules.musket_saber.tables import GAME as NAME
from tablecam.rules.musket_saber.tables import Time
from tablecam.rules.musket_saber.troops import Leader, Post
from tablecam.rules.steps import Events
from tablecam.table.model import Keys, Position, TableNeeds, Unit
from tablecam.table.sections import StrictModel


class MusketSaber(HexGame[State]):
    """Musket & Saber, on hexes, with the charts, the map and the counters of a folio's owner."""

    name: Final = NAME
    title: Final = "Musket & Saber"
    actions = one_of(Roll, Lay, acts.Act)
    states = TypeAdapter(State)
    action_groups = page.GROUPS
    moments = page.MOMENTS
    counters_face = False
    counters_join = "top"
    table_needs = TableNeeds(hex_map=True)
    file_models = FILE_MODELS
    standing = staticmethod(page.standing)
    markers = staticmethod(page.markers)
    settings = staticmethod(page.settings)
    offers = page.OFFERS
    question = staticmethod(page.question)
    ground_words = staticmethod(page.ground_words)
    outcome = staticmethod(sequence.outcome)
    goes_on = staticmethod(sequence.automatic)
    why_not = sequence.WHY_NOT
    choices = staticmethod(sequence.choices)
    acted = staticmethod(sequence.acted)
    detect_moves = staticmethod(hands.detect_moves)

    def counter_label(self, unit: Unit, face: Keys, files: Mapping[str, Any]) -> about.CounterLabel:
        """Returns a counter's Combat Factor, in parentheses if printed so, and its formation."""
        units = files.get("scenario", {}).get("unit", ())
        entry: Mapping[str, Any] = next((entry for entry in units if entry["id"] == unit.id), {})
        shown = entry.get(str(face.get("side", "front")), {})
        factor = shown.get("cf", shown.get("attack", ""))
        words = f"({factor})" if shown.get("paren") else str(factor)
        return about.CounterLabel(words, str(entry.get("formation", "")))

    def begun(self, position: Position, options: Mapping[str, Any]) -> State:
        """Returns the state at the beginning (K-3.1), or in the middle of a game."""
        stated = document_from(options, "options").parsed(Options)
        kept = {key: options[key] for key in (*FILE_MODELS, "coordination") if key in options}
        state = State(position, kept, (), (), (), ())
        scenario = state.folio.scenario
        leaders = tuple(
            Leader(
                id=leader.id, side=leader.side, hex=leader.hex, span=tuple(leader.span),
                **vars(leader.front),
            )
            for leader in scenario.leader
        )  # fmt: skip
        hq, trains = (
            tuple(Post(**vars(post)) for post in posts) for posts in (scenario.hq, scenario.trains)
        )
        begin = stated.begin or Begin()
        if begin.turn > len(scenario.turns):
            raise BadInput("options", f"expected 1 to {len(scenario.turns)}", key="begin.turn")
        side = begin.active_side or scenario.first_player
        if side not in scenario.sides:
            why = f"expected {' or '.join(scenario.sides)}, got {side}"
            raise BadInput("options", why, key="begin.active_side")
        state = replace(
            state, units=state.folio.first_units(), leaders=leaders, hq=hq, trains=trains,
            turn=begin.turn, given_time=begin.time,
        )  # fmt: skip
        for name in scenario.sides:
            state = state.with_posts_judged(name, wakes=True)
        state = sequence.movement_begun(state, side)
        return sequence.combat_begun(state) if begin.phase == "combat" else state

    def apply(self, state: State, action: Any) -> tuple[State, Events]:
        """Returns the next state and the events, with the Victory Points that have changed."""
        after, events = super().apply(state, action)
        return after, (*events, *sequence.scored(state, after))

    def marked(self, state: State, action: acts.Overrule) -> State:
        """Returns the state with what players set of units."""
        for name in action.off:
            gone = {"captured": True} if isinstance(state.thing(name), troops.Unit) else {}
            state = state.changed(name, hex=None, **gone)
        for key in ("disrupted", "ineffective"):
            for name, value in getattr(action, key).items():
                state = state.changed(state.unit(name).id, **{key: value})
        for name, steps in action.steps.items():
            whole = state.folio.most_steps(state.unit(name))
            state = state.changed(name, steps=steps, reduced=steps < whole)
        return state

    def seen_by(self, state: State, seat: str | None) -> Json:
        """Returns the state without positions and files; nothing is concealed."""
        return super().seen_by(replace(state, battle=None, due=()), seat) | {
            "time": state.time,
            "points": sequence.points(state),
            "units": {unit.id: acts.unit_state(state, unit) for unit in state.units},
        }


class Begin(StrictModel):
    """Where a game begins in its middle."""

    turn: Annotated[int, Field(ge=1)] = 1
    phase: Literal["movement", "combat"] = "movement"
    active_side: str | None = None
    time: Time | None = None


class Options(HexOptions):
    """What a game begins with: its files, which `folio_from` checks, and where it begins."""

    coordination: bool = True
    begin: Begin | None = None


GAME: Final = MusketSaber()
"""The game that other modules look up."""
