import logging
from pathlib import Path

import pytest

from tablecam.errors import BadInput
from tablecam.rules.games import known_games
from tablecam.table.model import HexMap, TableNeeds, length_units, preferred_unit
from tablecam.table.table_file import DICTIONARY_SIZES, read_table_file

GOOD = """\
format = "tablecam.table"
version = 1
game = "maurice-lite"

[table]
width_mm = 1800
depth_mm = 1200
base_width_mm = 40
tolerance_mm = 1.5

[tags]
dictionary = "DICT_4X4_250"
table_tag_size_mm = 60
table_tags = [ {id = 0, x_mm = 50, y_mm = 50}, {id = 1, x_mm = 1750, y_mm = 50},
               {id = 2, x_mm = 1750, y_mm = 1150},
               {id = 3, x_mm = 50, y_mm = 1150} ]

[[base_type]]
name = "foot"
width_mm = 40
depth_mm = 40
tag_size_mm = 14
tag_forward_mm = -11
tag_height_mm = 3

[[unit]]
id = "F1"
side = "french"
arm = "infantry"
base_type = "foot"
tags = [10, 11, 12, 13]
quality = "elite"
figures = 24

[[unit]]
id = "F2"
side = "french"
arm = "infantry"
base_type = "foot"
tags = [14, 15,
        16, 17]

[[commander]]
id = "french-cinc"
side = "french"
base_type = "foot"
tag = 90

[[terrain]]
id = "wood"
kind = "woods"
height_mm = 30
outline_mm = [[400, 300], [520, 310], [500, 420]]
"""

MAP = """
[map]
orientation = "flat"
hex_size_mm = 21.0
origin_mm = [58.0, 402]
columns = 16
rows = 19
numbering = "CCRR"
shifted = "even"
"""


@pytest.fixture
def write(tmp_path: Path):
    def _write(text: str, name: str = "table.toml") -> Path:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return _write


NEEDS = TableNeeds(base_width=True, hex_map=False, edges=True)


def refusal(path: Path) -> str:
    """The one line that refuses a table file, without its folder."""
    with pytest.raises(BadInput) as caught:
        read_table_file(path, {"maurice-lite": NEEDS, "maida-1806": TableNeeds(hex_map=True)})
    line = str(caught.value)
    assert "\n" not in line
    return line.replace(f"{path.parent}/", "")


def changed(old: str, new: str) -> str:
    assert GOOD.count(old) >= 1
    return GOOD.replace(old, new, 1)


def test_a_table_may_have_a_name_and_needs_none(tmp_path):
    path = tmp_path / "table.toml"
    path.write_text(GOOD)
    assert read_table_file(path, known_games()).name == ""
    path.write_text(
        GOOD.replace("tolerance_mm", 'name = "Saal 3, am Fenster"\ntolerance_mm'), "utf-8"
    )
    assert read_table_file(path, known_games()).name == "Saal 3, am Fenster"
    path.write_text(GOOD.replace("tolerance_mm", "name = 3\ntolerance_mm"))
    with pytest.raises(BadInput, match="name"):
        read_table_file(path, known_games())


def test_a_table_file_becomes_a_roster(write) -> None:
    roster = read_table_file(write(GOOD), known_games())
    assert roster.game == "maurice-lite"
    assert (roster.table.width_mm, roster.table.tolerance_mm) == (1800, 1.5)
    assert [tag.id for tag in roster.table_tags] == [0, 1, 2, 3]
    assert roster.units[1].tags == (14, 15, 16, 17)
    assert roster.units[0].base_type.tag_forward_mm == -11
    assert roster.owner_by_tag()[90] == "french-cinc"
    assert roster.terrain[0].height_mm == 30
    assert roster.table.hex_map is None


def test_further_keys_of_a_unit_are_kept_for_its_game(write) -> None:
    unit = read_table_file(write(GOOD), known_games()).units[0]
    assert dict(unit.extra) == {"quality": "elite", "figures": 24}


