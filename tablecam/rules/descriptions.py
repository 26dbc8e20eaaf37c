"""How a game describes itself, so that the page and other programs can show any game.

All are frozen values that `frozen_json.to_plain` writes; empty defaults are left out. The page
draws them without knowing the game's terms.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal, Protocol

from tablecam.documents import Document, Json
from tablecam.geometry.shapes import Shape
from tablecam.rules.game_files import GameFile, house_options
from tablecam.table.model import (
    Commander,
    Keys,
    LengthUnit,
    Position,
    TableNeeds,
    TableSize,
    Unit,
    hexes,
    preferred_unit,
)

Sign = Literal["flag", "card", "star", "coin", "skull"]
"""A sign before a figure on the page."""

Tone = Literal["plain", "good", "warn", "bad"]

MomentKind = Literal["turn", "phase", "attack", "loss", "detail"]
"""What an event means to anyone looking back at a game.

A turn or a phase begins, an attack is declared, a unit is lost; reports omit details. Overrules,
disputes and the end are moments in every game.
"""


@dataclass(frozen=True, slots=True)
class Figure:
    """A number of a side, such as its victory points; `sign` stands for its label."""

    label: str
    value: int | float | str
    sign: Sign | None = None


@dataclass(frozen=True, slots=True)
class SideStanding:
    """How a side stands; its first figure is the best measure, and charts plot it over time."""

    name: str
    figures: tuple[Figure, ...] = ()


@dataclass(frozen=True, slots=True)
class Standing:
    """How a game stands: the sides, the number of the turn and whose it is.

    `turn` is None before the first, when `phase` says what happens instead. `turn_word` is what the
    game calls a turn. With `declares_first`, players may not measure before they declare.
    """

    sides: tuple[SideStanding, ...] = ()
    turn: int | None = None
    turn_word: str = "turn"
    phase: str = ""
    active: str | None = None
    declares_first: bool = False


MarkerKind = Literal["pips", "cloud", "ring", "word"]


@dataclass(frozen=True, slots=True)
class Marker:
    """A marker of a unit: `count` pips, a cloud, a ring around it, or a word.

    `text` is what a screen reader and the panel say, such as `2 disruptions`; for a bare figure,
    they say the `words`.
    """

    kind: MarkerKind
    text: str
    count: int = 1
    tone: Tone = "plain"
    words: str = ""


Value = bool | int | str


@dataclass(frozen=True, slots=True)
class SettingChoice:
    """A value that players may choose for a setting, with the text of its button."""

    value: Value
    text: str
    title: str = ""


@dataclass(frozen=True, slots=True)
class Setting:
    """What players may overrule: a number, a choice or a switch, of the game, a side or a unit.

    `values` are the present ones, by the id of the side or unit, or an empty id for the game. An
    overrule sets the value under `key`, for a side or a unit by its id. A number is at least
    `least`; if `most` is given, each number up to it has a button.

    `marker` is the kind of marker that shows a unit's value. A number that `falls_with` another
    setting drops by what players add to that one, as a deck does by the cards in hand. A setting
    that `is_rare` is offered only in the form of all settings, which sends one that `is_restated`
    even if unchanged.
    """

    key: str
    title: str
    of: Literal["game", "side", "unit"]
    kind: Literal["number", "choice", "switch"]
    values: Mapping[str, Value]
    choices: tuple[SettingChoice, ...] = ()
    least: int = 0
    most: int | None = None
    marker: MarkerKind | None = None
    falls_with: str = ""
    is_rare: bool = False
    is_restated: bool = False


@dataclass(frozen=True, slots=True)
class BeginChoice:
    """A choice before a game: its button, a hint, and the options that it adds.

    A choice for a `side` has that side's colour. With `opens_settings` players correct all settings
    right after the start. One that is `for_demo` is the default in a demo, whose players have no
    cards or dice at hand.
    """

    text: str
    options: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    hint: str = ""
    side: str | None = None
    opens_settings: bool = False
    for_demo: bool = False


@dataclass(frozen=True, slots=True)
class BeginField:
    """A question before a game with its choices; the first is the default.

    With `only_with`, it is asked only if the field with that key has one of the choices at those
    indices.
    """

    key: str
    title: str
    choices: tuple[BeginChoice, ...]
    only_with: tuple[str, tuple[int, ...]] | None = None


def begin_words(fields: Sequence[BeginField], options: Mapping[str, Any]) -> str:
    """Returns the choices before a game in words; options that no choice adds appear by key."""
    chosen = [
        (field.title.lower(), choice)
        for field in fields
        for choice in field.choices
        if choice.options and choice.options.items() <= options.items()
    ]
    added = {key for _, choice in chosen for key in choice.options}
    words = [f"{title}: {choice.text}" for title, choice in chosen]
    words += [f"{key}: {value}" for key, value in options.items() if key not in added]
    return "; ".join(words)


@dataclass(frozen=True, slots=True)
class ActionGroup:
    """The heading of a group of actions; `hint` says how players make them by hand.

    A group that `is_main` decides the turn and has large buttons. One that `is_end` ends what is
    due and loses unconfirmed moves by hand: the page warns of them. One that `is_seldom` used
    stands below the moves by hand. `pass_all`: every seat asked in succession lets the moment pass
    (`Game.passed`). `by_tap`: a tap takes an action about one unit, or a second tap on its target.
    The page shows `most` of its buttons until all are asked for, by default its own number.
    """

    title: str
    hint: str = ""
    is_main: bool = False
    is_end: bool = False
    is_seldom: bool = False
    most: int = 0
    pass_all: str = ""
    by_tap: bool = False


@dataclass(frozen=True, slots=True)
class HeldCard:
    """A card in a seat's own hand."""

    id: str
    title: str
    badge: str = ""
    kind: str = ""
    text: str = ""


