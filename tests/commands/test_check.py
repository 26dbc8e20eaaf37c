"""`tablecam check` reports every fault of tablecam's files."""

import json
import re
from pathlib import Path

import pytest

from tablecam.cli import main
from tablecam.record.camera_file import write_camera_file
from tablecam.simulate.demo import demo_roster, demo_text, embedded_demo, games_with_demo
from tablecam.table.position_file import position_to_json
from tests.record.test_camera_file import WHOLE
from tests.rules.charted import CHARTED, CHARTS
from tests.rules.toys import toys_beside_the_rules

DEMO = demo_text(None, "table") or ""


@pytest.fixture
def charted():
    with toys_beside_the_rules():
        yield


def checked(capsys, *paths: Path) -> tuple[int, list[str]]:
    code = main(["check", *map(str, paths)])
    text = capsys.readouterr().out
    return code, text.replace(f"{paths[0].parent}/", "").splitlines()


@pytest.fixture
def write(tmp_path: Path):
    def _write(name: str, text: str) -> Path:
        (tmp_path / name).write_text(text, encoding="utf-8")
        return tmp_path / name

    return _write


@pytest.fixture
def demo_table(write):
    """Writes the table file of a game's demo, with the files that it names."""

    def _write(game: str | None, leave_out: str = "") -> Path:
        for path in demo_roster(game).files.values():
            write(path.name, path.read_text(encoding="utf-8"))
        text = demo_text(game, "table") or ""
        if leave_out:
            text = re.sub(rf"^{leave_out} = .*\n", "", text, count=1, flags=re.M)
        return write("table.toml", text)

    return _write


@pytest.mark.parametrize("game", [*games_with_demo()])
def test_nothing_is_wrong_with_the_demos(demo_table, capsys, game) -> None:
    path = demo_table(game)
    assert checked(capsys, path) == (0, ["table.toml: nothing wrong"])


def test_all_faults_of_a_table_file_are_listed_in_its_order(write, capsys) -> None:
    text = DEMO.replace("base_width_mm = 30\n", "").replace(
        'base_type = "gun"', 'base_type = "gn"', 1
    )
    code, lines = checked(capsys, write("table.toml", text.replace("tag = 87", "tag = 10")))
    assert code == 2
    assert [line.split(": ", 2)[1] for line in lines[:-1]] == [
        "table.base_width_mm",
        "unit[10].base_type",
        "commander[2].tag",
    ]
    assert lines[-1] == "table.toml: 3 faults"


@pytest.mark.parametrize(
    ("game", "key", "fault"),
    [
        ("syw-d6", "experience", "unit[1].experience: expected this key, but it is missing"),
        ("huzzah-ge", "expected", "unit[1].expected: expected a class such as regulars_b"),
        ("huzzah-ge", "quality", "commander[1].quality: expected one of excellent, skilful,"),
    ],
)
def test_keys_that_a_game_needs_are_asked_for(demo_table, capsys, game, key, fault) -> None:
    code, lines = checked(capsys, demo_table(game, leave_out=key))
    assert (code, lines[-1]) == (2, "table.toml: 1 fault")
    assert fault in lines[0]


def test_a_key_that_all_units_lack_is_one_fault(demo_table, capsys) -> None:
    path = demo_table("syw-d6")
    text, lacking = re.subn(r"^experience = .*\n", "", path.read_text("utf-8"), flags=re.M)
    path.write_text(text, encoding="utf-8")
    line, last = checked(capsys, path)[1]
    assert last == "table.toml: 1 fault"
    assert line.endswith(
        "unit[1].experience: expected this key, but it is missing;"
        f" the same for {lacking - 1} other units"
    )


def test_a_hex_map_without_the_files_of_its_game_is_odd(house_table, capsys) -> None:
    text = house_table.read_text(encoding="utf-8")
    start = text.index("[files]")
    end = text.find("\n[", start)
    house_table.write_text(text[:start] + (text[end:] if end > 0 else ""), encoding="utf-8")
    code, (line, _) = checked(capsys, house_table)
    assert code == 0
    assert line.endswith("files: no charts, map or scenario file is named: no game can begin")


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ('default = "clear"', 'default = "claer"',
         'default: expected a kind of the charts (clear, thicket, marsh), got "claer"; did you'),
        ("thicket = [", "wood = [",
         'wood: expected a kind of the charts (clear, thicket, marsh), got "wood"'),
        ("river = [", "brook = [", "hexsides.brook: expected a kind of the charts (river)"),
        ("british_reinforcements = [", "elsewhere = [",
         "edges.british_reinforcements: expected the hexes by which Late enters"),
        ("french = ", "prussian = ", "returns.french: expected the hex where units return"),
    ],
)  # fmt: skip
def test_files_of_a_game_that_do_not_fit_each_other_are_named_with_the_line(
    house_table, capsys, old, new, fault
) -> None:
    path = house_table.parent / "house.map.toml"
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), encoding="utf-8")
    code, lines = checked(capsys, house_table)
    assert (code, len(lines), lines[-1]) == (2, 2, "table.toml: 1 fault")
    assert fault in lines[0]
    assert re.match(r"house\.map\.toml:\d+: ", lines[0])


