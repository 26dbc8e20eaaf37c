"""tablecam: a camera over a real miniatures table.

Pictures become tags, bases, a `Position`, measures; each package names what it takes and gives.
Read `table/model.py` first: everything downstream works from a `Position` alone.
"""

__version__ = "0.2.0.dev0"
