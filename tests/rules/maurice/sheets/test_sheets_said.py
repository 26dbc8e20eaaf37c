"""What sheets say of the book's worked cases, and the readings that they hang on."""

from dataclasses import replace

import pytest

from tablecam.table.model import Commander
from tests.rules.maurice.sheets.sheets_asked import (
    FACING,
    asked,
    lines_of,
    pair_sheet,
    readings_in,
    strip,
    unit_sheet,
)
from tests.rules.maurice.tables import column, gun, line, massed, position


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
        "B1 is not to the flank of F1, short by 3.50 BW: none of B1's 4 bases lies wholly "
        "behind F1's front line, and part of it is directly in front of F1."
    )


def test_an_active_unit_that_is_flanked_is_told_that_it_is_not_vulnerable():
    flanked = position(line("F1", "french", 500, 580), line("B1", "british", 600, 580, 180))
    assert "M-8.16" in readings_in(unit_sheet(flanked, "F1", active="french"))
    assert "M-8.16" not in readings_in(unit_sheet(flanked, "F1", active="british"))


def test_a_line_with_a_friend_flush_beside_it_shows_the_reading_of_its_wheels():
    row = position(line("F1", "french", 500, 400), line("F2", "french", 660, 400))
    assert "M-6.14" in readings_in(unit_sheet(row, "F1"))
    alone = position(line("F1", "french", 500, 400), line("F2", "french", 670, 400))
    assert "M-6.14" not in readings_in(unit_sheet(alone, "F1"))


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
    assert told.text == "F1 may charge B1, which its front edge already touches."


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
    assert told.text.endswith("cards of 7 BW are enough; F2 is the nearest unit of F1's force.")


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
        == "The distance from French Cinc to F1 is 6.50 BW, straight: cards of 7 BW are enough."
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
