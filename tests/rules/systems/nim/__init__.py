"""A toy rule system, as small as one can be: Nim, with a die for how many counters there are."""
