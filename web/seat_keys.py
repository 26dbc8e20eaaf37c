"""Stores the tokens of a game's seats, so that links stay valid when the server restarts."""

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
    """Returns a random token for each seat."""
    return {name: secrets.token_urlsafe(_TOKEN_BYTES) for name in names}


def kept_tokens(path: Path, names: Iterable[str], *, is_new: bool) -> Mapping[str, str]:
    """Returns the stored tokens for these seats; new ones for a new game, or if there are none.

    Only the user who runs the server may read the file. If it cannot be written, the tokens last
    until the server ends.
    """
    seat_names = tuple(names)
    stored = {} if is_new else _read(path)
    # Another table file may have other sides.
    if stored.keys() == set(seat_names):
        return stored
    tokens = new_tokens(seat_names)
    try:
        _write(path, tokens)
    except OSError as error:
        log.warning("the seats' links are valid only until this server stops: %s", error)
    return tokens


def _read(path: Path) -> dict[str, str]:
    try:
        document = read_json(path).data
    except BadInput:
        return {}
    return {name: token for name, token in document.items() if isinstance(token, str) and token}


def _write(path: Path, tokens: Mapping[str, str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    # Created anew, so that only its owner may read it.
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(dict(tokens), file)
