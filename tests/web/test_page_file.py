"""A recording as one page: its contents, its permissions, its size."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tablecam.cli import main
from tablecam.errors import BadInput
from tablecam.record.entries import GameFacts, Picture
from tablecam.record.game_file import GameFile
from tests.replay.recorded import STARTED_AT, new, recorded
from tests.rules.playthrough import KEPT, played
from tests.web.test_replay import unfinished
from web.bundle import bundle
from web.page_file import addresses, page_of

OWN = next(path for path in KEPT if path.name.startswith("own"))
WICKED = "</script><script>alert(1)</script><!--"
MOST_BYTES = 5_000_000


@pytest.fixture(scope="module")
def journal(tmp_path_factory: pytest.TempPathFactory) -> GameFile:
    play = played(OWN.read_text(encoding="utf-8"))
    file = recorded(play, tmp_path_factory.mktemp("games") / "a.tablecam")
    file.append(new("notice", {"text": WICKED}, 1), new("picture", {"of": 1}, 2, picture()))
    return file


def picture() -> Picture:
    return Picture("table", b"a picture")


def data(page: str, name: str) -> object:
    """The data of a page under a name."""
    match = re.search(rf'<script type="application/json" id="{name}">(.*?)</script>', page, re.S)
    assert match is not None
    return json.loads(match[1])


def test_what_players_wrote_ends_no_tag_and_comes_out_as_it_was(journal: GameFile) -> None:
    page = page_of(journal)
    assert "alert(1)</script>" not in page
    assert "<!--" not in page.replace("<!doctype", "")
    told = data(page, "replay-film")
    assert isinstance(told, dict)
    assert WICKED in [entry.get("text") for entry in told["entries"]]


def test_it_may_run_its_own_script_and_ask_nobody(journal: GameFile) -> None:
    page = page_of(journal)
    match = re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', page)
    assert match is not None
    policy = match[1].replace("&#39;", "'")
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy
    assert not re.search(r'(?:src|href)="(?!data:,|/")', page)


def test_pictures_are_in_it_where_they_are_wanted(journal: GameFile) -> None:
    last = journal.last()
    assert data(page_of(journal), "replay-pictures") == {}
    told = data(page_of(journal, addresses(journal)), "replay-pictures")
    assert told == {f"{last} table": "data:image/jpeg;base64,YSBwaWN0dXJl"}


def test_a_game_of_three_hours_is_within_its_size(journal: GameFile) -> None:
    """By the size of an action: a fast game of three hours has a thousand of them."""
    page = page_of(journal)
    deeds = len(journal.entries("deed"))
    film = len(json.dumps(data(page, "replay-film")))
    assert len(page) + film * (1000 / deeds - 1) < MOST_BYTES


def test_the_text_of_a_game_in_progress_is_left_out(journal: GameFile, tmp_path: Path) -> None:
    assert str(data(page_of(journal), "replay-text")).startswith("[tablecam.text 1;")
    running = recorded(unfinished(), tmp_path / "b.tablecam")
    assert data(page_of(running), "replay-text") == ""


def test_a_recording_of_nothing_makes_no_page(tmp_path: Path) -> None:
    empty = GameFile.create(tmp_path / "c.tablecam", GameFacts("x", "", STARTED_AT))
    with pytest.raises(BadInput, match="the recording has no table yet"):
        page_of(empty)


def test_a_page_is_exported_once_and_never_over_another(
    journal: GameFile, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "game.html"
    assert main(["export", str(journal.path), "--html", str(out), "--pictures"]) == 0
    assert out.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert main(["export", str(journal.path), "--html", str(out)]) == 2
    assert "game.html" in capsys.readouterr().err


def test_what_is_no_recording_is_not_played(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "no.tablecam"
    path.write_text("no recording", encoding="utf-8")
    assert main(["replay", str(path), "--page", "--port", "0"]) == 2
    told = capsys.readouterr()
    assert "another kind of file" in told.err
    assert len(told.err.splitlines()) == 1


MODULES = {
    "room/main": (
        'import {\n  twice as two,\n} from "./a.js";\nimport * as b from "../b.js";\ntwo(b.one);\n'
    ),
    "room/a": 'import { one } from "../b.js";\nexport function twice(n) { return n * one; }\n',
    "b": "export const one = 1;\n",
}


def test_modules_come_after_what_they_import() -> None:
    script = bundle("room/main", MODULES.__getitem__)
    places = [script.index(f'modules["{name}"] =') for name in ("b", "room/a", "room/main")]
    assert places == sorted(places)
    assert 'const {\n  twice: two,\n} = modules["room/a"];' in script
    assert 'const b = modules["b"];' in script
    assert not re.search(r"^(import|export)", script, re.M)


def test_modules_that_import_each_other_are_refused() -> None:
    both = {
        "a": 'import { g } from "./b.js";\nexport function f() { return g(); }\n',
        "b": 'import { f } from "./a.js";\nexport function g() { return f; }\n',
    }
    with pytest.raises(ValueError, match="a → b → a"):
        bundle("a", both.__getitem__)


def test_what_is_not_understood_of_modules_is_refused() -> None:
    with pytest.raises(ValueError, match="by name"):
        bundle("a", lambda name: "export default 1;\n")
