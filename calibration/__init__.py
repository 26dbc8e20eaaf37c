"""The camera as a mathematical object: lens, table pose, picture ↔ table with covariance.

Takes pictures of boards and table tags as arrays; gives a `Camera` and the sheets to print.
May import nothing else of this project.
"""
