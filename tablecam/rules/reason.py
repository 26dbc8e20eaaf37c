"""Reasons as data: code reads the code, people read the words."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Reason:
    """Why something is not allowed: the rule, a short code for programs, and words for people.

    >>> str(Reason("M-8.4", "view", "the enemy is out of view"))
    'M-8.4 the enemy is out of view'
    """

    rule: str
    code: str
    text: str

    def __str__(self) -> str:
        return f"{self.rule} {self.text}" if self.rule else self.text
