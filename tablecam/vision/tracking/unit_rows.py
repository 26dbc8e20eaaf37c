"""The flush rows of all units, kept from picture to picture: a part of the tracker's memory."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tablecam.table.roster import Roster
from tablecam.vision.tracking.bases import BaseSighting
from tablecam.vision.tracking.row_alignment import (
    UNKNOWN_PLAY_DEG,
    Row,
    flush_rows,
    play_deg,
    straightened,
)
from tablecam.vision.tracking.track import Track

Unit = tuple[int, ...]


class UnitRows:
    """What the bases of units that rest tell of their headings together."""

    def __init__(self, roster: Roster) -> None:
        self._unit_by_tag = {tag: unit.tags for unit in roster.units for tag in unit.tags}
        self._rows: dict[Unit, tuple[Row, ...]] = {}
        self._straight: dict[int, BaseSighting] = {}
        self._play_deg = UNKNOWN_PLAY_DEG

    def mates(self, tag: int) -> Unit:
        """All tags of a base's unit; none of a commander's."""
        return self._unit_by_tag.get(tag, ())

    def seen(self, tag: int, track: Track) -> BaseSighting:
        """A base as its track shows it, or better, as its row does."""
        return self._straight.get(tag, track.seen)

    def update(
        self, tags: Iterable[int], tracks: Mapping[int, Track], *, is_whole: bool
    ) -> set[int]:
        """Lay the units of these tags out anew; all tags of which something may have changed.

        `is_whole`: most of the table was looked at, so that it tells how much play bases have.
        """
        tags = set(tags)
        units = {self._unit_by_tag[tag] for tag in tags if tag in self._unit_by_tag}
        for unit in units:
            resting = [tracks[tag].seen for tag in unit if _rests(tracks.get(tag))]
            self._rows[unit] = flush_rows(resting)
        if is_whole:
            self._play_deg = play_deg([row for rows in self._rows.values() for row in rows])
        for unit in units:
            for tag in unit:
                self._straight.pop(tag, None)
            self._straight |= straightened(self._rows[unit], self._play_deg)
        return tags.union(*units) & tracks.keys()


def _rests(track: Track | None) -> bool:
    return track is not None and track.is_settled and not track.is_doubted
