from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibration.errors import CalibrationError
from calibration.print.layout import Area, Placed, pack

AREA = Area(10, 20, 190, 240)


@dataclass(frozen=True)
class Card:
    width_mm: float
    height_mm: float
    name: str = "card"


cards = st.builds(Card, st.floats(1, AREA.width_mm), st.floats(1, AREA.height_mm))


def _overlap(a: Card, at: Placed, b: Card, there: Placed) -> bool:
    return (
        at.page == there.page
        and at.x_mm < there.x_mm + b.width_mm
        and there.x_mm < at.x_mm + a.width_mm
        and at.y_mm < there.y_mm + b.height_mm
        and there.y_mm < at.y_mm + a.height_mm
    )


@given(st.lists(cards, max_size=30))
def test_blocks_lie_inside_the_area_and_not_over_each_other(blocks: list[Card]) -> None:
    placed = pack(blocks, AREA)
    assert len(placed) == len(blocks)
    for number, (block, place) in enumerate(zip(blocks, placed, strict=True)):
        assert place.x_mm >= AREA.x_mm
        assert place.y_mm >= AREA.y_mm
        assert place.x_mm + block.width_mm <= AREA.x_mm + AREA.width_mm + 1e-9
        assert place.y_mm + block.height_mm <= AREA.y_mm + AREA.height_mm + 1e-9
        before = zip(blocks[:number], placed[:number], strict=True)
        assert not any(_overlap(block, place, other, there) for other, there in before)


@given(st.lists(cards, max_size=30))
def test_blocks_keep_their_order_as_one_reads(blocks: list[Card]) -> None:
    placed = pack(blocks, AREA)
    reading = [(place.page, place.y_mm, place.x_mm) for place in placed]
    assert reading == sorted(reading)
    assert {place.page for place in placed} == set(range(placed[-1].page + 1) if placed else ())


def test_a_row_is_filled_before_the_next_and_a_page_before_the_next() -> None:
    placed = pack([Card(90, 100)] * 5, AREA, gap_mm=5)
    assert placed == (
        Placed(0, 10, 20),
        Placed(0, 105, 20),
        Placed(0, 10, 125),
        Placed(0, 105, 125),
        Placed(1, 10, 20),
    )


def test_a_block_too_large_for_the_paper_is_named_with_both_sizes() -> None:
    with pytest.raises(
        CalibrationError,
        match=r"^table tag 7: too large for this paper: 300 x 50 mm, at most 190 x 240 mm$",
    ):
        pack([Card(300, 50, "table tag 7")], AREA)
