"""A hex map and its counters on paper, rendered and looked at as a camera would."""

import cv2
import numpy as np
import pypdfium2
import pytest

from calibration.print.layout import PAPERS
from tablecam.cli import main
from tablecam.rules.games import known_games
from tablecam.rules.hexes.grid import grid_of
from tablecam.table.table_file import read_table_file
from tests.commands.refusals import refusal

DPI = 200
MM_PER_PX = 25.4 / DPI
SHIFT_MM = 0.15
"""Half a pixel either way: how exactly a corner can be found in the rendered page."""


def printed(house_table, tmp_path, *options):
    """The words of each page, and the corners (4, 2) in mm of the tags on it."""
    out = tmp_path / "sheets.pdf"
    assert main(["print", "--table", str(house_table), "--out", str(out), *options]) == 0
    detector = cv2.aruco.ArucoDetector(cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_250))
    pages = []
    with pypdfium2.PdfDocument(out.read_bytes()) as document:
        for page in document:
            picture = np.squeeze(page.render(scale=DPI / 72, grayscale=True).to_numpy())
            corners, ids, _ = detector.detectMarkers(picture)
            tags = {} if ids is None else dict(zip(ids.ravel().tolist(), corners, strict=True))
            in_mm = {tag: (at.reshape(4, 2) + 0.5) * MM_PER_PX for tag, at in tags.items()}
            pages.append((page.get_textpage().get_text_bounded(), in_mm))
    return pages


@pytest.mark.parametrize("paper", PAPERS)
def test_the_sheets_of_a_map_show_every_hex_and_every_table_tag_whole_and_true(
    house_table, tmp_path, paper
):
    roster = read_table_file(house_table, known_games())
    pages = printed(house_table, tmp_path, "--map", "--paper", paper)
    assert all(words.startswith("Map, sheet") for words, _ in pages)
    shown = set(" ".join(words for words, _ in pages).split())
    assert set(grid_of(roster.table.hex_map).hexes) <= shown
    tags = {tag: corners for _, found in pages for tag, corners in found.items()}
    assert tags.keys() == {0, 1, 2, 3}
    for corners in tags.values():
        sides_mm = np.linalg.norm(corners - np.roll(corners, -1, axis=0), axis=1)
        assert sides_mm == pytest.approx([30.0] * 4, abs=2 * SHIFT_MM)
    # Ground and hexsides are named, and the boxes beside the map are drawn.
    assert {"thicket", "marsh", "river", "Blue"} <= shown


def test_a_map_that_fits_one_sheet_keeps_the_distances_of_its_tags(house_table, tmp_path):
    text = house_table.read_text(encoding="utf-8")
    small = text.replace("columns = 16", "columns = 5").replace("rows = 12", "rows = 6")
    small = small.replace("x_mm = 415", "x_mm = 205").replace("y_mm = 25}", "y_mm = 160}")
    small = small.replace('map = "house.map.toml"\n', "").replace("box_mm = [376", "box_mm = [176")
    small = small.replace(", 436, 285]", ", 220, 285]").replace(", 436, 160]", ", 220, 190]")
    small = small.replace("[176, 55", "[176, 180")
    house_table.write_text(small, encoding="utf-8")
    ((words, tags),) = printed(house_table, tmp_path, "--map", "--paper", "A3")
    assert "overlap" not in words
    middles = {tag: corners.mean(axis=0) for tag, corners in tags.items()}
    assert np.linalg.norm(middles[0] - middles[1]) == pytest.approx(180, abs=SHIFT_MM)
    assert np.linalg.norm(middles[0] - middles[3]) == pytest.approx(155, abs=SHIFT_MM)


def test_each_printed_side_of_each_counter_has_its_tag_front_up_and_its_words(
    house_table, tmp_path
):
    roster = read_table_file(house_table, known_games())
    pages = printed(house_table, tmp_path, "--counters")
    tags = {tag: corners for _, found in pages for tag, corners in found.items()}
    assert tags.keys() == roster.base_type_by_tag().keys()
    for corners in tags.values():
        top_left, top_right = corners[0], corners[1]
        assert top_right - top_left == pytest.approx([9.0, 0.0], abs=2 * SHIFT_MM)
    words = " ".join(words for words, _ in pages)
    assert "House Foot 1" in words
    assert "Blue box" in words
    assert "stack" in words
    assert "column" in words


def test_some_counters_are_printed_alone(house_table, tmp_path):
    ((_, tags),) = printed(
        house_table, tmp_path, "--counters", "--units", "House Cannon,House Blue"
    )
    assert tags.keys() == {33, 34, 72}


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('["0405"', '["1713"', "expected a hex of the map (CCRR, columns 01 to 16), got 1713"),
        ('["0106", "0107"]', '["0106", "0109"]', "expected two hexes that touch, got 0106 and"),
        ('"0405", "0406"', '"0405", "0405"', "expected one terrain for 0405, thicket too"),
    ],
)
def test_a_map_file_that_does_not_fit_its_map_is_one_line(
    house_table, tmp_path, capsys, old, new, said
):
    ground = house_table.with_name("house.map.toml")
    ground.write_text(ground.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")
    out = tmp_path / "map.pdf"
    line = refusal(capsys, "print", "--table", house_table, "--map", "--out", out)
    assert said in line
    assert "house.map.toml:" in line
    assert not out.exists()


def test_a_map_with_a_row_too_few_for_its_file_is_one_line(house_table, tmp_path, capsys):
    text = house_table.read_text(encoding="utf-8")
    house_table.write_text(text.replace("rows = 12", "rows = 11"), encoding="utf-8")
    line = refusal(capsys, "print", "--table", house_table, "--map", "--out", tmp_path / "map.pdf")
    assert "expected a hex of the map (CCRR, rows 01 to 11), got 0112" in line


def test_what_cannot_be_printed_is_one_line(house_table, tmp_path, capsys):
    out = tmp_path / "map.pdf"
    line = refusal(capsys, "print", "--game", "free", "--map", "--out", out)
    assert "map: expected a table on hexes, but it has no [map]" in line
    line = refusal(capsys, "print", "--game", "chess", "--map", "--out", out)
    assert "there is no demo of" in line
    line = refusal(capsys, "print", "--table", house_table, "--game", "free", "--map", "--out", out)
    assert "--game: expected it alone, without --table" in line
    line = refusal(
        capsys, "print", "--table", house_table, "--map", "--what", "board", "--out", out
    )
    assert "--what: expected it alone, without --map and --counters" in line
    line = refusal(
        capsys, "print", "--table", house_table, "--counters", "--units", "X9", "--out", out
    )
    assert "--units: expected ids of units or commanders of" in line
    line = refusal(capsys, "print", "--table", house_table, "--map", "--paper", "A5", "--out", out)
    assert "A5" in line
    assert not out.exists()
