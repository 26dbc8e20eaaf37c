"""A game on the page: what each seat sees and does, as JSON."""

from dataclasses import replace

import pytest

from tablecam.simulate.demo import embedded_demo
from tablecam.table.model import Position
from tests.referee.tables import moved, table
from tests.web.of_four import ROSTER_OF_FOUR, begin, seated
from tests.web.standing import StandingTable
from web import create_app


@pytest.fixture
def live():
    return StandingTable(roster=ROSTER_OF_FOUR, position=table())


@pytest.fixture
def app(live, seats):
    return create_app(live, {"TESTING": True}, seats=seats)


def test_before_it_begins_a_game_only_says_so(french):
    now = french.get("/api/game").json
    assert now["has_begun"] is False
    assert now["seat"] == {"kind": "player", "side": "french"}


def test_no_game_begins_with_places_of_an_earlier_frame(french, live):
    live.show(health=replace(live.snapshot().health, frozen="The camera is moving"))
    assert begin(french).status_code == 400
    assert french.get("/api/game").json["has_begun"] is False


def test_a_seat_is_offered_what_it_is_asked_and_another_is_not(french, british):
    begin(french)
    mine, theirs = french.get("/api/game").json, british.get("/api/game").json
    assert mine["question"] == theirs["question"]
    assert (mine["is_yours"], theirs["is_yours"]) == (True, False)
    assert mine["actions"]
    assert theirs["actions"] == []


def test_an_action_is_sent_back_as_it_was_offered(french):
    now = begin(french).json
    answer = french.post(
        "/api/game/act", json={"action": now["actions"][0]["action"], "version": now["version"]}
    )
    assert answer.status_code == 200
    assert answer.json["version"] > now["version"]


def test_another_sides_action_is_403_and_an_old_one_409(french, british):
    now = begin(french).json
    body = {"action": now["actions"][0]["action"], "version": now["version"]}
    assert british.post("/api/game/act", json=body).status_code == 403
    assert french.post("/api/game/act", json=body).status_code == 200
    again = french.post("/api/game/act", json=body)
    assert again.status_code == 409
    assert "look again" in again.json["error"]


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"action": {"type": "nonsense"}}, "type"),
        ({"action": {"type": "volleys", "invoke": True}}, "expected"),
        ({"act": {}}, "action"),
        ({"action": {"type": "volleys", "invoke": "yes"}}, "invoke"),
    ],
)
def test_bad_actions_are_one_line_and_change_nothing(french, body, said):
    before = begin(french).json
    answer = french.post("/api/game/act", json=body)
    assert answer.status_code == 400
    assert said in answer.json["error"]
    assert "\n" not in answer.json["error"]
    assert french.get("/api/game").json == before


def test_what_was_done_is_taken_back(french):
    now = begin(french).json
    french.post("/api/game/act", json={"action": now["actions"][0]["action"]})
    back = french.post("/api/game/undo", json={}).json
    assert back["question"] == now["question"]


def test_a_unit_that_was_knocked_is_accepted_where_it_lies(french, live):
    begin(french)
    live.referee.table_at_rest(moved(table(), "B1", 30.0))
    (knocked,) = french.get("/api/game").json["moved"]
    assert knocked["unit"] == "B1"
    now = french.post("/api/game/accept", json={"units": ["B1"], "why": "a sleeve"}).json
    assert now["moved"] == []
    assert now["log"][-1]["text"] == "overruled: B1 stays there (a sleeve)"
    answer = french.post("/api/game/confirm", json={"unit": "B1", "way": "prayer"})
    assert answer.status_code == 400


def test_a_hand_that_is_dealt_never_reaches_another_seat(french, british, app, seats):
    begin(french, deck="house")
    for _ in range(20):  # deal
        now = french.get("/api/game").json
        if not now["actions"] or now["actions"][0]["action"]["type"] != "draw":
            break
        french.post("/api/game/act", json={"action": now["actions"][0]["action"]})
    own = french.get("/api/game").json["state"]["hand"]
    assert len(own) == 6
    ids = {card["id"] for card in own}
    assert ids
    for client in (british, seated(app, seats, "spectator"), seated(app, seats, "shared")):
        told = client.get("/api/game").text
        assert not any(f'"{card}"' in told for card in ids)


