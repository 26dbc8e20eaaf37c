import threading

import numpy as np
import pytest

from tablecam.simulate.rendering.render import PLAIN
from tablecam.simulate.source import SimulatedSource
from tablecam.simulate.table import SimulatedTable
from tests.patience import PATIENCE_S


@pytest.fixture
def table(roster, script):
    return SimulatedTable(roster, script)


def _source(table, camera, **options):
    return SimulatedSource(table, camera, look=PLAIN, **options)


def test_unpaced_frames_follow_each_other_by_the_frame_rate(table, camera):
    source = _source(table, camera, frames_per_s=4, is_paced=False)
    frames = [source.read() for _ in range(3)]
    assert [frame.number for frame in frames] == [0, 1, 2]
    assert [frame.taken_at_s for frame in frames] == pytest.approx([0, 0.25, 0.5])
    assert table.script_s == pytest.approx(0.5)
    assert (frames[0].width_px, frames[0].height_px) == (800, 520)


def test_paced_frames_are_stamped_with_the_monotonic_clock(table, camera):
    source = _source(table, camera, frames_per_s=200)
    first, second = source.read(), source.read()
    assert second.taken_at_s - first.taken_at_s >= 0.004
    assert 0 < table.script_s <= 0.5


def test_the_truth_of_a_frame_is_kept_beside_it(table, camera):
    source = _source(table, camera, is_paced=False)
    before = table.truth()
    source.read()
    table.move_unit("P1", 200, 100, 45)
    source.read()
    assert source.truth_of(0) == before
    assert source.truth_of(1) == table.truth() != before


def test_old_truths_are_forgotten(table, camera):
    source = _source(table, camera, is_paced=False)
    for _ in range(70):
        source.read()
    with pytest.raises(KeyError):
        source.truth_of(0)
    assert source.truth_of(69) == table.truth()


def test_a_drag_is_seen_in_the_next_frame(table, camera):
    source = _source(table, camera, is_paced=False)
    before = source.read().image
    table.move_unit("P1", 200, 100, 45)
    assert not np.array_equal(before, source.read().image)


def test_a_closed_source_has_ended(table, camera):
    source = _source(table, camera, is_paced=False)
    source.read()
    source.close()
    source.close()
    assert source.read() is None


def test_closing_ends_a_read_that_waits(table, camera):
    source = _source(table, camera, frames_per_s=1 / 3600)
    source.read()
    answers = []
    waiting = threading.Thread(target=lambda: answers.append(source.read()))
    waiting.start()
    source.close()
    waiting.join(PATIENCE_S)
    assert answers == [None]


def test_two_runs_without_pace_are_the_same(roster, script, camera):
    pictures = []
    for _ in range(2):
        source = SimulatedSource(SimulatedTable(roster, script), camera, is_paced=False)
        pictures.append([source.read().image for _ in range(2)])
    assert np.array_equal(pictures[0], pictures[1])
