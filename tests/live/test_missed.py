"""Bases unseen for long: the referee asks for them, as hands may have removed them."""

import threading
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from tablecam.live.refereeing import Refereeing, gone, missed_tags
from tablecam.live.state import Health, Snapshot
from tablecam.record.entries import Entry, Kind
from tablecam.record.game_file import GameFile
from tablecam.recorder.game_recorder import GameRecorder, new_game_file
from tablecam.recorder.recording import Recording
from tablecam.referee.referee import Referee
from tablecam.referee.seat_view import seat_view
from tablecam.referee.seats import SHARED
from tablecam.replay.check import RecordingCheck
from tablecam.replay.scenes import scenes
from tablecam.rules.games import game_of
from tablecam.simulate.demo import demo_roster
from tablecam.table.missed import without_bases
from tablecam.table.model import BasePose, Commander, Position, Unit
from tests.patience import comes_true
from tests.record.games import FACTS
from tests.referee.tables import table

HEALTH = Health("test", "live", "", "", 10.0)


class Watched:
    """A table as the camera sees it, with a referee; `hide` is what an arm does."""

    def __init__(self, store: GameRecorder | None = None) -> None:
        self.referee = Referee(game_of("maurice-lite"), store=store)
        self.position = tagged(table())
        self.now = Snapshot(1, 1, self.position, HEALTH)
        self._lock, self._pause = threading.Lock(), threading.Event()
        self.referee.begin(self.position, {"active": "french"}, SHARED)

    def wait(self, version: int, patience_s: float) -> Snapshot | None:
        """The next picture, half a second later than the last."""
        self._pause.wait(0.001)
        with self._lock:
            self.now = replace(
                self.now, version=self.now.version + 1, at_s=self.now.at_s + patience_s
            )
            return self.now

    def hide(self, held_for_s: Mapping[int, float]) -> None:
        with self._lock:
            self.now = replace(self.now, held_for_s=held_for_s)

    def lose(self, held_for_s: Mapping[int, float]) -> int:
        """Pull the camera's cable; returns the first version after that."""
        with self._lock:
            lost = replace(self.now.health, state="lost")
            self.now = replace(self.now, health=lost, held_for_s=held_for_s)
            return self.now.version

    def said(self) -> list[str]:
        return [suggestion["text"] for suggestion in seat_view(self.referee, SHARED)["moved"]]


def tagged(position: Position) -> Position:
    """Each base with a tag: 10 to 13 the first unit's, 20 to 23 the second's, 90 a commander's."""

    def with_tags(number: int, unit: Unit) -> Unit:
        bases = (replace(each, tag=10 * number + at) for at, each in enumerate(unit.bases))
        return replace(unit, bases=tuple(bases))

    units = (with_tags(number, unit) for number, unit in enumerate(position.units, start=1))
    cinc, *others = position.commanders
    marker = BasePose(cinc.x_mm, cinc.y_mm, 90.0, 40.0, 40.0, tag=90)
    leaders = (replace(cinc, pose=marker), *others)
    return replace(position, units=tuple(units), commanders=leaders)


@pytest.fixture
def watched() -> Iterator[Watched]:
    watched = Watched()
    version = watched.referee.version
    with Refereeing(watched.referee, watched.wait, lambda thing: None):
        comes_true(lambda: watched.referee.version > version)  # it has seen the table at rest
        yield watched


def test_a_base_that_was_removed_is_missed_until_it_is_seen_again(watched: Watched) -> None:
    watched.hide({11: 60.0})
    comes_true(lambda: watched.said() != [])
    (said,) = watched.said()
    assert said == "a base of F1 cannot be seen: put every base back"
    watched.hide({})
    comes_true(lambda: watched.said() == [])


