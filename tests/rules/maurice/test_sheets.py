"""Sheets: what a page is told of a unit and of two, with the book's worked cases."""

import re
from dataclasses import replace

import pytest

from tablecam.errors import BadInput
from tablecam.rules.books import book_of
from tablecam.rules.maurice.readings import READINGS
from tablecam.table.model import Commander, Terrain
from tests.rules.maurice.tables import column, gun, line, massed, position

BOOK = book_of("maurice-lite")
UNIT_KEYS = (
    "near_enemy contact flank fire charge engaged movement force span".split()  # noqa: SIM905
)
PAIR_KEYS = "range contact flank fire charge engaged cover force".split()  # noqa: SIM905


def unit_sheet(where, unit, active="french"):
    return BOOK.unit_sheet(BOOK.rulings(where, active), unit)


def pair_sheet(where, a, b, active="french"):
    return BOOK.pair_sheet(BOOK.rulings(where, active), a, b)


def lines_of(sheet, key):
    return next(section.lines for section in sheet.sections if section.key == key)


def asked(sheet, question):
    return next(each for each in sheet.lines if each.question and each.question.id == question)


def readings_in(sheet):
    return {each.reading.rule for each in sheet.lines if each.reading}


def strip(name, kind, x_mm, y_mm, width_mm, depth_mm):
    corners = ((0, 0), (width_mm, 0), (width_mm, depth_mm), (0, depth_mm))
    return Terrain(name, kind, tuple((x_mm + x, y_mm + y) for x, y in corners))


FACING = position(
    line("F1", "french", 500, 400),
    line("F2", "french", 700, 400),
    gun("F3", "french", 300, 400),
    line("B1", "british", 500, 540, 270),
    massed("B2", "british", 900, 600, 270),
    commanders=[Commander("french-cinc", "french", 500, 100)],
)


def test_there_is_no_book_for_a_game_without_rules():
    assert book_of("syw-d6") is None


def test_a_units_sheet_has_all_sections_in_order_and_each_says_something():
    for unit in ("F1", "F2", "F3", "B1", "B2"):
        sheet = unit_sheet(FACING, unit)
        assert [section.key for section in sheet.sections] == UNIT_KEYS
        assert all(section.lines for section in sheet.sections)


def test_a_pairs_sheet_has_all_sections_in_order_and_each_says_something():
    for a, b in (("F1", "B1"), ("B1", "F1"), ("F1", "F2"), ("F3", "B2")):
        sheet = pair_sheet(FACING, a, b)
        assert [section.key for section in sheet.sections] == PAIR_KEYS
        assert all(section.lines for section in sheet.sections)


@pytest.mark.parametrize("active", ["french", "british"])
def test_every_question_of_a_sheet_is_answered_by_the_line_that_shows_it(active):
    handle = BOOK.rulings(FACING, active)
    shown = [
        *BOOK.unit_sheet(handle, "F1").lines,
        *BOOK.unit_sheet(handle, "B2").lines,
        *BOOK.pair_sheet(handle, "F1", "B1").lines,
        *BOOK.pair_sheet(handle, "F1", "F2").lines,
        *BOOK.pair_sheet(handle, "F3", "B2").lines,
    ]
    with_question = [each for each in shown if each.question]
    assert len(with_question) > 20
    for each in with_question:
        answered = BOOK.answer(handle, each.question.id)
        assert answered.question == each.question
        assert answered.answer is not None


def test_every_sentence_is_one_line_that_ends():
    for each in (*unit_sheet(FACING, "F1").lines, *pair_sheet(FACING, "F1", "B1").lines):
        assert each.text.endswith(".")
        assert not each.text.endswith("..")
        assert "\n" not in each.text


def test_a_shooter_is_told_range_angle_dice_and_number():
    told = BOOK.answer(BOOK.rulings(FACING, "french"), "fire/F1/F1/2/B1")
    assert told.text == (
        "Base F1/2 may shoot B1: short range (2.50 BW), straight ahead, 1 die, hits on 4+."
    )
    assert told.answer.margin_mm == pytest.approx(60.0)


