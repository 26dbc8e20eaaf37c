"""How a game begins: morale, hands, options, and tables that do not fit the game."""

from dataclasses import replace

import pytest

from tablecam.errors import BadInput
from tablecam.rules.maurice.game import GAME
from tablecam.rules.maurice.game.cards import Drawing
from tablecam.rules.maurice.game.command import VolleyChoice
from tablecam.rules.maurice.game.options import DECK_SIZE
from tablecam.table.model import Commander, Terrain
from tests.rules.maurice.tables import SOUTH, column, gun, line, massed, position


def army(side, count):
    y_mm, heading = (200, 90.0) if side == "french" else (900, SOUTH)
    return [gun(f"{side}{place}", side, 100 + 100 * place, y_mm, heading) for place in range(count)]


def begun(*units, **options):
    return GAME.begin(position(*units), options)


@pytest.mark.parametrize(("units", "morale"), [(13, 7), (12, 6), (1, 1)])
def test_morale_is_half_of_the_units_rounded_up(units, morale):  # T-2, M-2.4, M-2.5
    state = begun(*army("french", units), *army("british", 2))
    assert [side.morale for side in state.sides] == [morale, 1]


def test_an_army_that_has_lost_units_says_its_morale():
    state = begun(*army("french", 3), *army("british", 2), morale={"french": 1})
    assert state.side("french").morale == 1


def test_six_cards_each_from_a_deck_of_the_players():  # M-2.6, M-3.10
    state = begun(*army("french", 2), *army("british", 2))
    assert [side.hand for side in state.sides] == [6, 6]
    assert state.deck.left == DECK_SIZE - 12
    assert isinstance(state.step, VolleyChoice)
    assert state.active == "french"


def test_players_say_who_begins_and_what_they_hold():
    hands = {"french": 0, "british": 3}
    units = *army("french", 2), *army("british", 2)
    state = begun(*units, active="british", hands=hands, deck_size=20)
    assert (state.active, state.deck.left) == ("british", 17)
    assert not state.round.is_without_cards
    assert begun(*units, hands=hands).round.is_without_cards


def test_a_named_deck_is_dealt_the_active_sides_hand_first():
    units = *army("french", 2), *army("british", 2)
    state = begun(*units, deck="house", active="british", hands={"french": 4})
    assert state.step == Drawing("british", 6, Drawing("french", 4, VolleyChoice()))
    assert GAME.asked(state).seat is None


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"activ": "french"}, "options: activ: unknown key; did you mean active?"),
        ({"active": "turkish"}, 'options: active: there is no side "turkish"; there are'),
        ({"hands": {"turkish": 3}}, 'options: hands.turkish: there is no side "turkish"'),
        ({"hands": {"french": -1}}, "options: hands.french: expected a number of 0 or more"),
        ({"hands": {"french": "6"}}, 'options: hands.french: expected a whole number, got "6"'),
        ({"deck_size": 12}, "options: deck_size: expected more than the 12 cards in hand, got 12"),
        ({"deck": "huose"}, 'expected the name of a deck or a .toml file, got "huose"; did you'),
        ({"deck": "house", "deck_size": 60}, "options: deck_size: expected no value, as the deck"),
        ({"deck": "house", "hands": {"french": 99}}, "options: deck: expected a deck of more"),
        ({"deck": "none.toml"}, "none.toml: there is no such file"),
        ({"deck": "no\0where.toml"}, "is not a path"),
        ({"deck": ""}, "deck"),
        ({"setup": True, "active": "french"}, "active: expected no value, as setup decides it"),
    ],
)
def test_options_that_make_no_sense_are_refused(options, said):
    with pytest.raises(BadInput) as refused:
        begun(*army("french", 2), *army("british", 2), **options)
    assert said in str(refused.value)


def five_bases():
    unit = line("F9", "french", 500, 600)
    return replace(unit, bases=(*unit.bases, replace(unit.bases[0], x_mm=400.0)))


def spread():
    unit = line("F9", "french", 500, 600)
    moved = tuple(replace(base, x_mm=base.x_mm * 1.5) for base in unit.bases)
    return replace(unit, bases=moved, formation=None)


@pytest.mark.parametrize(
    ("unit", "said"),
    [
        (five_bases(), "unit F9: expected 4 bases of infantry, got 5"),  # M-1.6
        (spread(), "^F9's bases are apart: put them together in column or line$"),  # M-1.7
        (
            massed("F9", "french", 500, 600, arm="infantry"),
            "^F9 is massed: place it in column or line$",
        ),
        (
            replace(line("F9", "french", 500, 600), state={"disruption": 5}),
            "unit F9: expected at most 4 disruptions, got 5",
        ),  # M-1.14
        (column("T1", "turkish", 500, 600), "units: expected units of two sides, got 3"),
    ],
    ids=["five bases", "spread", "massed foot", "broken", "three sides"],
)
def test_a_table_that_does_not_fit_the_game_is_refused(unit, said):
    with pytest.raises(BadInput, match=said):
        begun(*army("french", 1), *army("british", 1), unit)


def test_one_side_alone_has_no_game():
    with pytest.raises(BadInput, match="expected units of two sides, got 1"):
        begun(*army("french", 3))


def test_a_side_has_one_commander_at_most():  # M-1.4
    two = [Commander(name, "french", 500, 500) for name in ("a", "b")]
    table = position(*army("french", 1), *army("british", 1), commanders=two)
    with pytest.raises(BadInput, match="expected one commander for french, got a and b"):
        GAME.begin(table, {})


def test_terrain_of_a_kind_that_the_game_does_not_know_is_refused():  # M-2.2, M-5.1
    town = Terrain("t", "town", ((0, 0), (50, 0), (50, 50)))
    table = position(*army("french", 1), *army("british", 1), terrain=[town])
    with pytest.raises(BadInput, match=r"terrain\[1\].kind: expected one of woods"):
        GAME.begin(table, {})
