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
    help="The database that the tables play into: postgresql://user@host/database",
)
@page_options
def hall(address: str, host: str, port: int, open_browser: bool) -> None:
    """Show all tables of a hall on one page.

    Any of them is opened to be looked at. Tables join it with `tablecam run --record URL`. The page
    changes nothing on them, and shows no cards that are concealed. With `--host 0.0.0.0` everyone
    in the network may look.
    """
    database = Hall(address)
    database.prepare()
    watch = HallWatch(database)
    app, streams = create_hall(watch)
    server = Server(app, host, port, streams=streams)
    click.echo(f"The hall is at {server.network_address or server.address}", err=True)
    click.echo("Ctrl-C stops.", err=True)
    with watch:
        server.run(open_browser=open_browser)
