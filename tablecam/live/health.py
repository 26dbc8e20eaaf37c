"""The camera's health in numbers and words, from what the reader and the last search say."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tablecam.capture.status import SourceStatus
from tablecam.live.advice import FEWEST_TABLE_TAGS
from tablecam.live.state import Health

_SLOW_S = 0.6


@dataclass(frozen=True, slots=True)
class Tally:
    """What the newest frame came to.

    `table_tags` are the ids seen of the `table_tags_listed`; `missing` the bases' tags that have
    never been seen; `reprojection_px` and `behind_s` as in `Health`; `has_moved` whether that
    error is too large for a calibration that holds. `advice` are sentences about what to do
    (`SteadyAdvice`), shown as they are.
    """

    seen: int = 0
    held: int = 0
    missing: tuple[int, ...] = ()
    table_tags: tuple[int, ...] = ()
    table_tags_listed: tuple[int, ...] = ()
    reprojection_px: float | None = None
    has_moved: bool = False
    behind_s: float | None = None
    advice: tuple[str, ...] = ()


def health(
    status: SourceStatus, calibration: str, tally: Tally | None, *, fault: str = ""
) -> Health:
    """The health of a source whose newest frame came to `tally`; None before the first one.

    `fault` is what kept tablecam itself from reading the newest frame.
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
        warnings=((fault,) if fault else ()) + tuple(_warnings(status, tally)),
    )


def _warnings(status: SourceStatus, tally: Tally | None) -> Iterable[str]:
    if status.state == "lost":
        yield status.message
    yield from status.notes
    if tally is None or status.state in ("opening", "lost"):
        return
    yield from _table_warnings(tally)
    yield from tally.advice
    if tally.behind_s is not None and tally.behind_s > _SLOW_S:
        yield f"this computer is {tally.behind_s:.1f} s behind the camera"


def _table_warnings(tally: Tally) -> Iterable[str]:
    hidden = [tag for tag in tally.table_tags_listed if tag not in tally.table_tags]
    if len(tally.table_tags) < min(FEWEST_TABLE_TAGS, len(tally.table_tags_listed)):
        names = ", ".join(map(str, hidden))
        yield f"table tags {names} are hidden: a bump of the camera would go unnoticed"
    if tally.has_moved:
        yield (
            f"the table tags lie {tally.reprojection_px or 0:.1f} px beside their places: the "
            "camera or a tag has moved; run `tablecam calibrate table` again"
        )
