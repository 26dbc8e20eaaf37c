from dataclasses import replace

import cv2
import numpy as np
import pytest

from tablecam.errors import BadInput
from tablecam.simulate.places import Place
from tablecam.simulate.tag_prints import TagPrints
from tablecam.table.roster import TableTag


def test_the_top_row_of_a_tag_points_to_the_front_of_its_base(roster):
    base_type = roster.base_types[0]
    sheet = TagPrints(roster).on_base(10, Place(100, 100, 90), base_type)
    assert sheet.down_mm == pytest.approx([0, -1], abs=1e-12)
    assert sheet.right_mm == pytest.approx([1, 0], abs=1e-12)
    assert sheet.middle_mm == pytest.approx([103, 96])
    assert sheet.height_mm == 5


def test_a_table_tag_lies_on_the_table_with_its_top_toward_y(roster):
    sheet = TagPrints(roster).on_table(TableTag(0, 40, 60))
    assert sheet.down_mm == pytest.approx([0, -1], abs=1e-12)
    assert sheet.middle_mm == pytest.approx([40, 60])
    assert sheet.height_mm == 0


def test_the_cells_are_those_of_the_dictionary(roster):
    dictionary = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_250)
    cells = TagPrints(roster).cells(17)
    assert cells.shape == (6, 6)
    bits = cv2.aruco.Dictionary.getByteListFromBits(cells[1:-1, 1:-1].astype(np.uint8))
    assert np.array_equal(np.ravel(bits)[:2], np.ravel(dictionary.bytesList[17])[:2])


def test_the_rim_is_as_wide_as_the_base_has_room(roster):
    narrow = replace(roster.base_types[0], tag_size_mm=50, tag_right_mm=0, tag_forward_mm=0)
    sheet = TagPrints(roster).on_base(10, Place(0, 0, 0), narrow)
    assert sheet.across_mm[0] == pytest.approx(-30)
    assert sheet.across_mm[1] == pytest.approx(-25)


def test_an_unknown_dictionary_is_refused(roster):
    with pytest.raises(BadInput, match=r"tags\.dictionary: expected one of OpenCV's"):
        TagPrints(replace(roster, dictionary="DICT_9X9"))


def test_a_tag_that_the_dictionary_does_not_have_is_refused(roster):
    with pytest.raises(BadInput, match="expected a tag from 0 to 249, got 250"):
        TagPrints(roster).cells(250)
