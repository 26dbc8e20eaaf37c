"""Serves a live table on a page for `run` and `demo`, with the options that they share."""

from __future__ import annotations

import functools
import ipaddress
import shlex
import sys
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

import click
import platformdirs
from click.core import ParameterSource

from calibration.camera import Camera
from tablecam.capture.reader import Reader
from tablecam.commands.source_options import NumberIn
from tablecam.hall.server import Hall
from tablecam.hall.uploader import Uploader
from tablecam.live.camera_choice import CameraChoice
from tablecam.live.table import LiveTable
from tablecam.record.entries import GameFacts
from tablecam.record.game_file import GameFile
from tablecam.recorder.game_recorder import GameRecorder, new_game_file
from tablecam.recorder.picture_budget import DEFAULT_MB
from tablecam.recorder.resuming import is_being_played, unfinished_game
from tablecam.simulate.table import SimulatedTable
from tablecam.table.model import Mask
from tablecam.table.roster import Roster
from web.application import create_app
from web.codes import terminal_code
from web.seats import Seats
from web.server import Server

Decorated = Callable[..., Any]

EVERYWHERE = "0.0.0.0"
"""Every address of this machine: reachable from the network."""


def games_folder() -> Path:
    """Returns the default folder of games."""
    return platformdirs.user_data_path("tablecam", appauthor=False) / "games"


def page_options(command: Decorated) -> Decorated:
    """Adds `--host`, `--port` and `--open` to a command that serves a page."""
    # Click lists the option that is applied last first.
    for option in reversed(
        (
            click.option(
                "--host",
                default="127.0.0.1",
                show_default=True,
                help="Address to listen on.",
            ),
            click.option(
                "--port",
                type=click.IntRange(0, 65535),
                default=8000,
                show_default=True,
                help="Port to listen on; 0 picks a free one.",
            ),
            click.option(
                "--open", "open_browser", is_flag=True, help="Open the page in a browser."
            ),
        )
    ):
        command = option(command)
    return command


@dataclass(frozen=True, slots=True)
class GameOptions:
    """How a game is served: to whom, confirmed by whom, and where it is recorded.

    `name` is the table's name in the hall; if empty, the table file's name is used.
    """

    on_lan: bool
    confirms_by_itself: bool
    folder: Path
    is_new: bool
    pictures_mb: float = DEFAULT_MB
    hall: Hall | None = None
    name: str = ""


_GAME_OPTIONS = (
    click.option(
        "--lan",
        is_flag=True,
        help="Let phones on this network join, each with the secret link (or QR code) of its seat. "
        "Listens on all addresses of this machine unless --host is given.",
    ),
    click.option(
        "--auto",
        is_flag=True,
        help="Confirm legal moves automatically; doubtful ones still need a tap.",
    ),
    click.option(
        "--games",
        type=click.Path(path_type=Path),
        default=games_folder,
        show_default="your data folder",
        metavar="DIR",
        help="Folder for recordings, one file per game.",
    ),
    click.option(
        "--new",
        is_flag=True,
        help="Begin a new game even if the last one on this table is unfinished.",
    ),
    click.option(
        "--pictures",
        type=NumberIn(min=0.0),
        default=DEFAULT_MB,
        show_default=True,
        metavar="MB",
        help="Size limit for the pictures of a three-hour game; 0 keeps none.",
    ),
    click.option(
        "--record",
        metavar="URL",
        help="Also show the game in a hall (see `tablecam hall`): postgresql://user@host/database",
    ),
    click.option(
        "--name",
        default="",
        show_default="`name` under [table] of the table file",
        help="Name of this table in the hall.",
    ),
)


def game_options(command: Decorated) -> Decorated:
    """Adds `--lan`, `--auto`, `--games`, `--new` and others, passed on as `game`."""

    @functools.wraps(command)
    def with_options(
        *args: Any,
        lan: bool,
        auto: bool,
        games: Path,
        new: bool,
        pictures: float,
        record: str | None,
        name: str,
        **others: Any,
    ) -> Any:
        # An explicit host overrides --lan.
        host_source = click.get_current_context().get_parameter_source("host")
        if lan and host_source is ParameterSource.DEFAULT:
            others["host"] = EVERYWHERE
        # Now, to report a wrong address at once.
        hall = None if record is None else Hall(record)
        game = GameOptions(lan, auto, games, new, pictures, hall, name)
        return command(*args, game=game, **others)

    decorated: Decorated = with_options
    # Click lists the option that is applied last first.
    for option in reversed(_GAME_OPTIONS):
        decorated = option(decorated)
    return decorated


