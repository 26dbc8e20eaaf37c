"""Maurice Lite: rulings and resolutions from a position, by the numbered rules of its checklist."""
