"""Serving: addresses, streams that end, ports in use."""

from __future__ import annotations

import http.client
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.request import urlopen

import pytest
from flask import Flask

from tablecam.errors import BadInput
from tests.patience import PATIENCE_S
from tests.web.standing import StandingTable
from web import Server, create_app
from web.seats import Seats
from web.server import MOST_OF_ADDRESS
from web.shown import shown


def test_a_free_port_is_found_and_served(app: Flask) -> None:
    with (
        Server(app, port=0) as server,
        urlopen(f"{server.address}api/health", timeout=PATIENCE_S) as answer,
    ):
        assert answer.status == 200
        assert server.address == f"http://127.0.0.1:{server.port}/"


def test_a_taken_port_is_told_in_one_line(app: Flask) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(BadInput, match=f"127.0.0.1:{port}: another program uses this port"):
            Server(app, port=port)


def test_an_address_of_another_machine_is_told_in_one_line(app: Flask) -> None:
    with pytest.raises(BadInput, match="expected an address of this machine"):
        Server(app, host="192.0.2.1", port=0)


def test_phones_are_told_nothing_unless_they_may_come(app: Flask) -> None:
    with Server(app, port=0) as server:
        assert server.network_address is None


def test_closing_ends_open_streams(app: Flask) -> None:
    with Server(app, port=0) as server:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE_S)
        connection.request("GET", "/api/events")
        stream = connection.getresponse()
        lines = [stream.readline() for _ in range(3)]
        assert lines == [b"retry: 2000\n", b"\n", b"event: state\n"]
    assert stream.read().startswith(b"data: ")  # and comes to an end
    connection.close()


def test_a_server_closed_before_it_runs_does_not_run(app: Flask) -> None:
    server = Server(app, port=0)
    port = server.port
    server.close()
    server.run()
    server.close()
    socket.create_server(("127.0.0.1", port)).close()


def test_a_stream_whose_listener_hangs_up_gives_its_place_back(app: Flask) -> None:
    streams = shown(app).streams
    with Server(app, port=0) as server:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE_S)
        connection.request("GET", "/api/events")
        connection.getresponse().readline()
        assert streams.open_count == 1
        connection.close()
        assert streams.wait_until_empty(PATIENCE_S)


HALF = b"GET /api/health HTTP/1.1\r\nHost: localhost\r\nX-Slow: "


@contextmanager
def half_sent(server: Server, addresses: Iterable[str]) -> Iterator[list[socket.socket]]:
    """A connection from each address, with an unfinished request."""
    with ExitStack() as opened:
        sockets = []
        for address in addresses:
            source = socket.create_connection(
                ("127.0.0.1", server.port), timeout=PATIENCE_S, source_address=(address, 0)
            )
            sockets.append(opened.enter_context(source))
            source.sendall(HALF)
        yield sockets


def is_served(server: Server) -> bool:
    with urlopen(f"{server.address}api/health", timeout=PATIENCE_S) as answer:
        return bool(answer.status == 200)


def is_ended(half: socket.socket) -> bool:
    """Whether the server ends a connection without an answer."""
    try:
        return not half.recv(1)
    except ConnectionResetError:
        return True


def test_half_sent_requests_shut_the_page_to_nobody(app: Flask) -> None:
    with Server(app, port=0) as server, half_sent(server, ["127.0.0.1"] * 130) as sockets:
        assert is_served(server)
        assert all(map(is_ended, sockets[: 100 - MOST_OF_ADDRESS]))


only_linux = pytest.mark.skipif(
    sys.platform != "linux", reason="other systems have no 127.0.0.2 of their own"
)


@only_linux
def test_many_addresses_shut_the_page_to_nobody_and_a_seat_is_the_last_to_go(
    live: StandingTable, seats: Seats
) -> None:
    app = create_app(live, {"STREAMS": 2}, seats=seats)
    with Server(app, port=0) as server:
        host = ("127.0.0.1", server.port, PATIENCE_S)
        seated = http.client.HTTPConnection(*host, source_address=("127.0.0.9", 0))
        cookie = {"Cookie": f"tablecam_seat_{server.port}={seats.token('french')}"}
        seated.request("GET", "/api/health", headers=cookie)
        assert seated.getresponse().read()
        first = seated.sock
        with half_sent(server, (f"127.0.1.{1 + number % 20}" for number in range(100))) as sockets:
            seated.request("GET", "/api/health", headers=cookie)
            assert seated.getresponse().status == 200
            assert seated.sock is first  # it was not ended and reopened
            assert all(map(is_ended, sockets[:50]))
        seated.close()


def test_a_request_that_does_not_end_is_ended(app: Flask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("web.server.LONGEST_REQUEST_S", 0.0)
    with Server(app, port=0) as server, half_sent(server, ["127.0.0.1"] * 3) as sockets:
        assert all(map(is_ended, sockets))
        assert is_served(server)


PROJECT = Path(__file__).resolve().parents[2]
SERVES = """
import signal, sys
from tests.web.standing import StandingTable
from web import Server, create_app
signal.signal(signal.Signals[sys.argv[1]], signal.SIG_DFL)  # whatever whoever runs tests ignores
server = Server(create_app(StandingTable()), port=0)
print(server.address, flush=True)
server.run()
print("ended in order", flush=True)
"""


@pytest.mark.skipif(os.name != "posix", reason="Windows tells no program so")
@pytest.mark.parametrize("told", ["SIGTERM", "SIGHUP"])
def test_a_program_that_is_told_to_end_ends_in_order(told: str) -> None:
    command = [sys.executable, "-c", SERVES, told]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=PROJECT) as program:
        try:
            assert program.stdout is not None
            address = program.stdout.readline().strip()
            with urlopen(address, timeout=PATIENCE_S):
                program.send_signal(signal.Signals[told])
            said, _ = program.communicate(timeout=PATIENCE_S)
        finally:
            program.kill()
    assert (said, program.returncode) == ("ended in order\n", 0)
