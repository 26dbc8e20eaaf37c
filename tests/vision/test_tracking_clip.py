"""Tracking on a rendered film: a hand reaches in, hides bases, moves a unit of four, and leaves."""

import math
from itertools import pairwise

import pytest

from tablecam.table.headings import difference_deg
from tablecam.vision.search.tag_appearance import through_camera
from tablecam.vision.search.tag_finder import TagFinder
from tablecam.vision.tracking.tracking import BaseTracker
from tests.footage import Clip
from tests.vision.films import moves

EVERY = 2
"""Of 15 frames a second: fewer pictures in which to find out what happened."""
WHOLE_SEARCH_EVERY = 15


@pytest.fixture(scope="module")
def clip(shared, kept):
    return Clip(shared / "footage" / "clip-b", kept)


@pytest.fixture(scope="module")
def film(clip):
    """The tags that the calibrated camera shows in each frame, with the frame's truth."""
    finder, search, seen = TagFinder(clip.found_camera, clip.roster), None, []
    for number, (grey, truth) in enumerate(clip.frames(every=EVERY)):
        search = finder.search(grey, before=search if number % WHOLE_SEARCH_EVERY else None)
        seen.append((search.sightings, truth))
    return seen


@pytest.fixture(scope="module", params=["camera", "found_camera"])
def watched(request, clip, film):
    """The tracker's result for each frame, with the frame's truth, for each of two cameras."""
    camera = getattr(clip, request.param)
    tracker, story = BaseTracker(clip.roster, camera), []
    for seen, truth in film:
        there = through_camera(seen, clip.found_camera, camera)
        story.append((tracker.update(there, truth["time_s"]), truth))
    return story


def true_bases(truth):
    return {base["tag"]: base for unit in truth["position"]["units"] for base in unit["bases"]}


def beside_mm(pose, true):
    return math.hypot(pose.x_mm - true["x_mm"], pose.y_mm - true["y_mm"])


def moved_truly(story):
    """The tags of the bases whose first and last places differ."""
    first, last = true_bases(story[0][1]), true_bases(story[-1][1])
    return {
        tag
        for tag in first
        if math.dist(
            (first[tag]["x_mm"], first[tag]["y_mm"]), (last[tag]["x_mm"], last[tag]["y_mm"])
        )
        > 1.0
    }


def reported(story):
    """Every move with the time at which it was reported, and the truth then."""
    return [
        (move, truth["time_s"], true_bases(truth))
        for (before, _), (after, truth) in pairwise(story)
        for move in moves(before, after)
    ]


def test_each_base_of_the_moved_unit_moves_once_and_nothing_else_does(watched):
    assert sorted(move.tag for move, _, _ in reported(watched)) == sorted(moved_truly(watched))


def test_the_moved_unit_settles_within_0_7_s_of_its_rest_at_the_right_place(watched):
    rest_s = 1 / 15 + max(truth["time_s"] for _, truth in watched if truth["moving"])
    for move, at_s, true in reported(watched):
        assert at_s - rest_s <= 0.7
        assert beside_mm(move.end, true[move.tag]) <= 0.5
        assert abs(difference_deg(move.end.heading_deg, true[move.tag]["heading_deg"])) <= 1.0


def test_what_a_referee_may_believe_is_always_where_a_base_truly_rests_or_rested(watched):
    before = true_bases(watched[0][1])
    for bases, truth in watched:
        now = true_bases(truth)
        for base in bases:
            if base.believed is not None and base.tag in now:
                places = (before[base.tag], now[base.tag])
                assert min(beside_mm(base.believed, place) for place in places) <= 0.5


def test_bases_under_the_hand_are_held(watched):
    held, hands = 0, 0
    for bases, truth in watched:
        hands += truth["hand_in_view"]
        hidden = {tag for tag, share in truth["visible_share"].items() if share < 0.1}
        for base in bases:
            if str(base.tag) in hidden:
                assert base.pose.seen == "held"
                held += truth["hand_in_view"]
    assert held > 0.75 * hands > 0
