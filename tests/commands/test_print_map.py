"""A hex map and its counters on paper, rendered and read as a camera would."""

import cv2
import numpy as np
import pypdfium2
import pytest

from calibration.print.layout import PAPERS
from tablecam.cli import main
from tablecam.rules.games import known_games
from tablecam.rules.hexes.grid import grid_of
from tablecam.simulate.demo import demo_roster
from tablecam.table.table_file import read_table_file
from tests.commands.refusals import refusal

DPI = 200
MM_PER_PX = 25.4 / DPI
SHIFT_MM = 0.15
"""Half a pixel either way: the accuracy of a corner found in the rendered page."""


def printed(house_table, tmp_path, *options):
    """The text of each page, and the corners (4, 2) in mm of the tags on it."""
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
    assert "row 1, column 2" in pages[1][0]
    shown = set(" ".join(words for words, _ in pages).split())
    assert set(grid_of(roster.table.hex_map).hexes) <= shown
    tags = {tag: corners for _, on_page in pages for tag, corners in on_page.items()}
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
    assert "column" not in words
    middles = {tag: corners.mean(axis=0) for tag, corners in tags.items()}
    assert np.linalg.norm(middles[0] - middles[1]) == pytest.approx(180, abs=SHIFT_MM)
    assert np.linalg.norm(middles[0] - middles[3]) == pytest.approx(155, abs=SHIFT_MM)


def test_each_printed_side_of_each_counter_has_its_tag_front_up_and_its_words(
    house_table, tmp_path
):
    roster = read_table_file(house_table, known_games())
    pages = printed(house_table, tmp_path, "--counters")
    tags = {tag: corners for _, on_page in pages for tag, corners in on_page.items()}
    assert tags.keys() == roster.base_type_by_tag().keys()
    for corners in tags.values():
        top_left, top_right = corners[0], corners[1]
        assert top_right - top_left == pytest.approx([9.0, 0.0], abs=2 * SHIFT_MM)
    words = " ".join(words for words, _ in pages)
    assert "House sample (invented)" in words
    assert "Foot 1" in words
    assert "Blue box" in words
    assert "stack" in words
    assert "column" in words


def test_some_counters_are_printed_alone(house_table, tmp_path):
    ((_, tags),) = printed(house_table, tmp_path, "--counters", "--units", "Cannon,General Blue")
    assert tags.keys() == {33, 34, 72}


def test_a_counter_whose_tag_lies_at_its_rear_edge_has_its_words_in_front(tmp_path):
    out = tmp_path / "counters.pdf"
    options = ["--game", "maurice-lite", "--counters", "--units", "P1", "--out", str(out)]
    assert main(["print", *options]) == 0
    with pypdfium2.PdfDocument(out.read_bytes()) as document:
        words = document[0].get_textpage().get_text_bounded().split()
    assert words.count("P1") == 4


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
    line = refusal(capsys, "print", "--game", "free", "--counters", "--out", out)
    assert "--counters: expected rectangular bases, not that of F1" in line
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


def test_roads_trails_and_villages_are_printed_where_they_run_and_differ_in_grey(tmp_path):
    out = tmp_path / "map.pdf"
    options = ["--game", "musket-saber", "--map", "--paper", "A3", "--out", str(out)]
    assert main(["print", *options]) == 0
    with pypdfium2.PdfDocument(out.read_bytes()) as document:
        text = document[0].get_textpage()
        words = text.get_text_bounded().split()
        last_advice = text.get_text_bounded(bottom=document[0].get_height() - 74)
        page = np.squeeze(document[0].render(scale=DPI / 72, grayscale=True).to_numpy())
    assert {"road", "trail", "village", "stream"} <= set(words)
    # The legend has a line of its own, below the advice.
    assert {"road", "village"}.isdisjoint(last_advice.split())
    detector = cv2.aruco.ArucoDetector(cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_250))
    corners, ids, _ = detector.detectMarkers(page)
    first_px = corners[ids.ravel().tolist().index(0)].reshape(4, 2).mean(axis=0)
    roster = demo_roster("musket-saber")
    grid, corner = grid_of(roster.table.hex_map), roster.table_tags[0]

    def grey(number: str, right_mm: float, up_mm: float) -> int:
        """The grey of the page beside the middle of a hex; table tag 0 is the first corner."""
        x_mm, y_mm = grid.middle_mm((number,))
        across = (x_mm + right_mm - corner.x_mm) / MM_PER_PX
        down = -(y_mm + up_mm - corner.y_mm) / MM_PER_PX
        x_px, y_px = first_px + np.array([across, down])
        return int(page[round(y_px), round(x_px)])

    # A road of 2.6 mm from 0709 to 0710, light between two dark lines, beside it the bare hex.
    assert grey("0709", 0.0, -8.0) > 230
    for side in (-1, 1):
        assert grey("0709", side * 1.05, -8.0) < 120
        assert grey("0709", side * 1.8, -8.0) > 230
    dashes = [grey("0406", 0.0, up_mm) for up_mm in np.arange(-4.0, 4.0, 0.2)]
    assert min(dashes) < 120 < 230 < max(dashes)
    (across, up) = (0.72 * part for part in grid.arm_mm(grid.facings_deg[0]))
    assert grey("0707", across, up) < 120
    woods, hill, clear = (grey(number, 5.0, 5.0) for number in ("0606", "0808", "0610"))
    assert woods + 10 < hill < clear - 10
