"""Advice: each sentence when its cause was measured, and nothing else."""

from dataclasses import replace

import numpy as np
import pytest

from tablecam.planning.advice import Facts, advice, collect_facts
from tablecam.planning.detection_model import DetectionModel, MeasuredRow
from tablecam.planning.resolution_advice import ResolutionAdvice, resolution_advice
from tablecam.vision.detection.exposure import Exposure
from tablecam.vision.detection.sighting import Rejection, SearchResult, TagSighting
from tablecam.vision.search.camera_scale import at_height, sees_table
from tests.vision.pictures import CAMERA, FOOT, ROSTER


def row(px_per_cell, recall, error_px, **others):
    ordinary = {"blur_px": 0.6, "noise_grey": 4.0, "noise_share": 0.005, "found_blur_px": 0.75}
    errors = {"median_px": error_px, "p95_px": error_px, "median_deg": 1.0, "p95_deg": 2.0}
    return MeasuredRow(px_per_cell, recall=recall, tags=400, **(ordinary | errors | others))


EXPECTATION = DetectionModel(
    "a test",
    4.0,
    0.6,
    (
        row(2.0, 0.97, 0.05),
        row(2.5, 1.0, 0.04),
        row(2.5, 0.97, 0.08, noise_grey=8.0, noise_share=0.01),
        row(2.5, 0.75, 0.12, noise_grey=16.0, noise_share=0.02),
        row(2.5, 0.5, 0.04, blur_px=2.0, found_blur_px=2.0),
    ),
)
SMALL = ResolutionAdvice(
    frozenset({10, 11, 12, 20}), 1.6, 2.0, 240.0, {"foot": 14.0, "gun": 14.0}, picture_width_px=2400
)
GOOD = Facts(
    table_tags_seen=4,
    blur_px=0.75,
    exposure=Exposure(noise_grey=0.8, contrast_grey=160.0, clipped_share=0.0, misfit_share=0.05),
    owners={10: "F1"},
)


def said(small=None, **changes):
    return advice(replace(GOOD, **changes), small, EXPECTATION)


def noisy(share, **changes):
    return {"exposure": replace(GOOD.exposure, noise_grey=share * 160.0, **changes)}


def test_nothing_is_said_of_a_good_picture():
    assert said() == ()
    assert said(SMALL) == ()  # small, but all of them have been seen


def test_nothing_is_said_of_what_nobody_knows():
    assert said(blur_px=None, exposure=Exposure()) == ()


def test_tags_that_are_too_small_come_with_what_would_help():
    assert said(SMALL, missing=(10, 11)) == (
        "2 tags are too small (1.6 px per cell, 2.0 needed): "
        "move the camera 24 cm closer or print 14 mm",
    )


def test_only_missing_tags_of_the_small_kinds_count():
    (sentence,) = said(SMALL, missing=(12, 99))
    assert sentence.startswith("1 tag is too small")
    assert said(SMALL, missing=(99,)) == ()


@pytest.mark.parametrize(
    ("changes", "ways"),
    [
        ({"closer_mm": None}, "print 14 mm"),
        ({"print_mm": None}, "move the camera 24 cm closer"),
        (
            {"closer_mm": None, "print_mm": {"foot": 13.5, "gun": 15.0}},
            "print 13.5 mm for foot, 15 mm for gun",
        ),
        (
            {"closer_mm": None, "print_mm": None},
            "use a camera with a horizontal resolution of at least 2400 px",
        ),
    ],
)
def test_only_what_is_possible_is_advised(changes, ways):
    (sentence,) = said(replace(SMALL, **changes), missing=(10,))
    assert sentence.partition("): ")[2] == ways


def test_noise_is_said_by_what_it_was_measured_to_cost():
    assert said(**noisy(0.005)) == ()
    assert said(**noisy(0.009)) == ()  # 1.8 times the error: not yet double
    assert said(**noisy(0.01)) == ("too dark: noise doubles the error; add light",)
    assert said(**noisy(0.02)) == (
        "too dark: noise triples the error and hides 1 tag in 4; add light",
    )


def test_blur_is_said_by_what_it_was_measured_to_cost():
    assert said(blur_px=0.8) == ()
    assert said(blur_px=2.5) == (
        "out of focus: blur hides 1 tag in 2; focus the lens, then calibrate again",
    )


def test_white_paper_is_named_only_when_it_spoils_the_tags():
    white = replace(GOOD.exposure, clipped_share=0.83)
    assert said(exposure=white) == ()
    (sentence,) = said(exposure=replace(white, misfit_share=0.13))
    assert sentence.startswith("too bright: the paper of 83 % of the tags is overexposed")
    assert said(exposure=replace(GOOD.exposure, misfit_share=0.2)) == ()


