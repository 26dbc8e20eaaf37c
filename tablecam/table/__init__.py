"""The model of the table: table file, bases, units, terrain, `Position`, formations.

Reads documents and base poses into the frozen values of `model.py` and `roster.py`.
Independent of pixels and of rules.
"""
