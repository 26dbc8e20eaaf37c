"""What lies on the table: the table file, bases, units, terrain, `Position`, formations.

Takes documents and base poses; gives the frozen facts of `model.py` and `roster.py`.
Knows no pixels and no rules.
"""
