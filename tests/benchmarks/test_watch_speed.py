"""The cost of searching a table again, compared with decoding its pictures.

Prints one table. Times are processor times, of all cores together, so that other programs do not
count: decoding uses one core, searches several, so by the clock they are a little better. They are
the shortest of a few runs, in units of the time to decode a JPEG of quality 90 in full grey.
`still` and `hand` are means over all searches while nothing moves and while a hand does; `beyond`
excludes decoding, `decoding` is that alone. The sweep is included; `longest` is the longest search
of a still table, one with a share of the sweep.

`to snapshot` is a whole still frame as the live table takes it: pictures come one after the other
through the reader, the referee and the recorder's clock look on, and all work of the process counts
until the snapshot is there, decoding included.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from rich.table import Table

from tablecam.capture.frame import Frame
from tablecam.capture.picture import JpegPicture
from tablecam.capture.reader import Reader
from tablecam.live.table import LiveTable
from tablecam.vision.search.incremental import FrameReading, IncrementalSearch
from tablecam.vision.search.tag_finder import TagFinder
from tests.footage import Clip
from tests.patience import FrameClock, comes_true
from tests.vision import incremental as watched

RUNS = 5
STILL_LOOKS = 256
"""A quarter of a sweep."""
FRAMES_PER_S = 10.0


@dataclass(frozen=True)
class Film:
    """Pictures as a camera sends them, and which of them show a hand."""

    name: str
    finder: TagFinder
    still: Sequence[JpegPicture]
    moving: Sequence[tuple[JpegPicture, bool]]


class TimedPicture:
    """A picture that adds up the time spent on decoding it."""

    def __init__(self, picture: JpegPicture) -> None:
        self._picture = JpegPicture(picture.data)
        self.width_px, self.height_px = picture.width_px, picture.height_px
        self.seconds = 0.0

    def grey(self) -> np.ndarray:
        return self._timed(self._picture.grey)

    def reduced_grey(self) -> np.ndarray:
        return self._timed(self._picture.reduced_grey)

    def _timed(self, decode: Callable[[], np.ndarray]) -> np.ndarray:
        start = time.process_time()
        decoded = decode()
        self.seconds += time.process_time() - start
        return decoded


def test_print_the_table(shared, report):
    table = Table(
        "pictures",
        "tags",
        "grey ms",
        "reduced",
        "colour",
        "whole search",
        "still: beyond",
        "decoding",
        "longest",
        "hand: beyond",
        "decoding",
        "to snapshot",
        title="What another look costs, beside decoding the picture in grey",
    )
    for film in films(shared):
        cells = row(film)
        table.add_row(*cells)
        # Relative to decoding a small picture, everything else is expensive.
        is_small = film.finder.camera.lens.width_px < 1920
        most_still, most_hand = (0.25, 1.2) if is_small else (0.15, 0.6)
        for key, beyond, most in (
            ("still", float(cells[6]), most_still),
            ("hand", float(cells[9]), most_hand),
        ):
            report.add(key, f"{film.name}, {cells[1]} tags", f"{beyond:.2f} x", beyond <= most)
    report.show(table)


def films(shared: Path) -> Iterator[Film]:
    for width_px, height_px in ((3840, 2160), (1920, 1080)):
        source = watched.source(watched.watched_table(), watched.camera(width_px, height_px))
        pictures = list(watched.frames(source, 60))
        finder = TagFinder(source.camera, source.table.roster)
        still = [picture for picture, is_hand in pictures if not is_hand][:8]
        yield Film(f"simulated {width_px}x{height_px}", finder, still, pictures)
    clip = Clip(shared / "footage" / "clip-b")
    frames = [(watched.jpeg(grey), bool(line["hand_in_view"])) for grey, line in clip.frames()]
    still = [picture for picture, is_hand in frames if not is_hand][:8]
    yield Film("clip-b 1280x720", TagFinder(clip.camera, clip.roster), still, frames)


def row(film: Film) -> list[str]:
    first = film.still[0]
    reduced = shortest(lambda: decode(first, cv2.IMREAD_REDUCED_GRAYSCALE_8))
    colour = shortest(lambda: decode(first, cv2.IMREAD_COLOR))
    whole = shortest(lambda: film.finder.search(first.grey()))
    at_first = shortest(lambda: decode(first, cv2.IMREAD_GRAYSCALE))
    watch = IncrementalSearch(film.finder)
    look = watch.read(first, None)
    looped = [film.still[number % len(film.still)] for number in range(1, STILL_LOOKS + 1)]
    still = [cost for cost, _ in looks(watch, look, looped)]
    hands = [
        cost
        for (cost, _), (_, is_hand) in zip(
            looks(watch, look, [picture for picture, _ in film.moving]), film.moving, strict=True
        )
        if is_hand
    ]
    # Once more at the end: the machine may have been busy before.
    grey = min(at_first, shortest(lambda: decode(first, cv2.IMREAD_GRAYSCALE)))
    beyond, decoding = np.array(still).T / grey
    with_hand, decoding_too = np.array(hands).T / grey
    tags = len(look.search.sightings)
    ratios = (reduced / grey, colour / grey, whole / grey, beyond.mean(), decoding.mean())
    more = (beyond.max(), with_hand.mean(), decoding_too.mean(), to_snapshot_s(film) / grey)
    numbers = [f"{ratio:.2f}" for ratio in (*ratios, *more)]
    return [film.name, str(tags), f"{1000 * grey:.1f}", *numbers]


def looks(
    watch: IncrementalSearch, before: FrameReading, pictures: Sequence[JpegPicture]
) -> Iterator[tuple[tuple[float, float], FrameReading]]:
    """For each search in turn: seconds beyond decoding, seconds decoding."""
    for picture in pictures:
        costs = []
        for _ in range(RUNS):
            timed = TimedPicture(picture)
            start = time.process_time()
            look = watch.read(timed, before)
            costs.append((time.process_time() - start - timed.seconds, timed.seconds))
        before = look
        beyond, decoding = zip(*costs, strict=True)
        yield (min(beyond), min(decoding)), look


class StillSource:
    """The same few pictures in a loop, each given once the snapshot of the last is there."""

    name = "still"

    def __init__(self, pictures: Sequence[JpegPicture]) -> None:
        self.clock = FrameClock()
        self.live: LiveTable | None = None
        self._pictures = pictures
        self._number = -1
        self._is_closed = False

    def read(self) -> Frame | None:
        if self.live is not None:
            version = 0
            while not self._is_closed and (seen := self.live.snapshot()).frame < self._number:
                version = seen.version
                self.live.wait(version, 0.1)
        if self._is_closed:
            return None
        self._number += 1
        picture = JpegPicture(self._pictures[self._number % len(self._pictures)].data)
        self.clock.show(self._number / FRAMES_PER_S)
        return Frame(picture, self._number, self._number / FRAMES_PER_S)

    def close(self) -> None:
        self._is_closed = True


def to_snapshot_s(film: Film) -> float:
    """The processor seconds for a still frame, from reader to snapshot: the least of some runs."""
    source = StillSource(film.still)
    reader = Reader(lambda: source, name=source.name, is_live=False, clock=source.clock)
    live = LiveTable(reader, film.finder.camera, film.finder.roster)
    source.live = live
    reader.start()
    with live:
        comes_true(lambda: live.snapshot().frame >= STILL_LOOKS // 4)  # all rests by then
        seconds = []
        for _ in range(RUNS):
            first, start = live.snapshot().frame, time.process_time()
            comes_true(lambda first=first: live.snapshot().frame >= first + STILL_LOOKS // 4)
            seconds.append((time.process_time() - start) / (live.snapshot().frame - first))
        source.close()
    reader.close()
    return min(seconds)


def decode(picture: JpegPicture, form: int) -> np.ndarray:
    return np.asarray(cv2.imdecode(np.frombuffer(picture.data, np.uint8), form))


def shortest(deed: Callable[[], object]) -> float:
    seconds = []
    for _ in range(3 * RUNS):
        start = time.process_time()
        deed()
        seconds.append(time.process_time() - start)
    return min(seconds)
