import pytest

from tablecam.capture.status import RateMeter


def _counted(*times_s: float) -> RateMeter:
    meter = RateMeter()
    for at_s in times_s:
        meter.count(at_s)
    return meter


def test_one_frame_has_no_rate() -> None:
    assert _counted().frames_per_s(1.0) == 0.0
    assert _counted(0.0).frames_per_s(1.0) == 0.0


def test_an_even_row_of_frames_has_its_rate_until_the_next_is_overdue() -> None:
    meter = _counted(0.0, 0.5, 1.0)
    assert meter.frames_per_s(1.0) == 2.0
    assert meter.frames_per_s(1.5) == 2.0


def test_the_rate_falls_while_no_frame_comes() -> None:
    meter = _counted(0.0, 0.5, 1.0)
    assert meter.frames_per_s(2.5) == pytest.approx(1.0)
    assert meter.frames_per_s(100.0) < 0.03


def test_only_the_last_frames_count() -> None:
    slow = [float(n) for n in range(40)]
    fast = [40 + n / 10 for n in range(40)]
    assert _counted(*slow, *fast).frames_per_s(43.9) == pytest.approx(10.0)
