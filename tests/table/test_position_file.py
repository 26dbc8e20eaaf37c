import json
from pathlib import Path

import pytest
from hypothesis import given, settings

from tablecam.errors import BadInput
from tablecam.rules.games import known_games
from tablecam.table.model import length_units
from tablecam.table.position_file import (
    position_from_json,
    position_to_json,
    read_position_file,
)
from tablecam.testing import position, unit
from tests.strategies import positions

EXAMPLE = {
    "format": "tablecam.position",
    "version": 1,
    "game": "maurice-lite",
    "table": {"width_mm": 1800, "depth_mm": 1200, "base_width_mm": 40},
    "terrain": [
        {"id": "wood", "kind": "woods", "outline_mm": [[400, 300], [520, 310], [500, 420]]}
    ],
    "units": [
        {
            "id": "F1",
            "side": "french",
            "arm": "infantry",
            "formation": "line",
            "state": {"disruption": 1, "smoke": False},
            "bases": [
                {
                    "tag": 10,
                    "x_mm": 500.0,
                    "y_mm": 400.0,
                    "heading_deg": 90.0,
                    "width_mm": 40,
                    "depth_mm": 40,
                    "sigma_mm": 0.2,
                    "sigma_deg": 0.3,
                    "seen": "now",
                }
            ],
        }
    ],
    "commanders": [{"id": "french-cinc", "side": "french", "x_mm": 300, "y_mm": 200}],
}


def example(**changes: object) -> dict:
    return {**json.loads(json.dumps(EXAMPLE)), **changes}


def refusal(document: object) -> str:
    with pytest.raises(BadInput) as caught:
        position_from_json(document, games=known_games())
    return str(caught.value)


@given(positions())
@settings(max_examples=50)
def test_a_position_survives_its_document(given_position) -> None:
    text = json.dumps(position_to_json(given_position))
    assert position_from_json(json.loads(text), games=[given_position.game]) == given_position


def test_the_example_of_the_interfaces_reads_and_comes_back() -> None:
    read = position_from_json(EXAMPLE, games=known_games())
    assert read.units[0].state["disruption"] == 1
    assert read.units[0].state["smoke"] is False
    again = position_to_json(read)
    again["commanders"][0].pop("seen")
    assert again == EXAMPLE


def test_what_may_be_left_out_may_be_left_out() -> None:
    document = example()
    del document["units"][0]["formation"], document["units"][0]["state"]
    for key in ("tag", "sigma_mm", "sigma_deg", "seen"):
        del document["units"][0]["bases"][0][key]
    read = position_from_json(document, games=known_games())
    base = read.units[0].bases[0]
    assert (base.tag, base.sigma_mm, base.sigma_deg, base.seen) == (None, 0.0, 0.0, "now")
    assert read.units[0].formation is None


def test_a_base_without_a_tag_is_named_by_its_unit_and_place() -> None:
    read = position_from_json(position_to_json(position(unit("F1"))), games=known_games())
    assert [read.units[0].base_name(index) for index in range(4)] == [
        "F1/1",
        "F1/2",
        "F1/3",
        "F1/4",
    ]


def test_where_a_tag_lies_on_its_base_is_read() -> None:
    position = position_from_json(
        _with_base(tag_right_mm=3, tag_forward_mm=-11), games=known_games()
    )
    base = position.units[0].bases[0]
    assert (base.tag_right_mm, base.tag_forward_mm) == (3, -11)


def test_the_name_of_a_calibration_is_kept() -> None:
    read = position_from_json(example(calibration="overhead, 3 May"), games=known_games())
    assert read.calibration == "overhead, 3 May"
    assert position_to_json(read)["calibration"] == "overhead, 3 May"


def test_the_tolerance_that_players_agreed_on_is_read() -> None:
    document = example()
    document["table"]["tolerance_mm"] = 2
    assert position_from_json(document, games=known_games()).table.tolerance_mm == 2.0


def test_players_may_agree_on_an_inch_of_their_own():
    document = position_to_json(position(unit("F1", "line", 900, 400, 90)))
    assert "inch_mm" not in document["table"]
    document["table"]["inch_mm"] = 20.0
    table = position_from_json(document, games=known_games()).table
    assert [unit.written(120.0) for unit in length_units(table)][1] == "6.0 in"
    assert position_to_json(position_from_json(document, games=known_games())) == document
    document["table"]["inch_mm"] = 0.5
    with pytest.raises(BadInput, match=r"table\.inch_mm: expected a number of 1 or more, got 0\.5"):
        position_from_json(document, games=known_games())


@pytest.mark.parametrize("name", ["uhd-b", "hd-b"])
@pytest.mark.parametrize("scene", [1, 2])
def test_the_truth_of_the_footage_reads(shared: Path, name: str, scene: int) -> None:
    path = shared / "footage" / name / f"truth-{scene}.json"
    read = read_position_file(path, known_games())
    assert sum(len(each.bases) for each in read.units) > 90
    assert position_from_json(position_to_json(read), games=known_games()) == read


def test_the_truth_of_the_clip_reads(shared: Path) -> None:
    lines = (shared / "footage" / "clip-b" / "truth.jsonl").read_text().splitlines()
    for line in lines[::15]:
        assert position_from_json(json.loads(line)["position"], games=known_games()).units


