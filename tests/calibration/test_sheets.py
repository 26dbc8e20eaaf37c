"""The sheets, rendered to pixels and read as a camera would."""

from dataclasses import dataclass, replace

import cv2
import numpy as np
import pypdfium2
import pytest

from calibration.errors import CalibrationError
from calibration.jig import JIG_TAG_MM, JIG_TAGS_MM
from calibration.print.content import (
    BaseKind,
    JigToPrint,
    SheetContent,
    TablePlan,
    TableTagToPrint,
    UnitTags,
)
from calibration.print.layout import MARGIN_MM, PAPERS
from calibration.print.sheets import RULER_MM, RULER_PLACE_MM, sheets_pdf

DPI = 300
MM_PER_PX = 25.4 / DPI

FOOT = BaseKind("foot", 40, 40, 13, tag_forward_mm=-10.93)
HORSE = BaseKind("horse", 40, 30, 12, tag_right_mm=-6, tag_forward_mm=-6.6)
GUN = BaseKind("gun", 60, 40, 16, tag_right_mm=10, tag_forward_mm=-8.13)
TABLE = TablePlan(
    1800,
    1200,
    60,
    (
        TableTagToPrint(0, 50, 50),
        TableTagToPrint(1, 1750, 50),
        TableTagToPrint(2, 1750, 1150),
        TableTagToPrint(3, 50, 1150),
    ),
)
UNITS = (
    *(
        UnitTags(f"F{n + 1}", "french infantry", FOOT, tuple(range(10 + 4 * n, 14 + 4 * n)))
        for n in range(14)
    ),
    UnitTags("C1", "french cavalry", HORSE, (70, 71, 72, 73)),
    UnitTags("A1", "french artillery", GUN, (80,)),
    UnitTags("french-cinc", "french commander", FOOT, (90,)),
)
EVERYTHING = SheetContent("table.toml", "DICT_4X4_250", UNITS, TABLE, lens_board=True)


@dataclass(frozen=True)
class Page:
    """A page as pixels (grey) and as its words."""

    pixels: np.ndarray
    words: str

    @property
    def size_mm(self) -> tuple[float, float]:
        return self.pixels.shape[1] * MM_PER_PX, self.pixels.shape[0] * MM_PER_PX


def _pages(pdf: bytes) -> list[Page]:
    with pypdfium2.PdfDocument(pdf) as document:
        return [
            Page(
                np.squeeze(page.render(scale=DPI / 72, grayscale=True).to_numpy()),
                page.get_textpage().get_text_bounded(),
            )
            for page in document
        ]


def _tags(page: Page, dictionary: int = cv2.aruco.DICT_4X4_250) -> dict[int, np.ndarray]:
    """The corners (4, 2) in millimetres of each tag on a page, top left first."""
    parameters = cv2.aruco.DetectorParameters()
    parameters.cornerRefinementMethod = cv2.aruco.CORNER_REFINE_SUBPIX
    family = cv2.aruco.getPredefinedDictionary(dictionary)
    corners, ids, _ = cv2.aruco.ArucoDetector(family, parameters).detectMarkers(page.pixels)
    assert ids is not None
    assert len(set(ids.ravel())) == len(ids)
    tags = zip(ids.ravel(), corners, strict=True)
    return {int(tag): (corner.reshape(4, 2) + 0.5) * MM_PER_PX for tag, corner in tags}


