"""Only one program writes to a recording: real processes, some of them killed."""

import subprocess
import sys

import pytest

from tablecam.record.writer_lock import WriterLock
from tests.patience import PATIENCE_S

HOLD = """
import sys, time
from pathlib import Path
from tablecam.record.writer_lock import WriterLock
lock = WriterLock.acquire(Path(sys.argv[1]))
print("taken" if lock else "refused", flush=True)
sys.stdin.read()
"""
COUNT = """
import sys
from pathlib import Path
from tablecam.record.writer_lock import WriterLock
path, counter = Path(sys.argv[1]), Path(sys.argv[2])
for _ in range(int(sys.argv[3])):
    while (lock := WriterLock.acquire(path)) is None:
        pass
    counter.write_text(str(int(counter.read_text()) + 1))
    lock.release()
"""


@pytest.fixture
def path(tmp_path):
    return tmp_path / "game.tablecam"


def another_program(path):
    return subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def test_a_second_holder_is_refused_until_the_first_lets_go(path):
    first = WriterLock.acquire(path)
    assert WriterLock.acquire(path) is None
    first.release()
    second = WriterLock.acquire(path)
    assert second is not None
    first.release()  # a second time, which lets nobody else in
    assert WriterLock.acquire(path) is None
    second.release()
    assert list(path.parent.iterdir()) == []


def test_another_program_is_refused_and_a_killed_one_leaves_no_lock(path):
    mine = WriterLock.acquire(path)
    with another_program(path) as refused:
        assert refused.stdout.readline() == "refused\n"
        refused.kill()
    mine.release()
    with another_program(path) as holder:
        assert holder.stdout.readline() == "taken\n"
        assert WriterLock.acquire(path) is None
        holder.kill()
    again = WriterLock.acquire(path)
    assert again is not None
    again.release()


def test_locks_of_two_recordings_are_two(path):
    locks = [WriterLock.acquire(path), WriterLock.acquire(path.with_name("other.tablecam"))]
    assert all(locks)
    for lock in locks:
        lock.release()


def test_where_there_can_be_no_lock_that_is_said(path):
    path.parent.joinpath("file").write_text("no folder")
    with pytest.raises(OSError, match="file"):
        WriterLock.acquire(path.parent / "file" / "game.tablecam")


def test_of_many_that_take_turns_none_is_ever_beside_another(path):
    counter, turns = path.with_name("counter"), 100
    counter.write_text("0")
    command = [sys.executable, "-c", COUNT, str(path), str(counter), str(turns)]
    programs = [subprocess.Popen(command) for _ in range(3)]
    try:
        assert [program.wait(timeout=PATIENCE_S) for program in programs] == [0, 0, 0]
    finally:
        for program in programs:
            program.kill()
    assert counter.read_text() == str(3 * turns)
    assert list(path.parent.iterdir()) == [counter]