def serve(
    reader: Reader,
    camera: Camera,
    roster: Roster,
    *,
    host: str,
    port: int,
    open_browser: bool,
    game: GameOptions,
    record: GameRecorder,
    simulated: SimulatedTable | None = None,
    cameras: CameraChoice | None = None,
    keep_masks: Callable[[Sequence[Mask]], None] = lambda masks: None,
) -> None:
    """Watches the table and serves its page until Ctrl-C; then prints where the game is stored."""
    roster = replace(roster, name=game.name or roster.name)
    live = LiveTable(
        reader,
        camera,
        roster,
        simulated=simulated,
        record=record,
        confirms_by_itself=game.confirms_by_itself,
        keep_masks=keep_masks,
    )
    # A game that begins now has no file yet.
    seats = _seats(roster, host, port, game, is_new=record.path is None)
    app = create_app(live, seats=seats, recording=record.journal, cameras=cameras)
    server = Server(app, host, port)
    # With --port 0 the port is known only now.
    seats.address = server.network_address or server.address
    start = server.address + seats.path("shared").lstrip("/") if seats.by_link else server.address
    click.echo(f"Table at {start}", err=True)
    if seats.by_link:
        click.echo(invitation(seats), err=True)
    click.echo("Press Ctrl-C to stop.", err=True)
    # The upload ends after the table, so that it receives the last entries.
    with _sending(game, record, roster.name), live:
        server.run(open_browser=open_browser, start=start)
    say_where_kept(record)


def say_where_kept(record: GameRecorder) -> None:
    """Prints where a closed record stored the game, or which part is lost.

    Raises:
        click.exceptions.Exit: Something is lost.
    """
    # The last news, which no page shows any more.
    for line in record.try_again():
        click.echo(line, err=True)
    if record.unsaved:
        click.echo(record.unsaved, err=True)
        raise click.exceptions.Exit(1)
    if record.path is not None:
        click.echo(f"The game is recorded in {record.path}", err=True)
        click.echo(f"Replay it with: tablecam replay {shlex.quote(str(record.path))}", err=True)


def _seats(roster: Roster, host: str, port: int, game: GameOptions, *, is_new: bool) -> Seats:
    """Returns the table's seats; on a fixed port a resumed game reuses their links."""
    by_link = game.on_lan or not is_this_machine(host)
    # On a port that changes with each start, links cannot stay valid.
    keys = game.folder / f".seats-{port}.json" if by_link and port else None
    return Seats(roster.sides, by_link=by_link, keys=keys, is_new=is_new)


def _sending(game: GameOptions, record: GameRecorder, name: str) -> AbstractContextManager[object]:
    """Returns the upload to a hall as a context, or an empty context without a hall."""
    if game.hall is None:
        return nullcontext()
    sending = Uploader(game.hall, lambda: record.path, game.folder, name)
    record.remote_copy = sending
    return sending


def invitation(seats: Seats) -> str:
    """Returns a link and a QR code for each seat that a phone may take."""
    lines = ["For phones on the same network; whoever opens a link takes its seat:"]
    for name, seat in seats.by_name.items():
        if not seat.is_for_all:
            lines += [f"\n{name}: {seats.link(name)}", terminal_code(seats.link(name))]
    return "\n".join(lines)


def is_this_machine(host: str) -> bool:
    """Whether an address to listen on is reachable only from this machine."""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _is_resumed(file: GameFile) -> bool:
    """Whether players resume an unfinished game: asks in a terminal, otherwise yes."""
    if is_being_played(file.path):
        click.echo(f"another tablecam is recording to {file.path}: beginning a new game", err=True)
        return False
    began = f"{file.facts().started_at.astimezone():%d %B, %H:%M}"
    if sys.stdin.isatty():
        return click.confirm(f"Resume the game that began on {began}?", default=True, err=True)
    click.echo(f"Resuming the game in {file.path} (--new begins another)", err=True)
    return True


def game_record(
    options: GameOptions, game: str, table_file: str, camera_file: str | None
) -> GameRecorder:
    """Returns the record of a resumed game, or of one that begins now in a new file.

    `table_file` and `camera_file` are the files' texts. A new file is created with its first entry.
    """
    resumed = None if options.is_new else unfinished_game(options.folder, table_file)
    if resumed is not None and not _is_resumed(resumed):
        resumed = None
    started_at = datetime.now().astimezone()
    facts = GameFacts(game, table_file, started_at, camera_file)
    create = partial(new_game_file, options.folder, facts)
    return GameRecorder(create, resumed, pictures_mb=options.pictures_mb)
