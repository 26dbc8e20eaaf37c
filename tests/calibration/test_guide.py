from functools import cache
from itertools import pairwise
from pathlib import Path

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from calibration.camera import Camera, Pose
from calibration.errors import CalibrationError
from calibration.intrinsics.coverage import COLUMNS, ROWS, TILTS, target_outline_px
from calibration.intrinsics.focus import blur_px, focus_score
from calibration.intrinsics.guide import Advice, LensGuide
from calibration.intrinsics.lens_expectation import field_sigmas_px
from calibration.lens import Lens
from calibration.ruler import ruler_check
from tablecam.simulate.calibration_source import board_pose, lay_board
from tablecam.simulate.rendering.light import encoded

LENS = Lens(960, 540, 900, 900, 478, 271, k1=-0.12, k2=0.02)
FRAME_S = 0.1
MIDDLE = (480.0, 270.0)
# Middle, distance, tilts: together they cover the field and lean in every direction.
PLACES = (
    ((250, 150), 560, (20, -22)),
    ((710, 150), 560, (20, 22)),
    ((710, 390), 560, (-20, 22)),
    ((250, 390), 560, (-20, -22)),
    ((480, 270), 430, (25, 0)),
    ((480, 270), 470, (0, 25)),
    ((300, 270), 520, (-25, 4)),
    ((660, 270), 520, (3, -25)),
    ((200, 130), 640, (15, 15)),
    ((760, 410), 640, (-15, -15)),
)


@cache
def picture_of(
    middle_px: tuple[float, float],
    distance_mm: float = 520.0,
    tilt_deg: tuple[float, float] = (0.0, 0.0),
    *,
    blur: float = 0.6,
    seed: int = 1,
) -> np.ndarray:
    """A noisy grey picture of the board in a pose; drawn once for all tests."""
    linear = np.full((LENS.height_px, LENS.width_px, 3), 0.1, dtype=np.float32)
    pose = board_pose(LENS, middle_px, distance_mm, tilt_deg=tilt_deg)
    lay_board(linear, LENS, pose, blur)
    noise = np.random.default_rng(seed).normal(0, 1.5, linear.shape[:2])
    return np.clip(encoded(linear)[..., 0] + noise, 0, 255).astype(np.uint8)


def held(guide: LensGuide, picture: np.ndarray, from_s: float) -> list[Advice]:
    """The advice on a board held still for 0.9 s, in four frames."""
    return [guide.offer(picture, from_s + number * 0.3) for number in range(4)]


@pytest.fixture(scope="module")
def finished() -> LensGuide:
    """A guide that has been shown the board everywhere."""
    guide = LensGuide()
    for number, (middle, distance, tilt) in enumerate(PLACES):
        guide.offer(picture_of(middle, distance, tilt, seed=number), number * 10.0, take_now=True)
    return guide


@pytest.mark.parametrize(
    ("frame_s", "shares"),
    [(FRAME_S, [number / 7 for number in range(8)]), (1.5, [0, 2 / 3, 1])],
    ids=["ten pictures a second", "a slow computer"],
)
def test_a_board_held_still_is_taken_once_and_only_after_a_while(
    frame_s: float, shares: list[float]
) -> None:
    guide, picture = LensGuide(), picture_of(MIDDLE)
    advice = [guide.offer(picture, frame_s * number) for number in range(14)]
    last = len(shares) - 1
    assert [number for number, one in enumerate(advice) if one.taken] == [last]
    assert advice[last].taken == "view-001"
    assert [one.stillness.share for one in advice[: last + 1]] == pytest.approx(shares)


def test_a_board_that_moves_is_not_taken() -> None:
    guide = LensGuide()
    pictures = [picture_of((380.0 + 1.5 * step, 270.0)) for step in range(9)]
    advice = [guide.offer(picture, FRAME_S * number) for number, picture in enumerate(pictures)]
    assert [line.taken for line in advice] == [None] * 9
    assert all(line.view is not None for line in advice)


