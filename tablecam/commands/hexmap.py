"""`tablecam hexmap`: locates a bought map on the table."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import click

from tablecam.errors import BadInput
from tablecam.live_calibration.hex_fit import better_words, fit_map, map_section
from tablecam.record.camera_file import read_camera_file
from tablecam.rules.games import known_games
from tablecam.table.model import BasePose, Point, Position
from tablecam.table.position_file import read_position_file
from tablecam.table.roster import Roster
from tablecam.table.table_file import read_table_file
from tablecam.wording import quoted

_FILE = click.Path(path_type=Path)


@click.group("hexmap")
def hexmap() -> None:
    """Say where the hexes of a printed map lie."""


_EXAMPLES = """\b
Examples:
  tablecam snapshot map.jpg --table table.toml --camera camera.json --out laid.json
  tablecam hexmap fit --table table.toml --position laid.json \\
    --on 0101=F1 --on 1601=F2 --on 1612=F3 --on 0112=F4
  tablecam hexmap fit --table table.toml --camera camera.json \\
    --tap 0101=412,208 --tap 1601=2140,215 --tap 1612=2133,1290 --tap 0112=420,1301
"""


@hexmap.command("fit", epilog=_EXAMPLES)
@click.option("--table", "table_path", type=_FILE, required=True, help="The table file.")
@click.option("--position", "position_path", type=_FILE, help="Where the counters lie.")
@click.option(
    "--on", "laid", multiple=True, metavar="HEX=UNIT", help="A counter in the middle of a hex."
)
@click.option("--camera", "camera_path", type=_FILE, help="The camera file, for taps.")
@click.option(
    "--tap",
    "taps",
    multiple=True,
    metavar="HEX=X,Y",
    help="The middle of a hex in the camera's picture, in pixels.",
)
def fit(
    table_path: Path,
    position_path: Path | None,
    laid: tuple[str, ...],
    camera_path: Path | None,
    taps: tuple[str, ...],
) -> None:
    """Fit the hexes of a bought map to four of them or more.

    Lay counters in the middle of four hexes far apart and read a picture of them, or give the
    middles of four hexes in a picture. The section [map] for the table file goes to standard
    output, each hex's error to standard error. In the old section, the place of the hexes may be a
    guess, but not their arrangement.
    """
    roster = read_table_file(table_path, known_games())
    hex_map = roster.table.hex_map
    if hex_map is None:
        raise BadInput(str(table_path), "expected a table on hexes, but it has no [map]", key="map")
    places = _laid(laid, position_path) | _tapped(taps, camera_path, roster)
    fitted = fit_map(hex_map, places)
    for number, residual_mm in fitted.residuals_mm.items():
        share = f"{fitted.share(number):.3f} of a hex"
        click.echo(f"{number}: {residual_mm:.2f} mm off ({share})", err=True)
    if better := better_words(fitted, places):
        click.echo(better, err=True)
    if fitted.problem:
        raise BadInput("hexmap fit", fitted.problem)
    click.echo(map_section(fitted.map))


def _laid(laid: tuple[str, ...], position_path: Path | None) -> dict[str, Point]:
    """Returns the centres of the hexes on which counters lie."""
    if not laid:
        return {}
    if position_path is None:
        raise BadInput("--on", "expected --position with it, got none")
    position = read_position_file(position_path, known_games())
    places = {}
    for entry in laid:
        number, name = _pair("--on", entry)
        places[number] = _place_of(position, name)
    return places


def _place_of(position: Position, name: str) -> Point:
    poses: Mapping[str, BasePose] = {
        unit.id: base for unit in position.units for base in unit.bases[:1]
    }
    if name in poses:
        return poses[name].place_mm
    for commander in position.commanders:
        if commander.id == name:
            return commander.place_mm
    raise BadInput("--on", f"expected a counter of the position, got {quoted(name)}")


def _tapped(taps: tuple[str, ...], camera_path: Path | None, roster: Roster) -> dict[str, Point]:
    """Returns the centres of hexes that were given in the camera's picture."""
    if not taps:
        return {}
    if camera_path is None:
        raise BadInput("--tap", "expected --camera with it, got none")
    camera = read_camera_file(camera_path).camera(roster.table_tags_mm)
    places = {}
    for entry in taps:
        number, pixel = _pair("--tap", entry)
        try:
            x_px, y_px = map(float, pixel.split(","))
        except ValueError:
            raise BadInput("--tap", f"expected HEX=X,Y, got {quoted(entry)}") from None
        ((x_mm, y_mm),) = camera.to_table([[x_px, y_px]]).tolist()
        places[number] = (x_mm, y_mm)
    return places


def _pair(option: str, entry: str) -> tuple[str, str]:
    number, equals, rest = entry.partition("=")
    if not (equals and rest):
        raise BadInput(option, f"expected HEX=..., got {quoted(entry)}")
    return number.strip(), rest.strip()
