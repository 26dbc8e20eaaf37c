"""Processes of tests that are killed: whatever happens, none outlives its test."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
LONGEST_S = 240.0
"""Time limit of all lives together: dozens of times what they take on two idle cores."""


@contextmanager
def lives_of(module: str, folder: Path) -> Iterator[subprocess.Popen[str]]:
    """A module run with a folder as a process that reads and answers in lines.

    It and its forks end with the test, or when they take too long: then whoever waits for their
    next line reads the end of the file instead of waiting for ever.
    """
    with subprocess.Popen(
        [sys.executable, "-m", module, str(folder)],
        cwd=PROJECT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,  # a group of their own, killed as one
    ) as process:
        ending = threading.Timer(LONGEST_S, _kill_all_of, (process.pid,))
        ending.start()
        try:
            yield process
        finally:
            ending.cancel()
            _kill_all_of(process.pid)


def line_of(process: subprocess.Popen[str]) -> str:
    """The next line from the process or its child.

    Raises:
        AssertionError: They have ended without being told to.
    """
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line, "the process ended, or was ended because it took too long"
    return line


def asked(process: subprocess.Popen[str], line: str) -> None:
    """Write a line to the process."""
    assert process.stdin is not None
    process.stdin.write(f"{line}\n")
    process.stdin.flush()


def _kill_all_of(group: int) -> None:
    with suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)
