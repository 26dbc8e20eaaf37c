"""The live table over the simulated one: real frames, real vision, no page."""

import re
import threading
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial

import cv2
import numpy as np
import pytest

from tablecam.capture.reader import Reader
from tablecam.errors import BadInput
from tablecam.live.advising import NO_LONGER_FITS
from tablecam.live.table import LiveTable
from tablecam.record.entries import GameFacts
from tablecam.recorder.game_recorder import GameRecorder, new_game_file
from tablecam.recorder.resuming import unfinished_game
from tablecam.referee.seats import SHARED
from tablecam.simulate.demo import demo_camera, embedded_demo
from tablecam.simulate.source import SimulatedSource
from tests.live.tapped import (
    Tap,
    after_one_frame,
    plain_renderer,
    tapped,
    until,
    watched,
)
from tests.patience import PATIENCE_S, in_time


@pytest.fixture
def scene():
    """A table, its tap, and the live table that watches it."""
    with watched() as parts:
        yield parts


def bases_by_tag(position):
    return {base.tag: base for unit in position.units for base in unit.bases}


def test_every_base_is_found_where_it_truly_is(scene):
    _, tap, live = scene
    snapshot = after_one_frame(tap, live)
    truth = bases_by_tag(tap.source.truth_of(snapshot.frame))
    seen = bases_by_tag(snapshot.position)
    assert seen.keys() == truth.keys()
    beside_mm = [
        np.hypot(seen[tag].x_mm - truth[tag].x_mm, seen[tag].y_mm - truth[tag].y_mm)
        for tag in truth
    ]
    assert np.median(beside_mm) < 0.05
    assert max(beside_mm) < 0.3
    assert snapshot.health.tags_held == 0
    assert snapshot.health.missing == ()
    assert snapshot.health.reprojection_px < 0.3


def test_a_calibration_that_no_longer_fits_is_told_by_its_name_and_a_sentence():
    table, true = embedded_demo(), demo_camera()
    lens = replace(true.lens, fy_px=true.lens.fy_px * 1.02)
    stale = replace(true, lens=lens, title="club camera", fits_within_mm=1.0)
    tap = Tap(SimulatedSource(table, true, is_paced=False, renderer=plain_renderer()))
    with tapped(tap, stale, table.roster) as live:
        assert live.snapshot().health.calibration == "club camera"
        for _ in in_time():
            if NO_LONGER_FITS in after_one_frame(tap, live).health.warnings:
                break


def test_a_unit_that_a_player_drags_is_found_at_its_new_place(scene):
    table, tap, live = scene
    table.pause()
    after_one_frame(tap, live)
    table.move_unit("P1", 600.0, 300.0, 45.0)
    after_one_frame(tap, live)  # something has changed there, perhaps a hand
    after_one_frame(tap, live)  # it is still again: searched, and a jump
    snapshot = after_one_frame(tap, live)  # a jump is believed when it is seen twice
    bases = snapshot.position.unit("P1").bases
    assert np.mean([base.x_mm for base in bases]) == pytest.approx(600.0, abs=0.3)
    assert np.mean([base.y_mm for base in bases]) == pytest.approx(300.0, abs=0.3)
    assert bases[0].heading_deg == pytest.approx(45.0, abs=0.5)


def test_a_measurement_equals_the_true_distance_within_its_uncertainty(scene):
    _, tap, live = scene
    snapshot = after_one_frame(tap, live)
    measured = live.measure("base:10", "point:600,400", [4])
    (true,) = [
        b for tag, b in bases_by_tag(tap.source.truth_of(snapshot.frame)).items() if tag == 10
    ]
    (seen,) = [b for tag, b in bases_by_tag(snapshot.position).items() if tag == 10]
    shifted_mm = np.hypot(true.x_mm - seen.x_mm, true.y_mm - seen.y_mm)
    assert shifted_mm < 4 * measured["sigma_mm"]
    assert measured["distance_bw"] == pytest.approx(measured["distance_mm"] / 30, abs=1e-4)
    assert [each["range_bw"] for each in measured["within"]] == [4]
    assert measured["calibration"] == "simulated, exact"


