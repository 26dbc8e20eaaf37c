"""`tablecam resolve`: resolves a volley, bombardment, combat or rally by dice that were rolled."""

from __future__ import annotations

import json
from pathlib import Path

import click

from tablecam.documents import read_json
from tablecam.rules.maurice.field.field import field_of
from tablecam.rules.maurice.field.requests import request_of
from tablecam.rules.maurice.resolve.report import report
from tablecam.rules.maurice.resolve.resolve import resolve as resolve_request
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
@click.argument("position", type=_FILE)
@click.argument("request", type=_FILE)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def resolve(position: Path, request: Path, as_json: bool) -> None:
    """Resolve a REQUEST on a POSITION with rolled dice.

    REQUEST is a JSON file: a volley, a bombardment, a combat or a rally, with its dice. The answer
    lists each score with its rules, and who is disrupted, breaks or falls back. --json adds the
    position that follows.
    """
    field = field_of(read_position_file(position), str(position))
    answer = resolve_request(field, request_of(read_json(request), field))
    for warning in field.warnings:
        click.echo(f"warning: {warning}", err=True)
    if as_json:
        click.echo(json.dumps(answer, indent=1))
        return
    for line in report(answer):
        click.echo(line)
