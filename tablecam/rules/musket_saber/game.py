"""Plays whole games: decisions, legal actions, their results, and what each seat may know."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any, Final, Literal

from pydantic import Field, TypeAdapter

from tablecam.documents import document_from
from tablecam.errors import BadInput
from tablecam.geometry.shapes import Shape
from tablecam.rules import descriptions as about
from tablecam.rules.dice import Roll
from tablecam.rules.frozen_json import one_of
from tablecam.rules.game import Json
from tablecam.rules.lay import Lay
from tablecam.rules.musket_saber import hands, page, sequence
from tablecam.rules.musket_saber import state as acts
from tablecam.rules.musket_saber.files import FILE_MODELS
from tablecam.rules.musket_saber.state import State, folio_from
from tablecam.rules.musket_saber.tables import GAME as NAME
from tablecam.rules.musket_saber.tables import Time
from tablecam.rules.musket_saber.troops import Leader, Post
from tablecam.rules.steps import PhaseGame
from tablecam.table.model import Keys, Position, TableNeeds, Unit
from tablecam.table.sections import StrictModel

_ACTIONS: Final = one_of(
    Roll, Lay, acts.Start, acts.Move, acts.Recover, acts.Square, acts.Exit, acts.Place,
    acts.Replace, acts.Bombard, acts.Aim, acts.Attack, acts.Join, acts.Primary, acts.Declare,
    acts.Defend, acts.UseTactic, acts.Choose, acts.Retreat, acts.StepLoss, acts.Advance,
    acts.Capture, acts.Fow, acts.Pass, acts.Overrule,
)  # fmt: skip


class MusketSaber(PhaseGame[State]):
    """Musket & Saber, on hexes, with the charts, the map and the counters of a folio's owner."""

    name: Final = NAME
    actions = _ACTIONS
    states = TypeAdapter(State)
    action_groups = page.GROUPS
    moments = page.MOMENTS
    counters_stack = True
    counters_face = False
    table_needs = TableNeeds(hex_map=True)
    file_models = FILE_MODELS
    standing = staticmethod(page.standing)
    markers = staticmethod(page.markers)
    settings = staticmethod(page.settings)
    offered = staticmethod(page.offered)
    question = staticmethod(page.question)
    outcome = staticmethod(sequence.outcome)
    goes_on = staticmethod(sequence.automatic)
    why_not = sequence.WHY_NOT
    choices = staticmethod(sequence.choices)
    acted = staticmethod(sequence.acted)
    overruled = staticmethod(hands.overruled)
    position = staticmethod(hands.position_of)
    detect_moves = staticmethod(hands.detect_moves)
    adopt_positions = staticmethod(hands.adopted)

    def counter_label(self, unit: Unit, face: Keys, files: Mapping[str, Any]) -> about.CounterLabel:
        """Returns a counter's Combat Factor, in parentheses if printed so, and its formation."""
        listed = files.get("scenario", {}).get("unit", ())
        entry: Mapping[str, Any] = next((one for one in listed if one["id"] == unit.id), {})
        shown = entry.get(str(face.get("side", "front")), {})
        factor = shown.get("cf", shown.get("attack", ""))
        words = f"({factor})" if shown.get("paren") else str(factor)
        return about.CounterLabel(words, str(entry.get("formation", "")))

    def step_shapes(self, state: State) -> tuple[Shape, ...]:
        """Returns what is due."""
        return () if state.step is None else tuple(state.step.shapes(state))

    def begin(self, position: Position, options: Mapping[str, Any]) -> State:
        """Returns the first state: each counter in the hex that the scenario states (K-3.1).

        Raises:
            BadInput: A file is missing or wrong, or the table has other units.
        """
        if position.table.hex_map is None:
            raise BadInput("position", "expected where the hexes lie", key="map")
        stated = document_from(options, "options").parsed(Options)
        folio = folio_from(options, position.table.hex_map)
        scenario = folio.scenario
        leaders = tuple(
            Leader(id=one.id, side=one.side, hex=one.hex, span=tuple(one.span),
                   **one.front.model_dump())
            for one in scenario.leader
        )  # fmt: skip
        hq, trains = (
            tuple(Post(id=one.id, side=one.side, hex=one.hex, ma=one.ma) for one in posts)
            for posts in (scenario.hq, scenario.trains)
        )
        kept = {key: options[key] for key in (*FILE_MODELS, "coordination") if key in options}
        state = State(position, kept, folio.first_units(), leaders, hq, trains)
        for unit in position.units:
            if unit.id not in state.names:
                raise BadInput("position", f"expected a unit of the scenario, got {unit.id}")
        return self.settled(_begun(state, stated.begin or Begin()))[0]

    def laid(self, state: State, action: Lay) -> State:
        """Returns the state with counters as they really lie within their hexes."""
        bases = {name: laid[0] for name, laid in action.units.items() if len(laid) == 1}
        return replace(state, lies={**state.lies, **bases})

    def seen_by(self, state: State, seat: str | None) -> Json:
        """Returns the state without positions and files; nothing is concealed."""
        return page.public(state)


class Begin(StrictModel):
    """Where a game begins in its middle."""

    turn: Annotated[int, Field(ge=1)] = 1
    phase: Literal["movement", "combat"] = "movement"
    active_side: str | None = None
    time: Time | None = None


class Options(StrictModel):
    """What a game begins with: its files, which `folio_from` checks, and where it begins."""

    charts: Mapping[str, Any] | None = None
    map: Mapping[str, Any] | None = None
    scenario: Mapping[str, Any] | None = None
    coordination: bool = True
    begin: Begin | None = None


def _begun(state: State, begin: Begin) -> State:
    """Returns the state at the beginning, or in the middle of a game.

    Raises:
        BadInput: There is no such turn or side.
    """
    scenario = state.folio.scenario
    if begin.turn > len(scenario.turns):
        why = f"expected 1 to {len(scenario.turns)}"
        raise BadInput("options", why, key="begin.turn")
    side = begin.active_side or scenario.first_player
    if side not in scenario.sides:
        why = f"expected {' or '.join(scenario.sides)}, got {side}"
        raise BadInput("options", why, key="begin.active_side")
    state = replace(state, turn=begin.turn, given_time=begin.time)
    for one in scenario.sides:
        state = state.with_posts_judged(one, wakes=True)
    state = sequence.movement_begun(state, side)
    return sequence.combat_begun(state) if begin.phase == "combat" else state


GAME: Final = MusketSaber()
"""The game that other modules look up."""
