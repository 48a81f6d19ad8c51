"""Integrators: one file a method (method.py tells what it is), two loops for all of them (march.py).

A new one is a file and a line of `METHODS`.
"""

from __future__ import annotations

from madi.integrate.ab3 import AB3
from madi.integrate.abm import Adams
from madi.integrate.dopri import DormandPrince
from madi.integrate.method import Method
from madi.integrate.newmark_explicit import ExplicitNewmark, ExplicitNewmarkFull
from madi.integrate.radau import Radau
from madi.integrate.rk4 import RK4
from madi.integrate.structural import GeneralizedAlpha, Newmark
from madi.integrate.sundials import CVODE, IDA
from madi.integrate.time_stepping import TimeStepping

__all__ = [
    "AB3", "CVODE", "IDA", "METHODS", "RK4", "Adams", "DormandPrince", "ExplicitNewmark", "ExplicitNewmarkFull",
    "GeneralizedAlpha", "Method", "Newmark", "Radau", "TimeStepping",
]  # fmt: skip
METHODS: dict[str, type[Method]] = {
    method.name: method
    for method in (
        RK4, AB3, Adams, DormandPrince, ExplicitNewmark, ExplicitNewmarkFull, Newmark, GeneralizedAlpha, Radau, IDA, CVODE,
        TimeStepping,
    )
}  # fmt: skip