@pytest.mark.parametrize("name", ["uhd-b", "hd-b", "clip-b"])
def test_the_table_files_of_the_footage_read(shared: Path, name: str) -> None:
    roster = read_table_file(shared / "footage" / name / "table.toml", known_games())
    assert len(roster.table_tags) == 4
    assert all(unit.tags for unit in roster.units)


def test_a_file_saved_with_a_byte_order_mark_reads(tmp_path: Path) -> None:
    path = tmp_path / "table.toml"
    path.write_bytes(b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode())
    assert read_table_file(path, known_games()).units[0].id == "F1"


REFUSED = {
    "version": (
        changed("version = 1", "version = 2"),
        "table.toml:2: version: expected 1, got 2",
    ),
    "no version": (
        changed("version = 1\n", ""),
        "table.toml: version: expected 1, but the key is missing",
    ),
    "format": (
        changed("tablecam.table", "tablecam.camera"),
        'table.toml:1: format: expected "tablecam.table", got "tablecam.camera"',
    ),
    "game": (
        changed("maurice-lite", "maurice"),
        'table.toml:3: game: unknown game "maurice"; did you mean maurice-lite?',
    ),
    "unknown section": (
        changed("[[terrain]]", "[[terrian]]"),
        "table.toml:49: terrian: unknown key; did you mean terrain?",
    ),
    "unknown key": (
        changed("tolerance_mm", "tolerence_mm"),
        "table.toml:9: table.tolerence_mm: unknown key; did you mean tolerance_mm?",
    ),
    "mistyped needed key": (
        changed("tags = [10,", "tag = [10,"),
        "table.toml:31: unit[1].tag: unknown key; did you mean tags?",
    ),
    "missing key": (
        changed("base_width_mm = 40\n", ""),
        "table.toml:5: table.base_width_mm: expected this key, but it is missing",
    ),
    "key in an inline table": (
        changed("{id = 2, x_mm", "{id = 2, x"),
        "table.toml:15: tags.table_tags[3].x: unknown key; did you mean x_mm?",
    ),
    "arm": (
        changed('"infantry"', '"guns"'),
        'table.toml:29: unit[1].arm: expected infantry, cavalry or artillery, got "guns"',
    ),
    "text for a number": (
        changed("width_mm = 1800", 'width_mm = "wide"'),
        'table.toml:6: table.width_mm: expected a number, got "wide"',
    ),
    "true for a number": (
        changed("width_mm = 1800", "width_mm = true"),
        "table.toml:6: table.width_mm: expected a number, got true",
    ),
    "infinity": (
        changed("width_mm = 1800", "width_mm = inf"),
        "table.toml:6: table.width_mm: expected a finite number, got Infinity",
    ),
    "size of nothing": (
        changed("base_width_mm = 40", "base_width_mm = 0"),
        "table.toml:8: table.base_width_mm: expected a number of 1 or more, got 0",
    ),
    "negative height": (
        changed("tag_height_mm = 3", "tag_height_mm = -3"),
        "table.toml:24: base_type[1].tag_height_mm: expected a number of 0 or more, got -3",
    ),
    "base type": (
        changed('base_type = "foot"\ntags', 'base_type = "fot"\ntags'),
        'table.toml:30: unit[1].base_type: unknown base type "fot"; did you mean foot?',
    ),
    "commander's base type": (
        changed('base_type = "foot"\ntag =', 'base_type = "staff"\ntag ='),
        'table.toml:46: commander[1].base_type: unknown base type "staff"; there are foot',
    ),
    "tag used twice": (
        changed("16, 17", "10, 17"),
        "table.toml:41: unit[2].tags[3]: tag 10 is used twice: by unit F1 (unit[1].tags[1], "
        "line 31) and by unit F2",
    ),
    "commander with a table tag": (
        changed("tag = 90", "tag = 3"),
        "table.toml:47: commander[1].tag: tag 3 is used twice: by the table tags "
        "(tags.table_tags[4].id, line 16) and by commander french-cinc",
    ),
    "tag that is not a number": (
        changed("[10,", '["10",'),
        'table.toml:31: unit[1].tags[1]: expected a whole number, got "10"',
    ),
    "tag beyond the dictionary": (
        changed("tag = 90", "tag = 250"),
        "table.toml:47: commander[1].tag: expected a tag from 0 to 249 (DICT_4X4_250), got 250",
    ),
    "dictionary": (
        changed("DICT_4X4_250", "DICT_4X4_25"),
        'table.toml:12: tags.dictionary: unknown dictionary "DICT_4X4_25"; '
        "did you mean DICT_4X4_250?",
    ),
    "no tags": (
        changed("tags = [10, 11, 12, 13]", "tags = []"),
        "table.toml:31: unit[1].tags: expected at least 1 elements, got 0",
    ),
    "three table tags": (
        changed(",\n               {id = 3, x_mm = 50, y_mm = 1150}", ""),
        "table.toml:14: tags.table_tags: expected 4 table tags or more, got 3: "
        "the camera is registered by them",
    ),
    "table tag far away": (
        changed("y_mm = 1150}", "y_mm = 11500}"),
        "table.toml:15: tags.table_tags[3].y_mm: expected a place on the table (0 to 1200) or "
        "within 500 mm beside it, got 11500",
    ),
    "table tags on each other": (
        changed("{id = 1, x_mm = 1750", "{id = 1, x_mm = 60"),
        "table.toml:14: tags.table_tags[2]: table tags 0 and 1, 60 mm wide, "
        "are on top of each other",
    ),
    "tag larger than its base": (
        changed("tag_size_mm = 14", "tag_size_mm = 140"),
        "table.toml:22: base_type[1].tag_size_mm: expected a tag that fits the base of "
        "40 x 40 mm, got 140 mm",
    ),
    "tag beside its base": (
        changed("tag_forward_mm = -11", "tag_forward_mm = -110"),
        "table.toml:18: base_type[1]: expected a tag on the base of 40 x 40 mm, "
        "but foot's lies beside it",
    ),
    "unit id twice": (
        changed('id = "F2"', 'id = "F1"'),
        'table.toml:36: unit[2].id: the id "F1" is used twice: first by unit[1].id, line 27',
    ),
    "id of a commander and a unit": (
        changed('id = "french-cinc"', 'id = "F2"'),
        'table.toml:44: commander[1].id: the id "F2" is used twice: first by unit[2].id, line 36',
    ),
    "id with a slash": (
        changed('id = "F2"', 'id = "F/2"'),
        "table.toml:36: unit[2].id: expected an id without / and without spaces around it, "
        'got "F/2"',
    ),
    "outline that crosses itself": (
        changed("[500, 420]", "[500, 420], [450, 200]"),
        "table.toml:53: terrain[1].outline_mm: expected an outline that does not cross itself, "
        "got wood: Self-intersection",
    ),
    "outline of two points": (
        changed(", [500, 420]", ""),
        "table.toml:53: terrain[1].outline_mm: expected at least 3 elements, got 2",
    ),
    "outline on a line": (
        changed("[520, 310], [500, 420]", "[500, 300], [600, 300]"),
        "table.toml:53: terrain[1].outline_mm: expected an outline that does not cross itself, "
        "got wood: it encloses no area",
    ),
    "map of a game without hexes": (
        GOOD + MAP,
        "table.toml:55: map: expected no [map]: maurice-lite is not played on hexes",
    ),
    "several mistakes": (
        changed("width_mm = 1800\ndepth_mm = 1200", "width_mm = 0\ndepth_mm = 0"),
        "table.toml:6: table.width_mm: expected a number above 0, got 0 (and 1 more)",
    ),
}


