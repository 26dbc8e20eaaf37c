"""Reads and writes the camera file (`camera.json`) without ever losing an old one.

Lens and table calibration are stored separately: locating the table again always starts from the
board views alone and never counts one picture twice.
"""

from __future__ import annotations

import itertools
import json
import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, ClassVar, Self

import numpy as np
from pydantic import Field, field_validator, model_validator

from calibration.camera import CAMERA_PARAMETERS, Pose
from calibration.lens import LENS_PARAMETERS, Lens
from calibration.results import (
    CameraFile,
    LensCalibration,
    Origin,
    TableCalibration,
    TagResidual,
    ViewError,
)
from tablecam.documents import Document, Json, json_document, text_of_file
from tablecam.errors import BadInput
from tablecam.record.atomic_files import disk_errors, replace_file
from tablecam.table.sections import StrictModel

FORMAT = "tablecam.camera"
MOST_TITLE = 60
VERSION = 1

Number = Annotated[float, Field(allow_inf_nan=False)]
Length = Annotated[float, Field(allow_inf_nan=False, ge=0)]
Count = Annotated[int, Field(ge=0)]
Pixels = Annotated[int, Field(gt=0, le=100_000)]
Turn = Annotated[float, Field(ge=-10, le=10)]
Shift = Annotated[float, Field(ge=-1e6, le=1e6)]
"""Limits of a camera's offset in millimetres: none is a kilometre away."""
Rows = list[list[Number]]

_LEAST_FOCAL_PX, _MOST_PX = 1.0, 1e6
_MOST_RADIAL, _MOST_TANGENTIAL = 1000.0, 0.1
"""Limits of distortion: far beyond any lens, yet nothing overflows."""


class _View(StrictModel):
    """The error of one board view."""

    name: str
    rms_px: Length
    corners: Count
    corners_left_out: Count = 0


class _Tag(StrictModel):
    """The offset of one table tag."""

    id: Count
    dx_mm: Number
    dy_mm: Number
    used: bool


class _Lens(StrictModel):
    """The keys that a lens calibration and a table calibration share."""

    order: ClassVar[tuple[str, ...]]

    camera_matrix: Rows
    distortion_k1_k2_p1_p2_k3: Annotated[list[Number], Field(min_length=5, max_length=5)]
    covariance_order: list[str]
    covariance: Rows
    rms_px: Length
    made_at: str
    made_from: list[str]

    @field_validator("camera_matrix")
    @classmethod
    def _has_focal_lengths(cls, rows: list[list[float]]) -> list[list[float]]:
        """Checks that the matrix is a camera matrix."""
        expected = "expected [[fx, 0, cx], [0, fy, cy], [0, 0, 1]] with fx and fy above 0"
        if [len(row) for row in rows] != [3, 3, 3]:
            raise ValueError(expected)
        (fx, skew, cx), (below, fy, cy), last = rows
        if not (fx > 0 and fy > 0) or skew != 0 or below != 0 or last != [0, 0, 1]:
            raise ValueError(expected)
        if not (min(fx, fy) >= _LEAST_FOCAL_PX and max(fx, fy, abs(cx), abs(cy)) <= _MOST_PX):
            span = f"fx and fy from {_LEAST_FOCAL_PX:g} to {_MOST_PX:g}"
            raise ValueError(f"expected {span}, and cx and cy within {_MOST_PX:g}, in pixels")
        return rows

    @field_validator("distortion_k1_k2_p1_p2_k3")
    @classmethod
    def _is_of_a_lens(cls, distortion: list[float]) -> list[float]:
        """Checks that the coefficients are in range."""
        k1, k2, p1, p2, k3 = map(abs, distortion)
        if max(k1, k2, k3) > _MOST_RADIAL or max(p1, p2) > _MOST_TANGENTIAL:
            raise ValueError(
                f"expected k1, k2 and k3 within {_MOST_RADIAL:g}, and p1 and p2 within "
                f"{_MOST_TANGENTIAL:g}"
            )
        return distortion

    @field_validator("covariance_order")
    @classmethod
    def _is_ours(cls, names: list[str]) -> list[str]:
        """Checks the order of parameters."""
        if names != list(cls.order):
            raise ValueError(f"expected {', '.join(cls.order)}")
        return names

    @field_validator("covariance")
    @classmethod
    def _is_a_covariance(cls, rows: list[list[float]]) -> list[list[float]]:
        """Checks the size, symmetry and variances of the covariance."""
        size = len(cls.order)
        if len(rows) != size or any(len(row) != size for row in rows):
            raise ValueError(f"expected {size} rows of {size} numbers")
        matrix = np.array(rows)
        # Relative only, as variances of millimetres and of k3 differ by many orders of magnitude.
        if not np.allclose(matrix, matrix.T, rtol=1e-6, atol=0) or np.any(np.diag(matrix) < 0):
            raise ValueError("expected a symmetric matrix with variances of 0 or more")
        return rows