def test_hidden_table_tags_are_named_while_enough_others_are_seen():
    assert said(hidden_table_tags=(2,), table_tags_seen=3) == ("table tag 2 is hidden: uncover it",)
    assert said(hidden_table_tags=(2, 5), table_tags_seen=4) == (
        "table tags 2, 5 are hidden: uncover them",
    )
    # With fewer, the health strip says that a bump would go unnoticed.
    assert said(hidden_table_tags=(1, 2), table_tags_seen=2) == ()


def test_tags_that_lie_there_twice_are_named_with_their_units():
    assert said(twice=(10,)) == ("tag 10 (F1) is on the table more than once: remove all but one",)
    assert said(twice=(10, 77)) == (
        "tags 10 (F1), 77 are on the table more than once: remove all but one of each",
    )


def test_a_counter_that_shows_two_of_its_sides_is_named():
    assert said(two_sides=("I-42",)) == (
        "more than one side of I-42 is on the table: take away all but one",
    )


def test_each_cause_has_one_sentence_the_gravest_first():
    all_at_once = said(
        SMALL,
        missing=(10, 11, 12, 20),
        hidden_table_tags=(2,),
        table_tags_seen=3,
        twice=(13,),
        blur_px=2.0,
        **noisy(0.02, clipped_share=1.0, misfit_share=0.5),
    )
    firsts = [sentence.split()[0] for sentence in all_at_once]
    assert firsts == ["tag", "table", "4", "out", "too", "too"]


def sighting(tag):
    corners = np.array([[0, 0], [9, 0], [9, 9], [0, 9.0]])
    return TagSighting(tag, 0.0, 0.0, 0.0, 3.0, np.eye(3), corners)


def test_facts_tell_missing_hidden_and_doubled_tags_apart():
    twice = [Rejection(11, "seen 2 times", x_mm, 0.0, is_duplicate=True) for x_mm in (10.0, 90.0)]
    off = Rejection(12, "off the table", -90.0, 0.0)
    search = SearchResult((*map(sighting, (0, 1, 3, 10)),), (*twice, off), blur_px=0.8)
    facts = collect_facts(search, ROSTER, missing=(11, 12, 13, 20))
    assert facts.missing == (13, 20)  # the places of the others are known
    assert facts.hidden_table_tags == (2,)
    assert facts.table_tags_seen == 3
    assert facts.twice == (11,)
    assert facts.blur_px == 0.8


def test_a_camera_near_enough_has_no_tags_too_small():
    # About 1.4 px a millimetre: 15 mm over six cells are 3.5 px each.
    assert resolution_advice(CAMERA, ROSTER, EXPECTATION) is None


def with_pixels(camera, share):
    """The same camera with `share` times the pixels each way."""
    lens = camera.lens
    scaled = {name: getattr(lens, name) * share for name in ("fx_px", "fy_px", "cx_px", "cy_px")}
    sides = {"width_px": round(lens.width_px * share), "height_px": round(lens.height_px * share)}
    return replace(camera, lens=replace(lens, **scaled, **sides))


def test_what_would_help_is_worked_out_in_proportion():
    camera = with_pixels(CAMERA, 0.6)
    small = resolution_advice(camera, ROSTER, EXPECTATION)
    assert small.tags == {10, 11, 12, 13}  # the guns' tags are a third larger
    # 99 % lies two thirds of the way from 2 px (97 %) to 2.5 px (100 %), by their logarithms.
    assert small.required_px_per_cell == pytest.approx(2 * 1.25 ** (2 / 3))
    larger = small.required_px_per_cell / small.px_per_cell
    assert FOOT.tag_size_mm * larger <= small.print_mm["foot"] < FOOT.tag_size_mm * larger + 0.5
    assert 540 * larger <= small.picture_width_px < 540 * larger + 100
    height_mm = camera.pose.camera_centre_mm[2]
    assert small.closer_mm == pytest.approx(height_mm * (1 - 1 / larger), abs=12)


def test_a_tag_printed_as_advised_and_a_camera_moved_as_advised_are_not_advised_again():
    camera = with_pixels(CAMERA, 0.6)
    small = resolution_advice(camera, ROSTER, EXPECTATION)
    larger = replace(FOOT, tag_size_mm=small.print_mm["foot"])
    units = tuple(
        replace(unit, base_type=larger) if unit.base_type == FOOT else unit for unit in ROSTER.units
    )
    printed = replace(ROSTER, base_types=(larger, ROSTER.base_types[1]), units=units)
    assert resolution_advice(camera, printed, EXPECTATION) is None
    nearer = at_height(camera, camera.pose.camera_centre_mm[2] - small.closer_mm)
    assert resolution_advice(nearer, ROSTER, EXPECTATION) is None
    assert sees_table(nearer, ROSTER)


def test_a_camera_is_not_moved_closer_than_it_sees_the_table_nor_a_tag_printed_beyond_its_base():
    small = resolution_advice(with_pixels(CAMERA, 0.3), ROSTER, EXPECTATION)
    assert small.closer_mm is None
    assert small.print_mm is None  # 33 mm on a base of 40 mm has no white around it
