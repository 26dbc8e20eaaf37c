"""Rows: bases that lie flush within the camera's accuracy are one line, others are not."""

import math
from dataclasses import replace

import numpy as np
import pytest

from tablecam.table.headings import difference_deg, forward
from tablecam.table.model import BasePose, Displacement, Unit
from tablecam.table.rows import with_rows_of_unit
from tablecam.vision.search.tag_finder import TagFinder
from tablecam.vision.tracking.position import position_of
from tablecam.vision.tracking.tracking import BaseTracker
from tests.footage import Rig
from tests.vision.sightings import CAMERA, ROSTER, sighting

SIGMA_MM, SIGMA_DEG = 0.1, 0.3
SCENES = [("uhd-b", "scene-1"), ("uhd-b", "scene-2"), ("hd-b", "scene-1"), ("hd-b", "scene-2")]


def base_at(tag, right_mm, ahead_mm, heading_deg=30.0, turn_deg=0.0):
    """A base at a place in the frame of a row at the middle of the table."""
    ahead_x, ahead_y = forward(heading_deg)
    return BasePose(
        500 + right_mm * ahead_y + ahead_mm * ahead_x,
        300 - right_mm * ahead_x + ahead_mm * ahead_y,
        heading_deg + turn_deg,
        40,
        40,
        tag,
        sigma_mm=math.hypot(SIGMA_MM, math.radians(SIGMA_DEG) * 9 / math.sqrt(2)),
        sigma_deg=SIGMA_DEG,
        tag_right_mm=4,
        tag_forward_mm=-8,
    )


def row(count=4, heading_deg=30.0):
    """Bases side by side from left to right, exactly flush."""
    return [base_at(10 + place, 40 * place, 0, heading_deg) for place in range(count)]


def unit(bases):
    return Unit("F1", "french", "infantry", tuple(bases))


def rows_of(bases):
    """The tags of each row of a unit with these bases."""
    rows = {}
    for base in with_rows_of_unit(unit(bases)).bases:
        if base.row is not None:
            rows.setdefault(base.row.id, set()).add(base.tag)
    return [*rows.values()]


def tag_place(base):
    (ahead_x, ahead_y), heading = forward(base.heading_deg), (base.x_mm, base.y_mm)
    return (
        heading[0] + base.tag_forward_mm * ahead_x + base.tag_right_mm * ahead_y,
        heading[1] + base.tag_forward_mm * ahead_y - base.tag_right_mm * ahead_x,
    )


@pytest.mark.parametrize("heading_deg", [0.0, 30.0, 135.0, 359.9])
def test_bases_side_by_side_are_one_row_however_they_are_listed(heading_deg):
    bases = row(heading_deg=heading_deg)
    assert rows_of([bases[2], bases[0], bases[3], bases[1]]) == [{10, 11, 12, 13}]


