"""Pictures decoded no further than asked, whatever their file format."""

import threading

import cv2
import numpy as np
import pytest

from calibration.grey import to_grey
from tablecam.capture.errors import BrokenPicture
from tablecam.capture.picture import DecodedPicture, JpegPicture

ROUNDING = 1
"""Rounding of a mean of 64 pixels, once by the decoder and once by us."""


def _smooth(height_px: int, width_px: int) -> np.ndarray:
    coarse = np.random.default_rng(5).integers(30, 220, (6, 8, 3), dtype=np.uint8)
    return cv2.resize(coarse, (width_px, height_px), interpolation=cv2.INTER_CUBIC)


def _jpeg(image: np.ndarray) -> bytes:
    return cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, 95])[1].tobytes()


def _segments(data: bytes) -> dict[int, tuple[int, int]]:
    """The start and end of each JPEG header, by kind."""
    segments, at = {}, 2
    while data[at + 1] != 0xDA:
        end = at + 2 + int.from_bytes(data[at + 2 : at + 4])
        segments[data[at + 1]] = (at, end)
        at = end
    return segments


@pytest.mark.parametrize("size", [(480, 640), (1080, 1920), (121, 243)])
def test_every_form_of_a_picture_has_its_size(size):
    height_px, width_px = size
    image = _smooth(*size)
    for picture in (JpegPicture(_jpeg(image)), DecodedPicture(image)):
        assert (picture.width_px, picture.height_px) == (width_px, height_px)
        assert picture.image.shape == (height_px, width_px, 3)
        assert picture.grey().shape == (height_px, width_px)
        assert picture.reduced_grey().shape == (-(-height_px // 8), -(-width_px // 8))


def test_a_decoded_picture_is_grey_as_everywhere_else():
    image = _smooth(120, 160)
    assert np.array_equal(DecodedPicture(image).grey(), to_grey(image))


@pytest.mark.parametrize("make", [DecodedPicture, lambda image: JpegPicture(_jpeg(image))])
def test_a_reduced_picture_holds_the_means_of_the_grey_one(make):
    picture = make(_smooth(120, 160))
    means = picture.grey().reshape(15, 8, 20, 8).mean(axis=(1, 3))
    assert np.abs(picture.reduced_grey() - means).max() <= ROUNDING


def test_black_and_white_are_as_grey_in_a_jpeg_as_out_of_it():
    squares = np.kron(np.indices((12, 16)).sum(axis=0) % 2, np.ones((10, 10)))
    image = np.repeat((40 + 160 * squares).astype(np.uint8)[..., None], 3, axis=2)
    picture = JpegPicture(_jpeg(image))
    difference = picture.grey().astype(int) - to_grey(picture.image)
    assert np.abs(difference).max() <= ROUNDING


def test_a_jpeg_is_what_the_sensor_saw_whatever_its_exif_says(tmp_path):
    jpeg = _jpeg(_smooth(40, 64))
    tag = b"\x01\x12\x00\x03\x00\x00\x00\x01\x00\x06\x00\x00"
    body = b"Exif\x00\x00MM\x00*\x00\x00\x00\x08\x00\x01" + tag + bytes(4)
    turned = jpeg[:2] + b"\xff\xe1" + (len(body) + 2).to_bytes(2) + body + jpeg[2:]
    # The file is as intended: OpenCV by default turns it.
    assert cv2.imdecode(np.frombuffer(turned, np.uint8), cv2.IMREAD_GRAYSCALE).shape == (64, 40)
    picture, plain = JpegPicture(turned), JpegPicture(jpeg)
    assert np.array_equal(picture.image, plain.image)
    assert np.array_equal(picture.grey(), plain.grey())
    assert np.array_equal(picture.reduced_grey(), plain.reduced_grey())


def test_a_jpeg_without_its_code_tables_is_read_as_films_of_them_have_it():
    jpeg = _jpeg(_smooth(48, 64))
    bare = jpeg
    while 0xC4 in (segments := _segments(bare)):
        start, end = segments[0xC4]
        bare = bare[:start] + bare[end:]
    assert np.array_equal(JpegPicture(bare).image, JpegPicture(jpeg).image)


def test_what_was_decoded_once_is_not_decoded_again_and_nobody_may_draw_on_it():
    for picture in (DecodedPicture(_smooth(48, 64)), JpegPicture(_jpeg(_smooth(48, 64)))):
        assert picture.image is picture.image
        assert picture.grey() is picture.grey()
        assert picture.reduced_grey() is picture.reduced_grey()
        for form in (picture.image, picture.grey(), picture.reduced_grey()):
            with pytest.raises(ValueError, match="read-only"):
                form[0, 0] = 0


def test_many_threads_are_given_the_same_array():
    picture = JpegPicture(_jpeg(_smooth(480, 640)))
    start, greys = threading.Barrier(4), []

    def ask():
        start.wait()
        greys.append(picture.grey())

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(greys) == 4
    assert all(grey is greys[0] for grey in greys)


def test_bytes_that_are_no_whole_jpeg_are_refused_at_once():
    jpeg = _jpeg(_smooth(48, 64))
    for broken in (
        b"",
        b"text",
        b"\x89PNG",
        jpeg[:2],
        jpeg[:40],
        jpeg[: len(jpeg) // 2],
        jpeg[:-2],
    ):
        with pytest.raises(BrokenPicture):
            JpegPicture(broken)


def test_a_thumbnail_inside_of_half_a_jpeg_does_not_make_it_whole():
    jpeg = _jpeg(_smooth(480, 640))
    thumbnail = _jpeg(_smooth(48, 64))
    head = b"\xff\xe1" + (len(thumbnail) + 2).to_bytes(2)
    with_thumbnail = jpeg[:2] + head + thumbnail + jpeg[2:]
    assert JpegPicture(with_thumbnail).width_px == 640
    with pytest.raises(BrokenPicture):
        JpegPicture(with_thumbnail[: len(with_thumbnail) * 2 // 3])


def test_a_jpeg_that_turns_out_to_be_damaged_says_so_when_it_is_decoded():
    jpeg = _jpeg(_smooth(48, 64))
    start, end = _segments(jpeg)[0xDB]
    without_tables = jpeg[:start] + jpeg[end:]
    while 0xDB in (segments := _segments(without_tables)):
        start, end = segments[0xDB]
        without_tables = without_tables[:start] + without_tables[end:]
    picture = JpegPicture(without_tables)
    with pytest.raises(BrokenPicture, match="damaged"):
        picture.reduced_grey()
