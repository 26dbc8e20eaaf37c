"""`tablecam hall`: serves one page for all tables that record to the same database."""

from __future__ import annotations

import click

from tablecam.commands.serving import page_options
from tablecam.hall.server import Hall
from tablecam.hall.watch import HallWatch
from web.hall import create_hall
from web.server import Server

_EXAMPLES = """\b
Examples:
  tablecam hall --record postgresql://club@server/tables
  tablecam hall --record postgresql://club@server/tables --host 0.0.0.0 --port 8080
"""


@click.command("hall", epilog=_EXAMPLES)
@click.option(
    "--record",
    "address",
    required=True,
    metavar="URL",
    help="The database that the tables write to: postgresql://user@host/database",
)
@page_options
def hall(address: str, host: str, port: int, open_browser: bool) -> None:
    """Show all tables of a club on one page.

    Open any table to watch its game. Tables join with `tablecam run --record URL`. The page changes
    nothing and hides concealed cards. With `--host 0.0.0.0`, everyone on the network can watch.
    """
    database = Hall(address)
    # Fails at once if the server cannot be used.
    database.prepare()
    watch = HallWatch(database)
    app, streams = create_hall(watch)
    server = Server(app, host, port, streams=streams)
    click.echo(f"Hall at {server.network_address or server.address}", err=True)
    click.echo("Press Ctrl-C to stop.", err=True)
    with watch:
        server.run(open_browser=open_browser)
