"""The command line itself: what every command has in common."""

import subprocess
import sys

import click
import pytest

from tablecam.cli import COMMANDS, commands, main
from tablecam.commands.demo import demo

NAMES = sorted(COMMANDS)


def test_the_commands_of_the_house_are_there():
    assert {"calibrate", "demo", "print", "run", "snapshot"} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_every_command_explains_itself(name, capsys):
    assert main([name, "--help"]) == 0
    out = capsys.readouterr().out
    assert out.startswith(f"Usage: tablecam {name}")
    assert len(out.splitlines()) > 5
    assert "None" not in out


def test_the_list_of_commands_imports_none_of_them_nor_their_libraries():
    listing = (
        "import sys; from tablecam.cli import main; main(['--help']); "
        "print(*sys.modules, sep=chr(10), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", listing], capture_output=True, text=True)
    assert all(f"\n  {name} " in done.stdout for name in NAMES)
    modules = set(done.stderr.split())
    assert "tablecam.cli" in modules
    assert not modules & {"cv2", "numpy", "shapely", "flask", "pydantic"}
    assert not [name for name in modules if name.startswith("tablecam.commands.")]


def test_a_snapshot_pays_for_no_database_no_page_and_no_other_rulebook():
    listing = (
        "import sys, tablecam.commands.snapshot; from tablecam.rules.games import known_games; "
        "known_games()['maida-1806']; print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", listing], capture_output=True, text=True)
    modules = set(done.stdout.split())
    assert "tablecam.rules.maida_1806.game" in modules
    assert not modules & {"sqlalchemy", "rich", "flask", "reportlab"}
    others = ("maurice", "syw_d6", "huzzah_ge", "musket_saber")
    assert not modules & {f"tablecam.rules.{name}.game" for name in others}


@pytest.mark.parametrize("name", NAMES)
def test_the_list_of_commands_says_of_each_what_the_command_says_itself(name):
    command = commands.get_command(click.Context(commands), name)
    assert COMMANDS[name].summary == command.get_short_help_str(200)


def test_without_a_command_it_shows_what_there_is(capsys):
    assert main([]) == 2
    assert "demo" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["dema"], "dema"),
        (["demo", "--prot", "1"], "--prot"),
        (["demo", "--port", "eight"], "eight"),
        (["run", "--source", "0"], "--table"),
        (["run", "--source", "0", "--table", "no.toml", "--camera", "no.json"], "no.toml"),
        (["run", "--resolution", "big", "--source", "simulated"], "big"),
        (["run", "--source", "simulated", "--fps", "nan"], "--fps"),
        (["run", "--source", "simulated", "--table", "own.toml"], "a table of its own"),
        (["calibrate", "--live", "--source", "simulated", "--table", "own.toml"], "--table"),
        (["calibrate", "bases", "--source", "simulated", "--camera", "own.json"], "--camera"),
        (["run", "--source", "simulated", "--focus", "inf"], "--focus"),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(arguments, named, capsys):
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert len(captured.err.splitlines()) == 1
    assert named in captured.err


def test_the_version_is_the_packages():
    done = subprocess.run(
        [sys.executable, "-m", "tablecam", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("tablecam, version ")


def test_a_fault_of_our_own_is_one_line_too(monkeypatch, capsys):
    def fault(**_):
        raise ZeroDivisionError("oh")

    monkeypatch.setattr(demo, "callback", fault)
    assert main(["demo"]) == 2
    told = capsys.readouterr().err
    assert "internal error in tablecam: ZeroDivisionError('oh')" in told
    assert len(told.splitlines()) == 1


def test_a_name_that_no_disk_takes_is_one_line(capsys):
    assert main(["run", "--source", "x" * 5000, "--table", "t", "--camera", "c"]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
