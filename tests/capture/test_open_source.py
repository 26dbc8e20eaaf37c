from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from tablecam.capture.frame import Frame, Source
from tablecam.capture.open_source import open_source, source_kind
from tablecam.capture.options import SourceOptions
from tablecam.capture.picture import JpegPicture
from tablecam.capture.video import VideoSource
from tablecam.errors import BadInput


def _brightness(source: Source, most: int = 100) -> list[int]:
    """The mean grey of each frame until the end, or of the first few."""
    levels: list[int] = []
    while len(levels) < most and (frame := source.read()) is not None:
        levels.append(round(float(frame.image.mean())))
    source.close()
    return levels


def test_a_folder_gives_its_pictures_in_order_and_ends(folder: Path, clock: Any) -> None:
    assert _brightness(open_source(str(folder), clock=clock)) == [10, 20, 100]


def test_a_folder_loops(folder: Path, clock: Any) -> None:
    source = open_source(str(folder), SourceOptions(at_end="loop"), clock=clock)
    assert _brightness(source, most=7) == [10, 20, 100, 10, 20, 100, 10]


def test_a_folder_is_played_at_the_rate_asked_for(folder: Path, clock: Any) -> None:
    source = open_source(str(folder), SourceOptions(frames_per_s=4), clock=clock)
    frames = [source.read() for _ in range(3)]
    assert [frame.taken_at_s for frame in frames if frame] == [100.0, 100.25, 100.5]
    assert clock.waits_s == [0.0, 0.25, 0.25]


def test_a_folder_read_fast_waits_for_nothing(folder: Path, clock: Any) -> None:
    source = open_source(str(folder), SourceOptions(pace="fast", frames_per_s=4), clock=clock)
    frames = [source.read() for _ in range(3)]
    assert clock.waits_s == []
    assert [frame.taken_at_s for frame in frames if frame] == [100.0, 100.25, 100.5]


def test_a_broken_picture_in_a_folder_is_named_when_its_turn_comes(
    folder: Path, clock: Any
) -> None:
    (folder / "view-2.png").write_bytes(b"broken")
    source = open_source(str(folder), clock=clock)
    assert source.read() is not None
    with pytest.raises(BadInput, match=r"view-2\.png: cannot be read as a picture"):
        source.read()


