"""The page that plays a recording, in a browser: served, beside a running game, and as a file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect
from sqlalchemy import insert

from tablecam.record.database import open_engine
from tablecam.record.entries import GameFacts, NewEntry, Picture
from tablecam.record.game_file import GameFile
from tablecam.record.journal import picture_row
from tablecam.record.positions import applied
from tablecam.record.schema import picture
from tablecam.replay.copies import copy_of
from tablecam.replay.film import film
from tablecam.replay.text_form import recording_of
from tests.ports import kept_port
from tests.replay.recorded import STARTED_AT, entries, new
from tests.rules.playthrough import KEPT, played
from tests.web.browser.demos import patient
from tests.web.browser.halls import Table, seated
from web import Server, create_replay
from web.page_file import addresses, page_of
from web.streams import Streams

DEALT = next(path for path in KEPT if path.name.startswith("dealt"))
WICKED = "</script><script>document.title='broken'</script><img src=x onerror=alert(1)>"
JPEG = bytes.fromhex(
    "ffd8ffe000104a46494600010100000100010000ffdb004300080606070605080707070909080a0c140d0c0b0b0c19"
    "12130f141d1a1f1e1d1a1c1c20242e2720222c231c1c2837292c30313434341f27393d38323c2e333432ffc0000b08"
    "0001000101011100ffc4001f0000010501010101010100000000000000000102030405060708090a0bffc400b51000"
    "02010303020403050504040000017d01020300041105122131410613516107227114328191a1082342b1c11552d1f0"
    "2433627282090a161718191a25262728292a3435363738393a434445464748494a535455565758595a636465666768"
    "696a737475767778797a838485868788898a92939495969798999aa2a3a4a5a6a7a8a9aab2b3b4b5b6b7b8b9bac2c3"
    "c4c5c6c7c8c9cad2d3d4d5d6d7d8d9dae1e2e3e4e5e6e7e8e9eaf1f2f3f4f5f6f7f8f9faffda0008010100003f00fb"
    "d3ffd9"
)
"""The smallest picture that a browser decodes: one grey pixel."""


@pytest.fixture(scope="module")
def journal(tmp_path_factory: pytest.TempPathFactory) -> GameFile:
    """A golden game, with a hand's move, a picture, a dispute and words that are markup."""
    file = GameFile.create(
        tmp_path_factory.mktemp("games") / "a.tablecam", GameFacts("maurice-lite", "", STARTED_AT)
    )
    kept = list(entries(played(DEALT.read_text(encoding="utf-8"))))
    file.append(*map(wickedly, kept))
    after_s = 12.0 * len(kept)
    file.append(
        new("notice", {"text": WICKED}, after_s + 30),
        new("dispute", disputed(), after_s + 60, Picture("drawn", JPEG)),
        new("picture", {"of": 1}, after_s + 61, Picture("table", JPEG)),
    )
    return file


def wickedly(entry: NewEntry) -> NewEntry:
    """An entry in which every text that players could have written is markup."""
    for event in entry.document.get("events", ()):
        if event["kind"] == "broken":
            event["note"] = WICKED
    return entry


def disputed() -> dict[str, Any]:
    answer = {"answer": "yes", "rule": "M-1.12", "because": WICKED, "evidence": []}
    answer |= {"margin_mm": 3.24, "sigma_mm": 0.1, "probability": 0.98}
    question = {"id": "flank", "text": f"Is B1 {WICKED}?"}
    return {"dispute": {"question": question, "active": "french", "answer": answer}, "position": {}}


@pytest.fixture(scope="module")
def address(journal: GameFile) -> Iterator[str]:
    with Server(create_replay(journal, is_own=True), port=0, streams=Streams(1)) as server:
        yield server.address


@contextmanager
def looking(browser: Browser, address: str, **device: Any) -> Iterator[Page]:
    """The page of a recording; none of its scripts may fail, and no others may run."""
    with browser.new_context(**({"viewport": {"width": 1400, "height": 900}} | device)) as context:
        page = patient(context).new_page()
        mistakes: list[Any] = []
        page.on("pageerror", lambda mistake: mistakes.append(mistake))
        page.on("dialog", lambda dialog: mistakes.append(dialog.message))
        page.goto(address)
        expect(page.locator("#nothing")).to_be_hidden()
        expect(page.locator(".units .unit")).not_to_have_count(0)
        yield page
        assert mistakes == []


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    with looking(browser, f"{address}replay") as page:
        yield page


