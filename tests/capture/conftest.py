"""A clock without waiting, and pictures and films on disk."""

import threading
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
import pytest

SIZE_PX = (64, 48)


class FakeClock:
    """Time passes only by waiting, and waiting takes no time.

    After `patience` waits it really waits, until the event is set or a test calls `hurry`: a test
    can examine a reader between two tries.
    """

    def __init__(self, patience: int = 10_000) -> None:
        self.now = 100.0
        self.waits_s: list[float] = []
        self.is_out_of_patience = threading.Event()
        self._hurries = threading.Event()
        self._patience = patience

    def hurry(self) -> None:
        """Let all waits pass from now on."""
        self._hurries.set()

    def now_s(self) -> float:
        return self.now

    def wait(self, event: threading.Event, seconds: float) -> bool:
        self.waits_s.append(seconds)
        if len(self.waits_s) > self._patience:
            self.is_out_of_patience.set()
            while not (event.wait(0.01) or self._hurries.is_set()):
                pass
        self.now += max(seconds, 0.0)
        return event.is_set()


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def clock_with_patience() -> Callable[[int], FakeClock]:
    return FakeClock


def shade(level: int) -> np.ndarray:
    """A plain grey picture."""
    width_px, height_px = SIZE_PX
    return np.full((height_px, width_px, 3), level, dtype=np.uint8)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Pictures of growing brightness, whose natural order is not alphabetical."""
    path = tmp_path / "views"
    path.mkdir()
    for name, level in (("view-1.png", 10), ("view-2.png", 20), ("view-10.png", 100)):
        cv2.imwrite(str(path / name), shade(level))
    return path


@pytest.fixture
def film(tmp_path: Path) -> Path:
    """Five frames at 10/s, each brighter than the one before."""
    path = tmp_path / "game.avi"
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter.fourcc(*"MJPG"), 10.0, SIZE_PX)
    for level in (20, 60, 100, 140, 180):
        writer.write(shade(level))
    writer.release()
    return path


@pytest.fixture
def torn_film(tmp_path: Path) -> Path:
    """The first two thirds of a film of forty frames."""
    path = tmp_path / "torn.avi"
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter.fourcc(*"MJPG"), 10.0, SIZE_PX)
    for _ in range(40):
        writer.write(shade(90))
    writer.release()
    path.write_bytes(path.read_bytes()[: path.stat().st_size * 2 // 3])
    return path