def test_two_units_are_asked_for_contact_and_side_too(scene):
    _, tap, live = scene
    after_one_frame(tap, live)
    measured = live.measure("unit:P1", "unit:A1")
    assert measured["contact"]["answer"] == "no"
    assert measured["b_is"] in {"front", "flank", "rear"}
    assert "contact" not in live.measure("unit:P1", "point:0,0")


def test_a_unit_is_explained_by_its_formation_its_rings_and_its_lines(scene):
    _, tap, live = scene
    after_one_frame(tap, live)
    about = live.about("unit:P1")
    roles = {shape["role"] for shape in about["shapes"]}
    assert {"ring", "front-line", "flank-line", "front-edge"} <= roles
    assert "line" in about["lines"][0]


def test_a_hidden_unit_is_held_until_players_say_that_it_was_taken_off(scene):
    _, tap, live = scene
    seen = after_one_frame(tap, live)
    tap.covers = "P1"
    held = after_one_frame(tap, live)
    assert {base.seen for base in held.position.unit("P1").bases} == {"held"}
    assert set(held.held_for_s) == {base.tag for base in seen.position.unit("P1").bases}
    live.take_off("unit:P1")
    assert live.snapshot().position.unit("P1") is None
    assert live.snapshot().health.tags_held == 0
    assert live.snapshot().health.missing == tuple(sorted(held.held_for_s))
    assert after_one_frame(tap, live).position.unit("P1") is None
    tap.covers = None
    assert after_one_frame(tap, live).position.unit("P1") is not None


def around(base, reach_mm=25.0):
    """A square about a base."""
    corners = ((-1, -1), (1, -1), (1, 1), (-1, 1))
    return tuple((base.x_mm + x * reach_mm, base.y_mm + y * reach_mm) for x, y in corners)


def test_nothing_is_seen_in_a_masked_part_until_it_is_looked_at_again(scene):
    _, tap, live = scene
    seen = after_one_frame(tap, live)
    masked, beside = seen.position.unit("P1").bases[:2]
    live.mask(around(masked, 12.0))
    after = after_one_frame(tap, live)
    assert after.masks == (around(masked, 12.0),)
    assert masked.tag in after.health.missing
    # It is not held where it lay, as nobody knows what is there.
    assert masked.tag not in after.held_for_s
    assert beside.tag in bases_by_tag(after.position)
    live.unmask(around(masked, 12.0))
    assert masked.tag in bases_by_tag(after_one_frame(tap, live).position)


def test_a_copy_of_a_tag_in_a_masked_part_puts_no_base_in_doubt(scene):
    table, tap, live = scene
    table.pause()
    base = after_one_frame(tap, live).position.unit("P1").bases[0]
    corner = replace(base, x_mm=150.0, y_mm=60.0)
    tap.copies_mm = np.array([[base.x_mm, base.y_mm, 0.0], [corner.x_mm, corner.y_mm, 0.0]])
    live.mask(around(corner, 45.0))
    assert after_one_frame(tap, live).doubted == frozenset()
    assert bases_by_tag(live.snapshot().position)[base.tag].seen == "now"
    live.unmask(around(corner, 45.0))
    assert base.tag in after_frames(tap, live, 2).doubted


def test_of_two_players_who_mask_at_once_both_are_heard():
    other = []

    def keep(masks):
        # While the first mask is written, the other player's request comes in.
        if not other:
            other.append(threading.Thread(target=live.mask, args=(corners[1],)))
            other[0].start()
            other[0].join(0.3)

    corners = (((0, 0), (50, 0), (0, 50)), ((900, 0), (950, 0), (900, 50)))
    with watched(keep_masks=keep) as (_, tap, live):
        after_one_frame(tap, live)
        live.mask(corners[0])
        other[0].join(PATIENCE_S)
        assert live.snapshot().masks == corners


