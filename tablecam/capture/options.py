"""How a source is to be opened: what is asked of a camera, and how a film or folder is played."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

BackEnd = Literal["any", "v4l2", "dshow", "msmf", "avfoundation"]
"""Who talks to a USB camera: Linux has `v4l2`, Windows `dshow` and `msmf`, macOS `avfoundation`."""

AtEnd = Literal["stop", "loop"]
"""At the last picture: a clean end, or the first one again. A lone picture keeps standing."""

Pace = Literal["real", "fast"]
"""A film or folder at its own rate, or as fast as it is read."""


@dataclass(frozen=True, slots=True)
class SourceOptions:
    """What is asked of a source; each kind takes what concerns it and leaves the rest.

    A camera: `resolution_px`, `frames_per_s`, `mjpeg` (compressed by the camera, which USB needs
    for large pictures), `back_end`, and `focus` and `exposure`, in the camera's own units, which
    turn their automatics off; None leaves them as they are. `hold_focus` and `hold_exposure` turn
    the automatics off where they stand.
    A folder, or a picture that keeps standing: `frames_per_s`. A stream: the timeouts.
    """

    resolution_px: tuple[int, int] | None = None
    frames_per_s: float | None = None
    mjpeg: bool = True
    back_end: BackEnd = "any"
    focus: float | None = None
    exposure: float | None = None
    hold_focus: bool = False
    hold_exposure: bool = False
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