def test_bases_with_the_same_target_share_a_line_and_a_question():
    (told,) = lines_of(unit_sheet(FACING, "F1"), "fire")
    assert told.text == (
        "All 4 bases of F1 may shoot B1: short range (2.50 BW), straight ahead, 1 die each, hits "
        "on 4+."
    )
    assert told.question.id == "fire/F1/F1/1,F1/2,F1/3,F1/4/B1"
    assert told.question.text == "May all 4 bases of F1 shoot B1?"
    zones = [shape for shape in told.answer.evidence if shape.role == "fire-zone"]
    assert len(zones) == 4


def test_bases_that_turn_by_different_angles_are_told_of_together_with_both():
    aside = position(line("F1", "french", 500, 400), line("B1", "british", 640, 540, 270))
    turned, ahead = lines_of(unit_sheet(aside, "F1"), "fire")
    assert ahead.text.startswith("Base F1/4 may shoot B1: short range (2.50 BW), straight ahead")
    assert turned.text.startswith("Bases F1/1, F1/2 and F1/3 may shoot B1: short range (2.")
    assert re.search(r"BW\), turned \d+° to \d+° to the right, 1 die each", turned.text)
    assert turned.reading.rule == "M-7.12"


def test_bases_that_are_stopped_by_the_same_share_a_line():
    far = position(line("F1", "french", 500, 400), line("B1", "british", 700, 900, 270))
    (told,) = [
        each
        for each in lines_of(pair_sheet(far, "F1", "B1"), "fire")
        if each.text.startswith("All 4 bases of F1")
    ]
    assert told.text == (
        "All 4 bases of F1 may not shoot B1: it lies 11.54 BW off or more, beyond 4 BW."
    )


def test_every_base_that_may_fire_shows_its_zone_even_without_targets():
    alone = position(line("F1", "french", 500, 400), line("B1", "british", 500, 1000))
    section = next(each for each in unit_sheet(alone, "F1").sections if each.key == "fire")
    assert [shape.role for shape in section.shapes] == ["fire-zone"] * 4
    assert all(each.answer.answer == "no" for each in section.lines)


def test_who_stands_in_the_way_of_fire_is_named():
    blocked = position(
        line("F1", "french", 500, 400),
        line("F2", "french", 500, 480),
        line("B1", "british", 500, 560, 270),
    )
    (told,) = lines_of(unit_sheet(blocked, "F1"), "fire")
    assert told.text == "All 4 bases of F1 may not fire: F2 stands before the enemy in their zones."
    assert told.answer.rule == "M-7.15"


def test_two_bases_behind_the_front_line_are_to_the_flank():
    """T-15: from y = 512 to 672 two of four lie wholly behind the front line at 600."""
    tables = position(line("F1", "french", 500, 580), line("B1", "british", 700, 592, 180))
    told = asked(pair_sheet(tables, "F1", "B1"), "flank/F1/B1")
    assert told.answer.answer == "yes"
    assert "B1 is to the flank of F1" in told.text
    assert {"front-line", "counts"} <= {shape.role for shape in told.answer.evidence}


def test_an_enemy_to_the_front_is_told_by_how_much_it_misses_the_flank():
    told = asked(pair_sheet(FACING, "F1", "B1"), "flank/F1/B1")
    assert told.text == (
        "B1 is to the front of F1, 140.0 mm short of its flank: none of B1's 4 bases lies wholly "
        "behind F1's front line, and part of it is directly in front of F1."
    )


def test_an_active_unit_that_is_flanked_is_told_that_it_is_not_vulnerable():
    flanked = position(line("F1", "french", 500, 580), line("B1", "british", 600, 580, 180))
    assert "M-8.16" in readings_in(unit_sheet(flanked, "F1", active="french"))
    assert "M-8.16" not in readings_in(unit_sheet(flanked, "F1", active="british"))


def test_engaged_across_one_base_width_shows_the_reading_of_the_two_lines():
    """M-8.11: in contact with one enemy, another directly ahead within 1 BW."""
    melee = position(
        line("F1", "french", 500, 400),
        line("B1", "british", 420, 440, 270),
        line("B2", "british", 590, 460, 270),
    )
    sheet = unit_sheet(melee, "F1")
    assert asked(sheet, "engaged/F1/B1").answer.answer == "yes"
    near = asked(sheet, "engaged/F1/B2")
    assert near.answer.answer == "yes"
    assert near.reading.rule == "M-8.12"


