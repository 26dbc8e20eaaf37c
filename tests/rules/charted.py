"""A chart file of the toy that needs one."""

CHARTED = "charted"

CHARTS = """\
format = "tablecam.charts"
version = 1
game = "charted"
source = "house"

[fire]
range_in = 12
rows = [
  {from = 0, to = 5, result = "miss"},
  {from = 6, to = 9, result = "wound"},
]
"""