def test_masks_that_cannot_be_kept_are_not_used():
    def refuse(masks):
        raise BadInput("table.masks.json", "cannot be written: no space left on device")

    with watched(keep_masks=refuse) as (_, tap, live):
        base = after_one_frame(tap, live).position.unit("P1").bases[0]
        with pytest.raises(BadInput, match="no space left"):
            live.mask(around(base))
        assert after_one_frame(tap, live).masks == ()


def test_what_the_camera_sees_cannot_be_taken_off(scene):
    _, tap, live = scene
    after_one_frame(tap, live)
    with pytest.raises(BadInput, match="the camera sees it"):
        live.take_off("unit:P1")


def test_what_is_not_on_the_table_is_refused_in_one_line(scene):
    _, _, live = scene
    with pytest.raises(BadInput, match="no such unit"):
        live.about("unit:nobody")


def test_the_picture_is_the_table_from_above(scene):
    _, tap, live = scene
    assert live.picture() == b""
    after_one_frame(tap, live)
    picture = cv2.imdecode(np.frombuffer(live.picture(), np.uint8), cv2.IMREAD_COLOR)
    height_px, width_px = picture.shape[:2]
    assert height_px / width_px == pytest.approx(800 / 1200, abs=0.01)
    # Seen from above and without lens distortion, a tag lies where its base does, except for the
    # few millimetres by which it is glued behind the middle and above the table.
    detector = cv2.aruco.ArucoDetector(cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_4X4_250))
    quads, ids, _ = detector.detectMarkers(picture)
    assert len(ids) > 40
    bases = bases_by_tag(live.snapshot().position)
    for quad, tag in zip(quads, ids.ravel().tolist(), strict=True):
        if tag in bases:
            x_mm, from_top_mm = quad.reshape(4, 2).mean(axis=0) * 1200 / width_px
            beside_mm = np.hypot(x_mm - bases[tag].x_mm, 800 - from_top_mm - bases[tag].y_mm)
            assert beside_mm < 15


def test_a_lost_source_is_said_and_all_bases_are_held_where_they_were(scene):
    _, tap, live = scene
    before = after_one_frame(tap, live)
    tap.fail()
    lost = until(live, lambda snapshot: snapshot.health.state == "lost")
    assert "the cable was pulled" in lost.health.warnings[0]
    was, held = bases_by_tag(before.position), bases_by_tag(lost.position)
    assert {base.seen for base in held.values()} == {"held"}
    assert all((held[tag].x_mm, held[tag].y_mm) == (was[tag].x_mm, was[tag].y_mm) for tag in was)
    assert lost.health.tags_seen == 0
    assert lost.health.tags_held == len(was) + len(before.position.commanders)


def test_a_source_that_is_lost_for_good_is_said_again_no_sooner_than_one_that_may_come_back():
    table, camera = embedded_demo(), demo_camera()
    tap = Tap(SimulatedSource(table, camera, is_paced=False, renderer=plain_renderer()))
    tap.one_more()  # a film starts with its first frame
    with Reader(lambda: tap, name="simulated", is_live=False) as reader:  # by the computer's clock
        reader.start()
        with LiveTable(reader, camera, table.roster, simulated=table) as live:
            until(live, lambda snapshot: snapshot.frame == 0)
            tap.fail()
            first = until(live, lambda snapshot: snapshot.held_for_s)
            later = until(live, lambda snapshot: snapshot.version >= first.version + 3)
            passed_s = later.held_for_s[10] - first.held_for_s[10]
            assert passed_s >= 3 * 0.5 * 0.9  # a wait may end a little early


def test_nothing_new_is_none_after_the_timeout(scene):
    _, _, live = scene
    assert live.wait(live.snapshot().version, 0.0) is None


