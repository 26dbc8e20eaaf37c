import numpy as np

from tablecam.simulate.demo import demo_camera


def test_there_are_at_least_ten_units_a_side_and_a_commander(leuthen):
    for side in ("prussian", "austrian"):
        arms = [unit.arm for unit in leuthen.units if unit.side == side]
        assert len(arms) >= 10
        assert set(arms) == {"infantry", "cavalry", "artillery"}
        assert [leader.side for leader in leuthen.commanders].count(side) == 1


def test_every_unit_has_a_name_that_a_player_knows(leuthen):
    names = [unit.extra["name"] for unit in leuthen.units if "name" in unit.extra]
    assert len(set(names)) > len(leuthen.units) - 2


def test_the_camera_sees_the_whole_table_with_a_margin(leuthen):
    table = leuthen.table
    for size in ((2560, 1440), (1280, 720), (640, 480)):
        camera = demo_camera(*size, table)
        steps = np.linspace(-0.01, 1.01, 9)
        edge = [(x, y, 0) for s in steps for x, y in ((s, -0.01), (s, 1.01), (-0.01, s), (1.01, s))]
        seen = camera.to_image(np.array(edge) * [table.width_mm, table.depth_mm, 1])
        assert (seen > 0).all()
        assert (seen < np.array(size) - 1).all()


def test_a_cell_of_every_tag_is_at_least_three_pixels_wide(leuthen):
    camera = demo_camera()
    corners = np.array([(0, 0), (1200, 0), (1200, 800), (0, 800)])
    smallest_mm = min(base_type.tag_size_mm for base_type in leuthen.base_types) / 6
    assert camera.px_per_mm(corners).min() * smallest_mm > 3
