"""The tests' own PostgreSQL server: made in a folder, started, stopped, started again."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tablecam.hall.server import Hall
from tests.patience import PATIENCE_S
from tests.ports import kept_port

"""Time limit of one step of the server, some hundred times what it takes on two idle cores."""
ADVICE = "needs PostgreSQL (Debian, Ubuntu: apt install postgresql)"


def programs() -> Path | None:
    """The folder of PostgreSQL's programs; Debian keeps them off the path."""
    program = shutil.which("initdb")
    if program is not None:
        return Path(program).resolve().parent
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    return folders[-1].parent if folders else None


class Postgres:
    """A server on this machine alone. Root may not run one: then it runs as Debian's own user."""

    def __init__(self, bin_folder: Path) -> None:
        self._bin = bin_folder
        is_root = os.name == "posix" and os.geteuid() == 0
        self._user = "postgres" if is_root else None
        self._folder = Path(tempfile.mkdtemp(prefix="tablecam-postgres-"))
        if self._user is not None:
            shutil.chown(self._folder, self._user)
        self._closing = ExitStack()
        self.port = self._closing.enter_context(kept_port())
        self._run("initdb", "--auth=trust", "--username=tester", "--encoding=UTF8", "--no-sync")

    @property
    def address(self) -> str:
        """The address of its one database."""
        return f"postgresql://tester@127.0.0.1:{self.port}/postgres"

    def start(self) -> None:
        """Start it, and wait until it answers."""
        options = f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories="
        log = str(self._folder / "log")
        self._run("pg_ctl", "start", "--wait", "--silent", f"--options={options}", f"--log={log}")

    def stop(self) -> None:
        """Stop it at once, like a pulled plug: connections break."""
        self._run("pg_ctl", "stop", "--mode=immediate", "--wait", "--silent")

    def close(self) -> None:
        """Stop it and remove its folder."""
        self.stop()
        self._closing.close()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _run(self, program: str, *options: str) -> None:
        command = [str(self._bin / program), f"--pgdata={self._folder / 'data'}", *options]
        subprocess.run(
            command,
            user=self._user,
            check=True,
            cwd=self._folder,
            stdout=subprocess.DEVNULL,
            timeout=PATIENCE_S,
        )


@contextmanager
def hall_on(server: Postgres) -> Iterator[Hall]:
    """A hall on a server: nothing is left in it for the next test."""
    made = Hall(server.address)
    made.prepare()
    yield made
    with made.engine.begin() as connection:
        connection.exec_driver_sql("TRUNCATE recording, entry, picture, presence, table_name")
    made.engine.dispose()
