"""Summarises the camera's health in numbers and words, from reader and last search."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tablecam.capture.status import SourceStatus
from tablecam.live.state import Health

_SLOW_S = 0.6


@dataclass(frozen=True, slots=True)
class Tally:
    """The newest frame in figures.

    `missing` are the bases' tags that have never been seen; `reprojection_px` and `behind_s` are as
    in `Health`. `trouble` is what is amiss with camera or table tags (`Registration.because`), or
    empty; `advice` are sentences about what to do (`SteadyAdvice`). Both are shown as they are.
    """

    seen: int = 0
    held: int = 0
    missing: tuple[int, ...] = ()
    reprojection_px: float | None = None
    behind_s: float | None = None
    trouble: str = ""
    advice: tuple[str, ...] = ()


def health(
    status: SourceStatus,
    calibration: str,
    tally: Tally | None,
    *,
    fault: str = "",
    unkept: str = "",
) -> Health:
    """Summarises a source and its newest frame; `tally` is None before the first frame.

    `fault` is what kept tablecam itself from reading the newest frame, `unkept` what keeps the game
    from being written to its file.
    """
    seen = tally or Tally()
    return Health(
        source=status.name,
        state=status.state,
        message=status.message,
        calibration=calibration,
        frames_per_s=status.frames_per_s,
        tags_seen=seen.seen,
        tags_held=seen.held,
        missing=seen.missing,
        reprojection_px=seen.reprojection_px,
        behind_s=seen.behind_s,
        warnings=(*filter(None, (fault, unkept)), *_warnings(status, tally)),
    )


def _warnings(status: SourceStatus, tally: Tally | None) -> Iterable[str]:
    if status.state == "lost":
        yield status.message
    yield from status.notes
    # Tags and delays mean nothing while no picture arrives.
    if tally is None or status.state in ("opening", "lost"):
        return
    if tally.trouble:
        yield tally.trouble
    yield from tally.advice
    if tally.behind_s is not None and tally.behind_s > _SLOW_S:
        yield f"this computer is {tally.behind_s:.1f} s behind the camera"
