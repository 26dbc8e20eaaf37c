"""`tablecam rulings`: every ruling that follows from a position alone."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import click
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from tablecam.commands.outputs import check_outputs, write_text
from tablecam.documents import nearest, quoted
from tablecam.errors import BadInput
from tablecam.rules.maurice.field import field_of
from tablecam.rules.maurice.narrowing import RULES, document_under, keys_under, of_pair, of_units
from tablecam.rules.maurice.ruled import Rulings
from tablecam.rules.maurice.rulings import all_rulings, pair_document, rulings_document, sides
from tablecam.rules.maurice.rulings_drawing import drawing
from tablecam.rules.maurice.rulings_text import TextTable, notes_of, sentences_of, tables_of
from tablecam.table.position_file import read_position_file

_FILE_WIDTH = 120
"""In a file or a pipe no window limits the width."""
_FILE = click.Path(path_type=Path)


@click.command("rulings")
@click.argument("position_path", metavar="POSITION", type=_FILE)
@click.option("--active", required=True, metavar="SIDE", help="Whose round it is.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
@click.option("--unit", "unit_ids", multiple=True, metavar="ID", help="Only of this unit.")
@click.option("--pair", nargs=2, metavar="A B", help="Only of these two, with reasons.")
@click.option("--rule", metavar="RULE", help="Only what answers this rule, such as M-1.12, or M-7.")
@click.option("--draw", "drawing_path", type=_FILE, help="Write the evidence as an SVG.")
def rulings(
    position_path: Path,
    active: str,
    as_json: bool,
    unit_ids: tuple[str, ...],
    pair: tuple[str, str] | None,
    rule: str | None,
    drawing_path: Path | None,
) -> None:
    """Rule on all that follows from a POSITION alone, as things lie now.

    Who is near the enemy, touches, flanks, forms one force, and who is on whose flank; --draw
    shows why.
    """
    check_outputs([drawing_path], inputs=[position_path])
    field = field_of(read_position_file(position_path), str(position_path))
    _check_named("--active", active, sides(field), "side")
    for option, ids in (("--unit", unit_ids), ("--pair", pair or ())):
        for unit_id in ids:
            _check_named(option, unit_id, field.by_id, "unit")
    _check_rule(rule)
    _check_two(pair, unit_ids)
    found = _narrowed(all_rulings(field, active), unit_ids, pair)
    if drawing_path is not None:
        write_text(drawing_path, drawing(found, rule=rule))
    if as_json:
        _print_document(found, pair, rule)
    else:
        _print_tables(found, pair, rule)


def _narrowed(found: Rulings, unit_ids: tuple[str, ...], pair: tuple[str, str] | None) -> Rulings:
    if pair is not None:
        return of_pair(found, *pair)
    return of_units(found, unit_ids) if unit_ids else found


def _print_document(found: Rulings, pair: tuple[str, str] | None, rule: str | None) -> None:
    document = rulings_document(found) if pair is None else pair_document(found, *pair)
    if rule is not None:
        document = document_under(rule, document)
    click.echo(json.dumps(document, indent=1))


def _print_tables(found: Rulings, pair: tuple[str, str] | None, rule: str | None) -> None:
    console = Console(highlight=False)
    if not console.is_terminal:
        console.width = _FILE_WIDTH
    for table in tables_of(found, rule=rule):
        console.print(_rich(table))
    reasons = sentences_of(found, *pair) if pair is not None else ()
    for line in (*reasons, *notes_of(found, rule=rule)):
        console.print(line, markup=False)


def _rich(table: TextTable) -> Table:
    made = Table(*table.heads, title=table.title, title_justify="left", box=SIMPLE_HEAD)
    for row in table.rows:
        made.add_row(*map(escape, row))
    return made


def _check_named(option: str, name: str, known: Iterable[str], kind: str) -> None:
    names = list(known)
    if name not in names:
        raise BadInput(
            option, f"there is no {kind} {quoted(name)} on the table{nearest(name, names)}"
        )


def _check_rule(rule: str | None) -> None:
    if rule is not None and not keys_under(rule):
        known = ", ".join(dict.fromkeys(each for rules in RULES.values() for each in rules))
        raise BadInput("--rule", f"expected one of {known}, or a chapter of theirs, got {rule}")


def _check_two(pair: tuple[str, str] | None, unit_ids: tuple[str, ...]) -> None:
    if pair is None:
        return
    if pair[0] == pair[1]:
        raise BadInput("--pair", f"expected two units, got {pair[0]} twice")
    if unit_ids:
        raise BadInput("--pair", "expected it without --unit")