def test_both_sides_of_a_wall_that_is_not_flush_show_how_far_fire_carries():
    walled = position(
        line("F1", "french", 500, 400),
        line("B1", "british", 500, 480, 270),
        terrain=[strip("wall", "wall", 380, 430, 240, 4)],
    )
    assert "M-7.27" in readings_in(unit_sheet(walled, "F1"))


def test_fire_past_woods_shows_how_far_it_carries():
    wooded = position(
        line("F1", "french", 500, 300),
        line("B1", "british", 500, 440, 270),
        terrain=[strip("wood", "woods", 380, 390, 240, 40)],
    )
    assert "M-7.17" in readings_in(unit_sheet(wooded, "F1"))


def test_a_turned_zone_shows_its_reading():
    aside = position(line("F1", "french", 500, 400), line("B1", "british", 720, 560, 270))
    assert "M-7.12" in readings_in(unit_sheet(aside, "F1"))


@pytest.mark.parametrize(
    ("unit", "rules"),
    [
        (column("F1", "french", 500, 400), {"M-6.2", "M-6.10", "M-6.11"}),
        (gun("F1", "french", 500, 400), {"M-6.18"}),
        (gun("F1", "french", 500, 400, smoke=True), {"M-4.23"}),
        (line("F1", "french", 500, 400), {"M-6.17"}),
        (line("F1", "french", 500, 1150), {"M-6.32"}),
        (line("F1", "french", 950, 400), {"M-5.1", "M-5.2"}),
        (gun("F1", "french", 950, 400, disruption=1), {"M-5.1", "M-6.4"}),
    ],
    ids=["column", "gun", "smoke", "line", "edge", "rough", "gun in rough"],
)
def test_movement_shows_the_readings_that_it_hangs_on(unit, rules):
    rough = strip("rocks", "rough", 900, 350, 100, 100)
    sheet = unit_sheet(position(unit, terrain=[rough]), "F1")
    shown = {each.reading.rule for each in lines_of(sheet, "movement") if each.reading}
    assert rules <= shown


def test_a_gap_by_a_hair_shows_what_counts_as_touching():
    def with_gap(gap_mm):
        touching = position(
            line("F1", "french", 500, 400), line("B1", "british", 500, 440 + gap_mm, 270)
        )
        return asked(pair_sheet(touching, "F1", "B1"), "contact/F1/B1")

    assert with_gap(0.0).reading is None
    assert (with_gap(0.6).answer.answer, with_gap(0.6).reading.rule) == ("yes", "G-6")
    assert (with_gap(2.0).answer.answer, with_gap(2.0).reading.rule) == ("no", "G-8")
    assert with_gap(5.0).reading is None


def test_friends_of_another_arm_are_named_in_one_line_and_the_pair_says_why():
    (said,) = [
        each for each in lines_of(unit_sheet(FACING, "F3"), "force") if "linked" in each.text
    ]
    assert said.text == "It is not linked with F1: one is artillery, the other infantry."
    told = asked(pair_sheet(FACING, "F3", "F1"), "force/F3/F1")
    assert (told.answer.answer, told.answer.margin_mm) == ("no", 0.0)  # no distance decides


def test_enemies_far_off_to_the_front_are_named_in_one_line():
    lines = lines_of(unit_sheet(FACING, "B2", active="british"), "flank")
    assert [each.text for each in lines][-1] == "F2 and F1 are to its front, 4 BW or more away."


def test_a_charge_of_who_touches_already_says_so():
    touching = position(line("F1", "french", 500, 400), line("B1", "british", 500, 440, 270))
    (told,) = lines_of(unit_sheet(touching, "F1"), "charge")
    assert told.text == "F1 may charge B1, which its front edge touches already."


def test_cover_in_the_open_has_no_margin():
    told = asked(pair_sheet(FACING, "F1", "B1"), "cover/F1/B1")
    assert (told.answer.answer, told.answer.margin_mm) == ("no", 0.0)


