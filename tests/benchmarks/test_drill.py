"""The drill: kills, hostile requests, lines and files, a thief, damage to recordings.

`make drill` repeats it in a minute or two, prints what happened and writes it to docs/drill.md. The
suite does the same in fewer steps, so that a fault is noticed at once; here all steps run.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from random import Random

import cv2
import numpy as np
import pytest
from rich.console import Console
from rich.table import Table

from calibration.results import CameraFile, Origin, TableCalibration
from tablecam.cli import main
from tablecam.commands.engine import Lines
from tablecam.record.camera_file import write_camera_file
from tablecam.record.game_file import GameFile
from tablecam.replay.copies import copy_of
from tablecam.replay.lines import lines_of
from tablecam.rules.maurice.game import GAME
from tablecam.simulate import demo
from tablecam.simulate.rendering.render import PLAIN
from tablecam.simulate.source import SimulatedSource
from tablecam.table.position_file import position_to_json
from tests.benchmarks.record import ROOT, machine, markdown
from tests.patience import PATIENCE_S
from tests.record.games import FACTS
from tests.recorder.lives import lives_of
from tests.recorder.test_killed_game import ServedGame
from tests.referee.tables import table
from tests.replay.evening import evening
from tests.replay.test_digests import HARM, damaged, faults_of, repair_says, rows_in
from tests.test_hostile_input import hostile_lines, hostile_requests, spoilt, table_of
from tests.web.of_four import begin
from tests.web.test_concealed_hand import OTHERS, OWN, Watched, requests
from tests.web.test_server import half_sent, is_served
from web import Server

KILLS, REQUESTS, LINES, FILES = 20, 3600, 4000, 450
STOLEN, HALVES = 5000, 130
DAMAGED, BITS = 50, 18
SEED = 13
DOCUMENT = ROOT / "docs" / "drill.md"
FOREIGN = re.compile(
    r"Traceback|internal error in tablecam|fault of tablecam|JPEG|libpng|libav|terminate called"
)
"""Texts that no user should see: our internal errors, and libraries' own messages."""

_WORDS = """\
# Drill

Written by `make drill`, which runs it all again in about {seconds} s: killed processes, hostile
requests and files, a thief at the table, damaged recordings. The test suite does the same in fewer
steps. Where `happened` is 0, what must not happen did not happen.

- {date}
- {machine}
"""


@dataclass
class Drilled:
    """What was tried, and how often something forbidden happened."""

    rows: list[tuple[str, str, str, int]] = field(default_factory=list)
    began_s: float = field(default_factory=time.monotonic)

    def hold(self, what: str, tried: str, must_not_happen: str, happened: int) -> None:
        """Record how often something forbidden happened.

        Raises:
            AssertionError: It did.
        """
        self.rows.append((what, tried, must_not_happen, happened))
        assert happened == 0, f"{what}: {must_not_happen}: {happened}"

    def table(self) -> Table:
        """Everything that was tried."""
        shown = Table("drill", "tried", "must not happen", "happened", title="What was tried")
        for what, tried, must_not_happen, happened in self.rows:
            shown.add_row(what, tried, must_not_happen, str(happened))
        return shown


@pytest.fixture(scope="module")
def drilled() -> Iterator[Drilled]:
    """The record of all trials, printed and written after the last one."""
    drilled = Drilled()
    yield drilled
    Console(width=150).print(drilled.table())
    words = _WORDS.format(
        seconds=10 * round((time.monotonic() - drilled.began_s) / 10),
        date=datetime.now(tz=UTC).date().isoformat(),
        machine=machine(),
    )
    DOCUMENT.write_text(f"{words}\n{markdown(drilled.table())}", encoding="utf-8")


@pytest.fixture(scope="module")
def recording(tmp_path_factory: pytest.TempPathFactory) -> GameFile:
    path = tmp_path_factory.mktemp("recordings") / "evening.tablecam"
    return GameFile.create(path, FACTS, evening())