def test_a_broken_jpeg_in_a_folder_is_named_when_its_turn_comes(folder: Path, clock: Any) -> None:
    noise = np.random.default_rng(1).integers(0, 255, (60, 80, 3), dtype=np.uint8)
    data = cv2.imencode(".jpg", noise)[1].tobytes()
    (folder / "view-3.jpg").write_bytes(data)
    (folder / "view-4.jpg").write_bytes(data[: len(data) // 2])
    source = open_source(str(folder), clock=clock)
    frames = [source.read() for _ in range(3)]
    assert isinstance(frames[2].picture, JpegPicture)
    with pytest.raises(
        BadInput, match=r"view-4\.jpg: cannot be read as a picture: it is cut short"
    ):
        source.read()


def test_a_picture_is_one_frame_and_a_clean_end(folder: Path, clock: Any) -> None:
    source = open_source(str(folder / "view-10.png"), clock=clock)
    assert source.name == "view-10.png"
    assert _brightness(source) == [100]


def test_a_picture_that_loops_keeps_standing_though_its_file_goes(folder: Path, clock: Any) -> None:
    path = folder / "view-10.png"
    source = open_source(str(path), SourceOptions(at_end="loop", pace="fast"), clock=clock)
    first = source.read()
    path.unlink()
    second = source.read()
    assert first is not None
    assert second is not None
    assert (first.number, second.number) == (0, 1)
    assert second.taken_at_s == first.taken_at_s + 0.5
    assert second.image is first.image


def test_a_video_gives_every_frame_and_ends(film: Path, clock: Any) -> None:
    seen = _brightness(open_source(str(film), clock=clock))
    assert np.abs(np.array(seen) - [20, 60, 100, 140, 180]).max() <= 3


def test_a_video_is_paced_by_its_own_rate(film: Path, clock: Any) -> None:
    source = open_source(str(film), clock=clock)
    frames = [source.read() for _ in range(5)]
    times_s = [frame.taken_at_s - 100 for frame in frames if frame]
    assert times_s == pytest.approx([0.0, 0.1, 0.2, 0.3, 0.4])
    assert sum(clock.waits_s) == pytest.approx(0.4)


def test_a_video_that_was_held_up_does_not_rush_after(film: Path, clock: Any) -> None:
    source = open_source(str(film), clock=clock)
    source.read()
    clock.now += 5
    frames = [source.read() for _ in range(3)]
    assert [f.taken_at_s - 105 for f in frames if f] == pytest.approx([0.0, 0.1, 0.2])


@pytest.mark.parametrize("at_end", ["stop", "loop"])
def test_a_damaged_video_says_so_and_a_whole_one_nothing(
    film: Path, torn_film: Path, clock: Any, caplog: pytest.LogCaptureFixture, at_end: Any
) -> None:
    whole, torn = (VideoSource(path, at_end=at_end, clock=clock) for path in (film, torn_film))
    for _ in range(90):
        whole.read(), torn.read()
    assert whole.notes == ()
    (note,) = torn.notes
    assert note.startswith("torn.avi is cut short or damaged: ")
    assert note.endswith(" of 40 frames could be read")
    assert caplog.messages == [note]


def test_a_video_loops_and_its_time_goes_on(film: Path, clock: Any) -> None:
    source = open_source(str(film), SourceOptions(at_end="loop", pace="fast"), clock=clock)
    frames = [source.read() for _ in range(7)]
    assert [frame.number for frame in frames if frame] == list(range(7))
    assert frames[5] is not None
    assert round(float(frames[5].image.mean())) < 30
    assert frames[5].taken_at_s == pytest.approx(100.5)


def test_frames_cannot_be_drawn_upon_but_can_be_looked_into(film: Path, clock: Any) -> None:
    frame = open_source(str(film), clock=clock).read()
    assert frame is not None
    with pytest.raises(ValueError, match="read-only"):
        frame.image[:] = 0
    assert cv2.cvtColor(frame.image, cv2.COLOR_BGR2GRAY).shape == (48, 64)
    assert (frame.width_px, frame.height_px) == (64, 48)


def test_a_file_that_is_neither_video_nor_picture_is_one_line(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], clock: Any
) -> None:
    path = tmp_path / "game.mp4"
    path.write_bytes(b"nothing of a film" * 1000)
    with pytest.raises(BadInput, match=r"game\.mp4: cannot be read as a video or a picture"):
        open_source(str(path), clock=clock)
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("no-such-thing", "no-such-thing: no such file; a source is a camera number"),
        (
            "ftp://me:secret@host/x",
            "ftp://host/x: expected an address that starts with one of rtsp://",
        ),
    ],
)
def test_a_name_of_no_kind_says_what_would_do(name: str, words: str) -> None:
    with pytest.raises(BadInput) as caught:
        open_source(name)
    assert words in str(caught.value)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("0", "camera"),
        ("12", "camera"),
        ("/dev/v4l/by-id/usb-cam", "camera"),
        ("rtsp://host/live", "stream"),
        ("HTTP://host:8080/video", "stream"),
    ],
)
def test_a_name_tells_its_kind(name: str, kind: str) -> None:
    assert source_kind(name) == kind


def test_files_tell_their_kind(folder: Path, film: Path) -> None:
    assert source_kind(str(folder)) == "folder"
    assert source_kind(str(folder / "view-1.png")) == "picture"
    assert source_kind(str(film)) == "video"


class _Nothing:
    name = "simulated"

    def read(self) -> Frame | None:
        return None

    def close(self) -> None:
        pass


def test_a_further_source_is_opened_by_its_own_name_with_the_options() -> None:
    asked: list[SourceOptions] = []

    def simulated(options: SourceOptions) -> Source:
        asked.append(options)
        return _Nothing()

    options = SourceOptions(frames_per_s=3)
    source = open_source("simulated", options, factories={"simulated": simulated})
    assert source.name == "simulated"
    assert asked == [options]


def test_a_further_source_is_named_among_what_would_do() -> None:
    with pytest.raises(BadInput, match="a folder of pictures or simulated"):
        open_source("simulatd", factories={"simulated": lambda _: _Nothing()})


@pytest.mark.parametrize(
    "wrong",
    [{"resolution_px": (0, 720)}, {"frames_per_s": 0.0}, {"open_timeout_s": 0.0}],
    ids=str,
)
def test_options_that_cannot_be_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="expected"):
        SourceOptions(**wrong)
