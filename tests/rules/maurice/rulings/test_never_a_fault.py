"""No ruling ends in an internal error, and one that did would not affect the others."""

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest
import shapely
from hypothesis import given, settings
from hypothesis import strategies as st

from tablecam.cli import main
from tablecam.drawing.table_svg import table_svg
from tablecam.rules.maurice.charge.charge import charges
from tablecam.rules.maurice.combat import combat
from tablecam.rules.maurice.field.field import field_of
from tablecam.rules.maurice.field.worlds import drawn_fields
from tablecam.rules.maurice.game import GAME
from tablecam.rules.maurice.game.by_hand import suggest_march
from tablecam.rules.maurice.game.march import Marching
from tablecam.rules.maurice.movement.judge import reach
from tablecam.rules.maurice.rulings import facts
from tablecam.rules.maurice.rulings.facts import Rulings
from tablecam.rules.maurice.rulings.rulings import rulings_document, rulings_drawing
from tablecam.rules.maurice.sheets import attacks
from tablecam.rules.reports import NOT_KNOWN
from tablecam.table.model import Commander, Position, TableSize, Terrain
from tablecam.testing import shifted, unit
from tests.rules.maurice.game.states import state_at
from tests.rules.maurice.sheets.sheets_asked import FACING, PAIR_KEYS, UNIT_KEYS, lines_of, sheet_of
from tests.rules.maurice.tables import SOUTH, box, column, line, massed, position


def is_known(said: object) -> bool:
    return NOT_KNOWN not in json.dumps(said) and "not_known" not in json.dumps(said)


def rule_on_all(where: Position) -> None:
    """Makes every ruling, and every sheet on two facing units; nothing may be unknown."""
    found = Rulings(field_of(where), "french")
    assert is_known(rulings_document(found))
    ours, theirs = (found.field.of_side(side) for side in ("french", "british"))
    for each in ours:
        assert is_known(sheet_of(found, each.id).to_json())
        for enemy in theirs:
            assert is_known(sheet_of(found, each.id, enemy.id).to_json())


@pytest.mark.parametrize("by_mm", [-0.1, 0.0, 0.1])
@pytest.mark.parametrize("sigma_mm", [0.02, 0.5])
def test_an_enemy_just_out_of_reach_upon_a_wall_is_ruled_on(by_mm, sigma_mm):
    error = {"sigma_mm": sigma_mm, "sigma_deg": 0.1}
    rule_on_all(
        position(
            line("F1", "french", 600, 400, **error),
            line("B1", "british", 605, 600 + by_mm, SOUTH, **error),
            terrain=[box("wall", 520, 585, 690, 594)],
        )
    )


def test_the_enemy_behind_the_churchyard_wall_is_ruled_on(shared: Path, capsys):
    path = str(shared / "defects" / "rulings-crash-at-wall.json")
    assert main(["rulings", path, "--active", "prussian", "--pair", "P3", "A3"]) == 0
    assert NOT_KNOWN not in capsys.readouterr().out


def outlines(x_mm: float, y_mm: float, kind: str, bend_mm: float, deep_mm: float) -> Terrain:
    """A bent strip of terrain, or a wood."""
    if kind == "woods":
        corners = [(0, 0), (deep_mm * 8, bend_mm), (deep_mm * 9, 70), (bend_mm, 80)]
    else:
        near = [(0.0, 0.0), (90.0, bend_mm), (170.0, 0.0)]
        corners = near + [(x, y + deep_mm) for x, y in reversed(near)]
    return Terrain(kind, kind, tuple((x_mm + x, y_mm + y) for x, y in corners))


terrains = st.builds(
    outlines,
    st.floats(440, 640),
    st.floats(420, 600),
    st.sampled_from(["wall", "trench", "stream", "woods", "crest", "impassable", "sunken_road"]),
    st.floats(-20, 20),
    st.floats(3, 12),
)


@given(
    st.sampled_from([(line, 20.0), (massed, 40.0), (column, 80.0)]),
    st.floats(-30, 30),
    st.sampled_from([0.5, 5.0, 40.0, 120.0, 160.0, 320.0]),
    st.floats(-0.3, 0.3),
    st.sampled_from([0.0, 0.2]),
    st.sampled_from([0.0, 0.02, 0.5, 1.5]),
    st.lists(terrains, min_size=1, max_size=3, unique_by=lambda piece: piece.id),
)
@settings(max_examples=25, derandomize=True)
def test_walls_streams_and_woods_leave_nothing_unknown(
    laid, aside_mm, gap_mm, by_mm, askew_deg, sigma_mm, terrain
):
    (made, ahead_mm), y_mm = laid, 420.0 + gap_mm + by_mm
    error = {"sigma_mm": sigma_mm, "sigma_deg": sigma_mm / 5}
    rule_on_all(
        position(
            made("F1", "french", 550, 400 - ahead_mm, **error),
            line("B1", "british", 550 + aside_mm, y_mm, SOUTH + askew_deg, **error),
            terrain=terrain,
        )
    )


