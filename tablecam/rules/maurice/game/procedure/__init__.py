"""A round from step to step, with overrules and the shapes of steps and events."""
