"""The results for a picture in words: everything that is known, and nothing that is not."""

from dataclasses import replace

import numpy as np
import pytest

from tablecam.drawing.report import picture_report
from tablecam.table.roster import CommanderEntry
from tablecam.vision.detection.exposure import UNKNOWN_EXPOSURE, Exposure
from tablecam.vision.detection.sighting import Rejection, SearchResult, TagSighting
from tablecam.vision.registration.registration import register
from tests.vision.pictures import CAMERA, FOOT, ROSTER

LED = replace(ROSTER, commanders=(CommanderEntry("wellington", "british", FOOT, 90),))


def sighting(tag, x_mm=200.0, y_mm=150.0, heading_deg=90.0):
    corners = np.array([[0, 0], [9, 0], [9, 9], [0, 9.0]])
    spread = np.diag([1e-4, 1e-4, 1e-6])
    return TagSighting(tag, x_mm, y_mm, heading_deg, 3.0, spread, corners)


TABLE_TAGS = [sighting(tag.id, tag.x_mm, tag.y_mm) for tag in ROSTER.table_tags]


def reported(*tags, table_tags=TABLE_TAGS, light=UNKNOWN_EXPOSURE, refused=(), **others):
    sightings = (*map(sighting, tags), *table_tags)
    search = SearchResult(sightings, refused, blur_px=None)
    registration = register(search.sightings, CAMERA, LED)
    return picture_report(search, registration, CAMERA, LED, exposure=light, **others)


def test_each_side_counts_its_own():
    report = reported(10, 11, 20)
    assert dict(report.found) == {"french": (3, 5), "british": (0, 1)}
    assert report.found_in_all == (3, 6)


def test_missing_tags_come_by_unit_and_a_unit_of_which_none_was_found_says_so():
    assert [str(each) for each in reported(10, 90).missing] == ["11, 12, 13 (F1)", "20 (A1)"]
    assert [str(each) for each in reported(20).missing] == [
        "10, 11, 12, 13 (F1, all of it)",
        "90 (wellington)",
    ]


def test_a_refused_tag_is_not_missing():
    off = Rejection(12, "lies off the table", -50.0, 100.0)
    report = reported(10, 11, 13, 20, 90, refused=(off,))
    assert report.missing == ()
    assert list(report.lines())[1] == "rejected: tag 12 (F1): lies off the table"


def test_a_hidden_table_tag_is_named():
    report = reported(10, table_tags=TABLE_TAGS[:2] + TABLE_TAGS[3:])
    assert report.table_tags == (0, 1, 3)
    assert "table tags not seen: 2" in list(report.lines())


def test_figures_are_said_when_they_are_known():
    lines = list(reported(10, light=Exposure(noise_grey=1.26, contrast_grey=155.0)).health())
    assert lines[0] == "table tags are off by 0.00 px (rms)"
    # 15 mm over six cells, at about 1.4 px a millimetre.
    assert lines[1].startswith("3.5 px per cell")
    assert lines[2] == "noise 1.3 grey levels, contrast 155"


def test_of_an_empty_picture_only_what_is_missing_is_said():
    lines = list(reported(table_tags=()).lines())
    assert lines[0] == "0 of 6 base tags found"
    assert lines[1].startswith("missing: 10, 11, 12, 13 (F1, all of it)")
    assert not any("px" in line or "noise" in line for line in lines)


@pytest.mark.parametrize("advice", [(), ("add light", "focus the lens")])
def test_advice_comes_last_a_line_each(advice):
    lines = list(reported(10, advice=advice).lines())
    said = [line for line in lines if line.startswith("advice: ")]
    assert said == [f"advice: {sentence}" for sentence in advice]
    assert lines[len(lines) - len(said) :] == said