def shown(page: Page) -> int:
    """The number of the entry shown."""
    return int((page.locator("#moment-number").text_content() or "").removeprefix("entry "))


def pressed(page: Page, key: str) -> int:
    """Press a key, and return the number of the entry then shown."""
    before = page.locator("#moment-number").text_content() or ""
    page.keyboard.press(key)
    expect(page.locator("#moment-number")).not_to_have_text(before)
    return shown(page)


def test_it_steps_and_jumps_by_keys(page: Page) -> None:
    assert shown(page) == 1
    assert pressed(page, "ArrowRight") == 2
    last = pressed(page, "End")
    expect(page.locator("#turn-question")).to_have_text("The game is over")
    began = pressed(page, "PageUp")
    expect(page.locator("#moment-lines")).to_contain_text(
        re.compile("Round [0-9]+, (French|British)")
    )
    assert began < last
    assert pressed(page, "b") < began
    assert pressed(page, "Home") == 1


def test_the_scrubber_is_dragged_and_says_where_it_is(page: Page) -> None:
    box = page.locator("#scrub").bounding_box()
    assert box is not None
    middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.click(*middle)
    expect(page.locator("#scrub")).to_have_attribute("aria-valuetext", re.compile("round [0-9]+"))
    half = shown(page)
    assert half > 10
    page.mouse.move(*middle)
    page.mouse.down()
    page.mouse.move(box["x"] + 3, middle[1])
    page.mouse.up()
    expect(page.locator("#moment-number")).to_have_text("entry 1")


def test_rounds_phases_and_big_moments_are_marked_by_signs(page: Page) -> None:
    rounds = page.locator("#marks-turns > g")
    assert rounds.count() > 5
    for kind in ("loss", "attack", "dispute", "over"):
        expect(page.locator(f"#marks-moments .{kind}")).not_to_have_count(0)
        assert page.locator(f"#marks-moments .{kind} title").first.text_content()
    page.locator("#marks-moments .loss").first.click()
    expect(page.locator("#moment-lines")).to_contain_text("breaks")


def test_losses_are_morale_once_a_game_has_begun(page: Page) -> None:
    expect(page.locator("#losses-title")).to_have_text("Morale")
    assert page.locator("#losses-now").text_content() == ""  # nobody has any yet
    pressed(page, "ArrowRight")
    expect(page.locator("#losses-now")).to_have_text(re.compile(r"French \d+ · British \d+"))


KEEP_WORDS_OF_PLAY = """() => {
  const play = document.getElementById("play");
  window.words = [];
  const keep = () => window.words.push(play.textContent);
  new MutationObserver(keep).observe(play, { childList: true });
}"""


def test_it_plays_by_itself_to_the_end_and_stops_there(page: Page) -> None:
    pressed(page, "End")
    pressed(page, "PageUp")
    page.locator("#speed").select_option("60")
    expect(page.locator("#waits")).to_contain_text("shortened")
    page.evaluate(KEEP_WORDS_OF_PLAY)
    page.keyboard.press(" ")
    page.wait_for_function("() => window.words.join() === 'Pause,Play'")
    expect(page.locator("#turn-question")).to_have_text("The game is over")


def test_a_link_opens_the_moment_that_it_names(browser: Browser, address: str) -> None:
    with looking(browser, f"{address}replay#entry=57") as page:
        assert shown(page) == 57
        page.evaluate("location.hash = '#entry=12'")
        expect(page.locator("#moment-number")).to_have_text("entry 12")
        page.evaluate("location.hash = '#entry=999999999'")
        expect(page.locator("#turn-question")).to_have_text("The game is over")
        page.evaluate("location.hash = '#entry=<b>'")
        expect(page.locator("#turn-question")).to_have_text("The game is over")


def test_every_move_of_a_unit_is_drawn_and_stepped_through(page: Page, journal: GameFile) -> None:
    pressed(page, "End")
    unit = page.locator('.units [data-thing="unit:F1"]')
    unit.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#unit-title")).to_have_text("F1")
    page.locator("#unit-moves").click()
    expect(page.locator(".about .label", has_text="1")).to_have_count(1)
    before = shown(page)
    assert pressed(page, "[") < before
    page.locator("#log-only").click()
    lines = page.locator("#log-body li")
    expect(lines.first).to_contain_text("F1")
    assert lines.count() < 60


