"""A game on the simulated table is recorded as it happens: real frames, real vision, real hands."""

import json
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

import cv2
import numpy as np
import pytest

from tablecam.record.entries import NewEntry, Picture
from tablecam.record.game_file import GameFile
from tablecam.record.positions import WHOLE_EVERY, applied
from tablecam.recorder.game_recorder import GameRecorder, new_game_file
from tablecam.recorder.recording import Recording
from tablecam.referee.seat_view import seat_view
from tablecam.referee.seats import SHARED, SPECTATOR
from tablecam.rules.games import known_games
from tablecam.simulate.demo import demo_camera, demo_roster, embedded_demo
from tablecam.simulate.rendering.render import PLAIN
from tablecam.simulate.source import SimulatedSource
from tablecam.table.position_file import position_from_json
from tablecam.vision.watching import Sight
from tests.live.tapped import (
    Tap,
    after_one_frame,
    march_declared,
    moved_ahead,
    tapped,
    until_shown,
    until_still,
)
from tests.patience import in_time
from tests.record.games import FACTS
from tests.referee.tables import moved, table


@contextmanager
def recorded(folder, **more):
    """A table, its tap, the live table that watches it, and its record."""
    simulated, camera = embedded_demo(), demo_camera(1600, 900)
    simulated.pause()
    tap = Tap(SimulatedSource(simulated, camera, is_paced=False, look=PLAIN))
    record = GameRecorder(partial(new_game_file, folder, FACTS), **more)
    with tapped(tap, camera, simulated.roster, simulated=simulated, record=record) as live:
        yield simulated, tap, live, record


def until_kept(tap, live, record, kind, count=1):
    """Give frames, as a camera does, until the file has `count` entries of a kind."""
    for _ in in_time():
        after_one_frame(tap, live)
        of_kind = entries(record, kind)
        if len(of_kind) >= count:
            return of_kind
    raise AssertionError(f"never kept: {count} {kind}")


def entries(record, *kinds):
    if record.path is None:
        return []
    return GameFile.open(record.path, read_only=True).entries(*kinds)


def positions(record):
    """All positions of a recording, restored from their differences."""
    positions = []
    for entry in entries(record, "position"):
        positions.append(applied(positions[-1] if positions else None, entry.document))
    return [position_from_json(position, games=known_games()) for position in positions]


@pytest.fixture(scope="module")
def game(tmp_path_factory):
    """A march by hand that was confirmed and taken back, a knock, a bump: all in one recording."""
    with recorded(tmp_path_factory.mktemp("games")) as (simulated, tap, live, record):
        after_one_frame(tap, live)
        referee = live.referee
        referee.begin(live.snapshot().position, {"active": "prussian"}, SHARED)
        until_kept(tap, live, record, "position")
        march_declared(live, "P1")
        moved_ahead(simulated, "P1", 60.0)
        until_kept(tap, live, record, "ruling")
        until_shown(live, tap, lambda now: now["moved"])  # a ruling is recorded before it is shown
        referee.confirm(SHARED, "P1")
        log = [line for line in seat_view(referee, SPECTATOR)["log"] if not line["undone"]]
        referee.undo(SHARED)
        until_kept(tap, live, record, "picture", 2)
        tap.source.bump(6.0, 3.0)
        until_kept(tap, live, record, "notice")
        with referee.locked() as play:
            yield record, seat_view(referee, SPECTATOR), play, log


def test_what_was_judged_is_in_the_file_before_what_was_made_of_it(game):
    record, *_ = game
    kinds = [entry.kind for entry in entries(record) if entry.kind not in ("picture", "deed")]
    assert kinds[:5] in (
        ["position", "play", "position", "move", "ruling"],
        ["play", "position", "position", "move", "ruling"],
    )


