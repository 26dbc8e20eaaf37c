"""A hex table on the page: the map, stacks by a tap, zones, and a slipped map."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tablecam.documents import document_from
from tablecam.live.map_follower import slipped
from tablecam.rules.hexes.grid import grid_of
from tablecam.simulate.script import script_from
from tablecam.simulate.table import SimulatedTable
from tests.rules.hexes.drill import house_roster
from tests.web.browser.demos import spot
from tests.web.browser.halls import Hall, Seat, seated
from tests.web.browser.test_another_game import keep_errors, picture

SIZES = {"wide": (1400, 900), "tablet": (1024, 768), "phone": (390, 844)}


def house_table() -> SimulatedTable:
    """The house sample at its beginning, before anything is moved."""
    roster = house_roster()
    text = (files("tablecam.rules.maida_1806") / "demo_script.toml").read_text(encoding="utf-8")
    script = script_from(document_from(tomllib.loads(text), "script"), roster.table.hex_map)
    return SimulatedTable(roster, script)


@pytest.fixture(scope="module")
def hall(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hall]:
    hall = Hall(Path(tmp_path_factory.mktemp("games")), house_table())
    hall.open()
    hall.settled()
    yield hall
    hall.end()


@pytest.fixture
def seat(hall: Hall, browser: Browser) -> Iterator[Seat]:
    mistakes: list[str] = []
    with seated(hall, browser, "french") as seat:
        keep_errors(seat.page, mistakes)
        seat.page.reload()
        yield seat
    assert mistakes == []


def seen(hall: Hall, id: str) -> set[str]:
    unit = hall.live.snapshot().position.unit(id)
    return set() if unit is None else {base.seen for base in unit.bases}


def test_the_map_is_drawn_with_its_ground_and_the_numbers_of_its_hexes(seat: Seat) -> None:
    layer = seat.page.locator(".layer.hexes")
    expect(layer.locator(".hex-number")).to_have_count(16 * 12)
    expect(layer.locator(".hex-terrain")).to_have_count(2)
    expect(layer.locator(".hex-line")).to_have_count(1)
    # Hexes have no unit name like base widths or inches.
    expect(seat.page.locator("#scale-text")).to_contain_text("hex")


def test_a_counter_says_its_hexes_and_shows_its_zones(seat: Seat) -> None:
    # Its name is on the map for anyone who looks for it.
    expect(seat.page.locator("#try-steps li").first).to_have_text("Click Foot 1 to choose it")
    seat.page.locator('.layer [data-thing="unit:Foot 1"]').focus()
    seat.page.keyboard.press("Enter")
    expect(seat.page.locator("#measure-body")).to_contain_text("In 0703 and 0603")
    expect(seat.page.locator(".board .role-hex-front")).to_have_count(3)
    expect(seat.page.locator(".board .role-hex-rear")).to_have_count(3)
    expect(seat.page.locator(".meanings li")).to_have_text(
        ["front", "flank", "rear", "thicket", "marsh", "river"]
    )
    expect(seat.page.locator("#stacks button")).to_have_count(0)
    seat.page.locator('.layer [data-thing="unit:Guards"]').focus()
    seat.page.keyboard.press("Enter")
    # Only the hexes, without the millimetres, which do not count.
    expect(seat.page.locator("#measure-body .reading")).to_have_text(re.compile(r"^\d+ hex(es)?$"))
    spare = re.compile(
        r"^within \d+ hex(es)?(\d+ hex(es)? to spare|exactly)$|^\d+ hex(es)? beyond \d+ hex(es)?$"
    )
    expect(seat.page.locator(".verdict.within")).to_have_text(spare)
    picture(seat.page, "hexes-apart")
    seat.page.keyboard.press("Escape")


def test_a_stack_is_listed_with_a_tap_and_its_counters_are_chosen_from_the_list(
    hall: Hall, seat: Seat
) -> None:
    scouts = hall.table.truth().unit("Scouts")
    assert scouts is not None
    base = scouts.bases[0]
    hall.table.move_unit("Cannon", base.x_mm + 1, base.y_mm - 1, base.heading_deg)
    hall.table.turn_over("Cannon", 33)  # It was pushed beneath; now it lies on top.
    hall.waits(lambda: "held" in seen(hall, "Scouts"))
    seat.page.locator('.layer [data-thing="unit:Cannon"]').focus()
    seat.page.keyboard.press("Enter")
    rows = seat.page.locator("#stacks button")
    expect(rows).to_have_count(2)
    expect(rows.nth(0)).to_contain_text("Cannon")
    expect(rows.nth(1)).to_contain_text("hidden beneath")
    # On the table only the top one has a name, with the number of counters there.
    badge = seat.page.locator('.layer.badges [data-stack="unit:Cannon"]')
    expect(badge).to_have_text("\N{MULTIPLICATION SIGN}2")
    expect(seat.page.locator(".layer.stacks .edges")).to_have_count(1)
    rows.nth(1).click()
    expect(seat.page.locator("#measure-title")).to_have_text("Scouts")
    for name, (width, height) in SIZES.items():
        for scheme in ("light", "dark"):
            seat.page.set_viewport_size({"width": width, "height": height})
            seat.page.emulate_media(color_scheme=scheme)
            picture(seat.page, f"hexes-{name}-{scheme}")
    # The counter chosen in the list is dragged.
    seat.page.set_viewport_size({"width": 1400, "height": 900})
    x, y = spot(seat.page, base.x_mm, base.y_mm)
    seat.page.mouse.move(x, y)
    seat.page.mouse.down()
    seat.page.mouse.move(x, y - 60, steps=5)
    seat.page.mouse.up()
    hall.waits(lambda: hall.table.truth().unit("Scouts").bases[0].y_mm > base.y_mm + 9)
    assert hall.table.truth().unit("Cannon").bases[0].y_mm < base.y_mm


def test_a_map_that_has_slipped_far_is_asked_about_and_followed(hall: Hall, seat: Seat) -> None:
    """The counters keep their hexes on a map that lies elsewhere."""
    truth = hall.table.truth()
    by_mm = (3.4, -1.6)
    grid = grid_of(house_roster().table.hex_map)
    moved = {
        unit.id: (unit.bases[0].x_mm + by_mm[0], unit.bases[0].y_mm + by_mm[1])
        for unit in truth.units
        if grid.number(grid.cube_at(unit.bases[0].place_mm)[0])
    }
    moved |= {
        leader.id: (leader.x_mm + by_mm[0], leader.y_mm + by_mm[1]) for leader in truth.commanders
    }
    headings = {unit.id: unit.bases[0].heading_deg for unit in truth.units}
    hall.table.move_units({id: (*at, headings.get(id, 0.0)) for id, at in moved.items()})
    asks = seat.page.locator("#slipped")
    expect(asks).to_contain_text("The map seems to have slipped by 3.")
    seat.page.locator("#follow-map").click()
    expect(asks).to_be_hidden()
    followed = hall.live.snapshot().position.table.hex_map
    assert followed is not None
    expected = slipped(house_roster().table.hex_map, by_mm)
    assert followed.origin_mm == pytest.approx(expected.origin_mm, abs=0.6)
