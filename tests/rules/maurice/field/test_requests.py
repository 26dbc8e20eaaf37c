"""Requests: every wrong key is refused in one line that says what was expected."""

import json
from dataclasses import replace

import pytest

from tablecam.documents import read_json
from tablecam.errors import BadInput
from tablecam.rules.maurice.field.field import field_of
from tablecam.rules.maurice.field.requests import Combat, Rally, ShotAssignment, Volley, request_of
from tablecam.rules.maurice.odds import odds
from tests.rules.maurice.tables import line, position, read_request

FIELD = field_of(
    position(
        line("F1", "french", 500, 400),
        line("F2", "french", 800, 400),
        line("B1", "british", 500, 520, 270.0),
    )
)
VOLLEY = {
    "kind": "volley",
    "side": "french",
    "shots": [{"unit": "F1", "targets": {"F1/1": "B1", "F1/2": "B1"}}],
    "dice": {"hit": [4, 2], "disrupt": [5]},
    "cards": {"F1": 1},
}
COMBAT = {"kind": "combat", "active": "french", "dice": {"F1": 4, "B1": 2}, "cards": {"F1": 1}}
RALLY = {"kind": "rally", "unit": "F1", "dice": [4, 5]}


def read(data: object):
    return read_request(data, "request.json", FIELD)


def test_requests_hold_what_their_documents_say():
    aims = (ShotAssignment("F1", "F1/1", "B1"), ShotAssignment("F1", "F1/2", "B1"))
    assert read(VOLLEY) == Volley("volley", "french", aims, {"F1": 1}, (4, 2), (5,))
    assert read(VOLLEY | {"kind": "bombard"}).kind == "bombard"
    combat = Combat("french", {"F1": 1}, {"F1": 4, "B1": 2}, ("F2",))
    assert read(COMBAT | {"fall_back_order": ["F2"]}) == combat
    assert read(RALLY | {"cards": {"F1": -1}}) == Rally("F1", -1, (4, 5))


def test_dice_change_no_odds():
    field = field_of(
        position(line("F1", "french", 500, 400, disruption=2), line("B1", "british", 500, 440, 270))
    )
    for request in (VOLLEY, COMBAT, RALLY):
        bare = {key: value for key, value in request.items() if key != "dice"}
        asked = [read_request(keys, "request", field) for keys in (request, bare)]
        assert odds(field, asked[0]) == odds(field, asked[1])


