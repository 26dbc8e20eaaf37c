"""`tablecam replay`: prints a recorded game, checks it by the rules, repairs it or plays it."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path

import click

import tablecam
from tablecam.commands.outputs import output_console
from tablecam.commands.progress import with_progress
from tablecam.commands.serving import is_this_machine, page_options
from tablecam.errors import BadInput
from tablecam.harmless import harmless
from tablecam.record.digests import Verification
from tablecam.record.entries import Entry
from tablecam.record.game_file import GameFile
from tablecam.record.journal import Journal
from tablecam.replay.check import CheckResult, RecordingCheck
from tablecam.replay.copies import batched
from tablecam.replay.log import Log
from tablecam.replay.repair import pages_of, repaired
from tablecam.replay.repair import verified as verified_file
from tablecam.replay.terminal_report import head, print_log
from tablecam.rules.games import described
from tablecam.wording import counted
from web.application import create_replay
from web.server import Server
from web.streams import Streams

DIFFERS = 1
"""The exit code if a check finds a difference."""
_PATH = click.Path(path_type=Path)
_MAX_STREAMS = 1
"""The page polls for new entries; it opens no event stream."""
_COUNTED = (
    *("game", "action", "roll", "undo", "remark"),
    *("event", "state", "position", "ruling", "dispute"),
)

_EXAMPLES = """\b
Examples:
  tablecam replay evening.tablecam
  tablecam replay evening.tablecam --check
  tablecam replay evening.tablecam --page --open
  tablecam replay damaged.tablecam --repair saved.tablecam
