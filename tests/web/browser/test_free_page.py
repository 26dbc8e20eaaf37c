"""A table without a rulebook: round bases, inches, lines of sight, and no mention of a game."""

from __future__ import annotations

import re
from typing import Any

import pytest
from playwright.sync_api import expect

from tablecam.live import questions
from tests.web.browser.test_measuring import ROUNDING_MM, SIGMAS


@pytest.fixture(scope="module")
def demo_game() -> str:
    return "free"


def test_round_bases_are_measured_from_rim_to_rim_in_inches(player: Any) -> None:
    page = player.page
    page.mouse.click(*player.spot_of("F1"))
    page.mouse.click(*player.spot_of("B8"))
    expect(page.locator(".tape.settled .reading")).to_contain_text(" in")
    distance_in, distance_mm, sigma_mm = player.reading()
    true = questions.measure(player.demo.table.truth(), "unit:F1", "unit:B8")
    assert abs(distance_mm - true["distance_mm"]) <= SIGMAS * sigma_mm + ROUNDING_MM
    assert abs(distance_in - distance_mm / 25.4) <= 0.06
    expect(page.locator(".verdict.within")).to_have_count(4)


def test_what_the_table_file_says_blocks_sight(player: Any) -> None:
    page = player.page
    # The farm stands between them.
    page.mouse.click(*player.spot_of("F8"))
    page.mouse.click(*player.spot_of("B4"))
    expect(page.locator("#rulings")).to_contain_text("farm hides B4 from F8")
    page.keyboard.press("Escape")
    page.mouse.click(*player.spot_of("F1"))
    page.mouse.click(*player.spot_of("B1"))
    expect(page.locator("#rulings")).to_contain_text("F1 and B1 see each other")


def test_a_round_base_is_drawn_round_with_its_rings_and_arc(player: Any) -> None:
    page = player.page
    face = page.locator('[data-thing="base:10"] path').first
    assert "A16 16" in (face.get_attribute("d") or "")
    page.mouse.click(*player.spot_of("F4"))
    expect(page.locator(".role-ring")).to_have_count(4)
    expect(page.locator(".role-flank-line")).to_have_count(2)
    expect(page.locator("#measure")).to_contain_text("French infantry.")


def test_a_model_is_dragged_and_found_again(player: Any) -> None:
    before = player.demo.table.truth().unit("F3").bases[0].place_mm
    page = player.page
    page.mouse.move(*player.spot_of("F3"))
    page.mouse.down()
    page.mouse.move(*player.spot(390, 290), steps=6)
    page.mouse.up()
    expect(page.locator(".tape")).to_have_count(0)
    player.sees(lambda: player.demo.table.truth().unit("F3").bases[0].y_mm > before[1] + 50)
    player.demo.settled()
    after = player.demo.table.truth().unit("F3").bases[0].place_mm
    assert after == pytest.approx((390, 290), abs=3)


def test_no_game_and_no_rulings_are_offered(player: Any) -> None:
    for part in ("#game", "#begin"):
        expect(player.page.locator(part)).to_have_count(0)
    expect(player.page.get_by_role("heading", name="Rulings")).to_have_count(0)


def test_a_line_of_sight_can_be_disputed(player: Any) -> None:
    page = player.page
    page.mouse.click(*player.spot_of("F8"))
    page.mouse.click(*player.spot_of("B4"))
    line = page.locator(".ruling", has_text="farm hides B4 from F8")
    line.get_by_role("button", name="Dispute").click()
    expect(page.locator("#dispute-question")).to_contain_text("Does F8 see B4?")
    expect(page.locator("#dispute-answer")).to_have_text("No")
    expect(page.locator("#dispute-picture")).to_have_attribute("src", re.compile("."))
