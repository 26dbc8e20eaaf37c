"""Two hundred pushes, swaps, splits and merges of counters on hexes under a simulated camera.

Moving a counter from under one stack to under another is left out: no camera sees that.
"""

from rich.console import Console

from tests.rules.hexes.drill import Drill

ACTIONS = 200


def test_no_action_on_hexes_is_taken_for_another():
    drill = Drill(seed=1806)
    for _ in range(ACTIONS):
        drill.act()
    Console().print(f"{ACTIONS} actions on hexes: {dict(drill.counts)}")
    assert not drill.faults
    assert drill.counts["explained"] >= 0.8 * ACTIONS
