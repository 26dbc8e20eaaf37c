"""`tablecam export`: converts a recording to JSON lines, a page, a film, a report or a text."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Final

import click

from tablecam.commands.new_files import STANDARD_OUTPUT, check_new, write_lines
from tablecam.commands.progress import watched_as, with_progress
from tablecam.documents import Json
from tablecam.errors import BadInput
from tablecam.record.game_file import GameFile
from tablecam.record.journal import Journal
from tablecam.replay.copies import batched, copy_of
from tablecam.replay.filming import GIF, MP4, Format, write_film
from tablecam.replay.lines import lines_of
from tablecam.replay.moment import position_at
from tablecam.replay.report import Report
from tablecam.replay.scenes import Scene
from tablecam.replay.text_form import text_of
from tablecam.table.position_file import position_to_json
from web.page_file import addresses, page_lines

_PATH = click.Path(path_type=Path)
_MAX_LISTED: Final = 12
"""How many entries with positions an error lists."""

_FILMS: Final[Mapping[str, Format]] = {"--mp4": MP4, "--gif": GIF}
_WITH_PICTURES: Final = ("--jsonl", "--html", *_FILMS)

_EXAMPLES = """\b
Examples:
  tablecam export evening.tablecam --html evening.html
  tablecam export evening.tablecam --mp4 evening.mp4 --pictures
  tablecam export evening.tablecam --text report.md
  tablecam export evening.tablecam --jsonl evening.jsonl --pictures
  tablecam export evening.tablecam --position 57 > position.json
"""


@click.command("export", epilog=_EXAMPLES)
@click.argument("path", metavar="FILE", type=_PATH)
@click.option(
    "--jsonl", "jsonl_path", metavar="OUT", type=_PATH, help="Every entry as one line of JSON."
)
@click.option(
    "--html",
    "html_path",
    metavar="OUT",
    type=_PATH,
    help="A page that plays the game in any browser.",
)
@click.option(
    "--mp4", "mp4_path", metavar="OUT", type=_PATH, help="A film of the table from above."
)
@click.option("--gif", "gif_path", metavar="OUT", type=_PATH, help="The same film as a GIF.")
@click.option(
    "--pictures",
    "has_pictures",
    is_flag=True,
    help="Include the camera's pictures; in a film they replace the map.",
)
@click.option(
    "--text",
    "text_path",
    metavar="OUT",
    type=_PATH,
    help="A battle report with a map of each round.",
)
@click.option(
    "--message",
    "message_path",
    metavar="OUT",
    type=_PATH,
    help="The game as text to paste into a message.",
)
@click.option(
    "--position",
    "number",
    type=int,
    metavar="N",
    help="Print the position at entry N, for `tablecam rulings`.",
)
def export(
    path: Path,
    jsonl_path: Path | None,
    html_path: Path | None,
    mp4_path: Path | None,
    gif_path: Path | None,
    has_pictures: bool,
    text_path: Path | None,
    message_path: Path | None,
    number: int | None,
) -> None:
    """Export a recording as a page, film, report or text.

    FILE is a recording; its game may still be in progress. OUT is a new file, or - for standard
    output; existing files are never overwritten. `tablecam import` restores the recording from
    --jsonl or --message; a message carries no pictures.
    """
    # Printed, so it must not share standard output with another export.
    position_out = None if number is None else STANDARD_OUTPUT
    outputs = {
        "--jsonl": jsonl_path,
        "--html": html_path,
        "--mp4": mp4_path,
        "--gif": gif_path,
        "--text": text_path,
        "--message": message_path,
        "--position": position_out,
    }
    _check(outputs, has_pictures)
    recorded = GameFile.open(path, read_only=True)
    if jsonl_path is not None:
        copy = copy_of(recorded, pictures=has_pictures)
        write_lines(jsonl_path, with_progress(lines_of(copy), copy.last + 1, "writing lines"))
    if message_path is not None:
        write_lines(message_path, [text_of(recorded, watched_as("writing the message"))])
    if html_path is not None:
        write_lines(html_path, _page(recorded, has_pictures))
    for option, form in _FILMS.items():
        if (film_path := outputs[option]) is not None:
            watched = partial(_with_progress_of, option)
            write_film(recorded, film_path, form, photographs=has_pictures, watched=watched)
    if text_path is not None:
        write_lines(text_path, _report(recorded))
    if number is not None:
        click.echo(json.dumps(_position(recorded, number), indent=1))
    for out in outputs.values():
        if out not in (None, STANDARD_OUTPUT):
            click.echo(f"{out}: written", err=True)


def _check(outputs: Mapping[str, Path | None], has_pictures: bool) -> None:
    """Refuses contradictory options before anything is written."""
    if not any(outputs.values()):
        raise BadInput("export", f"expected what to export: {', '.join(outputs)}")
    if has_pictures and not any(outputs[option] for option in _WITH_PICTURES):
        expected = f"expected {', '.join(_WITH_PICTURES[:-1])} or {_WITH_PICTURES[-1]}"
        raise BadInput("--pictures", expected)
    for option in _FILMS:
        if outputs[option] == STANDARD_OUTPUT:
            expected = "expected a file, got standard output: a film cannot be written to it"
            raise BadInput(option, expected)
    check_new(outputs)


def _page(recorded: Journal, has_pictures: bool) -> Iterator[str]:
    watched = watched_as("writing the page")
    if not has_pictures:
        return page_lines(recorded, watched=watched)
    count = sum(len(entry.pictures) for entry in recorded.entries())
    pictures = with_progress(addresses(recorded), count, "writing pictures")
    return page_lines(recorded, pictures, watched)


def _with_progress_of(option: str, film_scenes: list[Scene]) -> Iterator[Scene]:
    return with_progress(film_scenes, len(film_scenes), f"filming {option.removeprefix('--')}")


def _report(recorded: Journal) -> Iterator[str]:
    last = recorded.last()
    report = Report(recorded.facts(), recorded.name)
    for entry in with_progress(batched(recorded, last), last, "writing a report"):
        report.add(entry)
    yield from report.lines()


def _position(recorded: Journal, number: int) -> Json:
    """Returns the position at an entry; for a dispute, the position in question."""
    last = recorded.last()
    numbers = [entry.number for entry in recorded.entries("position", "play", "dispute")]
    if not numbers or not numbers[0] <= number <= last:
        raise BadInput("--position", f"{_expected(numbers, last)}, got {number}")
    (entry,) = recorded.entries(after=number - 1, up_to=number)
    if entry.kind == "dispute":
        position: Json = entry.document["position"]
        return position
    return position_to_json(position_at(recorded, number))


def _expected(numbers: list[int], last: int) -> str:
    if not numbers:
        return "expected a recording with positions"
    listed = ", ".join(map(str, islice(numbers, _MAX_LISTED)))
    more = f" and {len(numbers) - _MAX_LISTED} more" if len(numbers) > _MAX_LISTED else ""
    return f"expected an entry from {numbers[0]} to {last}, with new positions at {listed}{more}"
