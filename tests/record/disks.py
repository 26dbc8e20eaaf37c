"""Real disks of a megabyte that can really fill up: in memory, for users who may mount them."""

import shutil
import subprocess
import sys
from contextlib import contextmanager, suppress

import pytest


@contextmanager
def a_disk(folder):
    """A folder that is a small disk of its own."""
    folder.mkdir()
    if sys.platform != "linux" or shutil.which("mount") is None:
        pytest.skip("needs Linux, to mount a small disk")
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tablecam-test", str(folder)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("needs the right to mount a small disk")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


@contextmanager
def no_room(disk):
    """Fill a disk for a while."""
    filler = disk / "filler"
    with filler.open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(4096))
    assert shutil.disk_usage(disk).free == 0
    yield
    filler.unlink()
