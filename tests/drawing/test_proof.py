"""The proof on the camera's picture: cropped to the place, drawn there, with a caption."""

from dataclasses import replace
from datetime import UTC, datetime

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablecam.drawing.lettering import Words, size_px, with_text, wrapped
from tablecam.drawing.proof import Proof, proof_picture
from tablecam.drawing.proof_crop import LEAST_WIDTH_PX, crop_around
from tablecam.drawing.proof_ground import EvidenceHeights
from tablecam.drawing.shape_style import SIDES, style_of
from tablecam.geometry.outlines import corners
from tablecam.geometry.shapes import Shape
from tablecam.simulate.demo import demo_camera
from tablecam.table.model import BasePose, TableSize, Terrain, Unit
from tablecam.uncertainty.answer import Answer

TABLE = TableSize(1200, 800, 30)
CAMERA = demo_camera(1280, 720, TABLE)
BASE_TOP_MM = 3.0
GROUND = EvidenceHeights(BASE_TOP_MM)
AT = datetime(2026, 5, 1, 20, 15, tzinfo=UTC)
GREY = 96
JPEG_GREY = 6.0
"""Change of a flat colour by JPEG at quality 90, on pictures like these."""


def line_of_four(unit_id, side, x_mm, y_mm, heading_deg):
    ways = np.array([np.cos(np.radians(heading_deg - 90)), np.sin(np.radians(heading_deg - 90))])
    places = [np.array([x_mm, y_mm]) + 30 * step * ways for step in (-1.5, -0.5, 0.5, 1.5)]
    bases = tuple(BasePose(x, y, heading_deg, 30, 30) for x, y in places)
    return Unit(unit_id, side, "infantry", bases)


F1 = line_of_four("F1", "french", 600, 300, 90)
B1 = line_of_four("B1", "british", 640, 460, 265)


def answer(*shapes, word="yes"):
    because = "Two of four bases lie behind the front line, and nothing of it directly in front."
    return Answer(word, 3.2, 0.4, 0.97, "M-1.12", because, tuple(shapes))


def proof(*shapes, units=(F1, B1), word="yes"):
    question = "Is B1 to the flank of F1?"
    return Proof(question, answer(*shapes, word=word), AT, units, ("french", "british"), GROUND)


def flat_picture(camera=CAMERA):
    return np.full((camera.lens.height_px, camera.lens.width_px, 3), GREY, np.uint8)


def decoded(jpeg):
    return cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_COLOR).astype(float)


def pictures(the_proof, camera=CAMERA, picture=None):
    made = proof_picture(flat_picture(camera) if picture is None else picture, camera, the_proof)
    return [decoded(jpeg) for jpeg in made]


def cut_of(units, camera=CAMERA):
    places = [np.array(corners(base)) for unit in units for base in unit.bases]
    return crop_around(places, camera, ground=GROUND, margin_mm=60.0)


def test_the_plain_picture_is_the_cameras_own():
    plain, _ = pictures(proof(Shape("line", ((600, 300), (640, 460)), "length", "5.3 BW")))
    assert np.abs(plain - GREY).max() <= JPEG_GREY


def test_a_small_cut_is_enlarged_until_it_can_be_read_and_a_large_one_is_kept():
    plain, drawn = pictures(proof())
    assert plain.shape[1] == drawn.shape[1] == LEAST_WIDTH_PX
    far = replace(B1, bases=line_of_four("B1", "british", 150, 700, 0).bases)
    large = demo_camera(3840, 2160, TABLE)
    cut = cut_of((F1, far), large)
    assert cut.scale == 1.0
    assert pictures(proof(units=(F1, far)), large)[0].shape[1] == cut.width_px > LEAST_WIDTH_PX


def test_enlarged_places_stay_where_they_were():
    picture = flat_picture()
    place = np.array([[610.0, 380.0]])
    ((x, y),) = CAMERA.to_image(np.column_stack([place, [BASE_TOP_MM]]))
    across, down = np.meshgrid(np.arange(1280), np.arange(720))
    spot = 120 * np.exp(-((across - x) ** 2 + (down - y) ** 2) / (2 * 4.0**2))
    picture = (picture + spot[..., None]).astype(np.uint8)
    plain, _ = pictures(proof(), picture=picture)
    bright = (plain.mean(axis=2) - GREY - 8).clip(0)
    rows, columns = np.mgrid[: plain.shape[0], : plain.shape[1]]
    middle = np.array([(columns * bright).sum(), (rows * bright).sum()]) / bright.sum()
    # Grey levels are integers, and JPEG shifts them a little: a fifth of a pixel of the crop.
    assert np.abs(middle - cut_of((F1, B1)).pixels(place)[0]).max() < 0.2


