"""`tablecam print`: writes the sheets of tags, counters, a hex map and the lens board as a PDF."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import click

from calibration.print.content import (
    SAMPLE_MM,
    BaseKind,
    Colour,
    Counter,
    JigToPrint,
    LegendEntry,
    MapArea,
    MapLine,
    PrintedMap,
    SheetContent,
    TablePlan,
    TableTagToPrint,
    UnitTags,
)
from calibration.print.layout import PAPERS, PaperName
from calibration.print.sheets import sheets_pdf
from tablecam.commands.new_files import check_new, check_place, force_option
from tablecam.errors import BadInput
from tablecam.record.atomic_files import disk_errors, replace_file
from tablecam.rules.game_files import options_with_files
from tablecam.rules.games import described, known_games
from tablecam.rules.hexes.stacks import box_corners_mm, box_of
from tablecam.simulate.demo import demo_roster
from tablecam.simulate.rendering.map_looks import (
    PLAIN,
    Ends,
    Stroke,
    blocks_of,
    counter_colours,
    dashes,
    lines_of,
    secondary_colours,
    strokes_of,
    table_ground,
    terrain_colours,
)
from tablecam.table.model import Unit
from tablecam.table.roster import BaseType, CommanderEntry, Roster, UnitEntry
from tablecam.table.table_file import read_table_file
from tablecam.vision.jig import jig_tags

What = Literal["all", "bases", "table", "board", "jig"]

_WHAT: tuple[What, ...] = ("all", "bases", "table", "board", "jig")
_CREATOR = b"/Creator (tablecam)"


_EXAMPLES = """\b
Examples:
  tablecam print --table table.toml --out sheets.pdf
  tablecam print --what board --paper a3 --out board.pdf
  tablecam print --table table.toml --units F1,F2 --out lost.pdf
  tablecam print --game maida-1806 --map --counters --out maida.pdf
