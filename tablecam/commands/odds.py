"""`tablecam odds`: computes the chances of an event before the dice are rolled."""

from __future__ import annotations

import json
from pathlib import Path

import click

from tablecam.commands.outputs import print_table
from tablecam.documents import read_json
from tablecam.errors import BadInput
from tablecam.rules.games import known_games
from tablecam.rules.odds import odds_of
from tablecam.table.position_file import read_position_file

_FILE = click.Path(path_type=Path)


_EXAMPLES = """\b
Examples:
  tablecam odds position.json request.json
  where request.json contains, for example:
  {"kind": "combat", "active": "french"}
"""


@click.command("odds", epilog=_EXAMPLES)
@click.argument("position_path", metavar="POSITION", type=_FILE)
@click.argument("request", type=_FILE)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def odds(position_path: Path, request: Path, as_json: bool) -> None:
    """Compute the odds of a REQUEST on a POSITION.

    REQUEST is a JSON file as for `tablecam resolve`; any dice in it are ignored. All possible rolls
    are counted. Only if there are too many are rolls sampled; the answer then says how far off it
    may be.
    """
    position = read_position_file(position_path, known_games())
    game = odds_of(position.game)
    if game is None:
        raise BadInput(str(position_path), f"there are no odds for {position.game}", key="game")
    report = game.odds(position, read_json(request), str(position_path))
    if as_json:
        click.echo(json.dumps(report.document, indent=1))
        return
    for table in report.tables:
        print_table(table)
    for warning in report.warnings:
        click.echo(f"warning: {warning}", err=True)
