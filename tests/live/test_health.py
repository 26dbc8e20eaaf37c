"""The camera's health in words."""

import pytest

from tablecam.capture.status import SourceStatus
from tablecam.live.loop import Tally, health

LIVE = SourceStatus("camera 0", "live", "camera 0", frames_per_s=15.0)
GOOD = Tally(seen=80, reprojection_px=0.2)


def warnings(status=LIVE, **changes):
    fields = {name: getattr(GOOD, name) for name in Tally.__dataclass_fields__} | changes
    return health(status, "monday", Tally(**fields)).warnings


def test_a_good_camera_warns_of_nothing():
    assert warnings() == ()


def test_what_is_amiss_with_the_table_tags_is_said_before_any_advice():
    hidden = "Only tags 0 and 3 are usable: positions are frozen until three are"
    dark = "too dark: noise doubles the error; add light"
    assert warnings(trouble=hidden, advice=(dark,)) == (hidden, dark)


def test_a_slow_computer_is_named():
    (warning,) = warnings(behind_s=1.25)
    assert "1.2 s behind" in warning


@pytest.mark.parametrize("state", ["opening", "lost"])
def test_an_old_frame_is_not_blamed_while_the_source_is_away(state):
    status = SourceStatus("camera 0", state, "camera 0 is away")
    words = warnings(status, reprojection_px=9.0)
    assert words == (("camera 0 is away",) if state == "lost" else ())


def test_what_a_camera_gives_instead_of_what_was_asked_is_shown():
    status = SourceStatus("camera 0", "live", "camera 0", notes=("delivers 1280x720",))
    assert warnings(status) == ("delivers 1280x720",)


def test_advice_is_shown_while_pictures_come_and_not_when_the_source_is_away():
    dark = "too dark: noise doubles the error; add light"
    assert warnings(advice=(dark,)) == (dark,)
    lost = SourceStatus("camera 0", "lost", "camera 0 is away")
    assert warnings(lost, advice=(dark,)) == ("camera 0 is away",)
