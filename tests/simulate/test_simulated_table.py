import math
from dataclasses import replace

import numpy as np
import pytest

from tablecam.errors import BadInput
from tablecam.simulate.demo import demo_script, embedded_demo
from tablecam.simulate.overlap import CONTACT_MM, overlaps_mm
from tablecam.simulate.rendering.places import unit_corners_mm, unit_place
from tablecam.simulate.table import SimulatedTable
from tablecam.simulate.timeline import Timeline
from tablecam.table.formation import read_formation


def _where(place):
    return place.x_mm, place.y_mm, place.heading_deg


def _middle(table, unit_id):
    """The true centre and heading of a unit's footprint."""
    unit = table.truth().unit(unit_id)
    entry = next(entry for entry in table.roster.units if entry.id == unit_id)
    places = table.places()
    return unit_place(tuple(places[base.tag] for base in unit.bases), entry.base_type)


def _assert_no_overlap(table):
    types = table.roster.base_type_by_tag()
    corners = np.concatenate(
        [unit_corners_mm((place,), types[tag]) for tag, place in table.places().items()]
    )
    depth = overlaps_mm(corners, corners)
    np.fill_diagonal(depth, 0)
    assert depth.max() <= CONTACT_MM


def test_the_truth_holds_all_that_the_table_file_lists():
    table = embedded_demo()
    truth = table.truth()
    assert truth.game == "maurice-lite"
    assert {unit.id: tuple(base.tag for base in unit.bases) for unit in truth.units} == {
        unit.id: unit.tags for unit in table.roster.units
    }
    assert {leader.id for leader in truth.commanders} == {"frederick", "daun"}
    assert truth.terrain == table.roster.terrain
    assert all(base.sigma_mm == 0 for unit in truth.units for base in unit.bases)


def test_a_moved_unit_lies_where_it_was_put():
    table = embedded_demo()
    table.move_unit("P3", 620, 330, 75)
    middle = _middle(table, "P3")
    assert (middle.x_mm, middle.y_mm) == pytest.approx((620, 330))
    assert [base.heading_deg for base in table.truth().unit("P3").bases] == pytest.approx([75] * 4)


def test_a_moved_unit_keeps_its_formation():
    table = embedded_demo()
    before = table.truth().unit("PC2").bases
    table.move_unit("PC2", 300, 350, 200)
    after = table.truth().unit("PC2").bases
    for one, other in ((0, 1), (0, 2), (0, 3), (1, 2)):
        apart = math.dist(
            (before[one].x_mm, before[one].y_mm), (before[other].x_mm, before[other].y_mm)
        )
        assert math.dist(
            (after[one].x_mm, after[one].y_mm), (after[other].x_mm, after[other].y_mm)
        ) == pytest.approx(apart)


def test_units_that_move_together_may_take_each_others_places():
    table = embedded_demo()
    first, second = (_middle(table, unit) for unit in ("P3", "P4"))
    table.move_units({"P3": _where(second), "P4": _where(first)})
    assert _where(_middle(table, "P3")) == pytest.approx(_where(second))
    assert _where(_middle(table, "P4")) == pytest.approx(_where(first))


def test_units_that_move_together_stay_if_one_of_them_cannot_go():
    table = embedded_demo()
    before = table.truth()
    x_mm, y_mm, heading_deg = _where(_middle(table, "P3"))
    with pytest.raises(BadInput, match="expected P4 to lie within"):
        table.move_units({"P3": (x_mm, y_mm + 60, heading_deg), "P4": (5000.0, 60.0, 90.0)})
    assert table.truth() == before


def test_the_script_leaves_a_moved_unit_alone():
    table = embedded_demo()
    table.advance(3.5)  # a hand is already coming for it
    table.move_unit("P2", 435, 330, 90)
    assert not any(hand.side == "prussian" for hand in table.scene().hands)
    for _ in range(250):
        table.advance(1.0)
        middle = _middle(table, "P2")
        assert (middle.x_mm, middle.y_mm) == pytest.approx((435, 330))


