"""Plain questions to single rules, on counters as they stand on a map or as they count."""

from __future__ import annotations

from typing import Final

from tablecam.rules.hexes.queries import add_hex_questions
from tablecam.rules.musket_saber.files import FILE_MODELS
from tablecam.rules.musket_saber.tables import GAME
from tablecam.rules.questions import Questions

QUESTIONS: Final = Questions(GAME, FILE_MODELS)
add_hex_questions(
    QUESTIONS, place="K-G1 K-G2 K-G3", neighbours="K-G2", stacks="K-G4", readings=("R-01",),
    has_facing=False,
)  # fmt: skip
