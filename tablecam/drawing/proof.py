"""Makes the proof card for a ruling: the camera's picture, cropped, with evidence and caption.

The photograph is neither rectified nor retouched: evidence is drawn in place, with the question,
the answer and the rule beneath.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

import cv2
import numpy as np

from calibration.camera import Camera
from tablecam.capture.picture import jpeg_bytes
from tablecam.drawing.evidence import with_units_and_evidence
from tablecam.drawing.pen import Array, Picture
from tablecam.drawing.proof_caption import Caption, with_caption
from tablecam.drawing.proof_crop import crop_around
from tablecam.drawing.proof_ground import EvidenceHeights
from tablecam.drawing.shape_style import BOUNDLESS
from tablecam.geometry.outlines import rim
from tablecam.table.model import Unit
from tablecam.uncertainty.answer import Answer

_JPEG_QUALITY: Final = 90


@dataclass(frozen=True, slots=True)
class Proof:
    """The content of a proof card: a question, its answer with evidence, and the units concerned.

    `sides` are all sides in the order of the table file, which sets their colours; `ground` gives
    the height at which evidence is drawn; `reading` is the interpretation chosen where the rulebook
    leaves a choice.
    """

    question: str
    answer: Answer
    at: datetime
    units: tuple[Unit, ...] = ()
    sides: tuple[str, ...] = ()
    ground: EvidenceHeights = field(default_factory=EvidenceHeights)
    reading: str = ""


def proof_picture(
    picture: Picture, camera: Camera, proof: Proof, *, margin_mm: float = 60.0
) -> tuple[bytes, bytes]:
    """Crops the picture to the place; returns it as JPEG, plain and with the proof drawn on it.

    `picture` (height, width, 3), or grey (height, width), was taken by `camera` in its pose at that
    time.
    """
    # Evidence is coloured, so a grey picture needs three channels.
    if picture.ndim == 2:
        picture = np.asarray(cv2.cvtColor(picture, cv2.COLOR_GRAY2BGR), dtype=np.uint8)
    cut = crop_around(_places(proof), camera, ground=proof.ground, margin_mm=margin_mm)
    plain = cut.of(picture)
    caption = Caption(proof.question, proof.answer, proof.at, proof.reading)
    evidence = with_units_and_evidence(plain, cut, proof.units, proof.answer.evidence, proof.sides)
    drawn = with_caption(evidence, caption)
    return jpeg_bytes(plain, _JPEG_QUALITY), jpeg_bytes(drawn, _JPEG_QUALITY)


def _places(proof: Proof) -> Iterator[Array]:
    """Yields the places that must be visible: units, and evidence of limited extent."""
    for unit in proof.units:
        yield from (rim(base) for base in unit.bases)
    for shape in proof.answer.evidence:
        # A zone that extends across the table would crop to the whole picture.
        if shape.role not in BOUNDLESS:
            yield np.array(shape.points_mm, dtype=np.float64)
