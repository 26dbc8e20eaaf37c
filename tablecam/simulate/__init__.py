"""A table that is not there: a scripted battle and a quick renderer.

Takes a script, a roster and a camera; gives frames and the exact truth beside each. May import
capture, vision, table and calibration.
"""
