"""What many tests need: the shared footage, if present; a database; settings of hypothesis."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tablecam.hall.server import Hall
from tests.record.postgres import ADVICE, Postgres, hall_on, programs
from tests.rules.toys import toys_beside_the_rules

# No test passes or fails by the clock, as the machine may be busy.
settings.register_profile("tablecam", deadline=None)
settings.load_profile("tablecam")

WAITING = ("tests/web/browser/",)
COMPUTING = ("tests/live", "tests/recorder/", "tests/vision/", "tests/calibration/")
"""Folders whose files take tens of seconds each: those that wait for a browser, and others."""

SHARED = Path(__file__).resolve().parents[2] / "shared"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put slow files first, with those that wait spread evenly among those that compute.

    Files go to processes in this order: a waiting one leaves its core to a computing one, and with
    many short ones last the processes end almost together.
    """
    files = [*dict.fromkeys(_file(item) for item in items)]
    places = dict.fromkeys(files, 2.0)
    places |= {file: 1.0 for file in files if file.startswith("tests/")}
    for folders in (WAITING, COMPUTING):
        group = [file for file in files if file.startswith(folders)]
        places |= {file: place / len(group) for place, file in enumerate(group)}
    items.sort(key=lambda item: places[_file(item)])


def _file(item: pytest.Item) -> str:
    return item.nodeid.partition("::")[0]


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of shared footage, photographs and cases beside the project."""
    if not SHARED.is_dir():
        pytest.skip("needs the shared footage and photographs in ../shared, which are not here")
    return SHARED


@pytest.fixture(scope="session")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all processes of this run share, so that costly results are computed once."""
    mine = tmp_path_factory.getbasetemp()
    folder = (mine.parent if "PYTEST_XDIST_WORKER" in os.environ else mine) / "kept"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A real PostgreSQL server on this machine alone; a test that stops it starts it again."""
    folder = programs()
    if folder is None:
        if os.environ.get("CI"):
            pytest.fail(ADVICE)
        pytest.skip(ADVICE)
    server = Postgres(folder)
    server.start()
    yield server
    server.close()


@pytest.fixture
def hall(postgres: Postgres) -> Iterator[Hall]:
    """A hall of its own on that server: nothing is left for the next test."""
    with hall_on(postgres) as made:
        yield made


@pytest.fixture(scope="module")
def toys() -> Iterator[None]:
    """Toy rule systems, which a file's tests find like any others."""
    with toys_beside_the_rules():
        yield
