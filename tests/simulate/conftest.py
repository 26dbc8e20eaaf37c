"""A small table with big tags under a small camera: quick to draw, exact to measure."""

from dataclasses import replace

import pytest

from calibration.camera import Camera
from tablecam.simulate.demo import demo_camera, demo_roster
from tablecam.simulate.script import Script, Start
from tablecam.table.model import TableSize
from tablecam.table.roster import BaseType, Roster, TableTag, UnitEntry

PLAQUE = BaseType("plaque", 60, 60, 42, tag_right_mm=3, tag_forward_mm=-4, tag_height_mm=5)
TILE = BaseType("tile", 40, 40, 20, tag_forward_mm=-6, tag_height_mm=3)


@pytest.fixture(scope="session")
def roster() -> Roster:
    """Two units of two sides, one table tag."""
    return Roster(
        game="maurice-lite",
        table=TableSize(480, 320, 40),
        dictionary="DICT_4X4_250",
        table_tag_size_mm=40,
        table_tags=(TableTag(0, 40, 40),),
        base_types=(PLAQUE, TILE),
        units=(
            UnitEntry("P1", "prussian", "infantry", PLAQUE, (10, 11)),
            UnitEntry("A1", "austrian", "cavalry", TILE, (20, 21, 22, 23)),
        ),
        commanders=(),
        terrain=(),
    )


@pytest.fixture(scope="session")
def script() -> Script:
    """Both units in line, facing each other; nobody moves."""
    return Script("prussian", (Start("P1", 240, 90, 90), Start("A1", 240, 240, 270)), ())


@pytest.fixture(scope="session")
def camera(roster: Roster) -> Camera:
    """A small picture of the small table, through a strongly bent lens."""
    camera = demo_camera(800, 520, roster.table)
    return replace(camera, lens=replace(camera.lens, k1=-0.2))


@pytest.fixture(scope="session")
def leuthen() -> Roster:
    """The demo's table."""
    return demo_roster()
