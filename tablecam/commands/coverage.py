"""`tablecam coverage`: how much of a game's rulebook is played and tested."""

from __future__ import annotations

import json

import click

from tablecam.rules.coverage import Covered, coverage_of
from tablecam.rules.games import game_names
from tablecam.wording import nearest, quoted


@click.command("coverage")
@click.argument("game")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")
def coverage(game: str, as_json: bool) -> None:
    """Count the rules of a GAME that are played and tested.

    Those that are not are named.
    """
    found = coverage_of(game)
    if found is None:
        known = nearest(game, game_names())
        raise click.UsageError(f"coverage: expected a game, got {quoted(game)}{known}")
    if as_json:
        click.echo(json.dumps(_document(game, found), indent=1))
        return
    whole = [each for each in found if each.is_whole]
    click.echo(f"{game}: {len(whole)} of {len(found)} rules and examples are played and tested")
    for each in found:
        if not each.is_whole:
            click.echo(f"  {each.id:7} {each.left_open or 'no test'}")


def _document(game: str, found: tuple[Covered, ...]) -> dict[str, object]:
    rules = [
        {
            "id": each.id,
            "is_whole": each.is_whole,
            "modules": list(each.modules),
            "tests": list(each.tests),
            "left_open": each.left_open,
        }
        for each in found
    ]
    return {"game": game, "whole": sum(each.is_whole for each in found), "rules": rules}
