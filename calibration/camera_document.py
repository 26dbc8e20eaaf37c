"""Reads and writes the JSON of a camera file, checking every key."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator
from pydantic_core import ErrorDetails

from calibration.camera import CAMERA_PARAMETERS, Pose
from calibration.errors import CalibrationError
from calibration.lens import LENS_PARAMETERS, Lens
from calibration.results import (
    LensCalibration,
    Origin,
    TableCalibration,
    TagResidual,
    ViewError,
)

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

Array = NDArray[np.float64]
Contents = tuple[str, int, int, LensCalibration | None, TableCalibration | None, str]
"""A name, a picture's width and height, the lens and table calibrations, and a title."""


class _Part(BaseModel):
    """A part of a camera file, with unknown keys forbidden."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class _View(_Part):
    """The error of one board view."""

    name: str
    rms_px: Length
    corners: Count
    corners_left_out: Count = 0


class _Tag(_Part):
    """The offset of one table tag."""

    id: Count
    dx_mm: Number
    dy_mm: Number
    used: bool


class _Lens(_Part):
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


class _File(_Part):
    """The whole camera file."""

    format: Literal["tablecam.camera"]
    version: Literal[1]
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


def from_text(text: str, source: str) -> Contents:
    """Parses a camera file's text; `source` is its name in errors.

    Raises:
        CalibrationError: It is no camera file, of another version, or a key is unknown, missing or
            wrong. The message names its line and how many more errors there are.
    """
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        raise CalibrationError(
            f"{source}:{error.lineno}: expected JSON, got: {error.msg}"
        ) from error
    # A hostile file must give an error in one line, too.
    except (ValueError, RecursionError) as error:  # thousands of digits, or of levels
        raise CalibrationError(f"{source}: expected JSON, got: {error}") from error
    _check_version(document, text, source)
    try:
        file = _File.model_validate(document)
    except ValidationError as error:
        first, *others = _faults(error, text, source)
        more = f" (and {len(others)} more)" if others else ""
        raise CalibrationError(f"{first}{more}", [first, *others]) from error
    size = file.width_px, file.height_px
    lens = None if file.lens is None else _lens_calibration(file.lens, size)
    table = None if file.table is None else _table_calibration(file.table, size)
    return file.name, *size, lens, table, file.title


def to_document(contents: Contents) -> dict[str, Any]:
    """Returns the JSON document of a camera file."""
    name, width_px, height_px, lens, table, title = contents
    return {
        "format": FORMAT,
        "version": VERSION,
        "name": name,
        **({"title": title} if title else {}),
        "width_px": width_px,
        "height_px": height_px,
        "lens": None if lens is None else _lens_document(lens),
        "table": None if table is None else _table_document(table),
    }


def _check_version(document: Any, text: str, source: str) -> None:
    """Raises CalibrationError if format or version are not ours."""
    if not isinstance(document, dict):
        raise CalibrationError(f"{source}: expected a camera file, got {_shown(document)}")
    for key, expected in (("format", FORMAT), ("version", VERSION)):
        got = document.get(key)
        # In Python, JSON's true equals 1, but it is not a version.
        if got != expected or isinstance(got, bool):
            got_text = _shown(got) if key in document else "nothing"
            place = f"{source}:{_line(text, (key,))}" if key in document else source
            raise CalibrationError(f"{place}: {key}: expected {_shown(expected)}, got {got_text}")


def _faults(error: ValidationError, text: str, source: str) -> list[str]:
    """Converts pydantic's errors to one line each."""
    return [
        f"{_place(problem['loc'], text, source)}: {_expected_and_got(problem)}"
        for problem in error.errors(include_url=False)
    ]


def _place(path: Sequence[str | int], text: str, source: str) -> str:
    key = "".join(f"[{p + 1}]" if isinstance(p, int) else f".{p}" for p in path).lstrip(".")
    return f"{source}:{_line(text, path)}: {key}" if path else source


def _expected_and_got(problem: ErrorDetails) -> str:
    """Returns what was expected and what was found, in words."""
    if problem["type"] == "extra_forbidden":
        return f"unknown key, with value {_shown(problem['input'])}"
    if problem["type"] == "missing":
        return "this key is missing"
    message = problem["msg"].removeprefix("Value error, ")
    message = message[0].lower() + message[1:]
    return f"{message}, got {_shown(problem['input'])}" if "got" not in message else message


def _line(text: str, path: Sequence[str | int]) -> int:
    """Returns the line, counted from 1, of the value at a path of a JSON text, or of its parent."""
    decode = json.JSONDecoder().raw_decode
    # Pydantic's errors have no line numbers: the text is read along the error's path.
    value_at = at = _next_token(text, 0)
    for part in path:
        at, index = _next_token(text, at + 1), 0
        while text[at] not in "]}":
            begin, name = at, index
            if isinstance(part, str):
                name, end = decode(text, at)
                at = _next_token(text, end)
            if name == part:
                value_at = begin
                break
            # Skips a value to reach the next key or element.
            at, index = _next_token(text, decode(text, at)[1]), index + 1
        # A missing key has no line of its own: use its parent's.
        else:  # it is missing
            break
    return text.count("\n", 0, value_at) + 1


def _next_token(text: str, at: int) -> int:
    """Returns the index of the next key, value or closing bracket."""
    while text[at] in " \t\r\n,:":
        at += 1
    return at


def _shown(value: Any) -> str:
    """Returns a value as JSON of at most 60 characters."""
    try:
        text = json.dumps(value)
    except RecursionError:
        text = "JSON nested too deeply"
    return text if len(text) <= 60 else text[:57] + "..."


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
) -> dict[str, Any]:
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


def _lens_document(calibration: LensCalibration) -> dict[str, Any]:
    """Returns the document of a lens calibration."""
    views = [asdict(view) for view in calibration.views]
    return {**_common_document(calibration, LENS_PARAMETERS), "views": views}


def _table_document(calibration: TableCalibration) -> dict[str, Any]:
    """Returns the document of a table calibration."""
    return {
        **_common_document(calibration, CAMERA_PARAMETERS),
        "rotation_vector_rad": list(calibration.pose.rotation_vector_rad),
        "translation_mm": list(calibration.pose.translation_mm),
        "sigma_mm": calibration.sigma_mm,
        "tags": [asdict(tag) for tag in calibration.tags],
    }
