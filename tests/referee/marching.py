"""A game on the small table, played by its buttons up to a march."""

from tablecam.referee.referee import Referee
from tablecam.referee.seat_view import seat_view
from tablecam.referee.seats import SHARED, player
from tablecam.rules.games import game_of
from tests.referee.tables import table

FRENCH, BRITISH = player("french"), player("british")


def begun(**more: bool) -> Referee:
    referee = Referee(game_of("maurice-lite"), **more)
    referee.begin(table(), {"active": "french"}, FRENCH)
    return referee


def act(referee: Referee, group: str, label: str, seat=FRENCH) -> None:
    """Tap the first button of a group with this label."""
    actions = seat_view(referee, seat)["actions"]
    chosen = next(
        action for action in actions if action["group"] == group and label in action["label"]
    )
    referee.act(seat, chosen["action"])


def marching(**more: bool) -> Referee:
    """The french march F1."""
    referee = begun(**more)
    act(referee, "command", "March")
    act(referee, "activate", "F1:")
    while (now := seat_view(referee, SHARED))["actions"][-1]["group"] == "card":
        act(referee, "card", "No card", SHARED)
    assert now["question"].startswith("French march")
    return referee
