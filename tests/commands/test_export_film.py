"""`tablecam export --mp4` and `--gif`: films that other programs play."""

import av
import pytest
from PIL import Image

from tablecam.cli import main
from tablecam.record.entries import NewEntry
from tablecam.record.game_file import GameFile
from tests.record.games import FACTS
from tests.replay.small import deed, position


@pytest.fixture
def game(tmp_path):
    changed = {"units": {"changed": {"F1": position(700.0)["units"][0]}}}
    told = [NewEntry("position", {"whole": position()}), deed("F1 hits B1 twice.")]
    told.append(NewEntry("position", {"changed": changed}))
    return GameFile.create(tmp_path / "evening.tablecam", FACTS, told)


def exported(*arguments):
    return main(["export", *map(str, arguments)])


def test_a_film_is_as_long_as_its_scenes(game, tmp_path):
    assert exported(game.path, "--mp4", tmp_path / "film.mp4") == 0
    with av.open(str(tmp_path / "film.mp4")) as film:
        (stream,) = film.streams.video
        assert (stream.width, stream.height, stream.average_rate) == (1280, 720, 25)
        # Nothing said for 0.3 s, the hit for 1.2 s, the move for 0.8 s and another 0.3 s.
        assert sum(1 for _ in film.decode(stream)) == pytest.approx(25 * 2.6, abs=1.5)


def test_a_gif_is_small_enough_for_a_message(game, tmp_path):
    assert exported(game.path, "--gif", tmp_path / "film.gif") == 0
    with Image.open(tmp_path / "film.gif") as film:
        assert film.size == (640, 360)
        assert film.n_frames > 6  # one for each eighth of a second of the move
    assert (tmp_path / "film.gif").stat().st_size < 300_000


def test_a_film_is_not_written_over_nor_to_standard_output(game, tmp_path, capsys):
    mine = tmp_path / "mine.mp4"
    mine.write_bytes(b"my holidays")
    assert exported(game.path, "--mp4", mine) == 2
    assert mine.read_bytes() == b"my holidays"
    assert "the file already exists" in capsys.readouterr().err
    assert exported(game.path, "--gif", "-") == 2
    assert "--gif: expected a file, got standard output" in capsys.readouterr().err


def test_a_recording_without_positions_makes_no_film(tmp_path, capsys):
    empty = GameFile.create(tmp_path / "empty.tablecam", FACTS)
    assert exported(empty.path, "--mp4", tmp_path / "film.mp4") == 2
    assert "no positions to show" in capsys.readouterr().err
    assert not (tmp_path / "film.mp4").exists()
