"""The table's pose is found with honest uncertainty, with and without a lens."""

from dataclasses import replace

import cv2
import numpy as np
import pytest

from calibration.camera import Camera, Pose
from calibration.errors import CalibrationError
from calibration.extrinsics.table_pose import find_table
from calibration.extrinsics.table_tags import FoundTag, find_tags
from calibration.intrinsics.lens_from_views import lens_from_views
from calibration.results import LensCalibration, Origin
from tests.calibration.board_views import LENS, many_views

ORIGIN = Origin("2025-01-01T00:00:00+00:00", ("empty.jpg",))
POSE = Pose((3.0775, 0.0621, -0.0775), (-814.9, 555.7, 1870.7))
LISTED = {0: (50.0, 50.0), 1: (1750.0, 50.0), 2: (1750.0, 1150.0), 3: (50.0, 1150.0)}
SIX = LISTED | {4: (900.0, 50.0), 5: (900.0, 1150.0)}
SIZE_MM = 60.0
_X, _Y = np.meshgrid(np.linspace(60, 1740, 15), np.linspace(60, 1140, 10))
PLACES = np.stack([_X.ravel(), _Y.ravel()], axis=1)


def _known_lens(sigma_scale=1.0):
    covariance = np.diag(np.square([0.15, 0.15, 0.15, 0.15, 3e-4, 1e-3, 1e-5, 1e-5, 1e-3]))
    return LensCalibration(LENS, sigma_scale**2 * covariance, 0.03, (), ORIGIN)


def _found(places_mm, *, noise_px=0.0, inward_px=0.25, seed=0, pose=POSE, turned_rad=0.0):
    """Tags at these places, as a camera sees them."""
    rng, half = np.random.default_rng(seed), SIZE_MM / 2
    square = np.array([[-half, half], [half, half], [half, -half], [-half, -half]])
    tags = []
    for tag, (x, y) in places_mm.items():
        turn = rng.normal(scale=turned_rad) if turned_rad else 0.0
        around = square @ [[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]]
        corners = Camera(LENS, pose).to_image(
            np.column_stack([np.add(around, (x, y)), np.zeros(4)])
        )
        corners = _smaller(corners, inward_px) + rng.normal(scale=noise_px, size=(4, 2))
        tags.append(FoundTag.of_sides(tag, corners, 0.1))
    return tags


def _smaller(corners_px, inward_px):
    """A quadrilateral with its sides moved inward, by intersecting the sides' lines."""
    along = np.roll(corners_px, -1, axis=0) - corners_px
    normal = np.column_stack([-along[:, 1], along[:, 0]])
    normal /= np.linalg.norm(along, axis=1, keepdims=True)
    inside = np.sum(normal * (corners_px.mean(axis=0) - corners_px), axis=1)
    level = np.sum(normal * corners_px, axis=1) + inward_px * np.sign(inside)
    before = np.roll(np.arange(4), 1)
    return np.array(
        [
            np.linalg.solve(normal[[a, b]], level[[a, b]])
            for a, b in zip(before, range(4), strict=True)
        ]
    )


def _search(tags, listed=LISTED, *, lens):
    return find_table(
        tags,
        listed,
        SIZE_MM,
        picture_size_px=(LENS.width_px, LENS.height_px),
        lens=lens,
        origin=ORIGIN,
        picture_name="empty.jpg",
    )


def _camera(search):
    calibration = search.calibration
    return Camera(calibration.lens, calibration.pose, "found", calibration.covariance)


def _off_mm(camera, height_mm=0.0, true=None):
    """The camera's errors of places on the table, (150, 2)."""
    true = true or Camera(LENS, POSE)
    points = np.column_stack([PLACES, np.full(len(PLACES), height_mm)])
    return camera.to_table(true.to_image(points), height_mm) - PLACES


def _deviations(camera, height_mm=0.0, true=None):
    """The same in standard deviations: about 1 on average if these are honest."""
    off, covariance = _off_mm(camera, height_mm, true), camera.table_covariance(PLACES, height_mm)
    squares = np.einsum("ni,nij,nj->n", off, np.linalg.inv(covariance), off)
    return float(np.sqrt(squares.mean() / 2))


