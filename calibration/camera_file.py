"""Reads and writes the camera file (`camera.json`) without ever losing an old one.

Lens and table calibration are stored separately: locating the table again always starts from the
board views alone and never counts one picture twice.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from numpy.typing import ArrayLike

from calibration.camera import LEAST_TAGS, Camera
from calibration.camera_document import FORMAT, VERSION, from_text, to_document
from calibration.errors import CalibrationError
from calibration.results import LensCalibration, TableCalibration

__all__ = [
    "FORMAT",
    "VERSION",
    "CameraFile",
    "back_up",
    "calibration_name",
    "read_camera_file",
    "to_json",
    "write_camera_file",
]


@dataclass(frozen=True, slots=True)
class CameraFile:
    """A camera file: a camera's lens, its pose over the table, or both.

    `name` is the calibration's and is stored with measurements; `title` is its name for people,
    empty if they gave none. `source` is the file's name in errors.
    """

    name: str
    width_px: int
    height_px: int
    lens: LensCalibration | None = None
    table: TableCalibration | None = None
    source: str = field(default="camera file", compare=False)
    title: str = ""

    def __post_init__(self) -> None:
        if self.lens is None and self.table is None:
            raise ValueError("expected a lens, a table or both, got neither")

    @property
    def shown_title(self) -> str:
        """The calibration's title: by default its source and the day."""
        part = self.table or self.lens
        assert part is not None, "a camera file holds one of them"
        made_from = next(iter(part.origin.made_from), self.name)
        return self.title or f"{made_from}, {part.origin.made_at[:10]}"

    def camera(self, tags_mm: ArrayLike | None = None) -> Camera:
        """Returns the camera over its table, with the joint covariance of lens and pose.

        Args:
            tags_mm: The places of the table's tags, (n, 2), of which it must see three.

        Raises:
            CalibrationError: The file has no table, or its camera does not see the table.
        """
        if self.table is None:
            raise CalibrationError(
                f"{self.source}: table: expected a table calibration, found only a lens: "
                "run `tablecam calibrate table` first"
            )
        camera = Camera(
            self.table.lens,
            self.table.pose,
            self.name,
            self.table.covariance,
            self.shown_title,
            self.table.fits_within_mm,
        )
        if tags_mm is not None and (seen := int(camera.sees(tags_mm).sum())) < LEAST_TAGS:
            raise CalibrationError(
                f"{self.source}: table: expected a camera that sees {LEAST_TAGS} of the table's "
                f"tags or more, got one that sees {seen}"
            )
        return camera

    def check_picture_size(self, width_px: int, height_px: int, picture_name: str) -> None:
        """Refuses a picture that this camera cannot have taken.

        Raises:
            CalibrationError: The picture's size is not the camera file's.
        """
        if (width_px, height_px) != (self.width_px, self.height_px):
            raise CalibrationError(
                f"{picture_name}: expected a picture of {self.width_px}x{self.height_px} px as in "
                f"{self.source}, got {width_px}x{height_px}"
            )


def calibration_name(made_at: datetime, *results: LensCalibration | TableCalibration) -> str:
    """Returns a name for a calibration: the time and six letters of a hash of its results.

    It is valid in file names on every system.
    """
    digest = hashlib.sha256()
    for result in results:
        # The hash covers all results: two calibrations made in one second still get different
        # names.
        digest.update(result.lens.parameters.tobytes() + result.covariance.tobytes())
        if isinstance(result, TableCalibration):
            digest.update(repr(result.pose).encode())
    return f"{made_at:%Y%m%d-%H%M%S}-{digest.hexdigest()[:6]}"


def read_camera_file(path: Path | str) -> CameraFile:
    """Reads the camera file at `path`.

    Raises:
        CalibrationError: The file is missing, is no camera file, is of another version, or one of
            its keys is unknown, missing or wrong.
    """
    source = str(path)
    try:
        # The "-sig" accepts the byte order mark that some editors write.
        text = Path(path).read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise CalibrationError(f"{source}: there is no such file") from None
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise CalibrationError(f"{source}: expected a camera file, got: {reason}") from error
    except UnicodeDecodeError as error:
        raise CalibrationError(f"{source}: expected JSON text in UTF-8") from error
    name, width_px, height_px, lens, table, title = from_text(text, source)
    return CameraFile(name, width_px, height_px, lens, table, source, title)


def to_json(camera_file: CameraFile) -> str:
    """Returns the text of a camera file."""
    document = to_document(
        (
            camera_file.name,
            camera_file.width_px,
            camera_file.height_px,
            camera_file.lens,
            camera_file.table,
            camera_file.title,
        )
    )
    return json.dumps(document, indent=1, allow_nan=False) + "\n"


def write_camera_file(path: Path | str, camera_file: CameraFile) -> Path | None:
    """Writes a camera file; returns the path of the copy of an earlier file, or None.

    The earlier file is copied beside the new one, named after its calibration. A complete file is
    at `path` at every instant, so a crash loses neither.

    Raises:
        CalibrationError: The file cannot be written.
    """
    path = Path(path)
    text = to_json(camera_file)
    try:
        # The new text is safely on disk before the old file is touched.
        temporary = _write_beside(path, text)
        try:
            copy_path = back_up(path)
            os.replace(temporary, path)
        except OSError:
            temporary.unlink(missing_ok=True)
            raise
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise CalibrationError(f"{path}: cannot write the camera file: {reason}") from error
    return copy_path


def _write_beside(path: Path, text: str) -> Path:
    """Writes a temporary file in the same directory and returns its path."""
    with tempfile.NamedTemporaryFile(
        "w",
        encoding="utf-8",
        # `os.replace` is atomic only within one file system.
        dir=path.parent,
        prefix=f".{path.name}.",
        suffix=".tmp",
        delete=False,
    ) as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.chmod(file.name, 0o644)  # temporary files are private; anyone may read a camera file
    return Path(file.name)


def back_up(path: Path) -> Path | None:
    """Copies a file that is about to be overwritten; returns the copy's path, or None.

    The copy lies beside it, named after its calibration, or `old` if it is no camera file; an
    identical copy is reused. None means that there is no file at `path`.

    Raises:
        OSError: It cannot be read, or the copy cannot be written.
    """
    try:
        old = path.read_bytes()
    except FileNotFoundError:
        return None
    for copy_path in _copy_paths(path):
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


def _copy_paths(path: Path) -> Iterator[Path]:
    """Yields paths for the copy of a file: with its calibration's name, then numbered."""
    try:
        name = read_camera_file(path).name
    except CalibrationError:
        name = "old"  # not a camera file, but still not ours to lose
    yield path.with_suffix(f".{name}{path.suffix}")
    for number in itertools.count(2):
        yield path.with_suffix(f".{name}-{number}{path.suffix}")
