"""How fast recordings are checked, saved and exported: a whole game of two armies of six units.

Wanted: a check at least 100 times as fast as the game was played. An action is counted as 12 s,
faster than any game: three hours would have 900. Each move is ruled on as a move by hand, and every
twentieth action is disputed.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

from rich.console import Console

from tablecam.record.entries import Entry, NewEntry
from tablecam.record.game_file import GameFile
from tablecam.record.positions import DifferenceEncoder
from tablecam.referee.game_views import action_document, beginning_view, ruling_document
from tablecam.referee.table_diff import TableDiff
from tablecam.replay.check import RecordingCheck
from tablecam.replay.copies import copy_of
from tablecam.replay.lines import copy_from_lines, lines_of
from tablecam.replay.repair import pages_of, repaired
from tablecam.replay.report import Report
from tablecam.replay.text_form import text_of
from tablecam.rules.books import book_of
from tablecam.rules.play import Play
from tablecam.table.position_file import position_to_json
from tests.record.games import FACTS
from tests.replay.evening import dispute_of
from tests.rules.conformance import play_at_random
from tests.rules.maurice.game.random_games import MOST_ACTIONS, eager, random_game

WANTED = 100.0
A_DEED = timedelta(seconds=12)
_DISPUTED = 20
"""Interval, in actions."""
_SEEDS = range(400, 412)
"""Seeds of the games played; the longest is checked."""


def battle() -> Play[Any, Any]:
    """The longest of some games of random players."""
    games = [random_game(seed, is_measured=True, deck_size=40) for seed in _SEEDS]
    for seed, play in zip(_SEEDS, games, strict=True):
        play_at_random(play, seed, most=MOST_ACTIONS, choose=eager, after_each=lambda _: None)
    return max(games, key=lambda play: len(play.done))


def recorded(play: Play[Any, Any]) -> Iterator[NewEntry]:
    """The game as a watched table would have recorded it."""
    book, chain, hands, at = (
        book_of(play.game.name),
        DifferenceEncoder(),
        TableDiff(play.game),
        FACTS.started_at,
    )
    there = play.game.position(play.first)
    hands.begin(there)
    yield NewEntry("position", chain.document(position_to_json(there)), at=at)
    yield NewEntry("play", beginning_view(play), at=at)
    state = play.first
    for number, logged in enumerate(play.logged()):
        at += A_DEED
        before, now = play.game.position(state), play.game.position(logged.state)
        if before != now:
            yield NewEntry("position", chain.document(position_to_json(now)), at=at)
            hands.seen = now
            hands.compare(state)
            yield from (NewEntry("ruling", ruling_document(e), at=at) for e in hands.suggested)
        yield NewEntry("deed", action_document(play.game, logged), at=at)
        hands.follow(before, now)
        hands.drop_placed(logged.state)
        if number % _DISPUTED == 0:
            yield dispute_of(book, now, at)
        state = logged.state


def timed(deed) -> tuple[Any, float]:
    begins_s = time.process_time()
    found = deed()
    return found, time.process_time() - begins_s


def checked(entries: list[Entry]) -> RecordingCheck:
    check = RecordingCheck(FACTS.game, "battle")
    for entry in entries:
        assert check.entry(entry), check.checked.fault
    return check


def report(entries: list[Entry]) -> list[str]:
    made = Report(FACTS, "battle")
    for entry in entries:
        made.add(entry)
    return [*made.lines()]


def test_a_game_is_checked_a_hundred_times_as_fast_as_it_was_played(tmp_path, capsys):
    game = GameFile.create(tmp_path / "battle.tablecam", FACTS, recorded(battle()))
    entries = game.entries()
    check, check_s = timed(lambda: checked(entries))
    played_s = (entries[-1].at - entries[0].at).total_seconds()
    lines, lines_s = timed(lambda: [*lines_of(copy_of(game, pictures=True))])
    raw = [line.encode() for line in lines]
    _, import_s = timed(lambda: [*copy_from_lines(raw, "lines").entries])
    text, text_s = timed(lambda: text_of(game))
    _, report_s = timed(lambda: report(entries))
    pages = pages_of(game.path)
    rows = (row for number in range(1, pages.last + 1) for row in pages.rows(number))
    found, repair_s = timed(lambda: repaired(rows, "battle"))
    assert found.entries == len(entries)
    counts = ", ".join(
        f"{count} {what}{'s' * (count > 1)}" for what, count in check.checked.counts.items()
    )
    megabytes, faster = game.path.stat().st_size / 1e6, played_s / check_s
    told = (
        f"\nA recording of {megabytes:.1f} MB, {played_s / 60:.0f} minutes: {counts}",
        f"  checked in {check_s:.2f} s: {faster:.0f} times as fast as played (wanted: {WANTED:g})",
        f"  as lines {lines_s:.2f} s, which are read again in {import_s:.2f} s",
        f"  as a text of {len(text) / 1e3:.0f} kB {text_s:.2f} s, as a report {report_s:.2f} s",
        f"  saved from its pages in {repair_s:.2f} s",
    )
    with capsys.disabled():
        Console(width=120, highlight=False).print("\n".join(told))
    assert faster >= WANTED
