"""What a camera that hangs, or is yet to be hung, makes of a table's tags."""