@dataclass(frozen=True, slots=True)
class PickUnits:
    """A form in which players compose an action: some units, and cards or a list of numbers.

    The chosen units go into `action` under `units_key`, chosen cards under `cards_key`; numbers
    typed instead of cards under `numbers_key`.
    """

    title: str
    button: str
    action: Mapping[str, Any]
    units: tuple[str, ...]
    units_key: str
    cards: tuple[HeldCard, ...] = ()
    cards_key: str | None = None
    numbers_title: str = ""
    numbers_key: str | None = None
    form: Literal["pick-units"] = "pick-units"


@dataclass(frozen=True, slots=True)
class TerrainKind:
    """A kind of terrain that players may place, and its effect in a few words."""

    kind: str
    does: str = ""


@dataclass(frozen=True, slots=True)
class LayTerrain:
    """A form in which a side draws the pieces of terrain, which go into `action` under `key`."""

    side: str
    least: int
    most: int
    kinds: tuple[TerrainKind, ...]
    action: Mapping[str, Any]
    key: str
    form: Literal["lay-terrain"] = "lay-terrain"


Form = PickUnits | LayTerrain


@dataclass(frozen=True, slots=True)
class CounterLabel:
    """What is printed on a side of a counter beside its unit's id: its strength, its formation."""

    strength: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class OddsOffer:
    """A question about chances: its button, and the request that asks it.

    It is about a unit, two enemies, or the whole table; `{a}`, `{b}` and `{active}` stand for the
    units and the active side. With a `marker` it is offered only for a unit that has one.
    """

    label: str
    wanted: Mapping[str, str]
    of: Literal["table", "unit", "enemies"]
    marker: MarkerKind | None = None


def files_form(game: str) -> tuple[BeginField, ...]:
    """Returns the choice between the owner's own files and the house sample."""
    hint = "An invented map, charts and counters, each named House, to try the game."
    own = BeginChoice("This table's own", {}, "Those that the table file lists under [files].")
    house = BeginChoice("House sample (invented)", house_options(game), hint)
    return (BeginField("files", "Map, charts and counters", (own, house)),)