"""


@click.command("print", epilog=_EXAMPLES)
@click.option("--table", "table_path", type=click.Path(path_type=Path), help="The table file.")
@click.option("--game", metavar="NAME", help="Print the table of a game's demo instead.")
@click.option(
    "--out", required=True, type=click.Path(path_type=Path), help="The PDF file to write."
)
@click.option(
    "--paper",
    type=click.Choice(tuple(PAPERS), case_sensitive=False),
    default="A4",
    show_default=True,
    help="Paper size.",
)
@click.option(
    "--what",
    type=click.Choice(_WHAT),
    help="Sheets to write: base tags, table tags, the lens board, or all three; or the jig for "
    "`calibrate bases`.  [default: all]",
)
@click.option("--map", "with_map", is_flag=True, help="Only the hex map, its table tags included.")
@click.option("--counters", "with_counters", is_flag=True, help="Only whole counters to cut out.")
@click.option("--units", help="Only the tags of these units and commanders, such as F1,F2.")
@force_option
def print_sheets(
    table_path: Path | None,
    game: str | None,
    out: Path,
    paper: PaperName,
    what: What | None,
    with_map: bool,
    with_counters: bool,
    units: str | None,
    force: bool,
) -> None:
    """Write the sheets to print: tags, counters, hex map, lens board.

    The sheets are at true scale. The lens board alone (`--what board`) needs no table file. Older
    sheets from tablecam are replaced; any other file is overwritten only with --force.
    """
    only = None if units is None else _names(units)
    if with_map or with_counters:
        if what is not None:
            raise BadInput("--what", "expected it alone, without --map and --counters")
        roster = _roster(table_path, game)
        content = SheetContent(
            title=roster.name or Path(roster.source).name,
            dictionary=roster.dictionary,
            counters=_counters(roster, only) if with_counters else (),
            map=_map(roster) if with_map else None,
        )
    else:
        what = what or ("all" if units is None else "bases")
        content = sheet_content(None if what == "board" else _roster(table_path, game), what, only)
    # Older sheets of ours may be replaced without --force.
    existed = _are_sheets(out)
    check_new({"--out": out}, inputs=[table_path] if table_path else [], force=force or existed)
    check_place(out, ending=".pdf")
    with disk_errors(str(out), "cannot be written"):
        replace_file(out, sheets_pdf(content, paper))
    click.echo(f"{out}: {'updated' if existed else 'written'}, print it at 100 %", err=True)


def sheet_content(
    roster: Roster | None, what: What, only: tuple[str, ...] | None = None
) -> SheetContent:
    """Returns the content of a table's sheets.

    Args:
        roster: The table; None prints only the lens board.
        what: Which of the sheets.
        only: The ids of the units and commanders whose tags to print; None prints them all.

    Raises:
        BadInput: A name is no unit's or commander's, or the sheets have no base tags.
    """
    if only is not None and what not in ("all", "bases"):
        raise BadInput("--units", f"expected --what all or bases, got `--what {what}`")
    if roster is None:
        return SheetContent(lens_board=True)
    return SheetContent(
        title=roster.name or Path(roster.source).name,
        dictionary=roster.dictionary,
        units=_units(roster, only) if what in ("all", "bases") else (),
        table=_plan(roster) if what in ("all", "table") else None,
        jig=JigToPrint(jig_tags(roster)) if what == "jig" else None,
        lens_board=what == "all",
    )


def _roster(table_path: Path | None, game: str | None) -> Roster:
    if table_path is None and game is not None:
        return demo_roster(game)
    if table_path is None:
        raise BadInput("--table", "expected a table file, got none (`--what board` needs none)")
    if game is not None:
        raise BadInput("--game", "expected it alone, without --table")
    return read_table_file(table_path, known_games())


def _names(units: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in units.split(",") if name.strip())


def _units(roster: Roster, only: tuple[str, ...] | None) -> tuple[UnitTags, ...]:
    units = [
        UnitTags(unit.id, f"{unit.side} {unit.arm}, {base_type.name}", _kind(base_type), tags)
        for unit in roster.units
        for base_type, tags in _tags_by_type(unit)
    ]
    commanders = [
        UnitTags(
            commander.id,
            f"{commander.side} commander",
            _kind(commander.base_type),
            (commander.tag,),
        )
        for commander in roster.commanders
    ]
    all_tags = units + commanders
    chosen = _chosen(roster, only)
    return tuple(tags for tags in all_tags if tags.title in chosen)


def _chosen(roster: Roster, only: tuple[str, ...] | None) -> frozenset[str]:
    """Returns the ids of the units and commanders whose tags to print."""
    things: tuple[UnitEntry | CommanderEntry, ...] = (*roster.units, *roster.commanders)
    ids = frozenset(thing.id for thing in things)
    unknown = sorted(set(only or ()) - ids)
    if unknown or only == ():
        expected = f"expected ids of units or commanders of {roster.source}"
        raise BadInput("--units", f"{expected}, got {', '.join(unknown) or 'none'}")
    return ids if only is None else frozenset(only)


def _counters(roster: Roster, only: tuple[str, ...] | None) -> tuple[Counter, ...]:
    """Returns every printed side of every counter, the sides of one counter next to each other.

    Raises:
        BadInput: A name is no unit's or commander's, its base is round or oval, or a file of the
            game cannot be read.
    """
    game, chosen = described(roster.game), _chosen(roster, only)
    files = options_with_files({}, roster.game, game.file_models, roster.files)
    owners: tuple[UnitEntry | CommanderEntry, ...] = (*roster.units, *roster.commanders)
    tones = counter_colours(owner.side for owner in owners)
    colours = {side: _ink(tone) for side, tone in tones.items()}
    counters: list[Counter] = []
    for entry in roster.units:
        if entry.id not in chosen:
            continue
        unit = Unit(entry.id, entry.side, entry.arm, (), extra=entry.extra)
        keys = {face["tag"]: face for face in entry.extra.get("faces", ())}
        for tag in entry.tags:
            label = game.counter_label(unit, keys.get(tag, {}), files)
            note = label.note if box_of(unit) is None else "stack"
            kind = _kind(entry.faces.get(tag, entry.base_type))
            colour = colours[entry.side]
            counters.append(Counter(entry.id, note, label.strength, kind, tag, colour))
    counters += [
        Counter(leader.id, "", "", _kind(leader.base_type), leader.tag, colours[leader.side])
        for leader in roster.commanders
        if leader.id in chosen
    ]
    for counter in counters:
        if counter.kind.is_oval:
            raise BadInput("--counters", f"expected rectangular bases, not that of {counter.id}")
    return tuple(counters)


def _tags_by_type(unit: UnitEntry) -> Iterator[tuple[BaseType, tuple[int, ...]]]:
    """Yields a unit's tags by their type of base."""
    for base_type in dict.fromkeys(unit.faces.get(tag, unit.base_type) for tag in unit.tags):
        own = (tag for tag in unit.tags if unit.faces.get(tag, unit.base_type) == base_type)
        yield base_type, tuple(own)