def test_a_frame_that_cannot_be_read_is_said_and_the_next_one_is_read(scene):
    _, tap, live = scene
    before = after_one_frame(tap, live)
    tap.crops = True
    tap.one_more()
    faulty = until(live, says_that_it_could_not_read)
    assert faulty.position == before.position
    tap.crops = False
    assert not says_that_it_could_not_read(after_one_frame(tap, live))


def says_that_it_could_not_read(snapshot):
    return any("could not read the newest picture" in word for word in snapshot.health.warnings)


def errors_mm(tap, snapshot):
    truth = bases_by_tag(tap.source.truth_of(snapshot.frame))
    seen = bases_by_tag(snapshot.position)
    return {
        tag: float(np.hypot(seen[tag].x_mm - base.x_mm, seen[tag].y_mm - base.y_mm))
        for tag, base in truth.items()
    }


def after_frames(tap, live, count):
    return [after_one_frame(tap, live) for _ in range(count)][-1]


ONE_SECOND = 10  # frames


@pytest.mark.parametrize(("right_px", "down_px"), [(12, -9), (-15, 0), (0, 15)])
def test_a_bumped_camera_is_registered_again_within_a_second_and_said_once(
    scene, right_px, down_px
):
    table, tap, live = scene
    table.pause()
    before = after_frames(tap, live, ONE_SECOND)
    table.bump_camera(right_px, down_px)
    after = after_frames(tap, live, ONE_SECOND)
    assert not any(base.seen == "held" for base in bases_by_tag(after.position).values())
    was, now = errors_mm(tap, before), errors_mm(tap, after)
    assert np.median(list(now.values())) <= 1.5 * max(np.median(list(was.values())), 0.02)
    assert max(now.values()) <= 1.5 * max(*was.values(), 0.1)
    (notice,) = after.notices
    # At the table's corners it is slightly more than in the middle.
    said = r"The camera was bumped by 1[01] mm on the table: found its place again by 4"
    assert re.match(said, notice.text)
    assert after.health.warnings == ()


def test_a_camera_that_was_moved_far_is_found_again(scene):
    table, tap, live = scene
    table.pause()
    was = errors_mm(tap, after_frames(tap, live, ONE_SECOND))
    table.bump_camera(260, -90)
    after = after_frames(tap, live, 4 * ONE_SECOND)  # it waits two seconds, in case of an arm
    in_view = [tag for tag, base in bases_by_tag(after.position).items() if base.seen == "now"]
    now = errors_mm(tap, after)
    assert len(in_view) >= 0.8 * len(now)
    assert max(now[tag] for tag in in_view) <= 1.5 * max(*was.values(), 0.1)
    assert any(text.text.startswith("The camera was bumped by 1") for text in after.notices)


def test_the_picture_follows_a_camera_that_was_bumped(scene):
    table, tap, live = scene
    table.pause()
    after_frames(tap, live, 3)
    before = cv2.imdecode(np.frombuffer(live.picture(), np.uint8), cv2.IMREAD_GRAYSCALE)
    table.bump_camera(12, -9)
    after_frames(tap, live, ONE_SECOND)
    after = cv2.imdecode(np.frombuffer(live.picture(), np.uint8), cv2.IMREAD_GRAYSCALE)
    shift_px, _ = cv2.phaseCorrelate(before.astype(np.float32), after.astype(np.float32))
    assert np.hypot(*shift_px) < 0.1


def test_a_lamp_that_is_dimmed_and_lit_again_loses_and_moves_no_base(scene):
    table, tap, live = scene
    table.pause()
    before = bases_by_tag(after_frames(tap, live, ONE_SECOND).position)
    for light in (0.6, 1.0):
        table.dim_lamp(light)
        for _ in range(ONE_SECOND):
            snapshot = after_one_frame(tap, live)
            now = bases_by_tag(snapshot.position)
            assert {base.seen for base in now.values()} == {"now"}
            away_mm = [
                np.hypot(now[tag].x_mm - base.x_mm, now[tag].y_mm - base.y_mm)
                for tag, base in before.items()
            ]
            assert max(away_mm) < 0.2
            assert snapshot.notices == ()


