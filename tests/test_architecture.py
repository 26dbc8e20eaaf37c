"""The yardsticks of the house: printed as a table and held. They are lowered, never raised.

`pytest tests/test_architecture.py -s` shows the table.
"""

from __future__ import annotations

import ast
import gc
import re
import sys
import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any

import pytest
from rich.console import Console
from rich.table import Table

from tablecam.live.rulings import LiveRulings
from tablecam.record.entries import GameFacts
from tablecam.recorder.game_recorder import GameRecorder, new_game_file
from tablecam.recorder.recording import Recording
from tablecam.referee.referee import Referee
from tablecam.referee.seats import SHARED
from tablecam.rules.games import game_of, with_formations
from tablecam.rules.maurice.charge.limits import attempts_of
from tablecam.table.model import Commander, Position
from tablecam.table.motion import TABLE_RESTS_AFTER_S, TableMotion
from tablecam.vision.tracking.position import position_of
from tablecam.vision.tracking.tracking import BaseTracker
from tests.rules.maurice.tables import line, position
from tests.vision.sightings import CAMERA, sighting
from tests.web.of_four import ROSTER_OF_FOUR

ROOT = Path(__file__).resolve().parents[1]
PACKAGES = ("calibration", "tablecam", "web")
SOUTH = 270.0
SENTENCES = {"because", "clause", "sentence", "text"}
"""Names of attributes and variables that hold sentences; a variable `text` may hold any text."""
READS = {"startswith", "endswith", "partition", "rpartition", "split", "removeprefix", "replace"}

HELD = {
    "files entered for: may F1 fire at B1": 27,
    "files entered for a charge by hand": 92,
    "times a charge by hand works out charges": 1,
    "modules with exactly one importer": 30,
    "import circles between folders": 0,
    "lines of Maurice Lite": 16_191,
    "lines of Maida 1806": 6_233,
    "lines of Musket & Saber": 7_294,
    "places outside that name a rulebook's words": 1,
    "modules in the largest folder": 26,
}
"""The values reached. The goals are 20, 40, 10, 0, 6500, 3500, 3500, 0 and a dozen.

Maurice Lite's lines grew by docstrings, comments, the reasons for what is not offered, and what a
march costs, the places outside by lines that the formatter of the page split; Maida's by
saying what a pass ends."""


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> dict[str, int]:
    return {
        "files entered for: may F1 fire at B1": len(files_entered(may_fire)),
        "files entered for a charge by hand": len(
            files_entered(lambda: charge_by_hand(tmp_path_factory.mktemp("games")))
        ),
        "times a charge by hand works out charges": calls_of(
            attempts_of, lambda: charge_by_hand(tmp_path_factory.mktemp("games"))
        ),
        "modules with exactly one importer": len(single_importers()),
        "import circles between folders": len(circles()),
        "lines of Maurice Lite": lines_of(ROOT / "tablecam" / "rules" / "maurice"),
        "lines of Maida 1806": lines_of(ROOT / "tablecam" / "rules" / "maida_1806"),
        "lines of Musket & Saber": lines_of(ROOT / "tablecam" / "rules" / "musket_saber"),
        "places outside that name a rulebook's words": len([*words_of_rulebooks()]),
        "modules in the largest folder": max(len(modules) for modules in folders().values()),
    }


@pytest.mark.parametrize("yardstick", HELD)
def test_no_yardstick_gets_worse(yardstick: str, measured: dict[str, int]) -> None:
    assert measured[yardstick] <= HELD[yardstick]


def test_the_table_of_yardsticks_is_printed(measured: dict[str, int]) -> None:
    table = Table("yardstick", "now", "held at", title="Architecture")
    for name, value in measured.items():
        table.add_row(name, str(value), str(HELD[name]))
    Console().print(table)
    assert measured.keys() == HELD.keys()


def test_the_flank_rule_is_two_links_from_the_readme() -> None:
    assert "(docs/architecture.md)" in (ROOT / "README.md").read_text(encoding="utf-8")
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    (link,) = re.findall(r"flank rule[^\n]*\]\(\.\./([\w/.]+)", page)
    assert "M-1.12" in (ROOT / link).read_text(encoding="utf-8")


