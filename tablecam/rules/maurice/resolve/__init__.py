"""Resolves volleys, combats and rallies with given dice."""