def test_the_deeds_are_the_log_of_the_play_and_say_what_followed(game):
    record, _, play, log = game
    deeds = [entry.document for entry in entries(record, "deed")]
    assert [deed["entry"] for deed in deeds] == play.entries()
    lines = [line | {"deed": deed["deed"]} for deed in deeds for line in deed["events"]]
    # Including actions that the referee took by itself, without events.
    assert "only-choice" in {line["kind"] for line in lines}
    assert lines == [
        {k: v for k, v in line.items() if k not in ("undone", "is_chosen")}
        for line in log
        # Only the page shows who passes.
        if line["kind"] != "pass"
    ]
    assert deeds[-1]["undoes"] == [deeds[-2]["deed"]]
    assert deeds[-1]["deed"] is None


def test_after_the_last_deed_the_game_stands_as_spectators_are_shown_it(game):
    record, now, *_ = game
    after = entries(record, "deed")[-1].document["after"]
    assert {key: after[key] for key in ("question", "asked", "is_over", "markers")} == {
        key: now[key] for key in ("question", "asked", "is_over", "markers")
    }
    assert after["state"]["sides"] == now["state"]["sides"]
    assert after["state"]["round"]["number"] == now["state"]["round"]["number"]
    assert "tablecam.position" not in json.dumps(after)


def test_the_unit_that_was_moved_has_its_path(game):
    record, *_ = game
    (move,) = entries(record, "move")
    assert move.document["unit"] == "P1"
    first, last = move.document["path"][0], move.document["path"][-1]
    assert np.hypot(last[1] - first[1], last[2] - first[2]) == pytest.approx(60.0, abs=1.0)
    assert first[0] > last[0] >= 0


def test_positions_are_whole_again_and_hold_what_lay_there(game):
    record, *_ = game
    before, after = positions(record)[:2]
    changed = {unit.id for unit in after.units if unit.bases != before.unit(unit.id).bases}
    assert "P1" in changed
    assert len(changed) < 4  # the rest was not touched, and its jitter is not significant


def test_pictures_show_the_table_and_both_places_of_the_move(game):
    record, *_ = game
    file = GameFile.open(record.path, read_only=True)
    kinds = {entry.number: entry.kind for entry in file.entries()}
    shown_of = {}
    for entry in file.entries("picture"):
        for kind in entry.pictures:
            shown_of.setdefault(kinds[entry.document["of"]], {})[kind] = entry
    assert set(shown_of) == {"position", "move"}
    flat = pixels(file, shown_of["position"]["table"], "table")
    assert flat.shape[1] / flat.shape[0] == pytest.approx(1200 / 800, rel=0.01)
    before, after = (pixels(file, shown_of["move"][kind], kind) for kind in ("before", "after"))
    assert before.shape == after.shape  # 60 mm on: one place shows both
    differs = np.abs(before.astype(int) - after).max(axis=2) > 60
    assert 0.05 < differs.mean() < 0.6
    left, bottom, right, top = shown_of["move"]["before"].document["areas_mm"]["before"]
    wide = before.shape[1] / (right - left)
    assert before.shape[0] / (top - bottom) == pytest.approx(wide, rel=0.02)


def pixels(file, entry, kind):
    data = np.frombuffer(file.picture(entry.number, kind).image, np.uint8)
    return cv2.imdecode(data, cv2.IMREAD_COLOR)


def test_a_bumped_camera_is_noted(game):
    record, *_ = game
    (notice, *_) = entries(record, "notice")
    assert "camera" in notice.document["text"]


def test_a_demo_that_is_only_looked_at_leaves_no_file(tmp_path):
    with recorded(tmp_path) as (simulated, tap, live, record):
        before = simulated.truth()
        after_one_frame(tap, live)
        simulated.resume()
        simulated.advance(15.0)
        simulated.pause()
        until_still(tap, live)
        assert simulated.truth() != before
    assert record.path is None
    assert [*tmp_path.iterdir()] == []