def test_the_log_finds_words_and_folds_what_was_taken_back(
    browser: Browser, tmp_path: Path
) -> None:
    play = played(DEALT.read_text(encoding="utf-8"))
    play.undo()
    file = GameFile.create(tmp_path / "a.tablecam", GameFacts("maurice-lite", "", STARTED_AT))
    file.append(*entries(play))
    with (
        Server(create_replay(file, is_own=True), port=0, streams=Streams(1)) as server,
        looking(browser, f"{server.address}replay") as page,
    ):
        lines, count, undone = (page.locator(f"#log-{at}") for at in ("body li", "count", "undone"))
        expect(undone).to_be_hidden()
        all_lines = int(count.inner_text())
        pressed(page, "End")
        expect(undone).to_have_text("1 taken back")
        assert int(count.inner_text()) < all_lines
        undone.click()
        expect(count).to_have_text(str(all_lines))
        expect(page.locator("#log-body li.undone")).not_to_have_count(0)
        page.locator("#log-find").fill("M-4.11")
        expect(lines.first.locator(".rule")).to_have_text("M-4.11")
        assert 0 < lines.count() < all_lines
        page.locator("#log-find").fill("a word that nobody says")
        expect(page.locator("#log-none")).to_contain_text("Nothing is recorded about")


def test_every_move_stays_drawn_beside_the_drawing_of_what_is_said(page: Page) -> None:
    pressed(page, "End")
    page.locator('.units [data-thing="unit:F1"]').focus()
    page.keyboard.press("Enter")
    page.keyboard.press("v")
    page.locator("#log-body li.drawn", has_text=re.compile(" activate ")).last.locator(
        "[data-line]"
    ).click()
    expect(page.locator(".layer.game .shape").first).to_be_visible()
    expect(page.locator(".about .shape").first).to_be_visible()


def test_the_log_shows_the_line_that_is_shown_wherever_one_goes(page: Page) -> None:
    for key in ("End", "PageUp", "b", "PageDown"):
        pressed(page, key)
        page.wait_for_function(
            """() => {
              const line = document.querySelector("#log-body .now")?.getBoundingClientRect();
              const box = document.getElementById("log-scroll").getBoundingClientRect();
              const lowest = Math.min(line?.bottom, line?.top + box.height);
              return line && line.top >= box.top - 1 && lowest <= box.bottom + 1;
            }"""
        )


def test_a_ruling_is_read_aloud_whole(page: Page) -> None:
    """Its question, answer, margin and rule, in the moment and in the log."""
    disputed = page.locator("#log-body li", has_text="Disputed")
    disputed.locator("[data-line]").click()
    whole = re.compile(
        r"Disputed: Is B1 .+ ✓ yes\. .+ holds by 3\.2 .+98 % likely .+M-1\.12", re.DOTALL
    )
    assert whole.search(page.locator("#moment-lines li", has_text="Disputed").aria_snapshot())
    assert whole.search(disputed.aria_snapshot())


def test_a_line_of_the_log_is_gone_to_and_drawn(page: Page) -> None:
    line = page.locator("#log-body li.drawn", has_text=re.compile(" activate ")).first
    line.locator("[data-line]").click()
    expect(line).to_have_class(re.compile("looked"))
    expect(page.locator(".layer.game .shape")).not_to_have_count(0)
    expect(page.locator("#log-body li.now")).to_have_count(1)
    expect(page.locator("#log-body li.future")).not_to_have_count(0)


def test_the_lines_of_an_action_stand_together_under_its_time(page: Page) -> None:
    follows = page.locator("#log-body .follows")
    expect(follows).not_to_have_count(0)
    expect(follows.first.locator("time")).to_be_hidden()
    assert page.locator("#log-body .of-turn.follows").count() == 0


def test_a_game_that_is_copied_as_text_is_that_game(
    browser: Browser, address: str, journal: GameFile
) -> None:
    may = ["clipboard-read", "clipboard-write"]
    with looking(browser, f"{address}replay", permissions=may) as page:
        page.locator("#copy-text").click()
        expect(page.locator("#notice-text")).to_have_text(
            re.compile(r"The game as text, [\d,]+ characters, was copied")
        )
        pasted = page.evaluate("navigator.clipboard.readText()")
    again = recording_of(pasted)
    kept = [(e.kind, e.at, e.document) for e in journal.entries()]
    assert [(e.kind, e.at, e.document) for e in again.entries] == kept


