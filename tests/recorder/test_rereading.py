"""Videos of games are read into recordings: whole, in pieces, by others, with a bad one."""

import itertools
import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from datetime import UTC, datetime
from math import hypot

import pytest
from distributed import LocalCluster

from tablecam.cli import main
from tablecam.record.entries import GameFacts
from tablecam.record.game_file import GameFile
from tablecam.record.writer_lock import WriterLock
from tablecam.recorder.rereading import progress_of, reread
from tablecam.replay.moment import position_at
from tests.patience import comes_true, in_time
from tests.recorder.filmed import MOVED_AT, PER_S, UNIT, filmed


@pytest.fixture(scope="module")
def film(tmp_path_factory):
    return filmed(tmp_path_factory.mktemp("film"))


@pytest.fixture(scope="module")
def whole(film, tmp_path_factory):
    """The recording of the film, read in one go."""
    result = reread(film.task(tmp_path_factory.mktemp("whole")))
    assert result.problem == ""
    return result


def is_where_it_was_laid(recording, film):
    """Whether the moved unit is recorded at its true final place."""
    game = GameFile.open(recording, read_only=True)
    bases = position_at(game, game.last()).unit(UNIT).bases
    apart_mm = (
        hypot(base.x_mm - true.x_mm, base.y_mm - true.y_mm)
        for base, true in zip(bases, film.truth.unit(UNIT).bases, strict=True)
    )
    return max(apart_mm) < 0.5  # a filmed base is placed several times better


def test_a_film_becomes_a_recording_of_what_settled_and_what_moved(whole, film):
    game = GameFile.open(whole.recording, read_only=True)
    kinds = [entry.kind for entry in game.entries("position", "move")]
    assert kinds == ["position", "position", "move"]
    (move,) = game.entries("move")
    assert move.document["unit"] == UNIT
    assert is_where_it_was_laid(whole.recording, film)


def test_entries_have_the_times_of_the_film(whole):
    game = GameFile.open(whole.recording, read_only=True)
    began_at = game.facts().started_at
    still, moved = ((entry.at - began_at).total_seconds() for entry in game.entries("position"))
    assert 0 < still < MOVED_AT / PER_S < moved < 4.8


def test_there_are_pictures_of_the_table_before_and_after(whole):
    game = GameFile.open(whole.recording, read_only=True)
    kinds = [kind for entry in game.entries("picture") for kind in entry.pictures]
    assert sorted(kinds) == ["after", "before", "table", "table"]


def test_what_was_read_is_not_read_again(whole, film):
    before = whole.recording.read_bytes()
    again = reread(film.task(whole.recording.parent))
    assert again.was_done_before
    assert again.positions == whole.positions == 2
    assert whole.recording.read_bytes() == before


def is_killed_in_the_middle(film, task, after_s):
    """Have a film read, and kill the process once `after_s` are read; it may be done by then."""
    files = ["--table", film.table, "--camera", film.camera, "--out", task.folder]
    read = [sys.executable, "-m", "tablecam", "reread", film.video, *files, "--workers", 1]
    with subprocess.Popen(list(map(str, read)), start_new_session=True) as process:
        comes_true(lambda: process.poll() is not None or has_read(task, after_s))
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    comes_true(lambda: is_left_alone(task))  # its workers end a moment later
    return process.returncode == -signal.SIGKILL and progress_of(task) is not None


def has_read(task, length_s):
    mark = progress_of(task)
    return mark is not None and mark.read_s >= length_s


def is_left_alone(task):
    """Whether no program reads a film any more."""
    lock = WriterLock.acquire(task.mark)
    if lock is not None:
        lock.release()
    return lock is not None


