"""The odds as the page requests them: a unit's whole fire at another, or like `tablecam odds`."""

import pytest

from tablecam.documents import document_from
from tablecam.errors import BadInput
from tablecam.rules.maurice.field.field import field_of
from tablecam.rules.maurice.odds import odds
from tablecam.rules.odds import odds_of
from tests.rules.maurice.tables import line, position, read_request

TABLE = position(
    line("F1", "french", 500, 400, 90),
    line("B1", "british", 500, 500, 270),
    line("B2", "british", 1500, 1100, 270, disruption=2),
)


def asked(**wanted):
    return odds_of("maurice-lite").odds(TABLE, document_from(wanted, "odds")).document


def test_a_unit_fires_with_every_base_that_may():
    whole = asked(kind="volley", unit="F1", target="B1")
    targets = dict.fromkeys(("F1/1", "F1/2", "F1/3", "F1/4"), "B1")
    request = {"kind": "volley", "side": "french", "shots": [{"unit": "F1", "targets": targets}]}
    field = field_of(TABLE)
    assert whole == odds(field, read_request(request, "request", field))


def test_other_requests_are_those_of_the_command_line():
    assert asked(kind="rally", unit="B2")["units"]["B2"]["disruption"]["chances"]["0"] > 0


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ({"kind": "volley", "unit": "F1", "target": "B2"}, "F1 may not fire at B2"),
        ({"kind": "volley", "unit": "F1", "target": "B9"}, "two units on the table"),
        ({"kind": "volley", "unit": 3, "target": "B1"}, "two units on the table"),
        ({"kind": "flood"}, "kind"),
    ],
)
def test_what_cannot_be_is_refused(wanted, said):
    with pytest.raises(BadInput, match=said):
        asked(**wanted)


def test_a_game_without_odds_has_none():
    assert odds_of("nim") is None
