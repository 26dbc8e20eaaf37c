"""Whole games as text: what was asked, what was done, and what followed, each with its rule.

`python -m tests.rules.playthrough` writes the kept ones again from their own actions:
look at what it changed before keeping it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from tablecam.rules.games import game_of
from tablecam.rules.play import Play

_HERE = Path(__file__).parent
ALL_KEPT = tuple(sorted(_HERE.rglob("golden/*.txt")))
KEPT = tuple(path for path in ALL_KEPT if path.is_relative_to(_HERE / "maurice"))
"""The kept games of Maurice Lite, which tests of pages and files play, too."""

_ACTION = "> "


def playthrough(play: Play[Any, Any]) -> str:
    """A game as text: its beginning, and of each action the question, itself, and the events."""
    document = play.to_json()
    begun = {key: document[key] for key in ("position", "options")}
    lines = [json.dumps(begun)]
    game = play.game
    state = Play.from_json(game, document | {"log": []}).state
    for done in play.done:
        lines.append(game.asked(state).question)
        lines.append(_ACTION + json.dumps(game.action_to_json(done.action)))
        for event in done.events:
            lines.append(f"  {event.rule or '-'} {event.text}")
            sums = event.facts.get("sums", ())
            lines += [f"    {total['title']}: {', '.join(total['terms'])}" for total in sums]
        state = done.state
    lines.append(play.asked().question)
    return "\n".join(lines) + "\n"


def played(text: str) -> Play[Any, Any]:
    """The game whose text that is, played again from its beginning and its actions alone."""
    first, *others = text.splitlines()
    play: Play[Any, Any] = _begun(json.loads(first))
    for document in _actions(others):
        play.apply(play.game.action_from_json(document))
    return play


def _begun(document: dict[str, Any]) -> Play[Any, Any]:
    game = game_of(document["position"]["game"])
    assert game is not None
    empty = {"format": "tablecam.play", "version": 1, "game": game.name, "log": []}
    return Play.from_json(game, empty | document)


def _actions(lines: Iterable[str]) -> Iterator[Any]:
    for line in lines:
        if line.startswith(_ACTION):
            yield json.loads(line.removeprefix(_ACTION))


def _write_again() -> None:
    for path in ALL_KEPT:
        path.write_text(playthrough(played(path.read_text(encoding="utf-8"))), encoding="utf-8")


if __name__ == "__main__":
    _write_again()
