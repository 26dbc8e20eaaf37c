"""`tablecam calibrate`: finds the lens from board views, and the camera's pose from table tags."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

import click
from click.core import ParameterSource
from rich.console import Console
from rich.progress import track

from calibration.errors import CalibrationError
from calibration.extrinsics.table_pose import TableSearch, find_table
from calibration.extrinsics.table_tags import find_tags
from calibration.grey import to_grey
from calibration.intrinsics.board import BoardView, find_chessboard, find_lens_board
from calibration.intrinsics.coverage_picture import coverage_picture, png_bytes
from calibration.intrinsics.lens_from_views import check_sizes, choose_views, lens_from_views
from calibration.intrinsics.lens_progress import lens_progress
from calibration.results import CameraFile, Origin, TableCalibration, calibration_name
from tablecam.capture.options import SourceOptions
from tablecam.capture.picture import Image
from tablecam.capture.picture_files import picture_paths, read_picture
from tablecam.commands.calibrating.bases import bases
from tablecam.commands.calibrating.live import calibrate_live
from tablecam.commands.calibrating.report import (
    lens_document,
    print_document,
    print_lens,
    print_table,
    table_document,
)
from tablecam.commands.new_files import check_place
from tablecam.commands.serving import page_options
from tablecam.commands.source_options import NumberIn, source_options
from tablecam.errors import BadInput
from tablecam.record.camera_file import MOST_TITLE, back_up, read_camera_file, write_camera_file
from tablecam.rules.games import known_games
from tablecam.table.roster import Roster
from tablecam.table.table_file import read_table_file

_MIN_CORNERS_ACROSS = 3
_MAX_SIGMA_MM = 5.0
"""A worse table calibration is refused: even without a lens calibration, 0.5 to 1.2 mm is usual."""


_EXAMPLES = """\b
Examples:
  tablecam calibrate --live --source 0 --table table.toml
  tablecam calibrate lens views/ --out camera.json
  tablecam calibrate table empty.jpg --table table.toml --camera camera.json
  tablecam calibrate bases --table table.toml --camera camera.json
