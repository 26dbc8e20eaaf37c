"""Options for opening a source: what to request of a camera, and how to play a file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

BackEnd = Literal["any", "v4l2", "dshow", "msmf", "avfoundation"]
"""The driver interface of a USB camera: `v4l2` on Linux, `dshow` and `msmf` on Windows,
`avfoundation` on macOS."""

AtEnd = Literal["stop", "loop"]
"""After the last picture: end cleanly, or begin again. A single picture that loops stays in
view."""

Pace = Literal["real", "fast"]
"""Play a video or folder at its own rate, or as fast as it is read."""


@dataclass(frozen=True, slots=True)
class SourceOptions:
    """The options of a source; each kind of source uses those that concern it.

    A camera uses `resolution_px`, `frames_per_s`, `mjpeg` (compression in the camera, which USB
    needs for large pictures), `back_end`, and `focus` and `exposure`, in the camera's own units,
    which turn the automatic controls off; None leaves them on. `hold_focus` turns autofocus off
    where it stands. A folder, or a single looping picture, uses `frames_per_s`; a stream uses the
    timeouts.
    """

    resolution_px: tuple[int, int] | None = None
    frames_per_s: float | None = None
    mjpeg: bool = True
    back_end: BackEnd = "any"
    focus: float | None = None
    exposure: float | None = None
    hold_focus: bool = False
    at_end: AtEnd = "stop"
    pace: Pace = "real"
    open_timeout_s: float = 10.0
    read_timeout_s: float = 5.0

    def __post_init__(self) -> None:
        if self.resolution_px is not None and min(self.resolution_px) <= 0:
            raise ValueError(f"expected a resolution above 0, got {self.resolution_px}")
        if self.frames_per_s is not None and not self.frames_per_s > 0:
            raise ValueError(f"expected frames_per_s above 0, got {self.frames_per_s}")
        if not (self.open_timeout_s > 0 and self.read_timeout_s > 0):
            raise ValueError(
                "expected timeouts above 0 s, got "
                f"{self.open_timeout_s} (open), {self.read_timeout_s} (read)"
            )
