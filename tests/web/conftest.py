"""The application over a still table, and its clients."""

from __future__ import annotations

import pytest
from flask import Flask
from flask.testing import FlaskClient

from tests.web.of_four import SIDES, seated
from tests.web.standing import StandingControls, StandingTable
from web import create_app
from web.seats import Seats


@pytest.fixture
def live() -> StandingTable:
    return StandingTable()


@pytest.fixture
def app(live: StandingTable) -> Flask:
    return create_app(live, {"TESTING": True, "STREAMS": 2, "KEEP_ALIVE_S": 0.5})


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    return app.test_client()


@pytest.fixture
def controls() -> StandingControls:
    return StandingControls()


@pytest.fixture
def simulated_client(controls: StandingControls) -> FlaskClient:
    return create_app(StandingTable(simulated=controls), {"TESTING": True}).test_client()


@pytest.fixture
def seats() -> Seats:
    return Seats(SIDES, by_link=True)


@pytest.fixture
def french(app: Flask, seats: Seats) -> FlaskClient:
    return seated(app, seats, "french")


@pytest.fixture
def british(app: Flask, seats: Seats) -> FlaskClient:
    return seated(app, seats, "british")
