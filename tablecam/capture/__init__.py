"""Pictures in: cameras, streams, videos, pictures, folders.

Takes a source's name; gives `Frame`s, the newest first. Knows nothing of tags.
"""
