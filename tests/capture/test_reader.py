import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tablecam.capture.errors import SourceLost
from tablecam.capture.frame import Frame, Source
from tablecam.capture.open_source import open_reader
from tablecam.capture.options import SourceOptions
from tablecam.capture.picture import DecodedPicture
from tablecam.capture.reader import PictureSize, Reader
from tablecam.capture.status import SourceStatus
from tablecam.errors import BadInput
from tests.patience import PATIENCE_S


class Script:
    """A source that plays a test's script: frame sizes, problems, and signals to wait for."""

    def __init__(self, *steps: Any, notes: tuple[str, ...] = ()) -> None:
        self.name = "camera 0"
        self.notes = notes
        self.is_closed = False
        self._steps = iter(steps)
        self._number = 0

    def read(self) -> Frame | None:
        for step in self._steps:
            if isinstance(step, Exception):
                raise step
            if isinstance(step, threading.Event):
                step.wait(PATIENCE_S)
                continue
            width_px, height_px = step
            image = np.zeros((height_px, width_px, 3), dtype=np.uint8)
            number, self._number = self._number, self._number + 1
            return Frame(DecodedPicture(image), number, float(number))
        return None

    def close(self) -> None:
        self.is_closed = True


def _plays(*acts: Source | Exception) -> Callable[[], Source]:
    """Opens one source after the other; an exception makes opening fail."""
    remaining = iter(acts)

    def opens() -> Source:
        act = next(remaining)
        if isinstance(act, Exception):
            raise act
        return act

    return opens


@pytest.fixture
def make_reader() -> Iterator[Callable[..., Reader]]:
    """Makes readers, and closes them at the end."""
    made: list[Reader] = []

    def make(opens: Callable[[], Source], **options: Any) -> Reader:
        made.append(Reader(opens, **{"name": "camera 0", "is_live": True, **options}))
        return made[-1]

    yield make
    for reader in made:
        reader.close()


def _status_when(reader: Reader, clock: Any) -> SourceStatus:
    """The status once the reader rests between two tries."""
    assert clock.is_out_of_patience.wait(PATIENCE_S)
    return reader.status


def test_only_the_newest_frame_is_kept(make_reader: Any, clock: Any) -> None:
    reader = make_reader(_plays(Script(*[(8, 6)] * 5)), is_live=False, clock=clock)
    reader.start()
    assert reader.newest(after=3, timeout_s=PATIENCE_S).number == 4
    assert reader.newest().number == 4


def test_nothing_newer_is_none_at_once_when_the_film_is_over(make_reader: Any, clock: Any) -> None:
    reader = make_reader(_plays(Script((8, 6))), is_live=False, clock=clock)
    reader.start()
    assert reader.newest(after=0, timeout_s=PATIENCE_S) is None
    status = reader.status
    assert (status.state, status.message, status.finished) == ("ended", "camera 0 has ended", True)


def test_nothing_in_time_is_none_while_the_source_goes_on(make_reader: Any, clock: Any) -> None:
    gate = threading.Event()
    reader = make_reader(_plays(Script((8, 6), gate, (8, 6))), is_live=False, clock=clock)
    reader.start()
    assert reader.newest(after=0, timeout_s=0.0) is None
    gate.set()
    assert reader.newest(after=0, timeout_s=PATIENCE_S).number == 1


def test_a_slow_source_shows_that_it_is_being_opened(make_reader: Any, clock: Any) -> None:
    opened = threading.Event()

    def opens() -> Source:
        opened.wait(PATIENCE_S)
        return Script((8, 6))

    reader = make_reader(opens, clock=clock)
    reader.start()
    clock.now += 12
    status = reader.status
    assert (status.state, status.since_s) == ("opening", 12.0)
    assert status.message == "opening camera 0 (12 s)"
    opened.set()
    assert reader.newest(timeout_s=PATIENCE_S) is not None


def test_a_live_source_comes_back_with_its_numbers_going_on(make_reader: Any, clock: Any) -> None:
    first = Script((8, 6), (8, 6), SourceLost("camera 0 stopped delivering pictures"))
    gate = threading.Event()
    second = Script((8, 6), gate, (8, 6), notes=("delivers 8x6",))
    reader = make_reader(_plays(first, second), clock=clock)
    reader.start()
    assert reader.newest(after=1, timeout_s=PATIENCE_S).number == 2
    assert first.is_closed
    status = reader.status
    assert (status.state, status.notes) == ("live", ("delivers 8x6",))
    gate.set()
    assert reader.newest(after=2, timeout_s=PATIENCE_S).number == 3


