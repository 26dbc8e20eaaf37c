"""Fits printed tags to pixels: a model of light, blur and pose, and the pose's covariance."""
