"""Advice on the page: none for a passing hand, none that comes and goes."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from tablecam.live.advising import SteadyAdvice

HIDDEN = {"hidden": "table tag 2 is hidden"}
DARK = {"too_dark": "noise doubles the error"}
DARKER = {"too_dark": "noise triples the error"}


def spoken(looks):
    """The advice shown after each of (second, sentences)."""
    steady, spoken = SteadyAdvice(), []
    for at_s, wanted in looks:
        steady = steady.after(wanted, at_s=at_s)
        spoken.append(steady.sentences)
    return spoken


def test_a_hand_that_passes_is_not_worth_a_word():
    assert spoken([(0, HIDDEN), (1, HIDDEN), (2.9, HIDDEN), (3, {}), (4, HIDDEN)])[-1] == ()


def test_what_lasts_is_said_and_taken_back_once_it_has_gone_for_good():
    looks = [(0, DARK), (3, DARK), (4, {}), (5, {}), (5.9, {}), (6, {}), (7, {})]
    words = tuple(DARK.values())
    assert spoken(looks) == [(), words, words, words, words, (), ()]


def test_a_cause_on_the_edge_is_said_steadily():
    """Due in every other look at ten a second: never shown; once shown, not withdrawn."""
    flickering = [(0.1 * n, DARK if n % 2 else {}) for n in range(100)]
    assert set(spoken(flickering)) == {()}
    said_first = [(0, DARK), (3, DARK), *((3.1 + at_s, wanted) for at_s, wanted in flickering)]
    assert set(spoken(said_first)[1:]) == {tuple(DARK.values())}


def test_numbers_that_waver_neither_delay_a_sentence_nor_change_it():
    wavering = [(0.1 * n, DARK if n % 2 else DARKER) for n in range(100)]
    words = spoken(wavering)
    assert words[29] == ()
    assert len(set(words[31:])) == 1
    assert words[31] != ()


def test_numbers_that_have_changed_for_good_are_said_anew():
    words = spoken([(0, DARK), (3, DARK), (4, DARKER), (6, DARKER)])
    assert words[-2:] == [tuple(DARK.values()), tuple(DARKER.values())]


def test_sentences_keep_their_places():
    words = spoken([(0, DARK), (3, DARK | HIDDEN), (6, HIDDEN | DARK)])
    assert words[-1] == (*DARK.values(), *HIDDEN.values())


@given(st.lists(st.tuples(st.floats(0.01, 5), st.sampled_from([{}, DARK, DARKER, HIDDEN]))))
def test_what_is_said_was_called_for_and_never_changes_twice_within_two_seconds(steps):
    at_s, looks = 0.0, []
    for wait_s, wanted in steps:
        at_s += wait_s
        looks.append((at_s, wanted))
    words = spoken(looks)
    asked = {sentence for _, wanted in looks for sentence in wanted.values()}
    assert {sentence for word in words for sentence in word} <= asked
    for cause in ({*DARK.values(), *DARKER.values()}, {*HIDDEN.values()}):
        about = [next((each for each in said if each in cause), None) for said in words]
        changed_s = [
            looks[n][0] for n in range(len(about)) if about[n] != (about[n - 1] if n else None)
        ]
        assert all(b - a >= 2 - 1e-9 for a, b in pairwise(changed_s))
