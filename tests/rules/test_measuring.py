"""What any table can be asked, with or without a rulebook."""

import pytest

from tablecam.errors import BadInput
from tablecam.rules.measuring import Measures
from tablecam.simulate.demo import embedded_demo

BOOK = Measures("free")


@pytest.fixture
def table():
    return embedded_demo("free").truth()


def test_a_pair_is_asked_its_ranges_contact_and_sight(table) -> None:
    sheet = BOOK.pair_sheet(BOOK.rulings(table, "french"), "F8", "B4")
    assert [section.title for section in sheet.sections] == ["Range", "Contact", "Line of sight"]
    questions = [line.question for line in sheet.lines]
    assert [question.id for question in questions] == [
        "range/3/F8/B4",
        "range/6/F8/B4",
        "range/12/F8/B4",
        "range/24/F8/B4",
        "contact/F8/B4",
        "sight/F8/B4",
    ]
    for question, line in zip(questions, sheet.lines, strict=True):
        assert BOOK.answer(table, question.id) == line


def test_a_unit_is_told_its_enemies_the_nearest_first_and_who_hides(table) -> None:
    (section,) = BOOK.unit_sheet(table, "F8").sections
    assert section.lines[0].text.startswith("B")
    assert "; farm hides B4 from F8" in " ".join(line.text for line in section.lines)
    assert len(section.lines) == 11


@pytest.mark.parametrize("question", ["sight/F8/B99", "range/7/F8/B4", "nonsense", "contact/F8/F8"])
def test_what_cannot_be_asked_is_refused(table, question) -> None:
    with pytest.raises(BadInput):
        BOOK.answer(table, question)