def test_the_picture_of_the_packages_is_that_of_their_imports() -> None:
    """`python -m tests.test_architecture` prints it."""
    assert picture() in (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")


def test_no_code_reads_a_sentence() -> None:
    """Code decides by data; sentences are for people."""
    assert not [*sentences_read()]


# What is measured.


def files_entered(action: Callable[[], object]) -> set[str]:
    """The source files of the project that have a function run, in any thread.

    Code that runs on import does not count.
    """
    action()
    tops = tuple(str(ROOT / package) for package in PACKAGES)
    return {code.co_filename for code in calls(action) if code.co_filename.startswith(tops)}


def calls_of(function: FunctionType, action: Callable[[], object]) -> int:
    """How many times an action calls a function, in any thread."""
    return calls(action)[function.__code__]


def calls(action: Callable[[], object]) -> Counter[CodeType]:
    """How many times an action calls each function, in any thread."""
    called: Counter[CodeType] = Counter()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            called[frame.f_code] += 1

    # Garbage of earlier tests must not be collected meanwhile.
    gc.collect()
    gc.disable()
    before = sys.getprofile()
    threading.setprofile(note)
    sys.setprofile(note)
    try:
        action()
    finally:
        sys.setprofile(before)
        threading.setprofile(before)
        gc.enable()
    return called


def may_fire() -> None:
    """Asks what the page asks when two units are chosen and it shows the section on fire."""
    table = position(line("F1", "french", 600, 400), line("B1", "british", 600, 560, SOUTH))
    sheet = LiveRulings(ROSTER_OF_FOUR).pair_sheet(table, "F1", "B1", "french", {"fire"})
    document = sheet.to_json({"fire"})
    (fire,) = (section for section in document["sections"] if section["lines"])
    assert fire["key"] == "fire"


def charge_by_hand(folder: Path) -> None:
    """Follows a charge from the sightings of a camera to the record of the game."""
    table = tagged(
        position(
            line("F1", "french", 600, 300),
            line("B1", "british", 600, 420, SOUTH),
            commanders=(
                Commander("cinc", "french", 600, 200),
                Commander("general", "british", 600, 700),
            ),
        )
    )
    game = game_of("maurice-lite")
    assert game is not None
    facts = GameFacts("maurice-lite", "", datetime.now(UTC))
    record = GameRecorder(lambda: new_game_file(folder, facts))
    recording = Recording(record, ROSTER_OF_FOUR, begins_with_moves=True)
    referee, tracker = Referee(game, store=record), BaseTracker(ROSTER_OF_FOUR, CAMERA)
    motion = TableMotion()
    recording.start()
    settled = seen(tracker, motion, table, 0.0)
    recording.settle(settled)
    referee.begin(settled, {"active": "french"}, SHARED)
    referee.table_at_rest(settled)
    for label in ("Skip", "Charge", "F1"):
        choose(referee, label)
    settled = seen(tracker, motion, pushed(table, 80.0), 10.0)
    recording.settle(settled)
    referee.table_at_rest(settled)
    referee.confirm(SHARED, "F1")
    recording.close()
    assert "charge" in {event.kind for done in play_of(referee).done for event in done.events}


def play_of(referee: Referee):
    with referee.locked() as play:
        assert play is not None
        return play


def choose(referee: Referee, label: str) -> None:
    """Takes the offer whose label begins with `label`; nobody plays a card before or after."""
    while not any(name.startswith(label) for name in offers(referee)):
        take(referee, "No card")
    take(referee, label)
    while any(name.startswith("No card") for name in offers(referee)):
        take(referee, "No card")


def offers(referee: Referee) -> dict[str, Any]:
    play = play_of(referee)
    return {referee.game.offered(play.state, action).label: action for action in play.legal()}


def take(referee: Referee, label: str) -> None:
    action = next(action for name, action in offers(referee).items() if name.startswith(label))
    referee.act(SHARED, referee.game.action_to_json(action), referee.version)


def tagged(table: Position) -> Position:
    tags = {entry.id: entry.tags for entry in ROSTER_OF_FOUR.units}
    units = tuple(
        replace(
            unit,
            bases=tuple(
                replace(base, tag=tag) for base, tag in zip(unit.bases, tags[unit.id], strict=True)
            ),
        )
        for unit in table.units
    )
    return replace(table, units=units)


def pushed(table: Position, length_mm: float) -> Position:
    """A hand pushes F1 north."""
    units = tuple(
        replace(
            unit,
            bases=tuple(replace(base, y_mm=base.y_mm + length_mm) for base in unit.bases),
        )
        if unit.id == "F1"
        else unit
        for unit in table.units
    )
    return replace(table, units=units)


def seen(tracker: BaseTracker, motion: TableMotion, table: Position, at_s: float) -> Position:
    """The table as the camera sees it once it has settled."""
    sightings = [
        sighting(base.tag or 0, base.x_mm, base.y_mm, base.heading_deg)
        for unit in table.units
        for base in unit.bases
    ]
    sightings += [
        sighting(tag, leader.x_mm, leader.y_mm)
        for tag, leader in zip((90, 91), table.commanders, strict=True)
    ]
    for step in range(40):
        now_s = at_s + 0.1 * step
        bases = tracker.update(sightings, now_s)
        lies = with_formations(position_of(bases, ROSTER_OF_FOUR, None), ROSTER_OF_FOUR)
        if (settled := motion.see(lies, now_s)) is not None:
            assert now_s >= TABLE_RESTS_AFTER_S
            return settled
    raise AssertionError("the table never settles")


@cache
def sources() -> dict[str, Path]:
    """All modules of the project, by their dotted names."""
    paths = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py")]
    return {
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
        for path in paths
        if "node_modules" not in path.parts
    }


@cache
def imports() -> dict[str, set[str]]:
    """The modules of the project that each module imports."""
    return {name: set(imported(name)) - {name} for name in sources()}


def imported(name: str) -> Iterator[str]:
    known = sources()
    for node in ast.walk(ast.parse(known[name].read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        elif isinstance(node, ast.ImportFrom) and node.module in known:
            for alias in node.names:
                module = f"{node.module}.{alias.name}"
                yield module if module in known else str(node.module)


def single_importers() -> list[str]:
    importers = defaultdict(set)
    for name, modules in imports().items():
        for module in modules:
            importers[module].add(name)
    rooms = ("tablecam.rules", "tablecam.vision", "tablecam.live", "tablecam.geometry")
    return [
        name
        for name, path in sources().items()
        if name.startswith(rooms) and path.name != "__init__.py" and len(importers[name]) == 1
    ]


def folders() -> dict[str, list[str]]:
    modules = defaultdict(list)
    for name, path in sources().items():
        if path.name != "__init__.py":
            modules[name.rpartition(".")[0]].append(name)
    return modules


def circles() -> list[tuple[str, str]]:
    """Pairs of folders that import each other, directly or through others.

    Modules at the top of a package (errors, wording, the command line) are folders of their own.
    """

    def folder(name: str) -> str:
        parent = name.rpartition(".")[0]
        return name if parent in PACKAGES and parent != "web" else parent

    edges = defaultdict(set)
    for name, modules in imports().items():
        for module in modules:
            if sources()[name].name != "__init__.py" and folder(name) != folder(module):
                edges[folder(name)].add(folder(module))

    def reached(start: str) -> set[str]:
        folders: set[str] = set()
        todo = [start]
        while todo:
            for other in edges[todo.pop()] - folders:
                folders.add(other)
                todo.append(other)
        return folders

    return [(one, other) for one in list(edges) for other in edges[one] if one in reached(other)]


def lines_of(folder: Path) -> int:
    return sum(len(path.read_text(encoding="utf-8").splitlines()) for path in folder.rglob("*.py"))


def words_of_rulebooks() -> Iterator[str]:
    """Where code outside a rulebook's folder names a rulebook or its words."""
    python, page = (
        re.compile(r"maurice", re.IGNORECASE),
        re.compile(r"morale|disruption|smoke|volley|deck"),
    )
    for package in ("tablecam", "web"):
        for path in (ROOT / package).rglob("*"):
            is_rulebook = "rules/maurice" in path.as_posix() or "node_modules" in path.parts
            if is_rulebook or path.suffix not in {".py", ".js"}:
                continue
            pattern = page if path.suffix == ".js" else python
            for number, text in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
                if pattern.search(text):
                    yield f"{path.relative_to(ROOT)}:{number}"


def sentences_read() -> Iterator[str]:
    """The places that take a sentence apart or look for words in it."""
    for name, path in sources().items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                is_read = node.func.attr in READS and is_sentence(node.func.value)
            elif isinstance(node, ast.Compare):
                is_search = any(isinstance(op, ast.In | ast.NotIn) for op in node.ops)
                is_read = is_search and any(map(is_sentence, node.comparators))
            else:
                continue
            if is_read:
                yield f"{name}:{node.lineno} {ast.unparse(node)}"


def is_sentence(node: ast.expr) -> bool:
    """Whether an expression is named like a sentence, or is one of several so named."""
    if isinstance(node, ast.Subscript):
        return is_sentence(node.value)
    name = node.attr if isinstance(node, ast.Attribute) else ""
    return name in SENTENCES or (isinstance(node, ast.Name) and node.id in SENTENCES - {"text"})


def picture() -> str:
    """The imports between packages in Mermaid, without those implied by others."""
    edges: dict[str, set[str]] = defaultdict(set)
    for name, modules in imports().items():
        for module in modules:
            if (one := package(name)) and (other := package(module)) and one != other:
                edges[one].add(other)

    def reached(start: str) -> set[str]:
        return {start}.union(*(reached(other) for other in edges[start]))

    lines = [
        f"  {one} --> {other}"
        for one in sorted(edges)
        for other in sorted(edges[one])
        if not any(other in reached(third) for third in edges[one] - {other})
    ]
    return "\n".join(["```mermaid", "flowchart TD", *lines, "```"])


def package(name: str) -> str:
    """The package that a module belongs to; empty for modules that stand alone, such as errors."""
    top, *parts = name.split(".")
    if top != "tablecam":
        return top
    return parts[0] if len(parts) > 1 or (parts and f"{name}.__init__" in sources()) else ""


if __name__ == "__main__":
    sys.stdout.write(f"{picture()}\n")
