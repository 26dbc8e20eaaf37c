"""`tablecam plan`: predicts how well a camera will read the tags, before buying or printing."""

from __future__ import annotations

import math
from pathlib import Path

import click

from calibration.lens import Lens
from tablecam.commands.new_files import check_new, force_option
from tablecam.commands.outputs import check_picture_name, write_picture
from tablecam.commands.source_options import Number, resolution_px
from tablecam.errors import BadInput
from tablecam.planning.detection_model_file import default_model
from tablecam.planning.picture import plan_picture
from tablecam.planning.plan import (
    MOST_SLANTED,
    Mount,
    height_limits_mm,
    ideal_lens,
    predict,
    with_tag_size,
)
from tablecam.planning.report import print_plan, print_plan_document
from tablecam.rules.games import known_games
from tablecam.table.roster import Roster
from tablecam.table.table_file import read_table_file
from tablecam.vision.search.camera_scale import largest_tag_mm, side_cells

_FILE = click.Path(path_type=Path)
_WEBCAM_DEG = 78.0
_MIN_TAG_MM = 1.0
"""Printers cannot print the cells of a smaller tag."""


_EXAMPLES = """\b
Examples:
  tablecam plan --table table.toml --camera-height 1500 --resolution 1920x1080
  tablecam plan --table table.toml --camera-height 1800 --resolution 3840x2160 --draw plan.png
"""


@click.command("plan", epilog=_EXAMPLES)
@click.option("--table", "table_path", type=_FILE, required=True, help="The table file.")
@click.option(
    "--camera-height",
    "height_mm",
    type=Number(),
    required=True,
    help="Height of the camera above the table, in mm.",
)
@click.option("--resolution", metavar="WxH", required=True, help="Size of the camera's pictures.")
@click.option(
    "--field-of-view",
    "field_of_view_deg",
    type=Number(),
    help=f"Horizontal field of view, in degrees.  [default: {_WEBCAM_DEG:g}, a webcam's]",
)
@click.option(
    "--focal-mm",
    type=Number(),
    help="Focal length of the lens, with --sensor-mm; replaces --field-of-view.",
)
@click.option("--sensor-mm", type=Number(), help="Width of the sensor, with --focal-mm.")
@click.option(
    "--camera-at",
    metavar="X,Y",
    help="Where the camera hangs, in mm.  [default: above the middle]",
)
@click.option(
    "--tag-size", "tag_size_mm", type=Number(), help="Plan with this tag size, in mm, on all bases."
)
@click.option(
    "--error-mm",
    type=Number(),
    default=0.2,
    show_default=True,
    help="Largest acceptable error of 95 % of the positions, in mm.",
)
@click.option(
    "--draw", "drawing_path", type=_FILE, help="Write a picture of the plan (.png or .jpg)."
)
@force_option
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def plan(
    table_path: Path,
    height_mm: float,
    resolution: str,
    field_of_view_deg: float | None,
    focal_mm: float | None,
    sensor_mm: float | None,
    camera_at: str | None,
    tag_size_mm: float | None,
    error_mm: float,
    drawing_path: Path | None,
    force: bool,
    as_json: bool,
) -> None:
    """Predict what a camera above a table will see.

    Plan before you buy a camera or print tags: neither is needed. The share of tags found and their
    errors come from measured curves.
    """
    check_new({"--draw": drawing_path}, inputs=[table_path], force=force)
    if drawing_path is not None:
        check_picture_name(drawing_path)
    roster = _roster(table_path, tag_size_mm)
    _check_height(height_mm, roster)
    _check_above_zero("--error-mm", error_mm)
    degrees = _field_of_view_deg(field_of_view_deg, focal_mm, sensor_mm)
    lens = ideal_lens(*resolution_px(resolution), degrees)
    mount = _mount(lens, camera_at, roster, height_mm)
    result = predict(mount, height_mm, roster, default_model(), error_mm=error_mm)
    if drawing_path is not None:
        write_picture(drawing_path, plan_picture(result))
    if as_json:
        print_plan_document(result, mount)
    else:
        print_plan(result, mount)


def _roster(path: Path, tag_size_mm: float | None) -> Roster:
    roster = read_table_file(path, known_games())
    if not roster.base_types:
        raise BadInput(str(path), "expected a [[base_type]] or more, got none", key="base_type")
    if tag_size_mm is None:
        return roster
    if tag_size_mm < _MIN_TAG_MM:
        raise BadInput("--tag-size", f"expected {_MIN_TAG_MM:g} mm or more, got {tag_size_mm:g}")
    cells = side_cells(roster)
    # One size for all bases, so the smallest base limits it.
    least = min(roster.base_types, key=lambda base: largest_tag_mm(base, cells))
    if tag_size_mm > largest_tag_mm(least, cells):
        raise BadInput(
            "--tag-size",
            f"expected at most {largest_tag_mm(least, cells):g} mm, the largest that fits with its "
            f"white rim on {least.name}'s base of {least.width_mm:g} x {least.depth_mm:g} mm, got "
            f"{tag_size_mm:g}",
        )
    return with_tag_size(roster, tag_size_mm)


def _field_of_view_deg(
    degrees: float | None, focal_mm: float | None, sensor_mm: float | None
) -> float:
    if focal_mm is None and sensor_mm is None:
        return _checked_deg("--field-of-view", _WEBCAM_DEG if degrees is None else degrees)
    if degrees is not None or focal_mm is None or sensor_mm is None:
        raise BadInput(
            "--focal-mm", "expected it together with --sensor-mm, and without --field-of-view"
        )
    _check_above_zero("--focal-mm", focal_mm)
    _check_above_zero("--sensor-mm", sensor_mm)
    return _checked_deg("--focal-mm", math.degrees(2 * math.atan(sensor_mm / (2 * focal_mm))))


def _checked_deg(option: str, degrees: float) -> float:
    if not 1 <= degrees <= 150:
        raise BadInput(option, f"expected 1 to 150 degrees, got {degrees:g}")
    return degrees


def _mount(lens: Lens, place: str | None, roster: Roster, height_mm: float) -> Mount:
    if place is None:
        return Mount(lens, (roster.table.width_mm / 2, roster.table.depth_mm / 2))
    try:
        x_mm, y_mm = (float(part) for part in place.split(","))
    except ValueError:
        raise BadInput("--camera-at", f"expected X,Y such as 900,600, got {place!r}") from None
    mount = Mount(lens, (x_mm, y_mm))
    # Negated, so that NaN is refused, too.
    if not mount.beside_mm(roster) <= MOST_SLANTED * height_mm:
        raise BadInput(
            "--camera-at",
            f"expected a place at most {MOST_SLANTED * height_mm:.0f} mm from the table's middle "
            f"(farther out, from a height of {height_mm:g} mm, figures hide the tags behind them), "
            f"got {place!r}",
        )
    return mount


def _check_height(height_mm: float, roster: Roster) -> None:
    _check_above_zero("--camera-height", height_mm)
    low_mm, high_mm = height_limits_mm(roster)
    if not low_mm <= height_mm <= high_mm:
        raise BadInput(
            "--camera-height", f"expected {low_mm:g} to {high_mm:g} mm, got {height_mm:g}"
        )


def _check_above_zero(option: str, value: float) -> None:
    if value <= 0:
        raise BadInput(option, f"expected a number above 0, got {value:g}")
