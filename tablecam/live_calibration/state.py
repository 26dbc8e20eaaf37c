"""The state of a live calibration at one instant, and its JSON for the page."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from calibration.extrinsics.table_pose import TableSearch
from calibration.extrinsics.table_tags import FoundTag
from calibration.intrinsics.coverage import target_outline_px
from calibration.intrinsics.guide import Advice
from calibration.intrinsics.lens_progress import GuidedView, Progress
from tablecam.documents import Json
from tablecam.live.state import SourceState
from tablecam.live_calibration.bases import BasesProgress

Stage = Literal["lens", "table", "done", "bases"]
Tone = Literal["do", "hold", "good", "doubt"]
"""The tone of the main sentence: an instruction, hold still, success, or a problem."""


@dataclass(frozen=True, slots=True)
class SourceStatus:
    """The state of the camera."""

    name: str
    state: SourceState
    message: str
    frames_per_s: float
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TableReading:
    """The table in one frame: its tags and the pose they give; `problem` if they give none."""

    found: tuple[FoundTag, ...]
    missing: tuple[int, ...]
    search: TableSearch | None
    mean_mm: float | None = None
    worst_mm: float | None = None
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Saved:
    """The last calibration written: the camera file, the old file's new path, the errors in mm."""

    path: str
    name: str
    kept: str | None
    has_table: bool
    lens_rms_px: float | None
    mean_mm: float | None
    worst_mm: float | None
    is_new: bool


@dataclass(frozen=True, slots=True)
class CalibrationState:
    """One state of a live calibration; `version` grows by one each time, `frame` begins at -1.

    `mm_per_px` is the table's scale, estimated from its width until its tags are found; None
    without a table file. `hexes` are the ones for fitting a hex map.
    """

    version: int
    frame: int
    source: SourceStatus
    progress: Progress
    width_px: int = 16
    height_px: int = 9
    stage: Stage = "lens"
    has_table: bool = False
    warnings: tuple[str, ...] = ()
    mm_per_px: float | None = None
    tag_size_mm: float | None = None
    hexes: tuple[str, ...] = ()
    can_undo: bool = False
    advice: Advice | None = None
    table: TableReading | None = None
    saved: Saved | None = None
    bases: BasesProgress | None = None


def state_json(state: CalibrationState) -> Json:
    """Returns everything that the page shows except the picture."""
    tone, say = _sentence(state)
    return {
        "version": state.version,
        "frame": state.frame,
        "width_px": state.width_px,
        "height_px": state.height_px,
        "stage": state.stage,
        "has_table": state.has_table,
        "tag_size_mm": state.tag_size_mm,
        "hexes": list(state.hexes),
        "source": {
            "name": state.source.name,
            "state": state.source.state,
            "message": state.source.message,
            "frames_per_s": round(state.source.frames_per_s, 1),
        },
        "warnings": [*state.source.notes, *state.warnings],
        "say": say,
        "tone": tone,
        "lens": _lens_json(state),
        "seen": None if state.advice is None else _advice_json(state),
        "table": None if state.table is None else _table_json(state.table),
        "saved": None if state.saved is None else _saved_json(state.saved),
        "bases": None if state.bases is None else _bases_json(state.bases),
    }


def _sentence(state: CalibrationState) -> tuple[Tone, str]:
    if state.frame < 0:
        return "do", "Waiting for the first picture"
    if state.stage == "lens" and state.advice is not None:
        return _lens_sentence(state.advice, state.progress)
    if state.stage == "table" and state.table is not None:
        return _table_sentence(state.table)
    if state.stage == "done" and state.saved is not None:
        if not state.saved.has_table:
            return "good", "The lens is saved"
        return "do", "Lay a ruler down and click its two ends"
    if state.stage == "bases" and state.bases is not None:
        return _bases_sentence(state.bases)
    return "do", "One moment"


def _lens_sentence(advice: Advice, progress: Progress) -> tuple[Tone, str]:
    if advice.is_doubtful:
        return "doubt", advice.sentence
    if advice.taken is not None or (progress.is_enough and advice.stillness.share < 0.5):
        return "good", advice.sentence
    return ("hold" if advice.is_held else "do"), advice.sentence


def _table_sentence(table: TableReading) -> tuple[Tone, str]:
    if table.search is None:
        missing = ", ".join(map(str, table.missing))
        if not table.missing:
            return "doubt", table.problem
        return "do", f"Put the board away. Table tags not seen: {missing}"
    misplaced = [tag.id for tag in table.search.calibration.tags if not tag.used]
    if misplaced:
        return "doubt", f"Tag {misplaced[0]} is not where the table file says"
    if table.missing:
        missing = ", ".join(map(str, table.missing))
        return "do", f"Good enough, but all tags would be better. Not seen: {missing}"
    return "good", "All table tags seen. Take your hands off the table, then save"


