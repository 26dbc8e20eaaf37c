"""A game survives the killing of its process at any moment: real processes, really killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.client import HTTPException
from itertools import zip_longest
from pathlib import Path
from random import Random
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

import pytest

from tablecam.record.plays import newest_play
from tablecam.recorder.resuming import unfinished_game
from tablecam.referee.game_controller import ONLY_CHOICE
from tablecam.rules.games import game_of
from tablecam.rules.play import Play
from tests.patience import PATIENCE_S
from tests.recorder.killed_game import TABLE_FILE
from tests.recorder.lives import asked, line_of, lives_of

LIVES = 6
LONGEST_S = 0.25
"""Longest life after its first confirmed action, enough for some ten more."""
MOST_ACTIONS = 15
"""Most actions in one life, so that even on a fast machine the game does not end too early."""

Json = dict[str, Any]

pytestmark = pytest.mark.skipif(os.name != "posix", reason="Windows has no fork and no kill -9")


@dataclass
class ServedGame:
    """A process that serves a folder's game in one life after another, and what it confirmed."""

    process: subprocess.Popen[str]
    folder: Path
    confirmed: list[Json] = field(default_factory=list)
    unanswered: Json | None = None
    has_begun: threading.Event = field(default_factory=threading.Event)

    def live(self, chance: Random) -> None:
        """Play for one life, which ends at any moment, with a request under way."""
        asked(self.process, "live")
        number, address = line_of(self.process).split()
        now = _told(address, "api/game")
        playing = threading.Thread(target=self._play, args=(address, now, chance))
        self.has_begun.clear()
        playing.start()
        assert self.has_begun.wait(PATIENCE_S)
        playing.join(timeout=chance.uniform(0.0, LONGEST_S))
        os.kill(int(number), signal.SIGKILL)
        playing.join()

    def lost(self) -> int:
        """How many confirmed actions the file no longer holds, in their order."""
        file = unfinished_game(self.folder, TABLE_FILE)
        document = None if file is None else newest_play(file)
        log = [] if document is None else document["log"]
        kept = [entry for entry in log if entry.get("note") != ONLY_CHOICE]
        left = kept[len(self.confirmed) :]
        # The last may have been recorded without confirmation.
        self.confirmed += [action for action in left if action == self.unanswered]
        pairs = zip_longest(kept, self.confirmed)
        return sum(action != confirmed for action, confirmed in pairs)

    def _play(self, address: str, now: Json, chance: Random) -> None:
        """Apply one random action after the other until nobody answers."""
        for _ in range(MOST_ACTIONS):
            self.unanswered = _filled(chance.choice(now["actions"])["action"], chance)
            try:
                body = {"action": self.unanswered, "version": now["version"]}
                now = _told(address, "api/game/act", body)
            except HTTPError:
                raise  # it is alive, and refuses its own offer
            except (URLError, HTTPException, OSError):
                return
            self.confirmed.append(self.unanswered)
            self.unanswered = None
            self.has_begun.set()


def _filled(action: Json, chance: Random) -> Json:
    """An action as recorded, with the values of real dice, which an offer lacks."""
    action = {key: value for key, value in action.items() if key != "at"}
    if action["type"] != "roll":
        return action
    values = [chance.randint(1, action["sides"]) for _ in range(action["count"])]
    return action | {"values": values}


def _told(address: str, path: str, body: Json | None = None) -> Json:
    data = None if body is None else json.dumps(body).encode()
    request = Request(address + path, data, {"Content-Type": "application/json"})
    with urlopen(request, timeout=PATIENCE_S) as answer:
        told: Json = json.load(answer)
    return told


@pytest.fixture
def served(tmp_path: Path) -> Iterator[ServedGame]:
    with lives_of("tests.recorder.killed_game", tmp_path) as process:
        yield ServedGame(process, tmp_path)


def test_every_confirmed_action_survives_kills_in_order_and_the_game_goes_on(
    served: ServedGame, tmp_path: Path
) -> None:
    game = game_of("maurice-lite")
    assert game is not None
    for life in range(LIVES):
        served.live(Random(life))
        assert served.lost() == 0
        file = unfinished_game(tmp_path, TABLE_FILE)
        assert file is not None
        document = newest_play(file)
        assert document is not None
        done = Play.from_json(game, document).done
        assert sum(each.note != ONLY_CHOICE for each in done) == len(served.confirmed)
    assert len(list(tmp_path.glob("*.tablecam"))) == 1
    assert len(served.confirmed) >= LIVES
