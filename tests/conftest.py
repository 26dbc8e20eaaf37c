"""What many tests need: the shared footage, where it is there; a database; how hypothesis runs."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tablecam.record.server import Hall
from tests.record.postgres import ADVICE, Postgres, hall_on, programs

# No test passes or fails by the clock: the machine may be busy with something else.
settings.register_profile("tablecam", deadline=None)
settings.load_profile("tablecam")

SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of shared footage, photographs and cases beside the project."""
    if not SHARED.is_dir():
        pytest.skip("needs the shared footage and photographs in ../shared, which are not here")
    return SHARED


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
    """A hall of its own on that server: nothing is left in it for the test that follows."""
    with hall_on(postgres) as made:
        yield made
