"""`tablecam rulings` from the outside: tables, a document, a drawing, one line for bad input."""

import json
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tablecam.cli import main
from tablecam.table.model import Commander, Position, Terrain
from tablecam.table.position_file import position_to_json
from tests.rules.maurice.tables import column, gun, line, massed, position

SOUTH = 270.0
SVG = "{http://www.w3.org/2000/svg}"


def battle() -> Position:
    wood = Terrain("wood", "woods", ((700, 470), (860, 480), (850, 620), (720, 600)))
    return position(
        line("F1", "french", 500, 400, disruption=2),
        line("F2", "french", 700, 400),
        massed("F4", "french", 480, 600, 0.0),
        column("F6", "french", 600, 200),
        gun("A1", "french", 860, 400),
        line("B1", "british", 600, 600, SOUTH),
        line("B2", "british", 720, 521, SOUTH),
        terrain=[wood],
        commanders=[
            Commander("french-cinc", "french", 500, 60),
            Commander("british-cinc", "british", 500, 1140),
        ],
    )


@pytest.fixture
def written(tmp_path):
    def write(document: object) -> str:
        path = tmp_path / "position.json"
        path.write_text(json.dumps(document), encoding="utf-8")
        return str(path)

    return write


@pytest.fixture
def ruled(written, capsys):
    path = written(position_to_json(battle()))

    def run(*options: str) -> str:
        assert main(["rulings", path, "--active", "french", *options]) == 0
        return capsys.readouterr().out

    return run


def test_the_document_has_every_key_of_every_chapter(ruled) -> None:
    document = json.loads(ruled("--json"))
    assert (document["game"], document["active"]) == ("maurice-lite", "french")
    unit = document["units"]["F1"]
    assert {
        "formation",
        "near_enemy",
        "in_contact",
        "flanked_by",
        "bad_terrain",
        "in_water",
        "fire",
        "charge",
        "engaged_with",
    } <= unit.keys()
    assert {"answer", "nearest", "distance_bw", "margin_mm", "rule"} <= unit["near_enemy"].keys()
    assert unit["fire"]["F1/1"].keys() == {"options", "blocked"}
    assert unit["charge"].keys() == {"eligible", "why_not", "targets", "lanes"}
    assert document["units"]["F4"]["fire"] == {}
    assert document["forces"]["french"] == [["F1", "F2"], ["F4"], ["F6"], ["A1"]]
    assert len(document["pairs"]) == 2 * 5 * 2
    assert document["units"]["B2"]["bad_terrain"] is True


def test_horse_on_the_flank_flanks(ruled) -> None:
    document = json.loads(ruled("--json"))
    assert document["units"]["B1"]["in_contact"] == ["F4"]
    assert document["units"]["B1"]["flanked_by"] == ["F4"]  # half of it lies behind B1's front line
    pair = next(pair for pair in document["pairs"] if (pair["a"], pair["b"]) == ("B1", "F4"))
    assert pair["b_to_flank_of_a"] is True


def test_the_string_of_each_active_force_is_told(ruled) -> None:
    spans = json.loads(ruled("--json"))["spans"]
    assert [span["force"] for span in spans] == [["F1", "F2"], ["F4"], ["F6"], ["A1"]]
    assert all(span["commander"] == "french-cinc" and span["length_bw"] > 0 for span in spans)


def test_tables_tell_rules_reasons_and_readings(ruled) -> None:
    said = ruled()
    for words in ("M-1.9", "Fire", "Charge (M-8.3)", "Forces", "Pairs", "none: column", "British"):
        assert words in said
    assert "M-1.15, interpretation" not in said  # no force here is a chain of three
    assert "M-4.12, interpretation: the distance is from the edge of the commander's marker" in said
    assert max(map(len, said.splitlines())) <= 120


