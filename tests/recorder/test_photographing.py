"""Pictures of a recording show their stated subject, from above and to scale."""

from datetime import UTC, datetime
from functools import partial

import cv2
import numpy as np
import pytest

from tablecam.recorder.game_recorder import GameRecorder, new_game_file
from tablecam.recorder.photographing import MoveJob, Photographer, TableJob
from tablecam.recorder.reference_frames import Shot
from tablecam.simulate.demo import demo_camera, embedded_demo
from tablecam.simulate.rendering.render import PLAIN
from tablecam.simulate.source import SimulatedSource
from tablecam.vision.detection.rectify import make_rectifier
from tests.record.games import FACTS

AT = datetime(2026, 5, 1, 20, 0, tzinfo=UTC)
JPEG_GREY = 4.0
"""Mean difference of grey levels, from JPEG at the best quality and two ways of interpolating."""


@pytest.fixture(scope="module")
def shot():
    """The demo's table through a distorting lens, and not from straight above."""
    camera = demo_camera(1600, 900)
    source = SimulatedSource(embedded_demo(), camera, is_paced=False, look=PLAIN)
    return Shot(source.read(), camera)


@pytest.fixture
def record(tmp_path):
    record = GameRecorder(partial(new_game_file, tmp_path, FACTS))
    record.begin_play({})
    return record


def photographed(record, *jobs):
    """Each recorded picture, by its kind: its entry's document and its pixels."""
    roster = embedded_demo().roster
    with Photographer(record, roster.table) as photographing:
        photographing.request(*jobs)
        photographing.wait()
    pictures = {}
    for entry in record.journal().entries("picture"):
        assert entry.at == AT
        for kind in entry.pictures:
            data = np.frombuffer(record.journal().picture(entry.number, kind).image, np.uint8)
            pictures[kind] = entry.document, cv2.imdecode(data, cv2.IMREAD_COLOR)
    return pictures


def unit(name):
    return embedded_demo().truth().unit(name).bases


def from_above(shot, area, px_per_mm):
    """An area of the table by exact mapping of every pixel."""
    table = embedded_demo().roster.table
    whole = make_rectifier(shot.camera, table, px_per_mm=px_per_mm)
    left, bottom, right, top = (round(value * px_per_mm) for value in area)
    deep = round(table.depth_mm * px_per_mm)
    return whole.rectify(shot.frame.image, slice(deep - top, deep - bottom), slice(left, right))


@pytest.mark.parametrize("name", ["P1", "A5", "PC2"])
def test_a_place_is_shown_to_scale_with_the_cameras_own_pixels(shot, record, name):
    pictures = photographed(record, MoveJob(1, AT, shot, shot, unit(name), unit(name)))
    assert set(pictures) == {"before", "after"}
    document, pixels = pictures["after"]
    area = document["areas_mm"]["after"]
    px_per_mm = pixels.shape[1] / (area[2] - area[0])
    assert px_per_mm == pytest.approx(shot.camera.px_per_mm([[600.0, 400.0]])[0], rel=0.1)
    true = from_above(shot, area, px_per_mm)
    height, width = (min(a, b) for a, b in zip(true.shape[:2], pixels.shape[:2], strict=True))
    difference = np.abs(true[:height, :width].astype(float) - pixels[:height, :width])
    assert difference.mean() < JPEG_GREY
    upside_down = np.abs(true[:height, :width].astype(float) - pixels[height - 1 :: -1, :width])
    assert upside_down.mean() > 3 * difference.mean()


def test_all_bases_lie_in_the_area_with_ground_around_them(shot, record):
    document, _ = photographed(record, MoveJob(1, AT, None, shot, unit("P1"), unit("P1")))["after"]
    left, bottom, right, top = document["areas_mm"]["after"]
    for base in unit("P1"):
        assert left + 40 < base.x_mm < right - 40
        assert bottom + 40 < base.y_mm < top - 40


def test_places_far_apart_are_shown_each_and_near_ones_in_one(shot, record):
    far = photographed(record, MoveJob(1, AT, shot, shot, unit("P1"), unit("A5")))
    assert far["before"][0]["areas_mm"]["before"] != far["after"][0]["areas_mm"]["after"]
    near = photographed(record, MoveJob(1, AT, shot, shot, unit("P1"), unit("P2")))
    assert near["before"][0]["areas_mm"]["before"] == near["after"][0]["areas_mm"]["after"]


def test_the_table_is_shown_whole(shot, record):
    ((document, pixels),) = photographed(record, TableJob(1, AT, shot)).values()
    assert document == {"of": 1}
    table = embedded_demo().roster.table
    true = from_above(shot, (0, 0, table.width_mm, table.depth_mm), pixels.shape[1] / 1200)
    assert np.abs(true.astype(float) - pixels).mean() < JPEG_GREY


def test_a_fault_in_one_picture_costs_no_other(shot, record, caplog):
    nowhere = MoveJob(1, AT, shot, shot, (), ())
    assert set(photographed(record, nowhere, TableJob(1, AT, shot))) == {"table"}
    assert "cannot make a picture" in caplog.text


def test_only_what_is_asked_last_waits(shot, record):
    photographing = Photographer(record, embedded_demo().roster.table)
    for of in range(1, 9):  # no worker has started on them yet
        photographing.request(TableJob(of, AT, shot))
    with photographing:
        photographing.wait()
    assert [entry.document["of"] for entry in record.journal().entries("picture")] == [6, 7, 8]
