import json
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablecam.toml_lines import json_lines, toml_lines

TEXT = '''\
# a comment with [brackets] = {and} "quotes"
title = "a # no comment"

[a]  # comment
"quoted key" = 1
b.c = 2
b.d = [
  1, # one ]
  [2, 3],
  {x = 1, y = [7,
     8]},
]
when = 1979-05-27 07:32:00
at = 1979-05-27T07:32:00.5+01:00
long = """
first ] = }
\\"""quoted\\""" end"""
literal = \'\'\'
a = 'b'
\'\'\'

[[unit]]
id = 'one'

[[unit]]
id = "two"
[unit.state]
smoke = true
[[unit.base]]
x_mm = 1.5e3
[[unit.base]]
x_mm = -2
'''

EXPECTED = {
    ("title",): 2,
    ("a",): 4,
    ("a", "quoted key"): 5,
    ("a", "b"): 6,
    ("a", "b", "c"): 6,
    ("a", "b", "d"): 7,
    ("a", "b", "d", 0): 8,
    ("a", "b", "d", 1): 9,
    ("a", "b", "d", 1, 1): 9,
    ("a", "b", "d", 2, "y"): 10,
    ("a", "b", "d", 2, "y", 1): 11,
    ("a", "when"): 13,
    ("a", "at"): 14,
    ("a", "long"): 15,
    ("a", "literal"): 18,
    ("unit",): 22,
    ("unit", 0): 22,
    ("unit", 0, "id"): 23,
    ("unit", 1): 25,
    ("unit", 1, "id"): 26,
    ("unit", 1, "state"): 27,
    ("unit", 1, "state", "smoke"): 28,
    ("unit", 1, "base", 0, "x_mm"): 30,
    ("unit", 1, "base", 1, "x_mm"): 32,
}


def every_path(value: object, path: tuple[str | int, ...] = ()):
    """The path of every key and element in a parsed value."""
    yield path
    if isinstance(value, dict):
        for key, inside in value.items():
            yield from every_path(inside, (*path, key))
    if isinstance(value, list):
        for index, inside in enumerate(value):
            yield from every_path(inside, (*path, index))


@pytest.mark.parametrize(("path", "line"), EXPECTED.items(), ids=map(str, EXPECTED))
def test_each_key_of_a_toml_text_has_its_line(path, line) -> None:
    assert toml_lines(TEXT)[path] == line


def test_all_that_the_parser_finds_in_a_toml_text_has_a_line() -> None:
    assert set(every_path(tomllib.loads(TEXT))) == set(toml_lines(TEXT))


def test_each_key_of_the_footage_has_the_line_on_which_it_is_written(shared: Path) -> None:
    text = (shared / "footage" / "uhd-b" / "table.toml").read_text(encoding="utf-8")
    lines, written = toml_lines(text), text.splitlines()
    data = tomllib.loads(text)
    assert set(every_path(data)) <= set(lines)
    for path, line in lines.items():
        if path and isinstance(path[-1], str):
            assert path[-1] in written[line - 1]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(min_size=1), inner),
    max_leaves=20,
)


@given(value=st.dictionaries(st.text("ab [{:#\"'\\", min_size=1), json_values))
def test_all_that_the_parser_finds_in_a_json_text_has_a_line(value) -> None:
    text = json.dumps(value, indent=1)
    lines = json_lines(text)
    written = text.splitlines()
    keys = [path for path in every_path(value) if all(_is_plain(part) for part in path)]
    for path in keys:
        assert path in lines
        if path and isinstance(path[-1], str):
            assert json.dumps(path[-1]) in written[lines[path] - 1]


def _is_plain(part: str | int) -> bool:
    """Whether a key is written without escapes: others are reported at the key around them."""
    return isinstance(part, int) or json.dumps(part) == f'"{part}"'
