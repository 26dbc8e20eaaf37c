"""The simulated camera is bumped and sags, the lamp is dimmed, a table tag is pushed."""

from dataclasses import replace

import numpy as np
import pytest

from tablecam.errors import BadInput
from tablecam.simulate.rendering.light import Lamp, dimmed
from tablecam.simulate.rendering.mount import UPRIGHT, Tilt
from tablecam.simulate.rendering.places import Place
from tablecam.simulate.rendering.render import PLAIN, Renderer
from tablecam.simulate.rendering.scene import Hand, Scene
from tablecam.simulate.source import SimulatedSource
from tablecam.simulate.table import SimulatedTable

PLACES = {10: Place(110, 90, 12), 11: Place(330, 230, 200), 20: Place(330, 80, 77)}


@pytest.fixture
def table(roster, script):
    return SimulatedTable(roster, script)


@pytest.fixture
def source(table, camera):
    return SimulatedSource(table, camera, look=PLAIN, is_paced=False)


def _middle_shift_px(before, after):
    """The shift of the middle of the picture."""
    lens = before.lens
    middle = before.to_table([(lens.cx_px, lens.cy_px)])
    return after.to_image([(*middle[0], 0.0)])[0] - [lens.cx_px, lens.cy_px]


def test_a_bump_shifts_the_middle_of_the_picture_by_what_it_says(camera):
    bumped = Tilt(right_px=15, down_px=-8).of(camera)
    assert _middle_shift_px(camera, bumped) == pytest.approx([15, -8], abs=0.05)


def test_a_roll_turns_the_picture_clockwise_about_its_middle(camera):
    rolled = Tilt(roll_deg=1.0).of(camera)
    assert _middle_shift_px(camera, rolled) == pytest.approx([0, 0], abs=1e-6)
    right_of_it = camera.to_table([(camera.lens.cx_px + 100, camera.lens.cy_px)])
    _, y_px = rolled.to_image([(*right_of_it[0], 0.0)])[0]
    assert y_px - camera.lens.cy_px == pytest.approx(100 * np.radians(1), rel=0.01)


def test_a_lowered_camera_sees_the_table_larger(camera):
    middle = [(240.0, 160.0)]
    lowered = Tilt(lower_mm=10).of(camera)
    assert lowered.px_per_mm(middle)[0] > camera.px_per_mm(middle)[0]


def test_a_camera_that_was_not_bumped_is_the_same_camera(camera):
    assert UPRIGHT.of(camera) is camera


def test_a_bumped_view_is_what_a_camera_hung_there_sees(roster, camera):
    tilt = Tilt(12, 7, 0.5)
    renderer = Renderer(roster, camera, PLAIN)
    before = renderer.picture(Scene(PLACES), 0)
    bumped = renderer.picture(Scene(PLACES, tilt=tilt), 1)
    assert np.array_equal(
        bumped, Renderer(roster, tilt.of(camera), PLAIN).picture(Scene(PLACES), 1)
    )
    assert np.array_equal(renderer.picture(Scene(PLACES), 2), before)


def test_the_next_frame_shows_a_bump_and_its_truth_stays(source, table):
    first = source.read()
    source.bump(15, 0)
    second = source.read()
    assert source.camera_of(first.number) == source.camera
    assert source.camera_of(second.number) == Tilt(15, 0).of(source.camera)
    assert not np.array_equal(first.image, second.image)
    assert source.truth_of(second.number) == table.truth() == source.truth_of(first.number)


def test_what_a_hand_hides_is_told_through_the_camera_of_that_frame(roster, camera):
    renderer = Renderer(roster, camera, PLAIN)
    scene = Scene(PLACES, (Hand("prussian", 330, 80, 90, 1.0),), tilt=Tilt(60, 0))
    assert renderer.hidden_share(scene, 20) > 0.9
    assert renderer.hidden_share(replace(scene, tilt=UPRIGHT), 20) > 0.9
    assert renderer.hidden_share(scene, 10) == 0


def test_a_sagging_camera_shifts_a_little_with_every_frame(source, table):
    table.mount.sag(Tilt(right_px=0.2))
    numbers = [source.read().number for _ in range(4)]
    shifts = [_middle_shift_px(source.camera, source.camera_of(number))[0] for number in numbers]
    assert shifts == pytest.approx([0, 0.02, 0.04, 0.06], abs=1e-3)
    table.mount.sag(UPRIGHT)
    assert source.camera_of(source.read().number) == source.camera_of(source.read().number)


def test_a_paused_script_does_not_stop_lamp_and_mount(source, table):
    table.pause()
    table.dim_lamp(0.6)
    table.mount.sag(Tilt(right_px=1))
    source.read()
    assert source.scene_of(source.read().number).light < 1
    assert source.camera_of(1) != source.camera


def test_a_lamp_fades_without_a_jump_and_arrives():
    lamp = Lamp()
    lamp.dim(0.0)
    lights = [lamp.light]
    for _ in range(8):
        lamp.advance(0.05)
        lights.append(lamp.light)
    assert lights[0] == 1
    assert lights[-1] == pytest.approx(0)
    assert np.all(np.diff(lights) < 0)
    assert np.abs(np.diff(lights)).max() < 0.25


def test_dimming_takes_its_share_of_linear_light():
    """Light is (level / 255) to the power of 2.2: rounding costs half a level."""
    levels = np.arange(256, dtype=np.uint8).reshape(16, 16)
    linear = (levels / 255) ** 2.2
    expected = 255 * (0.6 * linear) ** (1 / 2.2)
    assert np.abs(dimmed(levels, 0.6) - expected).max() <= 0.5
    assert dimmed(levels, 1.0) is levels


def test_the_lamp_comes_back_to_the_very_same_picture(source, table):
    before = source.read().image
    table.dim_lamp(0.6)
    for _ in range(6):
        dim = source.read().image
    assert dim.mean() < 0.85 * before.mean()
    table.dim_lamp(1.0)
    for _ in range(6):
        after = source.read().image
    assert np.array_equal(before, after)
    assert table.light == 1.0


def test_a_pushed_table_tag_is_drawn_where_it_lies(source, table, roster):
    before = source.read().image
    table.push_table_tag(0, 20, 10, 30)
    assert source.scene_of(source.read().number).pushed == {0: Place(60, 50, 120)}
    table.push_table_tag(0, -20, -10, -30)
    assert np.array_equal(source.read().image, before)


@pytest.mark.parametrize(
    ("deed", "complaint"),
    [
        (lambda table: table.push_table_tag(7, 1, 1), "expected one of the tags [0], got 7"),
        (lambda table: table.push_table_tag(0, np.nan, 1), "expected finite numbers"),
        (lambda table: table.bump_camera(np.inf, 0), "expected finite numbers"),
        (lambda table: table.dim_lamp(1.5), "expected a share from 0 to 1, got 1.5"),
    ],
    ids=["no such tag", "pushed to nowhere", "bumped without end", "more light than there is"],
)
def test_what_cannot_be_is_refused(table, deed, complaint):
    with pytest.raises(BadInput) as refused:
        deed(table)
    assert complaint in str(refused.value)
