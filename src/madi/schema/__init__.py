"""Model files: one table of what can be said (`kinds.py`); reader, writer, JSON Schema and reference page follow from it."""
