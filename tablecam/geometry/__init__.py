"""Geometry of bases and units: rectangles, outlines, front lines, zones, lines of sight."""
