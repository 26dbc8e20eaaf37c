"""`tablecam coverage`: counts the rules of a rulebook that are played and tested."""

from __future__ import annotations

import json

import click

from tablecam.rules.games import game_names
from tablecam.rules.rule_pages import RuleCoverage, coverage_of
from tablecam.wording import nearest, quoted


@click.command("coverage")
@click.argument("game")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def coverage(game: str, as_json: bool) -> None:
    """Count the rules of a GAME that are played and tested.

    Lists those that are not.
    """
    rules = coverage_of(game)
    if rules is None:
        hint = nearest(game, game_names())
        raise click.UsageError(f"coverage: expected a game, got {quoted(game)}{hint}")
    if as_json:
        click.echo(json.dumps(_document(game, rules), indent=1))
        return
    covered = [rule for rule in rules if rule.is_whole]
    click.echo(f"{game}: {len(covered)} of {len(rules)} rules and examples are played and tested")
    for rule in rules:
        if not rule.is_whole:
            click.echo(f"  {rule.id:7} {rule.left_open or 'no test'}")


def _document(game: str, covered_rules: tuple[RuleCoverage, ...]) -> dict[str, object]:
    rules = [
        {
            "id": rule.id,
            "is_whole": rule.is_whole,
            "modules": list(rule.modules),
            "tests": list(rule.tests),
            "left_open": rule.left_open,
        }
        for rule in covered_rules
    ]
    return {"game": game, "whole": sum(rule.is_whole for rule in covered_rules), "rules": rules}
