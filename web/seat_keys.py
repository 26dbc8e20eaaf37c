"""Keeps the seats' tokens of a game, so that its links still count when the server comes back."""

from __future__ import annotations

import json
import logging
import os
import secrets
from collections.abc import Iterable, Mapping
from pathlib import Path

from tablecam.documents import read_json
from tablecam.errors import BadInput

log = logging.getLogger(__name__)

_TOKEN_BYTES = 24


def new_tokens(names: Iterable[str]) -> dict[str, str]:
    """A token that nobody guesses for each seat."""
    return {name: secrets.token_urlsafe(_TOKEN_BYTES) for name in names}


def kept_tokens(path: Path, names: Iterable[str], *, is_new: bool) -> Mapping[str, str]:
    """The tokens that a file keeps for these seats; new ones for a new game, and where it has none.

    Only who runs the server may read the file. Where it cannot be written the tokens last as long
    as the server does.
    """
    wanted = tuple(names)
    found = {} if is_new else _read(path)
    if found.keys() == set(wanted):
        return found
    tokens = new_tokens(wanted)
    try:
        _write(path, tokens)
    except OSError as error:
        log.warning("the seats' links last only as long as this server: %s", error)
    return tokens


def _read(path: Path) -> dict[str, str]:
    try:
        document = read_json(path).data
    except BadInput:
        return {}
    return {name: each for name, each in document.items() if isinstance(each, str) and each}


def _write(path: Path, tokens: Mapping[str, str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)  # a file that others could read keeps no secret
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(dict(tokens), file)
