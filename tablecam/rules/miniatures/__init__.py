"""The kit shared by rulebooks for miniatures."""
