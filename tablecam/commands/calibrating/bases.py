"""`tablecam calibrate bases`: measures each tag's place on its base, in the printed jig."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

import click

from calibration.camera import Camera
from tablecam.capture.frame import Frame, Source
from tablecam.capture.open_source import open_reader, open_source, source_kind
from tablecam.capture.options import SourceOptions
from tablecam.capture.reader import PictureSize, Reader
from tablecam.commands.new_files import check_place
from tablecam.commands.source_options import (
    SIMULATED,
    bases_option,
    is_simulated,
    required,
    source_options,
)
from tablecam.errors import BadInput
from tablecam.live_calibration.bases import LAYINGS, BasesProgress, BasesWork
from tablecam.record.camera_file import read_camera_file
from tablecam.rules.games import known_games
from tablecam.simulate.demo import demo_camera, demo_roster
from tablecam.simulate.jig_source import SimulatedJig, glued_by_hand
from tablecam.table.bases_file import bases_path
from tablecam.table.roster import Roster
from tablecam.table.table_file import read_table_file
from tablecam.wording import counted

_FRAME_TIMEOUT_S = 0.5
_FILE = click.Path(path_type=Path)

_EXAMPLES = """\b
Examples:
  tablecam print --what jig --table table.toml --out jig.pdf
  tablecam calibrate bases --table table.toml --camera camera.json --source 0
  tablecam calibrate bases --source simulated
"""


@click.command("bases", epilog=_EXAMPLES)
@click.option("--table", "table_path", type=_FILE, help="The table file.")
@click.option("--camera", "camera_path", type=_FILE, help="The camera file.")
@bases_option
@click.option(
    "--layings",
    type=click.IntRange(1, 9),
    default=LAYINGS,
    show_default=True,
    help="How often to push each base into the corner.",
)
@source_options
def bases(
    table_path: Path | None,
    camera_path: Path | None,
    bases_file_path: Path | None,
    layings: int,
    source: str,
    options: SourceOptions,
) -> None:
    """Measure each base's tag position.

    Print the jig with `tablecam print --what jig`, tape it onto the table, and lay two rulers along
    its lines. Push each base into the corner until it beeps: once straight, and once turned by
    180°, which separates the tag's place from the base's size. The results go to bases.json; Ctrl-C
    ends, and a later run continues. In a folder of pictures, each shows one base in the corner.
    """
    roster, camera, options = _prepared(table_path, camera_path, source, options)
    path = bases_file_path or bases_path(camera_path or Path("camera.json"))
    check_place(path)
    work = BasesWork(camera, roster, path, wanted=layings)
    is_live = source == SIMULATED or source_kind(source) in ("camera", "stream")
    if is_live:
        click.echo("Push the first base into the corner. Ctrl-C ends.", err=True)
    with _frames(source, options, roster, camera) as frames:
        try:
            _learn(work, frames, is_live=is_live)
        except KeyboardInterrupt:
            click.echo("", err=True)
    _report(work, path)


def _learn(work: BasesWork, frames: Iterator[Frame], *, is_live: bool) -> None:
    """Prints each frame's news until all bases are done or the source ends."""
    for frame in frames:
        before = work.progress
        progress = work.see(frame, frame.taken_at_s)
        # For a finished source, the final report names the problem.
        if is_live and progress.problem and progress.problem != before.problem:
            click.echo(progress.problem + _unseen(progress), err=True)
        _say(progress, before)
        if progress.done == progress.total:
            return


def _unseen(progress: BasesProgress) -> str:
    tags = ", ".join(map(str, progress.missing))
    return f" (not seen: {tags})" if tags else ""


def _say(progress: BasesProgress, before: BasesProgress) -> None:
    """Prints what is new, and beeps for a laying that counts."""
    news = progress.news
    if news is None or news is before.news:
        return
    beep = "\a" if news.is_taken and sys.stderr.isatty() else ""
    done = f" [{progress.done} of {progress.total} done]" if news.is_taken else ""
    click.echo(f"{beep}{news.line}{done}", err=True)


def _report(work: BasesWork, path: Path) -> None:
    """Prints where the results are.

    Raises:
        BadInput: The sheet was not seen, or no base was pushed in.
        click.exceptions.Exit: The last laying of a base did not count, as already printed.
    """
    progress = work.progress
    if work.kept is not None:
        click.echo(f"The earlier file is now {work.kept}", err=True)
    if work.has_written:
        left = progress.total - progress.done
        more = f"; {counted(left, 'base')} left" if left else ""
        click.echo(f"{path}: {counted(len(progress.measured), 'base')} calibrated{more}", err=True)
    if work.unresolved:
        raise click.exceptions.Exit(2)
    if not work.has_written:
        got = progress.problem.removeprefix("jig: ") + _unseen(progress)
        raise BadInput("jig", got or "expected bases in the corner, got none")


def _prepared(
    table_path: Path | None, camera_path: Path | None, source: str, options: SourceOptions
) -> tuple[Roster, Camera, SourceOptions]:
    """Returns the table, its camera, and the options to open the source with."""
    if is_simulated(source, {"--table": table_path, "--camera": camera_path}):
        roster = glued_by_hand(demo_roster())
        return roster, demo_camera(table=roster.table), options
    table_path, camera_path = required(table_path, "--table"), required(camera_path, "--camera")
    roster = read_table_file(table_path, known_games())
    camera_file = read_camera_file(camera_path)
    if options.resolution_px is None:
        size_px = (camera_file.width_px, camera_file.height_px)
        options = replace(options, resolution_px=size_px)
    return roster, camera_file.camera(roster.table_tags_mm), options


@contextmanager
def _frames(
    source: str, options: SourceOptions, roster: Roster, camera: Camera
) -> Iterator[Iterator[Frame]]:
    """Opens a source; yields a camera's newest frames, or every frame of anything else."""
    kind = None if source == SIMULATED else source_kind(source)
    if kind in ("camera", "stream"):
        size = PictureSize(camera.lens.width_px, camera.lens.height_px)
        with open_reader(source, options, expected_size=size) as reader:
            yield _newest(reader)
        return
    factories = {SIMULATED: lambda _: SimulatedJig(roster, camera, is_paced=sys.stderr.isatty())}
    # Pictures taken one by one are not a film.
    rate = options.frames_per_s or (None if kind == "video" else 1.0)
    options = replace(options, frames_per_s=rate, pace="fast")
    with closing(open_source(source, options, factories=factories)) as opened:
        yield _each(opened, camera)


def _newest(reader: Reader) -> Iterator[Frame]:
    number = -1
    while not reader.status.finished:
        frame = reader.newest(after=number, timeout_s=_FRAME_TIMEOUT_S)
        if frame is not None:
            number = frame.number
            yield frame


def _each(source: Source, camera: Camera) -> Iterator[Frame]:
    """Yields all pictures of a source.

    Raises:
        BadInput: A picture has another size than the camera's.
    """
    width_px, height_px = camera.lens.width_px, camera.lens.height_px
    while (frame := source.read()) is not None:
        if (frame.width_px, frame.height_px) != (width_px, height_px):
            raise BadInput(
                source.name,
                f"expected pictures of {width_px}x{height_px} px as in the camera file, got "
                f"{frame.width_px}x{frame.height_px}",
            )
        yield frame
