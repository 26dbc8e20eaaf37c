"""How `run` and `demo` put a live table on a page: the options they share, and the joining."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import click
import platformdirs

from calibration.camera import Camera
from tablecam.capture.reader import Reader
from tablecam.live.keeping import KeptGame, new_game_file
from tablecam.live.protocol import SimulatedControls
from tablecam.live.table import LiveTable
from tablecam.record.game_file import GameFacts
from tablecam.table.roster import Roster
from web.application import create_app
from web.server import Server

Decorated = Callable[..., Any]


def games_folder() -> Path:
    """Where games are kept unless players say otherwise."""
    return platformdirs.user_data_path("tablecam", appauthor=False) / "games"


def page_options(command: Decorated) -> Decorated:
    """Add `--host`, `--port` and `--open` to a command that serves a page."""
    for option in reversed(
        (
            click.option(
                "--host",
                default="127.0.0.1",
                show_default=True,
                help="Address to listen on; 0.0.0.0 lets phones on the same network look.",
            ),
            click.option(
                "--port",
                type=click.IntRange(0, 65535),
                default=8000,
                show_default=True,
                help="Port to listen on; 0 takes any free one.",
            ),
            click.option(
                "--open", "open_browser", is_flag=True, help="Open the page in a browser."
            ),
        )
    ):
        command = option(command)
    return command


def games_option(command: Decorated) -> Decorated:
    """Add `--games` to a command that keeps what happens on its table."""
    option = click.option(
        "--games",
        "games_folder",
        type=click.Path(path_type=Path),
        default=games_folder,
        show_default="your data folder",
        metavar="DIR",
        help="Where games are kept, a file each; `tablecam disputes FILE` opens one.",
    )
    return option(command)


def serve(
    reader: Reader,
    camera: Camera,
    roster: Roster,
    *,
    host: str,
    port: int,
    open_browser: bool,
    record: KeptGame,
    simulated: SimulatedControls | None = None,
) -> None:
    """Watch the table and serve its page until Ctrl-C; say at the end where the game is kept."""
    live = LiveTable(reader, camera, roster, simulated=simulated, record=record)
    server = Server(create_app(live), host, port)
    click.echo(f"The table is at {server.address}", err=True)
    if server.network_address is not None:
        click.echo(f"On a phone in the same network: {server.network_address}", err=True)
    click.echo("Ctrl-C stops.", err=True)
    with live:
        server.run(open_browser=open_browser)
    if record.path is not None:
        click.echo(f"The game is kept in {record.path}", err=True)


def kept_game(folder: Path, game: str, table_file: str, camera_file: str | None) -> KeptGame:
    """A game that begins now, and is kept in a file of that folder once there is something in it.

    The files are given as their texts.
    """
    started_at = datetime.now().astimezone()
    facts = GameFacts(game, table_file, started_at, camera_file)
    return KeptGame(partial(new_game_file, folder, facts))
