"""How `run` and `demo` put a live table on a page: the options they share, and the joining."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from calibration.camera import Camera
from tablecam.capture.reader import Reader
from tablecam.live.protocol import SimulatedControls
from tablecam.live.table import LiveTable
from tablecam.table.roster import Roster
from web.application import create_app
from web.server import Server

Decorated = Callable[..., Any]


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


def serve(
    reader: Reader,
    camera: Camera,
    roster: Roster,
    *,
    host: str,
    port: int,
    open_browser: bool,
    simulated: SimulatedControls | None = None,
) -> None:
    """Watch the table and serve its page until Ctrl-C."""
    live = LiveTable(reader, camera, roster, simulated=simulated)
    server = Server(create_app(live), host, port)
    click.echo(f"The table is at {server.address}", err=True)
    if server.network_address is not None:
        click.echo(f"On a phone in the same network: {server.network_address}", err=True)
    click.echo("Ctrl-C stops.", err=True)
    with live:
        server.run(open_browser=open_browser)