def test_a_shared_screen_is_not_offered_what_would_show_a_hand(french, app, seats):
    begin(french, deck="house")
    shared = seated(app, seats, "shared")
    while (now := shared.get("/api/game").json)["asked"] is None:
        shared.post("/api/game/act", json={"action": now["actions"][0]["action"]})
    assert (now["asked"], now["is_yours"], now["actions"]) == ("french", False, [])
    assert french.get("/api/game").json["is_yours"]


def test_every_page_is_told_when_the_game_goes_on(french, live):
    before = live.snapshot()
    begin(french)
    assert live.snapshot().version > before.version
    assert live.snapshot().game > before.game


def test_a_game_that_nobody_knows_is_refused_in_one_line(live, seats):
    live.referee = None
    client = seated(create_app(live, {"TESTING": True}, seats=seats), seats, "french")
    answer = client.get("/api/game")
    assert answer.status_code == 400
    assert answer.json["error"] == "game: tablecam cannot play maurice-lite yet"


@pytest.mark.parametrize("deck", ["/etc/hosts.toml", "..\\decks\\ours.toml", "ours.toml"])
def test_no_page_has_a_file_of_this_computer_read(french, deck):
    answer = begin(french, deck=deck)
    assert answer.status_code == 400
    assert "deck: expected a name, got a file" in answer.json["error"]
    assert french.get("/api/game").json["has_begun"] is False


def act(client, **action):
    return client.post("/api/game/act", json={"action": action}).json


def test_all_since_a_line_of_the_log_is_taken_back_and_done_again(french):
    begin(french)
    first = act(french, type="declare", command="pass")
    now = act(french, type="overrule", smoke={"F1": True})
    assert not now["can_redo"]
    back = french.post("/api/game/undo", json={"deed": 1}).json
    assert {line["undone"] for line in back["log"] if line["is_chosen"]} == {True}
    assert back["can_redo"]
    again = french.post("/api/game/redo", json={}).json
    assert again["question"] == first["question"]
    assert french.post("/api/game/undo", json={"deed": 1}).status_code == 400
    french.post("/api/game/redo", json={})
    assert french.post("/api/game/redo", json={}).status_code == 400


def test_dice_read_wrong_are_corrected_in_the_log_for_all_to_see(french, british, app, seats):
    begin(french, setup=True, active=None)
    act(french, type="roll", **{"for": "terrain"}, count=2, sides=6, values=[3, 5])
    (proposal,) = british.get("/api/game").json["actions"]
    now = act(british, **proposal["action"])
    assert now["asked"] == "french"
    body = {"deed": 0, "values": [5, 3], "why": "upside down"}
    assert seated(app, seats, "spectator").post("/api/game/correct", json=body).status_code == 403
    now = french.post("/api/game/correct", json=body).json
    assert now["asked"] == "british"
    (line,) = [line for line in now["log"] if line["dice"] and not line["undone"]]
    assert line["dice"]["values"] == [5, 3]
    assert line["note"] == "overruled: the dice were first entered as 3, 5 (upside down)"
    for wrong in ({"deed": 99, "values": [1]}, {"deed": line["deed"], "values": [9, 1]}):
        assert french.post("/api/game/correct", json=wrong).status_code == 400


def test_a_choice_that_was_tapped_wrong_is_put_right_by_whose_it_was(french, british):
    begin(french)
    act(french, type="declare", command="pass")
    (march, *_) = [
        each for each in french.get("/api/game/others/1").json["others"] if each["label"] == "March"
    ]
    assert march["action"] == {"type": "declare", "command": "march"}
    assert british.get("/api/game/others/1").json == {"others": [], "dice": []}
    body = {"deed": 1, "action": march["action"], "why": "a slip"}
    assert british.post("/api/game/correct", json=body).status_code == 400
    now = french.post("/api/game/correct", json=body).json
    (line,) = [line for line in now["log"] if line["kind"] == "command" and not line["undone"]]
    assert line["note"] == "overruled: Pass was chosen first (a slip)"
    for wrong in ({}, {"values": [1], "action": march["action"]}, {"action": {"type": "dance"}}):
        assert french.post("/api/game/correct", json={"deed": 0} | wrong).status_code == 400
    assert french.get("/api/game/others/99").status_code == 400


