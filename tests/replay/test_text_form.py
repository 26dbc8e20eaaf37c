"""A recording as text survives what messengers do to it; other texts are refused."""

import base64
import hashlib
import lzma
import re
import textwrap

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tablecam.errors import BadInput
from tablecam.replay import text_form
from tablecam.replay.copies import copy_of
from tablecam.replay.lines import lines_of
from tablecam.replay.text_form import recording_of, text_of
from tests.replay.golden_recordings import made


@pytest.fixture(scope="module")
def game(tmp_path_factory):
    return made(tmp_path_factory.mktemp("text") / "golden.tablecam")


@pytest.fixture(scope="module")
def text(game):
    return text_of(game)


@pytest.fixture(scope="module")
def told(game):
    return list(lines_of(copy_of(game, pictures=False)))


def test_the_text_is_lines_of_a_message_and_far_shorter_than_what_it_tells(text, told):
    assert text.startswith("[tablecam.text 1; maurice-lite, 2026-05-01 19:30, ")
    assert text.endswith("\n[end]\n")
    assert max(map(len, text.splitlines()[1:])) <= 76
    assert len(text) < len("\n".join(told)) / 10  # measured: a twentieth


def test_nothing_in_the_text_is_what_chats_take_for_their_own(text):
    """No quotes, rows of dashes, stars, ... and no line of symbols alone, which makes headings."""
    head, *body = text.splitlines()
    assert not set("\"'`*_~<>|\\") & set(text)
    assert "--" not in text
    assert all(line == line.strip() and re.search(r"\w\w", line) for line in body)
    assert len(head) <= 140


def quoted(text):
    return "".join(f"> {line}\n" for line in text.splitlines())


MANGLINGS = {
    "quoted": quoted,
    "quoted twice": lambda text: quoted(quoted(text)),
    "quoted in HTML": lambda text: text.replace("\n", "\n&gt; "),
    "one line": lambda text: text.replace("\n", " "),
    "narrow": lambda text: "\n".join(textwrap.wrap(text, 31)),
    "Windows": lambda text: text.replace("\n", "\r\n"),
    "indented": lambda text: textwrap.indent(text, "\u00a0\t "),
    "invisible": lambda text: text.replace("A", "A\u200b\ufeff"),
    "words around": lambda text: f"Hi [Anna]; look at this:\n{text}\nWhat a game! [end]",
    "twice": lambda text: text + text,
    "quoted by bars": lambda text: text.replace("\n", "\n┃ "),
    "hyphened": lambda text: "\u00ad\n".join(textwrap.wrap(text.replace("\n", " "), 40)),
    "padded": lambda text: text.replace("\n[end]", "==\n[end]"),
    "all at once": lambda text: (
        'On Monday Anna wrote:\r\n> Look -- "this" is [ours]:\r\n> > '
        + "\r\n> > ".join(textwrap.wrap(text.replace("\n", " "), 61))
        + " \r\n> Bye\r\n\r\n-- \r\nme; [end]\r\n"
    ),
}


@pytest.mark.parametrize("mangled", MANGLINGS.values(), ids=MANGLINGS)
def test_what_messengers_do_to_a_text_does_it_no_harm(text, told, mangled):
    assert list(lines_of(recording_of(mangled(text)))) == told


def refused(text):
    with pytest.raises(BadInput) as caught:
        list(recording_of(text, "pasted").entries)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@settings(max_examples=60)
@given(data=st.data())
def test_a_text_that_was_changed_anywhere_is_refused(text, data):
    inside = range(text.index("]") + 2, text.rindex("[end]"))
    place = data.draw(st.sampled_from([at for at in inside if text[at] != "\n"]))
    other = data.draw(st.sampled_from("AZaz09+/=!").filter(lambda each: each != text[place]))
    assert "the text was changed in transit" in refused(text[:place] + other + text[place + 1 :])
    assert "the text was changed in transit" in refused(text[:place] + text[place + 1 :])


@settings(max_examples=20)
@given(share=st.floats(0, 1))
def test_a_text_that_was_cut_is_refused(text, share):
    cut = text[: int(share * (len(text) - len("[end]\n")))]
    assert "the text is cut off" in refused(cut) or "got none" in refused(cut)


def packed(inside, version=1):
    packed = lzma.compress(inside)
    summed = hashlib.sha256(packed).hexdigest()[:32]
    body = base64.b64encode(packed).decode()
    return f"[tablecam.text {version}; x; {len(packed)}; {summed}]{body}[end]"


def test_bombs_newer_versions_and_other_things_are_refused(monkeypatch):
    assert "expected a text of version 1, got 2: it needs a newer" in refused(
        packed(b"", version=2)
    )
    assert refused("Hello!").startswith("pasted: expected a recording as text, from")
    assert refused(packed(b"")) == "pasted: expected the JSON lines of a recording, got nothing"
    assert refused(packed(b"{}")).startswith("pasted:1: format: expected")
    monkeypatch.setattr(text_form, "MOST_BYTES", 2**20)
    assert "expected at most 1 MB of lines, got more" in refused(packed(bytes(2**20 + 1)))
    monkeypatch.setattr(text_form, "MOST_CHARACTERS", 1000)
    assert "expected at most 1000 characters, got 1001" in refused("x" * 1001)


def test_what_only_looks_packed_is_refused(text):
    stranger = b"not packed at all"
    summed = hashlib.sha256(stranger).hexdigest()[:32]
    body = base64.b64encode(stranger).decode()
    told = f"[tablecam.text 1; x; {len(stranger)}; {summed}]{body}[end]"
    assert "in tablecam's text form" in refused(told)
