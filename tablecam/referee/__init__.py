"""The referee: compares the table that the camera sees with the game that is played on it."""
