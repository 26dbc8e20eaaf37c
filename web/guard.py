"""Protects the page from other sites: restricts who sends requests and what browsers load."""

from __future__ import annotations

import ipaddress
import socket
from urllib.parse import SplitResult, urlsplit

from flask import Flask, Response, abort, request

_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        # The page shows each picture from memory, so that none flickers while it loads.
        "img-src 'self' blob:; font-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Cross-Origin-Opener-Policy": "same-origin",
    # The picture may show a living room: no other site may embed it.
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


def protect(app: Flask) -> None:
    """Checks the origin of requests, and adds security headers to responses."""
    app.before_request(_refuse_strangers)
    app.after_request(_with_headers)


def _refuse_strangers() -> None:
    if not _is_own_name(_split(f"//{request.host}").hostname or ""):
        # DNS rebinding: another site's name that leads here would make its pages count as ours.
        abort(403, "wrong host name: use the address that the table is served at")
    if request.method in ("GET", "HEAD", "OPTIONS"):
        return
    # Browsers name the page that sends; other programs do not, and cannot be tricked by a link.
    origin = request.headers.get("Origin")
    if origin is not None and _split(origin).netloc != request.host:
        abort(403, "this table accepts requests only from its own page")
    # A form on another site cannot send this type without asking first.
    if request.mimetype != "application/json":
        abort(415, "expected application/json")


def _split(address: str) -> SplitResult:
    try:
        return urlsplit(address)
    except ValueError:  # `http://[`: not an address
        return urlsplit("")


def _is_own_name(name: str) -> bool:
    """Whether a host name can only mean this machine."""
    try:
        # Another site cannot register an IP address as its name.
        ipaddress.ip_address(name)
    except ValueError:
        # Routers and Zeroconf append `.lan` and `.local` to a machine's own name.
        own = {"localhost", socket.gethostname().lower()}
        own |= {own_name + ".lan" for own_name in own}
        return name.lower().removesuffix(".local") in own
    return True


def _with_headers(response: Response) -> Response:
    for name, value in _HEADERS.items():
        response.headers.setdefault(name, value)
    return response