def test_a_table_tag_that_was_pushed_is_named_and_left_out(scene):
    table, tap, live = scene
    table.pause()
    before = after_frames(tap, live, ONE_SECOND)
    pushed = live.roster.table_tags[2].id
    table.push_table_tag(pushed, 8.0, -5.0)
    after = after_frames(tap, live, ONE_SECOND)
    (warning,) = after.health.warnings
    assert f"Table tag {pushed} was moved by 9.4 mm" in warning
    was, now = errors_mm(tap, before), errors_mm(tap, after)
    assert max(now.values()) <= 1.5 * max(*was.values(), 0.1)
    assert len(after.notices) == 1


def test_positions_are_held_while_fewer_than_three_table_tags_are_in_view(scene):
    table, tap, live = scene
    table.pause()
    after_frames(tap, live, ONE_SECOND)
    hidden = live.roster.table_tags[:2]
    tap.hides_mm = [(tag.x_mm, tag.y_mm, 0.0) for tag in hidden]
    before = after_frames(tap, live, 2 * ONE_SECOND)  # one second is forgiven: an arm passes
    assert {base.seen for base in bases_by_tag(before.position).values()} == {"held"}
    assert any("positions are frozen" in words for words in before.health.warnings)
    after = after_frames(tap, live, ONE_SECOND)
    was, now = bases_by_tag(before.position), bases_by_tag(after.position)
    assert all((now[tag].x_mm, now[tag].y_mm) == (was[tag].x_mm, was[tag].y_mm) for tag in was)
    tap.hides_mm = ()
    again = after_frames(tap, live, ONE_SECOND)
    assert {base.seen for base in bases_by_tag(again.position).values()} == {"now"}
    assert again.health.warnings == ()


def test_a_tag_that_lies_there_twice_is_said_and_its_base_is_held(scene):
    table, tap, live = scene
    table.pause()
    before = after_frames(tap, live, ONE_SECOND)
    (base,) = [b for tag, b in bases_by_tag(before.position).items() if tag == 10]
    tap.copies_mm = ((base.x_mm, base.y_mm, 0.0), (600.0, 60.0, 0.0))
    after = after_frames(tap, live, 4 * ONE_SECOND)
    assert after.doubted == {10}
    held = bases_by_tag(after.position)[10]
    assert (held.seen, held.x_mm) == ("held", pytest.approx(base.x_mm, abs=0.1))
    assert any(
        "tag 10 (P1) is on the table more than once" in words for words in after.health.warnings
    )
    tap.copies_mm = None
    again = after_frames(tap, live, 4 * ONE_SECOND)
    assert again.doubted == frozenset()
    assert bases_by_tag(again.position)[10].seen == "now"
    assert again.health.warnings == ()


def test_an_unfinished_game_puts_the_simulated_table_back_to_where_it_has_it(tmp_path):
    """A second `tablecam demo` opens on the unfinished game, not on a wall of red."""
    camera, facts = demo_camera(), GameFacts("maurice-lite", "", datetime.now(UTC))

    def gone_on_with(table):
        record = GameRecorder(
            partial(new_game_file, tmp_path, facts), unfinished_game(tmp_path, "")
        )
        reader = Reader(
            lambda: Tap(SimulatedSource(table, camera)), name="simulated", is_live=False
        )
        return LiveTable(reader, camera, table.roster, simulated=table, record=record)

    left = embedded_demo()
    left.move_unit("P1", 300, 290, 90)
    with gone_on_with(left) as live:
        live.referee.begin(left.truth(), {"active": "prussian"}, SHARED)
    table = embedded_demo()
    table.advance(30.0)
    with gone_on_with(table):
        assert table.truth() == left.truth()
        assert table.is_paused