"""


def _title(_context: click.Context, _parameter: click.Parameter, text: str) -> str:
    """Checks the title of a calibration."""
    if len(text) > MOST_TITLE or not text.isprintable():
        raise click.BadParameter(f"expected one line of at most {MOST_TITLE} characters")
    return text.strip()


_name_option = click.option(
    "--name",
    "title",
    default="",
    callback=_title,
    help="What to call the calibration, such as 'club camera'.  [default: its source and the date]",
)


@click.group("calibrate", invoke_without_command=True, no_args_is_help=True, epilog=_EXAMPLES)
@click.option("--live", is_flag=True, help="Calibrate step by step on a page in the browser.")
@click.option(
    "--table",
    "table_path",
    type=click.Path(path_type=Path),
    help="The table file; without it, only the lens is calibrated.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path("camera.json"),
    show_default=True,
    help="The camera file to write; an existing one can be checked with a ruler.",
)
@_name_option
@source_options
@page_options
@click.pass_context
def calibrate(
    context: click.Context,
    *,
    live: bool,
    table_path: Path | None,
    out: Path,
    title: str,
    source: str,
    options: SourceOptions,
    host: str,
    port: int,
    open_browser: bool,
) -> None:
    """Calibrate the lens and locate the camera above the table.

    With --live, a page in the browser guides you: focus the lens, hold the board where the page
    says, clear the table, and check with a ruler. All options below belong to --live; the
    commands `lens` and `table` work on saved pictures, `bases` watches the printed jig; they have
    their own options.
    """
    if context.invoked_subcommand is not None:
        _refuse_own_options(context, context.invoked_subcommand)
        return
    if live:
        calibrate_live(
            source,
            options,
            table_path,
            out,
            title,
            host=host,
            port=port,
            open_browser=open_browser,
        )
    else:
        raise click.UsageError("expected --live, lens, table or bases, got none of them")


def _refuse_own_options(context: click.Context, subcommand: str) -> None:
    """Refuses options of --live before a subcommand, where they would have no effect."""
    if context.params["live"]:
        raise click.UsageError(f"expected --live or {subcommand}, got both")
    for name in context.params:
        # All options have values here, but only a typed one is a mistake.
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE:
            option = next(
                parameter.opts[0] for parameter in context.command.params if parameter.name == name
            )
            raise click.UsageError(
                f"{option} before `{subcommand}` belongs to --live: expected options of "
                f"`{subcommand}` after it"
            )


def _inner_corners(
    _context: click.Context, _parameter: click.Parameter, text: str | None
) -> tuple[int, int] | None:
    """Parses inner corners across and down from a text such as `9x6`."""
    if text is None:
        return None
    match = re.fullmatch(r"([0-9]{1,2})[xX]([0-9]{1,2})", text)
    corners = (int(match[1]), int(match[2])) if match else (0, 0)
    if min(corners) < _MIN_CORNERS_ACROSS:
        raise click.BadParameter(f"expected inner corners such as 9x6, 3x3 or more, got {text!r}")
    return corners


@calibrate.command("lens")
@click.argument("pictures", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--out", required=True, type=click.Path(path_type=Path), help="The camera file to write."
)
@click.option(
    "--chessboard",
    metavar="ACROSSxDOWN",
    callback=_inner_corners,
    help="The pictures show a plain chessboard with this many inner corners, such as 9x6.",
)
@click.option(
    "--square-mm",
    type=NumberIn(min=0, min_open=True),
    default=25.0,
    show_default=True,
    help="Side of the chessboard's squares; it does not affect the lens.",
)
@click.option(
    "--coverage",
    "coverage_path",
    type=click.Path(path_type=Path),
    help="Picture of the area that the views cover (.png).  [default: beside the camera file]",
)
@_name_option
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def lens(
    pictures: tuple[Path, ...],
    out: Path,
    chessboard: tuple[int, int] | None,
    square_mm: float,
    coverage_path: Path | None,
    title: str,
    *,
    as_json: bool,
) -> None:
    """Calibrate the lens from PICTURES of the lens board.

    PICTURES are files or folders. Print the board with `tablecam print --what board`, glue it onto
    something flat, and take a dozen sharp pictures: with the board in every part of the view, and
    tilted in different directions.
    """
    check_place(out)
    coverage_path = coverage_path or out.with_suffix(".coverage.png")
    check_place(coverage_path, ending=".png")
    views = _views(_expanded(pictures), chessboard, square_mm)
    chosen, rejected = choose_views(views)
    made_at = datetime.now(UTC)
    origin = Origin(made_at.isoformat(timespec="seconds"), tuple(view.name for view in chosen))
    search = lens_from_views(chosen, origin)
    # Views are left out both before the fit and by it.
    calibration, rejected = search.calibration, (*rejected, *search.rejected)
    progress = lens_progress(search.used, search)
    name = calibration_name(made_at, calibration)
    camera_file = CameraFile(
        name, calibration.lens.width_px, calibration.lens.height_px, calibration, title=title
    )
    coverage = png_bytes(coverage_picture(calibration, search.used))
    old_coverage = _write_keeping_old(coverage_path, coverage)
    # Last: a failure before it leaves the old one.
    old_file = write_camera_file(out, camera_file)
    if as_json:
        written = {"camera": out, "kept": old_file}
        written |= {"coverage": coverage_path, "kept_coverage": old_coverage}
        document = lens_document(
            calibration, rejected, progress, camera_file=camera_file, written=written
        )
        print_document(document)
        return
    print_lens(calibration, rejected, progress)
    _print_written(out, old_file)
    click.echo(f"{coverage_path}: shows which part of the picture the views cover", err=True)
    _print_kept(old_coverage)
    if old_file is not None:
        click.echo("A new lens needs a new table calibration: calibrate the table again.", err=True)
    step = f"tablecam calibrate table PICTURE --table table.toml --camera {out}"
    click.echo(f"Next, take a picture of the table tags and run: {step}", err=True)


@calibrate.command("table")
@click.argument("picture", type=click.Path(path_type=Path))
@click.option(
    "--table",
    "table_path",
    required=True,
    type=click.Path(path_type=Path),
    help="The table file.",
)
@click.option(
    "--camera",
    "camera_path",
    required=True,
    type=click.Path(path_type=Path),
    help="The camera file with the lens; if it does not exist, one without a lens is created.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="The camera file to write.  [default: the one of --camera]",
)
@_name_option
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def table(
    picture: Path,
    table_path: Path,
    camera_path: Path,
    out: Path | None,
    title: str,
    *,
    as_json: bool,
) -> None:
    """Locate the camera above the table, from a PICTURE of its tags."""
    out = out or camera_path
    check_place(out)
    roster = read_table_file(table_path, known_games())
    old_camera = read_camera_file(camera_path) if camera_path.exists() else None
    image = read_picture(picture)
    height_px, width_px = image.shape[:2]
    if old_camera is not None:
        old_camera.check_picture_size(width_px, height_px, str(picture))
    made_at = datetime.now(UTC)
    search = _table_search(image, picture, roster, old_camera, made_at)
    _check_agreement(search.calibration, picture, table_path)
    lens = None if old_camera is None else old_camera.lens
    results = (search.calibration,) if lens is None else (lens, search.calibration)
    name = calibration_name(made_at, *results)
    title = title or ("" if old_camera is None else old_camera.title)
    camera_file = CameraFile(name, width_px, height_px, lens, search.calibration, title=title)
    old_file = write_camera_file(out, camera_file)
    if as_json:
        written = {"camera": out, "kept": old_file}
        print_document(table_document(search, camera_file=camera_file, written=written))
        return
    print_table(search)
    _print_written(out, old_file)


def _check_agreement(calibration: TableCalibration, picture: Path, table_path: Path) -> None:
    """Refuses a calibration that is too uncertain to measure with."""
    if calibration.sigma_mm <= _MAX_SIGMA_MM:
        return
    worst = max(calibration.tags, key=lambda tag: tag.distance_mm)
    raise CalibrationError(
        f"{picture}: expected table tags where {table_path} lists them, but tag {worst.id} is "
        f"{worst.distance_mm:.0f} mm off: is this the right table file, and do the tags lie where "
        "it says?"
    )


def _table_search(
    image: Image, picture: Path, roster: Roster, old_camera: CameraFile | None, made_at: datetime
) -> TableSearch:
    lens = None if old_camera is None else old_camera.lens
    listed_mm = roster.table_tag_places_mm
    tags = find_tags(
        to_grey(image), roster.dictionary, listed_mm, None if lens is None else lens.lens
    )
    height_px, width_px = image.shape[:2]
    return find_table(
        tags,
        listed_mm,
        roster.table_tag_size_mm,
        picture_size_px=(width_px, height_px),
        lens=lens,
        origin=Origin(made_at.isoformat(timespec="seconds"), (picture.name,)),
        picture_name=str(picture),
    )


def _expanded(pictures: Sequence[Path]) -> tuple[Path, ...]:
    """Returns the named pictures and those in the named folders, each once."""
    paths: dict[Path, None] = {}
    # A picture may be named and lie in a named folder, too.
    for path in pictures:
        paths |= dict.fromkeys(picture_paths(path) if path.is_dir() else (path,))
    return tuple(paths)


def _views(
    paths: Sequence[Path], chessboard: tuple[int, int] | None, square_mm: float
) -> list[BoardView]:
    """Returns the board view of each picture.

    Raises:
        CalibrationError: A picture shows no board, or its size differs from the others'.
        BadInput: A picture cannot be read.
    """
    names = [path.name for path in paths]
    views: list[BoardView] = []
    boardless: list[str] = []
    console = Console(stderr=True)
    # Outside a terminal the bar would print an empty line before an error, which has one line.
    tracked_paths = track(
        paths,
        "Looking for the board",
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    for path in tracked_paths:
        # Two folders may hold pictures of the same name.
        name = path.name if names.count(path.name) == 1 else str(path)
        grey = to_grey(read_picture(path))
        try:
            views.append(_view(grey, name, chessboard, square_mm))
        except CalibrationError as error:
            boardless.append(str(error))
        else:
            # Checked as views come, to fail before minutes are spent on the others.
            check_sizes(views)
    if boardless:
        more = f" (and {len(boardless) - 1} more such pictures)" if len(boardless) > 1 else ""
        raise CalibrationError(boardless[0] + more)
    return views


def _view(
    grey: Image, name: str, chessboard: tuple[int, int] | None, square_mm: float
) -> BoardView:
    if chessboard is None:
        return find_lens_board(grey, name)
    return find_chessboard(grey, name, inner_corners=chessboard, square_mm=square_mm)


def _write_keeping_old(path: Path, content: bytes) -> Path | None:
    """Writes a file and returns where the old one was moved, as `write_camera_file` does."""
    try:
        old_path = back_up(path)
        path.write_bytes(content)
    except OSError as error:
        raise BadInput(str(path), f"cannot be written: {error.strerror}") from error
    return old_path


def _print_written(out: Path, old_path: Path | None) -> None:
    click.echo(f"{out}: written", err=True)
    _print_kept(old_path)


def _print_kept(old_path: Path | None) -> None:
    if old_path is not None:
        click.echo(f"{old_path}: backup of the previous file", err=True)


calibrate.add_command(bases)