"""


@click.command("replay", epilog=_EXAMPLES)
@click.argument("path", metavar="FILE", type=_PATH)
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.option("--check", "is_check", is_flag=True, help="Check the game against the rules.")
@click.option(
    "--repair",
    "repaired_path",
    metavar="OUT",
    type=_PATH,
    help="Write what is readable of FILE to a new recording.",
)
@click.option("--page", "is_page", is_flag=True, help="Play the game on a page, until Ctrl-C.")
@page_options
@click.pass_context
def replay(
    context: click.Context,
    path: Path,
    as_json: bool,
    is_check: bool,
    repaired_path: Path | None,
    is_page: bool,
    host: str,
    port: int,
    open_browser: bool,
) -> None:
    """Print, check, repair or play a recording.

    FILE is a recording; its game may still be in progress. Without options, prints the game round
    by round: moves, dice and their results, disputes, overrules. If the digests in FILE show that
    it was changed, the exit code is 1.

    --check runs every action, roll, ruling and dispute through the rules again. It reports the
    first difference and exits with 1, as it does if FILE was changed. Entries that differ only in
    drawing or wording are counted.

    --repair writes everything that is readable of a damaged FILE to a new recording, and reports
    what is lost. FILE itself never changes.

    --page plays FILE in a browser; --host, --port and --open apply only to this page.
    """
    if repaired_path is not None:
        if is_check or as_json or is_page:
            raise BadInput("--repair", "expected it alone, got other options too")
        _repair(path, repaired_path)
        return
    if is_page and (is_check or as_json):
        raise BadInput("--page", "expected it alone, got other options too")
    recorded = GameFile.open(path, read_only=True)
    verified = verified_file(recorded)
    if is_check:
        context.exit(_check(recorded, verified, as_json))
    for line in verified.lines():
        click.echo(harmless(line), err=True)
    if is_page:
        _serve(recorded, host, port, open_browser=open_browser)
        return
    _print_log(recorded, as_json)
    if verified.faults:
        context.exit(DIFFERS)


def _print_log(recorded: Journal, as_json: bool) -> None:
    facts, last = recorded.facts(), recorded.last()
    log, ended_at = Log(described(facts.game)), None
    for entry in _entries(recorded, last, "reading"):
        log.add(entry)
        ended_at = entry.at
    if as_json:
        about = {"id": facts.id, "game": facts.game, "started_at": facts.started_at.isoformat()}
        lines = [line.to_json() for line in log.lines]
        document = {"format": "tablecam.log", "version": 1} | about
        click.echo(json.dumps(document | {"entries": last, "lines": lines}, indent=1))
        return
    click.echo(head(facts, last, ended_at))
    print_log(facts, log.lines, output_console())


def _serve(recorded: Journal, host: str, port: int, *, open_browser: bool) -> None:
    # Visitors from the network must not see what only the file's owner may see.
    app = create_replay(recorded, is_own=is_this_machine(host))
    server = Server(app, host, port, streams=Streams(_MAX_STREAMS))
    address = server.network_address or server.address
    click.echo(f"Replay at {address}", err=True)
    click.echo("Press Ctrl-C to stop.", err=True)
    server.run(open_browser=open_browser)


def _repair(path: Path, repaired_path: Path) -> None:
    pages = pages_of(path)
    numbers = with_progress(range(1, pages.last + 1), pages.last, "reading pages")
    result = repaired((row for number in numbers for row in pages.rows(number)), str(path))
    entries = with_progress(result.copy.entries, result.copy.last, "writing")
    GameFile.create(repaired_path, result.copy.facts, entries, result.copy.written_by)
    for line in result.lines():
        click.echo(line)
    for line in _complaints(path):
        click.echo(harmless(line))


def _complaints(path: Path) -> Iterator[str]:
    """Yields the faults of a damaged file itself, whether or not anything is lost."""
    try:
        faults = verified_file(GameFile.open(path, read_only=True)).faults
    except BadInput as error:
        faults = [error.message]
    return (f"{path.name}: {fault}" for fault in faults)


def _check(recorded: Journal, verified: Verification, as_json: bool) -> int:
    facts, last = recorded.facts(), recorded.last()
    written_by = recorded.written_by()
    check = RecordingCheck(facts.game, recorded.name, written_by)
    began_s, played_s = time.monotonic(), 0.0
    for entry in _entries(recorded, last, "checking"):
        played_s = (entry.at - facts.started_at).total_seconds()
        if not check.entry(entry):
            break
    checked = check.checked
    if as_json:
        click.echo(json.dumps(_check_document(checked, verified, written_by), indent=1))
    else:
        # Whatever is wrong comes first.
        if verified.faults:
            _print_verified(verified)
        _print_check(checked, time.monotonic() - began_s, played_s, is_whole=not verified.faults)
        if not verified.faults:
            _print_verified(verified)
        _print_versions(checked, written_by)
    return DIFFERS if checked.fault is not None or verified.faults else 0


def _check_document(
    checked: CheckResult, verified: Verification, written_by: str
) -> dict[str, object]:
    fault = None if checked.fault is None else checked.fault.to_json()
    return {
        "holds": fault is None and not verified.faults,
        "digests": {
            "hold": not verified.faults,
            "entries": verified.entries,
            "faults": verified.faults,
        },
        "checked": {f"{noun}s": checked.counts[noun] for noun in _COUNTED},
        "difference": fault,
        "reworked": checked.reworked,
        "written_by": written_by,
        "checked_by": tablecam.__version__,
    }


def _print_verified(verified: Verification) -> None:
    if verified.entries and not verified.faults:
        click.echo(f"unchanged, by digest: {counted(verified.entries, 'entry')}")
    for line in verified.lines():
        click.echo(harmless(line))


def _print_check(checked: CheckResult, took_s: float, played_s: float, *, is_whole: bool) -> None:
    counts = [counted(checked.counts[noun], noun) for noun in _COUNTED if checked.counts[noun]]
    faster = f", {played_s / took_s:,.0f} times as fast as it was played" if took_s else ""
    if checked.fault is None:
        verdict = "everything agrees" if is_whole else "agrees with the rules"
        click.echo(f"{verdict}: {', '.join(counts) or 'nothing to check'}")
        click.echo(f"replayed in {took_s:.1f} s{faster}")
    else:
        click.echo(f"agreed up to there: {', '.join(counts) or 'nothing'}")
        click.echo(f"first difference: {harmless(str(checked.fault))}")


def _print_versions(checked: CheckResult, written_by: str) -> None:
    """Prints the version that recorded the game, if another, and how many entries are reworked."""
    is_own = written_by == tablecam.__version__
    if not is_own:
        ours = f"this is {tablecam.__version__}"
        click.echo(f"recorded by tablecam {harmless(written_by) or 'unknown'}; {ours}")
    if checked.reworked:
        entries = f"{counted(checked.reworked, 'entry')} {'is' if checked.reworked == 1 else 'are'}"
        how = "drawn differently" if is_own else "drawn or worded differently"
        click.echo(f"{entries} now {how}; the rulings are the same")


def _entries(recorded: Journal, last: int, what: str) -> Iterator[Entry]:
    return with_progress(batched(recorded, last), last, what)
