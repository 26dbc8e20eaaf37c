"""A recording looked at again: shown, told, checked, repaired and handed on."""