def test_exact_tags_under_a_known_lens_give_the_exact_table():
    search = _search(_found(LISTED), lens=_known_lens())
    assert np.abs(_off_mm(_camera(search))).max() < 0.003
    assert search.notes == ()
    assert search.sigma_with_lens_mm is None
    assert all(tag.used and tag.distance_mm < 0.003 for tag in search.calibration.tags)


@pytest.mark.parametrize("scene", ["empty", "scene-1", "scene-2"])
def test_the_footages_table_is_right_to_a_tenth_of_a_millimetre(rig, lens_search, scene):
    lens = lens_search.calibration
    grey, listed = rig.grey(scene), rig.roster.table_tag_places_mm
    search = find_table(
        find_tags(grey, rig.roster.dictionary, listed, lens.lens),
        listed,
        rig.roster.table_tag_size_mm,
        picture_size_px=(grey.shape[1], grey.shape[0]),
        lens=lens,
        origin=ORIGIN,
        picture_name=scene,
    )
    camera = _camera(search)
    assert search.calibration.sigma_mm < 0.08
    for height_mm in (0.0, 3.0):
        off_mm = np.linalg.norm(_off_mm(camera, height_mm, rig.camera), axis=1)
        assert off_mm.max() < 0.1, height_mm
        assert 0.2 < _deviations(camera, height_mm, rig.camera) < 2.0, height_mm


def test_the_footages_table_is_found_without_a_lens_and_says_what_one_would_gain(rig):
    grey, listed = (
        rig.grey("empty"),
        rig.roster.table_tag_places_mm,
    )
    search = find_table(
        find_tags(grey, rig.roster.dictionary, listed),
        listed,
        rig.roster.table_tag_size_mm,
        picture_size_px=(grey.shape[1], grey.shape[0]),
        lens=None,
        origin=ORIGIN,
        picture_name="empty.jpg",
    )
    camera = _camera(search)
    assert np.linalg.norm(_off_mm(camera, 0.0, rig.camera), axis=1).mean() < 2.0
    assert 0.3 < _deviations(camera, 0.0, rig.camera) < 2.0
    assert 0.3 < search.calibration.sigma_mm < 2.0
    assert search.sigma_with_lens_mm < 0.25 * search.calibration.sigma_mm


@pytest.mark.parametrize("placed_mm", [0.0, 0.5], ids=["exact tags", "tags placed by hand"])
def test_the_stated_uncertainty_is_honest(placed_mm):
    rng, deviations = np.random.default_rng(21), []
    for seed in range(12):
        views = many_views(rng, count=8)
        lens = lens_from_views(views, ORIGIN).calibration
        lie = {tag: tuple(rng.normal(place, placed_mm)) for tag, place in SIX.items()}
        tags = _found(lie, noise_px=0.1, seed=seed, turned_rad=0.01 * placed_mm)
        deviations.append(_deviations(_camera(_search(tags, SIX, lens=lens))))
    # Each is about 1, and a few are 2: each comes from four to twelve numbers.
    assert 0.5 < np.sqrt(np.mean(np.square(deviations))) < 1.6


def test_an_uncalibrated_camera_is_honestly_less_certain():
    rng, deviations = np.random.default_rng(22), []
    for seed in range(12):
        turned, _ = cv2.Rodrigues(
            np.array([*rng.normal(scale=0.06, size=2), rng.normal(scale=0.5)])
        )
        straight, _ = cv2.Rodrigues(np.array(POSE.rotation_vector_rad))
        rotation = turned @ straight
        vector, _ = cv2.Rodrigues(rotation)
        pose = Pose(tuple(vector.ravel()), tuple(-rotation @ POSE.camera_centre_mm))
        tags = _found(LISTED, noise_px=0.05, seed=seed, pose=pose)
        camera = _camera(_search(tags, lens=None))
        deviations.append(_deviations(camera, 0.0, Camera(LENS, pose)))
    # One lens is no sample of all lenses: only the order of magnitude can be tested.
    assert 0.2 < np.sqrt(np.mean(np.square(deviations))) < 2.0


