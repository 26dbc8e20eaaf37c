"""What all battles have in common: the loop of steps, moves by hand, overrules and documents."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, TypeVar

from tablecam.documents import Json, document_from
from tablecam.errors import BadInput
from tablecam.geometry.outlines import Axes
from tablecam.geometry.shapes import Shape
from tablecam.rules import descriptions as about
from tablecam.rules.game import Ban, Offer, PendingDecision, Refused, Suggestion
from tablecam.rules.game_files import FORMATS, VERSION, GameFile
from tablecam.rules.lay import Lay, with_bases
from tablecam.rules.miniatures.battle import Bases, Battle, Done, Judged, Move, Phase, permitted
from tablecam.rules.miniatures.by_hand import ASKED_FIRST, ByHand, adopted, suggested
from tablecam.rules.miniatures.drawing import offer_shapes, shapes_about, with_shapes
from tablecam.rules.miniatures.ground import axes_of
from tablecam.rules.miniatures.move_words import move_words
from tablecam.rules.miniatures.page import Label, Sign, UnitSetting
from tablecam.rules.overrules import check_overrule, overrule_event
from tablecam.rules.steps import BanOn, Events, PhaseGame
from tablecam.table.model import Commander, Keys, Position, Unit
from tablecam.table.sections import Name
from tablecam.table.sides import side_name, side_plural

State = TypeVar("State", bound=Battle)


class BattleCharts(GameFile):
    """A chart file, whose header may be omitted where the game is known."""

    format: str = FORMATS["charts"]
    version: int = VERSION
    game: Name = ""


class BattleGame(ByHand[State], PhaseGame[State]):
    """A game of two sides in phases; a rulebook says what its phases ask and what follows."""

    options: ClassVar[Mapping[str, tuple[Any, ...]]]
    """The options of the rulebook with the values that each may have, the default first."""
    asked_before: ClassVar[tuple[str, ...]] = ()
    """The options that players choose before a battle."""
    charts: ClassVar[type[BattleCharts]]
    """The charts that owners of the rulebook may fill in."""
    end_rule: ClassVar[str]
    """The rule by which a battle ends."""
    phases: ClassVar[Mapping[str, Phase]]
    """The phases of a sequence in order."""
    sequence_marks: ClassVar[tuple[str, ...]]
    turn_marks: ClassVar[tuple[str, ...]] = ()
    """The marks that all units lose after each sequence, and after each turn."""
    shows_phase: ClassVar[bool] = False
    """Whether the page names the phase."""
    offers: ClassVar[Mapping[type, Label]]
    """The headings and labels of actions, by their type; without one, an action ends the phase."""
    front_of: Callable[[Unit, Bases], Axes] = staticmethod(axes_of)
    """Returns the front of a unit where some bases lie."""
    strength: ClassVar[str]
    """The unit in which a side's strength is counted: `figures`, `bases`."""
    unit_settings: ClassVar[tuple[UnitSetting, ...]]
    """What players may overrule of each unit."""
    signs: ClassVar[tuple[Sign, ...]]
    """The markers of units."""
    shown_keys: ClassVar[Mapping[str, Callable[[str], str]]]
    """The keys of units in table files that players need to know, each with its wording."""

    def phase_of(self, name: str) -> Phase:
        """Returns a phase of the sequence, or an empty one when the battle is over."""
        return self.phases.get(name, Phase(""))

    @property
    def file_models(self) -> Mapping[str, type[GameFile]]:
        """The chart file, which owners of the rulebook fill in."""
        return {"charts": self.charts}

    def begin_form(self, sides: Sequence[str]) -> tuple[about.BeginField, ...]:
        """Returns what players choose before a battle."""
        asked = (option_field(key, self.options[key]) for key in self.asked_before)
        return (*first_and_turns(sides), *asked)

    def begin(self, position: Position, options: Mapping[str, Any]) -> State:
        """Returns the first state.

        Raises:
            BadInput: There are not two sides, a unit or a commander lacks a key, or an option or
                the charts are wrong.
        """
        order, known = sides_and_options(position, options, self.options)
        charts = document_from(known.pop("charts"), "charts").parsed(self.charts)
        units = (unit for unit in position.units if unit.bases)
        things: tuple[Unit | Commander, ...] = (*units, *position.commanders)
        for thing in things:
            self.read_keys(thing)
        state = self.begun(position, order, known, charts)
        return self.settled(self.entered(state, next(iter(self.phases))))

    @abstractmethod
    def begun(
        self, position: Position, sides: tuple[str, str], options: Mapping[str, Any], charts: Any
    ) -> State:
        """Returns the state before the first phase."""

    @abstractmethod
    def under_way(self, state: State) -> tuple[str, str] | None:
        """Returns the question and the hint while something is under way in the phase."""

    def question(self, state: State) -> PendingDecision:
        """Returns the question about what is under way, or the phase's own."""
        phase = self.phase_of(state.phase)
        question, hint = self.under_way(state) or (phase.asks, phase.hint)
        return PendingDecision(f"{side_name(state.active)}: {question}", state.active, hint=hint)

    def clearly_legal(self, state: State, unit: Unit) -> Callable[[Bases], bool]:
        """Returns a test of whether a unit could move to some bases beyond doubt."""
        tolerance_mm = state.position.table.tolerance_mm

        def is_clear(bases: Bases) -> bool:
            return self.suggest(state, unit.id, Move(unit.id, bases)).answer.is_clear(tolerance_mm)

        return is_clear

    def why_still(self, state: State, unit: Unit) -> Ban:
        """Returns why a unit may not be moved: not its turn, or something is asked first."""
        if unit.side != state.active:
            return Ban(self.bases_rule, f"it is the turn of the {side_plural(state.active)}")
        return Ban(self.bases_rule, ASKED_FIRST)

    def choices(self, state: State) -> Iterable[Any]:
        """Yields what the active side may do in the phase, besides ending it."""
        choices = self.phase_of(state.phase).choices
        return () if choices is None else choices(state)

    def missed(self, state: State) -> Mapping[str, BanOn]:
        """Returns the choices of the phase, and why a unit lacks one."""
        return self.phase_of(state.phase).why_not

    def acted(self, state: State, action: Any) -> State:
        """Returns what follows from an action of the active side.

        Raises:
            Refused: It is not legal in this phase.
        """
        if isinstance(action, Done):
            return self.passed_on(state)
        own = state.position.unit(getattr(action, "unit", ""))
        if own is not None and own.side != state.active:
            raise Refused(f"expected a unit of the {side_plural(state.active)}, got {own.id}")
        target = state.position.unit(getattr(action, "target", ""))
        if target is not None and target.side == state.active:
            raise Refused(f"expected an enemy, got {target.id}")
        handler = self.phase_of(state.phase).follows.get(type(action))
        if handler is None:
            raise Refused(f"expected an action of this phase, got {action.type}")
        if isinstance(handler, Judged):
            after: State = handler.then(state, action, permitted(handler.law(state, action)))
        else:
            after = handler(state, action)
        return after

    def suggest(self, state: State, name: str, action: Any) -> Suggestion:
        """Suggests an action of a unit or a commander by its law in the phase."""
        handler = self.phase_of(state.phase).follows[type(action)]
        assert isinstance(handler, Judged)
        ruling = handler.law(state, action)
        return suggested(name, ruling[0] if isinstance(ruling, tuple) else ruling, action)

    def automatic(self, state: State) -> State | None:
        """Returns the state with the next step due, or unchanged if there is none.

        None in a phase where the active side chooses.
        """
        step = self.phase_of(state.phase).automatic
        after: Any = None if step is None else step(state)
        is_state = after is None or isinstance(after, Battle)
        return after if is_state else state.with_next(after)

    def passed_on(self, state: State) -> State:
        """Returns the state in the next phase, with its heading, or why nobody can act in it."""
        after = self.next_phase(state)
        phase = self.phase_of(after.phase)
        is_asked = phase.choices is not None and not after.due
        if is_asked and not self.waits(after) and (why := self.why_missing(after)):
            return after.tells("idle", why)
        is_told = any(event.kind in ("phase", "turn") for event in after.told[len(state.told) :])
        is_empty = not after.due and self.automatic(after) == after
        is_old = after.phase == state.phase
        is_named = phase.heading and not (is_told or is_empty or is_old)
        return after.tells("phase", phase.heading) if is_named else after

    def next_phase(self, state: State) -> State:
        """Returns the state in the next phase, sequence or turn, or at the end of the last turn."""
        phases = [*self.phases]
        if state.phase != phases[-1]:
            return self.entered(state, phases[phases.index(state.phase) + 1])
        ends_turn, last = state.half == 1, int(state.options.get("turns", 0))
        marks = (*self.sequence_marks, *(self.turn_marks if ends_turn else ()))
        names = [unit.id for unit in state.position.units]
        after = state.all_changed(names, **dict.fromkeys(marks))
        after = replace(self.wiped(after, ends_turn=ends_turn), half=1 - state.half)
        if ends_turn and last and state.turn >= last:
            return self.after_last_turn(after)
        return self.next_sequence(state, replace(after, turn=state.turn + ends_turn))

    def after_last_turn(self, state: State) -> State:
        """Returns the state at the end, after the turns that players agreed on."""
        return self.finished(state)

    def finished(self, state: State) -> State:
        """Returns the state at the end of a battle."""
        over = replace(state, phase="over", due=())
        return over.tells("over", self.outcome(over), self.end_rule)

    @abstractmethod
    def wiped(self, state: State, *, ends_turn: bool) -> State:
        """Returns the state without what lasts for a sequence, or a turn, apart from marks."""

    @abstractmethod
    def next_sequence(self, before: State, state: State) -> State:
        """Returns the state in the first phase of a sequence; `before` ended the last one."""

    @abstractmethod
    def entered(self, state: State, phase: str) -> State:
        """Returns the state at the beginning of a phase."""

    @abstractmethod
    def lost(self, state: State, name: str) -> State:
        """Returns the state without a unit that players took off."""

    @abstractmethod
    def moved(self, state: State, name: str) -> State | None:
        """Returns the state after an illegal move that players accept; None if it is not due."""

    def marked(self, state: State, action: Any) -> State:
        """Returns the state with the book's own settings changed by an overrule."""
        for setting in self.unit_settings:
            for name, value in getattr(action, setting.key).items():
                state = state.changed(name, **setting.marks(value))
        return state

    def markers(self, unit_state: Keys) -> tuple[about.Marker, ...]:
        """Returns the markers of a unit."""
        return tuple(filter(None, (sign.of(unit_state) for sign in self.signs)))

    def unit_words(self, keys: Keys) -> str:
        """Returns in words the keys of a unit that players need to know."""
        known = ((words, keys.get(key)) for key, words in self.shown_keys.items())
        return ", ".join(words(value) for words, value in known if isinstance(value, str))

    def side_settings(self, state: State) -> tuple[about.Setting, ...]:
        """Returns what players may overrule of each side."""
        return ()

    def settings(self, state: State) -> tuple[about.Setting, ...]:
        """Returns what players may overrule."""
        sides = tuple(about.SettingChoice(side, side_name(side)) for side in state.sides)
        phases = tuple(about.SettingChoice(key, one.words) for key, one in self.phases.items())
        return (
            about.Setting("active", "Active side", "game", "choice", {"": state.active}, sides),
            about.Setting("phase", "Phase", "game", "choice", {"": state.phase}, phases),
            about.Setting("turn", "Turn", "game", "number", {"": state.turn}, least=1),
            *self.side_settings(state),
            *(setting.of(state) for setting in self.unit_settings),
        )

    @abstractmethod
    def adopts(self, state: State) -> bool:
        """Whether units may now be adopted as they lie, so that lengths are true."""

    @abstractmethod
    def strength_of(self, unit: Unit) -> int:
        """Returns what a unit adds to its side's strength."""

    def seen_by(self, state: State, seat: str | None) -> Json:
        """Returns the state without the position, which is published separately."""
        strength = {
            side: sum(self.strength_of(unit) for unit in state.position.units if unit.side == side)
            for side in state.sides
        }
        return {
            "sides": list(state.sides),
            "turn": state.turn,
            "phase": state.phase,
            "active": state.active,
            self.strength: strength,
            "position": None,
        }

    def standing(self, public: Json) -> about.Standing:
        """Returns the sides with their remaining strength, and the phase in words."""
        figures = public[self.strength].items()
        sides = tuple(
            about.SideStanding(side, (about.Figure(self.strength, left),)) for side, left in figures
        )
        words = self.phase_of(public["phase"]).words if self.shows_phase else ""
        return about.Standing(sides, public["turn"], phase=words, active=public["active"])

    def acting(self, state: State) -> Iterable[str]:
        """Yields the units to draw, which may act when nothing is due."""
        return ()

    def waits(self, state: State) -> bool:
        """Whether the active side can do something in the phase, if only by hand."""
        return any(True for _ in self.choices(state))

    def offered(self, state: State, action: Any) -> Offer:
        """Returns an action as a page shows it, with its units and its move."""
        label = self.offers.get(type(action)) or ("done", self.phase_of(state.phase).ends)
        if isinstance(label, tuple):
            offer = Offer(label[0], self._words(label[1], state, action))
        else:
            offer = label(state, action)
        named = (getattr(action, key, None) for key in ("unit", "target", "other"))
        offer = replace(offer, units=offer.units or tuple(filter(None, named)))
        shapes = offer_shapes(state.position, action, offer)
        return replace(offer, evidence=(*offer.evidence, *shapes))

    def _words(self, words: str | Callable[[Any, Any], str], state: State, action: Any) -> str:
        if not isinstance(words, str):
            return words(state, action)
        fields = dict(vars(action))
        if "{move}" in words:
            unit, bases = state.unit(action.unit), action.bases
            start, end = self.front_of(unit, unit.bases), self.front_of(unit, bases)
            length_unit = self.length_unit(state.position.table)
            fields["move"] = move_words(start, end, unit.bases, bases, length_unit)
        return words.format(**fields)

    def step_shapes(self, state: State) -> tuple[Shape, ...]:
        """Draws the step due, or the units that may act."""
        if state.step is not None:
            shapes: tuple[Shape, ...] = state.step.shapes(state)
            return shapes
        return shapes_about(state.position, self.acting(state))

    def legal(self, state: State) -> tuple[Any, ...]:
        """Lists the actions, of moves the usual ones, and the end of the phase."""
        ends = () if state.due or state.phase == "over" else (Done(),)
        return (*super().legal(state), *ends)

    def apply(self, state: State, action: Any) -> tuple[State, Events]:
        """Returns the next state and the events, with shapes to draw.

        Raises:
            Refused: The action is not legal now.
        """
        after, events = super().apply(state, action)
        shown = (with_shapes(state.position, after.position, event) for event in events)
        return after, tuple(shown)

    def laid(self, state: State, action: Lay) -> State:
        """Returns the state with units as they really lie.

        Raises:
            Refused: A unit has another number of bases.
        """
        for name, bases in action.units.items():
            if len(bases) != len(state.unit(name).bases):
                raise Refused(f"expected the bases that {name} has", rule=self.bases_rule)
        return replace(state, position=with_bases(state.position, action.units))

    def ended(self, state: State) -> State:
        """Returns the state, at the end of the battle if a side has left the table."""
        if state.phase == "over" or len({unit.side for unit in state.position.units}) > 1:
            return state
        return self.finished(state)

    def goes_on(self, state: State) -> State | None:
        """Returns the state with the phase's next step due, or the next phase; None if it waits."""
        after = self.automatic(state)
        if after is None and self.waits(state):
            return None
        return self.passed_on(state) if after is None or after == state else after

    def outcome(self, state: State) -> str:
        """Returns how a battle has ended."""
        left = list(dict.fromkeys(unit.side for unit in state.position.units))
        if len(left) == 1:
            return f"{side_plural(left[0])} hold the field"
        turns = f"{state.turn} {'turn' if state.turn == 1 else 'turns'}"
        return f"The battle is over after {turns}" if left else "Nobody holds the field"

    def overruled(self, state: State, action: Any) -> State:
        """Returns the state as players set it."""
        settings = self.settings(state)
        check_overrule(action, settings, state.position)
        for name, bases in action.units.items():
            state = state.changed(name, bases=bases)
        moved: list[str] = []
        for name in action.asked:
            if (after := self.moved(state, name)) is not None:
                state, moved = after, [*moved, name]
        state = self.marked(state, action)
        for name in action.off:
            state = self.lost(state, name)
        if action.active is not None:
            state = replace(state, half=state.sides.index(action.active))
        if action.turn is not None:
            state = replace(state, turn=action.turn)
        if action.phase is not None and action.phase != state.phase:
            state = self.entered(state, action.phase)
        # Units that players take off themselves are part of the overrule.
        return replace(state, told=(overrule_event(action, settings, moved),))

    def adopt_positions(self, state: State, position: Position) -> Any | None:
        """Returns an action with the actual places of units when lengths are about to be measured.

        Ranges and moves are then measured from where hands have put the bases, not from ghosts.
        """
        left = super().adopt_positions(state, position)
        if left is not None or state.due or not self.adopts(state):
            return left
        return adopted(state.position, position)


