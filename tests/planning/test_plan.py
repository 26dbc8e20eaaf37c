"""How large tags look, and from how low a table is seen whole: by hand, and from its corners."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablecam.planning.detection_model import DetectionModel, MeasuredRow
from tablecam.planning.plan import (
    MOST_SLANTED,
    Mount,
    highest_height_mm,
    ideal_lens,
    lowest_height_mm,
    predict,
    with_tag_size,
)
from tablecam.table.model import TableSize
from tablecam.table.roster import BaseType, Roster, TableTag, UnitEntry
from tablecam.vision.search.camera_scale import (
    at_height,
    largest_tag_mm,
    outline_px,
    sees_table,
    tag_scales,
)
from tests.vision.pictures import CAMERA, ROSTER

FOOT = BaseType("foot", 40, 40, 12)
TABLE = Roster(
    game="maurice-lite",
    table=TableSize(1800, 1200, 40),
    dictionary="DICT_4X4_250",
    table_tag_size_mm=60,
    table_tags=tuple(
        TableTag(tag, x_mm, y_mm)
        for tag, (x_mm, y_mm) in enumerate([(50, 50), (1750, 50), (1750, 1150), (50, 1150)])
    ),
    base_types=(FOOT,),
    units=(UnitEntry("F1", "french", "infantry", FOOT, (10, 11)),),
    commanders=(),
    terrain=(),
)
WEBCAM = Mount(ideal_lens(1920, 1080, 78.0), (900.0, 600.0))
ROW = MeasuredRow(1.0, 0.6, 4.0, 0.01, 0.75, 400, 0.9, 0.08, 0.16, 1.0, 2.0)
EXPECTATION = DetectionModel(
    "a test",
    4.0,
    0.6,
    (ROW, replace(ROW, px_per_cell=4.0, recall=1.0, median_px=0.02, p95_px=0.04)),
)


def test_a_webcam_two_metres_up_has_0_59_pixels_a_millimetre():
    # 1920 px over 2 * 2000 mm * tan(39 degrees) = 3239 mm.
    scale = WEBCAM.camera(TABLE, 2000.0).px_per_mm(np.array([[900.0, 600.0], [0.0, 0.0]]))
    assert scale == pytest.approx([0.59275, 0.59275], abs=1e-5)


def test_its_tags_of_12_mm_have_1_19_pixels_a_cell_everywhere():
    (scale,) = tag_scales(WEBCAM.camera(TABLE, 2000.0), TABLE)
    assert scale.median_px_per_cell == pytest.approx(0.59275 * 12 / 6, abs=1e-4)
    assert scale.min_px_per_cell == pytest.approx(scale.median_px_per_cell)
    assert scale.tags == (10, 11)


def test_the_picture_lies_over_the_table_the_right_way_up():
    corners = WEBCAM.camera(TABLE, 2000.0).to_image([[0, 0, 0], [1800, 0, 0], [0, 1200, 0]])
    half = np.array([900, 600]) * 0.59275
    middle = np.array([959.5, 539.5])
    expected = [middle + half * way for way in ([-1, 1], [1, 1], [-1, -1])]
    assert corners == pytest.approx(np.array(expected), abs=0.01)


def test_how_low_it_may_hang_is_where_the_table_leaves_two_percent_free():
    # 1200 mm on 96 % of 1080 px: focal length 1185.5 px times 1200 mm over 1036.8 px.
    assert lowest_height_mm(WEBCAM, TABLE) == pytest.approx(1185.5 * 1200 / 1036.8, abs=0.2)


def test_how_high_it_may_hang_for_so_many_pixels_a_cell():
    # 12 mm over six cells: 2 mm, and 1.5 px of 1185.5 px focal length.
    assert highest_height_mm(WEBCAM, TABLE, 1.5) == pytest.approx(1185.5 * 2 / 1.5, abs=0.1)
    # For 2 px it would hang at 1185 mm, from where the whole table is no longer seen.
    assert highest_height_mm(WEBCAM, TABLE, 2.0) is None


def test_beside_the_table_the_camera_looks_at_its_middle_and_sees_the_far_side_smaller():
    camera = Mount(WEBCAM.lens, (900.0, -400.0)).camera(TABLE, 1500.0)
    assert camera.to_image([[900.0, 600.0, 0.0]])[0] == pytest.approx([959.5, 539.5])
    assert camera.pose.camera_centre_mm == pytest.approx([900.0, -400.0, 1500.0])
    near, far = camera.px_per_mm(np.array([[900.0, 0.0], [900.0, 1200.0]]))
    assert near > 1.2 * far
    left, right = camera.to_image([[0.0, 600.0, 0.0], [1800.0, 600.0, 0.0]])
    assert left[1] == pytest.approx(right[1])
    assert left[0] < right[0]


@given(
    x_mm=st.floats(-500, 2300),
    y_mm=st.floats(-500, 1700),
    degrees=st.floats(40, 100),
)
def test_from_the_lowest_height_the_table_is_seen_and_just_below_it_is_not(x_mm, y_mm, degrees):
    mount = Mount(ideal_lens(1920, 1080, degrees), (x_mm, y_mm))
    height_mm = lowest_height_mm(mount, TABLE)
    assert sees_table(mount.camera(TABLE, height_mm), TABLE, margin=0.0199)
    steep_mm = mount.beside_mm(TABLE) / MOST_SLANTED
    if height_mm > 1.02 * steep_mm:  # lower down, it would look from the side
        assert not sees_table(mount.camera(TABLE, 0.99 * height_mm), TABLE, margin=0.02)


def test_a_table_tag_beside_the_table_must_be_seen_too():
    beside = replace(TABLE, table_tags=(*TABLE.table_tags, TableTag(4, 900.0, 1400.0)))
    ratio = lowest_height_mm(WEBCAM, beside) / lowest_height_mm(WEBCAM, TABLE)
    # Seen from above the middle, it needs 830 mm to one side where 600 mm would be enough.
    assert ratio == pytest.approx(830 / 600, rel=1e-3)


def test_a_camera_hung_higher_stays_above_its_place_and_looks_the_same_way():
    higher = at_height(CAMERA, 900.0)
    assert higher.pose.rotation_vector_rad == CAMERA.pose.rotation_vector_rad
    was, now = CAMERA.pose.camera_centre_mm, higher.pose.camera_centre_mm
    assert now == pytest.approx([was[0], was[1], 900.0])


def test_what_a_strong_lens_folds_back_into_the_picture_is_not_seen():
    folding = replace(CAMERA.lens, k1=-0.35, k2=0.0)
    camera = at_height(replace(CAMERA, lens=folding), 150.0)
    assert np.isnan(outline_px(camera, ROSTER)).any()
    assert not sees_table(camera, ROSTER)


def test_a_base_has_room_for_a_tag_and_a_cell_of_white_on_either_side():
    assert largest_tag_mm(FOOT, 6) == 30.0
    assert largest_tag_mm(BaseType("row", 40, 20, 10), 6) == 15.0


def test_a_plan_turns_measured_pixels_into_millimetres():
    plan = predict(WEBCAM, 2000.0, with_tag_size(TABLE, 24.0), EXPECTATION, error_mm=0.2)
    (tag,) = plan.tags
    # 2.37 px a cell lie 62 % of the way from 1 to 4, by their logarithms.
    way = np.log(2.371) / np.log(4.0)
    assert tag.expected.recall == pytest.approx(0.9 + 0.1 * way, abs=1e-3)
    assert tag.median_mm == pytest.approx((0.08 - 0.06 * way) / 0.59275, abs=1e-3)
    assert not tag.works
    # 99 % are found from 4 ** 0.9 = 3.48 px a cell: 35.25 mm; 0.2 mm is 0.1186 px.
    assert plan.smallest_tag_mm == 35.5
    assert plan.smallest_precise_tag_mm == pytest.approx(
        4 ** ((0.16 - 0.11855) / 0.12) * 6 / 0.59275, abs=0.5
    )


def test_a_plan_says_nothing_of_tags_smaller_than_any_that_were_measured():
    plan = predict(WEBCAM, 4000.0, TABLE, EXPECTATION, error_mm=0.2)
    (tag,) = plan.tags
    assert tag.expected is None
    assert (tag.median_mm, tag.p95_mm, tag.works) == (None, None, False)


def test_asking_for_another_size_changes_every_base_type_where_it_is_used():
    larger = with_tag_size(ROSTER, 18.0)
    assert {base.tag_size_mm for base in larger.base_types} == {18.0}
    assert {base.tag_size_mm for base in larger.base_type_by_tag().values()} == {18.0}
    assert [base.width_mm for base in larger.base_types] == [40, 60]