@pytest.mark.parametrize(("text", "line"), REFUSED.values(), ids=REFUSED.keys())
def test_a_mistake_is_refused_in_one_line_that_names_file_line_and_key(write, text, line) -> None:
    assert refusal(write(text)).startswith(line)


def test_a_file_that_is_not_toml_is_refused_with_the_place(write) -> None:
    assert "not valid TOML" in refusal(write("format = [1,\n"))
    said = refusal(write('format = "tablecam.table"\nversion = 1\ndepth = wide\n'))
    assert "table.toml:3: not valid TOML in column 9" in said
    assert "quote words" in said


def test_a_missing_file_is_refused(tmp_path: Path) -> None:
    assert refusal(tmp_path / "none.toml") == ("none.toml: there is no such file")


def test_a_folder_and_a_picture_are_refused(tmp_path: Path) -> None:
    assert "cannot be read" in refusal(tmp_path)
    picture = tmp_path / "table.jpg"
    picture.write_bytes(b"\xff\xd8\xff\xe0")
    assert refusal(picture) == "table.jpg: expected a text file in UTF-8"


def test_a_tag_that_hangs_over_its_base_is_warned_of_and_read(write, caplog) -> None:
    with caplog.at_level(logging.WARNING):
        roster = read_table_file(
            write(changed("tag_forward_mm = -11", "tag_forward_mm = -15")), known_games()
        )
    assert roster.base_types[0].tag_forward_mm == -15
    assert "base_type[1].tag_size_mm: the tag hangs over the edge" in caplog.text


