"""No tag is reported where there is none: real photographs, and every picture of the clip.

The photographs show no tag of our dictionary. Each is searched as if it showed a table with a
hundred bases, at three sizes in the picture: every tag reported is wrong.
"""

from __future__ import annotations

import math

import pytest

from calibration.camera import Camera, Pose
from calibration.grey import to_grey
from calibration.lens import Lens
from tablecam.capture.picture_files import read_picture
from tablecam.simulate.rendering.places import Place
from tablecam.table.roster import Roster
from tablecam.vision.search.tag_finder import TagFinder
from tests.benchmarks.armies import TABLE, army
from tests.footage import Clip

NEAR_MM = {True: 8.0, False: 20.0}
"""A tag reported farther off is another one. The clip's truth does not give a commander's heading,
so his tag (False) may lie anywhere on his base."""


def test_real_photographs(shared, report):
    paths = sorted((shared / "real").rglob("*.jpg"))
    wrong = searches = 0
    for path in paths:
        grey = to_grey(read_picture(path))
        camera = overhead(*grey.shape[::-1])
        for px_per_cell in (2.3, 4.0, 8.0):
            px_per_mm = float(camera.px_per_mm([[TABLE.width_mm / 2, TABLE.depth_mm / 2]])[0])
            found = TagFinder(camera, army(px_per_cell / px_per_mm)).search(grey)
            wrong += len(found.sightings)
            searches += 1
    said = f"{wrong} in {searches} searches of {len(paths)}"
    report.add("wrong", "real photographs", said, wrong == 0)
    assert wrong == 0


def test_every_picture_of_the_clip(shared, report):
    clip = Clip(shared / "footage" / "clip-b")
    finder = TagFinder(clip.found_camera, clip.roster)
    wrong = pictures = 0
    for grey, line in clip.frames():
        true = tags_mm(line, clip.roster)
        for seen in finder.search(grey).sightings:
            if seen.tag in true:
                x_mm, y_mm, is_exact = true[seen.tag]
                beside_mm = math.hypot(seen.x_mm - x_mm, seen.y_mm - y_mm)
                wrong += beside_mm > NEAR_MM[is_exact]
        pictures += 1
    report.add("wrong", "clip-b", f"{wrong} in {pictures}", wrong == 0)
    assert wrong == 0


def overhead(width_px: int, height_px: int) -> Camera:
    """A camera directly above the middle of the table, which fills its picture."""
    focal = float(width_px)
    lens = Lens(width_px, height_px, focal, focal, width_px / 2 - 0.5, height_px / 2 - 0.5)
    height_mm = focal * max(TABLE.width_mm / width_px, TABLE.depth_mm / height_px) * 1.02
    pose = Pose((math.pi, 0.0, 0.0), (-TABLE.width_mm / 2, TABLE.depth_mm / 2, height_mm))
    return Camera(lens, pose, "overhead")


def tags_mm(line, roster: Roster) -> dict[int, tuple[float, float, bool]]:
    """The places of bases' tags in a line of the clip's truth, each with whether it is exact."""
    types, found = roster.base_type_by_tag(), {}
    for base in (base for unit in line["position"]["units"] for base in unit["bases"]):
        kind = types[base["tag"]]
        place = Place(base["x_mm"], base["y_mm"], base["heading_deg"])
        at = place.offset(kind.tag_forward_mm, kind.tag_right_mm)
        found[base["tag"]] = (at.x_mm, at.y_mm, True)
    where = {leader["id"]: leader for leader in line["position"].get("commanders", ())}
    for leader in roster.commanders:
        if leader.id in where:
            at = where[leader.id]
            found[leader.tag] = (at["x_mm"], at["y_mm"], False)
    return found


@pytest.fixture(autouse=True)
def _quiet(caplog):
    """Silences the log, which has a line for each refused tag."""
    caplog.set_level("ERROR")
