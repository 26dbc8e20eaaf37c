"""Joins a club's tables: uploads their recordings to PostgreSQL and shows them all."""