def test_the_string_says_which_unit_of_the_force_it_runs_to():
    chain = position(
        line("F1", "french", 300, 400),
        line("F2", "french", 520, 400),
        commanders=[Commander("french-cinc", "french", 520, 100)],
    )
    told = asked(unit_sheet(chain, "F1"), "span/french-cinc/F1")
    assert told.text.endswith("cards of 7 BW are enough; F2 is the nearest of F1's force.")


def test_a_chain_of_three_shows_its_reading():
    chain = position(
        line("F1", "french", 300, 400),
        line("F2", "french", 520, 400),
        line("F3", "french", 740, 400),
    )
    told = asked(unit_sheet(chain, "F1"), "force/F1/F3")
    assert told.answer.answer == "no"
    assert told.reading.rule == "M-1.15"


def test_a_string_tells_which_cards_are_enough():
    """T-3: whole base widths are enough that are no less than the string."""
    told = asked(unit_sheet(FACING, "F1"), "span/french-cinc/F1")
    assert (
        told.text
        == "The string from french-cinc to F1 is 6.50 BW, straight: cards of 7 BW are enough."
    )
    assert told.reading.rule == "M-4.12"


def test_the_passive_sides_commander_is_measured_too():
    assert asked(unit_sheet(FACING, "F1", active="british"), "span/french-cinc/F1").answer


def test_who_attacks_uphill_is_told_how_hills_are_read():
    hill = position(
        line("F1", "french", 500, 400),
        line("B1", "british", 500, 440, 270),
        terrain=[strip("hill", "hill", 380, 421, 240, 60)],
    )
    sheet = pair_sheet(hill, "F1", "B1")
    assert "M-5.9" in {each.reading.rule for each in lines_of(sheet, "cover") if each.reading}


def test_impassable_ground_between_shows_how_near_is_read():
    barred = position(
        line("F1", "french", 500, 400),
        line("B1", "british", 500, 540, 270),
        terrain=[strip("lake", "impassable", 200, 460, 600, 20)],
    )
    assert asked(unit_sheet(barred, "F1"), "near/F1").reading.rule == "M-1.9"


def test_foot_that_meets_horse_is_told_why_it_cannot_charge():
    horse = position(line("F1", "french", 500, 400), massed("B1", "british", 500, 500, 270))
    told = asked(pair_sheet(horse, "F1", "B1"), "charge/F1/B1")
    assert told.answer.answer == "no"
    assert told.reading.rule == "M-8.4"


def test_an_enemy_that_also_fights_a_gun_does_not_outnumber():
    """M-8.17, the reading: an enemy engaged with a gun of mine is not engaged with me alone."""
    melee = position(
        line("F1", "french", 500, 400),
        gun("F2", "french", 600, 400),
        line("B1", "british", 440, 440, 270),
        line("B2", "british", 600, 440, 270),
    )
    assert "M-8.17" in readings_in(unit_sheet(melee, "F1", active="british"))


def test_a_bent_column_tells_where_its_front_is_taken_from():
    straight = column("F1", "french", 500, 400)
    first, *rest = straight.bases
    # Turned about the corner at which it stays flush with the next.
    turned = replace(first, x_mm=first.x_mm - 3.2, y_mm=first.y_mm + 3.8, heading_deg=100.0)
    bent = replace(straight, bases=(turned, *rest))
    where = position(bent, line("B1", "british", 600, 500, 270))
    assert asked(pair_sheet(where, "F1", "B1"), "flank/F1/B1").reading.rule == "G-3"


def test_readings_shown_are_those_written_down():
    for each in (*unit_sheet(FACING, "F1").lines, *unit_sheet(FACING, "F3").lines):
        if each.reading:
            assert each.reading.text == READINGS[each.reading.rule]


@pytest.mark.parametrize("missing", [1, 3])
def test_a_unit_that_lacks_bases_is_left_out_and_the_others_are_ruled_on(missing):
    whole = line("F1", "french", 500, 400)
    partly = replace(whole, bases=whole.bases[missing:])
    where = position(partly, line("F2", "french", 800, 400), line("B1", "british", 800, 540, 270))
    sheet = unit_sheet(where, "F1")
    assert sheet.sections == ()
    assert sheet.warnings == (f"F1 is left out: {4 - missing} of its 4 bases are on the table",)
    other = unit_sheet(where, "F2")
    assert len(other.sections) == len(UNIT_KEYS)
    assert sheet.warnings[0] in other.warnings