def test_a_table_tag_may_lie_beside_the_play_area(write) -> None:
    roster = read_table_file(
        write(changed("{id = 0, x_mm = 50", "{id = 0, x_mm = -120")), known_games()
    )
    assert roster.table_tags[0].x_mm == -120


def test_a_hex_game_says_where_its_hexes_lie(write) -> None:
    roster = read_table_file(write(changed("maurice-lite", "maida-1806") + MAP), known_games())
    assert roster.table.hex_map == HexMap(
        orientation="flat",
        hex_size_mm=21.0,
        origin_mm=(58.0, 402.0),
        columns=16,
        rows=19,
        numbering="CCRR",
        shifted="even",
    )


def test_a_hex_map_names_what_it_lacks(write) -> None:
    text = changed("maurice-lite", "maida-1806") + MAP.replace("rows = 19\n", "")
    assert refusal(write(text)) == ("table.toml:55: map.rows: expected this key, but it is missing")


def test_the_dictionaries_hold_as_many_tags_as_opencv_says() -> None:
    import cv2

    for name, size in DICTIONARY_SIZES.items():
        dictionary = cv2.aruco.getPredefinedDictionary(getattr(cv2.aruco, name))
        assert dictionary.bytesList.shape[0] == size, name


COUNTERS = """
[[base_type]]
name = "two hexes"
width_mm = 36
depth_mm = 15
tag_size_mm = 10

[[unit]]
id = "I-42"
side = "french"
arm = "infantry"
base_type = "foot"
faces = [ {tag = 20, formation = "column", reduced = false},
          {tag = 21, formation = "line", hexes = 2, base_type = "two hexes"} ]
"""


def test_the_faces_of_a_counter_are_one_base_with_a_tag_on_each_side(write) -> None:
    roster = read_table_file(write(GOOD + COUNTERS), known_games())
    counter = roster.units[-1]
    assert counter.tags == (20, 21)
    assert counter.extra["faces"] == (
        {"tag": 20, "formation": "column", "reduced": False},
        {"tag": 21, "formation": "line", "hexes": 2},
    )
    types = roster.base_type_by_tag()
    assert (types[20].name, types[21].name) == ("foot", "two hexes")
    others = {tag for unit in roster.units[:-1] for tag in unit.tags} | {90}
    assert roster.missing(others) == (20,)
    assert roster.missing(others | {21}) == ()


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        (
            "{tag = 21, formation",
            "{tag = 20, formation",
            "table.toml:67: unit[3].faces[2].tag: tag 20 is used twice: by unit I-42 "
            "(unit[3].faces[1].tag, line 66) and by unit I-42",
        ),
        (
            "faces =",
            "tags = [20, 22]\nfaces =",
            "table.toml:66: unit[3].tags: expected the tags of its faces (20, 21), got 20, 22",
        ),
        (
            'base_type = "two hexes"',
            'base_type = "two"',
            'table.toml:67: unit[3].faces[2].base_type: unknown base type "two"',
        ),
    ],
)
def test_faces_that_do_not_fit_are_refused(write, old, new, line) -> None:
    assert refusal(write((GOOD + COUNTERS).replace(old, new))).startswith(line)


