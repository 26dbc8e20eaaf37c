"""Matrix products in one thread: ours are many and small.

Handing them to several takes longer than doing them, and a hundred times as long while other
programs keep the cores busy: a search of 0.28 s took 1.5 s on two cores.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from threadpoolctl import ThreadpoolController

_POOLS = ThreadpoolController()


@contextmanager
def one_thread() -> Iterator[None]:
    """Do without numpy's threads for as long as this lasts. It may decorate a function, too."""
    with _POOLS.limit(limits=1, user_api="blas"):
        yield
