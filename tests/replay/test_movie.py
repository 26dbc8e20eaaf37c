"""A film of a recording: every picture for its duration, in files that other programs open."""

import av
import numpy as np
import pytest
from PIL import Image

from tablecam.replay.filming import write_gif, write_mp4

COLOURS = [(200, 30, 30), (30, 200, 30), (30, 30, 200), (200, 200, 30)]
COUNTS = [5, 1, 12, 7]


def pictures():
    """Four pictures of one colour each, of a size that no codec's blocks divide."""
    for colour, count in zip(COLOURS, COUNTS, strict=True):
        yield np.full((90, 162, 3), colour, dtype=np.uint8), count


def test_an_mp4_shows_each_picture_for_its_frames(tmp_path):
    file = tmp_path / "film"
    assert write_mp4(file, pictures(), per_s=25) == sum(COUNTS)
    with av.open(file) as film:
        frames = [frame.to_ndarray(format="bgr24") for frame in film.decode(video=0)]
        assert film.streams.video[0].average_rate == 25
    wanted = [colour for colour, count in zip(COLOURS, COUNTS, strict=True) for _ in range(count)]
    assert [frame.shape for frame in frames] == [(90, 162, 3)] * len(wanted)
    for frame, colour in zip(frames, wanted, strict=True):
        # The codec halves the colour resolution, an error far below the differences of colours.
        assert np.abs(frame.astype(int) - colour).max() < 24


def test_a_gif_shows_each_picture_for_its_time_and_begins_again(tmp_path):
    file = tmp_path / "film"
    assert write_gif(file, pictures(), per_s=10) == sum(COUNTS)
    with Image.open(file) as film:
        assert film.n_frames == len(COUNTS)
        assert film.info["loop"] == 0
        for number, (colour, count) in enumerate(zip(COLOURS, COUNTS, strict=True)):
            film.seek(number)
            assert film.info["duration"] == 100 * count
            red, green, blue = film.convert("RGB").getpixel((80, 45))
            assert (blue, green, red) == pytest.approx(colour, abs=16)  # few colours, near ones


def test_a_gif_of_what_moves_shows_each_picture_whole(tmp_path):
    def there(number):
        picture = np.full((90, 162, 3), 230, dtype=np.uint8)
        picture[20:40, 10 * number : 10 * number + 20] = (200, 30, 30)
        return picture

    order = [0, 1, 2, 2, 5, 0]
    assert write_gif(tmp_path / "film", ((there(each), 3) for each in order), per_s=8) == 18
    with Image.open(tmp_path / "film") as film:
        assert film.n_frames == 5  # two equal ones are one that is shown for longer
        total_ms = 0
        for number, wanted in enumerate([0, 1, 2, 5, 0]):
            film.seek(number)
            total_ms += film.info["duration"]
            shown = np.asarray(film.convert("RGB"))[:, :, ::-1].astype(int)
            assert np.abs(shown - there(wanted)).max() < 16  # few colours, near ones
        assert total_ms == 2250


def test_a_gif_is_on_the_disk_as_its_pictures_come(tmp_path):
    file, chance, sizes = tmp_path / "film", np.random.default_rng(1), []

    def noise():
        for _ in range(5):
            yield chance.integers(0, 255, (90, 162, 3), dtype=np.uint8), 1
            sizes.append(file.stat().st_size)

    write_gif(file, noise(), per_s=8)
    assert 0 < sizes[2] < sizes[3] < sizes[4] < file.stat().st_size
