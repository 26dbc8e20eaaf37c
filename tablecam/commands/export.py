"""`tablecam export`: a recording handed on, as lines for programs, a report for friends, ..."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Final

import click

from tablecam.commands.new_files import STANDARD_OUTPUT, check_new, write_lines
from tablecam.commands.progress import with_progress
from tablecam.errors import BadInput
from tablecam.record.entries import Json
from tablecam.record.game_file import GameFile
from tablecam.replay.copies import batched, copy_of
from tablecam.replay.lines import lines_of
from tablecam.replay.moment import position_at
from tablecam.replay.report import Report
from tablecam.table.position_file import position_to_json
from web.page_file import addresses, page_of

_PATH = click.Path(path_type=Path)
_MOST_NAMED: Final = 12
"""So many entries with positions are named where another was asked for."""

_EXAMPLES = """\b
Examples:
  tablecam export evening.tablecam --html evening.html
  tablecam export evening.tablecam --text report.md
  tablecam export evening.tablecam --jsonl evening.jsonl --pictures
  tablecam export evening.tablecam --position 57 > position.json
"""


@click.command("export", epilog=_EXAMPLES)
@click.argument("path", metavar="FILE", type=_PATH)
@click.option("--jsonl", "jsonl_path", metavar="OUT", type=_PATH, help="Every entry, a line each.")
@click.option(
    "--html", "html_path", metavar="OUT", type=_PATH, help="A page that plays it in any browser."
)
@click.option(
    "--pictures", "has_pictures", is_flag=True, help="With pictures in the lines or the page."
)
@click.option(
    "--text", "text_path", metavar="OUT", type=_PATH, help="A battle report, a map each round."
)
@click.option(
    "--position",
    "number",
    type=int,
    metavar="N",
    help="Print what lay on the table at entry N: a position for `tablecam rulings`.",
)
def export(
    path: Path,
    jsonl_path: Path | None,
    html_path: Path | None,
    has_pictures: bool,
    text_path: Path | None,
    number: int | None,
) -> None:
    """Hand on a recorded game.

    FILE is a recording of `tablecam run` or `tablecam demo`; it may still be going on. OUT is a new
    file, or - for standard output; nothing is written over. `tablecam import` makes the same
    recording again of --jsonl.
    """
    position_out = None if number is None else STANDARD_OUTPUT
    outputs = {
        "--jsonl": jsonl_path,
        "--html": html_path,
        "--text": text_path,
        "--position": position_out,
    }
    if not any(outputs.values()):
        raise BadInput("export", f"expected what to export: {', '.join(outputs)}")
    if has_pictures and jsonl_path is None and html_path is None:
        raise BadInput("--pictures", "expected it with --jsonl or --html")
    check_new(outputs)
    recorded = GameFile.open(path, read_only=True)
    if jsonl_path is not None:
        copy = copy_of(recorded, pictures=has_pictures)
        write_lines(jsonl_path, with_progress(lines_of(copy), copy.last + 1, "writing lines"))
    if html_path is not None:
        write_lines(html_path, [_page(recorded, has_pictures)])
    if text_path is not None:
        write_lines(text_path, _report(recorded))
    if number is not None:
        click.echo(json.dumps(_position(recorded, number), indent=1))


def _page(recorded: GameFile, has_pictures: bool) -> str:
    if not has_pictures:
        return page_of(recorded)
    count = sum(len(entry.pictures) for entry in recorded.entries())
    return page_of(recorded, with_progress(addresses(recorded), count, "reading pictures"))


def _report(recorded: GameFile) -> Iterator[str]:
    last = recorded.last()
    report = Report(recorded.facts(), recorded.name)
    for entry in with_progress(batched(recorded, last), last, "writing a report"):
        report.add(entry)
    yield from report.lines()


def _position(recorded: GameFile, number: int) -> Json:
    """What lay on the table at an entry; of a dispute, what it was asked of."""
    last = recorded.last()
    known = [each.number for each in recorded.entries("position", "play", "dispute")]
    if not known or not known[0] <= number <= last:
        raise BadInput("--position", f"{_expected(known, last)}, got {number}")
    (entry,) = recorded.entries(after=number - 1, up_to=number)
    if entry.kind == "dispute":
        asked: Json = entry.document["position"]
        return asked
    return position_to_json(position_at(recorded, number))


def _expected(known: list[int], last: int) -> str:
    if not known:
        return "expected a recording with positions"
    named = ", ".join(map(str, islice(known, _MOST_NAMED)))
    more = f" and {len(known) - _MOST_NAMED} more" if len(known) > _MOST_NAMED else ""
    return f"expected an entry from {known[0]} to {last}, with new positions at {named}{more}"
