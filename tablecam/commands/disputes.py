"""`tablecam disputes`: lists a game's disputes and writes their pictures."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import click

from tablecam.documents import Json
from tablecam.errors import BadInput
from tablecam.record import disputes as record_disputes
from tablecam.record.game_file import GameFile
from tablecam.replay.log import answer_words
from tablecam.rules.games import described

_PATH = click.Path(path_type=Path)


_EXAMPLES = """\b
Examples:
  tablecam disputes evening.tablecam
  tablecam disputes evening.tablecam --pictures proofs
  tablecam disputes evening.tablecam --position 2 > position.json
"""


@click.command("disputes", epilog=_EXAMPLES)
@click.argument("path", metavar="FILE", type=_PATH)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.option(
    "--pictures",
    "pictures_folder",
    type=_PATH,
    help="Write the pictures of all disputes to this folder.",
)
@click.option(
    "--position",
    "number",
    type=click.IntRange(1),
    metavar="N",
    help="Print the position of dispute N, for `tablecam rulings`.",
)
def disputes(path: Path, as_json: bool, pictures_folder: Path | None, number: int | None) -> None:
    """List a game's disputes, with answers, margins and rules.

    FILE is a recording; its game may still be in progress.
    """
    game = GameFile.open(path, read_only=True)
    if as_json and number is not None:
        raise BadInput("--position", "expected no --json with it: each prints a document")
    if pictures_folder is not None:
        _write_pictures(game, pictures_folder)
    if number is not None:
        click.echo(json.dumps(record_disputes.dispute_position(game, number), indent=1))
    elif as_json:
        click.echo(json.dumps(_document(game), indent=1))
    else:
        for line in _lines(game):
            click.echo(line)


def _document(game: GameFile) -> Json:
    facts = game.facts()
    began = facts.started_at.isoformat()
    return {"game": facts.game, "started_at": began, "disputes": record_disputes.disputes(game)}


def _lines(game: GameFile) -> Iterator[str]:
    facts, asked = game.facts(), record_disputes.disputes(game)
    count = {0: "no disputes", 1: "1 dispute"}.get(len(asked), f"{len(asked)} disputes")
    title = described(facts.game).title or facts.game
    yield f"{title}, started {facts.started_at:%Y-%m-%d %H:%M}: {count}"
    for dispute in asked:
        at = datetime.fromisoformat(dispute["at"])
        yield f"\n{dispute['number']:>3}  {at:%H:%M:%S}  {dispute['question']['text']}"
        for line in _answer_lines(dispute):
            yield f"     {line}"


def _answer_lines(dispute: Json) -> Iterator[str]:
    """Yields the answer, its reason, and the reading chosen where the rulebook is unclear."""
    answer, line = dispute.get("answer"), dispute.get("line") or {}
    if answer:
        yield f"{answer_words(answer)} [{answer['rule']}]"
    if line:
        yield line["text"]
    if line.get("reading"):
        yield f"interpretation of {line['reading']['rule']}: {line['reading']['text']}"


def _write_pictures(game: GameFile, folder: Path) -> None:
    """Writes each dispute's two pictures; never overwrites other files."""
    written = 0
    for dispute in record_disputes.disputes(game):
        number = dispute["number"]
        for ending, is_plain in (("", False), ("-plain", True)):
            jpeg = _picture(game, number, plain=is_plain)
            if jpeg is not None:
                _write(folder / f"{game.path.stem}-dispute-{number}{ending}.jpg", jpeg)
                written += 1
    click.echo(f"wrote {written} pictures to {folder}", err=True)


def _picture(game: GameFile, number: int, *, plain: bool) -> bytes | None:
    """Returns a dispute's picture; None if it has none."""
    try:
        return record_disputes.dispute_picture(game, number, plain=plain)
    except BadInput:
        return None


def _write(path: Path, jpeg: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # The same picture may be written again, but never a different one.
        if not (path.exists() and path.read_bytes() == jpeg):
            with path.open("xb") as file:
                file.write(jpeg)
    except FileExistsError:
        raise BadInput(str(path), "a different file of this name already exists") from None
    except OSError as error:
        raise BadInput(str(path), f"cannot be written: {error.strerror}") from None