@pytest.fixture(scope="module", params=["A4", "A3", "Letter"])
def paper(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def pages(paper: str) -> list[Page]:
    return _pages(sheets_pdf(EVERYTHING, paper))  # type: ignore[arg-type]


def test_every_tag_is_on_a_sheet_of_its_kind_at_its_true_size_and_upright(
    pages: list[Page],
) -> None:
    size_mm = {tag: unit.kind.tag_size_mm for unit in UNITS for tag in unit.tags}
    tags: dict[int, np.ndarray] = {}
    for page in pages:
        if page.words.startswith("Base tags"):
            tags |= _tags(page)
    assert tags.keys() == size_mm.keys()
    for tag, corners_mm in tags.items():
        _assert_square(corners_mm, size_mm[tag])


def test_the_table_tags_are_on_a_sheet_of_their_own_at_their_true_size(
    pages: list[Page],
) -> None:
    (page,) = [page for page in pages if page.words.startswith("Table tags")]
    tags = _tags(page)
    assert tags.keys() == {0, 1, 2, 3}
    for corners_mm in tags.values():
        _assert_square(corners_mm, 60)
    assert "x = 1750, y = 1150 mm" in page.words


def _assert_square(corners_mm: np.ndarray, side_mm: float) -> None:
    """Upright on the page, with this side."""
    sides = np.roll(corners_mm, -1, axis=0) - corners_mm
    expected = side_mm * np.array([[1, 0], [0, 1], [-1, 0], [0, -1]])
    assert np.abs(sides - expected).max() < 0.1


def test_each_tag_is_black_with_a_white_rim_of_a_cell(pages: list[Page]) -> None:
    for page in pages[:1]:
        for corners_mm in _tags(page).values():
            left, top = np.round(corners_mm[0] / MM_PER_PX).astype(int)
            right, bottom = np.round(corners_mm[2] / MM_PER_PX).astype(int)
            cell = (right - left) // 6
            around = page.pixels[top - cell : bottom + cell, left - cell : right + cell].copy()
            inside = around[cell + 2 : -cell - 2, cell + 2 : -cell - 2]
            assert (inside[:2] == 0).all()
            assert (inside[:, :2] == 0).all()
            around[cell - 2 : -cell + 2, cell - 2 : -cell + 2] = 255
            # All but the outermost pixels, where the cut's hairline may begin.
            assert around[2:-2, 2:-2].min() == 255


def test_the_lens_board_is_opencvs_to_a_twentieth_of_a_millimetre(
    pages: list[Page], paper: str
) -> None:
    (page,) = [page for page in pages if page.words.startswith("Lens board")]
    scale = 1.0 if paper == "A3" else 0.7
    assert page.size_mm[0] > page.size_mm[1]
    family = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_5X5_100)
    board = cv2.aruco.CharucoBoard((11, 8), 25.0 * scale, 18.0 * scale, family)
    corners, ids, _, _ = cv2.aruco.CharucoDetector(board).detectBoard(page.pixels)
    assert sorted(ids.ravel()) == list(range(10 * 7))
    seen_mm = corners.reshape(-1, 2) * MM_PER_PX
    true_mm = np.asarray(board.getChessboardCorners())[ids.ravel(), :2]
    offsets = seen_mm - true_mm  # the same for all: the board's place on the page
    assert np.abs(offsets - offsets.mean(axis=0)).max() < 0.05
    if paper != "A3":
        assert "70 %" in page.words


def test_every_sheet_has_a_ruler_of_100_mm(pages: list[Page]) -> None:
    for page in pages:
        x_mm, up_mm = RULER_PLACE_MM
        row = round((page.size_mm[1] - up_mm + 1.0) / MM_PER_PX)
        ends = round((x_mm - 2) / MM_PER_PX), round((x_mm + RULER_MM + 2) / MM_PER_PX)
        ink = 255.0 - page.pixels[row, ends[0] : ends[1]]
        starts = np.flatnonzero(np.diff((ink > 60).astype(int)) == 1)
        assert len(starts) == RULER_MM + 1
        assert (starts[-1] - starts[0]) * MM_PER_PX == pytest.approx(RULER_MM, abs=0.1)
        assert "Measure me: 100 mm." in page.words
        assert "without “fit to page”" in page.words


def test_sheets_are_counted_and_keep_to_what_printers_reach(pages: list[Page], paper: str) -> None:
    for number, page in enumerate(pages, start=1):
        assert f"{paper} · sheet {number} of {len(pages)}" in page.words
        expected = sorted((PAPERS[paper].width_mm, PAPERS[paper].height_mm))
        assert sorted(page.size_mm) == pytest.approx(expected, abs=0.1)
        rows, columns = np.nonzero(page.pixels < 250)
        edges_px = [
            columns.min(),
            rows.min(),
            page.pixels.shape[1] - 1 - columns.max(),
            page.pixels.shape[0] - 1 - rows.max(),
        ]
        assert min(edges_px) * MM_PER_PX > MARGIN_MM - 0.2


def test_a_units_tags_are_cut_out_in_one_row_under_its_name(pages: list[Page]) -> None:
    tags = _tags(pages[0])
    row = [tags[tag].mean(axis=0) for tag in (10, 11, 12, 13)]
    assert np.ptp([y for _, y in row]) < 0.1
    assert np.diff([x for x, _ in row]) == pytest.approx([row[1][0] - row[0][0]] * 3, abs=0.1)
    # Its name once above the row, and once on each piece's label.
    assert pages[0].words.count("F1 ") + pages[0].words.count("F1\r\n") >= 5


def test_a_unit_of_many_bases_is_cut_in_even_strips() -> None:
    horde = UnitTags("horde", "pikes", FOOT, tuple(range(30)))
    (page,) = _pages(sheets_pdf(SheetContent(units=(horde,))))
    tags = _tags(page)
    assert tags.keys() == set(range(30))
    rows = np.round([tags[tag][0, 1] for tag in range(30)], 0)
    assert [int(np.sum(rows == row)) for row in np.unique(rows)] == [10, 10, 10]
    assert "strip 3 of 3" in page.words


