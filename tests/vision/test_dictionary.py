import cv2
import numpy as np
import pytest

from tablecam.errors import BadInput
from tablecam.vision.fitting.dictionary import tag_patterns


@pytest.mark.parametrize("name", ["DICT_4X4_250", "DICT_5X5_100", "DICT_6X6_250"])
def test_patterns_are_what_opencv_prints(name):
    patterns = tag_patterns(name, [7, 3, 42])
    dictionary = cv2.aruco.getPredefinedDictionary(getattr(cv2.aruco, name))
    assert patterns.ids.tolist() == [3, 7, 42]
    for tag, cells in zip(patterns.ids, patterns.cells, strict=True):
        drawn = cv2.aruco.generateImageMarker(dictionary, int(tag), patterns.side_cells * 5) > 127
        framed = np.pad(cells, 1).astype(bool)
        assert (drawn == framed.repeat(5, axis=0).repeat(5, axis=1)).all()


def test_a_dictionary_nobody_knows_is_refused_by_key():
    with pytest.raises(BadInput, match=r"^t\.toml: tags\.dictionary: expected an ArUco .*'DICT_9'"):
        tag_patterns("DICT_9", [1], source="t.toml")


def test_an_id_beyond_the_dictionary_is_refused():
    with pytest.raises(BadInput, match="expected tags 0 to 249 of DICT_4X4_250, got 250"):
        tag_patterns("DICT_4X4_250", [1, 250])
