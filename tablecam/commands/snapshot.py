"""`tablecam snapshot`: reads one picture into a position."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import click
import numpy as np
from numpy.typing import NDArray

from calibration.camera import Camera
from calibration.grey import to_grey
from tablecam.capture.picture_files import read_picture
from tablecam.commands.new_files import check_new, force_option
from tablecam.commands.outputs import check_picture_name, write_picture
from tablecam.commands.source_options import bases_option
from tablecam.drawing.report import PictureReport, picture_report
from tablecam.errors import BadInput
from tablecam.live.advising import NO_LONGER_FITS
from tablecam.planning.advice import advice, collect_facts
from tablecam.planning.detection_model_file import default_model
from tablecam.planning.resolution_advice import resolution_advice
from tablecam.record.camera_file import read_camera_file
from tablecam.rules.games import known_games, with_formations
from tablecam.table.bases_file import with_bases
from tablecam.table.position_file import position_to_json
from tablecam.table.roster import Roster
from tablecam.table.table_file import read_table_file
from tablecam.vision.detection.exposure import exposure
from tablecam.vision.detection.grey_picture import DecodedGrey
from tablecam.vision.detection.masked_picture import masked
from tablecam.vision.detection.sighting import SearchResult
from tablecam.vision.registration.registration import register
from tablecam.vision.registration.state import Registration
from tablecam.vision.search.tag_finder import TagFinder
from tablecam.vision.tracking.position import position_of
from tablecam.vision.tracking.tracking import BaseTracker, TrackedBase

_MIN_TABLE_TAGS = 3
_FILE = click.Path(path_type=Path)
Grey = NDArray[np.uint8]


_EXAMPLES = """\b
Examples:
  tablecam snapshot table.jpg --table table.toml --camera camera.json > position.json
  tablecam snapshot table.jpg --table table.toml --camera camera.json --draw seen.png
"""


@click.command("snapshot", epilog=_EXAMPLES)
@click.argument("picture", type=_FILE)
@click.option("--table", "table_path", type=_FILE, required=True, help="The table file.")
@click.option("--camera", "camera_path", type=_FILE, required=True, help="The camera file.")
@bases_option
@click.option(
    "--draw",
    "drawing_path",
    type=_FILE,
    help="Write an annotated copy of the picture (.png or .jpg).",
)
@click.option(
    "--out",
    "out_path",
    type=_FILE,
    help="Write the position to this file instead of standard output.",
)
@force_option
def snapshot(
    picture: Path,
    table_path: Path,
    camera_path: Path,
    bases_file_path: Path | None,
    drawing_path: Path | None,
    out_path: Path | None,
    force: bool,
) -> None:
    """Read the position from one PICTURE of a table.

    The position goes to standard output; the list of found, missing and rejected tags goes to
    standard error.
    """
    outputs = {"--draw": drawing_path, "--out": out_path}
    check_new(outputs, inputs=(picture, table_path, camera_path), force=force)
    if drawing_path is not None:
        check_picture_name(drawing_path)
    roster = with_bases(read_table_file(table_path, known_games()), bases_file_path, camera_path)
    camera_file = read_camera_file(camera_path)
    image = read_picture(picture)
    camera_file.check_picture_size(image.shape[1], image.shape[0], str(picture))
    camera = camera_file.camera(roster.table_tags_mm)
    grey = masked(DecodedGrey(to_grey(image)), camera, roster.masks).grey()
    reading = _read(grey, camera, roster)
    _check_trusted(reading.registration, roster, picture, camera_path)
    report = _report(grey, reading, roster)
    bases = _bases(reading, roster)
    document = position_to_json(
        with_formations(position_of(bases, roster, reading.camera.name), roster)
    )
    if drawing_path is not None:
        # Only here: most snapshots are not drawn.
        from tablecam.drawing.overlay import Overlay

        poses = {base.tag: base.pose for base in bases}
        overlay = Overlay(reading.camera, roster)
        write_picture(drawing_path, overlay.draw(image, reading.search, poses, report))
    _write_position(out_path, json.dumps(document, indent=1))
    click.echo(f"calibration: {camera_file.shown_title}", err=True)
    if not reading.registration.fits(reading.camera):
        click.echo(f"warning: {NO_LONGER_FITS}", err=True)
    for line in report.lines():
        click.echo(line, err=True)


@dataclass(frozen=True, slots=True)
class _Reading:
    """A picture read with the camera's pose; `news` says if the pose has changed."""

    camera: Camera
    search: SearchResult
    registration: Registration
    news: str = ""


def _read(grey: Grey, camera: Camera, roster: Roster) -> _Reading:
    """Searches the picture, and again with the camera's new pose if it has been bumped."""
    finder = TagFinder(camera, roster)
    search = finder.search(grey)
    registration = register(search.sightings, camera, roster)
    if registration.camera is None:
        return _Reading(camera, search, registration)
    # The first search looked where the tags were before the bump.
    camera, news = registration.camera, registration.news
    search = finder.with_camera(camera).search(grey)
    again = register(search.sightings, camera, roster, before=registration)
    return _Reading(camera, search, again, news)


def _check_trusted(
    registration: Registration, roster: Roster, picture: Path, camera_path: Path
) -> None:
    """Refuses a picture whose table tags do not confirm the camera's pose."""
    if registration.is_trusted:
        return
    seen = [tag for tag in registration.seen if tag not in registration.displaced_mm]
    listed = [tag.id for tag in roster.table_tags]
    if len(seen) >= _MIN_TABLE_TAGS:
        got = "they contradict each other and the camera file: some tags or the camera were moved"
    else:
        missing = ", ".join(str(tag) for tag in listed if tag not in seen)
        got = (
            f"got {len(seen)} (not seen: {missing}): they are hidden, the camera moved, or "
            "the camera file belongs to another table"
        )
    raise BadInput(
        str(picture),
        f"expected {_MIN_TABLE_TAGS} table tags or more where {camera_path} puts them, {got}",
    )


def _report(grey: Grey, reading: _Reading, roster: Roster) -> PictureReport:
    search, model = reading.search, default_model()
    exposed = exposure(grey, search.sightings)
    seen = {sighting.tag for sighting in search.sightings}
    facts = collect_facts(search, roster, missing=roster.missing(seen), exposure=exposed)
    notes = (reading.news, reading.registration.problem)
    return picture_report(
        search,
        reading.registration,
        reading.camera,
        roster,
        exposure=exposed,
        note="; ".join(note for note in notes if note),
        advice=advice(facts, resolution_advice(reading.camera, roster, model), model),
    )


def _bases(reading: _Reading, roster: Roster) -> tuple[TrackedBase, ...]:
    return BaseTracker(roster, reading.camera).update(
        reading.search.sightings,
        0.0,
        beside_mm=reading.registration.unexplained_mm,
        doubted=reading.search.duplicated_tags,
    )


def _write_position(path: Path | None, text: str) -> None:
    if path is None:
        click.echo(text)
        return
    try:
        path.write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise BadInput(str(path), f"cannot be written: {error.strerror}") from None
