"""How fast the command line starts, compared with `python -c 'import numpy'` in the same run.

Target: `tablecam --help` takes at most 2.5 times as long.
"""

from __future__ import annotations

import subprocess
import sys
import time

from rich.console import Console

WANTED = 2.5
TIMES = 12
NUMPY = "-c", "import numpy"
HELP = "-m", "tablecam", "--help"


def took_s(*arguments: str) -> float:
    """How long Python takes with these arguments."""
    start_s = time.perf_counter()
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - start_s


def test_the_list_of_commands_is_there_at_once() -> None:
    # In turn, so that other work on the machine slows both; the least time is free of it.
    pairs = [(took_s(*HELP), took_s(*NUMPY)) for _ in range(TIMES)]
    help_s, numpy_s = (min(times) for times in zip(*pairs, strict=True))
    Console().print(
        f"tablecam --help: {help_s:.2f} s, import numpy: {numpy_s:.2f} s, "
        f"{help_s / numpy_s:.2f} x (wanted: {WANTED} x at most)"
    )
    assert help_s <= WANTED * numpy_s
