"""The Flask application: the page, its live stream, the JSON beside it.

Takes a live table; gives pages. Does no geometry and knows no rules: it asks and shows.
"""

from web.application import create_app, create_replay
from web.server import Server

__all__ = ["Server", "create_app", "create_replay"]