def test_a_marker_s_box_that_is_none_is_named(house_table, capsys) -> None:
    text = house_table.read_text(encoding="utf-8")
    house_table.write_text(text.replace("[376, 180, 436, 285]", "[376, 180]"), encoding="utf-8")
    code, (line, _) = checked(capsys, house_table)
    assert code == 2
    assert "box_mm: expected [left, low, right, high] in mm, got [376, 180]" in line


def test_a_game_that_there_is_not_is_named_with_the_nearest(write, capsys) -> None:
    code, (line, _) = checked(capsys, write("table.toml", DEMO.replace("maurice-lite", "maurice")))
    assert code == 2
    assert 'game: unknown game "maurice"; did you mean maurice-lite?' in line


def test_all_keys_that_are_wrong_are_listed(write, capsys) -> None:
    text = DEMO.replace("depth_mm = 800", 'depth_mm = "wide"').replace("name =", "nmae =", 1)
    code, lines = checked(capsys, write("table.toml", text))
    assert (code, len(lines)) == (2, 3)
    assert "unknown key; did you mean name?" in lines[1]


def test_what_is_odd_does_no_harm(write, capsys) -> None:
    text = (
        DEMO
        + """
[[base_type]]
name = "elephant"
width_mm = 60
depth_mm = 60
tag_size_mm = 14
"""
    )
    code, lines = checked(capsys, write("table.toml", text))
    assert code == 0
    assert "base_type[5].name: no unit and no commander has a elephant" in lines[0]
    assert lines[1] == "table.toml: nothing wrong, 1 odd"


def test_a_position_is_checked_with_its_rulebook(write, capsys) -> None:
    document = position_to_json(embedded_demo().truth())
    document["units"][0]["bases"] = document["units"][0]["bases"][:3]
    document["units"][1]["bases"] = []
    code, lines = checked(capsys, write("position.json", json.dumps(document, indent=1)))
    assert code == 0
    assert [line.split(": ", 3)[-1] for line in lines[:-1]] == [
        "P2 has no base on the table",
        "P1 is left out: 3 of its 4 bases are on the table",
    ]


def test_a_rulebook_names_the_file_of_what_it_cannot_read(write, capsys) -> None:
    document = position_to_json(embedded_demo().truth())
    document["terrain"][0]["kind"] = "swamp"
    code, lines = checked(capsys, write("position.json", json.dumps(document)))
    assert code == 2
    assert lines[0].startswith("position.json: terrain[1].kind: expected one of woods")


def test_all_faults_of_a_camera_file_are_listed(write, capsys, tmp_path: Path) -> None:
    write_camera_file(tmp_path / "camera.json", WHOLE)
    document = json.loads((tmp_path / "camera.json").read_text(encoding="utf-8"))
    code, lines = checked(capsys, tmp_path / "camera.json")
    assert (code, lines[0]) == (0, 'camera.json: calibration "lens-01.jpg, 2024-05-01"')
    document |= {"width_px": "wide", "height_px": -1}
    code, lines = checked(capsys, write("camera.json", json.dumps(document, indent=1)))
    assert (code, len(lines)) == (2, 3)


def test_files_that_a_table_file_names_are_checked_with_it(write, capsys, charted) -> None:
    table = (
        DEMO.replace("maurice-lite", CHARTED) + '\n[files]\ncharts = "my.toml"\nmap = "no.toml"\n'
    )
    write("my.toml", CHARTS.replace("range_in = 12\n", "").replace("to = 9", "to = 12"))
    code, lines = checked(capsys, write("table.toml", table))
    assert code == 2
    assert lines[:3] == [
        "my.toml:6: fire.range_in: expected this key, but it is missing",
        "my.toml:9: fire.rows[2].to: expected a number of 9 or less, got 12",
        f"table.toml:{table.count(chr(10))}: files.map: expected no map: charted reads none",
    ]


def test_a_file_of_another_game_is_refused(write, capsys, charted) -> None:
    code, lines = checked(capsys, write("my.toml", CHARTS.replace(CHARTED, "free")))
    assert (code, lines[0]) == (2, "my.toml:1: format: expected no charts file: free has none")


def test_no_file_of_ours_is_named(write, capsys) -> None:
    code, lines = checked(capsys, write("shopping.toml", "milk = 2\n"))
    assert code == 2
    assert "format: expected one of tablecam.bases, tablecam.camera, " in lines[0]


def test_many_files_are_checked_at_once_and_as_json(write, capsys, tmp_path: Path) -> None:
    good, bad = write("good.toml", DEMO), tmp_path / "none.toml"
    assert main(["check", "--json", str(good), str(bad)]) == 2
    documents = json.loads(capsys.readouterr().out)
    assert documents == [
        {"file": str(good), "wrong": [], "odd": [], "facts": []},
        {"file": str(bad), "wrong": [f"{bad}: there is no such file"], "odd": [], "facts": []},
    ]