def test_where_a_page_may_not_copy_the_text_stands_in_a_box(page: Page) -> None:
    page.evaluate("void (navigator.clipboard.writeText = () => Promise.reject(new Error('no')))")
    page.locator("#copy-text").click()
    expect(page.locator("#copy-box")).to_be_visible()
    assert recording_of(page.locator("#copy-box").input_value()).last > 100


def test_what_players_wrote_is_text(page: Page) -> None:
    page.keyboard.press("End")
    expect(page.locator("#log-body")).to_contain_text("</script><script>")
    expect(page.locator("#log-body img, #log-body script")).to_have_count(0)
    expect(page).to_have_title(re.compile("tablecam"))


def test_what_if_units_had_been_laid_elsewhere(page: Page, journal: GameFile) -> None:
    last = journal.last()
    page.keyboard.press("ArrowRight")
    page.locator("#branch").click()
    expect(page.locator("#branch-banner")).to_be_visible()
    unit = page.locator('.units [data-thing="unit:F1"]')
    box = unit.bounding_box()
    assert box is not None
    at = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(*at)
    page.mouse.down()
    page.mouse.move(at[0], at[1] - 60, steps=4)
    page.mouse.up()
    expect(page.locator("#branch-again")).to_be_visible()
    for name in ("F1", "B1"):
        page.locator(f'.units [data-thing="unit:{name}"]').focus()
        page.keyboard.press("Enter")
    expect(page.locator("#what-if-measured .measured")).to_contain_text("BW")
    far = page.locator("#what-if-measured .measured").text_content()
    page.locator("#branch-again").click()
    expect(page.locator("#what-if-measured .measured")).not_to_have_text(far or "")
    expect(page.locator("#rulings-chips button")).not_to_have_count(0)
    page.get_by_role("button", name="Odds of the combat").click()
    expect(page.locator("#what-if-error")).to_have_text(
        re.compile("^no unit of the French touches")
    )
    page.locator("#branch-end").click()
    expect(page.locator("#branch-banner")).to_be_hidden()
    assert journal.last() == last


def test_a_page_says_when_the_table_cannot_be_asked_and_goes_on_when_it_can(
    browser: Browser, journal: GameFile
) -> None:
    with ExitStack() as closing:
        port = closing.enter_context(kept_port())
        with Server(create_replay(journal), port=port, streams=Streams(1)) as server:
            page = closing.enter_context(looking(browser, f"{server.address}replay"))
        expect(page.locator("#lost-connection")).to_be_visible()
        page.keyboard.press("Home")
        expect(page.locator("#moment-number")).to_have_text("entry 1")
        with Server(create_replay(journal), port=port, streams=Streams(1)):
            expect(page.locator("#lost-connection")).to_be_hidden()


def test_a_picture_older_than_what_lies_on_it_says_so(page: Page) -> None:
    """The recording's one picture of the table shows its beginning."""
    age = page.locator("#picture-age")
    expect(page.locator(".layer.picture image")).to_have_count(1)
    expect(age).to_be_hidden()
    pressed(page, "End")
    expect(age).to_have_text(re.compile("The picture is [0-9]+ min older than the units"))
    page.keyboard.press("p")
    expect(age).to_be_hidden()


def test_pictures_that_reach_a_hall_late_are_shown_on_pages_that_are_open(
    browser: Browser, journal: GameFile, tmp_path: Path
) -> None:
    path = tmp_path / "a.tablecam"
    late = GameFile.create(path, journal.facts(), copy_of(journal, pictures=False).entries)
    with (
        Server(create_replay(late), port=0, streams=Streams(1)) as server,
        looking(browser, f"{server.address}replay") as page,
    ):
        assert page.locator(".layer.picture image").count() == 0
        row = picture_row(late.id, late.last(), Picture("table", JPEG))
        with open_engine(path).begin() as connection:
            connection.execute(insert(picture), row)
        expect(page.locator(".layer.picture image")).to_have_count(1)


