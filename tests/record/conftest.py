"""A real server for what is kept on one."""

import os

import pytest

from tests.record.postgres import ADVICE, Postgres, programs


@pytest.fixture(scope="session")
def postgres():
    folder = programs()
    if folder is None:
        if os.environ.get("CI"):
            pytest.fail(ADVICE)
        pytest.skip(ADVICE)
    server = Postgres(folder)
    server.start()
    yield server
    server.close()
