"""One picture from a source."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

Image = NDArray[np.uint8]


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """A picture (height, width, 3), blue-green-red, 8 bits, that nobody may draw upon.

    `number` counts the frames of its source from 0. `taken_at_s` is on the clock of
    `time.monotonic`, whatever the source.
    """

    image: Image
    number: int
    taken_at_s: float

    @property
    def width_px(self) -> int:
        """The picture's width."""
        return int(self.image.shape[1])

    @property
    def height_px(self) -> int:
        """The picture's height."""
        return int(self.image.shape[0])


class Source(Protocol):
    """Anything that gives pictures one after the other; open from the moment it exists."""

    @property
    def name(self) -> str:
        """What a person calls it: `camera 0`, `game.mp4`, `simulated`."""

    def read(self) -> Frame | None:
        """The next frame, waiting for it as long as the source needs; None at a clean end.

        Raises:
            SourceLost: The source gives no more pictures but may come back.
            BadInput: What comes next can never be read, such as a broken picture of a folder.
        """

    def close(self) -> None:
        """Let go of the device or file. May be called twice."""


@runtime_checkable
class Noted(Protocol):
    """A source that has something to say of how it was opened."""

    @property
    def notes(self) -> tuple[str, ...]:
        """One sentence for each thing that was asked for and is not so."""


def frozen_image(image: NDArray[Any]) -> Image:
    """A picture as `Frame` holds it, from what OpenCV decoded: (h, w), (h, w, 3) or (h, w, 4).

    It cannot be written to. The array is frozen in place where it already has the right form, so
    the caller gives it away.
    """
    if image.ndim == 2:
        image = np.repeat(image[..., None], 3, axis=2)
    frozen = np.asarray(image[..., :3], dtype=np.uint8)
    frozen.flags.writeable = False
    return frozen
