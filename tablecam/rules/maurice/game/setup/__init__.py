"""Setting a game up: options, terrain, deployment (chapter 2)."""
