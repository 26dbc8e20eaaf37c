"""A round from step to step, with overrules and drawings of what is due."""
