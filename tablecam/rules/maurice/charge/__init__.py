"""Charges: which enemies a unit may charge, and by which moves (M-8.2 to M-8.8)."""
