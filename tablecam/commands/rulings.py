"""`tablecam rulings`: prints every ruling that follows from a position alone."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import click
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from tablecam.commands.new_files import check_new, force_option
from tablecam.commands.outputs import write_text
from tablecam.drawing.table_svg import table_svg
from tablecam.errors import BadInput
from tablecam.rules.maurice.field.field import field_of
from tablecam.rules.maurice.rulings.drawing import rulings_drawing
from tablecam.rules.maurice.rulings.facts import Rulings, sides
from tablecam.rules.maurice.rulings.rulings import (
    RULES,
    document_under_rule,
    keys_under,
    pair_document,
    rulings_document,
)
from tablecam.rules.maurice.rulings.text import (
    TextTable,
    rulings_notes,
    rulings_tables,
    sheet_lines,
)
from tablecam.rules.maurice.sheets.sheets import pair_sheet, unit_sheet
from tablecam.rules.reports import UnitReport
from tablecam.table.position_file import read_position_file
from tablecam.wording import nearest, quoted

_FILE_WIDTH = 120
"""Width of output to a file or a pipe, which has no window to limit it."""
_UNBROKEN_COLUMNS = frozenset({"side", "unit"})
"""Columns whose words are not broken, however narrow the window is."""
_FILE = click.Path(path_type=Path)


_EXAMPLES = """\b
Examples:
  tablecam rulings position.json --active french
  tablecam rulings position.json --active french --unit F1 --draw why.svg
  tablecam rulings position.json --active french --pair F1 B2
  tablecam rulings position.json --active french --rule M-7
"""


@click.command("rulings", epilog=_EXAMPLES)
@click.argument("position_path", metavar="POSITION", type=_FILE)
@click.option("--active", required=True, metavar="SIDE", help="The active side.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.option(
    "--unit", "unit_ids", multiple=True, metavar="ID", help="Only this unit, in sentences."
)
@click.option("--pair", nargs=2, metavar="A B", help="Only these two units, in sentences.")
@click.option(
    "--rule",
    metavar="RULE",
    help="Only the answers of this rule or chapter, such as M-1.12 or M-7.",
)
@click.option("--draw", "drawing_path", type=_FILE, help="Write the evidence as an SVG file.")
@force_option
def rulings(
    position_path: Path,
    active: str,
    as_json: bool,
    unit_ids: tuple[str, ...],
    pair: tuple[str, str] | None,
    rule: str | None,
    drawing_path: Path | None,
    force: bool,
) -> None:
    """Rule on a POSITION: contacts, flanks, shooting, charges.

    Lists who is near the enemy, who touches and flanks whom, who may shoot and charge whom, who is
    engaged, which units form one force, and whom the CinC reaches. --unit and --pair answer in
    sentences, as the page does; --draw shows the evidence. POSITION is a file from
    `tablecam snapshot` or `tablecam disputes FILE --position N`.
    """
    check_new({"--draw": drawing_path}, inputs=[position_path], force=force)
    field = field_of(read_position_file(position_path), str(position_path))
    _check_named("--active", active, sides(field), "side")
    for option, ids in (("--unit", unit_ids), ("--pair", pair or ())):
        for unit_id in ids:
            _check_named(option, unit_id, field.by_id, "unit")
    _check_rule(rule)
    _check_two(pair, unit_ids)
    everything = Rulings(field, active)
    about = pair or unit_ids
    narrowed = Rulings(field, active, about, pair is not None) if about else everything
    if drawing_path is not None:
        drawing = rulings_drawing(narrowed, rule=rule)
        write_text(drawing_path, table_svg(field.position, drawing))
    if as_json:
        _print_document(narrowed, pair, rule)
    elif unit_ids or pair is not None:
        sheets = (
            [pair_sheet(everything, *pair)]
            if pair
            else [unit_sheet(everything, unit_id) for unit_id in unit_ids]
        )
        _print_sheets(sheets, rule, field.warnings)
    else:
        _print_tables(narrowed, rule)


def _print_document(shown: Rulings, pair: tuple[str, str] | None, rule: str | None) -> None:
    document = rulings_document(shown) if pair is None else pair_document(shown, *pair)
    if rule is not None:
        document = document_under_rule(rule, document)
    click.echo(json.dumps(document, indent=1))


def _print_tables(shown: Rulings, rule: str | None) -> None:
    console = _console()
    for table in rulings_tables(shown, rule=rule):
        console.print(_rich(table))
    for line in rulings_notes(shown, rule=rule):
        console.print(line, markup=False)


def _print_sheets(sheets: Iterable[UnitReport], rule: str | None, warnings: Iterable[str]) -> None:
    """Prints what the page says of a unit or of two, in the same sentences."""
    console = _console()
    for sheet in sheets:
        for line in sheet_lines(sheet, width=min(console.width, _FILE_WIDTH), rule=rule):
            console.print(line, markup=False)
        console.print()
    for warning in warnings:
        console.print(f"warning: {warning}", markup=False)


def _console() -> Console:
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = _FILE_WIDTH
    return console


def _rich(table: TextTable) -> Table:
    rich_table = Table(
        title=table.title,
        title_justify="left",
        box=SIMPLE_HEAD,
        pad_edge=False,
        padding=(0, 1, 0, 0),
    )
    for heading in table.heads:
        rich_table.add_column(
            escape(heading), overflow="fold", no_wrap=heading in _UNBROKEN_COLUMNS
        )
    for row in table.rows:
        rich_table.add_row(*map(escape, row))
    return rich_table


def _check_named(option: str, name: str, known: Iterable[str], kind: str) -> None:
    names = list(known)
    if name not in names:
        raise BadInput(
            option, f"there is no {kind} {quoted(name)} on the table{nearest(name, names)}"
        )


def _check_rule(rule: str | None) -> None:
    if rule is not None and not keys_under(rule):
        known = ", ".join(dict.fromkeys(rule_id for rules in RULES.values() for rule_id in rules))
        raise BadInput("--rule", f"expected one of {known}, or a chapter such as M-7, got {rule}")


def _check_two(pair: tuple[str, str] | None, unit_ids: tuple[str, ...]) -> None:
    if pair is None:
        return
    if pair[0] == pair[1]:
        raise BadInput("--pair", f"expected two units, got {pair[0]} twice")
    if unit_ids:
        raise BadInput("--pair", "expected it without --unit")