def test_a_board_in_the_place_of_another_view_is_refused_in_words() -> None:
    guide = LensGuide()
    held(guide, picture_of(MIDDLE), 0.0)
    held(guide, picture_of((300.0, 200.0)), 5.0)
    last = held(guide, picture_of(MIDDLE, seed=2), 10.0)[-1]
    assert last.taken is None
    assert last.is_doubtful
    assert "the same place as in view-001" in last.sentence


def test_a_view_taken_by_hand_need_not_wait() -> None:
    guide = LensGuide()
    assert guide.offer(picture_of(MIDDLE), 0.0, take_now=True).taken == "view-001"


def test_a_picture_without_a_board_asks_for_one_and_still_has_a_focus() -> None:
    table = np.zeros((540, 960), dtype=np.uint8)
    table[:, 480:] = 200
    advice = LensGuide().offer(cv2.GaussianBlur(table, (0, 0), 1.0), 0.0)
    assert advice.view is None
    assert advice.sentence.startswith("Show the lens board. Move the board to the top left")
    assert advice.focus.blur_px == pytest.approx(1.0, rel=0.2)


def test_the_guide_asks_for_the_parts_that_no_view_covers() -> None:
    guide = LensGuide()
    held(guide, picture_of((250.0, 150.0)), 0.0)
    covered = guide.progress.coverage.cells
    assert covered[0][0]
    assert not covered[ROWS - 1][COLUMNS - 1]
    advice = guide.offer(picture_of((250.0, 150.0)), 2.0)
    assert advice.target.cell == (0, COLUMNS - 1)


def test_what_is_still_wanted_shrinks_to_nothing(finished: LensGuide) -> None:
    assert LensGuide().progress.missing[0] == "8 more views"
    progress = finished.progress
    assert progress.missing == ()
    assert progress.is_enough
    assert progress.coverage.missing_cells == ()
    assert {tilt for tilt, count in progress.coverage.tilts if count} >= set(TILTS)


def test_a_finished_guide_has_found_the_lens_that_took_the_pictures(finished: LensGuide) -> None:
    calibration = finished.progress.lens
    assert calibration is not None
    off = (calibration.lens.parameters - LENS.parameters) / calibration.sigmas
    assert np.abs(off).max() < 4
    assert all(view.rms_px is not None and view.rms_px < 0.1 for view in finished.progress.views)


def test_every_further_view_makes_the_lens_surer() -> None:
    guide, sigmas = LensGuide(), []
    for number, (middle, distance, tilt) in enumerate(PLACES[:6]):
        guide.offer(picture_of(middle, distance, tilt, seed=number), number * 10.0, take_now=True)
        if guide.progress.usual_px is not None:
            sigmas.append(guide.progress.usual_px)
    assert len(sigmas) == 4
    assert sigmas[-1] < sigmas[0]


def test_a_dropped_view_is_gone_until_it_is_brought_back() -> None:
    guide = LensGuide()
    for number, place in enumerate(PLACES[:4]):
        guide.offer(picture_of(*place, seed=number), number * 10.0, take_now=True)
    before = guide.progress
    guide.drop("view-002")
    assert [view.name for view in guide.progress.views] == ["view-001", "view-003", "view-004"]
    assert guide.undo_drop() == "view-002"
    assert [view.name for view in guide.progress.views] == [view.name for view in before.views]
    assert guide.progress.sigma_px == before.sigma_px
    assert not guide.can_undo


def test_the_name_of_a_dropped_view_is_not_given_again() -> None:
    guide = LensGuide()
    guide.offer(picture_of(MIDDLE), 0.0, take_now=True)
    guide.drop("view-001")
    assert guide.offer(picture_of(MIDDLE), 1.0, take_now=True).taken == "view-002"


def test_dropping_an_unknown_view_or_undoing_nothing_is_refused() -> None:
    guide = LensGuide()
    with pytest.raises(CalibrationError, match="view-009: there is no view of this name"):
        guide.drop("view-009")
    with pytest.raises(CalibrationError, match="no view has been dropped"):
        guide.undo_drop()


@pytest.mark.parametrize("lens_blur", [0.8, 1.5, 2.5, 4.0])
def test_the_focus_tells_the_blur_of_edges_in_pixels(lens_blur: float) -> None:
    picture = picture_of(MIDDLE, 430.0, blur=lens_blur)
    # A pixel's own square blurs by 0.29 px more, and gamma narrows an edge by about a tenth.
    assert blur_px(picture) == pytest.approx(np.hypot(lens_blur, 0.29), rel=0.2)