@given(
    x_mm=st.floats(60, 1140),
    y_mm=st.floats(60, 740),
    heading_deg=st.floats(0, 359),
    apart_mm=st.floats(-400, 400),
)
def test_the_units_in_question_are_seen_whole(x_mm, y_mm, heading_deg, apart_mm):
    other_x = min(max(x_mm + apart_mm, 60), 1140)
    units = (
        line_of_four("F1", "french", x_mm, y_mm, heading_deg),
        line_of_four("B1", "british", other_x, y_mm, heading_deg + 130),
    )
    cut = cut_of(units)
    shape = cut.of(flat_picture()).shape
    for base in (base for unit in units for base in unit.bases):
        points = np.array(corners(base))
        seen_px = CAMERA.to_image(np.column_stack([points, np.full(4, BASE_TOP_MM)]))
        if (seen_px >= 0).all() and (seen_px <= [1279, 719]).all():
            in_cut = cut.pixels(points)
            assert (in_cut >= -0.5).all()
            assert (in_cut <= [shape[1] - 0.5, shape[0] - 0.5]).all()


def differs(plain, drawn, place_px, reach=2):
    """Whether anything was drawn at a place."""
    x, y = np.round(place_px).astype(int)
    around = (slice(y - reach, y + reach + 1), slice(x - reach, x + reach + 1))
    return np.abs(drawn[around] - plain[around]).max() > 25


@pytest.mark.parametrize("kind", ["point", "line", "polygon"])
def test_evidence_is_drawn_where_it_lies_on_the_table(kind):
    points = ((560.0, 350.0), (690.0, 350.0), (690.0, 420.0))[: 1 if kind == "point" else 3]
    plain, drawn = pictures(proof(Shape(kind, points, "length")))
    for place_px in cut_of((F1, B1)).pixels(np.array(points)):
        assert differs(plain, drawn, place_px)


HILL = Terrain("hill", "hill", ((860, 580), (960, 580), (960, 680), (860, 680)), height_mm=30.0)


def seen_on_hill(*shapes, units=()):
    """The plain and the drawn picture, and a function from a place and height to its pixel."""
    hilly = replace(
        proof(*shapes, units=units), ground=EvidenceHeights.of((HILL,), base_mm=BASE_TOP_MM)
    )
    places = [np.array(shape.points_mm) for shape in shapes]
    places += [np.array(corners(base)) for unit in units for base in unit.bases]
    cut = crop_around(places, CAMERA, ground=hilly.ground, margin_mm=60.0)

    def at(place_mm, height_mm):
        ((x, y),) = CAMERA.to_image([[*place_mm, BASE_TOP_MM + height_mm]])
        return (np.array([x - cut.left_px, y - cut.top_px]) + 0.5) * cut.scale - 0.5

    return (*pictures(hilly), at)


def test_evidence_on_a_hill_is_drawn_at_the_hills_height_and_beside_it_on_the_table():
    on_hill, beside = (900.0, 640.0), (800.0, 600.0)
    dots = (Shape("point", (place,), "contact") for place in (on_hill, beside))
    plain, drawn, at = seen_on_hill(*dots)
    assert differs(plain, drawn, at(on_hill, 30.0))
    assert differs(plain, drawn, at(beside, 0.0))
    assert not differs(plain, drawn, at(on_hill, 0.0))
    assert not differs(plain, drawn, at(beside, 30.0))


def test_a_base_that_overhangs_its_hill_is_outlined_level():
    edge = Unit("F1", "french", "artillery", (BasePose(950, 640, 0, 30, 30),))
    plain, drawn, at = seen_on_hill(units=(edge,))
    for corner in corners(edge.bases[0]):
        assert differs(plain, drawn, at(corner, 30.0))


def test_a_long_straight_line_is_drawn_as_bent_as_the_lens_shows_it():
    line = Shape("line", ((-5000.0, 370.0), (5000.0, 370.0)), "front-line", "F1's front line")
    plain, drawn = pictures(proof(line))
    cut = cut_of((F1, B1))
    along = np.column_stack([np.linspace(500, 740, 25), np.full(25, 370.0)])
    inside = [px for px in cut.pixels(along) if 4 < px[0] < plain.shape[1] - 4]
    assert len(inside) > 5
    assert all(differs(plain, drawn, place_px) for place_px in inside)


