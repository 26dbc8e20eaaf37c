"""Rule systems, one package each: rulings on positions, resolution of combat, whole games."""
