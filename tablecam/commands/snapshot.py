"""`tablecam snapshot`: one picture to one position."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import click
import cv2
import numpy as np
from numpy.typing import NDArray

from calibration.camera_file import read_camera_file
from calibration.grey import to_grey
from tablecam.capture.pictures import read_picture
from tablecam.errors import BadInput
from tablecam.table.position_file import position_to_json
from tablecam.table.roster import Roster
from tablecam.table.table_file import read_table_file
from tablecam.vision.find import find_tags
from tablecam.vision.overlay import Overlay
from tablecam.vision.position import position_of
from tablecam.vision.sighting import Search
from tablecam.vision.table_check import TableCheck, check_table_tags
from tablecam.vision.tracking import BaseTracker

_FEWEST_TABLE_TAGS = 3
_FILE = click.Path(path_type=Path)


@click.command("snapshot")
@click.argument("picture", type=_FILE)
@click.option("--table", "table_path", type=_FILE, required=True, help="The table file.")
@click.option("--camera", "camera_path", type=_FILE, required=True, help="The camera file.")
@click.option("--draw", "drawing_path", type=_FILE, help="Write the picture, annotated.")
@click.option("--out", "out_path", type=_FILE, help="Write the position there, not to stdout.")
def snapshot(
    picture: Path,
    table_path: Path,
    camera_path: Path,
    drawing_path: Path | None,
    out_path: Path | None,
) -> None:
    """Read one PICTURE of a table into a position.

    The position goes to standard output; what was found, missing or refused to standard error.
    """
    _check_outputs((drawing_path, out_path), inputs=(picture, table_path, camera_path))
    roster = read_table_file(table_path)
    camera_file = read_camera_file(camera_path)
    image = read_picture(picture)
    camera_file.check_picture_size(image.shape[1], image.shape[0], str(picture))
    camera = camera_file.camera()
    search = find_tags(to_grey(image), camera, roster)
    check = check_table_tags(search.sightings, camera, roster)
    _check_in_view(check, roster, picture, camera_path)
    bases = BaseTracker(roster, camera).update(search.sightings, 0.0, beside_mm=check.rms_mm or 0.0)
    document = position_to_json(position_of(bases, roster, camera.name))
    if drawing_path is not None:
        poses = {base.tag: base.pose for base in bases}
        _write_picture(drawing_path, Overlay(camera, roster).draw(image, search, poses))
    _write_position(out_path, json.dumps(document, indent=1))
    for line in (*_report(search, roster), *_table_report(check, roster)):
        click.echo(line, err=True)


def _check_outputs(outputs: Sequence[Path | None], *, inputs: Sequence[Path]) -> None:
    """Refuse to write over what is read, or over one's own other output."""
    taken = {path.resolve() for path in inputs}
    for output in outputs:
        if output is None:
            continue
        if output.resolve() in taken:
            raise BadInput(str(output), "expected a file of its own to write, got one that is used")
        taken.add(output.resolve())


def _check_in_view(check: TableCheck, roster: Roster, picture: Path, camera_path: Path) -> None:
    """Refuse a picture that does not show that the camera stands where its file says."""
    if len(check.in_place) >= _FEWEST_TABLE_TAGS:
        return
    missing = ", ".join(str(tag.id) for tag in roster.table_tags if tag.id not in check.in_place)
    raise BadInput(
        str(picture),
        f"expected {_FEWEST_TABLE_TAGS} table tags or more where {camera_path} puts them, got "
        f"{len(check.in_place)} (not seen there: {missing}): they are hidden, the camera moved, "
        "or the camera file is of another table",
    )


def _report(search: Search, roster: Roster) -> Sequence[str]:
    """What was found, missing and refused, in words."""
    owners = roster.owner_by_tag()
    seen = {sighting.tag for sighting in search.sightings}
    missing = [f"{tag} ({owner})" for tag, owner in owners.items() if tag not in seen]
    lines = [f"{len(owners) - len(missing)} of {len(owners)} base tags found"]
    if missing:
        lines.append("missing: " + ", ".join(missing))
    return [*lines, *(f"refused: tag {no.tag}: {no.because}" for no in search.rejections)]


def _table_report(check: TableCheck, roster: Roster) -> Sequence[str]:
    hidden = [str(tag.id) for tag in roster.table_tags if tag.id not in check.tags]
    lines = [f"table tags not seen: {', '.join(hidden)}"] if hidden else []
    if check.rms_px is not None:
        lines.append(f"table tags lie {check.rms_px:.2f} px (rms) beside their places")
    if check.has_moved:
        lines.append("warning: the camera or a table tag has moved since the calibration")
    return lines


def _write_position(path: Path | None, text: str) -> None:
    if path is None:
        click.echo(text)
        return
    try:
        path.write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise BadInput(str(path), f"cannot be written: {error.strerror}") from None


def _write_picture(path: Path, picture: NDArray[np.uint8]) -> None:
    try:
        _, data = cv2.imencode(path.suffix or ".", picture)
        path.write_bytes(data.tobytes())
    except cv2.error:
        raise BadInput(
            str(path), f"expected a name that ends in .png or .jpg, got {path.suffix!r}"
        ) from None
    except OSError as error:
        raise BadInput(str(path), f"cannot be written: {error.strerror}") from None
