"""Tracing: kernels run on symbols; the trace becomes C, exact derivatives, operation counts."""