def test_what_a_camera_strays_by_is_no_move(page: Page) -> None:
    moves = page.evaluate(
        """async () => {
          const { Film } = await import("/static/replay/film.js");
          const lying = (x_mm, heading_deg) => {
            const base = { x_mm, y_mm: 300, heading_deg, width_mm: 40, depth_mm: 40 };
            const unit = { id: "F1", side: "french", arm: "infantry", bases: [base] };
            return { units: [unit], commanders: [] };
          };
          const places = [[201.9, 359.9], [202.1, 0.1], [201.9, 359.8], [230, 0.1], [230.3, 90]];
          const entries = places.map(([x, heading], at) => {
            return { n: at + 1, t: at, kind: "position", change: { whole: lying(x, heading) } };
          });
          const film = new Film({ started_at: "2026-05-01T19:30:00Z", facts: null, entries });
          return [film.movesOf("F1"), film.liesElsewhere(2, 0), film.liesElsewhere(3, 0)];
        }"""
    )
    assert moves == [[0, 3, 4], False, True]


@pytest.mark.parametrize(("width", "height"), [(390, 844), (820, 1180), (2560, 1440)])
def test_it_fits_phones_tablets_and_big_screens(
    browser: Browser, address: str, width: int, height: int
) -> None:
    device = {"viewport": {"width": width, "height": height}, "has_touch": width < 900}
    with looking(browser, f"{address}replay#entry=57", **device) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        for name in ("#play", "#back", "#on", "#scrub", "#moment-lines", "#board"):
            expect(page.locator(name)).to_be_in_viewport()


@pytest.fixture
def phone(browser: Browser, address: str) -> Iterator[Page]:
    size = {"width": 390, "height": 844}
    with looking(
        browser, f"{address}replay#entry=57", viewport=size, has_touch=True, is_mobile=True
    ) as page:
        yield page


def swipe(page: Page, area: str, *, right_px: float = 0, down_px: float = 0) -> None:
    """A finger crosses a part of the page, from its middle."""
    session = page.context.new_cdp_session(page)
    box = page.locator(area).bounding_box()
    assert box is not None
    x_px, y_px = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    for kind, share in (("Start", 0), ("Move", 0.3), ("Move", 0.6), ("Move", 1)):
        finger = {"x": x_px + share * right_px, "y": y_px + share * down_px}
        session.send("Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": [finger]})
    session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    session.detach()


def test_a_phone_turns_the_table_upright_and_a_swipe_steps(phone: Page) -> None:
    ground = phone.locator(".layer.ground").bounding_box()
    assert ground is not None
    assert ground["height"] > 1.4 * ground["width"]
    number = phone.locator("#moment-number")
    swipe(phone, "#moment", right_px=-120)
    expect(number).not_to_have_text("entry 57")
    assert shown(phone) > 57
    swipe(phone, "#transport-row", right_px=120)
    expect(number).to_have_text("entry 57")
    view = phone.locator("#board").get_attribute("viewBox") or ""
    swipe(phone, "#board", right_px=-120)  # the whole table stays
    expect(number).not_to_have_text("entry 57")
    swipe(phone, "#board", right_px=120)
    expect(number).to_have_text("entry 57")
    expect(phone.locator("#board")).to_have_attribute("viewBox", view)
    swipe(phone, "#moment", down_px=-60)
    swipe(phone, "#moment", right_px=-20)
    phone.keyboard.press("+")
    board = phone.locator("#board")
    expect(board).not_to_have_attribute("viewBox", view)
    view = board.get_attribute("viewBox") or ""
    swipe(phone, "#board", right_px=-120)  # moves an enlarged table
    expect(board).not_to_have_attribute("viewBox", view)
    assert shown(phone) == 57


def test_what_a_thumb_touches_is_large_enough(phone: Page) -> None:
    phone.locator('.units [data-thing="unit:F1"]').focus()
    phone.keyboard.press("Enter")
    expect(phone.locator("#unit")).to_be_visible()
    small = """() => [...document.querySelectorAll("button, select, summary, label")]
      .filter((each) => each.checkVisibility() && !each.classList.contains("of-select"))
      .map((each) => [each.id || each.textContent, each.getBoundingClientRect()])
      .filter(([, { width, height }]) => Math.min(width, height) < 44)
      .map(([name]) => name)"""
    assert phone.evaluate(small) == []
    phone.locator("#branch").tap()
    expect(phone.locator("#branch-banner")).to_be_visible()
    assert phone.evaluate(small) == []


