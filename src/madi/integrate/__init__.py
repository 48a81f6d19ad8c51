"""Integrators: one file per method, one contract (contract.py). A new one is a file and a line in `METHODS`."""

from madi.integrate import ab3, abm, dopri, newmark_explicit, radau, rk4, structural, sundials
from madi.integrate.contract import Method

METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        rk4.METHOD,
        ab3.METHOD,
        abm.METHOD,
        dopri.METHOD,
        newmark_explicit.METHOD,
        newmark_explicit.FULL,
        structural.NEWMARK,
        structural.GENERALIZED_ALPHA,
        radau.METHOD,
        sundials.IDA,
        sundials.CVODE,
    )
}
