"""Counters pushed about under a simulated camera: nothing is taken for what it is not."""

from tests.rules.hexes.drill import Drill


def test_pushes_swaps_splits_and_merges_are_explained_or_asked_about():
    """`make bench` does two hundred."""
    drill = Drill(seed=2)
    for _ in range(14):
        drill.act()
    assert not drill.faults
    # Nothing happened that was not at least among what players are asked to choose from.
    assert drill.counts["asked openly"] == 0
    # A question at every turn would be no help.
    assert drill.counts["explained"] >= 10
    assert {"push", "swap", "split", "merge"} <= drill.counts.keys()
