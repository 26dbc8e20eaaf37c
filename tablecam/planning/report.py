"""Reports a plan as text and a table for people, or as JSON for programs."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from tablecam.planning.plan import (
    Mount,
    Plan,
    TagPrediction,
    highest_height_mm,
    least_px_per_cell,
)
from tablecam.vision.search.camera_scale import extent_mm, largest_tag_mm, outline_px, side_cells


def print_plan(plan: Plan, mount: Mount) -> None:
    """Prints the sentences, then the table."""
    console = Console(highlight=False)
    for line in (*sight_words(plan), *tag_words(plan, mount), *size_words(plan)):
        console.print(line, markup=False)
    console.print(_table(plan))
    for line in (
        f"Measured on {plan.model.measured_with}; 'found' counts tags at least 85 % visible.",
        "These are errors of reading the picture: the calibration adds its own. Lens distortion "
        "can make the table's corners up to 10 % smaller.",
    ):
        console.print(line, markup=False, style="dim")


def sight_words(plan: Plan) -> list[str]:
    """Says whether the camera sees the table, and from where it would see it best."""
    x_low, y_low, x_high, y_high = extent_mm(plan.roster)
    table = f"{x_high - x_low:g} x {y_high - y_low:g} mm"
    lowest_mm = plan.lowest_height_mm
    if not plan.sees_table:
        advice = (
            "no height above this place is enough"
            if lowest_mm is None
            else f"hang the camera at least {_cm_up(lowest_mm)} mm above the table"
        )
        return [f"The table of {table} does not fit in the picture: {advice}."]
    outline = outline_px(plan.camera, plan.roster)
    size = np.array([plan.camera.lens.width_px, plan.camera.lens.height_px])
    # The larger share limits how close the camera may hang.
    shares = (outline.max(axis=0) - outline.min(axis=0)) / size
    share, side = max(zip(shares.tolist(), ("width", "height"), strict=True))
    lines = [
        f"The table of {table} fits in the picture and fills {100 * share:.0f} % of its {side}."
    ]
    # Compared after rounding, as the sentence states the rounded height.
    if lowest_mm is not None and _cm_up(lowest_mm) < plan.height_mm:
        larger = 100 * (plan.height_mm / _cm_up(lowest_mm) - 1)
        lines.append(
            f"The best height is {_cm_up(lowest_mm)} mm: the table still fits and appears "
            f"{larger:.0f} % larger."
        )
    return lines


def tag_words(plan: Plan, mount: Mount) -> list[str]:
    """Says whether the tags can be read, and from where they could be."""
    small = [tag for tag in plan.tags if not tag.works]
    if not small:
        share = found_percent(plan.model.good_recall)
        return [f"All tags are large enough: at least {share} of the tags in view are found."]
    required = plan.model.good_px_per_cell
    names = ", ".join(tag.scale.base_type.name for tag in small)
    least = min(tag.scale.min_px_per_cell for tag in small)
    too_small = (
        f"Too small at this height: {names} ({least:.2f} px per cell; {required:.2f} needed)."
    )
    return [too_small, *_lower_words(plan, mount, required)]


def size_words(plan: Plan) -> list[str]:
    """States the smallest tags that would suffice."""
    share = found_percent(plan.model.good_recall)
    lines = [f"Smallest tag size with {share} found: {_size(plan, plan.smallest_tag_mm)}."]
    if plan.smallest_precise_tag_mm is None:
        return [*lines, f"No measured tag size places 95 % within {plan.error_mm:g} mm."]
    size = _size(plan, plan.smallest_precise_tag_mm)
    return [*lines, f"Smallest tag size with 95 % placed within {plan.error_mm:g} mm: {size}."]


def found_percent(recall: float) -> str:
    """Formats a recall, rounded down because 99.96 % is not all.

    >>> found_percent(0.9996)
    '99.9 %'
    """
    return f"{math.floor(1000 * recall + 1e-9) / 10:g} %"


def px_a_cell(tag: TagPrediction) -> str:
    """Formats a size in the picture, rounded down because 1.497 is below 1.5."""
    return f"{math.floor(100 * tag.scale.min_px_per_cell + 1e-6) / 100:.2f}"


def plan_document(plan: Plan, mount: Mount) -> dict[str, Any]:
    """Returns the plan as a JSON document."""
    lens = plan.camera.lens
    highest_mm = highest_height_mm(mount, plan.roster, plan.model.good_px_per_cell)
    return {
        "camera": {
            "height_mm": plan.height_mm,
            "at_mm": list(mount.at_mm),
            "width_px": lens.width_px,
            "height_px": lens.height_px,
            "focal_px": lens.fx_px,
        },
        "sees_table": plan.sees_table,
        "lowest_height_mm": plan.lowest_height_mm,
        "highest_height_mm": highest_mm,
        "tags": [_tag_document(tag) for tag in plan.tags],
        "smallest_tag_mm": plan.smallest_tag_mm,
        "smallest_precise_tag_mm": plan.smallest_precise_tag_mm,
        "wanted_recall": plan.model.good_recall,
        "wanted_error_mm": plan.error_mm,
        "measured_with": plan.model.measured_with,
    }


def print_plan_document(plan: Plan, mount: Mount) -> None:
    """Prints the plan as one JSON document."""
    document = json.dumps(plan_document(plan, mount), indent=1)
    Console(soft_wrap=True, highlight=False, markup=False).print(document)


def _lower_words(plan: Plan, mount: Mount, required: float) -> list[str]:
    """Says whether a camera hung lower would see both the tags and the table."""
    low_mm = plan.lowest_height_mm
    if low_mm is None:
        return []
    highest_mm = highest_height_mm(mount, plan.roster, required)
    if highest_mm is not None:
        # Rounded down, so that the stated height is low enough.
        return [f"At {10 * int(highest_mm // 10)} mm or lower the camera can read them."]
    # At the lowest height that shows the whole table; the scale grows with the picture's width.
    best = least_px_per_cell(mount.camera(plan.roster, low_mm), plan.roster)
    width_px = 100 * math.ceil(plan.camera.lens.width_px * required / best / 100)
    return [
        "Low enough to read them, this camera would not see the whole table; one with a horizontal "
        f"resolution of {width_px} px would, at {_cm_up(low_mm)} mm."
    ]


def _size(plan: Plan, size_mm: float) -> str:
    """States a size of tag, and the bases that have no room for it."""
    cells = side_cells(plan.roster)
    too_small = [base for base in plan.roster.base_types if largest_tag_mm(base, cells) < size_mm]
    if not too_small:
        return f"{size_mm:g} mm"
    room_mm = max(largest_tag_mm(base, cells) for base in too_small)
    names = ", ".join(base.name for base in too_small)
    return f"{size_mm:g} mm, too large for the bases of {names} ({room_mm:g} mm)"


def _table(plan: Plan) -> Table:
    """Builds the table of predictions; base types with equal figures share a row."""
    title = f"From {plan.height_mm:g} mm, at the worst point of the table"
    columns = ("tag", "mm", "px/cell", "found", "position, mm", "95 %", "heading, °", "95 %")
    table = Table(*columns, title=title, title_justify="left")
    rows: dict[tuple[str, ...], list[str]] = {}
    for tag in plan.tags:
        base = tag.scale.base_type
        # Base types with equal figures share a row.
        rows.setdefault((f"{base.tag_size_mm:g}", *_cells(tag)), []).append(base.name)
    for cells, names in rows.items():
        table.add_row(", ".join(names), *cells)
    return table


def _cells(tag: TagPrediction) -> list[str]:
    """Formats the predictions of one base type."""
    size = px_a_cell(tag)
    expected = tag.expected
    if expected is None:
        return [size, "not measured", "", "", "", ""]
    return [
        size,
        found_percent(expected.recall),
        f"{tag.median_mm:.2f}",
        f"{tag.p95_mm:.2f}",
        f"{expected.median_deg:.1f}",
        f"{expected.p95_deg:.1f}",
    ]


def _tag_document(tag: TagPrediction) -> dict[str, Any]:
    """Returns the predictions of one base type as JSON."""
    expected = tag.expected
    return {
        "base_type": tag.scale.base_type.name,
        "tag_size_mm": tag.scale.base_type.tag_size_mm,
        "px_per_cell": tag.scale.median_px_per_cell,
        "least_px_per_cell": tag.scale.min_px_per_cell,
        "works": tag.works,
        "expected": None
        if expected is None
        else {
            "recall": expected.recall,
            "median_mm": tag.median_mm,
            "p95_mm": tag.p95_mm,
            "median_deg": expected.median_deg,
            "p95_deg": expected.p95_deg,
        },
    }


def _cm_up(length_mm: float) -> int:
    """Rounds up to whole centimetres, in millimetres."""
    return 10 * int(np.ceil(length_mm / 10 - 1e-9))