def test_the_pauses_between_tries_grow_to_half_a_minute(
    make_reader: Any, clock_with_patience: Any
) -> None:
    clock = clock_with_patience(7)
    absent = [BadInput("camera 0", "does not open") for _ in range(20)]
    reader = make_reader(_plays(*absent), clock=clock)
    reader.start()
    status = _status_when(reader, clock)
    assert clock.waits_s == [1, 2, 4, 8, 16, 30, 30, 30]
    assert (status.state, status.finished) == ("lost", False)
    assert status.message == "camera 0: does not open; trying again in 30 s"
    assert status.since_s == 91.0


def test_a_source_that_came_back_is_waited_for_only_briefly_again(
    make_reader: Any, clock_with_patience: Any
) -> None:
    clock = clock_with_patience(4)
    absent = BadInput("camera 0", "does not open")
    lost = SourceLost("camera 0 stopped delivering pictures")
    reader = make_reader(
        _plays(absent, absent, absent, Script((8, 6), lost), absent, absent), clock=clock
    )
    reader.start()
    _status_when(reader, clock)
    assert clock.waits_s == [1, 2, 4, 1, 2]


def test_closing_ends_a_pause_at_once(make_reader: Any, clock_with_patience: Any) -> None:
    clock = clock_with_patience(0)
    reader = make_reader(_plays(BadInput("camera 0", "does not open")), clock=clock)
    reader.start()
    assert clock.is_out_of_patience.wait(PATIENCE_S)
    reader.close()
    assert reader.status.finished
    assert reader.status.state == "ended"


def test_closing_closes_the_source(make_reader: Any, clock: Any) -> None:
    endless = Script(*[(8, 6)] * 1_000_000)
    reader = make_reader(_plays(endless), clock=clock)
    reader.start()
    assert reader.newest(timeout_s=PATIENCE_S) is not None
    reader.close()
    reader.close()
    assert endless.is_closed


def test_a_live_source_that_hangs_shows_as_lost(make_reader: Any, clock: Any) -> None:
    gate = threading.Event()
    reader = make_reader(_plays(Script((8, 6), gate, (8, 6))), clock=clock)
    reader.start()
    assert reader.newest(timeout_s=PATIENCE_S) is not None
    assert reader.status.state == "live"
    clock.now += 8
    status = reader.status
    assert (status.state, status.since_s) == ("lost", 8.0)
    assert status.message == "camera 0: no picture for 8 s"
    gate.set()
    assert reader.newest(after=0, timeout_s=PATIENCE_S) is not None


def test_frames_a_second_are_measured(make_reader: Any, clock: Any) -> None:
    class Ticking(Script):
        def read(self) -> Frame | None:
            clock.now += 0.1
            return super().read()

    gate = threading.Event()
    reader = make_reader(_plays(Ticking(*[(8, 6)] * 12, gate)), clock=clock)
    reader.start()
    assert reader.newest(after=10, timeout_s=PATIENCE_S) is not None
    clock.now = 100.0 + 12 * 0.1
    assert reader.status.frames_per_s == pytest.approx(10.0)
    gate.set()


def test_a_damaged_video_has_not_just_ended(clock: Any, torn_film: Path) -> None:
    reader = open_reader(str(torn_film), SourceOptions(at_end="stop", pace="fast"), clock=clock)
    with reader:
        assert reader.newest(after=99, timeout_s=PATIENCE_S) is None
        status = reader.status
    assert (status.state, status.finished) == ("ended", True)
    assert ["cut short or damaged" in note for note in status.notes] == [True]


def test_a_source_that_is_not_live_is_not_opened_again(make_reader: Any, clock: Any) -> None:
    broken = Script((8, 6), BadInput("view-2.png", "cannot be read as a picture"))
    reader = make_reader(_plays(broken), is_live=False, clock=clock)
    reader.start()
    assert reader.newest(after=0, timeout_s=PATIENCE_S) is None
    status = reader.status
    assert (status.state, status.finished) == ("lost", True)
    assert status.message == "view-2.png: cannot be read as a picture"


@pytest.mark.parametrize("is_live", [True, False])
def test_a_source_that_must_open_and_does_not_is_an_error(
    make_reader: Any, clock: Any, is_live: bool
) -> None:
    opens = _plays(BadInput("camera 0", "does not open"))
    reader = make_reader(opens, is_live=is_live, strict=True, clock=clock)
    with pytest.raises(BadInput, match="camera 0: does not open"):
        reader.start()


def test_a_strict_source_that_is_lost_before_its_first_frame_is_an_error(
    make_reader: Any, clock: Any
) -> None:
    opens = _plays(Script(SourceLost("camera 0 stopped delivering pictures")))
    reader = make_reader(opens, strict=True, clock=clock)
    with pytest.raises(BadInput, match=r"^camera 0: stopped delivering pictures$"):
        reader.start()


def test_a_strict_source_that_opened_once_is_brought_back_later(
    make_reader: Any, clock: Any
) -> None:
    lost = SourceLost("camera 0 stopped delivering pictures")
    gate = threading.Event()
    acts = _plays(Script((8, 6), gate, lost), Script((8, 6)))
    reader = make_reader(acts, strict=True, clock=clock)
    reader.start()
    gate.set()
    assert reader.newest(after=0, timeout_s=PATIENCE_S).number == 1


