"""`tablecam engine`: plays a game by JSON requests on standard input, a line each.

Every answer is a line with `ok`; a request that is refused or malformed changes nothing.
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Callable
from dataclasses import asdict
from random import Random
from typing import Any

import click
from pydantic import Field

from tablecam.documents import MOST_BYTES, Document, Json, json_request
from tablecam.errors import BadInput
from tablecam.rules.game import Game, Refused, Suggestion
from tablecam.rules.game_files import files_among, options_with_files
from tablecam.rules.games import game_names, game_of
from tablecam.rules.play import Play
from tablecam.table.model import Position
from tablecam.table.position_file import position_from_json, position_to_json
from tablecam.table.sections import StrictModel
from tablecam.wording import nearest, quoted

log = logging.getLogger(__name__)


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


class Lines:
    """Plays a game by requests, each a line of text.

    Args:
        game: The rule system.
        chance: Rolls the dice and draws the cards that requests leave open.
    """

    def __init__(self, game: Game[Any, Any], *, chance: Random | None = None) -> None:
        self._game = game
        self._chance = Random() if chance is None else chance
        self._play: Play[Any, Any] | None = None
        self._commands: dict[str, Callable[[Document], Json]] = {
            "load": self._load,
            "state": self._state,
            "legal": self._legal,
            "apply": self._apply,
            "moved": self._moved,
            "undo": self._undo,
        }

    def answer(self, line: str) -> Json:
        """Returns the answer to a request, or its error."""
        try:
            request = json_request(line, "request")
            return {"ok": True} | self._command(request)(request)
        except BadInput as error:
            rule = error.rule if isinstance(error, Refused) else None
            failure: Json = {"ok": False, "error": " ".join(str(error).split())}
            return failure if rule is None else failure | {"rule": rule}
        # One bad request must not end the session.
        except Exception as error:
            log.debug("", exc_info=True)
            return {"ok": False, "error": f"an internal error in tablecam: {error!r}"}

    def _command(self, request: Document) -> Callable[[Document], Json]:
        name = request.data.get("do")
        if not isinstance(name, str) or name not in self._commands:
            got = f"got {quoted(name)}" if "do" in request.data else "but the key is missing"
            raise request.error(("do",), f"expected one of {', '.join(self._commands)}, {got}")
        return self._commands[name]

    def _load(self, request: Document) -> Json:
        parsed = request.parsed(_Load)
        position = self._position(parsed.position)
        options = options_with_files(
            parsed.options,
            self._game.name,
            self._game.file_models,
            files_among(parsed.options),
            position.table.hex_map,
        )
        self._play = Play(self._game, position, options, chance=self._chance)
        return self._now()

    def _state(self, request: Document) -> Json:
        parsed = request.parsed(_State)
        play = self._playing()
        if parsed.seat is not None:
            return self._now() | {"state": self._game.seen_by(play.state, parsed.seat)}
        return self._now() | {"state": self._game.state_to_json(play.state)}

    def _legal(self, request: Document) -> Json:
        # Refuses unknown keys.
        request.parsed(_Bare)
        legal = self._playing().legal()
        return self._now() | {"legal": [self._game.action_to_json(action) for action in legal]}

    def _apply(self, request: Document) -> Json:
        play = self._playing()
        parsed = request.parsed(_Apply)
        # Guards against a request that was sent twice.
        if parsed.at is not None and parsed.at != len(play.done):
            why = f"expected {len(play.done)}, the number of actions done, got {parsed.at}"
            raise Refused(f"{why}: was it sent twice?", key="at")
        done = play.apply(self._game.action_from_json(parsed.action))
        return self._now() | {
            "action": self._game.action_to_json(done.action),
            "events": [event.to_json() for event in done.events],
        }

    def _moved(self, request: Document) -> Json:
        play = self._playing()
        position = self._position(request.parsed(_Moved).position)
        return self._now() | {
            "suggestions": [
                self._suggestion(suggestion) for suggestion in play.detect_moves(position)
            ]
        }

    def _undo(self, request: Document) -> Json:
        play = self._playing()
        undone = play.undo(request.parsed(_Undo).steps)
        actions = [self._game.action_to_json(done.action) for done in undone]
        return self._now() | {"undone": actions}

    def _playing(self) -> Play[Any, Any]:
        if self._play is None:
            raise BadInput("request", "no game is loaded: expected a load first", key="do")
        return self._play

    def _now(self) -> Json:
        """Returns the pending decision and the number of actions, which guards `apply`."""
        play = self._playing()
        asked = play.asked()
        decision: Json = {"question": asked.question, "seat": asked.seat, "over": asked.is_over}
        if asked.closed is not None:
            decision["closed"] = asdict(asked.closed)
        house: Json = {"house": list(play.house)} if play.house else {}
        return {"at": len(play.done), "asked": decision} | house

    def _position(self, data: object) -> Position:
        return position_from_json(data, games={self._game.name: self._game.table_needs})

    def _suggestion(self, suggestion: Suggestion) -> Json:
        action, nearest = suggestion.action, suggestion.nearest
        return {
            "unit": suggestion.unit,
            "text": suggestion.text,
            "action": None if action is None else self._game.action_to_json(action),
            **suggestion.answer.to_json(),
            "nearest": None if nearest is None else position_to_json(nearest),
        }


class _Bare(StrictModel):
    do: str


class _Load(_Bare):
    position: dict[str, Any]
    options: dict[str, Any] = Field(default_factory=dict)


class _State(_Bare):
    seat: str | None = None


class _Apply(_Bare):
    action: dict[str, Any]
    at: int | None = None


class _Moved(_Bare):
    position: dict[str, Any]


class _Undo(_Bare):
    steps: int = 1
