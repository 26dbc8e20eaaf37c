"""Prints a recorded game's log in a terminal: rounds, times, dice, undone actions struck out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from typing import Final

import click
from rich.console import Console
from rich.text import Text

from tablecam.harmless import harmless
from tablecam.record.entries import GameFacts
from tablecam.replay.log import LogLine
from tablecam.replay.words import duration
from tablecam.rules.games import described
from tablecam.wording import counted

_LEFT_WIDTH: Final = 16
"""Width of the time and the entry's number."""
_STYLES: Final = {
    "phase": "bold",
    "loss": "red",
    "over": "bold green",
    "overrule": "yellow",
    "dispute": "magenta",
    "notice": "yellow",
    "undo": "yellow",
    "move": "dim",
    "ruling": "dim",
}
"""By kind of moment, or else of line; any other is plain."""
_HEADING_KINDS: Final = ("play", "turn")
"""Kinds of moments, or else of lines, that are headings."""
_UNDONE: Final = "taken back"


def head(facts: GameFacts, last: int, ended_at: datetime | None) -> str:
    """Returns the recording in one line."""
    took = "" if ended_at is None else f" in {duration(facts.started_at, ended_at)}"
    entries = counted(last, "entry") if last else "no entries"
    game = described(facts.game).title or facts.game
    return f"{game}, started {facts.started_at:%Y-%m-%d %H:%M}: {entries}{took}"


def print_log(facts: GameFacts, lines: Iterable[LogLine], console: Console) -> None:
    """Prints the log; each entry's time and number stand beside its first line."""
    before: LogLine | None = None
    moments = described(facts.game).moments
    for line in map(_harmless, lines):
        kind = moments.get(line.kind, line.kind)
        if kind in _HEADING_KINDS:
            _print_part(facts, line, console)
        else:
            is_new = before is None or before.entry != line.entry
            for text in _lines(line, _STYLES.get(kind, ""), is_new, console.width):
                _print(console, text)
        before = line


def _harmless(line: LogLine) -> LogLine:
    """Returns a line without control sequences, as players may have written it."""
    return replace(line, text=harmless(line.text), note=harmless(line.note))


def _print_part(facts: GameFacts, line: LogLine, console: Console) -> None:
    when = f"{line.at:%H:%M}, {duration(facts.started_at, line.at)} in"
    rule = "--" if console.options.ascii_only else "──"
    parts = [line.text, when, *([_UNDONE] if line.is_undone else [])]
    text = f" {rule} ".join(("", *parts, "")).strip()
    click.echo()
    _print(console, Text(text, style="strike dim" if line.is_undone else "bold cyan"))


def _print(console: Console, text: Text) -> None:
    """Prints by click, which handles terminals and files without the full character set."""
    with console.capture() as printed:
        console.print(text)
    click.echo(printed.get(), nl=False)


def _lines(line: LogLine, style: str, is_new: bool, width: int) -> Iterator[Text]:
    left = f"{line.at:%H:%M:%S} {line.entry:>6} " if is_new else ""
    text = Text(line.text, style=style)
    for annotation, its_style in _annotations(line):
        text.append(f"  {annotation}", style=its_style)
    if line.is_undone:
        text.stylize("strike dim")
        text = Text.assemble((f"{_UNDONE}: ", "dim"), text)
    # However narrow the window is, a few words must fit on a row.
    rows = text.wrap(Console(width=width), max(width - _LEFT_WIDTH, 30))
    for number, row in enumerate(rows):
        row.rstrip()
        yield Text.assemble(((left if not number else "").ljust(_LEFT_WIDTH), "dim"), row)


def _annotations(line: LogLine) -> Iterator[tuple[str, str]]:
    if line.dice:
        yield f"[{' '.join(map(str, line.dice))}]", "bold"
    if line.note:
        yield f"({line.note})", "italic"
    if line.rule:
        yield f"[{line.rule}]", "dim"