def test_what_is_odd_about_other_units_is_not_said_of_a_unit():
    deep = line("F2", "french", 800, 400)
    deep = replace(deep, bases=tuple(replace(base, depth_mm=60.0) for base in deep.bases))
    where = position(line("F1", "french", 500, 400), deep, line("B1", "british", 800, 560, 270))
    (warning,) = unit_sheet(where, "F2").warnings
    assert "F2" in warning
    assert unit_sheet(where, "F1").warnings == ()
    assert pair_sheet(where, "F2", "B1").warnings == (warning,)


def test_a_unit_off_the_table_is_left_out():
    where = position(line("F1", "french", 20, 400), line("B1", "british", 800, 540))
    assert "lies off the table" in unit_sheet(where, "F1").warnings[0]


def test_a_unit_of_which_hardly_anything_is_known_is_left_out():
    vague = line("F1", "french", 500, 400, sigma_mm=11.0)
    where = position(vague, line("F2", "french", 900, 400), line("B1", "british", 800, 540))
    assert "known too roughly" in unit_sheet(where, "F1").warnings[0]
    assert unit_sheet(where, "F2").sections


def test_of_two_units_on_top_of_each_other_the_hidden_one_is_left_out():
    seen = line("F1", "french", 500, 400)
    other = line("B1", "british", 500, 420)
    hidden = replace(other, bases=tuple(replace(base, seen="held") for base in other.bases))
    assert unit_sheet(position(seen, hidden), "F1").sections
    assert not unit_sheet(position(seen, hidden), "B1").sections
    assert not unit_sheet(position(seen, other), "F1").sections


def test_a_pair_with_a_unit_left_out_says_why():
    whole = line("F1", "french", 500, 400)
    partly = replace(whole, bases=whole.bases[1:])
    sheet = pair_sheet(position(partly, line("B1", "british", 800, 540)), "B1", "F1")
    assert sheet.sections == ()
    assert "F1 is left out" in sheet.warnings[0]


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda handle: BOOK.unit_sheet(handle, "F9"), 'no unit "F9" on the table'),
        (lambda handle: BOOK.pair_sheet(handle, "F1", "F1"), "expected two units, got F1 twice"),
        (lambda handle: BOOK.answer(handle, "flank/F1/F2"), "expected one that the page shows"),
        (lambda handle: BOOK.answer(handle, ""), "expected one that the page shows"),
        (lambda handle: BOOK.answer(handle, "near"), "expected one that the page shows"),
    ],
    ids=["unknown unit", "one unit twice", "no such question", "empty", "nobody"],
)
def test_what_cannot_be_answered_is_refused_in_one_line(ask, said):
    with pytest.raises(BadInput, match=said):
        ask(BOOK.rulings(FACING, "french"))


@pytest.mark.parametrize(
    ("question", "meant"),
    [
        ("span/prussian-cinc/F1", "such as span/french-cinc/F1, got"),
        ("flank/F1/B11", "such as flank/F1/B1, got"),
        ("fire/F1/F1-2/B1", "such as fire/F1/F1/"),
        ("near/f1", "such as near/F1, got"),
        ("charge/F1", "such as charge/F1/B1, got"),
        ("flanks/F1/B1", "which begin with near, contact, flank, fire, charge, "),
    ],
)
def test_who_asks_what_the_page_does_not_is_told_what_it_asks(question, meant):
    with pytest.raises(BadInput) as refused:
        BOOK.answer(BOOK.rulings(FACING, "french"), question)
    assert str(refused.value).startswith("question: expected one that the page shows now, ")
    assert meant in str(refused.value)


def test_sheets_after_a_move_are_as_if_made_afresh():
    before = BOOK.rulings(FACING, "french")
    moved = replace(FACING, units=(line("F1", "french", 500, 410), *FACING.units[1:]))
    after = BOOK.rulings(moved, "french", before)
    for unit in ("F1", "F2", "B1", "B2"):
        fresh = BOOK.unit_sheet(BOOK.rulings(moved, "french"), unit)
        assert BOOK.unit_sheet(after, unit).to_json() == fresh.to_json()
