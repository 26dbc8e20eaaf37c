"""A recording on a page, served to whoever has its file."""

from __future__ import annotations

import click

from tablecam.commands.serving import is_this_machine
from tablecam.record.journal import Journal
from web.application import create_replay
from web.server import Server
from web.streams import Streams

_NO_STREAMS = 1
"""The page asks whether there is more; it listens to nothing."""


def serve_replay(recorded: Journal, host: str, port: int, *, open_browser: bool) -> None:
    """Serve the page of a recording until Ctrl-C.

    Raises:
        BadInput: The address cannot be listened on.
    """
    # Whoever is let in from elsewhere is not whoever has the file.
    app = create_replay(recorded, is_own=is_this_machine(host))
    server = Server(app, host, port, streams=Streams(_NO_STREAMS))
    address = server.network_address or server.address
    click.echo(f"The recording is played at {address}", err=True)
    click.echo("Ctrl-C stops.", err=True)
    server.run(open_browser=open_browser)
