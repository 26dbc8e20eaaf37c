"""Fire: zones, targets, cover, numbers to hit and volleys (chapter 7)."""
