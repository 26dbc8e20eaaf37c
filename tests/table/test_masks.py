"""Masks: parts of a table that the camera ignores, in a file beside the table file."""

from pathlib import Path

import pytest

from tablecam.errors import BadInput
from tablecam.table.masks import check_mask, lies_in, masks_document, masks_path, read_masks
from tablecam.table.model import TableSize

BOOK = ((0.0, 0.0), (300.0, 0.0), (300.0, 200.0), (0.0, 200.0))
TABLE = TableSize(1200.0, 800.0)


def test_masks_are_read_as_they_were_written(tmp_path: Path) -> None:
    table_path = tmp_path / "club.toml"
    assert read_masks(table_path) == ()
    assert masks_path(table_path).name == "club.masks.json"
    masks_path(table_path).write_text(masks_document([BOOK]))
    assert read_masks(table_path) == (BOOK,)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{"format": "tablecam-mask", "version": 1, "masks": []}', "format.*tablecam-masks"),
        ('{"format": "tablecam-masks", "version": 1}', "masks"),
        ('{"format": "tablecam-masks", "version": 1, "masks": [[[0, 0], [1, 1]]]}', r"masks\[1\]"),
        ("{", "masks.json"),
    ],
)
def test_a_damaged_file_is_named_with_its_key(tmp_path: Path, text: str, expected: str) -> None:
    table_path = tmp_path / "club.toml"
    masks_path(table_path).write_text(text)
    with pytest.raises(BadInput, match=expected):
        read_masks(table_path)


@pytest.mark.parametrize(
    ("outline", "expected"),
    [
        (((0.0, 0.0), (10.0, 10.0), (10.0, 0.0), (0.0, 10.0)), "without crossing itself"),
        (((0.0, 0.0), (10.0, 0.0), (20.0, 0.0)), "encloses an area"),
        (((1300.0, 0.0), (1400.0, 0.0), (1400.0, 50.0)), "got one beside it"),
    ],
)
def test_an_outline_that_is_no_part_of_the_table_is_refused(
    outline: tuple[tuple[float, float], ...], expected: str
) -> None:
    check_mask(BOOK, TABLE)
    with pytest.raises(BadInput, match=expected):
        check_mask(outline, TABLE)


def test_the_edge_of_a_mask_belongs_to_it() -> None:
    assert lies_in(300.0, 100.0, [BOOK])
    assert not lies_in(301.0, 100.0, [BOOK])