def test_one_unit_alone_is_told_of(ruled) -> None:
    document = json.loads(ruled("--json", "--unit", "F4"))
    assert list(document["units"]) == ["F4"]
    assert {pair["a"] for pair in document["pairs"] if pair["b"] != "F4"} == {"F4"}
    assert document["forces"] == {"french": [["F4"]], "british": []}


def test_of_two_units_the_reasons_are_given(ruled) -> None:
    said = ruled("--pair", "B1", "F4")
    words = " ".join(said.split())
    assert "yes B1 touches F4" in words or "yes F4 touches B1" in words
    assert "bases lie wholly behind B1's front line" in words
    assert words.count("[M-1.12]") == 2
    assert "Engaged yes F4 is engaged with B1" in words
    assert max(map(len, said.splitlines())) <= 120
    answers = json.loads(ruled("--json", "--pair", "B1", "F4"))["answers"]
    assert [answer["rule"] for answer in answers] == ["M-1.10", "M-1.12", "M-1.12"]
    friends = json.loads(ruled("--json", "--pair", "F1", "F2"))["answers"]
    assert [answer["rule"] for answer in friends] == ["M-1.10", "M-1.15"]


def test_one_rule_alone_is_answered(ruled) -> None:
    document = json.loads(ruled("--json", "--rule", "M-1.9"))
    assert document["units"]["F1"].keys() == {"side", "near_enemy"}
    assert "pairs" not in document
    assert "Fire" not in ruled("--rule", "M-1.9")
    assert "Fire" in ruled("--rule", "M-7")


def test_the_drawing_shows_table_units_and_proofs(ruled, tmp_path) -> None:
    path = tmp_path / "rulings.svg"
    ruled("--draw", str(path))
    root = ElementTree.parse(path).getroot()
    assert root.tag == f"{SVG}svg"
    classes = [element.get("class", "") for element in root.iter()]
    assert sum(name == "base" for name in classes) == 6 * 4 + 1
    for role in (
        "terrain woods",
        "evidence fire-zone fire",
        "evidence lane charge",
        "evidence contact in_contact",
        "evidence string spans",
        "leader",
    ):
        assert role in classes
    names = {element.text for element in root.iter(f"{SVG}text")}
    assert {"F1 ••", "B2", "French, active"} <= names


def test_a_close_up_of_two_shows_the_flank(ruled, tmp_path) -> None:
    path = tmp_path / "pair.svg"
    ruled("--pair", "B1", "F4", "--rule", "M-1.12", "--draw", str(path))
    classes = {element.get("class", "") for element in ElementTree.parse(path).getroot().iter()}
    assert {"evidence directly-in-front pairs", "evidence counts pairs"} <= classes
    assert "evidence fire-zone fire" not in classes


def test_a_close_up_of_one_unit_shows_its_ring_and_reach(ruled, tmp_path) -> None:
    path = tmp_path / "unit.svg"
    ruled("--unit", "F2", "--draw", str(path))
    root = ElementTree.parse(path).getroot()
    classes = {element.get("class", "") for element in root.iter()}
    assert {"evidence ring near_enemy", "evidence reach allowance_bw"} <= classes
    _, _, width_mm, _ = map(float, root.get("viewBox", "").split())
    assert width_mm < 1800  # not the whole table


def test_markup_in_names_stays_text(written, tmp_path) -> None:
    odd = replace(line("<b>&F1", "french", 500, 400), id="<b>&F1")
    path = written(position_to_json(position(odd, gun("[red]B1", "british", 500, 500))))
    drawing = tmp_path / "odd.svg"
    assert main(["rulings", path, "--active", "french", "--draw", str(drawing)]) == 0
    names = {element.text for element in ElementTree.parse(drawing).getroot().iter(f"{SVG}text")}
    assert {"<b>&F1", "[red]B1"} <= names


