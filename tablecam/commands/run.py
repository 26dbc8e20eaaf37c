"""`tablecam run`: watches a table with a camera and serves its page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import click

from tablecam.capture.open_source import open_reader, source_kind
from tablecam.capture.options import SourceOptions
from tablecam.capture.reader import PictureSize
from tablecam.commands.demo import serve_demo
from tablecam.commands.serving import GameOptions, game_options, game_record, page_options, serve
from tablecam.commands.source_options import (
    bases_option,
    is_simulated,
    required,
    source_options,
)
from tablecam.live.camera_choice import CameraChoice
from tablecam.record.atomic_files import disk_errors, replace_file
from tablecam.record.camera_file import read_camera_file
from tablecam.recorder.game_recorder import GameRecorder
from tablecam.rules.games import known_games
from tablecam.table.bases_file import with_bases
from tablecam.table.masks import masks_document, masks_path
from tablecam.table.model import Mask
from tablecam.table.table_file import read_table_file

_EXAMPLES = """\b
Examples:
  tablecam run --table table.toml --camera camera.json --open
  tablecam run --table table.toml --camera camera.json --source 1 --lan
  tablecam run --source simulated
"""


@click.command("run", epilog=_EXAMPLES)
@click.option("--table", "table_path", type=click.Path(path_type=Path), help="The table file.")
@click.option("--camera", "camera_path", type=click.Path(path_type=Path), help="The camera file.")
@bases_option
@source_options
@page_options
@game_options
def run(
    table_path: Path | None,
    camera_path: Path | None,
    bases_file_path: Path | None,
    source: str,
    options: SourceOptions,
    host: str,
    port: int,
    open_browser: bool,
    game: GameOptions,
) -> None:
    """Watch a table and serve its page.

    The source is a camera number, an rtsp:// or http:// address, a video, a picture, a folder of
    pictures, or `simulated`, which needs no table file and no camera file.
    """
    if is_simulated(source, {"--table": table_path, "--camera": camera_path}):
        serve_demo(host, port, game, None, bases_file_path, open_browser=open_browser)
        return
    # A table file that is missing or wrong is named before a camera file is asked for.
    table_path = required(table_path, "--table")
    roster = read_table_file(table_path, known_games())
    camera_path = required(camera_path, "--camera")
    roster = with_bases(roster, bases_file_path, camera_path)
    camera_file = read_camera_file(camera_path)
    size = PictureSize(camera_file.width_px, camera_file.height_px, camera_file.source)
    camera = camera_file.camera(roster.table_tags_mm)
    # The calibration holds only at this resolution.
    if options.resolution_px is None:
        options = replace(options, resolution_px=(size.width_px, size.height_px))
    kind = source_kind(source)
    if kind in ("camera", "stream"):
        click.echo(f"Opening the {kind} …", err=True)
    if kind == "picture":
        # A picture stays visible.
        options = replace(options, at_end="loop")
    with open_reader(source, options, expected_size=size) as reader:
        serve(
            reader,
            camera,
            roster,
            host=host,
            port=port,
            open_browser=open_browser,
            game=game,
            record=_record(game, roster.game, table_path, camera_path),
            cameras=CameraChoice.of(reader, source, options),
            keep_masks=partial(_keep_masks, masks_path(table_path)),
        )


def _record(options: GameOptions, game: str, table_path: Path, camera_path: Path) -> GameRecorder:
    table_file = table_path.read_text(encoding="utf-8-sig")
    return game_record(options, game, table_file, camera_path.read_text(encoding="utf-8-sig"))


def _keep_masks(path: Path, masks: Sequence[Mask]) -> None:
    with disk_errors(str(path), "cannot be written"):
        replace_file(path, masks_document(masks).encode())
