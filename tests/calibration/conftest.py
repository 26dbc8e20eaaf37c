"""Shared costly results: the board views of the footage, and the lens found from them."""

from __future__ import annotations

from pathlib import Path

import pytest

from calibration.grey import to_grey
from calibration.intrinsics.board import BoardView, find_chessboard
from calibration.intrinsics.lens_from_views import LensSearch, lens_from_views
from calibration.results import Origin
from tablecam.capture.picture_files import read_picture
from tests.footage import Rig


@pytest.fixture(scope="session", params=["hd-b", "uhd-b"])
def rig(request: pytest.FixtureRequest, shared: Path, kept: Path) -> Rig:
    """One of the two cameras of the footage."""
    return Rig(shared / "footage" / request.param, kept)


@pytest.fixture(scope="session")
def board_views(rig: Rig) -> tuple[BoardView, ...]:
    """The lens board as each lens view of the footage shows it."""
    return rig.board_views


@pytest.fixture(scope="session")
def lens_search(board_views: tuple[BoardView, ...]) -> LensSearch:
    """The lens found from those views."""
    return lens_from_views(board_views, Origin("2025-01-01T00:00:00+00:00", ()))


@pytest.fixture(scope="session")
def chessboard_views(shared: Path) -> tuple[BoardView, ...]:
    """A real camera's views of a chessboard."""
    paths = sorted((shared / "real" / "chessboard").glob("*.jpg"))
    return tuple(
        find_chessboard(
            to_grey(read_picture(path)), path.name, inner_corners=(9, 6), square_mm=25.0
        )
        for path in paths
    )
