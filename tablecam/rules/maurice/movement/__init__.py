"""Movement: allowances, marches, wheels and changes of formation (chapter 6)."""
