"""Shapes on the table: rectangles, outlines, front lines, zones and lines of sight."""
