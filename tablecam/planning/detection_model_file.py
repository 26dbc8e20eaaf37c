"""Reads and writes the file of the detection model, which the benchmark measures."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import Annotated

from pydantic import Field

from tablecam.documents import read_toml
from tablecam.planning.detection_model import DetectionModel, MeasuredRow
from tablecam.table.sections import StrictModel

FORMAT = "tablecam.expectation"
VERSION = 1

Positive = Annotated[float, Field(gt=0)]
NotNegative = Annotated[float, Field(ge=0)]


class _Ordinary(StrictModel):
    """The table `ordinary`: the noise and blur of the rows that form the curves."""

    noise_grey: NotNegative
    blur_px: NotNegative


class _Row(StrictModel):
    """One entry of `row`; its keys are the fields of `MeasuredRow`."""

    px_per_cell: Positive
    blur_px: NotNegative
    noise_grey: NotNegative
    noise_share: NotNegative
    found_blur_px: Positive
    tags: Annotated[int, Field(gt=0)]
    recall: Annotated[float, Field(ge=0, le=1)]
    median_px: Positive
    p95_px: Positive
    median_deg: Positive
    p95_deg: Positive


class _File(StrictModel):
    """The whole file."""

    format: str
    version: int
    measured_with: Annotated[str, Field(min_length=1)]
    ordinary: _Ordinary
    row: list[_Row]


@cache
def default_model() -> DetectionModel:
    """Returns the model that comes with tablecam."""
    with as_file(files("tablecam.planning") / "detection_model.toml") as path:
        return read_model(path)


def read_model(path: Path) -> DetectionModel:
    """Reads a model from a file.

    Raises:
        BadInput: Names the file, the line and the key, what was expected and what was found.
    """
    document = read_toml(path)
    document.require(FORMAT, VERSION)
    file = document.parsed(_File)
    rows = tuple(MeasuredRow(**row.model_dump()) for row in file.row)
    ordinary = file.ordinary
    try:
        return DetectionModel(file.measured_with, ordinary.noise_grey, ordinary.blur_px, rows)
    # The rows are valid one by one, but do not form a model.
    except ValueError as error:
        raise document.error(("row",), str(error)) from None


def write_model(path: Path, model: DetectionModel) -> None:
    """Writes a model, rounded to significant digits; reading and writing again is lossless."""
    rows = sorted(model.rows, key=lambda row: (row.px_per_cell, row.blur_px, row.noise_grey))
    ordinary = _inline({"noise_grey": model.ordinary_noise_grey, "blur_px": model.ordinary_blur_px})
    lines = [
        "# How reliably tags are found and how accurately placed, as the benchmark measured.",
        f'format = "{FORMAT}"',
        f"version = {VERSION}",
        f"measured_with = {json.dumps(model.measured_with, ensure_ascii=False)}",
        "# Noise and blur of the rows that make the curves; others show what more of them costs.",
        f"ordinary = {ordinary}",
        "row = [",
        *(f"  {_inline(dataclasses.asdict(row))}," for row in rows),
        "]",
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _inline(values: Mapping[str, float]) -> str:
    """Formats an inline table."""
    return "{" + ", ".join(f"{key} = {_number(value)}" for key, value in values.items()) + "}"


def _number(value: float) -> str:
    """Formats an integer as it is, a float to four digits, more than measurements need."""
    return str(value) if isinstance(value, int) else repr(float(f"{value:.4g}"))
