"""The command line: registers all commands, and reports their errors in one line."""

from __future__ import annotations

import logging
import sys
from collections.abc import Sequence

import click

import tablecam
from calibration.errors import CalibrationError
from tablecam.commands.calibrate import calibrate
from tablecam.commands.coverage import coverage
from tablecam.commands.demo import demo
from tablecam.commands.disputes import disputes
from tablecam.commands.engine import engine
from tablecam.commands.export import export
from tablecam.commands.hall import hall
from tablecam.commands.import_ import import_
from tablecam.commands.odds import odds
from tablecam.commands.plan import plan
from tablecam.commands.print_sheets import print_sheets
from tablecam.commands.replay import replay
from tablecam.commands.reread import reread_command
from tablecam.commands.resolve import resolve
from tablecam.commands.rulings import rulings
from tablecam.commands.run import run
from tablecam.commands.snapshot import snapshot
from tablecam.errors import BadInput
from tablecam.harmless import harmless

log = logging.getLogger(__name__)

BAD_INPUT = 2


class _InOrder(click.Group):
    """Lists commands in the order in which a newcomer needs them."""

    def list_commands(self, _: click.Context) -> list[str]:
        return list(self.commands)


@click.group(cls=_InOrder, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(tablecam.__version__, prog_name="tablecam")
@click.option("-v", "--verbose", count=True, help="Print log messages; -vv prints all of them.")
def commands(verbose: int) -> None:
    """Measure and referee a miniatures wargame with a camera above the table.

    Start with `tablecam demo`.
    """
    level = {0: logging.WARNING, 1: logging.INFO}.get(verbose, logging.DEBUG)
    logging.basicConfig(level=level, stream=sys.stderr, format="%(levelname)s %(name)s %(message)s")


_COMMANDS: tuple[click.Command, ...] = (
    demo,
    plan,
    print_sheets,
    calibrate,
    run,
    replay,
    export,
    import_,
    disputes,
    reread_command,
    hall,
    snapshot,
    rulings,
    resolve,
    odds,
    engine,
    coverage,
)

for _command in _COMMANDS:
    commands.add_command(_command)


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
