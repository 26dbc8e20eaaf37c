"""Tests without the rights of whoever runs them."""

import os
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path

NOBODY = 65534


@contextmanager
def as_nobody():
    """Drops the rights of whoever runs the tests, who may be root."""
    if os.name != "posix" or os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@contextmanager
def open_folder():
    """A folder that anyone may read, unlike pytest's own."""
    folder = Path(tempfile.mkdtemp(prefix="tablecam-open-"))
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        folder.chmod(0o755)
        shutil.rmtree(folder)
