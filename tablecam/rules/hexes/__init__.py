"""The kit for games on printed hex maps: grid, facings, sight, zones, paths, stacks and files."""
