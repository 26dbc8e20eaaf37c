"""Serves the page that plays a recording."""

from __future__ import annotations

import click

from tablecam.commands.serving import is_this_machine
from tablecam.record.journal import Journal
from web.application import create_replay
from web.server import Server
from web.streams import Streams

_MAX_STREAMS = 1
"""The page polls for new entries; it opens no event stream."""


def serve_replay(recorded: Journal, host: str, port: int, *, open_browser: bool) -> None:
    """Serves the page of a recording until Ctrl-C.

    Raises:
        BadInput: The address cannot be listened on.
    """
    # Visitors from the network must not see what only the file's owner may see.
    app = create_replay(recorded, is_own=is_this_machine(host))
    server = Server(app, host, port, streams=Streams(_MAX_STREAMS))
    address = server.network_address or server.address
    click.echo(f"Replay at {address}", err=True)
    click.echo("Press Ctrl-C to stop.", err=True)
    server.run(open_browser=open_browser)
