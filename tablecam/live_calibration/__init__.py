"""Guides a user through the calibration of a camera, picture by picture."""
