"""Draws links as QR codes, for phones to scan."""

from __future__ import annotations

import io

import segno


def terminal_code(link: str) -> str:
    """Returns a link as a QR code of block characters, for a terminal."""
    text = io.StringIO()
    segno.make_qr(link).terminal(text, compact=True)
    return text.getvalue()


def svg_code(link: str) -> bytes:
    """Returns a link as a QR code in SVG: black on white, whatever the page's colours are."""
    picture = io.BytesIO()
    segno.make_qr(link).save(picture, kind="svg", scale=8, light="white", omitsize=True)
    return picture.getvalue()
