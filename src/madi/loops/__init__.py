"""Closed loops: their equations, the projection that keeps them closed, assembly, redundancy."""
