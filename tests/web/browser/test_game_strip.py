"""The strip above the table: of constant height, with every word of any question."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Page

from tablecam.table.sides import side_name
from tests.rules.playthrough import KEPT, played

SIDES = ("french", "british")
NEVER_LONGER = (
    "British charge: B1, B2, B3, B4, B5, B6, B7, B8 may charge or move up; 3 more must charge"
)
"""A brigade of all units, more than the rulebook's armies have."""

MEASURED = """
async ([tolds, seat]) => {
  const { newState } = await import("/static/game/state.js");
  const { renderStrip } = await import("/static/game/strip.js");
  const side_names = { french: "French", british: "British" };
  const names = { side_names, side_plurals: side_names };
  const facts = { simulated: false, sides: ["french", "british"], ...names };
  const state = newState(facts, {});
  const said = document.getElementById("turn-words");
  state.game.seats = { own: seat };
  const found = tolds.map((told) => {
    state.game.view = told;
    renderStrip(state);
    const strip = document.getElementById("game-strip").getBoundingClientRect();
    const table = document.getElementById("board").getBoundingClientRect();
    const ends = [...said.children].map((each) => each.getBoundingClientRect());
    const sides = document.getElementById("turn-sides");
    const left = sides.getBoundingClientRect().left;
    const starts = [...sides.children].map((each) => each.getBoundingClientRect().left);
    const isCut = starts.some((start) => start < left - 1)
      || ends.some(({ bottom, right }) => bottom > strip.bottom || right > innerWidth);
    return [strip.height, table.top, isCut || said.scrollHeight > said.clientHeight + 1];
  });
  const ids = ["turn-active", "turn-who", "turn-sides", "seat-own"];
  const text = (id) => document.getElementById(id).textContent;
  const words = Object.fromEntries(ids.map((id) => [id, text(id)]));
  return { found, words, wide: document.documentElement.scrollWidth };
}
"""


def told(question: str, asked: str | None, seat: str, number: int = 12) -> dict[str, Any]:
    """The part of a game that the strip shows, as a seat receives it."""
    kind = seat if seat in ("shared", "spectator") else "player"
    figures = [
        {"label": "morale", "value": 14, "sign": "flag"},
        {"label": "cards", "value": 10, "sign": "card"},
    ]
    sides = [{"name": name, "figures": figures} for name in SIDES]
    return {
        "has_begun": True,
        "version": 1,
        "question": question,
        "asked": asked,
        "is_yours": asked in (None, seat) and kind != "spectator",
        "is_over": False,
        "seat": {"kind": kind, "side": seat if kind == "player" else None},
        "standing": {
            "turn": number,
            "turn_word": "round",
            "active": asked or "french",
            "sides": sides,
        },
    }


def questions() -> Iterator[tuple[str, str | None]]:
    """All questions in whole games, and whom they ask."""
    for path in KEPT:
        play = played(path.read_text(encoding="utf-8"))
        for done in play.done:
            asked = play.game.asked(done.state)
            yield asked.question, asked.seat


@pytest.fixture(scope="module")
def asked() -> list[tuple[str, str | None]]:
    return sorted(set(questions()), key=str)


@pytest.mark.parametrize(
    ("width", "height"), [(1400, 900), (1024, 768), (800, 1100), (390, 844)], ids=str
)
@pytest.mark.parametrize("seat", ["shared", "french", "spectator"])
def test_it_is_as_high_whatever_is_asked_and_cuts_no_word(
    modules: Page, asked: list[tuple[str, str | None]], width: int, height: int, seat: str
) -> None:
    modules.set_viewport_size({"width": width, "height": height})
    before = {"has_begun": False, "version": 0, "seat": {"kind": "shared", "side": None}}
    game = [told(question, who, seat) for question, who in asked]
    setup = told("British lay from 6 to 9 pieces of terrain", "british", seat)
    setup["standing"] = {
        "turn_word": "round",
        "phase": "setting up",
        "sides": setup["standing"]["sides"],
    }
    states = [before, setup, *game, told(NEVER_LONGER, "british", seat)]
    measured = modules.evaluate(MEASURED, [states, seat])
    heights, tops, cut = zip(*measured["found"], strict=True)
    assert len(set(heights)) == 1
    assert len(set(tops)) == 1
    assert [
        state.get("question") for state, is_cut in zip(states, cut, strict=True) if is_cut
    ] == []
    assert measured["wide"] <= width


def test_it_names_sides_as_people_do(modules: Page) -> None:
    assert [side_name(side) for side in SIDES] == ["French", "British"]
    state = told("French: invoke?", "french", "british")
    assert modules.evaluate(MEASURED, [[state], "british"])["words"] == {
        "turn-active": "French",
        "turn-who": "waiting for the French",
        "turn-sides": "FrenchFre.1410BritishBri.1410",
        "seat-own": "British",
    }
