"""A dispute's picture shows everything that its answer mentions."""

import time
from datetime import UTC, datetime

import cv2
import numpy as np
import pytest

from tablecam.capture.frame import Frame
from tablecam.capture.picture import DecodedPicture
from tablecam.drawing.proof_crop import crop_around
from tablecam.drawing.proof_ground import EvidenceHeights
from tablecam.errors import BadInput
from tablecam.geometry.outlines import corners
from tablecam.live.disputing import Disputing
from tablecam.live.rulings import LiveRulings
from tablecam.live.state import Health, Reading, Snapshot
from tablecam.simulate.demo import demo_camera
from tablecam.table.model import TableSize
from tablecam.table.roster import BaseType, Roster, UnitEntry
from tests.rules.maurice.tables import line, position

FOOT = BaseType("foot", 40, 40, 14, tag_height_mm=3.0)
TABLE = TableSize(1800, 1200, 40)
ROSTER = Roster(
    game="maurice-lite",
    table=TABLE,
    dictionary="DICT_4X4_250",
    table_tag_size_mm=60,
    table_tags=(),
    base_types=(FOOT,),
    units=(
        UnitEntry("F1", "french", "infantry", FOOT, (10, 11, 12, 13)),
        UnitEntry("B1", "british", "infantry", FOOT, (20, 21, 22, 23)),
    ),
    commanders=(),
    terrain=(),
)
OURS, THEIRS = line("F1", "french", 700, 500), line("B1", "british", 1000, 620, 270)
CAMERA = demo_camera(1280, 720, TABLE)
GREY = 96


@pytest.fixture
def disputing():
    return Disputing(LiveRulings(ROSTER), ROSTER, None)


def frozen():
    picture = DecodedPicture(np.full((720, 1280, 3), GREY, np.uint8))
    health = Health("camera 0", "live", "1280 x 720", "camera.json")
    return Reading(
        Snapshot(1, 1, position(OURS, THEIRS), health), Frame(picture, 1, time.monotonic()), CAMERA
    )


def test_the_enemy_that_an_answer_speaks_of_is_outlined_though_nobody_asked_about_him(disputing):
    kept = disputing.dispute(frozen(), "near/F1", "french")
    assert "B1" not in kept["question"]["id"]
    jpeg = disputing.record.dispute_picture(kept["number"])
    drawn = cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_COLOR).astype(float)
    places = [np.array(corners(base)) for unit in (OURS, THEIRS) for base in unit.bases]
    cut = crop_around(places, CAMERA, ground=EvidenceHeights(3.0), margin_mm=60.0)
    for base in THEIRS.bases:
        x, y = cut.pixels(np.array(corners(base))).mean(axis=0)
        edge = drawn[int(y) - 2 : int(y) + 3, int(x) : int(x) + 40]
        assert np.abs(edge - GREY).max() > 25


def test_what_the_table_does_not_answer_is_not_kept(disputing):
    with pytest.raises(BadInput, match="flank/F1/F9"):
        disputing.dispute(frozen(), "flank/F1/F9", "french")
    assert disputing.record.disputes() == []


def test_a_dispute_comes_after_what_was_before_it_in_the_same_second(disputing):
    before = datetime.now(UTC)
    disputing.dispute(frozen(), "near/F1", "french")
    (kept,) = disputing.record.disputes()
    assert before <= datetime.fromisoformat(kept["at"]) <= datetime.now(UTC)