def _kind(base_type: BaseType) -> BaseKind:
    return BaseKind(
        name=base_type.name,
        width_mm=base_type.width_mm,
        depth_mm=base_type.depth_mm,
        tag_size_mm=base_type.tag_size_mm,
        tag_right_mm=base_type.tag_right_mm,
        tag_forward_mm=base_type.tag_forward_mm,
        is_oval=base_type.shape != "rectangle",
    )


def _map(roster: Roster) -> PrintedMap:
    """Returns the hex map of a table with its ground.

    Raises:
        BadInput: The table has no hex map, or its map file is wrong or names hexes off the map.
    """
    hex_map = roster.table.hex_map
    if hex_map is None:
        raise BadInput(roster.source, "expected a table on hexes, but it has no [map]", key="map")
    ground = table_ground(hex_map, roster.game, roster.files.get("map"))
    grid = ground.grid
    colours = {kind: _ink(colour) for kind, colour in terrain_colours(ground).items()}
    home = {number: f"returns: {side}" for side, number in ground.returns.items()}
    areas = []
    for number in grid.hexes:
        kind, more = ground.terrain_of(number), ground.secondary.get(number, ())
        note = home.get(number, ", ".join(((kind,) if kind in colours else ()) + more))
        fill = colours.get(kind, _ink(PLAIN))
        areas.append(MapArea(grid.corners_mm(number), fill, number, note))
    areas += [MapArea(outline, _ink(colour)) for colour, outline in blocks_of(ground)]
    boxes = {
        unit.id: box_of(Unit(unit.id, unit.side, unit.arm, (), extra=unit.extra))
        for unit in roster.units
    }
    areas += [MapArea(box_corners_mm(box), _ink(PLAIN), id) for id, box in boxes.items() if box]
    lines = [_line(stroke, ends) for _, stroke, lines_mm in lines_of(ground) for ends in lines_mm]
    legend = [
        LegendEntry(kind, _ink(colour))
        for colours in (terrain_colours(ground), secondary_colours(ground))
        for kind, colour in colours.items()
    ]
    sample = ((0.0, 0.0), (SAMPLE_MM, 0.0))
    for kind, strokes in strokes_of(ground).items():
        shown = (_line(stroke, ends) for stroke in strokes for ends in dashes(stroke, sample))
        legend.append(LegendEntry(kind, lines=tuple(shown)))
    return PrintedMap(tuple(areas), tuple(lines), _plan(roster), tuple(legend))


def _line(stroke: Stroke, ends_mm: Ends) -> MapLine:
    return MapLine(ends_mm, _ink(stroke.colour), stroke.width_mm)


def _ink(colour: tuple[int, int, int]) -> Colour:
    red, green, blue = (share / 255 for share in colour)
    return red, green, blue


def _plan(roster: Roster) -> TablePlan:
    return TablePlan(
        width_mm=roster.table.width_mm,
        depth_mm=roster.table.depth_mm,
        tag_size_mm=roster.table_tag_size_mm,
        tags=tuple(TableTagToPrint(tag.id, tag.x_mm, tag.y_mm) for tag in roster.table_tags),
    )


def _are_sheets(out: Path) -> bool:
    """Whether the file was written by this command."""
    try:
        # Our PDFs name their creator.
        return out.is_file() and _CREATOR in out.read_bytes()
    except OSError as error:
        raise BadInput(str(out), f"cannot be written: {error.strerror}") from None
