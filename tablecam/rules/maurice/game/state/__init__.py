"""The state of a game: steps, actions, losses, and their JSON."""
