"""One picture from a source."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from tablecam.capture.picture import Image, Picture


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """A picture that nobody may draw upon, decoded no further than asked, in any thread.

    `number` counts the frames of its source from 0. `taken_at_s` is on the clock of
    `time.monotonic`, whatever the source.
    """

    picture: Picture
    number: int
    taken_at_s: float

    @property
    def width_px(self) -> int:
        """The picture's width."""
        return self.picture.width_px

    @property
    def height_px(self) -> int:
        """The picture's height."""
        return self.picture.height_px

    @property
    def image(self) -> Image:
        """The whole picture (height, width, 3), blue-green-red, 8 bits."""
        return self.picture.image

    def grey(self) -> Image:
        """The whole picture in grey (height, width): what tags are read from."""
        return self.picture.grey()

    def reduced_grey(self) -> Image:
        """Grey, eight times smaller, each pixel a mean: (ceil(height / 8), ceil(width / 8))."""
        return self.picture.reduced_grey()


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
    """A source that has something to say of itself."""

    @property
    def notes(self) -> tuple[str, ...]:
        """A sentence for each thing that is not as asked for, and for pictures that come broken."""
