"""How long a test waits for what happens beside it, and how it looks again."""

import time
from collections.abc import Callable, Iterator

PATIENCE_S = 60.0  # only reached when a test fails
_PAUSE_S = 0.05


def in_time(patience_s: float = PATIENCE_S) -> Iterator[None]:
    """A turn for each look, while there is patience left."""
    end_s = time.monotonic() + patience_s
    while time.monotonic() < end_s:
        yield


def comes_true(is_so: Callable[[], bool]) -> None:
    """Look again until something is so."""
    for _ in in_time():
        if is_so():
            return
        time.sleep(_PAUSE_S)
    raise AssertionError("it never comes to be so")