def test_what_is_ruled_of_a_missed_base_is_ruled_so_again(tmp_path: Path) -> None:
    record = GameRecorder(partial(new_game_file, tmp_path, FACTS))
    watched = Watched(record)
    recording = Recording(record, demo_roster(), begins_with_moves=True)
    with Refereeing(watched.referee, watched.wait, lambda thing: None, recording):
        comes_true(lambda: len(entries(record, "position")) == 1)
        watched.hide({11: 60.0})
        comes_true(lambda: watched.said() != [])
        watched.hide({})
        comes_true(lambda: watched.said() == [])
        watched.hide({90: 60.0})
        comes_true(lambda: watched.said() != [])
    record.close()
    assert [entry.document.get("missed") for entry in entries(record, "position")] == [
        None,
        [11],
        None,
        [90],
    ]
    assert len(entries(record, "ruling")) == 2
    assert entries(record, "move") == entries(record, "picture") == []
    check = RecordingCheck(FACTS.game, "missed")
    assert all(check.entry(entry) for entry in entries(record))
    assert check.checked.counts["ruling"] == 2
    assert record.path is not None
    # The beginning and the answer without a choice: nothing moved.
    assert [scene.before for scene in scenes(GameFile.open(record.path))] == [None, None]


def entries(record: GameRecorder, *kinds: Kind) -> list[Entry]:
    return [] if record.path is None else GameFile.open(record.path).entries(*kinds)


def test_an_arm_that_reaches_across_hides_what_nobody_misses(watched: Watched) -> None:
    watched.hide({11: 5.0} | dict.fromkeys((20, 21, 22, 23), 60.0))
    comes_true(lambda: watched.said() != [])
    (said,) = watched.said()
    assert said == "F2 cannot be seen on the table: put it back where it was"


def test_nothing_is_missed_while_the_camera_is_lost(watched: Watched) -> None:
    lost = watched.lose(dict.fromkeys((10, 11, 12, 13, 20, 21, 22, 23, 90), 60.0))
    comes_true(lambda: watched.now.version > lost + 5)
    assert watched.said() == []


def test_a_commander_who_was_taken_off_is_missed_until_he_is_seen_again(watched: Watched) -> None:
    watched.hide({90: 60.0})
    comes_true(lambda: watched.said() != [])
    assert watched.said() == ["Cinc cannot be seen on the table: put him back where he stood"]
    watched.hide({})
    comes_true(lambda: watched.said() == [])


def test_a_counter_that_is_due_off_has_not_left_while_another_was_laid_upon_it() -> None:
    off = BasePose(300, 300, 90, 15, 15, tag=1, seen="held")
    top = BasePose(302, 300, 90, 15, 15, tag=2)
    units = tuple(Unit(name, "red", "infantry", (base,)) for name, base in (("A", off), ("B", top)))
    position = Position("maida-1806", table().table, units)
    now = Snapshot(1, 1, position, HEALTH, held_for_s={1: 1.5})
    assert [*gone(now, {"A": 0}, {1: (1, 2)})] == []
    # The counter beneath it comes to light as it is taken off.
    assert [*gone(now, {"A": 0}, {1: (1,)})] == ["base:1"]
    # A leader leaves as a counter does.
    leader = Commander("C", "red", 300, 300, pose=off)
    now = replace(now, position=replace(position, units=units[1:], commanders=(leader,)))
    hidden = without_bases(now.position, {1}, keeps_units=True).commanders
    assert [(leader.id, leader.seen) for leader in hidden] == [("C", "held")]
    assert [*gone(now, {"C": 0}, {1: (1,)})] == ["commander:C"]
    assert [*gone(now, {"C": 0}, {1: (1, 2)})] == [*gone(now, {"C": 1}, {1: (1,)})] == []


def test_a_counter_pushed_under_another_is_missed_at_once_where_counters_stack() -> None:
    pushed = BasePose(300, 300, 90, 15, 15, tag=1, seen="held")
    top = BasePose(318, 305, 90, 15, 15, tag=2)
    alone = replace(pushed, x_mm=700, tag=3)
    units = tuple(
        Unit(name, "red", "infantry", (base,))
        for name, base in (("A", pushed), ("B", top), ("C", alone))
    )
    position = Position("maida-1806", table().table, units)
    now = Snapshot(1, 1, position, HEALTH, held_for_s={1: 1.5, 3: 1.5})
    assert missed_tags(now) == frozenset()
    assert missed_tags(now, counters_stack=True) == {1}
    # A hand that reaches across is still there.
    assert missed_tags(replace(now, held_for_s={1: 0.5}), counters_stack=True) == frozenset()
