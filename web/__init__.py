"""The Flask application: the page, its event stream, and its JSON API.

Serves a live table or a recording; contains no geometry and no rules.
"""

from web.application import create_app, create_replay
from web.server import Server

__all__ = ["Server", "create_app", "create_replay"]