def test_a_game_that_nobody_can_referee_is_recorded_all_the_same(tmp_path):
    simulated, camera = embedded_demo(), demo_camera(1600, 900)
    simulated.pause()
    roster = replace(simulated.roster, game="free")
    tap = Tap(SimulatedSource(simulated, camera, is_paced=False, look=PLAIN))
    record = GameRecorder(partial(new_game_file, tmp_path, FACTS))
    with tapped(tap, camera, roster, record=record) as live:
        after_one_frame(tap, live)
        assert live.referee is None
        until_still(tap, live)
        assert record.path is None
        moved_ahead(simulated, "P1", 60.0)
        until_still(tap, live)
    assert entries(record, "move")[0].document["unit"] == "P1"
    assert [entry.kind for entry in entries(record)][:3] == ["position", "position", "move"]


def test_a_table_that_lies_still_is_told_once(tmp_path):
    with recorded(tmp_path) as (_, tap, live, record):
        after_one_frame(tap, live)
        live.referee.begin(live.snapshot().position, {"active": "prussian"}, SHARED)
        until_kept(tap, live, record, "position")
        until_still(tap, live)
        assert len(entries(record, "position")) == 1


def test_ground_that_is_laid_is_told_when_the_table_rests_though_no_base_moves(tmp_path):
    with recorded(tmp_path) as (_, tap, live, record):
        after_one_frame(tap, live)
        live.referee.begin(live.snapshot().position, {"setup": True}, SHARED)
        until_kept(tap, live, record, "position")
        roll = seat_view(live.referee, SHARED)["actions"][0]["action"]
        live.referee.act(SHARED, roll | {"values": [2, 1]})
        pieces = live.snapshot().position.terrain[:2]
        laid = [
            {"id": f"new-{piece.id}", "kind": piece.kind, "outline_mm": piece.outline_mm}
            for piece in pieces
        ]
        live.referee.act(SHARED, {"type": "lay-terrain", "terrain": laid})
        until_kept(tap, live, record, "position", 2)
        assert entries(record, "move") == []
        ground = [[piece.id for piece in position.terrain] for position in positions(record)]
    assert ground[-1] == [each["id"] for each in laid] != ground[0]


def recording(folder, *, begins_with_moves):
    record = GameRecorder(partial(new_game_file, folder, FACTS))
    return Recording(record, demo_roster(), begins_with_moves=begins_with_moves), record


def test_over_a_real_table_a_recording_begins_when_a_hand_moves_something(tmp_path):
    told, record = recording(tmp_path, begins_with_moves=True)
    told.settle(table())
    assert record.path is None
    told.settle(moved(table(), "F1", 80.0))
    assert [entry.kind for entry in entries(record)] == ["position", "position", "move"]
    assert positions(record) == [table(), moved(table(), "F1", 80.0)]
    (move,) = entries(record, "move")
    assert move.document["path"] == [[0.0, 600.0, 300.0, 90.0], [0.0, 600.0, 380.0, 90.0]]


def test_over_a_simulated_table_it_waits_for_a_game(tmp_path):
    told, record = recording(tmp_path, begins_with_moves=False)
    told.settle(table())
    told.settle(moved(table(), "F1", 80.0))
    assert record.path is None
    record.begin_play({"format": "tablecam.play"})
    assert [entry.kind for entry in entries(record)] == ["position", "play"]
    assert positions(record) == [moved(table(), "F1", 80.0)]


def test_players_who_want_no_pictures_get_none(tmp_path):
    record = GameRecorder(partial(new_game_file, tmp_path, FACTS), pictures_mb=0.0)
    told, camera = Recording(record, demo_roster(), begins_with_moves=True), demo_camera()
    frame = SimulatedSource(embedded_demo(), camera, is_paced=False, look=PLAIN).read()
    told.start()
    for position in (table(), moved(table(), "F1", 80.0)):
        told.watch(Sight((), None, None, camera), frame)
        told.settle(position)
    told.close()
    assert len(entries(record, "position")) == 2
    assert entries(record, "picture") == []


