"""Models a camera: its lens, its pose over the table, and maps picture ↔ table with covariance.

Reads pictures of boards and table tags as arrays; produces a `Camera` and the sheets to print.
Imports no other package of this project.
"""