def test_areas_without_end_do_not_make_the_picture_wider():
    strip = ((540.0, 315.0), (660.0, 315.0), (660.0, 5000.0), (540.0, 5000.0))
    alone, _ = pictures(proof())
    beside, _ = pictures(proof(Shape("polygon", strip, "directly-in-front")))
    wide, _ = pictures(
        proof(Shape("polygon", (*strip[:2], (660.0, 790.0), (540.0, 790.0)), "lane"))
    )
    assert beside.shape == alone.shape
    assert wide.shape != alone.shape


def test_question_answer_rule_and_time_stand_beneath_the_picture():
    plain, drawn = pictures(proof())
    caption = drawn[plain.shape[0] :]
    assert caption.shape[0] > 60
    assert (caption.min(axis=2) < 90).any()  # letters
    others = [
        replace(proof(), question="May F1 charge B1?"),
        replace(proof(), at=AT.replace(hour=3)),
    ]
    others += [replace(proof(), answer=replace(answer(), rule="M-8.5")), proof(word="no")]
    others += [replace(proof(), answer=replace(answer(), because="One base lies behind."))]
    others += [replace(proof(), reading="a bent column goes by its leading base")]
    for other in others:
        _, differently = pictures(other)
        said = differently[plain.shape[0] :]
        assert said.shape != caption.shape or np.abs(said - caption).max() > 60


@pytest.mark.parametrize("word", ["yes", "no", "too_close"])
def test_each_answer_has_a_ground_of_its_own_colour(word):
    grounds = {"yes": (115, 158, 0), "no": (0, 94, 213), "too_close": (66, 228, 240)}
    _, drawn = pictures(proof(word=word))
    for each, colour in grounds.items():
        there = (np.abs(drawn[-150:] - colour).max(axis=2) < 12).sum()
        assert (there > 300) == (each == word)


def test_sides_keep_their_colours_whichever_unit_is_named_first():
    for units in ((F1, B1), (B1, F1)):
        _, drawn = pictures(proof(units=units))
        for unit, colour in ((F1, SIDES[0]), (B1, SIDES[1])):
            front = np.array(corners(unit.bases[1]))[:2].mean(axis=0, keepdims=True)
            x, y = cut_of(units).pixels(front)[0].round().astype(int)
            around = drawn[y - 2 : y + 3, x - 2 : x + 3].reshape(-1, 3)
            assert np.abs(around - colour).max(axis=1).min() < 40  # JPEG blurs colours


def test_a_grey_picture_and_no_units_will_do():
    point = Shape("point", ((600.0, 400.0),), "contact", "touches B1")
    jpegs = proof_picture(flat_picture()[..., 0], CAMERA, proof(point, units=()))
    assert all(decoded(jpeg).shape[1] == LEAST_WIDTH_PX for jpeg in jpegs)


@pytest.mark.parametrize("place", [(9000.0, 9000.0), (-4000.0, 300.0)])
def test_evidence_that_the_camera_does_not_see_leaves_the_whole_picture(place):
    plain, _ = pictures(proof(Shape("point", (place,), "contact"), units=()))
    assert plain.shape[:2] == (720, 1280)


def test_the_frame_is_left_as_it_was():
    picture = flat_picture()
    proof_picture(picture, CAMERA, proof(Shape("line", ((600, 300), (640, 460)), "length")))
    assert (picture == GREY).all()


def test_an_unknown_role_is_drawn_too():
    assert style_of("nobody thought of it").width > 0


def test_words_are_as_wide_as_they_are_measured():
    blank = np.zeros((80, 900, 3), np.uint8)
    for bold in (False, True):
        words = Words("B1 to the flank ± 0.3 mm", (20, 40), 30, (255, 255, 255), bold=bold)
        columns = np.flatnonzero(with_text(blank, [words]).max(axis=(0, 2)))
        wide, _ = size_px(words.text, 30, bold=bold)
        # A letter's own side bearings are measured with it.
        assert columns[-1] - columns[0] == pytest.approx(wide, abs=5)
    assert not blank.any()


@given(st.lists(st.text(st.characters(codec="ascii", categories=["L"]), min_size=1, max_size=12)))
def test_wrapped_words_are_all_there_in_order_and_no_wider_than_asked(words):
    lines = wrapped(" ".join(words), 20, 200)
    assert " ".join(lines).split() == words
    assert all(size_px(line, 20)[0] <= 200 or " " not in line for line in lines)
