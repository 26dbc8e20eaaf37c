"""Blocks of the table, in pictures that differ in light, noise, or contents."""

from dataclasses import replace

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tablecam.vision.search.blocks import Blocks, blocks_of
from tablecam.vision.search.changes import ReferencePictures, as_map, detect_changes
from tests.vision.pictures import CAMERA

BLOCKS = blocks_of(CAMERA, (0.0, 0.0, 420.0, 300.0))
SHAPE = BLOCKS.shown.shape
NOTHING = np.zeros(BLOCKS.count, dtype=np.bool_)


def table_picture(seed=0, noise=0.5, number=0):
    """A reduced picture of some ground, with different noise for each `number`."""
    rough = np.random.default_rng(seed).uniform(60, 180, (SHAPE[0] // 4, SHAPE[1] // 4))
    ground = cv2.resize(rough, SHAPE[::-1], interpolation=cv2.INTER_CUBIC)
    return ground + np.random.default_rng((seed, number)).normal(0, noise, SHAPE)


def reduced(picture):
    return as_map(picture.clip(0, 255).round().astype(np.uint8))


def changes_between(now, then, before=None):
    ground = ReferencePictures.after_full_search(reduced(then), BLOCKS)
    if before is not None:
        ground = replace(ground, before=reduced(before))
    return detect_changes(reduced(now), ground, BLOCKS, doubted=NOTHING)


@given(st.lists(st.booleans(), min_size=24, max_size=24))
def test_boxes_cover_the_chosen_blocks_and_no_other_and_none_twice(chosen):
    blocks = Blocks(np.array([-10.0, 5.0]), 6, 4, np.zeros((1, 1), np.int64))
    rows = np.array(chosen)
    boxes = blocks.boxes_mm(rows)
    middles = np.array([[x, y] for y in range(4) for x in range(6)]) * 60 + [20.0, 35.0]
    inside = (middles[:, None] > boxes[None, :, :2]) & (middles[:, None] < boxes[None, :, 2:])
    assert np.array_equal(inside.all(axis=2).sum(axis=1), rows.astype(int))


@given(st.integers(1, 60))
def test_tiles_hold_every_block_once(tiles):
    number_of = [BLOCKS.tile(number, tiles).astype(int) for number in range(300)]
    again = next(n for n in range(1, 300) if (number_of[n] == number_of[0]).all())
    assert (np.sum(number_of[:again], axis=0) == 1).all()


def test_a_block_shows_where_the_camera_sees_it():
    places = np.array([[60.0, 70.0], [210.0, 150.0], [400.0, 280.0]])
    pixels = CAMERA.to_image(np.column_stack([places, np.zeros(3)]))
    columns, rows = ((pixels + 0.5) / 8).astype(int).T
    assert np.array_equal(BLOCKS.shown[rows, columns], BLOCKS.at(places))


def test_noise_is_no_change():
    for number in range(1, 20):
        seen = changes_between(table_picture(number=number), table_picture())
        assert not seen.since_searched.any()
        assert not seen.since_before.any()


@pytest.mark.parametrize("gain", [0.5, 0.8, 1.25])
def test_other_light_is_no_change(gain):
    assert not changes_between(gain * table_picture(number=1), table_picture()).since_searched.any()


def test_light_from_one_side_is_no_change():
    gain = np.linspace(0.7, 1.2, SHAPE[1])
    assert not changes_between(gain * table_picture(number=1), table_picture()).since_searched.any()


@pytest.mark.parametrize("gain", [0.6, 1.0, 1.2])
def test_a_thing_that_was_laid_down_is_a_change_where_it_lies_and_only_there(gain):
    now = table_picture(number=1)
    row, column = SHAPE[0] // 2, SHAPE[1] // 2
    now[row : row + 3, column : column + 3] = 30.0
    seen = changes_between(gain * now, table_picture())
    there = np.unique(BLOCKS.shown[row : row + 3, column : column + 3])
    assert seen.since_searched.any()
    assert set(np.flatnonzero(seen.since_searched)) <= set(there)
    assert np.array_equal(seen.waiting > 0, seen.since_searched)


def test_what_is_as_it_was_before_has_stopped_changing():
    now, before = table_picture(number=1), table_picture(number=2)
    now[40:50, 40:50] = before[40:50, 40:50] = 200.0
    seen = changes_between(now, table_picture(), before)
    assert seen.since_searched.any()
    assert not seen.since_before.any()


def test_what_was_searched_in_other_light_is_remembered_as_it_would_look_in_the_old():
    then = table_picture()
    ground = ReferencePictures.after_full_search(reduced(then), BLOCKS)
    searched = BLOCKS.tile(0, 4)
    for number in range(1, 4):
        now = reduced(0.7 * table_picture(number=number))
        seen = detect_changes(now, ground, BLOCKS, doubted=NOTHING)
        assert not seen.since_searched.any()
        ground = ground.updated(now, seen, BLOCKS, searched=searched)
    seen = detect_changes(reduced(table_picture(number=9)), ground, BLOCKS, doubted=NOTHING)
    assert not seen.since_searched.any()


def test_noise_that_grows_is_learned_and_forgotten_again():
    ground = ReferencePictures.after_full_search(reduced(table_picture(noise=0.0)), BLOCKS)
    levels = []
    for noise in (0.0, 1.5, 0.0):
        for number in range(60):
            now = reduced(table_picture(noise=noise, number=number))
            seen = detect_changes(now, ground, BLOCKS, doubted=NOTHING)
            ground = ground.updated(now, seen, BLOCKS, searched=NOTHING)
        levels.append(ground.noise_grey)
    assert levels[1] > 1.2
    assert levels[0] < 0.3
    assert levels[2] < 0.3


def test_a_hand_that_keeps_moving_is_no_noise():
    ground = ReferencePictures.after_full_search(reduced(table_picture()), BLOCKS)
    width_px = SHAPE[1] // 5
    for number in range(60):
        picture = table_picture(number=number)
        left = 7 * number % (SHAPE[1] - width_px)
        picture[:, left : left + width_px] = 10
        now = reduced(picture)
        seen = detect_changes(now, ground, BLOCKS, doubted=NOTHING)
        ground = ground.updated(now, seen, BLOCKS, searched=NOTHING)
        assert seen.since_searched.any()
    assert ground.noise_grey < 1.6  # twice what two pictures with noise of 0.5, rounded, differ by
