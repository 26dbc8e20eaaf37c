"""Makes recordings from plain videos of games, as a live table would have recorded them.

A video may take hours to read. Progress is saved beside the recording, which resumes from there
when the video is read again.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from contextlib import closing
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from calibration.errors import CalibrationError
from calibration.results import CameraFile
from tablecam.capture.clock import SystemClock
from tablecam.capture.frame import Frame
from tablecam.capture.video import VideoSource
from tablecam.documents import read_json
from tablecam.errors import BadInput
from tablecam.record.atomic_files import replace_file
from tablecam.record.camera_file import read_camera_file
from tablecam.record.entries import GameFacts
from tablecam.record.faults import readable_errors
from tablecam.record.game_file import SUFFIX, GameFile
from tablecam.record.journal import Journal
from tablecam.record.writer_lock import WriterLock
from tablecam.recorder.game_recorder import GameRecorder
from tablecam.recorder.picture_budget import DEFAULT_MB
from tablecam.recorder.recording import Recording
from tablecam.rules.games import known_games, with_formations
from tablecam.table.bases_file import with_bases
from tablecam.table.motion import TableMotion
from tablecam.table.roster import Roster
from tablecam.table.table_file import read_table_file
from tablecam.vision.tracking.position import position_of
from tablecam.vision.watching import Watching

log = logging.getLogger(__name__)

PER_S: Final = 10.0
"""How many pictures a second are read, as at a live table: a move by hand takes longer."""
_SAVE_PROGRESS_S: Final = 1.0
"""Seconds of video between two updates of the progress file."""


@dataclass(frozen=True, slots=True)
class Task:
    """A video to read, the files of its table, camera and bases, and the folder of the result."""

    video: Path
    table: Path
    camera: Path
    folder: Path
    pictures_mb: float = DEFAULT_MB
    bases: Path | None = None

    @property
    def recording(self) -> Path:
        """The recording that is made from the video."""
        return self.folder / f"{self.video.stem}{SUFFIX}"

    @property
    def mark(self) -> Path:
        """The progress file; it is removed once the video is read to its end."""
        return self.folder / f".{self.video.stem}.reading.json"


@dataclass(frozen=True, slots=True)
class ReadingProgress:
    """How far a video was read, and its length."""

    read_s: float
    length_s: float


@dataclass(frozen=True, slots=True)
class RereadResult:
    """The result for one video: `problem` says in one line why it was not read to its end."""

    video: Path
    recording: Path
    positions: int = 0
    was_done_before: bool = False
    problem: str = ""


def reread(task: Task) -> RereadResult:
    """Reads a video to its end from where it was left; returns any error, raises none."""
    try:
        return _reread(task)
    except (BadInput, CalibrationError) as error:
        return RereadResult(task.video, task.recording, problem=str(error))
    # One video of many must not stop the others.
    except Exception as error:
        log.exception("%s could not be read", task.video)
        return RereadResult(task.video, task.recording, problem=f"{task.video}: {error!r}")


def progress_of(task: Task) -> ReadingProgress | None:
    """Returns how far a video was read; None if it was not begun or is read to its end."""
    try:
        return ReadingProgress(**read_json(task.mark).data)
    except (BadInput, TypeError):
        return None


def _reread(task: Task) -> RereadResult:
    with readable_errors(str(task.folder), "cannot be written"):
        task.folder.mkdir(parents=True, exist_ok=True)
        # On the progress file's name, as the recording may not exist yet.
        lock = WriterLock.acquire(task.mark)
    if lock is None:
        raise BadInput(str(task.video), f"another tablecam is reading it into {task.folder}")
    try:
        return _reread_alone(task)
    finally:
        lock.release()


def _reread_alone(task: Task) -> RereadResult:
    before = progress_of(task)
    # Without a progress file it was read to its end.
    if task.recording.exists() and before is None:
        positions = _positions(GameFile.open(task.recording, read_only=True))
        return RereadResult(task.video, task.recording, positions, was_done_before=True)
    roster, camera_file = read_table_file(task.table, known_games()), read_camera_file(task.camera)
    roster = with_bases(roster, task.bases, task.camera)
    _check_size(task.video, camera_file)
    with closing(VideoSource(task.video, at_end="stop", clock=SystemClock())) as source:
        began_at = _began_at(task.video, source.length_s)
        file = _file(task, roster, began_at)
        _read(task, source, roster, camera_file, file, began_at, before)
    # Last: as long as it exists, an interrupted run is resumed.
    task.mark.unlink(missing_ok=True)
    return RereadResult(task.video, task.recording, _positions(file))


def _check_size(video: Path, camera_file: CameraFile) -> None:
    """Refuses a video of another camera before a recording is created."""
    with closing(VideoSource(video, at_end="stop", clock=SystemClock())) as source:
        first = source.read()
    if first is not None:
        camera_file.check_picture_size(first.width_px, first.height_px, str(video))


def _positions(journal: Journal) -> int:
    return len(journal.entries("position"))


def _file(task: Task, roster: Roster, began_at: datetime) -> GameFile:
    """Opens the recording to resume, or creates a new one."""
    table_file, camera_file = (
        path.read_text(encoding="utf-8-sig") for path in (task.table, task.camera)
    )
    facts = GameFacts(roster.game, table_file, began_at, camera_file)
    if task.recording.exists():
        file = GameFile.open(task.recording)
        _check_same(file, facts)
        return file
    # First: a recording without a progress file counts as complete.
    _save_progress(task, ReadingProgress(0.0, 0.0))
    return GameFile.create(task.recording, facts)


def _check_same(file: GameFile, facts: GameFacts) -> None:
    """Refuses to resume a recording that was begun with other table or camera files."""
    before = file.facts()
    if (before.table_file, before.camera_file) != (facts.table_file, facts.camera_file):
        expected = "expected the table and camera files that the recording was begun with"
        raise BadInput(file.name, f"{expected}: delete it to start over")


def _read(
    task: Task,
    source: VideoSource,
    roster: Roster,
    camera_file: CameraFile,
    file: GameFile,
    began_at: datetime,
    before: ReadingProgress | None,
) -> None:
    """Reads the pictures of a video as a live table does, and records the same."""
    clock = _VideoClock(began_at)
    record = GameRecorder(lambda: file, file, pictures_mb=task.pictures_mb, now=clock.now)
    recording = Recording(record, roster, begins_with_moves=True)
    watching = Watching(camera_file.camera(roster.table_tags_mm), roster)
    motion = TableMotion()
    saved_s = from_s = before.read_s if before else 0.0
    recording.start()
    with closing(recording):
        for at_s, frame in _frames(source, from_s):
            camera_file.check_picture_size(frame.width_px, frame.height_px, str(task.video))
            clock.at_s = at_s
            sight = watching.see(frame, frame.taken_at_s)
            recording.watch(sight, frame)
            position = position_of(sight.bases, roster, camera_file.name)
            if (settled := motion.see(position, frame.taken_at_s)) is not None:
                recording.settle(with_formations(settled, roster), clock.now())
                # Reading outruns the encoder, which drops pictures when its queue is full.
                recording.wait()
            if at_s - saved_s >= _SAVE_PROGRESS_S:
                recording.go_on()
                # Stop before the progress file moves past what was not written.
                _check_written(record)
                saved_s = at_s
                _save_progress(task, ReadingProgress(at_s, source.length_s))
    _check_written(record)


@dataclass(slots=True)
class _VideoClock:
    """The time at which the current picture of a video was taken."""

    began_at: datetime
    at_s: float = 0.0

    def now(self) -> datetime:
        return self.began_at + timedelta(seconds=self.at_s)


def _frames(source: VideoSource, from_s: float) -> Iterator[tuple[float, Frame]]:
    """Yields the pictures to read, with their times in the video."""
    next_s = from_s
    while (frame := source.read()) is not None:
        at_s = frame.number / source.frames_per_s
        # Rounding must not skip a picture.
        if at_s >= next_s - 1e-9:
            next_s = at_s + 1 / PER_S if source.frames_per_s > PER_S else at_s
            yield at_s, frame


def _began_at(video: Path, length_s: float) -> datetime:
    """Returns when a video began: its file was last modified when it ended."""
    ended_at = datetime.fromtimestamp(video.stat().st_mtime, UTC).astimezone()
    return ended_at - timedelta(seconds=length_s)


def _check_written(record: GameRecorder) -> None:
    """Fails with a clear message if the disk is full; the mark says where to resume."""
    if record.trouble:
        raise BadInput("recording", record.trouble)


def _save_progress(task: Task, mark: ReadingProgress) -> None:
    """Saves how far a video was read, atomically."""
    replace_file(task.mark, json.dumps(asdict(mark)).encode())
