"""The command line: registers all commands, and reports their errors in one line."""

from __future__ import annotations

import importlib
import logging
import sys
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

import click

import tablecam
from calibration.errors import CalibrationError
from tablecam.errors import BadInput
from tablecam.harmless import harmless
from tablecam.wording import nearest, quoted

log = logging.getLogger(__name__)

BAD_INPUT = 2


class Entry(NamedTuple):
    """Where a command is found, and its line in the list of all commands."""

    function: str
    summary: str


COMMANDS: Mapping[str, Entry] = MappingProxyType(
    {
        "demo": Entry("demo.demo", "Run a simulated game; needs no camera and no files."),
        "check": Entry("check.check", "List all that is wrong, missing or odd in each FILE."),
        "plan": Entry("plan.plan", "Predict what a camera above a table will see."),
        "print": Entry(
            "print_sheets.print_sheets",
            "Write the sheets to print: tags, counters, hex map, lens board.",
        ),
        "hexmap": Entry("hexmap.hexmap", "Say where the hexes of a printed map lie."),
        "calibrate": Entry(
            "calibrating.calibrate.calibrate",
            "Calibrate the lens and locate the camera above the table.",
        ),
        "run": Entry("run.run", "Watch a table and serve its page."),
        "replay": Entry("replay.replay", "Print, check, repair or play a recording."),
        "export": Entry("export.export", "Export a recording as a page, film, report or text."),
        "import": Entry("import_.import_", "Restore a recording from exported lines or a message."),
        "disputes": Entry(
            "disputes.disputes", "List a game's disputes, with answers, margins and rules."
        ),
        "reread": Entry(
            "reread.reread_command", "Make recordings from VIDEOS of games, many at once."
        ),
        "hall": Entry("hall.hall", "Show all tables of a club on one page."),
        "snapshot": Entry("snapshot.snapshot", "Read the position from one PICTURE of a table."),
        "rulings": Entry(
            "rulings.rulings", "Rule on a POSITION: contacts, flanks, shooting, charges."
        ),
        "resolve": Entry("resolve.resolve", "Resolve a REQUEST on a POSITION with rolled dice."),
        "rule": Entry("rule.rule", "Answer a QUESTION to one rule of a GAME."),
        "odds": Entry("odds.odds", "Compute the odds of a REQUEST on a POSITION."),
        "engine": Entry("engine.engine", "Play a GAME over JSON lines."),
        "coverage": Entry(
            "coverage.coverage", "Count the rules of a GAME that are played and tested."
        ),
    }
)
"""All commands, in the order a newcomer needs them."""


class _Commands(click.Group):
    """Imports a command when it is asked for, as importing all takes over a second."""

    def list_commands(self, _: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, _: click.Context, name: str) -> click.Command | None:
        if name.startswith("-"):
            return None  # a mistyped option, which click names
        if name not in COMMANDS:
            raise click.UsageError(
                f"there is no command {quoted(name)}{nearest(name, list(COMMANDS))}"
            )
        module, function = COMMANDS[name].function.rsplit(".", 1)
        command = getattr(importlib.import_module(f"tablecam.commands.{module}"), function)
        return command if isinstance(command, click.Command) else None

    def format_commands(self, _: click.Context, formatter: click.HelpFormatter) -> None:
        """Lists the commands without importing them, which takes seconds."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, entry.summary) for name, entry in COMMANDS.items()])


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(tablecam.__version__, prog_name="tablecam")
@click.option("-v", "--verbose", count=True, help="Print log messages; -vv prints all of them.")
def commands(verbose: int) -> None:
    """Measure and referee a miniatures wargame with a camera above the table.

    Start with `tablecam demo`.
    """
    level = {0: logging.WARNING, 1: logging.INFO}.get(verbose, logging.DEBUG)
    logging.basicConfig(level=level, stream=sys.stderr, format="%(levelname)s %(name)s %(message)s")


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; returns the exit code: 0, or 2 after one line on bad input.

    A command that checks something exits with 1 if the check fails.
    """
    try:
        result = commands.main(
            args=None if arguments is None else list(arguments),
            prog_name="tablecam",
            standalone_mode=False,
        )
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return BAD_INPUT
    except click.ClickException as error:
        return _refuse(error.format_message())
    except (BadInput, CalibrationError) as error:
        return _refuse(str(error))
    except (click.Abort, KeyboardInterrupt):
        click.echo("tablecam: stopped", err=True)
        return 130
    except OSError as error:
        return _refuse(str(error))
    except Exception as error:
        # Users see no traceback; for debugging, -vv logs it.
        log.debug("", exc_info=True)
        return _refuse(
            f"internal error in tablecam: {error!r} (run `tablecam -vv ...` for details)"
        )
    return result if isinstance(result, int) else 0


def _refuse(message: str) -> int:
    click.echo("tablecam: " + harmless(" ".join(message.split())), err=True)
    return BAD_INPUT
