"""`tablecam import`: recreates a recording from its JSON lines or from a text in a message."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import click

from tablecam.commands.progress import with_progress
from tablecam.errors import BadInput
from tablecam.record.atomic_files import disk_errors
from tablecam.record.game_file import GameFile
from tablecam.replay.exchange_file import copy_from_file

_PATH = click.Path(path_type=Path)

_EXAMPLES = """\b
Examples:
  tablecam import evening.jsonl --out evening.tablecam
  tablecam import message.txt --out from-anna.tablecam
"""


@click.command("import", epilog=_EXAMPLES)
@click.argument("lines_path", metavar="LINES", type=_PATH)
@click.option(
    "--out", "out_path", metavar="FILE", type=_PATH, required=True, help="The recording to write."
)
def import_(lines_path: Path, out_path: Path) -> None:
    """Restore a recording from exported lines or a message.

    LINES is a file from `tablecam export --jsonl`, or a message with a game as text; - reads
    standard input. FILE is written completely or not at all; existing files are never overwritten.
    """
    source = "standard input" if str(lines_path) == "-" else str(lines_path)
    with _opened(lines_path) as file:
        copy = copy_from_file(file, source)
        entries = with_progress(copy.entries, copy.last, "importing")
        GameFile.create(out_path, copy.facts, entries, copy.written_by)
    click.echo(f"imported {copy.last} entries into {out_path}", err=True)


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    if str(path) == "-":
        yield sys.stdin.buffer
        return
    if not path.exists():
        raise BadInput(str(path), "there is no such file")
    with disk_errors(str(path), "cannot be read"), path.open("rb") as file:
        yield file