def option_field(key: str, values: Iterable[str]) -> about.BeginField:
    """Returns the question for an option before a battle; its first value is the default."""
    first, *others = values
    added = (about.BeginChoice(value, {key: value}) for value in others)
    return about.BeginField(key, key.capitalize(), (about.BeginChoice(first), *added))


def sides_and_options(
    position: Position, options: Mapping[str, Any], known: Mapping[str, tuple[Any, ...]]
) -> tuple[tuple[str, str], dict[str, Any]]:
    """Returns the sides, the one to act first in front, and the other options.

    `known` are the values that each option of the game may have, besides `first` and `turns`.

    Raises:
        BadInput: There are not two sides, or an option is unknown or wrong.
    """
    sides = tuple(dict.fromkeys(unit.side for unit in position.units if unit.bases))
    if len(sides) != 2:
        raise BadInput("position", f"expected units of two sides, got {len(sides)}")
    rest = dict(options)
    first, turns = rest.pop("first", sides[0]), rest.pop("turns", 0)
    charts = rest.pop("charts", None) or {}
    if first not in sides:
        raise BadInput("options", f"expected one of {', '.join(sides)}, got {first}", key="first")
    if not isinstance(turns, int) or isinstance(turns, bool) or not 0 <= turns <= 100:
        raise BadInput("options", f"expected 0 to 100 turns, got {turns}", key="turns")
    for key, value in rest.items():
        if value not in known.get(key, ()):
            expected = known.get(key, "first, turns, charts, " + ", ".join(known))
            raise BadInput("options", f"expected {expected}, got {value}", key=key)
    order = (first, next(side for side in sides if side != first))
    return order, {**rest, "turns": turns, "charts": charts}


def side_choices(sides: Iterable[str], key: str) -> tuple[about.BeginChoice, ...]:
    """Returns the choices of a side, which becomes an option of a battle."""
    return tuple(about.BeginChoice(side_name(side), {key: side}, side=side) for side in sides)


def first_and_turns(sides: Iterable[str]) -> tuple[about.BeginField, ...]:
    """Returns the questions before every battle: who acts first, how many turns, and the start."""
    turns = tuple(
        about.BeginChoice(str(count) if count else "until one side is gone", {"turns": count})
        for count in (0, 6, 8, 12)
    )
    hint = "A battle continues from the table as it is now: you set the turn, phase and markers."
    middle = about.BeginChoice("Mid-game", {}, hint, opens_settings=True)
    return (
        about.BeginField("first", "First side", side_choices(sides, "first")),
        about.BeginField("turns", "Turns", turns),
        about.BeginField("start", "Start", (about.BeginChoice("From the beginning"), middle)),
    )
