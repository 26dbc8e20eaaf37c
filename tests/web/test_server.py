"""Serving: addresses, streams that end, ports that are taken."""

from __future__ import annotations

import http.client
import socket
from urllib.request import urlopen

import pytest
from flask import Flask

from tablecam.errors import BadInput
from web import Server
from web.shown import shown

TIMEOUT_S = 20


def test_a_free_port_is_found_and_served(app: Flask) -> None:
    with (
        Server(app, port=0) as server,
        urlopen(f"{server.address}api/health", timeout=TIMEOUT_S) as answer,
    ):
        assert answer.status == 200
        assert server.address == f"http://127.0.0.1:{server.port}/"


def test_a_taken_port_is_told_in_one_line(app: Flask) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(BadInput, match=f"127.0.0.1:{port}: another program listens"):
            Server(app, port=port)


def test_an_address_of_another_machine_is_told_in_one_line(app: Flask) -> None:
    with pytest.raises(BadInput, match="expected an address of this machine"):
        Server(app, host="192.0.2.1", port=0)


def test_phones_are_told_nothing_unless_they_may_come(app: Flask) -> None:
    with Server(app, port=0) as server:
        assert server.network_address is None


def test_closing_ends_open_streams(app: Flask) -> None:
    with Server(app, port=0) as server:
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=TIMEOUT_S)
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
        connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=TIMEOUT_S)
        connection.request("GET", "/api/events")
        connection.getresponse().readline()
        assert streams.open_count == 1
        connection.close()
        assert streams.wait_until_empty(TIMEOUT_S)