def pictured(record):
    """The positions, counted from 0, with a picture of the whole table; and the number of moves."""
    numbers = [entry.number for entry in entries(record, "position")]
    shown = [entry.document["of"] for entry in entries(record, "picture")]
    return [numbers.index(of) for of in shown if of in numbers], len({*shown} - {*numbers})


def test_in_hasty_play_each_move_is_pictured_and_the_table_now_and_then_and_as_it_lies(tmp_path):
    told, record = recording(tmp_path, begins_with_moves=True)
    camera = demo_camera(960, 540)
    frame = SimulatedSource(embedded_demo(), camera, is_paced=False, look=PLAIN).read()

    def at(taken_at_s, ahead_mm=None):
        seen = replace(frame, taken_at_s=taken_at_s)
        told.watch(Sight((), None, None, camera), seen)
        if ahead_mm is not None:
            told.settle(moved(table(), "F1", ahead_mm))
        told.go_on()
        told.wait()

    told.start()
    for number in range(5):  # the first of them waits for the second, which begins the recording
        at(100.0 + number, 10.0 * number)
    assert pictured(record) == ([1], 4)
    at(110.9)
    assert pictured(record) == ([1], 4)
    at(111.1)
    assert pictured(record) == ([1, 4], 4)
    at(112.0, 60.0)
    assert pictured(record) == ([1, 4], 5)
    told.close()
    assert pictured(record) == ([1, 4, 5], 5)


def test_units_that_come_and_go_have_no_path(tmp_path):
    told, record = recording(tmp_path, begins_with_moves=True)
    whole = table()
    without = replace(whole, units=whole.units[1:])
    for each in (whole, without, whole):
        told.settle(each)
    assert positions(record) == [whole, without, whole]
    assert entries(record, "move") == []


def test_any_position_is_near_one_that_is_told_whole(tmp_path):
    told, record = recording(tmp_path, begins_with_moves=True)
    count = WHOLE_EVERY + 2
    wanted = [moved(table(), "F1", 10.0 * number) for number in range(count)]
    for each in wanted:
        told.settle(each)
    whole = ["whole" in entry.document for entry in entries(record, "position")]
    assert [place for place, is_whole in enumerate(whole) if is_whole] == [0, WHOLE_EVERY]
    assert positions(record) == wanted


def test_a_game_that_goes_on_tells_its_first_position_whole(tmp_path):
    told, record = recording(tmp_path, begins_with_moves=True)
    told.settle(table())
    told.settle(moved(table(), "F1", 80.0))
    record.close()
    again = GameRecorder(partial(new_game_file, tmp_path, FACTS), GameFile.open(record.path))
    Recording(again, demo_roster(), begins_with_moves=True).settle(moved(table(), "F1", 90.0))
    assert again.path == record.path
    assert "whole" in entries(again, "position")[-1].document
    assert positions(again)[-1] == moved(table(), "F1", 90.0)


def test_trouble_with_the_disk_is_said_to_players_and_noted_once_it_is_over(tmp_path):
    said = []
    folder = tmp_path / "games"
    folder.write_text("a file where the folder should be")
    record = GameRecorder(partial(new_game_file, folder, FACTS))
    told = Recording(record, demo_roster(), begins_with_moves=True, say=said.append)
    told.settle(table())
    told.settle(moved(table(), "F1", 80.0))
    record.add_pictures(NewEntry("picture", {"of": 2}, (Picture("table", bytes(9_000_000)),)))
    assert record.trouble.startswith("1 move and 2 positions are not on the disk: ")
    folder.unlink()
    told.settle(moved(table(), "F1", 90.0))
    assert record.trouble == ""
    told.go_on()
    (notice,) = entries(record, "notice")
    assert said == [notice.document["text"]]
    assert said[0].startswith("Everything is on the disk again")
    assert positions(record) == [
        table(),
        moved(table(), "F1", 80.0),
        moved(table(), "F1", 90.0),
    ]
    assert entries(record, "picture") == []  # pictures do not wait, as they would fill the memory
