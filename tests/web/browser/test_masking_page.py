"""A player marks a part of the table for tablecam to ignore."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.patience import comes_true


def test_a_masked_part_is_ignored_until_it_is_looked_at_again(player: Any) -> None:
    page = player.page
    bases = player.true_bases("PC1")
    low = min(b.x_mm for b in bases) - 40, min(b.y_mm for b in bases) - 40
    high = max(b.x_mm for b in bases) + 40, max(b.y_mm for b in bases) + 40
    corner_px = player.spot(0, 0)
    page.click("#health")
    page.click("#mask")
    expect(page.locator("#health-more")).to_be_hidden()
    # The table has its old size again.
    comes_true(lambda: player.spot(0, 0) == pytest.approx(corner_px, abs=0.5))
    page.mouse.move(*player.spot(*low))
    page.mouse.down()
    page.mouse.move(*player.spot(*high), steps=3)
    expect(page.locator(".draft path")).to_have_count(1)
    page.mouse.up()
    expect(page.locator(".mask")).to_have_count(1)
    expect(page.locator("#notice")).to_contain_text("PC1 cannot be seen in that part")

    def tags_seen() -> set[int | None]:
        position = player.demo.live.snapshot().position
        return {base.tag for unit in position.units for base in unit.bases}

    masked = {base.tag for base in bases}
    player.sees(lambda: masked.isdisjoint(tags_seen()))
    expect(page.locator("#health-state")).to_contain_text("missing")
    page.click("#health")
    page.get_by_role("button", name="Look again").click()
    expect(page.locator(".mask")).to_have_count(0)
    player.sees(lambda: masked <= tags_seen())


def test_escape_gives_up_marking_a_part(player: Any) -> None:
    page = player.page
    page.click("#health")
    page.click("#mask")
    page.keyboard.press("Escape")
    page.click("#health")
    expect(page.locator("#mask")).to_have_attribute("aria-pressed", "false")
    assert player.demo.live.snapshot().masks == ()
