"""The page and its picture."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from flask.testing import FlaskClient


def test_the_page_renders_with_the_facts_of_the_table(client: FlaskClient) -> None:
    page = client.get("/")
    assert page.status_code == 200
    assert '"game": "maurice-lite"' in page.text
    assert 'id="pause"' not in page.text


def test_a_table_that_has_a_name_says_it_and_another_says_nothing(
    client: FlaskClient, live: Any
) -> None:
    assert "table-name" not in client.get("/").text
    live.roster = replace(live.roster, name="<Window> table")
    page = client.get("/").text
    assert '<b class="table-name" title="The name of this table">&lt;Window&gt; table</b>' in page
    assert "<title>&lt;Window&gt; table · tablecam · Maurice Lite</title>" in page


def test_the_page_of_a_simulated_table_has_its_controls(simulated_client: FlaskClient) -> None:
    assert 'id="pause"' in simulated_client.get("/").text


def test_a_game_that_tablecam_has_the_rules_of_has_rulings(client: FlaskClient) -> None:
    page = client.get("/").text
    assert 'id="rulings"' in page
    assert 'id="dispute"' in page


def test_a_game_without_a_rulebook_says_nothing_of_rulings(client: FlaskClient, live: Any) -> None:
    live.has_rules = False
    page = client.get("/").text
    assert '"rulebook": false' in page
    assert "<em>Rulings</em>" not in page
    # Measurements can be disputed all the same.
    assert 'id="dispute"' in page


def test_nothing_on_the_page_comes_from_elsewhere(client: FlaskClient) -> None:
    page = client.get("/")
    assert "//" not in page.text.replace("<!doctype", "")
    assert "default-src 'none'" in page.headers["Content-Security-Policy"]
    assert page.headers["X-Content-Type-Options"] == "nosniff"


def test_the_serif_comes_with_the_page_and_is_requested_once(client: FlaskClient) -> None:
    with client.get("/static/shared/serif.css") as styles:
        addresses = re.findall(r'url\("\.\./\.\.(/fonts/[^"]+)"\)', styles.text)
    assert len(addresses) == 3
    for address in addresses:
        font = client.get(address)
        assert font.mimetype == "font/ttf"
        assert font.data[:4] == b"\0\1\0\0"  # as every TrueType font begins
        assert "immutable" in font.headers["Cache-Control"]
    assert client.get("/fonts/source-serif-pro-black.ttf").status_code == 404


def test_a_picture_is_sent_once_a_frame(client: FlaskClient, live: Any) -> None:
    first = client.get("/picture.jpg?v=7")
    assert first.data == live.jpeg
    assert first.mimetype == "image/jpeg"
    same = client.get("/picture.jpg?v=7", headers={"If-None-Match": first.headers["ETag"]})
    assert same.status_code == 304
    live.show(frame=8)
    newer = client.get("/picture.jpg?v=8", headers={"If-None-Match": first.headers["ETag"]})
    assert newer.status_code == 200


def test_there_is_no_picture_before_the_first_frame(client: FlaskClient, live: Any) -> None:
    live.jpeg = b""
    assert client.get("/picture.jpg").status_code == 404