def test_bases_two_behind_two_and_one_behind_the_other_are_one_block():
    massed = [base_at(10 + place, 40 * (place % 2), -40 * (place // 2)) for place in range(4)]
    assert rows_of(massed) == [{10, 11, 12, 13}]
    assert rows_of([base_at(10, 0, 0), base_at(11, 0, -40)]) == [{10, 11}]


def test_a_gap_a_step_or_a_turn_beyond_what_the_camera_leaves_open_parts_a_row():
    loose = (base_at(13, 121.5, 0), base_at(13, 120, 1.8), base_at(13, 120, 0, turn_deg=2.5))
    for last in loose:
        assert rows_of([*row(3), last]) == [{10, 11, 12}]
    assert rows_of([base_at(10, 0, 0), base_at(11, 60, 0)]) == []


def test_a_base_alone_an_exact_one_and_one_fitted_before_stay_as_they_are():
    alone, exact = (
        unit(row(1)),
        unit([replace(base, sigma_mm=0.0, sigma_deg=0.0) for base in row()]),
    )
    fitted = with_rows_of_unit(unit(row()))
    for same in (alone, exact, fitted):
        assert with_rows_of_unit(same) is same


def test_a_row_turns_a_base_about_its_tag_and_makes_it_surer():
    odd = base_at(11, 40, 0, turn_deg=0.6)
    # The tag of an odd base lies where the row expects it; only its heading is off.
    at_row, is_at = tag_place(row()[1]), tag_place(odd)
    odd = replace(odd, x_mm=odd.x_mm + at_row[0] - is_at[0], y_mm=odd.y_mm + at_row[1] - is_at[1])
    better = with_rows_of_unit(unit([row()[0], odd, *row()[2:]])).bases[1]
    assert abs(difference_deg(better.heading_deg, 30.0)) < 0.1
    assert better.sigma_deg < 0.4 * SIGMA_DEG
    assert better.sigma_mm < odd.sigma_mm
    assert tag_place(better) == pytest.approx(tag_place(odd), abs=0.02)


def test_a_crooked_row_stays_crooked():
    bases = [base_at(10 + place, 40 * place, 0.35 * (-1) ** place) for place in range(4)]
    fitted = with_rows_of_unit(unit(bases)).bases
    for base, seen in zip(fitted, bases, strict=True):
        assert math.dist((base.x_mm, base.y_mm), (seen.x_mm, seen.y_mm)) < 0.25
    ahead_x, ahead_y = forward(30.0)
    ahead_mm = [base.x_mm * ahead_x + base.y_mm * ahead_y for base in fitted]
    assert np.ptp(ahead_mm) > 0.3


@pytest.mark.parametrize("play", [0.0, 0.05])
def test_a_row_is_known_better_than_its_bases_and_not_sold_as_surer(play):
    """Errors of places (mm) and headings (deg), alone and in the row, over 300 units."""
    generator = np.random.default_rng(8)
    alone, together, in_sigmas = [], [], []
    for _ in range(300):
        true = [
            base_at(10 + place, 40 * place, generator.normal(0, play), turn_deg=turn_deg)
            for place, turn_deg in enumerate(generator.normal(0, play, 4))
        ]
        seen = [
            base_at(
                base.tag,
                40 * place + generator.normal(0, SIGMA_MM),
                (base.x_mm - 500) * math.cos(math.radians(30))
                + (base.y_mm - 300) * math.sin(math.radians(30))
                + generator.normal(0, SIGMA_MM),
                turn_deg=base.heading_deg - 30 + generator.normal(0, SIGMA_DEG),
            )
            for place, base in enumerate(true)
        ]
        for base, before, after in zip(
            true, seen, with_rows_of_unit(unit(seen)).bases, strict=True
        ):
            alone.append(abs(difference_deg(before.heading_deg, base.heading_deg)))
            together.append(abs(difference_deg(after.heading_deg, base.heading_deg)))
            in_sigmas.append(together[-1] / after.sigma_deg)
    assert np.median(together) <= 0.6 * np.median(alone)
    assert (np.array(in_sigmas) < 1).mean() >= 0.60
    assert (np.array(in_sigmas) < 2).mean() >= 0.91


def test_what_the_calibration_gets_wrong_is_no_reason_to_part_a_row():
    """An error that all bases share widens their sigmas, but does not split their row."""
    common = (Displacement(0.8, 0.0, 0.0), Displacement(0.0, 0.8, 0.0))
    bases = [
        replace(base, common=common, sigma_mm=math.hypot(base.sigma_mm, 0.8)) for base in row()
    ]
    assert bases[0].own_sigmas == pytest.approx(row()[0].own_sigmas)
    assert rows_of([*bases[:3], replace(bases[3], x_mm=bases[3].x_mm + 1.5)]) == [{10, 11, 12}]


def test_a_row_on_the_table_is_straighter_than_its_tags_until_it_parts():
    tracker = BaseTracker(ROSTER, CAMERA)
    crooked = [sighting(10, 500, 300, 90.3), sighting(11, 540, 300, 89.7)]
    (unit_at_rest,) = position_of(tracker.update(crooked, 0.0), ROSTER, None).units
    for base, tag in zip(unit_at_rest.bases, crooked, strict=True):
        assert abs(base.heading_deg - 90) < abs(tag.heading_deg - 90)
    apart = [sighting(10, 500, 300, 90.3), sighting(11, 560, 320, 89.7)]
    (unit_apart,) = position_of(tracker.update(apart, 0.1), ROSTER, None).units
    assert [base.heading_deg for base in unit_apart.bases] == pytest.approx([90.3, 89.7])


@pytest.fixture(scope="module")
def rigs(shared):
    return {name: Rig(shared / "footage" / name) for name in ("uhd-b", "hd-b")}


@pytest.mark.parametrize(("name", "scene"), SCENES)
def test_on_photographs_rows_better_headings_and_places(rigs, name, scene):
    rig = rigs[name]
    true, camera = rig.bases(scene), rig.camera
    sightings = TagFinder(camera, rig.roster).search(rig.grey(scene)).sightings
    tracked = BaseTracker(rig.roster, camera).update(sightings, 0.0)
    alone = {base.tag: base.pose for base in tracked}
    together = {
        base.tag: base
        for seen in position_of(tracked, rig.roster, None).units
        for base in seen.bases
    }
    errors_deg = np.array(
        [
            [abs(difference_deg(pose[tag].heading_deg, true[tag].heading_deg)) for tag in together]
            for pose in (alone, together)
        ]
    )
    errors_mm = np.array(
        [
            [
                math.dist((pose[tag].x_mm, pose[tag].y_mm), (true[tag].x_mm, true[tag].y_mm))
                for tag in together
            ]
            for pose in (alone, together)
        ]
    )
    assert np.median(errors_deg[1]) <= 0.2 * np.median(errors_deg[0])
    assert np.median(errors_mm[1]) <= 0.8 * np.median(errors_mm[0])
    in_sigmas = errors_deg[1] / [together[tag].sigma_deg for tag in together]
    assert (in_sigmas < 1).mean() >= 0.60
    assert (in_sigmas < 2).mean() >= 0.91
