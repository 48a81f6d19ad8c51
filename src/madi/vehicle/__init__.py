"""Vehicles: roads (tires and templates will follow)."""
