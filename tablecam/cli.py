"""The command line: registers all commands, and reports their errors in one line."""

from __future__ import annotations

import importlib
import logging
import sys
from collections.abc import Mapping, Sequence
from types import MappingProxyType

import click

import tablecam
from calibration.errors import CalibrationError
from tablecam.errors import BadInput
from tablecam.harmless import harmless

log = logging.getLogger(__name__)

BAD_INPUT = 2


COMMANDS: Mapping[str, str] = MappingProxyType(
    {
        "demo": "demo.demo",
        "check": "check.check",
        "plan": "plan.plan",
        "print": "print_sheets.print_sheets",
        "hexmap": "hexmap.hexmap",
        "calibrate": "calibrate.calibrate",
        "run": "run.run",
        "replay": "replay.replay",
        "export": "export.export",
        "import": "import_.import_",
        "disputes": "disputes.disputes",
        "reread": "reread.reread_command",
        "hall": "hall.hall",
        "snapshot": "snapshot.snapshot",
        "rulings": "rulings.rulings",
        "resolve": "resolve.resolve",
        "rule": "rule.rule",
        "odds": "odds.odds",
        "engine": "engine.engine",
        "coverage": "coverage.coverage",
    }
)
"""The module and function of each command, in the order in which a newcomer needs them."""


class _Commands(click.Group):
    """Imports a command when it is asked for, as importing all takes over a second."""

    def list_commands(self, _: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, _: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        module, function = COMMANDS[name].split(".")
        command = getattr(importlib.import_module(f"tablecam.commands.{module}"), function)
        return command if isinstance(command, click.Command) else None


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