def told(counts: Counter[str]) -> str:
    """The counts in words, largest first."""
    return ", ".join(f"{count} x {what}" for what, count in counts.most_common())


@pytest.mark.skipif(os.name != "posix", reason="Windows has no fork and no kill -9")
def test_no_kill_loses_an_acknowledged_action(drilled: Drilled, tmp_path: Path) -> None:
    lost = 0
    with lives_of("tests.recorder.killed_game", tmp_path) as process:
        game = ServedGame(process, tmp_path)
        for life in range(KILLS):
            game.live(Random(life))
            lost += game.lost()
    tried = f"{KILLS} kills among {len(game.confirmed)} acknowledged actions"
    drilled.hold("killed processes", tried, "an acknowledged action is lost", lost)


def test_no_hostile_request_is_an_internal_error(drilled: Drilled, recording: GameFile) -> None:
    app = table_of(recording)
    begin(app.test_client())
    codes: Counter[str] = Counter()
    with Server(app, port=0) as server:
        for path, body, headers in islice(hostile_requests(Random(SEED)), REQUESTS):
            codes[answered(server, path, body, headers)] += 1
        assert is_served(server)
        with half_sent(server, ["127.0.0.1"] * HALVES):
            is_shut = not is_served(server)
    wrong = sum(count for code, count in codes.items() if code.startswith("5"))
    tried = f"{REQUESTS} requests: {told(codes)}"
    drilled.hold("hostile requests", tried, "the server answers with an internal error", wrong)
    tried = f"{HALVES} requests cut off halfway"
    drilled.hold("half-sent requests", tried, "another request is not answered", int(is_shut))


def answered(server: Server, path: str, body: bytes | None, headers: dict[str, str]) -> str:
    """The status code of the answer to a request."""
    method = "GET" if body is None else "POST"
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE_S)
    with closing(connection):
        connection.putrequest(method, path, skip_host="Host" in headers)
        for name, value in headers.items():
            connection.putheader(name, value)
        if body is not None and "Content-Length" not in headers:
            connection.putheader("Content-Length", str(len(body)))
        try:
            connection.endheaders(body)
            return str(connection.getresponse().status)
        except (ConnectionError, http.client.RemoteDisconnected):
            return "hung up"


def test_no_hostile_line_is_a_fault_of_the_engines_own(drilled: Drilled) -> None:
    engine = Lines(GAME, chance=Random(1))
    answers: Counter[str] = Counter()
    wrong = 0
    for line in islice(hostile_lines(engine, Random(SEED)), LINES):
        answer = engine.answer(line)
        answers["taken" if answer["ok"] else "refused"] += 1
        wrong += "internal error in tablecam" in answer.get("error", "")
    drilled.hold(
        "engine", f"{LINES} lines: {told(answers)}", "it answers with an internal error", wrong
    )


def test_no_hostile_file_is_more_than_one_line(
    drilled: Drilled, tmp_path: Path, recording: GameFile, capfd: pytest.CaptureFixture[str]
) -> None:
    chance, codes, wrong = Random(SEED), Counter[str](), 0
    commands = [*files(tmp_path, recording)]
    for number in range(FILES):
        arguments, path, spoil = commands[number % len(commands)]
        whole = path.read_bytes()
        path.write_bytes(spoil(whole, chance))
        code = main([*map(str, arguments)])
        path.write_bytes(whole)
        (tmp_path / "again.tablecam").unlink(missing_ok=True)
        said = capfd.readouterr().err
        codes[f"exit code {code}"] += 1
        is_one_line = said.startswith("tablecam: ") and said.count("\n") == 1
        if code not in (0, 1, 2) or (code == 2 and not is_one_line) or FOREIGN.search(said):
            wrong += 1
            with capfd.disabled():
                Console().print(f"\n{path.name}, number {number}: exit code {code}: {said}")
    tried = f"{FILES} files of {len(commands)} kinds: {told(codes)}"
    drilled.hold("hostile files", tried, "it prints more than one clear line", wrong)


