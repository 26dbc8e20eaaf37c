"""Positions as differences: the later one is restored, and only changes are stored."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablecam.record.positions import applied, difference

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats(-3, 3) | st.text("ab", max_size=2),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("xy", max_size=1), inner),
    max_leaves=5,
)
THINGS = st.lists(
    st.fixed_dictionaries({"id": st.sampled_from("ABCD"), "x_mm": VALUES}),
    max_size=4,
)
DOCUMENTS = st.dictionaries(st.sampled_from(["units", "terrain", "table"]), THINGS | VALUES)


def as_text(document):
    """A document as stored: 1, 1.0 and true differ, and order counts in lists."""
    return json.dumps(document, sort_keys=True)


@given(DOCUMENTS, DOCUMENTS)
def test_the_later_position_comes_back_from_the_earlier_and_the_difference(before, now):
    told = json.loads(json.dumps(difference(before, now)))
    assert as_text(applied(before, told)) == as_text(now)


@given(DOCUMENTS)
def test_the_first_position_is_told_whole_and_the_same_one_not_at_all(document):
    assert applied(None, difference(None, document)) == document
    assert difference(document, json.loads(json.dumps(document))) == {}


def units(*places):
    return {"units": [{"id": name, "x_mm": x_mm} for name, x_mm in places]}


def test_only_the_unit_that_moved_is_told():
    told = difference(units(("F1", 1.0), ("F2", 2.0)), units(("F1", 1.0), ("F2", 3.0)))
    assert told == {"changed": {"units": {"changed": {"F2": {"id": "F2", "x_mm": 3.0}}}}}


def test_a_unit_that_left_and_one_that_came_are_told_by_name():
    before, now = units(("F1", 1.0), ("F2", 2.0)), units(("F2", 2.0), ("B1", 9.0))
    told = difference(before, now)["changed"]["units"]
    assert told == {"changed": {"B1": {"id": "B1", "x_mm": 9.0}}, "gone": ["F1"]}


def test_a_difference_without_the_position_before_is_refused():
    told = difference(units(("F1", 1.0)), units(("F1", 2.0)))
    with pytest.raises(ValueError, match="a whole position before"):
        applied(None, told)
    with pytest.raises(ValueError, match="members with ids"):
        applied({}, told)
