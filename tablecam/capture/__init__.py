"""Reads pictures from cameras, streams, videos, picture files and folders.

Takes the name of a source; returns `Frame`s, the newest first. Knows nothing of tags.
"""
