"""What happened to the camera, as the page's log shows it."""

from datetime import UTC, datetime

import pytest

from tablecam.live.notices import MOST_KEPT, Notice, with_notice

NOON = datetime(2025, 8, 1, 12, tzinfo=UTC)


def test_notices_are_numbered_in_their_order():
    first = with_notice((), "The camera was bumped.", NOON)
    second = with_notice(first, "Table tag 2 was moved.", NOON)
    assert [(each.number, each.text) for each in second] == [
        (1, "The camera was bumped."),
        (2, "Table tag 2 was moved."),
    ]


def test_old_notices_make_room_and_numbers_go_on():
    notices = ()
    for _ in range(MOST_KEPT + 5):
        notices = with_notice(notices, "Bumped.", NOON)
    assert len(notices) == MOST_KEPT
    assert notices[-1].number == MOST_KEPT + 5


def test_a_time_without_its_zone_is_refused():
    with pytest.raises(ValueError, match="zone"):
        Notice(1, NOON.replace(tzinfo=None), "Bumped.")
