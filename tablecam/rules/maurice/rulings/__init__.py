"""Every ruling that follows from a position, as data, text and drawing."""
