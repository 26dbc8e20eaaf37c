"""A club's tables together: uploads recordings, stores them in PostgreSQL, shows them all."""
