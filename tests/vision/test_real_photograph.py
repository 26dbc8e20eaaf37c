"""A photograph that nobody made for this project: a printed sheet on a desk, seen at an angle.

Four of its six tags, those that stand upright, serve as table tags; the lens is unknown. The
other two are found as bases, and all distances are checked against the sheet that was printed.
"""

from itertools import combinations

import cv2
import numpy as np
import pytest

from calibration.camera import Camera
from calibration.extrinsics.table_pose import find_table
from calibration.extrinsics.table_tags import find_tags as find_table_tags
from calibration.grey import to_grey
from calibration.results import Origin
from tablecam.capture.picture_files import read_picture
from tablecam.rules.games import known_games
from tablecam.table.headings import difference_deg
from tablecam.table.table_file import read_table_file
from tablecam.vision.search.tag_finder import find_tags

DICTIONARY = "DICT_6X6_250"
UPRIGHT, TURNED = (23, 40, 98, 203), (62, 124)
MM_PER_PX = 0.1
SHEET_HEIGHT_PX = 1700

TABLE_FILE = """
format = "tablecam.table"
version = 1
game = "maurice-lite"

[table]
width_mm = 220
depth_mm = 170
base_width_mm = 30

[tags]
dictionary = "{dictionary}"
table_tag_size_mm = 20
table_tags = [{table_tags}]

[[base_type]]
name = "sticker"
width_mm = 30
depth_mm = 30
tag_size_mm = 20

[[unit]]
id = "turned"
side = "paper"
arm = "infantry"
base_type = "sticker"
tags = {base_tags}
"""


@pytest.fixture(scope="module")
def printed_mm(shared):
    """The places of the tags' centres on the sheet, as OpenCV reads them from the print file."""
    sheet = cv2.imread(str(shared / "real" / "singlemarkerssource.png"), cv2.IMREAD_GRAYSCALE)
    dictionary = cv2.aruco.getPredefinedDictionary(getattr(cv2.aruco, DICTIONARY))
    corners, ids, _ = cv2.aruco.ArucoDetector(dictionary).detectMarkers(sheet)
    pairs = zip(np.ravel(ids), corners, strict=True)  # (n, 1) before OpenCV 5
    centres = {int(tag): quad[0].mean(axis=0) for tag, quad in pairs}
    return {
        tag: np.array([x_px + 0.5, SHEET_HEIGHT_PX - 0.5 - y_px]) * MM_PER_PX
        for tag, (x_px, y_px) in centres.items()
    }


@pytest.fixture(scope="module")
def roster(printed_mm, tmp_path_factory):
    places = [(tag, *map(float, printed_mm[tag])) for tag in UPRIGHT]
    tags = ", ".join(f"{{id = {tag}, x_mm = {x:.2f}, y_mm = {y:.2f}}}" for tag, x, y in places)
    path = tmp_path_factory.mktemp("sheet") / "table.toml"
    path.write_text(
        TABLE_FILE.format(dictionary=DICTIONARY, table_tags=tags, base_tags=list(TURNED)),
        encoding="utf-8",
    )
    return read_table_file(path, known_games())


@pytest.fixture(scope="module")
def grey(shared):
    return to_grey(read_picture(shared / "real" / "singlemarkersoriginal.jpg"))


@pytest.fixture(scope="module")
def camera(grey, roster):
    listed_mm = roster.table_tag_places_mm
    table = find_table(
        find_table_tags(grey, roster.dictionary, listed_mm),
        listed_mm,
        roster.table_tag_size_mm,
        picture_size_px=(grey.shape[1], grey.shape[0]),
        lens=None,
        origin=Origin("2025-01-01T00:00:00Z", ("singlemarkersoriginal.jpg",)),
        picture_name="singlemarkersoriginal.jpg",
    ).calibration
    return Camera(table.lens, table.pose, "photograph", table.covariance)


@pytest.fixture(scope="module")
def sightings(grey, camera, roster):
    search = find_tags(grey, camera, roster)
    assert search.rejections == ()
    return {sighting.tag: sighting for sighting in search.sightings}


def test_all_six_tags_are_found(sightings):
    assert sorted(sightings) == [23, 40, 62, 98, 124, 203]


def test_turned_tags_face_as_they_are_printed(sightings):
    for tag, printed_deg in zip(TURNED, (270, 0), strict=True):
        assert abs(difference_deg(sightings[tag].heading_deg, printed_deg)) < 0.6


def test_distances_between_tags_are_those_of_the_printed_sheet(sightings, camera, printed_mm):
    place = {tag: np.array([seen.x_mm, seen.y_mm]) for tag, seen in sightings.items()}
    for a, b in combinations(place, 2):
        true_mm = np.linalg.norm(printed_mm[a] - printed_mm[b])
        error_mm = abs(np.linalg.norm(place[a] - place[b]) - true_mm)
        # 0.3 mm is 0.6 px there; the sigmas do not cover paper that is not quite flat.
        assert error_mm < 0.3, (a, b)
        assert error_mm < 3 * np.hypot(
            sigma_mm(sightings[a], camera), sigma_mm(sightings[b], camera)
        )


def sigma_mm(seen, camera):
    calibration = camera.table_covariance(np.array([[seen.x_mm, seen.y_mm]]))[0]
    return np.sqrt(np.trace(seen.covariance[:2, :2] + calibration) / 2)
