"""`tablecam engine`: plays a game by JSON requests on standard input, a line each."""

from __future__ import annotations

import json
import sys
from random import Random

import click

from tablecam.documents import MOST_BYTES
from tablecam.rules.games import game_names, game_of
from tablecam.rules.lines import Lines
from tablecam.wording import nearest, quoted

_REQUESTS = """\b
Each request is a JSON object on one line; so is its answer, with "ok" true or false:
  {"do": "load", "position": {...}, "options": {"active": "french"}}
  {"do": "state"}      {"do": "legal"}      {"do": "undo"}
  {"do": "apply", "action": {...}}          an action that "legal" lists
  {"do": "moved", "position": {...}}        the position now
Apply a roll with the "values" of real dice; without them, tablecam rolls the dice.
"""


@click.command("engine", epilog=_REQUESTS)
@click.argument("game")
@click.option("--seed", type=int, help="Seed of the dice; the same seed gives the same rolls.")
def engine(game: str, seed: int | None) -> None:
    """Play a GAME over JSON lines.

    Reads requests from standard input and writes answers to standard output.
    """
    rules = game_of(game)
    if rules is None:
        hint = nearest(game, game_names())
        raise click.UsageError(f"engine: expected a game, got {quoted(game)}{hint}")
    lines = Lines(rules, chance=Random(seed))
    while raw := sys.stdin.buffer.readline(MOST_BYTES + 1):
        rest = raw
        while len(rest) > MOST_BYTES and not rest.endswith(b"\n"):
            # Skips the rest of a line that is too long.
            rest = sys.stdin.buffer.readline(MOST_BYTES + 1)
        line = raw.decode("utf-8-sig", errors="replace")
        if line.strip():
            # `click.echo` flushes, as the client waits for each answer.
            click.echo(json.dumps(lines.answer(line)))
