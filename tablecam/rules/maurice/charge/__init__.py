"""Charges: who may charge whom, and by which moves (M-8.2 to M-8.8)."""
