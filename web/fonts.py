"""The pages' serif, for machines that have no good one."""

from __future__ import annotations

from importlib.resources import files
from typing import Final

from flask import Blueprint, Response, abort

_FILES: Final = files("font_source_serif_pro") / "files"
_STYLES: Final = {"regular": "Regular", "semibold": "Semibold", "italic": "It"}
_MAX_AGE_S: Final = 365 * 24 * 3600

blueprint = Blueprint("fonts", __name__)


@blueprint.get("/fonts/source-serif-pro-<style>.ttf")
def serif(style: str) -> Response:
    """Returns one style of the serif; it never changes."""
    if style not in _STYLES:
        abort(404, f"expected one of {', '.join(_STYLES)}")
    font = (_FILES / f"SourceSerifPro-{_STYLES[style]}.ttf").read_bytes()
    response = Response(font, mimetype="font/ttf")
    response.headers["Cache-Control"] = f"public, max-age={_MAX_AGE_S}, immutable"
    return response
