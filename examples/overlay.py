"""Follows a live table and keeps a drawing of it up to date, for example for a video stream.

python examples/overlay.py http://127.0.0.1:8000 overlay.svg
"""

import json
import sys
from pathlib import Path
from typing import Any
from urllib.request import urlopen

COLOURS = ("#2e6fdb", "#d64545", "#3f9b53", "#c98b1f")


def svg(table: dict[str, Any], state: dict[str, Any]) -> str:
    """The bases of all units, in the colour of their side; y runs up on a table, down in an SVG."""
    width, depth = table["width_mm"], table["depth_mm"]
    colours = dict(zip(table["sides"], COLOURS, strict=False))
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {depth}">']
    for unit in state["units"]:
        for base in unit["bases"]:
            x, y, turn = base["x_mm"], depth - base["y_mm"], -base["heading_deg"]
            w, d = base["width_mm"], base["depth_mm"]
            lines.append(
                f'<rect transform="translate({x} {y}) rotate({turn})" x="{-d / 2}" y="{-w / 2}" '
                f'width="{d}" height="{w}" fill="{colours[unit["side"]]}">'
                f"<title>{unit['id']}</title></rect>"
            )
    return "\n".join([*lines, "</svg>\n"])


address, out = sys.argv[1].rstrip("/"), Path(sys.argv[2])
with urlopen(f"{address}/api/table") as answer:
    table = json.load(answer)
with urlopen(f"{address}/api/events") as events:
    for line in events:
        if line.startswith(b"data: {"):
            out.write_text(svg(table, json.loads(line.removeprefix(b"data: "))), encoding="utf-8")
