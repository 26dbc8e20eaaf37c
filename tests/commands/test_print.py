import os
import sys
from pathlib import Path

import pypdfium2
import pytest

from tablecam.cli import main

TABLE = """
format = "tablecam.table"
version = 1
game = "maurice-lite"

[table]
width_mm = 1800
depth_mm = 1200
base_width_mm = 40

[tags]
dictionary = "DICT_4X4_250"
table_tag_size_mm = 60
table_tags = [ {id = 0, x_mm = 50, y_mm = 50}, {id = 1, x_mm = 1750, y_mm = 50},
               {id = 2, x_mm = 1750, y_mm = 1150}, {id = 3, x_mm = 50, y_mm = 1150} ]

[[base_type]]
name = "foot"
width_mm = 40
depth_mm = 40
tag_size_mm = 14
tag_right_mm = 0
tag_forward_mm = -10
tag_height_mm = 3

[[unit]]
id = "F1"
side = "french"
arm = "infantry"
base_type = "foot"
tags = [10, 11, 12, 13]

[[unit]]
id = "B1"
side = "british"
arm = "infantry"
base_type = "foot"
tags = [20, 21, 22, 23]

[[commander]]
id = "french-cinc"
side = "french"
base_type = "foot"
tag = 90
"""


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "table.toml"
    path.write_text(TABLE, encoding="utf-8")
    return path


def _sheets(path: Path) -> list[str]:
    """The text of each sheet."""
    with pypdfium2.PdfDocument(path.read_bytes()) as document:
        return [page.get_textpage().get_text_bounded() for page in document]


def test_a_table_is_printed_with_its_bases_its_tags_and_the_board(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "sheets.pdf"
    assert main(["print", "--table", str(table), "--out", str(out)]) == 0
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err == f"{out}: written, print it at 100 %\n"
    bases, tags, board = _sheets(out)
    assert bases.startswith("Base tags")
    assert "french infantry, foot" in bases
    assert "french commander" in bases
    assert "base 40 x 40 mm, tag 14 mm" in bases
    assert "middle of the tag: 10 mm back" in bases
    assert tags.startswith("Table tags")
    assert "x = 1750, y = 1150 mm" in tags
    assert board.startswith("Lens board")
    assert "table.toml · A4 · sheet 3 of 3" in board


@pytest.mark.parametrize(("what", "title"), [("bases", "Base tags"), ("table", "Table tags")])
def test_what_to_print_can_be_chosen(table: Path, tmp_path: Path, what: str, title: str) -> None:
    out = tmp_path / "sheets.pdf"
    assert main(["print", "--table", str(table), "--out", str(out), "--what", what]) == 0
    (words,) = _sheets(out)
    assert words.startswith(title)


def test_the_board_needs_no_table(tmp_path: Path) -> None:
    out = tmp_path / "board.pdf"
    assert main(["print", "--out", str(out), "--what", "board", "--paper", "A3"]) == 0
    (board,) = _sheets(out)
    assert board.startswith("Lens board")
    assert "in full size" in board


def test_the_tags_of_some_units_are_printed_alone(table: Path, tmp_path: Path) -> None:
    out = tmp_path / "few.pdf"
    arguments = ["--table", str(table), "--out", str(out), "--units", "B1, french-cinc"]
    assert main(["print", *arguments]) == 0
    (bases,) = _sheets(out)
    assert "B1" in bases
    assert "french-cinc" in bases
    assert "F1" not in bases


def test_sheets_are_written_anew_and_it_is_said(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "sheets.pdf"
    arguments = ["print", "--table", str(table), "--out", str(out)]
    main(arguments)
    first = out.read_bytes()
    capsys.readouterr()
    assert main(arguments) == 0
    assert "updated" in capsys.readouterr().err
    assert out.read_bytes() == first
    assert sorted(path.name for path in tmp_path.iterdir()) == ["sheets.pdf", "table.toml"]


def _refusal(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["print", *arguments]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    return said.err


def test_the_table_file_is_not_written_over(
    table: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = _refusal(capsys, "--table", str(table), "--out", str(table))
    assert "table.toml: expected a new file to write, got one of the inputs" in said
    assert table.read_text(encoding="utf-8") == TABLE


def test_somebody_elses_pdf_is_only_written_over_by_force(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rulebook = tmp_path / "rulebook.pdf"
    rulebook.write_bytes(b"%PDF-1.4 a rulebook")
    said = _refusal(capsys, "--table", str(table), "--out", str(rulebook))
    assert "rulebook.pdf: the file already exists; --force" in said
    assert rulebook.read_bytes() == b"%PDF-1.4 a rulebook"
    assert main(["print", "--table", str(table), "--out", str(rulebook), "--force"]) == 0
    assert _sheets(rulebook)


def test_a_place_that_cannot_be_written_to_is_one_line(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "no-such-folder" / "sheets.pdf"
    said = _refusal(capsys, "--table", str(table), "--out", str(out))
    assert f"{out}: expected a file in a folder that exists" in said
    said = _refusal(capsys, "--table", str(table), "--out", str(tmp_path / "sheets.svg"))
    assert "sheets.svg: expected a name that ends in .pdf" in said
    said = _refusal(capsys, "--table", str(table), "--out", str(tmp_path))
    assert f"{tmp_path}: expected a file to write, got a folder" in said
    if sys.platform != "win32":
        os.mkfifo(pipe := tmp_path / "pipe")
        said = _refusal(capsys, "--table", str(table), "--out", str(pipe), "--force")
        assert f"{pipe}: expected a file to write, got a device or a pipe" in said


def test_options_that_do_not_fit_together_are_one_line(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "sheets.pdf")
    assert "--table: expected a table file, got none" in _refusal(capsys, "--out", out)
    said = _refusal(capsys, "--table", str(table), "--out", out, "--units", "F1,F9")
    assert "--units: expected ids of units or commanders of" in said
    assert said.endswith("got F9\n")
    said = _refusal(capsys, "--table", str(table), "--out", out, "--units", " , ")
    assert said.endswith("got none\n")
    said = _refusal(capsys, "--what", "board", "--out", out, "--units", "F1")
    assert "--units: expected --what all or bases, got `--what board`" in said
    assert "A5" in _refusal(capsys, "--what", "board", "--out", out, "--paper", "A5")
    assert not Path(out).exists()


def test_a_table_tag_too_large_for_the_paper_leaves_what_was_there(
    table: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "sheets.pdf"
    main(["print", "--table", str(table), "--out", str(out)])
    before = out.read_bytes()
    text = TABLE.replace("table_tag_size_mm = 60", "table_tag_size_mm = 200")
    table.write_text(text, encoding="utf-8")
    capsys.readouterr()
    said = _refusal(capsys, "--table", str(table), "--out", str(out))
    assert "table tag 0: too large for this paper: " in said
    assert "at most 190 x 241 mm" in said
    assert out.read_bytes() == before
