"""`tablecam rulings`: prints every ruling that follows from a position alone."""

from __future__ import annotations

import json
from pathlib import Path

import click

from tablecam.commands.new_files import check_new, force_option
from tablecam.commands.outputs import FILE_WIDTH, output_console, print_table, write_text
from tablecam.drawing.table_svg import table_svg
from tablecam.errors import BadInput
from tablecam.rules.books import RulingsQuery, book_of
from tablecam.rules.games import known_games
from tablecam.rules.reports import report_lines
from tablecam.table.position_file import read_position_file

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
    engaged, which units form one force, and whom the commander reaches. --unit and --pair answer in
    sentences, as the page does; --draw shows the evidence. POSITION is a file from
    `tablecam snapshot` or `tablecam disputes FILE --position N`.
    """
    check_new({"--draw": drawing_path}, inputs=[position_path], force=force)
    if pair is not None and unit_ids:
        raise BadInput("--pair", "expected it without --unit")
    if pair is not None and pair[0] == pair[1]:
        raise BadInput("--pair", f"expected two units, got {pair[0]} twice")
    position = read_position_file(position_path, known_games())
    book = book_of(position.game)
    if book is None:
        raise BadInput(str(position_path), f"there is no rulebook of {position.game}", key="game")
    query = RulingsQuery(active, unit_ids, pair, rule)
    printed = book.print_rulings(position, query, str(position_path))
    if drawing_path is not None:
        write_text(drawing_path, table_svg(position, printed.drawing))
    if as_json:
        click.echo(json.dumps(printed.document, indent=1))
        return
    for table in printed.tables:
        print_table(table)
    console = output_console()
    for report in printed.reports:
        for line in report_lines(report, width=min(console.width, FILE_WIDTH), rule=rule):
            console.print(line, markup=False)
        console.print()
    for note in printed.notes:
        console.print(note, markup=False)
