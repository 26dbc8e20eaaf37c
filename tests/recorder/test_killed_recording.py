"""A recording survives the killing of its process at any moment: real processes, really killed."""

from __future__ import annotations

import os
import signal
import threading
from random import Random

import cv2
import numpy as np
import pytest

from tablecam.record.game_file import GameFile
from tablecam.record.positions import applied
from tablecam.recorder.resuming import unfinished_game
from tablecam.referee.game_controller import ONLY_CHOICE
from tablecam.rules.games import known_games
from tablecam.table.position_file import position_from_json
from tests.recorder.killed_recording import TABLE_FILE, lying
from tests.recorder.lives import asked, line_of, lives_of

LIVES = 8
FIRST_LIFE = 3
"""Confirmations in the first life: its first step, with a picture, and some of the next."""
LONGEST_S = 0.15
"""Longest life after its first confirmations, enough for some five more steps."""
SHOWS = {"table": "position", "after": "move"}

pytestmark = pytest.mark.skipif(os.name != "posix", reason="Windows has no fork and no kill -9")


def confirmed_in_a_life(process, first_step, chance, least=1):
    """What a life confirmed before it was killed, at any moment after its first `least` lines."""
    asked(process, str(first_step))
    said = [line_of(process) for _ in range(least)]
    number = int(said[0].split()[0])
    killing = threading.Timer(chance.uniform(0.0, LONGEST_S), os.kill, (number, signal.SIGKILL))
    killing.start()
    while (line := line_of(process)) != "dead\n":
        said.append(line)
    killing.join()
    return [(kind, int(step)) for _, kind, step in map(str.split, said)]


def kept_in(file):
    """The steps of all positions and actions in a recording, in order; all of it is intact."""
    position, kept = None, []
    entries = file.entries()
    assert [entry.number for entry in entries] == list(range(1, len(entries) + 1))
    for before, entry in zip([None, *entries], entries, strict=False):
        if entry.kind == "position":
            position = applied(position, entry.document)
            kept.append(("position", position_from_json(position, games=known_games())))
        elif entry.kind == "deed" and entry.document["entry"].get("note") != ONLY_CHOICE:
            kept.append(("deed", int(entry.document["entry"]["why"])))
        elif entry.kind == "move":  # it is recorded with its position, or neither is
            assert before.kind == "position"
        elif entry.kind == "picture":
            (shown,) = entry.pictures
            assert entries[entry.document["of"] - 1].kind == SHOWS[shown]
            data = np.frombuffer(file.picture(entry.number, shown).image, np.uint8)
            assert cv2.imdecode(data, cv2.IMREAD_COLOR) is not None
    return kept


def test_all_that_was_confirmed_survives_kills_in_the_order_in_which_it_happened(tmp_path):
    confirmed = []
    with lives_of("tests.recorder.killed_recording", tmp_path) as process:
        step = 1
        for life in range(LIVES):
            least = 1 if life else FIRST_LIFE
            said = confirmed_in_a_life(process, step, Random(life), least)
            confirmed += said
            # The action under way was recorded or not, without confirmation.
            step = said[-1][1] + 2
    (path,) = tmp_path.glob("*.tablecam")
    file = GameFile.open(path, read_only=True)
    kept = kept_in(file)
    told = [(kind, lying(what) if kind == "position" else what) for kind, what in confirmed]
    unheard = [entry for entry in kept if entry not in told]
    assert [entry for entry in kept if entry in told] == told
    assert len(unheard) <= LIVES
    assert len(told) >= LIVES + FIRST_LIFE - 1
    assert len(file.entries("picture")) >= 1
    assert unfinished_game(tmp_path, TABLE_FILE) is not None
