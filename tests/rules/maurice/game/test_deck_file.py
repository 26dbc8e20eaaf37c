"""Deck files: cards as their owner writes them down, and errors in one line."""

import pytest

from tablecam.errors import BadInput
from tablecam.rules.maurice.game.options import deck_named
from tablecam.rules.maurice.game.state import Card, Modification

HEAD = 'format = "tablecam.deck"\nversion = 1\ngame = "maurice-lite"\nname = "ours"\n'
CARD = '[[card]]\ntitle = "Rider"\nspan = 8\n'


def read(folder, text):
    path = folder / "deck.toml"
    path.write_text(text)
    return deck_named(str(path))


def test_the_sample_deck_is_called_house_and_has_every_kind_of_card():  # M-3.3, M-3.10
    deck = deck_named("house")
    assert deck.name == "house"
    assert len({card.id for card in deck.cards}) == len(deck.cards) == 60
    symbols = {card.modifies.symbol for card in deck.cards if card.modifies}
    assert symbols == {"swords", "bugle", "cannon", "flag", "musket"}
    effects = {card.interrupts for card in deck.cards if card.interrupts}
    assert effects == {"first-fire", "rough-going", "foil"}
    assert {card.is_removable for card in deck.cards if card.is_event} == {True, False}


def test_a_deck_is_read_from_a_file_by_its_path(tmp_path):
    text = HEAD + CARD + "count = 2\n[[card]]\ntitle = 'Go, go!'\nspan = 4\nsymbol = 'bugle'\n"
    deck = read(tmp_path, text + "adds = 1\nunits = 'all'\ntext = 'Faster.'\n")
    assert deck == deck_named(str(tmp_path / "deck.toml"))
    assert deck.cards == (
        Card("rider-1", "Rider", 8),
        Card("rider-2", "Rider", 8),
        Card("go-go-1", "Go, go!", 4, "Faster.", Modification("bugle", 1, "own", False)),
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (HEAD, "card: expected this key, but it is missing"),
        (HEAD + '[[card]]\ntitle = "Rider"\n', "5: card[1].span: expected this key, but it is"),
        (HEAD + CARD.replace("8", "0"), "7: card[1].span: expected a number of 1 or more, got 0"),
        (HEAD + CARD.replace("8", '"8"'), '7: card[1].span: expected a whole number, got "8"'),
        (HEAD + CARD + 'symbol = "drum"\n', "8: card[1].symbol: expected swords, bugle, cannon"),
        (HEAD + CARD + 'symbol = "flag"\n', "card[1].adds: expected this key, as symbol"),
        (HEAD + CARD + "adds = 1\n", "card[1].symbol: expected this key, as adds"),
        (
            HEAD + CARD + "removable = true\n",
            "8: card[1].removable: expected event = true, as only",
        ),
        (HEAD + CARD + CARD, '9: card[2].title: expected a unique title, got "Rider" twice'),
        (HEAD + CARD + "spam = 1\n", "8: card[1].spam: unknown key; did you mean span?"),
        (HEAD.replace("maurice-lite", "chess") + CARD, '3: game: expected maurice-lite, got "che'),
        (HEAD.replace("version = 1", "version = 2") + CARD, "2: version: expected 1, got 2"),
    ],
)
def test_what_is_wrong_with_a_deck_is_said_in_one_line(tmp_path, text, said):
    with pytest.raises(BadInput) as refused:
        read(tmp_path, text)
    message = str(refused.value)
    assert message.startswith(str(tmp_path / "deck.toml") + ":")
    assert said in message
    assert "\n" not in message
