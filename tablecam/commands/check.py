"""`tablecam check`: lists errors, omissions and oddities in tablecam's files."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import click
import shapely

from tablecam.commands.progress import with_progress
from tablecam.documents import Document, Json, read_json, read_toml
from tablecam.errors import BadInput
from tablecam.geometry.outlines import bases_footprint, table_outline
from tablecam.record import camera_file
from tablecam.record.camera_file import CameraDocument, camera_file_from
from tablecam.record.database import MAGIC
from tablecam.record.game_file import GameFile
from tablecam.replay.check import RecordingCheck
from tablecam.replay.copies import batched
from tablecam.replay.repair import verified as verified_file
from tablecam.rules.books import book_of
from tablecam.rules.game_files import FORMATS, faults_among, file_faults
from tablecam.rules.games import described, known_games
from tablecam.table import bases_file, position_file, table_file
from tablecam.table.bases_file import BasesFile
from tablecam.table.model import Commander, Position, Unit
from tablecam.table.position_file import PositionDocument, position_faults
from tablecam.table.sections import needs_of
from tablecam.table.table_file import oddities, table_file_faults
from tablecam.table.table_sections import TableFile
from tablecam.toml_lines import KeyPath
from tablecam.wording import counted, joined, quoted

_FILE = click.Path(path_type=Path)

WRONG = 2
"""The exit code if anything is wrong; oddities alone do no harm."""


@dataclass(frozen=True, slots=True)
class Finding:
    """An error, an oddity or a fact about a file, on one line that names its place."""

    line: str
    is_odd: bool = False
    is_fact: bool = False


Findings = Iterator[Finding]


@click.command("check")
@click.argument(
    "paths", metavar="FILE...", nargs=-1, required=True, type=click.Path(path_type=Path)
)
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print JSON: what is wrong, odd and worth knowing (facts) of each file.",
)
@click.pass_context
def check(context: click.Context, paths: tuple[Path, ...], as_json: bool) -> None:
    """List all that is wrong, missing or odd in each FILE.

    Reads table files (with the files that they name), charts, hex maps, scenarios, decks,
    positions, camera and bases files and recordings. Exits with 2 if anything is wrong; what is
    only odd may be meant.
    """
    documents: list[Json] = []
    for path in paths:
        findings = list(dict.fromkeys(_findings(path)))
        facts = [finding.line for finding in findings if finding.is_fact]
        wrong = [f.line for f in findings if not (f.is_odd or f.is_fact)]
        odd = [finding.line for finding in findings if finding.is_odd]
        documents.append({"file": str(path), "wrong": wrong, "odd": odd, "facts": facts})
        if not as_json:
            for line in facts:
                click.echo(line)
            _print(path, wrong, odd)
    if as_json:
        click.echo(json.dumps(documents, indent=1))
    if any(document["wrong"] for document in documents):
        context.exit(WRONG)


def _print(path: Path, wrong: list[str], odd: list[str]) -> None:
    for line in wrong:
        click.echo(line)
    for line in odd:
        click.echo(f"odd: {line}")
    if wrong:
        click.echo(f"{path}: {counted(len(wrong), 'fault')}")
    else:
        click.echo(f"{path}: nothing wrong" + (f", {len(odd)} odd" if odd else ""))


def _findings(path: Path) -> Findings:
    """Yields errors and oddities; a fault that keeps the rest from being read is the last."""
    try:
        yield from _of_file(path)
    except BadInput as fault:
        yield Finding(str(fault))


def _of_file(path: Path) -> Findings:
    if _is_recording(path):
        yield from _of_recording(path)
        return
    is_json = path.suffix == ".json"
    document = read_json(path) if is_json else read_toml(path)
    name = document.data.get("format")
    readers = _READERS | dict.fromkeys(FORMATS.values(), _of_game_file)
    for game in known_games():
        readers |= dict.fromkeys(described(game).own_formats, _of_own_format)
    if name not in readers:
        expected = f"expected one of {', '.join(sorted(readers))}"
        got = "but the key is missing" if name is None else f"got {quoted(name)}"
        raise document.error(("format",), f"{expected}, {got}")
    yield from readers[name](path, document)


def _is_recording(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError:
        # Reading it as a document says why it cannot be read.
        return False


def _of_table(path: Path, document: Document) -> Findings:
    document.require(table_file.FORMAT, table_file.VERSION)
    needs = needs_of(document, known_games())
    faults = document.model_faults(TableFile)
    if faults:
        yield from _wrong(faults)
        return
    file = document.parsed(TableFile)
    yield from _wrong(table_file_faults(document, needs, file))
    yield from (Finding(str(oddity), is_odd=True) for oddity in oddities(document, file))
    yield from _wrong([*_key_faults(document, file)])
    hex_map = None if file.map is None else file.map.to_map()
    models = described(file.game).file_models
    sound: dict[str, Document] = {}
    for kind, name in file.files.model_dump(exclude_none=True).items():
        if kind not in models:
            why = f"expected no {kind}: {file.game} reads none"
            yield Finding(str(document.error(("files", kind), why)))
            continue
        try:
            beside = read_toml(path.parent / name)
            faults = [*file_faults(beside, file.game, models, hex_map)]
        except BadInput as fault:
            faults = [fault]
        yield from _wrong(faults)
        if not faults:
            sound[kind] = beside
    yield from _wrong([*faults_among(sound, models)])
    missing = [kind for kind in models if getattr(file.files, kind) is None]
    if hex_map is not None and missing:
        why = f"no {joined(missing, 'or')} file is named: no game can begin"
        yield _odd(document, ("files",), why)


def _key_faults(document: Document, file: TableFile) -> Iterator[BadInput]:
    """Yields the keys that units and commanders lack in their game."""
    game = described(file.game)
    things: Mapping[str, list[Unit | Commander]] = {
        "unit": [Unit(unit.id, unit.side, unit.arm, (), extra=unit.extra) for unit in file.unit],
        "commander": [Commander(one.id, one.side, 0, 0, extra=one.extra) for one in file.commander],
    }
    for name in things:
        lacking: dict[tuple[str, str], list[int]] = {}
        for index, thing in enumerate(things[name]):
            try:
                game.read_keys(thing)
            except BadInput as fault:
                lacking.setdefault((fault.key or "", fault.message), []).append(index)
        # An army that lacks a key lacks it in each unit: one line says it for all.
        for (key, message), (first, *others) in lacking.items():
            also = f"; the same for {counted(len(others), f'other {name}')}" if others else ""
            path: KeyPath = (name, first, *filter(None, key.split(".")))
            yield document.error(path, f"{message}{also}")


def _of_game_file(_: Path, document: Document) -> Findings:
    needs_of(document, known_games())
    game = str(document.data["game"])
    yield from _wrong(file_faults(document, game, described(game).file_models))


def _of_own_format(_: Path, document: Document) -> Findings:
    """Yields faults of a file that only one game reads."""
    needs_of(document, known_games())
    reader = described(str(document.data["game"])).own_formats.get(str(document.data["format"]))
    if reader is None:
        form = quoted(document.data["format"])
        raise document.error(("game",), f"expected the game of a {form} file")
    reader(document)
    yield from ()


def _of_position(_: Path, document: Document) -> Findings:
    document.require(position_file.FORMAT, position_file.VERSION)
    needs = needs_of(document, known_games())
    faults = document.model_faults(PositionDocument)
    if faults:
        yield from _wrong(faults)
        return
    parsed = document.parsed(PositionDocument)
    faults = [*position_faults(document, needs, parsed)]
    yield from _wrong(faults)
    if not faults:
        yield from _odd_in(document, parsed.to_position())


def _odd_in(document: Document, position: Position) -> Findings:
    """Yields units that lie off the table, and units that the rulebook cannot rule on."""
    area = table_outline(position.table)
    for index, unit in enumerate(position.units):
        if not unit.bases:
            yield _odd(document, ("units", index, "bases"), f"{unit.id} has no base on the table")
        elif not shapely.intersects(area, bases_footprint(unit)):
            yield _odd(document, ("units", index, "bases"), f"{unit.id} is off the table")
    book = book_of(position.game)
    if book is None or not position.units:
        return
    try:
        handle = book.rulings(position, position.units[0].side)
    except BadInput as fault:
        # The rulebook does not know the file.
        yield Finding(str(BadInput(document.source, fault.message, key=fault.key)))
        return
    ruled = {unit.id for unit in book.ruled_position(handle).units}
    for index, unit in enumerate(position.units):
        if unit.id not in ruled and unit.bases:
            why = "; ".join(book.unit_sheet(handle, unit.id).warnings)
            yield _odd(document, ("units", index), why or f"{unit.id} cannot be ruled on")


def _of_camera(path: Path, document: Document) -> Findings:
    document.require(camera_file.FORMAT, camera_file.VERSION)
    faults = document.model_faults(CameraDocument)
    yield from _wrong(faults)
    if not faults:
        title = quoted(camera_file_from(document).shown_title)
        yield Finding(f"{path}: calibration {title}", is_fact=True)


def _of_bases(_: Path, document: Document) -> Findings:
    document.require(bases_file.FORMAT, bases_file.VERSION)
    yield from _wrong(document.model_faults(BasesFile))


def _of_recording(path: Path) -> Findings:
    recorded = GameFile.open(path, read_only=True)
    for fault in verified_file(recorded).faults:
        yield Finding(f"{path}: {fault}")
    checking = RecordingCheck(recorded.facts().game, recorded.name, recorded.written_by())
    last = recorded.last()
    for entry in with_progress(batched(recorded, last), last, "checking"):
        if not checking.entry(entry):
            break
    if checking.checked.fault is not None:
        yield Finding(f"{path}: {checking.checked.fault}")


def _wrong(faults: Iterator[BadInput] | list[BadInput]) -> Findings:
    return (Finding(str(fault)) for fault in sorted(faults, key=lambda fault: fault.line or 0))


def _odd(document: Document, path: tuple[str | int, ...], message: str) -> Finding:
    return Finding(str(document.error(path, message)), is_odd=True)


_READERS: MappingProxyType[str, Callable[[Path, Document], Findings]] = MappingProxyType(
    {
        table_file.FORMAT: _of_table,
        position_file.FORMAT: _of_position,
        camera_file.FORMAT: _of_camera,
        bases_file.FORMAT: _of_bases,
    }
)
