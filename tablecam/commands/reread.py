"""`tablecam reread`: makes recordings from videos of games."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Final, Protocol

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

from tablecam.commands.source_options import NumberIn, bases_option
from tablecam.errors import BadInput
from tablecam.record.camera_file import read_camera_file
from tablecam.recorder.picture_budget import DEFAULT_MB
from tablecam.recorder.rereading import RereadResult, Task, progress_of, reread
from tablecam.rules.games import known_games
from tablecam.table.bases_file import with_bases
from tablecam.table.table_file import read_table_file

_PATH = click.Path(path_type=Path)
_REFRESH_S: Final = 0.25
_PATIENCE_S: Final = 10

_EXAMPLES = """\b
Examples:
  tablecam reread evening.mp4 --table table.toml --camera camera.json --out games
  tablecam reread 2025/*.mp4 --table table.toml --camera camera.json --out games \\
    --scheduler tcp://server:8786
"""


class _Future(Protocol):
    """A future result for a video, on this machine or on a cluster."""

    def done(self) -> bool: ...

    def result(self) -> Any: ...


@click.command("reread", epilog=_EXAMPLES)
@click.argument("videos", nargs=-1, required=True, type=_PATH)
@click.option("--table", "table_path", type=_PATH, required=True, help="The table file.")
@click.option("--camera", "camera_path", type=_PATH, required=True, help="The camera file.")
@bases_option
@click.option("--out", "folder", type=_PATH, required=True, help="Folder for the recordings.")
@click.option(
    "--scheduler",
    metavar="ADDRESS",
    help="Use a Dask cluster (tcp://host:8786); its workers must see the same files.",
)
@click.option(
    "--workers",
    type=click.IntRange(1),
    default=lambda: os.cpu_count() or 1,
    show_default="this machine's cores",
    help="Number of videos to read at once on this machine.",
)
@click.option(
    "--pictures",
    "pictures_mb",
    type=NumberIn(0),
    default=DEFAULT_MB,
    show_default=True,
    metavar="MB",
    help="Size limit for the pictures of three hours; 0 keeps none.",
)
@click.pass_context
def reread_command(
    context: click.Context,
    videos: tuple[Path, ...],
    table_path: Path,
    camera_path: Path,
    bases_file_path: Path | None,
    folder: Path,
    scheduler: str | None,
    workers: int,
    pictures_mb: float,
) -> None:
    """Make recordings from VIDEOS of games, many at once.

    Each video NAME becomes NAME.tablecam in the folder --out. The recording has every position at
    which the table settled, the moves and the pictures; you can replay, measure and export it.
    Finished videos are skipped, and interrupted ones continue where they stopped. A video that
    cannot be read does not stop the others.
    """
    _check(videos, table_path, camera_path, bases_file_path)
    # Absolute paths, because workers have their own working directories.
    tasks = [
        Task(
            video.absolute(),
            table_path.absolute(),
            camera_path.absolute(),
            folder.absolute(),
            pictures_mb,
            bases_file_path and bases_file_path.absolute(),
        )
        for video in videos
    ]
    make = (
        partial(_local_pool, workers=workers)
        if scheduler is None
        else partial(_dask_cluster, scheduler)
    )
    with make(tasks) as futures:
        results = _results(tasks, futures)
    for result in results:
        click.echo(_summary(result), err=bool(result.problem))
    if any(result.problem for result in results):
        context.exit(2)


def _check(
    videos: Sequence[Path], table_path: Path, camera_path: Path, bases_file_path: Path | None
) -> None:
    """Refuses files that no video could be read with, and videos of the same name."""
    with_bases(read_table_file(table_path, known_games()), bases_file_path, camera_path)
    read_camera_file(camera_path)
    # Each recording is named after its video.
    for stem, count in Counter(video.stem for video in videos).items():
        if count > 1:
            expected = f"expected videos with different names, got {count} named {stem}"
            raise BadInput("reread", f"{expected}: read them into separate folders")


@contextmanager
def _local_pool(tasks: Sequence[Task], *, workers: int) -> Iterator[list[_Future]]:
    """Reads the videos in processes on this machine."""
    # Spawned, not forked: a fork of a process with threads, such as OpenCV's, may hang.
    with ProcessPoolExecutor(min(workers, len(tasks)), get_context("spawn")) as pool:
        try:
            yield [pool.submit(reread, task) for task in tasks]
        except BaseException:
            # Without waiting, because each video resumes where it was left.
            pool.shutdown(wait=False, cancel_futures=True)
            raise


@contextmanager
def _dask_cluster(address: str, tasks: Sequence[Task]) -> Iterator[list[_Future]]:
    """Reads the videos on a Dask cluster."""
    try:
        from distributed import Client
    except ImportError:
        because = "a cluster needs another package: pip install 'tablecam[hall]'"
        raise BadInput("--scheduler", because) from None
    try:
        client: Any = Client(address, timeout=_PATIENCE_S, set_as_default=False)  # type: ignore[no-untyped-call] # it has no types
    except (OSError, ValueError) as error:
        because = " ".join(str(error).split())
        raise BadInput("--scheduler", f"cannot reach {address}: {because}") from None
    with client:
        # Not pure, or Dask would answer a second run from its cache.
        yield [client.submit(reread, task, pure=False) for task in tasks]


def _results(tasks: Sequence[Task], futures: Sequence[_Future]) -> list[RereadResult]:
    """Waits for all videos while a bar for each shows its progress."""
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.percentage:.0f} %"))
    with Progress(
        *columns, TimeRemainingColumn(), console=console, disable=not console.is_terminal
    ) as progress:
        bars = [progress.add_task(task.video.name, total=None) for task in tasks]
        while not all(future.done() for future in futures):
            for task, bar in zip(tasks, bars, strict=True):
                _show(progress, task, bar)
            time.sleep(_REFRESH_S)
    return [_result(task, future) for task, future in zip(tasks, futures, strict=True)]


def _show(progress: Progress, task: Task, bar: TaskID) -> None:
    mark = progress_of(task)
    if mark is not None:
        progress.update(bar, completed=mark.read_s, total=mark.length_s or None)


def _result(task: Task, future: _Future) -> RereadResult:
    """Returns a video's result; a worker that died is a problem of that video alone."""
    try:
        reread_result: RereadResult = future.result()
    # Anything that ends a process or a cluster's worker.
    except Exception as error:
        return RereadResult(task.video, task.recording, problem=f"{task.video}: {error!r}")
    return reread_result


def _summary(result: RereadResult) -> str:
    if result.problem:
        return result.problem
    hint = ", already done" if result.was_done_before else ""
    return f"{result.recording}: {result.positions} positions{hint}"
