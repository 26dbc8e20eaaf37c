"""Lettering on pictures has the letters of players' names."""

import numpy as np
import pytest

from tablecam.drawing.lettering import Words, drawable, with_text

NAMES = "Größe ÄÖÜ Übergang, garde à cheval, Señor Núñez, Żółw? Čáslav, İstanbul, „Œuvre“ ½ — ± 1°"


def drawn(text, *, bold=False):
    page = np.full((40, 60, 3), 255, dtype=np.uint8)
    return with_text(page, [Words(text, (20, 20), 30, bold=bold)]).tobytes()


@pytest.mark.parametrize("bold", [False, True])
def test_every_letter_that_is_drawn_as_it_is_has_a_look_of_its_own(bold):
    letters = [each for each in sorted(set(NAMES)) if drawable(each) == each != " "]
    assert {*"ÄÖÜößàñúČáİ„“Œ½—±°"} <= {*letters}
    looks = {drawn(letter, bold=bold) for letter in letters}
    assert len(looks) == len(letters)
    missing = drawn("\ue000", bold=bold)  # drawn as its substitute letter
    assert missing == drawn("?", bold=bold)


def test_of_a_letter_that_is_not_there_what_it_is_made_of_is_drawn():
    assert drawable("Żółw, Győr, Αθ") == "Zółw, Gyor, ??"


def test_bold_letters_are_heavier():
    thin, heavy = (np.frombuffer(drawn("Ü", bold=bold), np.uint8) for bold in (False, True))
    assert (heavy < 128).sum() > 1.2 * (thin < 128).sum()
