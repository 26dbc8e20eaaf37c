"""Charts, hex maps and scenarios: files that the owners of a rulebook fill in."""

import json
import tomllib
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from pydantic import ConfigDict

from tablecam.commands.engine import Lines
from tablecam.documents import document_from
from tablecam.errors import BadInput
from tablecam.referee.referee import Referee
from tablecam.referee.seat_view import seat_view
from tablecam.referee.seats import SHARED
from tablecam.rules.game_files import GameFile, file_faults, options_with_files
from tablecam.rules.games import game_of
from tablecam.table.model import HexMap, Position, Unit
from tablecam.table.position_file import position_to_json
from tablecam.testing import TABLE, base
from tests.rules.charted import CHARTED, CHARTS
from tests.rules.toys import toys_beside_the_rules


@pytest.fixture(autouse=True)
def charted():
    with toys_beside_the_rules():
        yield game_of(CHARTED)


POSITION = Position(
    CHARTED,
    TABLE,
    (
        Unit("R1", "red", "infantry", (base(300, 300, tag=1),)),
        Unit("B1", "blue", "infantry", (base(300, 500, 270, tag=2),)),
    ),
)


def faults(text: str, game) -> list[str]:
    document = document_from(tomllib.loads(text), "charts")
    return [str(fault) for fault in file_faults(document, CHARTED, game.file_models)]


def test_a_file_is_checked_by_the_games_own_model_and_rules(charted) -> None:
    assert faults(CHARTS, charted) == []
    assert faults(CHARTS.replace("from = 6", "from = 7"), charted) == [
        "charts: fire.rows: expected one row for a roll of 6, got 0"
    ]
    assert faults(CHARTS.replace('"house"', '"mine"'), charted) == [
        'charts: source: expected owner or house, got "mine"'
    ]


def test_a_game_begins_with_the_contents_of_its_files(charted, tmp_path: Path) -> None:
    path = tmp_path / "my.charts.toml"
    path.write_text(CHARTS, encoding="utf-8")
    referee = Referee(charted, files={"charts": path})
    referee.begin(POSITION, {"first": "red"}, SHARED)
    path.unlink()
    # The recording stands alone, and says whose numbers they are.
    with referee.locked() as play:
        assert play.beginning()["options"]["charts"] == tomllib.loads(CHARTS)
        assert play.house == ("charts",)
    assert seat_view(referee, SHARED)["house"] == ["charts"]


def test_a_file_that_is_missing_or_wrong_keeps_a_game_from_beginning(charted, tmp_path) -> None:
    path = tmp_path / "my.charts.toml"
    referee = Referee(charted, files={"charts": path})
    with pytest.raises(BadInput, match=r"my\.charts\.toml: there is no such file"):
        referee.begin(POSITION, {}, SHARED)
    path.write_text(CHARTS.replace("range_in = 12\n", ""), encoding="utf-8")
    with pytest.raises(BadInput, match=r"my\.charts\.toml:6: fire\.range_in: expected this key"):
        referee.begin(POSITION, {}, SHARED)


def test_players_at_the_page_cannot_read_files(charted, tmp_path: Path) -> None:
    path = tmp_path / "secret.toml"
    path.write_text(CHARTS, encoding="utf-8")
    with pytest.raises(BadInput, match="charts: expected an object with keys"):
        Referee(charted).begin(POSITION, {"charts": str(path)}, SHARED)


def test_the_engine_takes_files_or_their_contents(charted, tmp_path: Path) -> None:
    path = tmp_path / "my.charts.toml"
    path.write_text(CHARTS, encoding="utf-8")
    for charts in (str(path), tomllib.loads(CHARTS)):
        lines = Lines(charted, chance=Random(1))
        load = {"do": "load", "position": position_to_json(POSITION), "options": {"charts": charts}}
        answer = lines.answer(json.dumps(load))
        assert (answer["ok"], answer["house"]) == (True, ["charts"])


HEXES = HexMap("flat", 21.0, (58.0, 402.0), 16, 19, "CCRR", "even")


class MapFile(GameFile):
    """Terrain by the hexes that it covers."""

    model_config = ConfigDict(extra="allow")


@pytest.mark.parametrize(
    ("numbering", "hex_number", "expected"),
    [
        ("CCRR", "1619", None),
        ("CCRR", "1719", "(CCRR, columns 01 to 16), got 1719"),
        ("CCRR", "0520", "(CCRR, rows 01 to 19), got 0520"),
        ("RRCC", "1705", None),
        ("RRCC", "0517", "(RRCC, columns 01 to 16), got 0517"),
    ],
)
def test_a_map_whose_numbers_do_not_fit_is_refused(numbering, hex_number, expected) -> None:
    contents = {"format": "tablecam.hexmap", "version": 1, "game": "hexes", "wood": [hex_number]}
    hex_map = replace(HEXES, numbering=numbering)

    def options():
        return options_with_files({"map": contents}, "hexes", {"map": MapFile}, {}, hex_map)

    if expected is None:
        assert options()["map"] == contents
        return
    with pytest.raises(BadInput) as refusal:
        options()
    assert str(refusal.value) == f"map: wood[1]: expected a hex of the map {expected}"
