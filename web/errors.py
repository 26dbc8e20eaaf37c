"""Turns errors into responses: one line of JSON under `/api`, plain pages elsewhere."""

from __future__ import annotations

import logging

from flask import Flask, Response, jsonify, render_template, request
from werkzeug.exceptions import HTTPException, InternalServerError

from tablecam.errors import BadInput
from tablecam.referee.refusals import NotDeclared, NotYours, OutOfDate, TooOften

log = logging.getLogger(__name__)


def explain(app: Flask) -> None:
    """Registers an application's error handlers."""
    app.register_error_handler(BadInput, _bad_input)
    app.register_error_handler(HTTPException, _refusal)
    app.register_error_handler(Exception, _internal_error)


def _bad_input(error: BadInput) -> tuple[Response, int]:
    """Returns 400; 403 if the seat may not do it (yet), 409 if too late, 429 if too often."""
    code = 409 if isinstance(error, OutOfDate) else 400
    if isinstance(error, NotYours | NotDeclared):
        code = 403
    if isinstance(error, TooOften):
        code = 429
    return jsonify(error=str(error)), code


def _refusal(error: HTTPException) -> tuple[Response | str, int] | HTTPException:
    if not request.path.startswith("/api/"):
        return _page(error)
    return jsonify(error=error.description or error.name), error.code or 500


def _page(error: HTTPException) -> tuple[str, int] | HTTPException:
    """Returns a page that explains a refusal; browsers have their own for other errors."""
    if error.code not in (403, 429):
        return error
    return render_template("refused.html", why=error.description), error.code


def _internal_error(error: Exception) -> tuple[Response | str, int] | HTTPException:
    """Logs an error of tablecam in full, and reports it in one line."""
    log.error("%s %s failed", request.method, request.path, exc_info=error)
    return _refusal(InternalServerError())
