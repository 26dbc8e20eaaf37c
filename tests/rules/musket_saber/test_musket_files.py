"""The files that an owner of a folio fills in, by the house sample."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from tablecam.cli import main
from tablecam.documents import document_from
from tablecam.rules.discovery import folder_of, text_of
from tablecam.rules.game_files import file_faults
from tablecam.rules.games import described
from tablecam.rules.musket_saber.files import FILE_MODELS, Charts, Scenario
from tablecam.rules.musket_saber.tables import GAME, code_of
from tablecam.simulate.rendering.map_looks import map_json, table_ground
from tablecam.table.model import HexMap

MAP = HexMap("flat", 20.0, (30.0, 420.0), 14, 12, "CCRR", "even")


def house(kind: str) -> dict[str, Any]:
    return tomllib.loads(text_of(GAME, f"house.{kind}.toml") or "")


def faults(kind: str, data: dict[str, Any]) -> list[str]:
    document = document_from(data, kind)
    return [str(fault) for fault in file_faults(document, GAME, FILE_MODELS, MAP)]


@pytest.mark.parametrize("kind", FILE_MODELS)
def test_the_house_sample_says_so_and_has_no_faults(kind):
    assert (house(kind)["source"], faults(kind, house(kind))) == ("house", [])


def test_the_house_map_is_drawn_and_printed_by_its_own_keys_k_2_2a_k_4_5():
    ground = table_ground(MAP, GAME, Path(folder_of(GAME) or "") / "house.map.toml")
    assert (ground.terrain_of("0605"), ground.side_of("1205", "1305")) == ("woods", "river")
    drawn = map_json(ground, described(GAME).ground_words(house("charts")))
    words = {place["id"]: place["words"] for place in drawn["hexes"]}
    assert words["0605"] == "woods (infantry 2 MP, cavalry 3 MP, no artillery)"
    assert words["0908"] == "hill (2 MP), ridge towards 0907"
    assert words["1206"] == "clear (1 MP), river towards 1306 and 1307 (not to be crossed)"
    assert words["0704"] == "clear (1 MP), road (1 MP along it)"
    assert words["0405"].startswith("clear (1 MP), village, trail (1 MP along it), stream towards")


@pytest.mark.parametrize("kind", FILE_MODELS)
def test_an_empty_template_names_the_keys_that_an_owner_fills_in(kind, capsys):
    folder = folder_of(GAME)
    assert folder is not None
    path = Path(folder) / f"empty.{kind}.toml"
    assert main(["check", str(path)]) != 0
    lines = capsys.readouterr().out.splitlines()
    assert all(": expected " in line for line in lines[:-1])


def test_the_house_folio_has_eight_units_a_side_and_all_arms_k_2_3():
    scenario = document_from(house("scenario"), "scenario").parsed(Scenario)
    for side in scenario.sides:
        units = [unit for unit in scenario.unit if unit.side == side]
        assert len(units) == 8
        assert {unit.arm for unit in units} == {"infantry", "cavalry", "artillery"}
        assert all("house" in unit.side for unit in units)


def test_the_house_crt_shows_every_result_k_7_8():
    charts = document_from(house("charts"), "charts").parsed(Charts)
    codes = [code_of(entry) for row in charts.crt.rows for entry in row]
    words = {"NE", "Ex", *(side + effect for side in "AD" for effect in "rcxme")}
    assert {code.main for code in codes} | {code.second for code in codes} >= words
    assert {added for code in codes for added in code.added} == {"DF", "Leader", "Ammo"}


@pytest.mark.parametrize(
    ("differential", "column"),
    [(-9, 0), (-5, 0), (-4, 1), (0, 2), (1, 3), (9, 5), (10, 6), (30, 6)],
)
def test_a_differential_has_its_column_k_7_3(differential, column):
    charts = document_from(house("charts"), "charts").parsed(Charts)
    assert charts.crt.column_of(differential) == column


def test_faults_of_the_charts_name_the_entry_k_7_3():
    charts = house("charts")
    charts["crt"]["rows"][2][3] = "Dz"
    assert faults("charts", charts) == [
        "charts: crt.rows[3][4]: expected a result such as NE, Dr or Dm(Dr)+Leader, got Dz"
    ]
    charts = house("charts")
    charts["crt"]["columns"][2]["from"] = 0
    del charts["terrain"]["hill"]["mp"]
    assert faults("charts", charts) == [
        "charts: crt.columns[3]: expected from = -1, got 0",
        "charts: terrain.hill.mp: expected this key, but it is missing",
    ]
    charts["terrain"]["hill"] |= {"mp": {"infantry": 2}, "slope": 1}
    assert "slope" in faults("charts", charts)[0]


def test_faults_of_the_scenario_name_the_counter_k_2_4():
    scenario = house("scenario")
    del scenario["unit"][0]["front"]["mr"]
    scenario["unit"][1]["side"] = "house-blue"
    scenario["unit"][2]["id"] = scenario["unit"][3]["id"]
    del scenario["unit"][4]["hex"]
    assert [fault.split(": ", 2)[1] for fault in faults("scenario", scenario)] == [
        "unit[4].id", "unit[2].side", "unit[1].front.mr", "unit[5].hex",
    ]  # fmt: skip


def test_a_hex_off_the_map_is_named_k_g1():
    scenario = house("scenario")
    scenario["loc"]["house-red"] = ["9901"]
    assert "columns 01 to 14" in faults("scenario", scenario)[0]


def test_a_road_goes_from_hex_to_hex_k_4_6a():
    ground = house("map")
    ground["path"][0]["hexes"] = ["0702", "0704"]
    assert faults("map", ground) == [
        "map: path[1].hexes: expected hexes that touch, got 0702 and 0704"
    ]
