"""`tablecam demo`: the live table with a simulated camera over a scripted battle."""

from __future__ import annotations

from pathlib import Path

import click

from tablecam.capture.reader import Reader
from tablecam.commands.serving import GameOptions, game_options, game_record, page_options, serve
from tablecam.simulate.demo import demo_camera, demo_script, demo_text, embedded_demo
from tablecam.simulate.jig_source import glued_by_hand
from tablecam.simulate.source import SimulatedSource
from tablecam.simulate.table import SimulatedTable
from tablecam.table.bases_file import read_bases, with_calibrated


@click.command("demo")
@page_options
@game_options
@click.option(
    "--bases",
    "bases_file_path",
    type=click.Path(path_type=Path),
    help="Glue tags on as hands do, and know of them what `calibrate bases` measured.",
)
@click.option("--game", "shown", metavar="NAME", help="The game to show; `free` has no rulebook.")
def demo(
    host: str,
    port: int,
    open_browser: bool,
    game: GameOptions,
    bases_file_path: Path | None,
    shown: str | None,
) -> None:
    """Run a simulated game; needs no camera and no files.

    A simulated camera watches a scripted battle. Its pictures go through the same search, fit and
    tracking as those of a real camera. Drag units on the page and see them found again.
    """
    serve_demo(host, port, game, shown, bases_file_path, open_browser=open_browser)


def serve_demo(
    host: str,
    port: int,
    game: GameOptions,
    shown: str | None,
    bases_file_path: Path | None,
    *,
    open_browser: bool,
) -> None:
    """Serves a simulated game until Ctrl-C; the arguments are those of `demo`."""
    table = embedded_demo(shown)
    roster = table.roster
    if bases_file_path is not None:
        table = SimulatedTable(glued_by_hand(roster), demo_script(shown))
        roster = with_calibrated(table.roster, read_bases(bases_file_path, table.roster))
    table.restart()  # paused until somebody starts it
    camera = demo_camera(table=table.roster.table)
    click.echo("Starting the simulated table …", err=True)
    with Reader(lambda: SimulatedSource(table, camera), name="simulated", is_live=False) as reader:
        reader.start()
        serve(
            reader,
            camera,
            roster,
            host=host,
            port=port,
            open_browser=open_browser,
            game=game,
            record=game_record(game, table.roster.game, demo_text(shown, "table") or "", None),
            simulated=table,
        )