class Described(Protocol):
    """How a game describes itself, in any state; the defaults suit any game."""

    @property
    def title(self) -> str:
        """The name of the rulebook as its players know it; empty without one."""
        return ""

    def standing(self, public: Json) -> Standing:
        """Returns how a game stands, from its public state, as `seen_by` and recordings give it."""
        return Standing()

    def markers(self, unit_state: Keys) -> tuple[Marker, ...]:
        """Returns the markers of a unit, from its state in a position."""
        return tuple(
            Marker("word", name if value is True else f"{name} {value}")
            for name, value in unit_state.items()
            if value
        )

    def begin_form(self, sides: Sequence[str]) -> tuple[BeginField, ...]:
        """Returns what players choose before a game between these sides."""
        return ()

    @property
    def action_groups(self) -> Mapping[str, ActionGroup]:
        """The headings of the groups of `offered` actions; for other groups, their own names."""
        return MappingProxyType({})

    @property
    def moments(self) -> Mapping[str, MomentKind]:
        """The kinds of events that players look for in a replay, by `Event.kind`."""
        return MappingProxyType({})

    @property
    def odds_offers(self) -> tuple[OddsOffer, ...]:
        """The questions about chances that a page offers."""
        return ()

    def length_unit(self, table: TableSize) -> LengthUnit:
        """Returns the unit of length in which the game measures: the hex for a game on hexes."""
        if table.hex_map is not None and self.table_needs.hex_map:
            return hexes(table.hex_map)
        return preferred_unit(table)

    def weapon_ranges(self, unit: Unit) -> tuple[float, ...]:
        """Returns the ranges of a unit's weapons in the unit of length; empty if it states none."""
        return ()

    def lengths_asked(self, a: Unit, b: Unit) -> tuple[float, ...]:
        """Returns the lengths that decide anything between two units, by default of fire."""
        return self.weapon_ranges(a) if a.side != b.side else ()

    def fire_zones(self, position: Position, unit: Unit) -> tuple[Shape, ...]:
        """Returns the outlines of a field of fire; empty if it is all round, or unknown."""
        return ()

    def formation(self, unit: Unit, listed: int) -> str | None:
        """Returns the formation of a unit by how its bases lie, None if it has none.

        `listed` is how many bases it has, on the table or off it.
        """
        return None

    def read_keys(self, thing: Unit | Commander) -> None:
        """Reads the game's own keys of a unit or a commander in a table file.

        Raises:
            BadInput: One is missing or wrong; `key` names it.
        """
        return

    def unit_words(self, keys: Keys) -> str:
        """Returns in a few words what a unit is, from its keys in a table file."""
        return ""

    @property
    def file_models(self) -> Mapping[str, type[GameFile]]:
        """The files that the game reads: the model of its `charts`, `map` and `scenario`."""
        return MappingProxyType({})

    def ground_words(self, charts: Mapping[str, Any]) -> Mapping[str, str]:
        """Returns the costs of each kind of ground on a hex map by the charts file, in words."""
        return {}

    @property
    def own_formats(self) -> Mapping[str, Callable[[Document], object]]:
        """The readers of files that only this game has, by format; they raise `BadInput`."""
        return MappingProxyType({})

    def counter_label(self, unit: Unit, face: Keys, files: Mapping[str, Any]) -> CounterLabel:
        """Returns the words on a printed side of a unit's counter.

        `face` are the game's keys of that side, `files` the contents of its files by kind.
        """
        return CounterLabel(note=" ".join(word for word in face.values() if isinstance(word, str)))

    @property
    def counters_join(self) -> Literal["", "top", "bottom"]:
        """Where players add a counter to a stack, whose top alone is seen; "" without stacks.

        If that is on top, the order of a stack means nothing.
        """
        return ""

    @property
    def counters_face(self) -> bool:
        """Whether the facing of a counter on hexes matters in the game."""
        return True

    @property
    def table_needs(self) -> TableNeeds:
        """What the game needs of its table."""
        return TableNeeds(hex_map=False)