SHOTS = VOLLEY["shots"]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ([], "expected an object with keys, got []"),
        ({}, "kind: expected one of volley, bombard, combat, rally, but the key is missing"),
        ({"kind": "melee"}, 'kind: expected one of volley, bombard, combat, rally, got "melee"'),
        (
            {"kind": ["rally"]},
            'kind: expected one of volley, bombard, combat, rally, got ["rally"]',
        ),
        (RALLY | {"die": 4}, "die: unknown key; did you mean dice?"),
        ({"kind": "rally"}, "unit: expected this key, but it is missing"),
        (RALLY | {"unit": "F3"}, 'unit: there is no unit "F3" on the table; there are F1, F2, B1'),
        (RALLY | {"dice": [4, 7]}, "dice[2]: expected a number of 6 or less, got 7"),
        (RALLY | {"dice": [0, 4]}, "dice[1]: expected a number of 1 or more, got 0"),
        (RALLY | {"dice": [4, True]}, "dice[2]: expected a whole number, got true"),
        (RALLY | {"dice": [4.0, 4]}, "dice[1]: expected a whole number, got 4.0"),
        (RALLY | {"dice": ["4", 4]}, 'dice[1]: expected a whole number, got "4"'),
        (RALLY | {"dice": 4}, "dice: expected a list, got 4"),
        (RALLY | {"cards": {"F2": 1}}, "cards.F2: expected F1, which is rallying, got F2"),
        (
            COMBAT | {"active": "russian"},
            'active: there is no side "russian" on the table; there are french, british',
        ),
        (
            COMBAT | {"dice": {"F9": 4}},
            'dice.F9: there is no unit "F9" on the table; there are F1, F2, B1',
        ),
        (COMBAT | {"dice": {"F1": True}}, "dice.F1: expected a whole number, got true"),
        (COMBAT | {"cards": {"F1": False}}, "cards.F1: expected a whole number, got false"),
        (COMBAT | {"cards": {"F1": float("nan")}}, "cards.F1: expected a whole number, got NaN"),
        (COMBAT | {"cards": {"F1": 101}}, "cards.F1: expected a number of 100 or less, got 101"),
        (COMBAT | {"dice": [4, 2]}, "dice: expected a table of keys, got [4, 2]"),
        (
            COMBAT | {"fall_back_order": ["B1"]},
            "fall_back_order[1]: expected a unit of French, got B1, a unit of British",
        ),
        (COMBAT | {"fall_back_order": ["F1", "F1"]}, "fall_back_order[2]: F1 is named twice"),
        (
            VOLLEY | {"side": "british"},
            "shots[1].unit: expected a unit of British, got F1, a unit of French",
        ),
        (
            VOLLEY | {"side": "frensh"},
            'side: there is no side "frensh" on the table; did you mean french?',
        ),
        (VOLLEY | {"shots": []}, "shots: expected at least 1 elements, got 0"),
        (
            VOLLEY | {"shots": SHOTS * 2},
            "shots[2].unit: F1 fires twice: expected at most once (M-7.7)",
        ),
        (
            VOLLEY | {"shots": [{"unit": "F1", "targets": {"10": "B1"}}]},
            "shots[1].targets.10: F1 has no base with this name; there are F1/1, F1/2, F1/3, F1/4",
        ),
        (
            VOLLEY | {"shots": [{"unit": "F1", "targets": {"F1/1": "F2"}}]},
            "shots[1].targets.F1/1: expected an enemy unit, got F2, a unit of French",
        ),
        (
            VOLLEY | {"shots": [{"unit": "F1", "targets": {"F1/1": "B7"}}]},
            'shots[1].targets.F1/1: there is no unit "B7" on the table; there are F1, F2, B1',
        ),
        (
            VOLLEY | {"shots": [{"unit": "F1", "targets": {}}]},
            "shots[1].targets: expected at least 1 elements, got 0",
        ),
        (VOLLEY | {"dice": {"hit": [4, 9]}}, "dice.hit[2]: expected a number of 6 or less, got 9"),
        (VOLLEY | {"dice": {"hits": [4]}}, "dice.hits: unknown key; did you mean hit?"),
        (VOLLEY | {"cards": {"F2": 1}}, "cards.F2: expected a unit that is firing (F1), got F2"),
    ],
)
def test_a_wrong_key_is_named_with_what_was_expected(wrong, said):
    with pytest.raises(BadInput) as error:
        read(wrong)
    assert str(error.value) == f"request.json: {said}"


def test_errors_name_the_line_of_a_file(tmp_path):
    path = tmp_path / "request.json"
    path.write_text(json.dumps(RALLY | {"dice": [4, 7]}, indent=1))
    with pytest.raises(BadInput) as error:
        request_of(read_json(path), FIELD)
    assert str(error.value) == f"{path}:6: dice[2]: expected a number of 6 or less, got 7"


def test_tagged_bases_are_called_by_tag_or_by_place_and_fire_once():
    foot = line("F1", "french", 500, 400)
    bases = tuple(replace(base, tag=10 + place) for place, base in enumerate(foot.bases))
    field = field_of(position(replace(foot, bases=bases), line("B1", "british", 500, 520, 270.0)))

    def ask(*bases: str):
        shots = [{"unit": "F1", "targets": dict.fromkeys(bases, "B1")}]
        return read_request(VOLLEY | {"shots": shots}, "request.json", field)

    assert [aim.base for aim in ask("11", "F1/4").aims] == ["11", "13"]
    with pytest.raises(BadInput, match=r"targets.F1/2: base 11 fires twice: expected once"):
        ask("11", "F1/2")
