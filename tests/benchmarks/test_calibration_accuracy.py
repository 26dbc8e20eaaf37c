"""How accurate calibration is on the footage, compared with plain OpenCV.

Run with `make bench`, or `pytest tests/benchmarks/test_calibration_accuracy.py -s`.
"""

from __future__ import annotations

import time

import cv2
import numpy as np
import pytest
from rich.console import Console
from rich.table import Table

from calibration.camera import Camera
from calibration.extrinsics.table_pose import find_table
from calibration.extrinsics.table_tags import find_tags
from calibration.grey import to_grey
from calibration.intrinsics.board import find_lens_board
from calibration.intrinsics.lens_from_views import lens_from_views
from calibration.lens import Lens
from calibration.results import Origin
from tablecam.capture.picture_files import read_picture
from tests.footage import Rig

ORIGIN = Origin("2025-01-01T00:00:00+00:00", ())


def _board():
    dictionary = cv2.aruco.getPredefinedDictionary(cv2.aruco.DICT_5X5_100)
    return cv2.aruco.CharucoBoard((11, 8), 25.0, 18.0, dictionary)


def _opencv_lens(pictures):
    """OpenCV's detector with default settings, then its calibration; and the corners by view."""
    board, corners = _board(), {}
    detector = cv2.aruco.CharucoDetector(board)
    for name, picture in pictures.items():
        found, ids, _, _ = detector.detectBoard(cv2.cvtColor(picture, cv2.COLOR_BGR2GRAY))
        corners[name] = (np.asarray(board.getChessboardCorners())[ids.ravel()], found)
    height, width = next(iter(pictures.values())).shape[:2]
    boards, seen = zip(*corners.values(), strict=True)
    _, matrix, distortion, _, _ = cv2.calibrateCamera(boards, seen, (width, height), None, None)
    (fx, _, cx), (_, fy, cy), _ = matrix
    return Lens(width, height, fx, fy, cx, cy, *distortion.ravel()[:5]), corners


def _corner_errors(rig, corners):
    off = []
    for name, (board_mm, seen) in corners.items():
        pose = rig.truth["lens"][name]
        rotation, translation = np.array(pose["board_rvec"]), np.array(pose["board_tvec_mm"])
        lens = rig.camera.lens
        true, _ = cv2.projectPoints(board_mm, rotation, translation, lens.matrix, lens.distortion)
        off.append(seen.reshape(-1, 2) - true.reshape(-1, 2))
    return np.concatenate(off)


def _map_errors_px(lens, true):
    """The difference of two lenses' directions over the picture, once they are aligned."""
    x, y = np.meshgrid(
        np.linspace(0, 1, 41) * true.width_px, np.linspace(0, 1, 25) * true.height_px
    )
    pixels = np.stack([x.ravel(), y.ravel()], axis=1)
    rays, true_rays = (
        np.column_stack([one.to_directions(pixels), np.ones(len(pixels))]) for one in (lens, true)
    )
    rays, true_rays = (
        each / np.linalg.norm(each, axis=1, keepdims=True) for each in (rays, true_rays)
    )
    left, _, right = np.linalg.svd(rays.T @ true_rays)
    turned = rays @ left @ right
    return np.linalg.norm(true.to_pixels(turned[:, :2] / turned[:, 2:]) - pixels, axis=1)


def _row(table, name, errors, lens, true, seconds):
    apart = _map_errors_px(lens, true)
    dx, dy = errors.mean(axis=0)
    table.add_row(
        name,
        f"{dx:+.3f} {dy:+.3f}",
        f"{np.sqrt((errors**2).mean()):.3f}",
        f"{lens.fx_px - true.fx_px:+.2f}",
        f"{lens.cx_px - true.cx_px:+.2f} {lens.cy_px - true.cy_px:+.2f}",
        f"{apart.mean():.3f}",
        f"{apart.max():.3f}",
        f"{seconds:.1f}",
    )
    return apart


@pytest.mark.parametrize("name", ["uhd-b", "hd-b"])
def test_the_lens_is_nearer_to_the_truth_than_plain_opencvs(shared, name):
    rig = Rig(shared / "footage" / name)
    paths = sorted((rig.folder / "lens").glob("*.jpg"))
    pictures = {path.name: read_picture(path) for path in paths}
    true = rig.camera.lens
    columns = ("corners off px", "rms px", "fx off", "cx, cy off", "map px", "worst px", "s")
    table = Table("", *columns, title=f"{name}: lens from {len(paths)} views")
    started = time.perf_counter()
    views = [find_lens_board(to_grey(picture), name) for name, picture in pictures.items()]
    found = lens_from_views(views, ORIGIN).calibration
    middle = time.perf_counter()
    opencv, corners = _opencv_lens(pictures)
    ended = time.perf_counter()
    ours = {view.name: (view.board_mm, view.corners_px) for view in views}
    errors = _corner_errors(rig, ours)
    apart = _row(table, "tablecam", errors, found.lens, true, middle - started)
    errors = _corner_errors(rig, corners)
    theirs = _row(table, f"OpenCV {cv2.__version__}", errors, opencv, true, ended - middle)
    Console(width=120).print(table)
    assert apart.mean() < 0.75 * theirs.mean()


@pytest.mark.parametrize("name", ["uhd-b", "hd-b"])
def test_the_table_is_right_to_hundredths_of_a_millimetre(shared, name):
    rig = Rig(shared / "footage" / name)
    paths = sorted((rig.folder / "lens").glob("*.jpg"))
    views = [find_lens_board(to_grey(read_picture(path)), path.name) for path in paths]
    lens = lens_from_views(views, ORIGIN).calibration
    listed = rig.roster.table_tag_places_mm
    columns = ("off mm, mean", "worst", "stated sigma mm", "off in sigmas")
    table = Table("", *columns, title=f"{name}: places on the table")
    worst = []
    for scene in ("empty", "scene-1", "scene-2"):
        for known in (lens, None):
            grey = rig.grey(scene)
            search = find_table(
                find_tags(grey, rig.roster.dictionary, listed, known and known.lens),
                listed,
                rig.roster.table_tag_size_mm,
                picture_size_px=(grey.shape[1], grey.shape[0]),
                lens=known,
                origin=ORIGIN,
                picture_name=scene,
            ).calibration
            camera = Camera(search.lens, search.pose, "found", search.covariance)
            for height_mm in (0.0, 3.0):
                off, sigmas = _table_errors(rig.camera, camera, height_mm)
                label = f"{scene}, {'lens' if known else 'no lens'}, {height_mm:.0f} mm up"
                numbers = (off.mean(), off.max(), search.sigma_mm, sigmas)
                table.add_row(label, *(f"{number:.3f}" for number in numbers))
                worst += [off.max()] if known else []
    Console(width=120).print(table)
    assert max(worst) < 0.1


def _table_errors(true, camera, height_mm):
    x, y = np.meshgrid(np.linspace(50, 1750, 18), np.linspace(50, 1150, 12))
    places = np.stack([x.ravel(), y.ravel()], axis=1)
    seen = true.to_image(np.column_stack([places, np.full(len(places), height_mm)]))
    off = camera.to_table(seen, height_mm) - places
    inverse = np.linalg.inv(camera.table_covariance(places, height_mm))
    squares = np.einsum("ni,nij,nj->n", off, inverse, off)
    return np.linalg.norm(off, axis=1), float(np.sqrt(squares.mean() / 2))
