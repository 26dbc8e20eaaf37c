"""One picture from a source."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """A picture (height, width, 3), blue-green-red, 8 bits, that nobody may draw upon.

    `number` counts the frames of its source from 0. `taken_at_s` is on the clock of
    `time.monotonic`, whatever the source.
    """

    image: NDArray[np.uint8]
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
        """

    def close(self) -> None:
        """Let go of the device or file. May be called twice."""
