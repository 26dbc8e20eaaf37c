"""The embedded demos: their tables, scripts and camera.

A game's package provides its demo as `demo_table.toml` and `demo_script.toml`; those of the default
demo and of a table without a rulebook are in this folder.
"""

from __future__ import annotations

import math
import tomllib
from importlib.resources import files

import cv2
import numpy as np

from calibration.camera import Camera, Pose
from calibration.lens import Lens
from tablecam.documents import document_from
from tablecam.errors import BadInput
from tablecam.rules.discovery import folder_of, text_of
from tablecam.rules.games import game_names, known_games
from tablecam.simulate.script import Script, script_from
from tablecam.simulate.table import SimulatedTable
from tablecam.table.model import FREE, TableSize
from tablecam.table.roster import Roster
from tablecam.table.table_file import roster_from
from tablecam.wording import nearest, quoted

_FIELD_PER_HEIGHT = 0.93
"""The share of the picture's height and width that the table may fill."""


_OWN = {None: "demo", FREE: "free"}
"""The names of the demos in this folder, by game; None is the default."""


def demo_text(game: str | None, kind: str) -> str | None:
    """Returns the text of a demo's `table` or `script`; None if the game has no demo."""
    if game in _OWN:
        file = files("tablecam.simulate") / f"{_OWN[game]}_{kind}.toml"
        return file.read_text(encoding="utf-8")
    default = demo_text(None, kind)
    # The default demo plays a game, too.
    is_default = default is not None and demo_roster().game == game
    return default if is_default else text_of(str(game), f"demo_{kind}.toml")


def games_with_demo() -> tuple[str, ...]:
    """Returns the games that have a demo, the default first."""
    games = dict.fromkeys((demo_roster().game, *game_names(), FREE))
    return tuple(game for game in games if demo_text(game, "table") is not None)


def demo_roster(game: str | None = None) -> Roster:
    """Returns the roster of a game's demo; by default two armies of eleven units.

    Raises:
        BadInput: There is no demo of the game.
    """
    document = document_from(tomllib.loads(_demo_text(game, "table")), "demo table")
    folder = None if game in _OWN else folder_of(str(game))
    return roster_from(document, known_games(), folder)


def demo_script(game: str | None = None) -> Script:
    """Returns the script of a game's demo; by default a battle loosely after Leuthen.

    Raises:
        BadInput: There is no demo of the game.
    """
    document = document_from(tomllib.loads(_demo_text(game, "script")), "script")
    return script_from(document, demo_roster(game).table.hex_map)


def _demo_text(game: str | None, kind: str) -> str:
    text = demo_text(game, kind)
    if text is None:
        known = games_with_demo()
        raise BadInput(
            "--game", f"there is no demo of {quoted(str(game))}{nearest(str(game), known)}"
        )
    return text


def embedded_demo(game: str | None = None) -> SimulatedTable:
    """Returns a demo's table at the beginning of its script.

    Raises:
        BadInput: There is no demo of the game.
    """
    return SimulatedTable(demo_roster(game), demo_script(game))


def demo_camera(
    width_px: int = 2560, height_px: int = 1440, table: TableSize | None = None
) -> Camera:
    """Returns the exact camera of the demo: a webcam on an arm over the table, not quite level.

    Its lens has the distortion of a cheap wide-angle lens. It sees all of `table` (by default the
    demo's), with a margin.
    """
    table = table or TableSize(1200, 800, 30)
    focal_px = 0.95 * width_px
    lens = Lens(
        width_px,
        height_px,
        fx_px=focal_px,
        fy_px=focal_px * 1.0008,
        cx_px=width_px / 2 - 0.5 + 0.006 * width_px,
        cy_px=height_px / 2 - 0.5 - 0.004 * height_px,
        k1=-0.15,
        k2=0.035,
        p1=0.0004,
        p2=-0.0006,
    )
    # The side that fits more tightly sets the height.
    height_mm = focal_px * max(
        table.width_mm / (_FIELD_PER_HEIGHT * width_px),
        table.depth_mm / ((_FIELD_PER_HEIGHT - 0.06) * height_px),
    )
    middle = np.array([table.width_mm / 2, table.depth_mm / 2, 0.0])
    # A camera that looks straight down, then tilted a little.
    rotation = _turn(4.0, 0) @ _turn(-2.2, 1) @ _turn(1.3, 2) @ np.diag([1.0, -1.0, -1.0])
    rotation_vector, _ = cv2.Rodrigues(rotation)
    # The table's middle lies on the optical axis.
    translation = np.array([0.0, 0.0, height_mm]) - rotation @ middle
    pose = Pose(_three(rotation_vector.ravel()), _three(translation))
    return Camera(lens, pose, name="simulated, exact")


def _turn(degrees: float, axis: int) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    vector = np.zeros(3)
    vector[axis] = math.radians(degrees)
    matrix, _ = cv2.Rodrigues(vector)
    return np.asarray(matrix, dtype=np.float64)


def _three(values: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> tuple[float, float, float]:
    x, y, z = (float(value) for value in values)
    return x, y, z