def test_frames_of_another_size_than_the_camera_files_are_an_error(
    make_reader: Any, clock: Any
) -> None:
    reader = make_reader(
        _plays(Script((1280, 720))),
        name="game.mp4",
        is_live=False,
        expected_size=PictureSize(1920, 1080, "camera.json"),
        clock=clock,
    )
    with pytest.raises(
        BadInput,
        match=r"^game\.mp4: pictures are 1280x720, but camera\.json was made for 1920x1080$",
    ):
        reader.start()


def test_a_live_source_of_the_wrong_size_warns_and_is_tried_again(
    make_reader: Any, clock_with_patience: Any
) -> None:
    clock = clock_with_patience(1)
    sources = [Script((1280, 720)), Script((1280, 720))]
    size = PictureSize(1920, 1080)
    reader = make_reader(_plays(*sources), expected_size=size, clock=clock)
    reader.start()
    status = _status_when(reader, clock)
    assert status.state == "lost"
    assert status.message.startswith(
        "camera 0: pictures are 1280x720, but camera.json was made for 1920x1080; trying again in"
    )
    assert reader.newest() is None
    assert all(source.is_closed for source in sources)


def test_a_folder_is_read_from_its_name_to_its_end(folder: Path, clock: Any) -> None:
    with open_reader(str(folder), SourceOptions(pace="fast"), clock=clock) as reader:
        last = reader.newest(after=1, timeout_s=PATIENCE_S)
        assert last is not None
        assert round(float(last.image.mean())) == 100


def test_a_broken_first_picture_is_an_error_before_anything_runs(folder: Path, clock: Any) -> None:
    (folder / "view-1.png").write_bytes(b"broken")
    with pytest.raises(BadInput, match=r"view-1\.png: cannot be read as a picture"):
        open_reader(str(folder), clock=clock)


def test_a_source_that_is_nothing_is_an_error_even_where_cameras_are_waited_for() -> None:
    with pytest.raises(BadInput, match="no such file"):
        open_reader("no-such-film.mp4", strict=False)


def test_a_folder_whose_size_is_wrong_is_an_error_at_the_start(folder: Path, clock: Any) -> None:
    with pytest.raises(BadInput, match=r"pictures are 64x48, but camera\.json was made for 64x64"):
        open_reader(str(folder), expected_size=PictureSize(64, 64), clock=clock)


def test_an_absent_camera_is_waited_for_unless_it_is_strict(clock_with_patience: Any) -> None:
    clock = clock_with_patience(0)
    with open_reader("97", clock=clock) as reader:
        status = _status_when(reader, clock)
        assert status.state == "lost"
        assert status.message.startswith("camera 97: ")
    with pytest.raises(BadInput, match="camera 97: "):
        open_reader("97", strict=True, clock=clock)


def test_a_change_of_the_source_goes_on_counting_frames(make_reader: Any, clock: Any) -> None:
    gate = threading.Event()
    first, second = Script((8, 6), gate, (8, 6)), Script((16, 12), threading.Event())
    second.name = "camera 1"
    reader = make_reader(_plays(first), clock=clock)
    reader.start()
    assert reader.newest(timeout_s=PATIENCE_S).width_px == 8
    reader.change_source(lambda: second, name="camera 1", is_live=True)
    assert (reader.status.name, reader.status.state) == ("camera 1", "opening")
    gate.set()
    frame = reader.newest(after=0, timeout_s=PATIENCE_S)
    # The last frame from the first source is not mistaken for one of the second's.
    assert (frame.number, frame.width_px, reader.status.name) == (1, 16, "camera 1")
    assert first.is_closed


def test_a_source_is_changed_while_a_lost_one_waits_for_its_next_try(
    make_reader: Any, clock_with_patience: Any
) -> None:
    clock = clock_with_patience(0)
    reader = make_reader(_plays(SourceLost("camera 0: unplugged")), clock=clock)
    reader.start()
    assert _status_when(reader, clock).state == "lost"
    reader.change_source(lambda: Script((8, 6), threading.Event()), name="camera 1", is_live=True)
    assert reader.newest(timeout_s=PATIENCE_S) is not None
    assert reader.status.state == "live"


def test_a_source_follows_one_that_has_ended(make_reader: Any, clock: Any) -> None:
    reader = make_reader(_plays(Script((8, 6))), is_live=False, clock=clock)
    reader.start()
    assert reader.newest(after=0, timeout_s=PATIENCE_S) is None
    reader.change_source(lambda: Script((8, 6), threading.Event()), name="camera 1", is_live=True)
    assert reader.newest(after=0, timeout_s=PATIENCE_S).number == 1
