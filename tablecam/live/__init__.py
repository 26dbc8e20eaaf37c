"""Watches a table: the loop from frames to positions, and the answers to a page's questions.

Takes an open reader, a camera and a roster; gives `Snapshot`s to whoever waits for them.
May import everything below; the page and the commands are above it.
"""
