"""The analytic tag compared with the slow, obvious way: very many rays, then a blur."""

from dataclasses import replace

import cv2
import numpy as np
import pytest

from tablecam.errors import BadInput
from tablecam.simulate.rendering.places import Place
from tablecam.simulate.rendering.prints import TagPrints, seen_print
from tablecam.simulate.rendering.rays import Box, pixel_means, plane_map
from tablecam.table.roster import TableTag

FINER = 48
BLUR_PX = 0.6
MARGIN_PX = 4
"""The reach of the slow way's blur inward from the edge of its box."""


def _by_many_rays(camera, sheet, box):
    steps = (np.arange(FINER) + 0.5) / FINER - 0.5
    x_mm, y_mm = plane_map(camera, box, sheet.height_mm, steps)
    local = np.stack([x_mm, y_mm], axis=-1) - sheet.middle_mm
    column = np.searchsorted(sheet.across_mm, local @ sheet.right_mm) - 1
    row = np.searchsorted(sheet.along_mm, local @ sheet.down_mm) - 1
    inside = (column >= 0) & (column < len(sheet.across_mm) - 1)
    inside &= (row >= 0) & (row < len(sheet.along_mm) - 1)
    white = np.zeros(inside.shape)
    white[inside] = sheet.cells[row[inside], column[inside]]
    return pixel_means(cv2.GaussianBlur(white, (0, 0), BLUR_PX * FINER), FINER)


def _middle_of_light(picture):
    rows, columns = np.indices(picture.shape)
    return [
        float((picture * rows).sum() / picture.sum()),
        float((picture * columns).sum() / picture.sum()),
    ]


@pytest.mark.parametrize("heading_deg", [90.0, 201.7])
def test_a_tag_is_drawn_as_very_many_rays_would_draw_it(roster, camera, heading_deg):
    """To a hundredth: a sheared corner's blur is a little rounder than two edges' product.

    That is symmetric about the corner, so nothing moves: the centroid of the light agrees.
    """
    sheet = TagPrints(roster).on_base(10, Place(110, 90, heading_deg), roster.base_types[0])
    corner = camera.to_image(sheet.corners_mm)[0]
    box = Box.around([corner], 16)
    _, white = seen_print(camera, sheet, box, BLUR_PX)
    inner = (slice(MARGIN_PX, -MARGIN_PX),) * 2
    assert np.ptp(white[inner]) > 0.9
    slowly = _by_many_rays(camera, sheet, box)
    assert white[inner] == pytest.approx(slowly[inner], abs=0.01)
    assert _middle_of_light(white[inner]) == pytest.approx(
        _middle_of_light(slowly[inner]), abs=0.003
    )


def test_the_quick_way_moves_no_edge(roster, camera):
    sheet = TagPrints(roster).on_base(10, Place(110, 90, 20.0), roster.base_types[0])
    box = sheet.box(camera, 8)
    covered, _ = seen_print(camera, sheet, box, BLUR_PX)
    quickly, _ = seen_print(camera, sheet, box, BLUR_PX, is_quick=True)
    assert quickly == pytest.approx(covered, abs=0.01)
    assert quickly.sum() == pytest.approx(covered.sum(), rel=1e-4)


def test_a_print_covers_its_own_area(roster, camera):
    sheet = TagPrints(roster).on_table(roster.table_tags[0])
    covered, _ = seen_print(camera, sheet, sheet.box(camera, 6), BLUR_PX)
    corners = camera.to_image(sheet.corners_mm).astype(np.float32)
    assert covered.sum() == pytest.approx(cv2.contourArea(corners), rel=1e-3)


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
