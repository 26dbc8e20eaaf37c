"""A game of two units a side on a still table, and its seats."""

from __future__ import annotations

from typing import Any

from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from tablecam.table.roster import CommanderEntry, Roster, UnitEntry
from tests.web.standing import FOOT, ROSTER, TABLE
from web.seats import Seats

SIDES = ("french", "british")
ROSTER_OF_FOUR = Roster(
    game="maurice-lite",
    table=TABLE,
    dictionary=ROSTER.dictionary,
    table_tag_size_mm=60,
    table_tags=(),
    base_types=(FOOT,),
    units=tuple(
        UnitEntry(name, side, "infantry", FOOT, tuple(range(first, first + 4)))
        for name, side, first in (
            ("F1", "french", 10),
            ("F2", "french", 20),
            ("B1", "british", 30),
            ("B2", "british", 40),
        )
    ),
    commanders=(
        CommanderEntry("cinc", "french", FOOT, 90),
        CommanderEntry("general", "british", FOOT, 91),
    ),
    terrain=(),
)


def seated(app: Flask, seats: Seats, name: str) -> FlaskClient:
    """The browser of a side's player who has opened his link."""
    client = app.test_client()
    client.get(f"/seat/{seats.token(name)}")
    return client


def begin(client: FlaskClient, **options: Any) -> TestResponse:
    """Begin a game in which the french are active."""
    return client.post("/api/game/begin", json={"options": {"active": "french", **options}})