@pytest.mark.parametrize("listed", [LISTED, SIX], ids=["four tags", "six tags"])
@pytest.mark.parametrize("seed", range(2))
def test_the_last_digit_of_a_corner_does_not_choose_how_uncertain_an_unknown_lens_is(listed, seed):
    tags = _found(listed, noise_px=0.05, seed=seed)
    nudged = [replace(tag, corners_px=tag.corners_px * (1 + 1e-12)) for tag in tags]
    sigma_mm, nudged_sigma_mm = (
        _search(corners, listed, lens=None).calibration.sigma_mm for corners in (tags, nudged)
    )
    # Normal equations lost all digits in the valley between focal length and height: 4e-3 and more.
    assert nudged_sigma_mm == pytest.approx(sigma_mm, rel=1e-6)


@pytest.mark.parametrize("wrong", list(LISTED))
@pytest.mark.parametrize("aside_mm", [(0.0, 20.0), (-30.0, 15.0), (300.0, 0.0)])
def test_one_tag_of_four_that_lies_wrong_is_left_out_and_named(wrong, aside_mm):
    x, y = LISTED[wrong]
    lie = LISTED | {wrong: (x + aside_mm[0], y + aside_mm[1])}
    search = _search(_found(lie, noise_px=0.03), lens=_known_lens())
    assert [tag.id for tag in search.calibration.tags if not tag.used] == [wrong]
    assert any(f"tag {wrong} is not at its listed place" in note for note in search.notes)
    assert any("only three table tags" in note for note in search.notes)
    left_out = next(tag for tag in search.calibration.tags if not tag.used)
    assert left_out.distance_mm == pytest.approx(np.hypot(*aside_mm), rel=0.05)
    assert np.abs(_off_mm(_camera(search))).max() < 1.0


@pytest.mark.parametrize("wrong", list(SIX))
def test_with_six_tags_a_slip_of_five_millimetres_is_found_even_without_a_lens(wrong):
    x, y = SIX[wrong]
    search = _search(_found(SIX | {wrong: (x + 5.0, y)}, noise_px=0.03), SIX, lens=_known_lens())
    assert [tag.id for tag in search.calibration.tags if not tag.used] == [wrong]
    search = _search(_found(SIX | {wrong: (x + 50.0, y)}, noise_px=0.03), SIX, lens=None)
    assert [tag.id for tag in search.calibration.tags if not tag.used] == [wrong]


def test_tags_that_all_disagree_are_all_kept_and_make_the_table_uncertain():
    rng = np.random.default_rng(3)
    lie = {tag: tuple(rng.normal(place, 4.0)) for tag, place in LISTED.items()}
    search = _search(_found(lie, turned_rad=0.02), lens=_known_lens())
    assert all(tag.used for tag in search.calibration.tags)
    assert any("contradict each other" in note for note in search.notes)
    assert search.calibration.sigma_mm > 1.0
    assert _deviations(_camera(search)) < 2.5


def test_one_hidden_tag_of_four_is_said_and_does_little_harm():
    tags = [tag for tag in _found(LISTED, noise_px=0.03) if tag.id != 2]
    search = _search(tags, lens=_known_lens())
    assert search.notes == (
        "table tags not seen: 2",
        "only three table tags: a misplaced one cannot be detected",
    )
    assert np.abs(_off_mm(_camera(search))).max() < 0.6
    assert _deviations(_camera(search)) < 2.0


def test_fewer_than_three_tags_are_an_error_that_names_them():
    with pytest.raises(CalibrationError) as error:
        _search(_found(LISTED)[1:3], lens=None)
    assert str(error.value) == (
        "empty.jpg: expected 3 table tags or more in view, got 2 (seen: 1, 2; missing: 0, 3)"
    )


def test_tags_on_one_line_are_an_error():
    line = {0: (50.0, 50.0), 1: (900.0, 50.0), 2: (1750.0, 50.0)}
    with pytest.raises(CalibrationError, match="span an area"):
        _search(_found(line, noise_px=0.02), line, lens=None)


def test_a_lens_that_is_less_well_known_makes_the_table_less_certain():
    sigmas = [
        _search(_found(LISTED, noise_px=0.03), lens=_known_lens(scale)).calibration.sigma_mm
        for scale in (1.0, 10.0, 100.0)
    ]
    assert sigmas[0] < sigmas[1] < sigmas[2]
