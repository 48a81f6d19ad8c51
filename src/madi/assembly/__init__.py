"""States that a model must find: closed loops, mobility, equilibrium."""
