"""The log on the page: sent once, kept whole, and the same after a reload."""

from __future__ import annotations

from typing import Any

from playwright.sync_api import Page, Response, expect

from tests.web.browser.halls import Table

KEEP = """
  async (answers) => {
    const { LogCache } = await import("/static/game/api.js");
    const log = new LogCache();
    const line = ([deed, text]) => ({ deed, text });
    const told = answers.map(([version, mark, isWhole, lines]) =>
      log.complete({ version, log_mark: mark, log_is_whole: isWhole, log: lines.map(line) }));
    return [told.at(-1).log.map(({ text }) => text).join(" "), log.query];
  }
"""


def kept(page: Page, *answers: tuple[int, str, bool, list[tuple[int, str]]]) -> Any:
    return page.evaluate(KEEP, answers)


def test_new_lines_take_the_place_of_what_was_said_of_their_deeds(modules: Page) -> None:
    whole = (4, "a.player.f.2", True, [(0, "a"), (0, "b"), (1, "c")])
    fresh = (5, "a.player.f.4", False, [(2, "d"), (0, "x"), (0, "y")])
    assert kept(modules, whole, fresh) == ["x y c d", "?after=a.player.f.4"]


def test_an_answer_that_was_overtaken_changes_nothing(modules: Page) -> None:
    whole = (4, "a.player.f.2", True, [(0, "a")])
    fresh = (6, "a.player.f.4", False, [(0, "x"), (1, "b")])
    late = (5, "a.player.f.3", False, [(0, "late")])
    assert kept(modules, whole, fresh, late) == ["x b", "?after=a.player.f.4"]


def test_another_game_or_seat_begins_another_log(modules: Page) -> None:
    whole = (9, "a.player.f.2", True, [(0, "a")])
    other = (1, "b.player.f.1", True, [(0, "other")])
    stray = (8, "a.player.f.3", False, [(1, "stray")])
    assert kept(modules, whole, other, stray) == ["other", "?after=b.player.f.1"]


def test_the_page_is_sent_what_is_new_and_shows_all_of_it_after_undo_and_reload(
    fight: Table,
) -> None:
    page = fight.prussian.page
    fight.taps("Fire", "Start from the left", "P3 at A3 (4 bases)")
    lines = page.locator("#game-log-body li")
    before = lines.count()
    answers: list[Response] = []

    def keep(response: Response) -> None:
        answers.append(response)

    page.on("response", keep)
    fight.prussian.clicks("#game-undo")
    expect(page.locator("#game-log-body li.fold")).to_have_text("▸ 1 taken back")
    expect(lines).to_have_count(before)
    page.remove_listener("response", keep)
    told = [answer for answer in answers if "/api/game" in answer.url and answer.status == 200]
    assert max(len(each.json()["log"]) for each in told) == 1
    texts = lines.all_inner_texts()
    page.reload()
    expect(lines).to_have_count(before)
    assert lines.all_inner_texts() == texts