def test_a_sharper_picture_has_a_higher_focus_score_whatever_its_contrast() -> None:
    scores = [focus_score(blur_px(picture_of(MIDDLE, blur=blur))) for blur in (3.0, 1.5, 0.6)]
    assert all(one < other for one, other in pairwise(scores))
    faint = (picture_of(MIDDLE, blur=1.5) // 3 + 60).astype(np.uint8)
    assert focus_score(blur_px(faint)) == pytest.approx(scores[1], rel=0.1)
    assert focus_score(blur_px(np.full((100, 100), 7, dtype=np.uint8))) == 0


@given(
    row=st.integers(0, ROWS - 1),
    column=st.integers(0, COLUMNS - 1),
    tilt=st.sampled_from(["flat", *TILTS]),
    width_px=st.integers(320, 4000),
    height_px=st.integers(320, 4000),
)
def test_the_place_to_hold_the_board_lies_inside_of_the_picture(
    row, column, tilt, width_px, height_px
) -> None:
    outline = target_outline_px((row, column), tilt, width_px, height_px)
    assert (outline >= 0).all()
    assert (outline <= [width_px, height_px]).all()


def test_the_expected_error_is_least_near_the_table_tags(
    finished: LensGuide,
) -> None:
    calibration = finished.progress.lens
    assert calibration is not None
    # The lens's uncertainty is a few hundredths of a pixel at worst, and least where the table tags
    # for registration lie.
    sigmas = field_sigmas_px(calibration)
    assert sigmas.shape == (7, 9)
    assert 0 < sigmas.max() < 0.1
    assert sigmas[0, 0] > sigmas[1, 1]


def overhead() -> Camera:
    rotation, _ = cv2.Rodrigues(np.diag([1.0, -1.0, -1.0]))
    rx, ry, rz = (float(value) for value in rotation.ravel())
    return Camera(LENS, Pose((rx, ry, rz), (-400.0, 250.0, 900.0)))


def test_a_ruler_is_measured_as_long_as_it_is() -> None:
    camera = overhead()
    ends_px = camera.to_image([[100, 100, 4], [340, 280, 4]])
    check = ruler_check(camera, ends_px, 300.0, height_mm=4.0)
    assert check.measured_mm == pytest.approx(300.0, abs=1e-6)
    assert check.off_sigmas == pytest.approx(0.0, abs=1e-5)
    # Two clicks of 0.7 px at about 0.995 mm a pixel.
    assert check.sigma_mm == pytest.approx(0.7 * 0.995 * np.sqrt(2), rel=0.05)


def test_an_uncertain_camera_makes_the_ruler_less_certain() -> None:
    sure = overhead()
    covariance = np.zeros((15, 15))
    covariance[14, 14] = 9.0  # 3 mm in height: 1 mm in 300
    unsure = Camera(sure.lens, sure.pose, covariance=covariance)
    ends_px = sure.to_image([[100, 100, 0], [340, 280, 0]])
    exact = ruler_check(sure, ends_px, 300.0, click_sigma_px=0.0)
    assert exact.sigma_mm == 0
    assert ruler_check(unsure, ends_px, 300.0, click_sigma_px=0.0).sigma_mm == pytest.approx(
        1.0, rel=0.01
    )


def test_a_ruler_without_length_is_refused() -> None:
    with pytest.raises(CalibrationError, match="two different points"):
        ruler_check(overhead(), [[100, 100], [100, 100]], 300.0)


def test_the_guide_is_content_with_the_shared_lens_views(shared: Path) -> None:
    guide = LensGuide()
    for number, path in enumerate(sorted((shared / "footage/hd-b/lens").glob("*.jpg"))):
        picture = cv2.imread(str(path), cv2.IMREAD_GRAYSCALE)
        guide.offer(picture, number * 10.0, take_now=True)
    progress = guide.progress
    assert len(progress.views) == 12
    assert progress.is_enough
    assert progress.lens is not None
    assert progress.lens.rms_px < 0.05