def test_a_recording_is_one_page_that_plays_without_a_network(
    browser: Browser, journal: GameFile, tmp_path: Path
) -> None:
    path = tmp_path / "game.html"
    path.write_text(page_of(journal, addresses(journal)), encoding="utf-8")
    with browser.new_context(offline=True) as context:
        page = patient(context).new_page()
        asked: list[str] = []
        mistakes: list[Any] = []
        page.on("request", lambda request: asked.append(request.url))
        page.on("pageerror", lambda mistake: mistakes.append(mistake))
        page.on("dialog", lambda dialog: mistakes.append(dialog.message))
        page.on(
            "console", lambda said: mistakes.append(said.text) if said.type == "error" else None
        )
        page.goto(path.as_uri() + "#entry=57")
        expect(page.locator("#moment-number")).to_have_text("entry 57")
        page.keyboard.press("End")
        expect(page.locator("#turn-question")).to_have_text("The game is over")
        expect(page.locator("#log-body")).to_contain_text("</script><script>")
        expect(page.locator(".layer.picture image")).to_have_count(1)
        page.keyboard.press("Home")
        page.keyboard.press("w")
        for name in ("F1", "B1"):
            page.locator(f'.units [data-thing="unit:{name}"]').focus()
            page.keyboard.press("Enter")
        expect(page.locator("#what-if-measured .measured")).to_contain_text("BW")
        assert mistakes == []
        assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
        assert page.title() == "tablecam · replay"


def test_the_page_makes_the_same_positions_of_differences_as_tablecam(
    page: Page, journal: GameFile
) -> None:
    made = page.evaluate(
        """async () => {
          const { Film } = await import("/static/replay/film.js");
          const film = new Film(await (await fetch("/api/replay/film")).json());
          return film.positions;
        }"""
    )
    position: Any = None
    for entry, here in zip(film(journal)["entries"], made, strict=True):
        if entry["kind"] == "position":
            position = applied(position, entry["change"])
        assert here == position


def test_the_distance_that_a_page_measures_by_itself_is_that_of_tablecam(
    page: Page, address: str
) -> None:
    """Some pairs of units, as they lay at the beginning."""
    pairs = page.evaluate(
        """async () => {
          const { Film } = await import("/static/replay/film.js");
          const { distanceBetween } = await import("/static/replay/queries.js");
          const film = new Film(await (await fetch("/api/replay/film")).json());
          const table = film.tableAt(0);
          const names = table.units.map(({ id }) => `unit:${id}`).concat("point:900,600");
          const headers = { "Content-Type": "application/json" };
          const found = [];
          for (const a of names.slice(0, 3)) {
            for (const b of names.filter((name) => name !== a)) {
              const body = JSON.stringify({ moment: 1, a, b });
              const request = { method: "POST", headers, body };
              const told = await (await fetch("/api/replay/measure", request)).json();
              found.push([distanceBetween(table, a, b).distance_mm, told.distance_mm]);
            }
          }
          return found;
        }"""
    )
    assert len(pairs) > 10
    assert all(abs(here - there) < 0.01 for here, there in pairs)  # a film's places are rounded


def said_and_done(fight: Table) -> list[Any]:
    """The game's log, which excludes what the camera sees meanwhile."""
    with fight.hall.referee.locked() as play:
        return [] if play is None else play.entries()


def test_looking_back_changes_nothing_of_the_game_that_is_being_played(
    fight: Table, browser: Browser
) -> None:
    fight.taps("Skip")
    before = said_and_done(fight)
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    with seated(fight.hall, browser, "prussian", **phone) as seat:
        page = seat.page
        page.goto(f"{fight.hall.address}replay")
        expect(page.locator("#log-body li")).not_to_have_count(0)
        expect(page.locator("#follow")).to_be_hidden()  # it is at the latest entry
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        page.keyboard.press("Home")
        expect(page.locator("#follow")).to_have_text("To the latest moment")
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        page.keyboard.press("w")
        expect(page.locator("#branch-banner")).to_be_visible()
        page.keyboard.press("Escape")
        assert said_and_done(fight) == before
        assert fight.prussian.page.locator("#turn-question").is_visible()
        page.keyboard.press("End")
        expect(page.locator("#follow")).to_be_hidden()
        count = page.locator("#log-body li").count()
        fight.taps("Pass")
        expect(page.locator("#log-body li").nth(count)).to_be_visible()
        expect(page.locator("#follow")).to_be_hidden()
        assert "has drawn" not in page.content()
        page.get_by_role("link", name="Back to the game").click()
        expect(page.locator("#turn-question")).to_be_visible()