Spoil = Callable[[bytes, Random], bytes]


def files(folder: Path, recording: GameFile) -> Iterator[tuple[list[object], Path, Spoil]]:
    """Commands, the intact file that each reads, and how to corrupt it."""
    camera = demo.demo_camera(960, 540)
    picture = folder / "table.jpg"
    source = SimulatedSource(demo.embedded_demo(), camera, look=PLAIN)
    cv2.imwrite(str(picture), source.read().image)
    roster = folder / "table.toml"
    roster.write_bytes((Path(demo.__file__).parent / "demo_table.toml").read_bytes())
    seen = folder / "camera.json"
    calibrated = TableCalibration(
        *(camera.lens, camera.pose, np.zeros((15, 15)), 0.0, 0.0, ()),
        Origin("2026-01-01T00:00:00Z", ("demo",)),
    )
    write_camera_file(seen, CameraFile("demo", 960, 540, table=calibrated))
    position = folder / "there.json"
    position.write_text(json.dumps(position_to_json(table())), "utf-8")
    lines = folder / "evening.jsonl"
    lines.write_text("\n".join(lines_of(copy_of(recording, pictures=False))) + "\n", "utf-8")
    kept = folder / "evening.tablecam"
    kept.write_bytes(recording.path.read_bytes())
    snapshot = ["snapshot", picture, "--table", roster, "--camera", seen]
    snapshot += ["--out", folder / "position.json", "--force"]
    yield snapshot, picture, spoilt_bytes
    yield snapshot, roster, spoilt_bytes
    yield snapshot, seen, spoilt_document
    yield ["rulings", position, "--active", "french"], position, spoilt_document
    yield ["replay", kept, "--check"], kept, spoilt_bytes
    yield ["import", lines, "--out", folder / "again.tablecam"], lines, spoilt_line


def spoilt_document(whole: bytes, chance: Random) -> bytes:
    return spoilt(json.loads(whole), chance).encode()


def spoilt_line(whole: bytes, chance: Random) -> bytes:
    lines = whole.splitlines(keepends=True)
    place = chance.randrange(len(lines))
    lines[place] = spoilt_document(lines[place], chance) + b"\n"
    return b"".join(lines)


def spoilt_bytes(whole: bytes, chance: Random) -> bytes:
    data = bytearray(whole)
    HARM[chance.choice([*HARM])](chance, data, chance.randrange(len(data)))
    return bytes(data)


def test_no_thief_learns_of_a_concealed_hand(drilled: Drilled) -> None:
    one, other = Watched(OWN), Watched(OTHERS)
    differing = sum(
        one.answers(seat, path, body) != other.answers(seat, path, body)
        for seat, path, body in islice(requests(Random(SEED)), STOLEN)
    )
    tried = f"{STOLEN} requests to two games that differ only in the hand"
    drilled.hold("thief", tried, "the two answer differently", differing)


def test_no_damage_to_a_recording_goes_unnoticed(
    drilled: Drilled, recording: GameFile, tmp_path: Path
) -> None:
    path, whole = tmp_path / "damaged.tablecam", recording.path
    unnoticed = 0
    for harm in HARM.values():
        for data in islice(damaged(whole, Random(SEED), harm), DAMAGED):
            path.write_bytes(data)
            unnoticed += not faults_of(path)
    tried = f"{DAMAGED} files each with {', '.join(HARM)}"
    drilled.hold("damaged recordings", tried, "a check finds nothing changed", unnoticed)
    rows, belittled = rows_in(whole.read_bytes(), of_tables=True), 0
    for data in islice(damaged(whole, Random(SEED), HARM["bits"]), BITS):
        path.write_bytes(data)
        is_changed = rows_in(data, of_tables=True) != rows
        belittled += is_changed and "nothing is known to be lost" in " ".join(repair_says(path))
    tried = f"{BITS} files with one bit changed"
    drilled.hold("repaired recordings", tried, "a repair names no loss", belittled)