def test_a_unit_whose_way_is_barred_stays_and_nothing_collides():
    table = embedded_demo()
    table.move_unit("PC3", 150, 400, 90)  # right where PC1 is going to ride
    before = table.truth().unit("PC1")
    for _ in range(120):
        table.advance(1.0)
        _assert_no_overlap(table)
    assert table.truth().unit("PC1") == before


def test_a_unit_put_before_one_that_is_moving_stops_it():
    table = embedded_demo()
    table.advance(17.0)  # PC1 is on its way north
    here = _middle(table, "PC1")
    table.move_unit("PC3", here.x_mm, here.y_mm + 75, 0)
    assert not any(hand.side == "prussian" for hand in table.scene().hands)
    table.advance(1.0)
    assert _middle(table, "PC1") == here
    _assert_no_overlap(table)


def test_units_that_are_not_in_the_way_go_on():
    table, untouched = embedded_demo(), embedded_demo()
    table.move_unit("PC3", 1150, 300, 90)
    table.advance(60.0)
    untouched.advance(60.0)
    assert table.truth().unit("PC1") == untouched.truth().unit("PC1")


def test_a_unit_dropped_upon_another_slides_into_contact():
    table = embedded_demo()
    table.move_unit("P1", 300, 580, 90)  # ten millimetres deep in A1
    middle = _middle(table, "P1")
    assert (middle.x_mm, middle.y_mm) == pytest.approx((300, 570), abs=1e-5)
    _assert_no_overlap(table)


def test_a_unit_dropped_right_upon_another_is_refused():
    table = embedded_demo()
    before = table.truth()
    table.move_unit("A2", 435, 480, 270)
    table.move_unit("A3", 435, 450, 270)
    with pytest.raises(BadInput, match="expected a free place for P2, got one where A"):
        table.move_unit("P2", 435, 465, 90)
    assert table.truth().unit("P2") == before.unit("P2")


@pytest.mark.parametrize(
    ("x_mm", "y_mm"), [(20, 300), (1190, 300), (600, 5), (600, 795), (-500, 9000)]
)
def test_a_place_off_the_table_is_refused(x_mm, y_mm):
    table = embedded_demo()
    before = table.truth()
    with pytest.raises(BadInput, match=r"expected P1 to lie within 1200 x 800 mm, got corners"):
        table.move_unit("P1", x_mm, y_mm, 90)
    assert table.truth() == before


def test_a_unit_may_stand_right_at_the_edge():
    table = embedded_demo()
    table.move_unit("P1", 60, 300, 90)
    assert _middle(table, "P1").x_mm == pytest.approx(60)


@pytest.mark.parametrize("unit_id", ["P9", ""])
def test_an_unknown_unit_is_refused(unit_id):
    with pytest.raises(BadInput, match=f"expected a unit on the table, got '{unit_id}'"):
        embedded_demo().move_unit(unit_id, 600, 400, 90)


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_a_place_that_is_no_number_is_refused(bad):
    with pytest.raises(BadInput, match="expected finite numbers"):
        embedded_demo().move_unit("P1", bad, 400, 90)


def test_a_commander_can_be_moved_too():
    table = embedded_demo()
    table.move_unit("daun", 400, 400, 0)
    daun = next(one for one in table.truth().commanders if one.id == "daun")
    assert (daun.x_mm, daun.y_mm) == pytest.approx((400, 400))


def test_a_paused_table_stands_still():
    table = embedded_demo()
    table.advance(4.0)
    table.pause()
    before = table.scene()
    table.advance(5.0)
    assert table.is_paused
    assert table.scene() == before
    table.resume()
    table.advance(1.0)
    assert not table.is_paused
    assert table.script_s == pytest.approx(5.0)


