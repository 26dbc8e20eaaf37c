"""The simulated tables of the benchmark, by band, and each detector's results on them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from tests.benchmarks.peers import Missing, Peer, apriltag_seconds, peers, seconds
from tests.benchmarks.scores import (
    CLEAR,
    Shown,
    Tally,
    Way,
    our_way,
    peers_way,
    recall,
    tally,
)
from tests.benchmarks.tables import BLUR_PX, Resolution, TablePicture, table_pictures

NOISE_GREY = 4.0
_TIMED = 2
"""Number of tables of a band that are timed, each by the shortest of three runs."""


@dataclass(frozen=True)
class Setting:
    """One kind of simulated table."""

    px_per_cell: float
    resolution: Resolution
    noise_grey: float = NOISE_GREY
    blur_px: float = BLUR_PX
    tilt_deg: float = 0.0
    is_crowded: bool = False

    @property
    def name(self) -> str:
        """Its name in printed tables."""
        words = f"{self.px_per_cell:g} px a cell, {self.resolution}"
        if self.noise_grey != NOISE_GREY:
            words += f", noise {self.noise_grey:g}"
        if self.blur_px != BLUR_PX:
            words += f", blur {self.blur_px:g} px"
        if self.tilt_deg:
            words += f", {self.tilt_deg:g}° oblique"
        return f"{words}, crowded" if self.is_crowded else words

    @property
    def is_ordinary(self) -> bool:
        """Whether noise and blur are those of the tables used for the curves."""
        return (self.noise_grey, self.blur_px) == (NOISE_GREY, BLUR_PX)


SETTINGS = (
    Setting(2.0, "1080p"),
    Setting(2.3, "1080p"),
    Setting(3.0, "1080p"),
    Setting(3.0, "4K"),
    Setting(4.0, "4K"),
    Setting(6.0, "4K"),
)
EXTRA = (
    Setting(1.6, "1080p"),
    Setting(1.8, "1080p"),
    Setting(2.6, "1080p"),
    Setting(3.0, "1080p", noise_grey=2.0),
    Setting(3.0, "1080p", noise_grey=8.0),
    Setting(3.0, "1080p", blur_px=1.0),
    Setting(3.0, "1080p", blur_px=1.5),
)
"""For the curves: without peers."""


@dataclass(frozen=True)
class Outcome:
    """One detector's results on each table of a setting, in order."""

    name: str
    tallies: tuple[Tally, ...]
    seconds: float

    @property
    def all(self) -> Tally:
        """The tags of all tables."""
        return Tally.joined(self.tallies)


@cache
def pictures(setting: Setting, count: int) -> tuple[TablePicture, ...]:
    """The tables of a setting; made once."""
    return tuple(drawn(setting, count))


def drawn(setting: Setting, count: int) -> Iterator[TablePicture]:
    """Draws the tables of a setting, one after the other."""
    return table_pictures(
        setting.px_per_cell,
        count=count,
        resolution=setting.resolution,
        noise_grey=setting.noise_grey,
        blur_px=setting.blur_px,
        tilt_deg=setting.tilt_deg,
        is_crowded=setting.is_crowded,
    )


def shown(picture: TablePicture) -> Shown:
    """A simulated table as something to score."""
    return Shown(
        picture.name, picture.grey, picture.camera, picture.roster, picture.tags, picture.places
    )


@cache
def our_outcome(setting: Setting, count: int) -> Outcome:
    """tablecam's results on a setting's tables, given the true camera."""
    tables = pictures(setting, count)
    return _outcome(our_way(tables[0].camera, tables[0].roster), tables)


def peers_outcomes(setting: Setting, count: int) -> tuple[list[Outcome], list[Missing]]:
    """The others' results on the same tables, and those that are not installed."""
    tables = pictures(setting, count)
    there = [peer for peer in peers() if isinstance(peer, Peer)]
    missing = [peer for peer in peers() if isinstance(peer, Missing)]
    ways = [peers_way(peer, tables[0].camera, tables[0].roster) for peer in there]
    return [_outcome(way, tables) for way in ways], missing


def april_seconds(setting: Setting) -> float | Missing:
    """The time AprilTag 3 takes on the same tables with its own tags, of equal cells."""
    tables = table_pictures(
        setting.px_per_cell,
        count=_TIMED,
        resolution=setting.resolution,
        dictionary="DICT_APRILTAG_36h11",
    )
    return apriltag_seconds([table.grey for table in tables])


def _outcome(way: Way, tables: Sequence[TablePicture]) -> Outcome:
    took = [seconds(way.detect, table.grey) for table in tables[:_TIMED]]
    return Outcome(
        way.name, tuple(tally(shown(table), way) for table in tables), float(np.mean(took))
    )


def against(ours: Outcome, peers: Sequence[Outcome]) -> tuple[str, bool]:
    """Our time beside the fastest equally good peer's, and whether ours is no longer."""
    mine = recall(ours.all, CLEAR)
    equals = [peer for peer in peers if recall(peer.all, CLEAR) >= mine]
    if equals:
        fastest = min(equals, key=lambda peer: peer.seconds)
        ratio = ours.seconds / fastest.seconds
        return f"{ratio:.2f} x {fastest.name}", ratio <= 1.0
    nearest = max(peers, key=lambda peer: float(np.nan_to_num(recall(peer.all, CLEAR))))
    ratio = ours.seconds / nearest.seconds
    least = f"{100 * recall(nearest.all, CLEAR):.1f} %"
    return f"no peer finds as much; {ratio:.2f} x {nearest.name} ({least})", True