def test_strips_lie_in_as_many_columns_as_fit() -> None:
    """Strips that are more than half as wide as the paper left the right half of it empty."""
    large = BaseKind("large", 40.0, 40.0, 16.0)
    army = tuple(
        UnitTags(f"U{unit}", "large", large, tuple(range(4 * unit, 4 * unit + 4)))
        for unit in range(22)
    )
    pages = _pages(sheets_pdf(SheetContent(units=army)))
    assert len(pages) == 3  # 5 in one column
    assert max(corners[:, 0].max() for corners in _tags(pages[0]).values()) > 150


@pytest.mark.parametrize("name", PAPERS)
def test_the_jigs_lines_and_tags_lie_where_bases_are_measured_from(name: str) -> None:
    (page,) = _pages(sheets_pdf(SheetContent(jig=JigToPrint((246, 247, 248, 249))), name))
    tags = _tags(page)
    middles_mm = np.array([tags[tag].mean(axis=0) for tag in (246, 247, 248, 249)])
    for tag in tags:
        _assert_square(tags[tag], JIG_TAG_MM)
    # The page's y points down; a pixel is 0.085 mm.
    listed_mm = np.array(JIG_TAGS_MM) * (1, -1)
    assert middles_mm - middles_mm[0] == pytest.approx(listed_mm - listed_mm[0], abs=0.085)
    corner_mm = middles_mm[0] - listed_mm[0]
    for along_mm in ((1.0, 0.0), (140.0, 0.0), (0.0, -1.0), (0.0, -80.0)):
        x_px, y_px = np.round((corner_mm + along_mm) / MM_PER_PX).astype(int)
        assert page.pixels[y_px - 1 : y_px + 2, x_px - 1 : x_px + 2].min() < 100


def test_the_board_alone_is_one_sheet() -> None:
    (page,) = _pages(sheets_pdf(SheetContent(lens_board=True)))
    assert page.words.startswith("Lens board")


def test_names_beyond_western_europe_are_printed_without_their_accents() -> None:
    unit = UnitTags("Żuławy 3", "пехота", FOOT, (5,))
    (page,) = _pages(sheets_pdf(SheetContent(units=(unit,))))
    assert "Zu" in page.words
    assert _tags(page).keys() == {5}


def test_the_same_content_gives_the_same_bytes() -> None:
    content = replace(EVERYTHING, units=UNITS[:2])
    assert sheets_pdf(content) == sheets_pdf(content)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (SheetContent(), "expected something to print"),
        (
            replace(EVERYTHING, table=replace(TABLE, tag_size_mm=250)),
            r"table tag 0: too large for this paper: 344 x .* mm, at most 190 x 241 mm",
        ),
        (
            SheetContent(units=(UnitTags("X", "", BaseKind("raft", 300, 300, 200), (7,)),)),
            r"tag 7 \(X\): too large for this paper: .*, at most 190 x 241 mm",
        ),
        (
            SheetContent(units=(UnitTags("X", "", FOOT, (250,)),)),
            "tag 250: DICT_4X4_250 has tags 0 to 249",
        ),
        (replace(EVERYTHING, dictionary="DICT_9X9"), "expected an ArUco dictionary .* 'DICT_9X9'"),
        (replace(EVERYTHING, dictionary="Board"), "expected an ArUco dictionary .* 'Board'"),
    ],
    ids=[
        "nothing",
        "large table tag",
        "large base tag",
        "no such tag",
        "no such family",
        "no name",
    ],
)
def test_what_cannot_be_printed_is_one_line(content: SheetContent, words: str) -> None:
    with pytest.raises(CalibrationError, match=words) as caught:
        sheets_pdf(content)
    assert "\n" not in str(caught.value)


def test_the_rim_is_wider_only_where_the_base_has_room() -> None:
    roomy = BaseKind("roomy", 40, 40, 12)
    assert roomy.rim_mm(6) == pytest.approx(2.6)
    assert FOOT.rim_mm(6) == pytest.approx(2.57)
    tight = BaseKind("tight", 12, 12, 12)
    assert tight.rim_mm(6) == pytest.approx(2.0)


def test_a_round_base_is_drawn_as_a_circle_of_its_true_size() -> None:
    model = BaseKind("model", 32, 32, 12, tag_forward_mm=-4, is_oval=True)
    (page, *_) = _pages(
        sheets_pdf(SheetContent("free.toml", "DICT_4X4_250", (UnitTags("F1", "", model, (10,)),)))
    )
    assert "base 32 mm, tag 12 mm" in page.words
    assert "front edge" not in page.words
    # Its grey has the area of a circle without the tag's piece.
    piece_mm = 12 + 2 * model.rim_mm(6)
    faint_mm2 = np.count_nonzero((page.pixels > 220) & (page.pixels < 240)) * MM_PER_PX**2
    assert faint_mm2 == pytest.approx(np.pi * 16**2 - piece_mm**2, rel=0.2)
