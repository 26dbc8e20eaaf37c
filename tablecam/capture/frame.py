"""A frame of a source, and the interface of all sources."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from tablecam.capture.picture import Image, Picture


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """One picture of a source; read-only, decoded on demand, usable from any thread.

    `number` counts the frames of its source from 0. `taken_at_s` is on the clock of
    `time.monotonic` for every source.
    """

    picture: Picture
    number: int
    taken_at_s: float

    @property
    def width_px(self) -> int:
        """The width of the picture."""
        return self.picture.width_px

    @property
    def height_px(self) -> int:
        """The height of the picture."""
        return self.picture.height_px

    @property
    def image(self) -> Image:
        """The whole picture (height, width, 3), blue-green-red, 8 bits."""
        return self.picture.image

    def grey(self) -> Image:
        """Returns the whole picture in grey (height, width), from which tags are read."""
        return self.picture.grey()

    def reduced_grey(self) -> Image:
        """Returns the grey means of 8 x 8 pixels: (ceil(height / 8), ceil(width / 8))."""
        return self.picture.reduced_grey()


class Source(Protocol):
    """A sequence of pictures, open from its construction."""

    @property
    def name(self) -> str:
        """The name shown to users: `camera 0`, `game.mp4`, `simulated`."""

    def read(self) -> Frame | None:
        """Returns the next frame, waiting as long as the source needs; None at a clean end.

        Raises:
            SourceLost: The source gives no more pictures but may come back.
            BadInput: The next picture can never be read, such as a broken file in a folder.
        """

    def close(self) -> None:
        """Releases the device or file; may be called twice."""


@runtime_checkable
class HasNotes(Protocol):
    """A source that reports notes about itself."""

    @property
    def notes(self) -> tuple[str, ...]:
        """One sentence for each option that did not take effect, and for broken pictures."""
