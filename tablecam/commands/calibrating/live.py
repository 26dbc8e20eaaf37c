"""`tablecam calibrate --live`: a page that guides through the calibration of a camera."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import click

from tablecam.capture.frame import Source
from tablecam.capture.open_source import open_reader
from tablecam.capture.options import SourceOptions
from tablecam.commands.new_files import check_place
from tablecam.commands.source_options import SIMULATED, is_simulated
from tablecam.live.camera_choice import CameraChoice
from tablecam.live_calibration.calibration import LiveCalibration
from tablecam.live_calibration.state import Stage
from tablecam.rules.games import known_games
from tablecam.simulate.calibration_source import SimulatedCalibration
from tablecam.simulate.demo import demo_camera, demo_roster
from tablecam.simulate.jig_source import glued_by_hand
from tablecam.table.roster import Roster
from tablecam.table.table_file import read_table_file
from web.calibrating import MOST_WAITING, create_calibration_app
from web.server import Server
from web.streams import Streams


def calibrate_live(
    source: str,
    options: SourceOptions,
    table_path: Path | None,
    camera_path: Path,
    title: str,
    *,
    host: str,
    port: int,
    open_browser: bool,
) -> None:
    """Serves the page until Ctrl-C.

    With the source `simulated`, hands wave a board before a simulated camera, over the demo's
    table, and push its bases into the jig.
    """
    check_place(camera_path)
    roster, factories, on_stage = _prepared(source, table_path)
    # Shared, so that the server has a thread for each waiting page.
    streams = Streams(MOST_WAITING)
    with (
        open_reader(source, options, factories=factories) as reader,
        LiveCalibration(reader, camera_path, roster, title=title, on_stage=on_stage) as live,
    ):
        cameras = None if source in factories else CameraChoice.of(reader, source, options)
        app = create_calibration_app(live, streams, cameras=cameras)
        server = Server(app, host, port, streams=streams)
        click.echo(f"Calibrate at {server.address}", err=True)
        if server.network_address is not None:
            click.echo(f"On a phone on the same network: {server.network_address}", err=True)
        click.echo("Press Ctrl-C to stop; all views are saved.", err=True)
        server.run(open_browser=open_browser)


def _prepared(
    source: str, table_path: Path | None
) -> tuple[Roster | None, Mapping[str, Callable[[SourceOptions], Source]], Callable[[Stage], None]]:
    """Returns the table, additional sources by name, and the callback for each stage."""
    if not is_simulated(source, {"--table": table_path}):
        roster = None if table_path is None else read_table_file(table_path, known_games())
        return roster, {}, lambda stage: None
    click.echo("Starting the simulated camera …", err=True)
    roster = glued_by_hand(demo_roster())
    simulated = SimulatedCalibration(roster, demo_camera(), is_endless=True)

    def on_stage(stage: Stage) -> None:
        """Shows the scene of a stage: the board, the empty table, or bases in the jig."""
        if stage == "lens":
            simulated.wave_again()
        elif stage == "bases":
            simulated.lay_bases()
        else:
            simulated.put_away()

    return roster, {SIMULATED: lambda options: simulated}, on_stage
