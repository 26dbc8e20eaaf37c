"""A thread that waits for a lock gets it, however often another wants it."""

import threading

from tablecam.background import FairLock
from tests.patience import comes_true


def test_a_loop_that_takes_a_lock_again_and_again_lets_in_who_waits_for_it():
    lock, order = FairLock(), []

    def ask():
        with lock:
            order.append("page")

    with lock:
        asking = threading.Thread(target=ask)
        asking.start()
        comes_true(lambda: lock.is_awaited)
    with lock:
        order.append("loop")
    asking.join()
    assert order == ["page", "loop"]