@pytest.mark.parametrize(
    ("body", "code", "said"),
    [
        ({"units": ["F1", "F2"]}, 409, "the moves to confirm have changed"),
        ({"units": ["F1"]}, 400, "confirm-all: units: expected at least 2 elements, got 1"),
        ({}, 400, "confirm-all: units: expected this key"),
    ],
    ids=["none offered", "one", "missing"],
)
def test_moves_that_are_not_on_offer_together_are_not_confirmed(french, body, code, said):
    before = begin(french).json
    answer = french.post("/api/game/confirm-all", json=body)
    assert answer.status_code == code
    assert said in answer.json["error"]
    assert french.get("/api/game").json == before


def test_a_whole_army_that_a_camera_has_measured_is_laid_in_rows_by_one_tap():
    table = embedded_demo()
    table.move_unit("P3", 600, 400, 90)  # out of its third: the places cannot be kept
    live = StandingTable(roster=table.roster, position=as_measured(table.truth()))
    client = create_app(live, {"TESTING": True}).test_client()
    now = client.post("/api/game/begin", json={"options": {"setup": True}}).json
    while now["state"]["step"]["type"] != "deploying":
        body = {"action": now["actions"][0]["action"], "version": now["version"]}
        now = client.post("/api/game/act", json=body).json
    (offer,) = now["actions"]
    assert offer["label"] == "Deploy all in rows"
    body = {"action": offer["action"], "version": now["version"]}
    assert client.post("/api/game/act", json=body).status_code == 200


def as_measured(position: Position) -> Position:
    """A table with all the digits of measured places."""
    units = tuple(
        replace(
            unit,
            bases=tuple(
                replace(
                    base,
                    sigma_mm=1 / 7,
                    sigma_deg=1 / 7,
                    tag_right_mm=1 / 7,
                    tag_forward_mm=-80 / 7,
                )
                for base in unit.bases
            ),
        )
        for unit in position.units
    )
    return replace(position, units=units)


def test_all_that_is_out_of_step_is_accepted_at_once(french, live):
    begin(french)
    live.referee.table_at_rest(moved(moved(table(), "B1", 30.0), "B2", 30.0))
    assert len(french.get("/api/game").json["moved"]) == 2
    now = french.post("/api/game/accept", json={"units": ["B1", "B2"]}).json
    assert now["moved"] == []
    assert now["log"][-1]["text"] == "overruled: B1, B2 stay there"
    assert french.post("/api/game/accept", json={"units": ["nobody"]}).status_code == 400


def test_a_simulated_table_is_laid_as_the_game_has_it(controls):
    live = StandingTable(roster=ROSTER_OF_FOUR, position=table(), simulated=controls)
    client = create_app(live, {"TESTING": True}).test_client()
    answer = client.post("/api/simulated/lay", json={})
    assert (answer.status_code, answer.json["error"]) == (
        400,
        "table: expected a game in progress, but none has begun",
    )
    begin(client)
    live.referee.table_at_rest(moved(moved(table(), "B1", 30.0), "F1", 30.0))
    for body in ({}, {"unit": "B1"}):
        assert client.post("/api/simulated/lay", json=body).status_code == 204
    (nobody, all_of_it), (unit, back) = controls.deeds
    assert (nobody, unit) == (None, "B1")
    assert all_of_it.units == table().units
    assert back.unit("B1").bases == table().unit("B1").bases


def test_a_text_of_a_player_is_of_500_characters_at_most(french):
    begin(french)
    overrule = {"type": "overrule", "why": "x" * 501, "disruption": {"F1": 1}}
    answer = french.post("/api/game/act", json={"action": overrule})
    assert answer.status_code == 400
    said = "act: action.why: expected a text of 500 characters or less, got 501"
    assert answer.json["error"] == said


def test_what_steers_terminals_or_turns_writing_about_is_left_out_of_a_players_text(french):
    begin(french)
    overrule = {"type": "overrule", "why": "a\x1b[2J\u202eb\x00", "disruption": {"F1": 1}}
    answer = french.post("/api/game/act", json={"action": overrule})
    assert answer.status_code == 200
    told = french.get("/api/game").text
    assert "(a[2Jb)" in told
