"""Finds the line of each key in a TOML or JSON document.

Neither `tomllib` nor `json` reports lines, and parsers that do are unmaintained or compiled. The
text has been parsed before, so this only walks its tokens: it validates nothing and returns no
values.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

KeyPath = tuple[str | int, ...]
"""Path of a value: keys by name, list elements by index from 0."""

_TOKEN = re.compile(
    r"""
      (?P<comment> \#[^\n]* )
    | (?P<string> \"\"\"(?:\\[\s\S]|[^\\])*?\"\"\"\"{0,2} | '''[\s\S]*?''''{0,2}
                | "(?:\\.|[^"\\\n])*" | '[^'\n]*' )
    | (?P<newline> \n )
    | (?P<space> [^\S\n]+ )
    | (?P<mark> [\[\]{}=:,.] )
    | (?P<word> [^\s\[\]{}=:,.#"']+ )
    """,
    re.VERBOSE,
)


def toml_lines(text: str) -> Mapping[KeyPath, int]:
    """Returns the line, from 1, of every key, table and list element of a valid TOML text."""
    return _Walk(text).toml()


def json_lines(text: str) -> Mapping[KeyPath, int]:
    """Returns the line, from 1, of every key and list element of a valid JSON text."""
    return _Walk(text).json()


def json_repeats(text: str) -> tuple[tuple[KeyPath, int], ...]:
    """Returns the keys that a valid JSON text repeats in one object, with the repeats' lines."""
    return _Walk(text).json_repeats()


class _Walk:
    """One pass over a text's tokens that collects the line of each key path."""

    def __init__(self, text: str) -> None:
        self._tokens: list[tuple[str, str, int]] = []
        line = 1
        for match in _TOKEN.finditer(text):
            kind, token = str(match.lastgroup), match.group()
            if kind not in ("comment", "space"):
                self._tokens.append((kind, token, line))
            line += token.count("\n")
        self._tokens.append(("end", "", line))
        self._at = 0
        self._lines: dict[KeyPath, int] = {(): 1}
        self._repeats: list[tuple[KeyPath, int]] = []
        self._tables: dict[KeyPath, int] = {}  # how many elements each array of tables has so far

    def toml(self) -> Mapping[KeyPath, int]:
        table: KeyPath = ()
        while self._kind != "end":
            if self._kind == "newline":
                self._at += 1
            elif self._token == "[":
                table = self._header()
            else:
                self._pair(table)
        return self._lines

    def json_repeats(self) -> tuple[tuple[KeyPath, int], ...]:
        self._value(())
        return tuple(self._repeats)

    def json(self) -> Mapping[KeyPath, int]:
        self._value(())
        return self._lines

    @property
    def _kind(self) -> str:
        return self._tokens[self._at][0]

    @property
    def _token(self) -> str:
        return self._tokens[self._at][1]

    def _header(self) -> KeyPath:
        """Reads a `[table]` or `[[table]]` line; returns the path of the keys that follow."""
        line = self._tokens[self._at][2]
        self._at += 1
        is_array = self._token == "["
        self._at += is_array
        path = self._in_current_tables(self._key())
        self._at += 1 + is_array
        if is_array:
            count = self._tables[path] = self._tables.get(path, 0) + 1
            self._lines.setdefault(path, line)
            path = (*path, count - 1)
        self._lines.setdefault(path, line)
        return path

    def _in_current_tables(self, keys: KeyPath) -> KeyPath:
        """Returns a header's path: below an array of tables it means the latest element."""
        path: KeyPath = ()
        for index, key in enumerate(keys):
            path = (*path, key)
            if path in self._tables and index < len(keys) - 1:
                path = (*path, self._tables[path] - 1)
        return path

    def _key(self) -> KeyPath:
        """Reads a key, which may be dotted."""
        parts: list[str] = []
        while self._kind in ("word", "string") or self._token == ".":
            if self._token != ".":
                parts.append(_unquoted(self._token))
            self._at += 1
        return tuple(parts)

    def _pair(self, table: KeyPath) -> None:
        """Reads a `key = value` or `"key": value`."""
        line = self._tokens[self._at][2]
        path = table
        for part in self._key():
            path = (*path, part)
            if path in self._lines:
                self._repeats.append((path, line))
            self._lines.setdefault(path, line)
        self._at += 1
        self._value(path)

    def _value(self, path: KeyPath) -> None:
        self._start_value(path)
        if self._token == "[":
            self._elements(path)
        elif self._token == "{":
            self._members(path)
        else:
            while self._token not in (",", "]", "}") and self._kind not in ("newline", "end"):
                self._at += 1

    def _start_value(self, path: KeyPath) -> None:
        # A TOML value starts on its key's line; a JSON document or value may start lower.
        while self._kind == "newline":
            self._at += 1
        self._lines.setdefault(path, self._tokens[self._at][2])

    def _elements(self, path: KeyPath) -> None:
        index = 0
        self._at += 1
        while (token := self._token) != "]":
            if token == "," or self._kind == "newline":
                self._at += 1
                continue
            self._lines[(*path, index)] = self._tokens[self._at][2]
            self._value((*path, index))
            index += 1
        self._at += 1

    def _members(self, path: KeyPath) -> None:
        self._at += 1
        while (token := self._token) != "}":
            if token == "," or self._kind == "newline":
                self._at += 1
            else:
                self._pair(path)
        self._at += 1


def _unquoted(key: str) -> str:
    return key[1:-1] if key[0] in "\"'" else key
