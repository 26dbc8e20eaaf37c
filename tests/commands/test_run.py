"""`tablecam run` refuses unusable input in one line, before it serves anything."""

import socket
import subprocess
import sys
from importlib.resources import files

import cv2
import numpy as np
import pytest

from calibration.results import CameraFile, LensCalibration, Origin, TableCalibration
from tablecam.record.camera_file import write_camera_file
from tablecam.simulate.demo import demo_camera
from tests.commands.refusals import refusal

ORIGIN = Origin("2026-01-01T00:00:00Z", ("truth",))
LENS = demo_camera(640, 360).lens
POSE = demo_camera(640, 360).pose


@pytest.fixture
def table_path(tmp_path):
    path = tmp_path / "table.toml"
    path.write_bytes((files("tablecam.simulate") / "demo_table.toml").read_bytes())
    return path


@pytest.fixture
def picture_path(tmp_path):
    path = tmp_path / "table.png"
    cv2.imwrite(str(path), np.full((360, 640, 3), 90, np.uint8))
    return path


def camera_file(tmp_path, **parts):
    path = tmp_path / "camera.json"
    write_camera_file(path, CameraFile("monday", LENS.width_px, LENS.height_px, **parts))
    return path


def placed(tmp_path):
    table = TableCalibration(LENS, POSE, np.zeros((15, 15)), 0.0, 0.0, (), ORIGIN)
    return camera_file(tmp_path, table=table)


def refused(capsys, *arguments):
    return refusal(capsys, "run", *arguments)


def test_a_lens_without_a_table_is_sent_to_calibrate_the_table(
    tmp_path, table_path, picture_path, capsys
):
    lens = LensCalibration(LENS, np.zeros((9, 9)), 0.1, (), ORIGIN)
    camera = camera_file(tmp_path, lens=lens)
    told = refused(capsys, "--table", table_path, "--camera", camera, "--source", picture_path)
    assert "run `tablecam calibrate table` first" in told


def test_pictures_of_another_size_than_the_camera_files_are_refused(tmp_path, table_path, capsys):
    other = tmp_path / "other.png"
    cv2.imwrite(str(other), np.zeros((480, 640, 3), np.uint8))
    camera = placed(tmp_path)
    told = refused(capsys, "--table", table_path, "--camera", camera, "--source", other)
    assert "pictures are 640x480" in told
    assert "was made for 640x360" in told


def test_a_camera_file_is_needed_for_a_real_source(table_path, capsys):
    assert "--camera" in refused(capsys, "--table", table_path, "--source", "0")


def test_a_folder_without_pictures_is_refused(tmp_path, table_path, capsys):
    empty = tmp_path / "empty"
    empty.mkdir()
    camera = placed(tmp_path)
    told = refused(capsys, "--table", table_path, "--camera", camera, "--source", empty)
    assert "no pictures" in told


def test_a_port_that_is_taken_is_named(tmp_path, table_path, picture_path, capsys):
    camera = placed(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        told = refused(
            capsys,
            *("--table", table_path, "--camera", camera),
            *("--source", picture_path, "--port", port),
        )
    assert f"127.0.0.1:{port}: another program uses this port" in told


def test_an_address_of_no_hall_is_refused_before_anything_is_watched(
    tmp_path, table_path, picture_path, capsys
):
    files_of_it = ("--table", table_path, "--camera", placed(tmp_path), "--source", picture_path)
    told = refused(capsys, *files_of_it, "--record", "postgresql://me:secret@host")
    assert "expected the address of a PostgreSQL server" in told
    assert "secret" not in told


def test_lan_listens_at_the_host_that_was_named_and_its_links_lead_there(
    tmp_path, table_path, picture_path
):
    watched = ("--table", table_path, "--camera", placed(tmp_path), "--source", picture_path)
    options = ("--lan", "--host", "127.0.0.1", "--port", "0", "--games", tmp_path)
    command = [sys.executable, "-m", "tablecam", "run", *watched, *options]
    with subprocess.Popen([*map(str, command)], stderr=subprocess.PIPE, text=True) as running:
        told = list(iter(running.stderr.readline, "Press Ctrl-C to stop.\n"))
        running.terminate()
        running.stderr.read()
    links = [line.split(": ", 1)[1] for line in told if "/seat/" in line and ": http" in line]
    assert len(links) == 3
    assert all(link.startswith("http://127.0.0.1:") for link in links)


@pytest.mark.parametrize("demo", [["demo"], ["run", "--source", "simulated"]])
def test_the_demo_says_at_once_that_it_is_under_way(demo, tmp_path):
    command = [sys.executable, "-m", "tablecam", *demo, "--port", "0", "--games", str(tmp_path)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as running:
        told = running.stderr.readline()
        running.terminate()
        running.stderr.read()
    assert told == "Starting the simulated table …\n"


def test_that_a_camera_is_being_opened_is_said_before_it_takes_its_time(tmp_path, table_path):
    watched = ("--table", table_path, "--camera", placed(tmp_path), "--source", "97")
    command = [sys.executable, "-m", "tablecam", "run", *watched, "--port", "0"]
    with subprocess.Popen([*map(str, command)], stderr=subprocess.PIPE, text=True) as running:
        told = running.stderr.readline()
        running.terminate()
        running.stderr.read()
    assert told == "Opening the camera …\n"