def _bases_sentence(bases: BasesProgress) -> tuple[Tone, str]:
    news = bases.news
    if bases.problem and len(bases.missing) < 2:
        return "doubt", bases.problem
    if bases.problem or not bases.corner_px:
        missing = ", ".join(map(str, bases.missing))
        return "do", f"Lay the jig's sheet into view. Its tags not seen: {missing}"
    if bases.in_corner is not None and bases.held < 1:
        return "hold", f"Base {bases.in_corner}: hands off, hold still"
    if news is not None and news.tag == bases.in_corner:
        return ("good" if news.is_taken else "doubt"), news.line[:1].upper() + news.line[1:]
    if bases.done == bases.total:
        return "good", "All bases are calibrated"
    return "do", "Push a base into the corner, then turn it by 180° and push it in again"


def _lens_json(state: CalibrationState) -> Json:
    progress, scale = state.progress, state.mm_per_px
    sigma_px, usual_px = progress.sigma_px, progress.usual_px
    return {
        "views": [_view_json(view) for view in progress.views],
        "cells": [list(row) for row in progress.coverage.cells],
        "tilts": dict(progress.coverage.tilts),
        "rms_px": None if progress.lens is None else round(progress.lens.rms_px, 3),
        "sigma_px": _rounded(sigma_px),
        "usual_px": _rounded(usual_px),
        "sigma_mm": None if scale is None or sigma_px is None else _rounded(sigma_px * scale),
        "usual_mm": None if scale is None or usual_px is None else _rounded(usual_px * scale),
        "wanting": list(progress.missing),
        "is_enough": progress.is_enough,
        "has_lens": progress.lens is not None,
        "problem": progress.problem,
        "can_undo": state.can_undo,
    }


def _view_json(view: GuidedView) -> Json:
    return {
        "name": view.name,
        "corners": view.corners,
        "tilt": view.tilt,
        "outline_px": _points(np.array(view.outline_px)),
        "rms_px": _rounded(view.rms_px),
        "rejected_because": view.rejected_because,
    }


def _advice_json(state: CalibrationState) -> Json:
    advice = state.advice
    assert advice is not None
    target, view = advice.target, advice.view
    ghost = target_outline_px(target.cell, target.tilt, state.width_px, state.height_px)
    return {
        "corners_px": [] if view is None else _points(view.corners_px),
        "held": round(advice.stillness.share, 2),
        "taken": advice.taken,
        "focus": round(advice.focus.score, 1),
        "best_focus": round(advice.focus.best, 1),
        "blur_px": None
        if not np.isfinite(advice.focus.blur_px)
        else round(advice.focus.blur_px, 2),
        "target": {"cell": target.cell, "tilt": target.tilt, "outline_px": _points(ghost)},
    }


def _table_json(table: TableReading) -> Json:
    residuals = {}
    if table.search is not None:
        residuals = {tag.id: tag for tag in table.search.calibration.tags}
    search = table.search
    return {
        "tags": [
            {
                "id": tag.id,
                "corners_px": _points(tag.corners_px),
                "off_mm": _rounded(residuals[tag.id].distance_mm) if tag.id in residuals else None,
                "used": tag.id not in residuals or residuals[tag.id].used,
            }
            for tag in table.found
        ],
        "missing": list(table.missing),
        "rms_px": None if search is None else _rounded(search.calibration.rms_px),
        "mean_mm": _rounded(table.mean_mm),
        "worst_mm": _rounded(table.worst_mm),
        "with_lens_mm": None if search is None else _rounded(search.sigma_with_lens_mm),
        "notes": [] if search is None else list(search.notes),
        "problem": table.problem,
    }


def _saved_json(saved: Saved) -> Json:
    return {
        "path": saved.path,
        "name": saved.name,
        "kept": saved.kept,
        "has_table": saved.has_table,
        "is_new": saved.is_new,
        "lens_rms_px": _rounded(saved.lens_rms_px),
        "mean_mm": _rounded(saved.mean_mm),
        "worst_mm": _rounded(saved.worst_mm),
    }


def _bases_json(bases: BasesProgress) -> Json:
    news = bases.news
    return {
        "held": round(bases.held, 2),
        "taken": sum(base.layings for base in bases.measured),
        "news": None if news is None else {"line": news.line, "is_taken": news.is_taken},
        "done": bases.done,
        "total": bases.total,
        "rows": [list(row) for row in bases.rows],
        "corner_px": [[round(x, 1), round(y, 1)] for x, y in bases.corner_px],
        "sigma_mm": _rounded(_mean(base.sigma_mm for base in bases.measured)),
        "sigma_deg": _rounded(_mean(base.sigma_deg for base in bases.measured)),
    }


def _mean(sigmas: Iterable[float]) -> float | None:
    values = tuple(sigmas)
    return sum(values) / len(values) if values else None


def _points(points_px: NDArray[np.float64]) -> list[list[float]]:
    return [[round(float(x), 1), round(float(y), 1)] for x, y in points_px]


def _rounded(value: float | None) -> float | None:
    # JSON has neither NaN nor infinity.
    return None if value is None or not np.isfinite(value) else round(value, 3)