def test_units_commanders_and_terrain_may_have_any_keys_of_their_game(write) -> None:
    text = changed("figures = 24", "figures = [24, 20]\nranges = {near = 2, far = [4, 8]}")
    text = text.replace("tag = 90", 'tag = 90\nlevel = "corps"\ncommands = ["F1", "F2"]')
    text = text.replace('kind = "woods"', 'kind = "woods"\ncost = {line = 1.5, column = 1}')
    roster = read_table_file(write(text), known_games())
    assert roster.units[0].extra["figures"] == (24, 20)
    assert roster.units[0].extra["ranges"] == {"near": 2, "far": (4, 8)}
    assert roster.commanders[0].extra == {"level": "corps", "commands": ("F1", "F2")}
    assert roster.terrain[0].extra == {"cost": {"line": 1.5, "column": 1}}


def test_a_games_files_lie_beside_the_table_file(write) -> None:
    path = write(GOOD + '\n[files]\ncharts = "my.charts.toml"\n')
    assert read_table_file(path, known_games()).files == {"charts": path.parent / "my.charts.toml"}


def test_a_base_width_is_needed_only_where_a_game_measures_in_it(write) -> None:
    text = changed("base_width_mm = 40\n", 'measure_in = "cm"\n').replace("maurice-lite", "free")
    table = read_table_file(write(text), known_games()).table
    assert table.base_width_mm is None
    assert [unit.symbol for unit in length_units(table)] == ["in", "cm"]
    assert preferred_unit(table).symbol == "cm"


ROUND = """
[[base_type]]
name = "skirmisher"
shape = "round"
diameter_mm = 25
tag_size_mm = 12
"""


def test_a_round_base_is_as_deep_as_wide(write) -> None:
    base = read_table_file(write(GOOD + ROUND), known_games()).base_types[-1]
    assert (base.shape, base.width_mm, base.depth_mm) == ("round", 25, 25)


def test_a_tags_corners_may_hang_over_a_round_base(write, caplog) -> None:
    with caplog.at_level(logging.WARNING):
        read_table_file(
            write((GOOD + ROUND).replace("tag_size_mm = 12", "tag_size_mm = 17")), known_games()
        )
        assert "hangs over the edge" not in caplog.text
        read_table_file(
            write((GOOD + ROUND).replace("tag_size_mm = 12", "tag_size_mm = 18")), known_games()
        )
    assert "the tag hangs over the edge of the base of 25 mm across" in caplog.text


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("diameter_mm = 25\n", "", "base_type[2]: expected diameter_mm, as the base is round"),
        (
            "diameter_mm = 25",
            "diameter_mm = 25\nwidth_mm = 25",
            "base_type[2]: expected diameter_mm alone",
        ),
        ('shape = "round"\n', "", 'base_type[2]: expected shape = "round" with diameter_mm'),
        (
            'shape = "round"',
            'shape = "square"',
            'base_type[2].shape: expected rectangle, round or oval, got "square"',
        ),
        (
            'base_type = "foot"\ntags = [14',
            'base_type = "skirmisher"\ntags = [14',
            "unit[2].base_type: expected a base with a front edge, which maurice-lite rules on, "
            "got skirmisher, which is round",
        ),
    ],
)
def test_round_bases_that_do_not_fit_are_refused(write, old, new, line) -> None:
    assert line in refusal(write((GOOD + ROUND).replace(old, new)))
