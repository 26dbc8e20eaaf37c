"""The kit of games on printed hex maps: grid, facings, sight, zones, ways, stacks and files."""