@pytest.mark.skipif(os.name != "posix", reason="Windows has no groups of processes to kill")
@pytest.mark.parametrize("after_s", [1.0, 3.0])
def test_a_film_whose_reading_is_killed_is_read_on_from_there(film, tmp_path, after_s):
    folders = (tmp_path / str(number) for number in itertools.count())
    tasks = (film.task(next(folders)) for _ in in_time())
    task = next(task for task in tasks if is_killed_in_the_middle(film, task, after_s))
    result = reread(task)
    assert (result.problem, result.was_done_before) == ("", False)
    assert progress_of(task) is None
    assert is_where_it_was_laid(task.recording, film)
    times = [entry.at for entry in GameFile.open(task.recording).entries("position")]
    assert times == sorted(times)


def command(film, folder, *videos, **options):
    named = [part for key, value in options.items() for part in (f"--{key}", str(value))]
    files = ["--table", film.table, "--camera", film.camera, "--out", folder]
    return main(["reread", *map(str, [*videos, *files]), *named])


def test_one_bad_video_does_not_stop_the_rest(film, tmp_path, capsys):
    bad, missing = tmp_path / "bad.mp4", tmp_path / "missing.mp4"
    bad.write_bytes(b"this is no film")
    assert command(film, tmp_path / "out", bad, missing, film.video, workers=1) == 2
    said = capsys.readouterr()
    assert set(said.err.strip().splitlines()) == {
        f"{bad}: cannot be read as a video or a picture",
        f"{missing}: there is no such file",
    }
    assert "film.tablecam: 2 positions" in said.out
    assert is_where_it_was_laid(tmp_path / "out" / "film.tablecam", film)


def test_a_film_of_another_camera_is_named(film, tmp_path, capsys):
    other = tmp_path / "other.json"
    document = json.loads(film.camera.read_text()) | {"width_px": 1280, "height_px": 720}
    other.write_text(json.dumps(document))
    options = ("--table", film.table, "--camera", other, "--out", tmp_path, "--workers", 1)
    assert main(["reread", str(film.video), *map(str, options)]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "film.mp4" in said or "other.json" in said
    assert not (tmp_path / "film.tablecam").exists()  # the right camera may come next


def test_a_film_that_another_program_reads_is_left_to_it(film, tmp_path):
    task = film.task(tmp_path / "out")
    task.folder.mkdir()
    lock = WriterLock.acquire(task.mark)
    assert "another tablecam is reading it" in reread(task).problem
    assert not task.recording.exists()
    lock.release()


def test_a_recording_is_not_gone_on_with_by_another_table_file(film, tmp_path):
    task = film.task(tmp_path)
    facts = GameFacts("maurice-lite", "another table", datetime.now(UTC), "{}")
    begun = GameFile.create(task.recording, facts)
    task.mark.write_text('{"read_s": 1.0, "length_s": 4.8}')
    problem = reread(task).problem
    assert problem.startswith(str(task.recording))
    assert "the table and camera files that the recording was begun with" in problem
    assert begun.last() == 0


def test_two_films_of_one_name_are_refused_before_anything_is_read(film, tmp_path, capsys):
    assert command(film, tmp_path, film.video, tmp_path / "film.mp4") == 2
    assert "got 2 named film" in capsys.readouterr().err


def test_a_cluster_of_two_workers_reads_two_films_at_once(film, tmp_path):
    other = tmp_path / "other.mp4"
    other.write_bytes(film.video.read_bytes())
    out = tmp_path / "out"
    with LocalCluster(
        n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address="127.0.0.1:0"
    ) as cluster:
        address = cluster.scheduler_address
        assert command(film, out, film.video, other, scheduler=address) == 0
    assert is_where_it_was_laid(out / "film.tablecam", film)
    assert is_where_it_was_laid(out / "other.tablecam", film)


def test_a_cluster_that_is_not_there_is_named(film, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("tablecam.commands.reread._PATIENCE_S", 1)
    assert command(film, tmp_path, film.video, scheduler="tcp://127.0.0.1:9") == 2
    said = capsys.readouterr().err
    assert "cannot reach tcp://127.0.0.1:9" in said
    assert said.count("\n") == 1
