"""The folder beside a camera file where board views are kept the moment that they are taken."""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from tablecam.errors import BadInput

Picture = NDArray[np.uint8]

_DROPPED = "dropped"


class ViewFolder:
    """Board views as grey PNG pictures, so that a crash loses none and none is compressed away.

    `tablecam calibrate lens` reads them too. Dropped views move to a folder inside. The folder is
    made when the first view comes.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def beside(cls, camera_path: Path) -> ViewFolder:
        """The folder that goes with a camera file: `camera.views` beside `camera.json`."""
        return cls(camera_path.with_suffix(".views"))

    def names(self) -> list[str]:
        """The views that are there, in order."""
        return sorted(path.stem for path in self.path.glob("*.png"))

    def pictures(self) -> Iterator[tuple[str, Picture]]:
        """Each view's name and grey picture; what cannot be read is left out."""
        for name in self.names():
            data = np.fromfile(self._file(name), dtype=np.uint8)
            picture = cv2.imdecode(data, cv2.IMREAD_GRAYSCALE) if data.size else None
            if picture is not None:
                yield name, np.asarray(picture, dtype=np.uint8)

    def save(self, name: str, picture: Picture) -> None:
        """Keep a view. It is there whole, or not at all.

        Raises:
            BadInput: It cannot be written.
        """
        file = self._file(name)
        fresh = file.with_suffix(".png.tmp")
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            _, encoded = cv2.imencode(".png", picture)
            fresh.write_bytes(encoded.tobytes())
            os.replace(fresh, file)
        except OSError as error:
            raise BadInput(str(file), f"the view could not be kept: {error.strerror}") from None

    def drop(self, name: str) -> None:
        """Move a view to the dropped ones."""
        dropped = self.path / _DROPPED
        dropped.mkdir(parents=True, exist_ok=True)
        if self._file(name).exists():
            os.replace(self._file(name), dropped / f"{name}.png")

    def restore(self, name: str) -> None:
        """Bring a dropped view back."""
        dropped = self.path / _DROPPED / f"{name}.png"
        if dropped.exists():
            os.replace(dropped, self._file(name))

    def set_aside(self) -> Path | None:
        """Rename the folder, so that a new one may begin; its new path, None if there was none."""
        if not self.path.exists():
            return None
        for number in itertools.count(1):
            aside = self.path.with_name(f"{self.path.name}.old-{number}")
            if not aside.exists():
                os.replace(self.path, aside)
                return aside
        raise AssertionError("there is always a next number")

    def _file(self, name: str) -> Path:
        return self.path / f"{name}.png"