class _LensAlone(_Lens):
    """The lens calibration."""

    order = LENS_PARAMETERS
    views: list[_View]


class _Table(_Lens):
    """The table calibration: lens and pose."""

    order = CAMERA_PARAMETERS
    rotation_vector_rad: Annotated[list[Turn], Field(min_length=3, max_length=3)]
    translation_mm: Annotated[list[Shift], Field(min_length=3, max_length=3)]
    sigma_mm: Length
    tags: list[_Tag]


class CameraDocument(StrictModel):
    """The whole camera file."""

    format: str
    version: int
    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9_-]+$")]
    title: str = ""
    width_px: Pixels
    height_px: Pixels
    lens: _LensAlone | None = None
    table: _Table | None = None

    @field_validator("title")
    @classmethod
    def _is_one_line(cls, title: str) -> str:
        """Checks that the title is one short line."""
        if len(title) > MOST_TITLE or not title.isprintable():
            raise ValueError(f"expected one line of at most {MOST_TITLE} characters")
        return title

    @model_validator(mode="after")
    def _holds_something(self) -> Self:
        """Checks that the file has a lens or a table."""
        if self.lens is None and self.table is None:
            raise ValueError("expected a lens, a table or both, got neither")
        return self


def read_camera_file(path: Path | str) -> CameraFile:
    """Reads the camera file at `path`.

    Raises:
        BadInput: The file is missing, is no camera file, is of another version, or one of its keys
            is unknown, missing or wrong.
    """
    # A covariance may have any size.
    document = json_document(text_of_file(Path(path)), str(path), has_lines=True, largest=math.inf)
    return camera_file_from(document)


def camera_file_from(document: Document) -> CameraFile:
    """Checks the document of a camera file and returns its contents.

    Raises:
        BadInput: As `read_camera_file`.
    """
    document.require(FORMAT, VERSION)
    file = document.parsed(CameraDocument)
    size = file.width_px, file.height_px
    lens = None if file.lens is None else _lens_calibration(file.lens, size)
    table = None if file.table is None else _table_calibration(file.table, size)
    return CameraFile(file.name, *size, lens, table, document.source, file.title)


def to_json(camera_file: CameraFile) -> str:
    """Returns the text of a camera file."""
    document = {
        "format": FORMAT,
        "version": VERSION,
        "name": camera_file.name,
        **({"title": camera_file.title} if camera_file.title else {}),
        "width_px": camera_file.width_px,
        "height_px": camera_file.height_px,
        "lens": None if camera_file.lens is None else _lens_document(camera_file.lens),
        "table": None if camera_file.table is None else _table_document(camera_file.table),
    }
    return json.dumps(document, indent=1, allow_nan=False) + "\n"


def write_camera_file(path: Path | str, camera_file: CameraFile) -> Path | None:
    """Writes a camera file; returns the path of the copy of an earlier file, or None.

    The earlier file is copied beside the new one, named after its calibration, or `old` if it is
    no camera file. A complete file is at `path` at every instant, so a crash loses neither.

    Raises:
        BadInput: The file cannot be written.
    """
    path = Path(path)
    try:
        name = read_camera_file(path).name
    except BadInput:
        name = "old"  # not a camera file, but still not ours to lose
    with disk_errors(str(path), "cannot write the camera file"):
        copy_path = back_up(path, name)
        replace_file(path, to_json(camera_file).encode())
    return copy_path


