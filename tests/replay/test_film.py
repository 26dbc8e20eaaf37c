"""The parts of a recording that everyone may see, as a page plays it."""

import json
import sqlite3
from dataclasses import replace
from datetime import UTC, datetime
from importlib.resources import files
from itertools import pairwise
from pathlib import Path

import pytest

from tablecam.errors import BadInput
from tablecam.record.entries import KINDS, GameFacts, Picture
from tablecam.record.game_file import GameFile
from tablecam.record.positions import applied, difference
from tablecam.replay.film import film, film_facts, stacks_of
from tablecam.rules.game_files import house_options
from tablecam.rules.play import Play
from tests.record.games import FACTS
from tests.replay.evening import evening
from tests.replay.recorded import new, recorded
from tests.rules.playthrough import KEPT, played

DEALT = next(path for path in KEPT if path.name.startswith("dealt"))


@pytest.fixture(scope="module")
def game():
    return played(DEALT.read_text(encoding="utf-8"))


@pytest.fixture
def journal(game, tmp_path):
    return recorded(game, tmp_path / "a.tablecam")


def test_positions_of_a_film_lead_to_the_last_position(game, journal):
    now = None
    for entry in film(journal)["entries"]:
        if entry["kind"] == "position":
            now = applied(now, entry["change"])
    left = {unit.id for unit in game.game.position(game.state).units}
    assert {unit["id"] for unit in now["units"]} == left


def test_a_film_knows_no_card_of_a_hand(game, journal):
    """A film names cards only once they have been played: the deal names none."""
    told = json.dumps(film(journal)["entries"][:6])
    hands = [card for side in game.done[3].state.sides for card in side.cards]
    assert len(hands) > 6
    assert not [card for card in hands if json.dumps(card) in told]
    assert '"entry"' not in told
    assert "has drawn" not in told


def test_all_that_was_public_is_told_in_order_with_its_time(game, journal):
    entries = film(journal)["entries"]
    assert [entry["n"] for entry in entries] == list(range(1, len(entries) + 1))
    assert all(a["t"] <= b["t"] for a, b in pairwise(entries))
    texts = [e["text"] for entry in entries if entry["kind"] == "deed" for e in entry["events"]]
    shown = [e.text for done in game.done for e in done.events if e.only_for is None]
    assert texts == shown


def test_how_the_game_stands_is_told_with_each_deed(journal):
    last = [entry for entry in film(journal)["entries"] if entry["kind"] == "deed"][-1]["after"]
    assert last["is_over"]
    standing = last["standing"]
    assert {side["name"] for side in standing["sides"]} == {"french", "british"}
    assert (standing["turn"], standing["turn_word"]) == (15, "round")
    assert {figure["label"] for side in standing["sides"] for figure in side["figures"]} == {
        "morale",
        "cards",
    }


def test_of_what_is_no_deed_nothing_is_told_but_what_it_takes_back(game, tmp_path):
    again = Play.from_json(game.game, game.to_json())
    again.undo(2)
    again.remark({"of": "secret"})
    told = film(recorded(again, tmp_path / "b.tablecam"))["entries"]
    undone, remarked = [entry for entry in told if entry["kind"] == "deed"][-2:]
    assert undone["undoes"] == [len(game.done) - 1, len(game.done) - 2]
    assert "secret" not in json.dumps(remarked)


def test_the_film_goes_on_after_an_entry(journal):
    whole = film(journal)["entries"]
    later = film(journal, after=20)
    assert later["entries"] == whole[20:]
    assert later["facts"] is None


def test_pictures_are_named_and_not_carried(tmp_path):
    file = GameFile.create(tmp_path / "c.tablecam", GameFacts("x", "", datetime.now(UTC)))
    file.append(new("notice", {"text": "bumped"}, 1, Picture("table", b"jpeg")))
    (told,) = film(file)["entries"]
    assert told["pictures"] == ["table"]
    assert told["text"] == "bumped"


