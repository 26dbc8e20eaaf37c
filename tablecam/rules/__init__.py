"""The rule systems: one package each, from positions to rulings, resolutions and games."""