def back_up(path: Path, name: str = "old") -> Path | None:
    """Copies a file that is about to be overwritten; returns the copy's path, or None.

    The copy lies beside it, with `name` before the ending; an identical copy is reused. None means
    that there is no file at `path`.

    Raises:
        OSError: It cannot be read, or the copy cannot be written.
    """
    try:
        old = path.read_bytes()
    except FileNotFoundError:
        return None
    for copy_path in _copy_paths(path, name):
        try:
            # Mode "x" never overwrites another copy.
            with copy_path.open("xb") as file:
                file.write(old)
                file.flush()
                os.fsync(file.fileno())
        except FileExistsError:
            if copy_path.read_bytes() == old:
                return copy_path
        else:
            return copy_path
    raise AssertionError("there is always a next number")


def _copy_paths(path: Path, name: str) -> Iterator[Path]:
    yield path.with_suffix(f".{name}{path.suffix}")
    for number in itertools.count(2):
        yield path.with_suffix(f".{name}-{number}{path.suffix}")


def _lens(part: _Lens, size: tuple[int, int]) -> Lens:
    """Returns the lens of a part."""
    (fx, _, cx), (_, fy, cy), _ = part.camera_matrix
    return Lens(*size, fx, fy, cx, cy, *part.distortion_k1_k2_p1_p2_k3)


def _origin(part: _Lens) -> Origin:
    """Returns the origin of a part."""
    return Origin(part.made_at, tuple(part.made_from))


def _lens_calibration(part: _LensAlone, size: tuple[int, int]) -> LensCalibration:
    """Converts the file's lens to a lens calibration."""
    return LensCalibration(
        lens=_lens(part, size),
        covariance=np.array(part.covariance),
        rms_px=part.rms_px,
        views=tuple(ViewError(**view.model_dump()) for view in part.views),
        origin=_origin(part),
    )


def _table_calibration(part: _Table, size: tuple[int, int]) -> TableCalibration:
    """Converts the file's table to a table calibration."""
    return TableCalibration(
        lens=_lens(part, size),
        pose=Pose(_triple(part.rotation_vector_rad), _triple(part.translation_mm)),
        covariance=np.array(part.covariance),
        rms_px=part.rms_px,
        sigma_mm=part.sigma_mm,
        tags=tuple(TagResidual(**tag.model_dump()) for tag in part.tags),
        origin=_origin(part),
    )


def _triple(values: Sequence[float]) -> tuple[float, float, float]:
    """Returns three values as a tuple."""
    x, y, z = values
    return x, y, z


def _common_document(
    calibration: LensCalibration | TableCalibration, order: tuple[str, ...]
) -> Json:
    """Returns the keys that both calibrations share."""
    return {
        "camera_matrix": calibration.lens.matrix.tolist(),
        "distortion_k1_k2_p1_p2_k3": calibration.lens.distortion.tolist(),
        "covariance_order": list(order),
        "covariance": calibration.covariance.tolist(),
        "rms_px": calibration.rms_px,
        "made_at": calibration.origin.made_at,
        "made_from": list(calibration.origin.made_from),
    }


def _lens_document(calibration: LensCalibration) -> Json:
    """Returns the document of a lens calibration."""
    views = [asdict(view) for view in calibration.views]
    return {**_common_document(calibration, LENS_PARAMETERS), "views": views}


def _table_document(calibration: TableCalibration) -> Json:
    """Returns the document of a table calibration."""
    return {
        **_common_document(calibration, CAMERA_PARAMETERS),
        "rotation_vector_rad": list(calibration.pose.rotation_vector_rad),
        "translation_mm": list(calibration.pose.translation_mm),
        "sigma_mm": calibration.sigma_mm,
        "tags": [asdict(tag) for tag in calibration.tags],
    }
