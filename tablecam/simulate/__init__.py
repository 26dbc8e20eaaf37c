"""Simulated tables: a scripted battle and a fast renderer.

Takes a script, a roster and a camera; returns frames, each with its exact ground truth. May import
capture, vision, table and calibration.
"""
