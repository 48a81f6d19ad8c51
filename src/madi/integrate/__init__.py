"""Integrators: one file per method, one contract (contract.py). A new one is a file and a line in `METHODS`."""

from madi.integrate import ab3, abm, dopri, rk4
from madi.integrate.contract import Method

METHODS: dict[str, Method] = {module.METHOD.name: module.METHOD for module in (rk4, ab3, abm, dopri)}
