"""Test settings: hypothesis draws seeds, mechanisms are made from them by NumPy."""

from hypothesis import HealthCheck, settings

settings.register_profile("madi", deadline=None, max_examples=25, suppress_health_check=list(HealthCheck), derandomize=True)
settings.load_profile("madi")
collect_ignore = ["package/toys"]  # for a copy of the package (package/test_contributing.py)
