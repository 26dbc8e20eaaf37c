import numpy as np

from tablecam.vision.bases import base_poses
from tablecam.vision.find import find_tags
from tablecam.vision.overlay import Overlay
from tablecam.vision.sighting import Rejection, Search
from tests.vision.pictures import CAMERA, FOOT, ROSTER, Print, picture_of


def test_drawing_marks_bases_and_refused_tags_on_a_copy_and_leaves_the_rest_alone():
    grey = picture_of([Print(10, 120, 150, 0.0)])
    picture = np.repeat(grey[..., None], 3, axis=2)
    before = picture.copy()
    found = find_tags(grey, CAMERA, ROSTER)
    search = Search(found.sightings, (Rejection(11, "seen 2 times", 300.0, 100.0),))
    (pose,) = base_poses(search.sightings, [FOOT], CAMERA)
    drawn = Overlay(CAMERA, ROSTER).draw(picture, search, {10: pose})
    assert (picture == before).all()
    changed = (drawn != picture).any(axis=2)
    # The base lies 10 mm ahead of its tag: its front edge is 30 mm ahead.
    marks = CAMERA.to_image([[150, 140, 3], [130, 170, 3], [300, 100, 0]]).round().astype(int)
    assert all(changed[y - 2 : y + 3, x - 2 : x + 3].any() for x, y in marks)
    ((x, y),) = CAMERA.to_image([[60, 200, 0]]).round().astype(int)
    assert not changed[y - 20 : y + 20, x - 20 : x + 20].any()


def test_a_picture_without_tags_is_drawn_too():
    picture = np.zeros((640, 900, 3), np.uint8)
    assert Overlay(CAMERA, ROSTER).draw(picture, Search(()), {}).shape == picture.shape