def test_the_table_is_known_from_its_file_or_else_from_how_it_lay_first(journal, tmp_path):
    seen = film(journal)["facts"]
    assert seen["width_mm"] == 1800
    assert seen["sides"] == ["french", "british"]
    text = (files("tablecam.simulate") / "demo_table.toml").read_text(encoding="utf-8")
    file = GameFile.create(tmp_path / "d.tablecam", GameFacts("x", text, datetime.now(UTC)))
    said = film(file)["facts"]
    assert said["sides"] == ["prussian", "austrian"]
    assert said["units"][0]["extra"]


def test_an_empty_recording_is_a_film_of_nothing(tmp_path: Path):
    file = GameFile.create(tmp_path / "e.tablecam", GameFacts("x", "", datetime.now(UTC)))
    told = film(file)
    assert (told["facts"], told["entries"]) == (None, [])


def test_numbers_are_as_short_as_a_drawing_needs(journal):
    at = {"id": "A", "x": 1.23456789}
    journal.append(new("position", difference({"units": []}, {"units": [at]}), 0))
    changed = film(journal)["entries"][-1]["change"]["changed"]["units"]["changed"]
    assert changed == {"A": {"id": "A", "x": 1.235}}


def test_hands_rulings_disputes_and_pictures_of_an_evening_are_told(tmp_path):
    file = GameFile.create(tmp_path / "evening.tablecam", FACTS, evening())
    by_kind = {entry["kind"]: entry for entry in film(file)["entries"]}
    assert set(by_kind) == set(KINDS)
    assert len(by_kind["move"]["path"][0]) == 4
    assert by_kind["ruling"]["answer"]["answer"] in ("yes", "no", "too_close")
    assert by_kind["dispute"]["dispute"]["question"]["text"]
    assert "position" not in by_kind["dispute"]
    assert by_kind["picture"]["pictures"]


@pytest.mark.parametrize(
    ("kind", "document"), [("notice", {}), ("deed", {"after": 3}), ("move", {"unit": "F1"})]
)
def test_an_entry_of_another_shape_is_named(tmp_path, kind, document):
    file = GameFile.create(tmp_path / "a.tablecam", FACTS, [new(kind, document, 1)])
    with pytest.raises(BadInput, match=f"entry 1 is not a valid {kind}"):
        film(file)


def test_an_entry_that_is_nested_without_end_is_named(tmp_path):
    file = GameFile.create(tmp_path / "a.tablecam", FACTS, [new("notice", {"text": "tea"}, 1)])
    with sqlite3.connect(file.path) as plain:
        plain.execute("UPDATE entry SET document = ?", ('{"text":' + 100_000 * "[",))
    plain.close()
    with pytest.raises(BadInput, match="entry 1 is damaged"):
        film(file)


def test_a_map_is_drawn_from_the_game_as_its_file_lies_elsewhere(tmp_path) -> None:
    table = files("tablecam.rules.maida_1806").joinpath("demo_table.toml").read_text("utf-8")
    facts = replace(FACTS, game="maida-1806", table_file=table)
    play = {"position": None, "options": house_options("maida-1806"), "after": {}}
    file = GameFile.create(tmp_path / "a.tablecam", facts, [new("play", play, 1)])
    drawn = film_facts(file)["map"]
    assert {"thicket", "marsh"} <= {ground["kind"] for ground in drawn["terrain"]}


def test_a_film_lists_the_stacks_of_a_game_on_hexes_the_top_counter_first() -> None:
    units = {"A": {"hexes": "0505 0605", "stack": 1}, "B": {"hexes": "0505"}, "C": {"hex": "0606"}}
    leaders = [{"id": "L", "hex": "0606"}, {"id": "M", "hex": None}]
    assert stacks_of(units, {"leaders": leaders}) == {
        "0505": ["unit:B", "unit:A"],
        "0606": ["unit:C", "commander:L"],
    }
