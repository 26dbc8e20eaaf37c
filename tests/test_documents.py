"""Documents are opened or refused in one line that names the file, the key and its line."""

from pathlib import Path

import pytest

from tablecam import documents
from tablecam.documents import read_json, read_toml
from tablecam.errors import BadInput


def written(folder: Path, text: str) -> Path:
    path = folder / "request.json"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            '{\n "kind": "rally",\n "kind": "combat"\n}',
            "3: kind: the key is given twice, first on line 2",
        ),
        (
            '{"shots": [\n {"targets": {"10": "B1",\n   "11": "B1", "10": "B2"}}]}',
            "3: shots[1].targets.10: the key is given twice, first on line 2",
        ),
        (
            '{"dice": {"F1": 3},\n "dice": {"F1": 4}}',
            "2: dice: the key is given twice, first on line 1",
        ),
    ],
    ids=["at the top", "within", "with what is in it"],
)
def test_a_key_that_is_given_twice_is_refused_where_it_is_given_again(tmp_path, text, said):
    path = written(tmp_path, text)
    with pytest.raises(BadInput) as refused:
        read_json(path)
    assert str(refused.value) == f"{path}:{said}"


def test_a_key_that_is_given_twice_in_two_spellings_is_refused_by_name(tmp_path):
    path = written(tmp_path, '{"kind": "rally", "k\\u0069nd": "combat"}')
    with pytest.raises(BadInput) as refused:
        read_json(path)
    assert str(refused.value) == f"{path}: kind: the key is given twice"


def test_objects_side_by_side_may_have_the_same_keys(tmp_path):
    path = written(tmp_path, '{"a": {"id": 1}, "b": [{"id": 2}, {"id": 3}]}')
    assert read_json(path).data == {"a": {"id": 1}, "b": [{"id": 2}, {"id": 3}]}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            '{\n "a": [{"b": 9223372036854775808}]}',
            "2: a[1].b: expected a number from -1e15 to 1e15",
        ),
        ('{"a": NaN}', "1: a: expected a finite number, got NaN"),
        ('{"a": -1e999}', "1: a: expected a finite number, got -Infinity"),
        ('{"a":' * 40 + "1" + "}" * 40, "1: a: expected at most 32 nested levels, got more"),
        ('{"a": ["\\ud800"]}', "1: a[1]: expected valid characters, got a lone surrogate"),
    ],
    ids=["beyond 2^63", "no number", "endless", "deep", "half a character"],
)
def test_json_beyond_what_a_document_may_hold_is_refused_by_its_key(tmp_path, text, said):
    path = written(tmp_path, text)
    with pytest.raises(BadInput) as refused:
        read_json(path)
    assert str(refused.value).startswith(f"{path}:{said}")


def test_deep_toml_is_refused_by_its_key(tmp_path):
    path = written(tmp_path, "a = " + "[" * 200 + "]" * 200)
    with pytest.raises(BadInput, match="1: a: expected at most 32 nested levels"):
        read_toml(path)


def test_a_document_without_end_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(documents, "MOST_BYTES", 8)
    with pytest.raises(BadInput, match="expected at most"):
        read_json(written(tmp_path, '{"a": 10}'))