def test_names_like_markup_are_printed_as_they_are(written, capsys) -> None:
    both = position(line("F1", "french", 500, 400), gun("[red]B1", "british", 500, 500))
    assert main(["rulings", written(position_to_json(both)), "--active", "french"]) == 0
    assert "[red]B1" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--active", "prussian"], '--active: there is no side "prussian" on the table'),
        (["--active", "french", "--unit", "F9"], '--unit: there is no unit "F9" on the table'),
        (["--active", "french", "--pair", "F1", "X"], '--pair: there is no unit "X" on the table'),
        (["--active", "french", "--pair", "F1", "F1"], "--pair: expected two units, got F1 twice"),
        (["--active", "french", "--rule", "M-99.1"], "--rule: expected one of M-1.7"),
        ([], "Missing option '--active'"),
    ],
    ids=["side", "unit", "pair", "one twice", "rule", "no side"],
)
def test_a_wrong_option_is_refused_in_one_line(written, capsys, options, said) -> None:
    path = written(position_to_json(battle()))
    assert main(["rulings", path, *options]) == 2
    captured = capsys.readouterr()
    assert said in captured.err
    assert captured.err.count("\n") == 1
    assert captured.out == ""


def test_a_bad_position_is_refused_in_one_line(written, capsys) -> None:
    short = position_to_json(battle())
    short["units"][0]["bases"].pop()
    for document, said in (
        (position_to_json(battle()) | {"game": "syw-d6"}, "`tablecam rule syw-d6 --list` shows"),
        (short, "unit F1: expected 4 bases of infantry, got 3"),
        ([], "expected an object"),
        (position_to_json(battle()) | {"format": "other"}, "tablecam.position"),
    ):
        path = written(document)
        assert main(["rulings", path, "--active", "french", "--json"]) == 2
        captured = capsys.readouterr()
        assert said in captured.err
        assert path in captured.err
        assert (captured.err.count("\n"), captured.out) == (1, "")


def test_a_missing_position_is_refused_in_one_line(capsys, tmp_path) -> None:
    assert main(["rulings", str(tmp_path / "nothing.json"), "--active", "french"]) == 2
    assert "nothing.json" in capsys.readouterr().err


def test_a_drawing_is_never_written_over_the_position(written, capsys) -> None:
    path = written(position_to_json(battle()))
    assert main(["rulings", path, "--active", "french", "--draw", path]) == 2
    assert "expected a new file to write" in capsys.readouterr().err
    drawing = Path(path).with_name("own.svg")
    drawing.write_text("somebody's own")
    assert main(["rulings", path, "--active", "french", "--draw", str(drawing)]) == 2
    assert "--force overwrites it" in capsys.readouterr().err
    assert drawing.read_text() == "somebody's own"


def test_bases_that_overlap_by_a_hair_are_ruled_on_with_a_warning(written, capsys) -> None:
    close = position(gun("A1", "french", 500, 400), gun("A2", "british", 538, 400))
    path = written(position_to_json(close))
    assert main(["rulings", path, "--active", "french", "--json"]) == 0
    (warning,) = json.loads(capsys.readouterr().out)["warnings"]
    assert "overlap by 2.0 mm" in warning


@pytest.mark.parametrize("number", ["001", "012", "017", "025", "042", "051", "087", "105"])
def test_the_shared_cases_of_rulings_hold(shared: Path, capsys, tmp_path, number) -> None:
    (path,) = (shared / "cases" / "maurice-lite").glob(f"{number}-*.json")
    case = json.loads(path.read_text(encoding="utf-8"))
    laid = tmp_path / "position.json"
    laid.write_text(json.dumps(case["position"]), encoding="utf-8")
    assert main(["rulings", str(laid), "--active", case["active"], "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    for expected in case["expect"]:
        parts = expected["path"].split(".")
        if "equals" in expected and not any("[" in part or part == "*" for part in parts):
            value = document
            for part in parts:
                value = value[part]
            tolerance = expected.get("tol", 1e-6)
            is_number = isinstance(value, float)
            wanted = expected["equals"]
            assert value == (pytest.approx(wanted, abs=tolerance) if is_number else wanted)
