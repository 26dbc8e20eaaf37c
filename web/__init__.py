"""The Flask application: the page, its live stream, the JSON beside it.

Takes a live table; gives pages. Does no geometry and knows no rules: it asks and shows.
"""
