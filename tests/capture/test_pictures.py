from pathlib import Path

import cv2
import numpy as np
import pytest

from tablecam.capture.picture_files import natural_order, picture_paths, read_picture
from tablecam.errors import BadInput


def _jpeg_turned_by_exif(image: np.ndarray, orientation: int) -> bytes:
    """A JPEG whose EXIF orientation turns it for display."""
    entry = b"\x01\x12\x00\x03\x00\x00\x00\x01" + orientation.to_bytes(2, "big") + b"\x00\x00"
    tiff = b"MM\x00*\x00\x00\x00\x08\x00\x01" + entry + b"\x00\x00\x00\x00"
    body = b"Exif\x00\x00" + tiff
    segment = b"\xff\xe1" + (len(body) + 2).to_bytes(2, "big") + body
    jpeg = cv2.imencode(".jpg", image)[1].tobytes()
    return jpeg[:2] + segment + jpeg[2:]


@pytest.mark.parametrize("ending", [".png", ".bmp", ".tif", ".jpg", ".webp"])
def test_a_picture_reads_as_blue_green_red(tmp_path: Path, ending: str) -> None:
    image = np.zeros((40, 60, 3), dtype=np.uint8)
    image[...] = (200, 100, 20)
    cv2.imwrite(str(tmp_path / f"p{ending}"), image)
    read = read_picture(tmp_path / f"p{ending}")
    assert read.shape == (40, 60, 3)
    assert read.dtype == np.uint8
    assert np.abs(read.astype(int) - image).max() <= 6  # lossy formats


def test_a_grey_picture_gets_three_equal_channels(tmp_path: Path) -> None:
    cv2.imwrite(str(tmp_path / "grey.png"), np.full((4, 5), 77, dtype=np.uint8))
    assert (read_picture(tmp_path / "grey.png") == 77).all()
    assert read_picture(tmp_path / "grey.png").shape == (4, 5, 3)


def test_a_picture_cannot_be_drawn_upon(folder: Path) -> None:
    with pytest.raises(ValueError, match="read-only"):
        read_picture(folder / "view-1.png")[0, 0] = 0


def test_a_name_beyond_ascii_is_read(tmp_path: Path) -> None:
    path = tmp_path / "Roßbach, Übersicht.png"
    path.write_bytes(cv2.imencode(".png", np.zeros((3, 4, 3), np.uint8))[1].tobytes())
    assert read_picture(path).shape == (3, 4, 3)


def test_a_picture_stays_as_the_sensor_saw_it_whatever_its_exif_says(tmp_path: Path) -> None:
    image = np.zeros((40, 60, 3), dtype=np.uint8)
    image[:, :30] = 255
    (tmp_path / "turned.jpg").write_bytes(_jpeg_turned_by_exif(image, orientation=6))
    # The file is as intended: OpenCV by default turns it.
    assert cv2.imread(str(tmp_path / "turned.jpg")).shape == (60, 40, 3)
    read = read_picture(tmp_path / "turned.jpg")
    assert read.shape == (40, 60, 3)
    assert read[:, :25].min() > 240


def _half(ending: str) -> bytes:
    noise = np.random.default_rng(1).integers(0, 255, (60, 80, 3), dtype=np.uint8)
    data = cv2.imencode(ending, noise)[1].tobytes()
    return data[: len(data) // 2]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "the file is empty"),
        (b"this is no picture", "cannot be read as a picture"),
        (_half(".jpg"), "cut short or damaged"),
        (_half(".png"), "cut short or damaged"),
    ],
    ids=["empty", "text", "half a jpeg", "half a png"],
)
def test_a_broken_picture_is_one_line_and_nothing_else(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], content: bytes, words: str
) -> None:
    path = tmp_path / "broken.jpg"
    path.write_bytes(content)
    with pytest.raises(BadInput, match=words) as caught:
        read_picture(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)
    assert capfd.readouterr().err == ""


def test_a_missing_picture_and_a_folder_are_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"none\.jpg: there is no such picture"):
        read_picture(tmp_path / "none.jpg")
    with pytest.raises(BadInput, match="expected a picture, got a folder"):
        read_picture(tmp_path)


def test_a_folder_lists_its_pictures_as_a_person_counts(folder: Path) -> None:
    (folder / "notes.txt").write_text("not a picture")
    (folder / "._view-3.png").write_bytes(b"what macOS leaves behind")
    names = [path.name for path in picture_paths(folder)]
    assert names == ["view-1.png", "view-2.png", "view-10.png"]


def test_a_folder_without_pictures_says_what_it_looked_for(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("")
    with pytest.raises(BadInput, match=r"no pictures \(\.jpg, \.jpeg, \.png") as caught:
        picture_paths(tmp_path)
    assert str(tmp_path) in str(caught.value)


def test_natural_order_puts_numbers_and_words_in_one_row() -> None:
    names = ["b.png", "10.png", "2.png", "a-2b3.png", "a-2b10.png", "a-1.png"]
    ordered = [path.name for path in natural_order(map(Path, names))]
    assert ordered == ["2.png", "10.png", "a-1.png", "a-2b3.png", "a-2b10.png", "b.png"]