def test_the_positions_of_all_cases_read(shared: Path) -> None:
    paths = sorted((shared / "cases" / "maurice-lite").glob("*.json"))
    assert paths
    for path in paths:
        document = json.loads(path.read_text())["position"]
        assert position_from_json(document, path.name, games=known_games()).units


def _with_base(**changes: object) -> dict:
    document = example()
    document["units"][0]["bases"][0] |= changes
    return document


def _with_unit(**changes: object) -> dict:
    document = example()
    document["units"][0] |= changes
    return document


REFUSED = {
    "not an object": ([], "position: expected an object with keys, got []"),
    "version": (example(version=2), "position: version: expected 1, got 2"),
    "version as true": (example(version=True), "position: version: expected 1, got true"),
    "game": (example(game="chess"), 'position: game: unknown game "chess"; there are huzzah-ge'),
    "unknown key": (example(unit=[]), "position: unit: unknown key; did you mean units?"),
    "mistyped formation": (
        _with_unit(formaton="line"),
        "position: units[1].formaton: unknown key; did you mean formation?",
    ),
    "tag twice": (
        _with_unit(bases=[EXAMPLE["units"][0]["bases"][0]] * 2),  # type: ignore[index]
        "position: units[1].bases[2].tag: tag 10 is used twice: first by units[1].bases[1].tag",
    ),
    "seen": (
        _with_base(seen="maybe"),
        'position: units[1].bases[1].seen: expected now, held or hand, got "maybe"',
    ),
    "sigma": (
        _with_base(sigma_mm=-1),
        "position: units[1].bases[1].sigma_mm: expected a number of 0 or more, got -1",
    ),
    "nan": (
        _with_base(x_mm=float("nan")),
        "position: units[1].bases[1].x_mm: expected a finite number, got NaN",
    ),
    "far off the table": (
        _with_base(y_mm=1e300),
        "position: units[1].bases[1].y_mm: expected a number of 100000 or less, got 1e+300",
    ),
    "far off the other way": (
        _with_base(x_mm=-1e300),
        "position: units[1].bases[1].x_mm: expected a number of -100000 or more, got -1e+300",
    ),
    "an endless base": (
        _with_base(width_mm=1e200),
        "position: units[1].bases[1].width_mm: expected a number of 100000 or less, got 1e+200",
    ),
    "a base that nobody can cut": (
        _with_base(depth_mm=1e-300),
        "position: units[1].bases[1].depth_mm: expected a number of 1 or more, got 1e-300",
    ),
    "a base of nothing": (
        _with_base(depth_mm=0),
        "position: units[1].bases[1].depth_mm: expected a number of 1 or more, got 0",
    ),
    "turned without an end": (
        _with_base(heading_deg=-1e308),
        "position: units[1].bases[1].heading_deg: expected a number of -36000 or more, got -1e+308",
    ),
    "a tag beside its base": (
        _with_base(tag_right_mm=41),
        "position: units[1].bases[1].tag_right_mm: expected a tag on a base of 40 x 40 mm, got 41",
    ),
    "a tag far behind": (
        _with_base(tag_forward_mm=-90),
        "position: units[1].bases[1].tag_forward_mm: expected a tag on a base of 40 x 40 mm, got -",
    ),
    "a tag nowhere": (
        _with_base(tag_right_mm=float("nan")),
        "position: units[1].bases[1].tag_right_mm: expected a finite number, got NaN",
    ),
    "unknown key of a base": (
        _with_base(heading=90),
        "position: units[1].bases[1].heading: unknown key; did you mean heading_deg?",
    ),
    "a name of two lines": (
        _with_unit(id="F1\nF2"),
        'position: units[1].id: expected a text of one line, got "F1\\nF2"',
    ),
    "half a letter": (
        _with_unit(side="\ud83d"),
        "position: units[1].side: expected text, got ",
    ),
    "an endless name": (
        _with_unit(id="F" * 5000),
        "position: units[1].id: expected a text of 100 characters or less, got ",
    ),
    "unit twice": (
        example(units=EXAMPLE["units"] * 2),  # type: ignore[operator]
        'position: units[2].id: the id "F1" is used twice: first by units[1].id',
    ),
}


@pytest.mark.parametrize(("document", "line"), REFUSED.values(), ids=REFUSED.keys())
def test_a_mistake_is_refused_in_one_line_that_names_the_key(document, line) -> None:
    assert refusal(document).startswith(line)


def test_a_mistake_in_a_file_is_named_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "position.json"
    path.write_text(json.dumps(_with_base(seen="maybe"), indent=2))
    with pytest.raises(
        BadInput, match=r"position\.json:\d+: units\[1\]\.bases\[1\]\.seen"
    ) as error:
        read_position_file(path, known_games())
    line = error.value.line
    assert line is not None
    assert '"seen"' in path.read_text().splitlines()[line - 1]


@pytest.mark.parametrize("text", ["", "{", "[1]", '"x"', "nul", "{" * 9 + '"a":' * 9])
def test_a_file_that_is_no_position_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "position.json"
    path.write_text(text)
    with pytest.raises(BadInput, match=r"position\.json"):
        read_position_file(path, known_games())