def test_a_hand_that_is_paused_puts_its_unit_down_before_a_table_stands_still():
    table = embedded_demo()
    lie = [table.places()]
    while table.script_s < table.loop_s / 2:  # every unit is in a hand now and then
        table.advance(0.7)
        if not table.scene().held:
            continue
        stopped = embedded_demo()
        # Whichever round of the script it is: the later, the coarser its seconds.
        stopped.advance(table.script_s + len(lie) % 7 * table.loop_s)
        stopped.pause()
        assert not stopped.is_resting
        stopped.stand_still()
        stopped.advance(5.0)
        assert stopped.is_resting
        assert (stopped.scene().hands, stopped.scene().held) == ((), frozenset())
        assert all(read_formation(unit).name != "broken-up" for unit in stopped.truth().units)
        lie.append(stopped.places())
    assert any(places != lie[0] for places in lie)
    stopped.resume()
    assert not stopped.is_paused


def test_a_paused_table_can_be_rearranged():
    table = embedded_demo()
    table.pause()
    table.move_unit("P3", 620, 330, 75)
    assert _middle(table, "P3").y_mm == pytest.approx(330)


def test_a_restart_forgets_everything():
    table, fresh = embedded_demo(), embedded_demo()
    table.advance(40.0)
    table.move_unit("P3", 620, 330, 75)
    table.restart()
    table.advance(40.0)  # a restart waits until somebody watches
    assert table.scene() == fresh.scene()
    assert table.is_paused


def test_the_battle_begins_again_by_itself():
    table = embedded_demo()
    table.advance(table.loop_s + 3.0)
    assert table.script_s == pytest.approx(3.0)


def test_a_scene_says_which_bases_a_hand_holds(leuthen):
    table = SimulatedTable(leuthen, demo_script())
    first = Timeline(demo_script(), leuthen).visits[0]
    table.advance(first.arrive_s + 1.0)
    scene = table.scene()
    assert scene.held == frozenset(next(u.tags for u in leuthen.units if u.id == first.id))
    assert [hand.side for hand in scene.hands] == ["prussian"]


def test_a_unit_taken_off_lies_nowhere_and_comes_back_where_it_lay():
    table = embedded_demo()
    before = table.places()
    table.take_off("P1")
    assert table.truth().unit("P1").bases == ()
    assert table.off == set(table.roster.units[0].tags)
    table.put_back("P1")
    assert table.places() == before
    assert table.off == frozenset()


def test_one_base_is_taken_off_and_the_others_stay():
    table = embedded_demo()
    first, *others = table.truth().unit("P1").bases
    table.take_off("P1", first.tag)
    assert table.truth().unit("P1").bases == tuple(others)
    table.put_back("P1", first.tag)
    assert table.truth().unit("P1").bases == (first, *others)


def test_a_base_that_was_taken_off_stays_away_while_the_others_are_moved():
    table = embedded_demo()
    table.pause()
    *left, last = table.truth().unit("P1").bases
    table.take_off("P1", last.tag)
    start = _middle(table, "P1")
    for place in ((620, 330, 75), _where(start), (620, 330, 75)):
        table.move_unit("P1", *place)
        assert [base.tag for base in table.truth().unit("P1").bases] == [base.tag for base in left]
        assert _where(_middle(table, "P1")) == pytest.approx(place)
    # It moves along unseen, and another unit may lie where it would.
    beside = _middle(table, "P1").offset(0, 3.5 * last.width_mm)
    assert table.move_units({"P3": _where(beside)}) == ()
    table.put_back("P1", last.tag)
    assert len(table.truth().unit("P1").bases) == 4
    _assert_no_overlap(table)


def test_a_commander_is_taken_off_too():
    table = embedded_demo()
    table.take_off("daun")
    assert [leader.id for leader in table.truth().commanders] == ["frederick"]


def test_where_a_unit_was_taken_off_another_may_be_put_and_it_comes_back_beside_that():
    table = embedded_demo()
    table.pause()
    middle = _middle(table, "P1")
    table.take_off("P1")
    table.move_unit("P3", middle.x_mm, middle.y_mm, middle.heading_deg)
    assert _middle(table, "P3") == middle  # it does not slide
    table.move_unit("P3", middle.x_mm, middle.y_mm + 20, middle.heading_deg)
    table.put_back("P1")
    _assert_no_overlap(table)


