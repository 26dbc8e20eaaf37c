import numpy as np
import pytest

from tablecam.vision.fitting.dictionary import tag_patterns
from tablecam.vision.fitting.texture import tag_textures

PATTERNS = tag_patterns("DICT_4X4_250", [5, 9])
TAG = np.array([1])


def at(textures, right, up):
    points = (np.array([[value]], dtype=np.float32) for value in (right, up))
    return [float(part[0, 0]) for part in textures.at(TAG, *points)]


def test_a_tag_is_white_around_black_around_its_pattern():
    textures = tag_textures(PATTERNS.cells, 0.05)
    assert at(textures, 0.0, 3.5)[0] == pytest.approx(1, abs=0.01)
    assert at(textures, -2.5, 0.0)[0] == pytest.approx(0, abs=0.01)
    inner = [[at(textures, column - 1.5, 1.5 - row)[0] for column in range(4)] for row in range(4)]
    assert np.allclose(inner, PATTERNS.cells[1], atol=0.01)
    assert np.allclose(textures.cells[1, 1:-1, 1:-1], PATTERNS.cells[1], atol=0.01)


def test_slopes_are_those_of_the_values():
    textures = tag_textures(PATTERNS.cells, 0.3)
    generator = np.random.default_rng(3)
    for right, up in generator.uniform(-3, 3, (20, 2)):
        _, by_right, by_up, _ = at(textures, right, up)
        step = 1 / 8  # in samples of a texture: the least step for slopes
        across = at(textures, right + step, up)[0] - at(textures, right - step, up)[0]
        along = at(textures, right, up + step)[0] - at(textures, right, up - step)[0]
        assert by_right == pytest.approx(across / (2 * step), abs=0.01)
        assert by_up == pytest.approx(along / (2 * step), abs=0.01)


def test_white_bleeds_into_black_as_cameras_let_it():
    edge = at(tag_textures(PATTERNS.cells, 0.3), -3.0, 0.0)[0]
    assert 0.6 < edge < 0.8
