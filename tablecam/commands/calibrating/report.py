"""Reports the result of a calibration as tables or as one JSON document."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from calibration.extrinsics.table_pose import TableSearch
from calibration.intrinsics.lens_from_views import RejectedView
from calibration.intrinsics.lens_progress import Progress
from calibration.lens import LENS_PARAMETERS
from calibration.results import CameraFile, LensCalibration, TableCalibration
from tablecam.commands import outputs
from tablecam.rules.reports import TextTable


def lens_document(
    calibration: LensCalibration,
    rejected: Sequence[RejectedView],
    progress: Progress,
    *,
    camera_file: CameraFile,
    written: dict[str, Path | None],
) -> dict[str, Any]:
    """Returns a lens calibration as JSON; `written` are the files written or kept, by role."""
    sigmas = dict(zip(LENS_PARAMETERS, calibration.sigmas, strict=True))
    used = [
        {
            "name": view.name,
            "used": True,
            "rms_px": view.rms_px,
            "corners": view.corners,
            "corners_left_out": view.corners_left_out,
        }
        for view in calibration.views
    ]
    left_out = [{"name": view.name, "used": False, "because": view.reason} for view in rejected]
    return {
        **_header(camera_file, written),
        "rms_px": calibration.rms_px,
        "sigma_px": progress.sigma_px,
        "wanting": list(progress.missing),
        "parameters": {
            name: {"value": float(value), "sigma": float(sigmas[name])}
            for name, value in zip(LENS_PARAMETERS, calibration.lens.parameters, strict=True)
        },
        "views": [*used, *left_out],
    }


def table_document(
    search: TableSearch, *, camera_file: CameraFile, written: dict[str, Path | None]
) -> dict[str, Any]:
    """Returns a table calibration as JSON."""
    calibration = search.calibration
    x_mm, y_mm, z_mm = (float(value) for value in calibration.pose.camera_centre_mm)
    return {
        **_header(camera_file, written),
        "lens_calibrated": camera_file.lens is not None,
        "rms_px": calibration.rms_px,
        "sigma_mm": calibration.sigma_mm,
        "sigma_with_lens_mm": search.sigma_with_lens_mm,
        "camera_mm": {"x_mm": x_mm, "y_mm": y_mm, "z_mm": z_mm},
        "tags": [
            {
                "id": tag.id,
                "dx_mm": tag.dx_mm,
                "dy_mm": tag.dy_mm,
                "residual_mm": tag.distance_mm,
                "used": tag.used,
            }
            for tag in calibration.tags
        ],
        "notes": list(search.notes),
    }


def print_document(document: dict[str, Any]) -> None:
    """Prints one JSON document to standard output."""
    click.echo(json.dumps(document, indent=1))


def print_lens(
    calibration: LensCalibration, rejected: Sequence[RejectedView], progress: Progress
) -> None:
    """Prints the views, the parameters, and whether they suffice."""
    views = [
        (view.name, str(view.corners), str(view.corners_left_out or ""), f"{view.rms_px:.3f}")
        for view in calibration.views
    ]
    views += [(view.name, "not used", "", view.reason) for view in rejected]
    heads = ("view", "corners", "left out", "error px")
    outputs.print_table(TextTable("Board views", heads, tuple(views)))
    parameters = []
    lens, sigmas = calibration.lens, calibration.sigmas
    for name, value, sigma in zip(LENS_PARAMETERS, lens.parameters, sigmas, strict=True):
        # Distortion coefficients are far smaller than lengths in pixels.
        digits = 2 if name.endswith("_px") else 6
        parameters.append((name, f"{value:.{digits}f}", f"{sigma:.{digits}f}"))
    outputs.print_table(
        TextTable(
            "Lens",
            ("parameter", "value", "± one sigma"),
            tuple(parameters),
            right=frozenset({"value", "± one sigma"}),
        )
    )
    console = outputs.output_console()
    console.print(
        f"Reprojection error {calibration.rms_px:.3f} px over {len(calibration.views)} views."
    )
    known = f"At its least certain point the lens is off by {progress.sigma_px:.2f} px"
    verdict = "" if progress.missing else ": good enough"
    console.print(f"{known} (one sigma){verdict}.")
    if progress.missing:
        console.print(f"Still needed: {'; '.join(progress.missing)}.")


def print_table(search: TableSearch) -> None:
    """Prints the tags' residuals and the uncertainty they leave."""
    calibration = search.calibration
    has_left_out = not all(tag.used for tag in calibration.tags)
    offsets = ("x off mm", "y off mm", "off mm")
    rows = []
    for tag in calibration.tags:
        # `z` prints a rounded zero without its minus.
        numbers = (f"{value:z.2f}" for value in (tag.dx_mm, tag.dy_mm, tag.distance_mm))
        used = ("yes" if tag.used else "left out",) if has_left_out else ()
        rows.append((str(tag.id), *numbers, *used))
    heads = ("table tag", *offsets, *(("used",) if has_left_out else ()))
    outputs.print_table(TextTable("Table tags", heads, tuple(rows), right=frozenset(offsets)))
    console = outputs.output_console()
    for line in _sentences(calibration, search):
        console.print(line, markup=False)


def _sentences(calibration: TableCalibration, search: TableSearch) -> list[str]:
    x_mm, y_mm, z_mm = calibration.pose.camera_centre_mm
    sentences = [
        f"The camera is at x {x_mm:.0f} mm, y {y_mm:.0f} mm, {z_mm:.0f} mm above the table.",
        f"Reprojection error {calibration.rms_px:.3f} px; positions on the table are accurate to "
        f"{calibration.sigma_mm:.2f} mm (one sigma).",
    ]
    if search.sigma_with_lens_mm is not None:
        sentences.append(
            "The lens is not calibrated: after `tablecam calibrate lens`, positions would be "
            f"accurate to about {search.sigma_with_lens_mm:.2f} mm."
        )
    return [*sentences, *(f"Note: {note}." for note in search.notes)]


def _header(camera_file: CameraFile, written: dict[str, Path | None]) -> dict[str, Any]:
    files = {role: None if path is None else str(path) for role, path in written.items()}
    return {
        "name": camera_file.name,
        "title": camera_file.shown_title,
        "width_px": camera_file.width_px,
        "height_px": camera_file.height_px,
        "files": files,
    }