def test_no_hand_of_the_script_comes_for_what_was_taken_off():
    table = embedded_demo()
    first = next(visit for visit in Timeline(demo_script(), table.roster).visits if visit.legs)
    table.take_off(first.id)
    table.advance((first.arrive_s + first.leave_s) / 2)
    scene = table.scene()
    assert not scene.held
    assert len(scene.hands) == len(
        [
            each
            for each in Timeline(demo_script(), table.roster).visits_at(table.script_s)
            if each.id != first.id
        ]
    )


def test_a_hand_moves_a_unit_that_was_taken_off_back_onto_the_table():
    table = embedded_demo()
    table.take_off("P3")
    table.move_unit("P3", 620, 330, 75)
    assert len(table.truth().unit("P3").bases) == 4
    assert table.off == frozenset()


def test_a_restart_puts_back_what_was_taken_off():
    table, fresh = embedded_demo(), embedded_demo()
    table.take_off("P3")
    table.restart()
    assert table.scene() == fresh.scene()


@pytest.mark.parametrize(
    ("deed", "said"),
    [
        (lambda table: table.take_off("nobody"), "expected a unit on the table, got 'nobody'"),
        (lambda table: table.take_off("P1", 999), "expected a base of P1, one of"),
        (lambda table: table.put_back("P1"), "expected P1 off the table, but it is there"),
        (
            lambda table: (table.take_off("P1"), table.take_off("P1")),
            "expected P1 on the table: it was taken off",
        ),
    ],
    ids=["nobody", "no base", "on the table", "twice"],
)
def test_what_cannot_be_taken_off_or_put_back_is_refused(deed, said):
    with pytest.raises(BadInput, match=said):
        deed(embedded_demo())


def test_a_table_is_put_back_to_where_an_unfinished_game_has_it():
    begun = embedded_demo()
    begun.move_unit("P1", 300, 290, 90)
    begun.take_off("A6")
    game = begun.truth()
    table = embedded_demo()
    table.advance(30.0)
    table.lie_as(replace(game, units=tuple(unit for unit in game.units if unit.bases)))
    assert table.truth() == game
    assert table.is_paused
    table.resume()
    table.advance(30.0)  # the script's hands leave a game's units alone
    assert table.truth() == game
    assert table.scene().hands == ()


def test_counters_that_a_game_does_not_have_yet_wait_beside_the_map():
    table, fresh = embedded_demo("maida-1806"), embedded_demo("maida-1806")
    table.lie_as(replace(table.truth(), units=table.truth().units[1:12]))
    assert {base.tag for base in fresh.truth().unit("Foot 1").bases} <= table.off
    assert table.truth().unit("Late") == fresh.truth().unit("Late")


def test_a_counter_that_nobody_has_seen_is_laid_beneath_the_others():
    table = embedded_demo("maida-1806")
    truth = table.truth()
    first, *others = truth.units
    unread = replace(first, bases=(replace(first.bases[0], tag=None),))
    table.lie_as(replace(truth, units=(unread, *others)))
    assert table.truth().unit(first.id).bases == first.bases


def test_one_unit_is_put_where_the_game_has_it_and_the_others_stay():
    table = embedded_demo()
    table.pause()
    game = table.truth()
    table.move_unit("P1", 300, 290, 90)
    table.move_unit("P2", 435, 290, 90)
    table.take_off("P1", 10)
    table.lie_as(game, "P1")
    assert table.truth().unit("P1") == game.unit("P1")
    assert table.truth().unit("P2") != game.unit("P2")
    with pytest.raises(BadInput, match="expected a unit on the table"):
        table.lie_as(game, "P99")


def test_a_unit_is_laid_with_the_bases_that_the_game_has_left_it():
    table = embedded_demo()
    table.pause()
    unit = table.truth().unit("P1")
    shorter = replace(unit, bases=unit.bases[1:])
    moved = replace(shorter, bases=tuple(replace(base, y_mm=330) for base in shorter.bases))
    table.lie_as(replace(table.truth(), units=(moved,)), "P1")
    assert table.truth().unit("P1") == moved
    table.put_back("P1", unit.bases[0].tag)  # it has gone along
    assert table.truth().unit("P1").bases[0].y_mm == pytest.approx(330)
