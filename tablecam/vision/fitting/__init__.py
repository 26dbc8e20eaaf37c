"""Fits tags to pixels: models of light, blur and place, and their covariance."""
