"""Closed loops: their equations, and the methods that keep them closed."""