@given(
    st.sampled_from([line, massed, column]),
    st.lists(st.floats(-1.4, 1.4), min_size=8, max_size=8),
    st.sampled_from([0.02, 0.5, 1.5]),
)
@settings(max_examples=25, derandomize=True)
def test_every_unit_drawn_anew_is_a_valid_area(laid, by_mm, sigma_mm):
    """M-8.3: charges use outlines that overlays accept, whatever the draws of the bases."""
    seen = laid("F1", "french", 600, 400, sigma_mm=sigma_mm, sigma_deg=0.3)
    moved = tuple(
        replace(base, x_mm=base.x_mm + x_mm, y_mm=base.y_mm + y_mm)
        for base, (x_mm, y_mm) in zip(seen.bases, pairwise(by_mm), strict=False)
    )
    field = field_of(position(replace(seen, bases=moved, formation=None)))
    drawn = [each.units[0].outline for each in drawn_fields(field)]
    assert shapely.is_valid(drawn).all()


def test_a_gun_beside_a_wall_that_begins_at_the_tables_edge_has_a_reach():
    """M-6.19: its corridors, cut at the edge, leave an area and a line along the edge."""
    wall = box("wall", 0, 267.6785728766111, 290, 274.201265877)
    battery = unit("A1", "artillery", 90, 290.20126590556754, 270.0, size_mm=(30, 30))
    where = replace(position(battery, terrain=[wall]), table=TableSize(700, 500, 30))
    field = field_of(where)
    assert shapely.area(reach(field, field.units[0])) > 0


@pytest.fixture
def broken(monkeypatch):
    """The rulings on facing units, with an internal error in F1's charges."""

    def fails(field, only=None):
        if only is None or "F1" in only:
            raise shapely.errors.GEOSException("side location conflict")
        return charges(field, only)

    monkeypatch.setattr(facts, "charges", fails)
    return Rulings(field_of(FACING), "french")


def test_a_charge_beyond_us_is_not_known_and_the_rest_of_the_sheet_stands(broken):
    """M-8.3"""
    whole = Rulings(replace(broken.field), "french")
    sheet = sheet_of(broken, "F1")
    assert [each.key for each in sheet.sections] == UNIT_KEYS
    (said,) = lines_of(sheet, "charge")
    assert said.text == "The answer is unknown, as tablecam could not work it out."
    for key in UNIT_KEYS:
        if key != "charge":
            assert lines_of(sheet, key) == lines_of(sheet_of(whole, "F1"), key)
    assert is_known(sheet_of(broken, "B2").to_json())
    pair = sheet_of(broken, "F1", "B1")
    assert [each.key for each in pair.sections] == PAIR_KEYS
    assert not is_known(lines_of(pair, "charge")[0].to_json())


def test_a_document_names_what_is_not_known(broken):
    """M-8.3"""
    document = rulings_document(broken)
    assert document["not_known"] == ["charge/F1"]
    assert document["units"]["F1"]["charge"] is None
    assert document["units"]["F2"]["charge"] is not None
    assert document["units"]["F1"]["near_enemy"]["nearest"] == "B1"


def test_what_fails_only_when_it_is_asked_for_leaves_the_rest_too(monkeypatch):
    """M-8.14: cover in combat is computed only for a sheet or a document."""

    def fails(*_):
        raise shapely.errors.GEOSException("mixed-dimension")

    monkeypatch.setattr(combat, "cover_answer", fails)
    monkeypatch.setattr(attacks, "cover_answer", fails)
    found = Rulings(field_of(FACING), "french")
    sheet = sheet_of(found, "F1", "B1")
    assert [each.key for each in sheet.sections] == PAIR_KEYS
    assert rulings_document(found)["units"]["F1"]["charge"]["targets"]


def test_a_close_up_is_drawn_though_a_string_lies_off_it():
    """M-4.12: it leads to another unit of the force; shapely 2.2 raises for an empty point."""
    force = (line(f"F{place}", "french", 100 + 200 * place, 400) for place in range(6))
    leader = Commander("cinc", "french", 1400, 100)
    where = position(*force, line("B1", "british", 100, 700, SOUTH), commanders=[leader])
    found = Rulings(field_of(where), "french", about=("F0",))
    assert ElementTree.fromstring(table_svg(where, rulings_drawing(found))).tag.endswith("svg")


def test_contacts_beyond_us_are_null_and_not_nobody(monkeypatch):
    """M-1.10, M-1.12"""

    def fails(field):
        raise shapely.errors.GEOSException("side location conflict")

    monkeypatch.setattr(facts, "contacts_of_field", fails)
    document = rulings_document(Rulings(field_of(FACING), "french"))
    assert "contact" in document["not_known"]
    assert document["units"]["F1"]["in_contact"] is None
    assert document["units"]["F1"]["flanked_by"] is None
    assert document["units"]["F1"]["near_enemy"]["nearest"] == "B1"


def test_a_move_beyond_us_is_not_known_and_the_other_moves_are_judged(monkeypatch):
    """M-6.17: an error about one unit's move does not affect the others."""

    def fails(state, seen):
        if seen.id == "F1":
            raise shapely.errors.GEOSException("side location conflict")
        return suggest_march(state, seen)

    monkeypatch.setattr("tablecam.rules.maurice.game.by_hand.suggest_march", fails)
    units = line("F1", "french", 500, 500), line("F2", "french", 900, 500)
    state = state_at(position(*units), Marching(force=("F1", "F2")))
    by_hand = GAME.detect_moves(state, position(*(shifted(each, 0.0, 80.0) for each in units)))
    said = {each.unit: each for each in by_hand}
    assert said["F1"].text.endswith(NOT_KNOWN)
    assert said["F1"].action is None
    assert said["F2"].answer.answer == "yes"
