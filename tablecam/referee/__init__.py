"""The referee: compares the table that the camera sees with the game played on it."""
