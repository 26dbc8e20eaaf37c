"""`tablecam resolve`: resolves an event with the dice that were rolled."""

from __future__ import annotations

import json
from pathlib import Path

import click

from tablecam.documents import read_json
from tablecam.errors import BadInput
from tablecam.rules.books import book_of
from tablecam.rules.games import known_games
from tablecam.table.position_file import read_position_file

_FILE = click.Path(path_type=Path)

_REQUESTS = """\b
Examples of requests:
  {"kind": "volley", "side": "french", "dice": {"hit": [4, 2], "disrupt": [5]},
   "shots": [{"unit": "F1", "targets": {"10": "B1", "11": "B1"}}]}
  {"kind": "combat", "active": "french", "dice": {"F1": 4, "B1": 2}}
  {"kind": "rally", "unit": "F1", "dice": [4, 5]}
"""


@click.command("resolve", epilog=_REQUESTS)
@click.argument("position_path", metavar="POSITION", type=_FILE)
@click.argument("request", type=_FILE)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def resolve(position_path: Path, request: Path, as_json: bool) -> None:
    """Resolve a REQUEST on a POSITION with rolled dice.

    REQUEST is a JSON file: what happens, such as a volley or a combat, with its dice. The answer
    lists each score with its rules, and what becomes of each unit. --json adds the position that
    follows.
    """
    position = read_position_file(position_path, known_games())
    book = book_of(position.game)
    if book is None:
        raise BadInput(str(position_path), f"there is no rulebook of {position.game}", key="game")
    resolution = book.resolve(position, read_json(request), str(position_path))
    for warning in resolution.warnings:
        click.echo(f"warning: {warning}", err=True)
    if as_json:
        click.echo(json.dumps(resolution.document, indent=1))
        return
    for line in resolution.lines:
        click.echo(line)
