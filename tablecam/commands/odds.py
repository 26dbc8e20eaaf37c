"""`tablecam odds`: computes the chances of a volley, a combat or a rally."""

from __future__ import annotations

import json
from pathlib import Path

import click
from rich.console import Console

from tablecam.documents import read_json
from tablecam.rules.maurice.field.field import field_of
from tablecam.rules.maurice.field.requests import request_of
from tablecam.rules.maurice.odds.odds import odds as odds_of
from tablecam.rules.maurice.odds.table import odds_tables
from tablecam.table.position_file import read_position_file

_FILE = click.Path(path_type=Path)


_EXAMPLES = """\b
Examples:
  tablecam odds position.json request.json
  where request.json contains, for example:
  {"kind": "combat", "active": "french"}
"""


@click.command("odds", epilog=_EXAMPLES)
@click.argument("position", type=_FILE)
@click.argument("request", type=_FILE)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def odds(position: Path, request: Path, as_json: bool) -> None:
    """Compute the odds of a REQUEST on a POSITION.

    REQUEST is a JSON file as for `tablecam resolve`; any dice in it are ignored. All possible rolls
    are counted. Only if more than six units fight in one melee are rolls sampled; the answer then
    says how far off it may be.
    """
    field = field_of(read_position_file(position), str(position))
    asked = request_of(read_json(request), field, with_dice=False)
    document = odds_of(field, asked)
    if as_json:
        click.echo(json.dumps(document, indent=1))
        return
    console = Console(highlight=False)
    for table in odds_tables(document):
        console.print(table)
    for warning in field.warnings:
        click.echo(f"warning: {warning}", err=True)
