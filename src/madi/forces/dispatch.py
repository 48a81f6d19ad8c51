"""The only place that asks which kind a force element is.

The elements nearly every model has are built into the forward kernels. The others are compiled one by one, when a model
first needs them, and called by address: a model without wheels does not wait for them to be compiled.
"""

from __future__ import annotations

from types import ModuleType

from madi.forces import BY_CODE, MODULES
from madi.forces.fields import Arrays, Work
from madi.forces.line import line
from madi.kernel import Kernel, inline, kernel


@kernel
def measure_lines(model: Arrays, work: Work):
    """work.measure: length and rate of the elements whose law sees them."""
    for k in range(model.na):
        e = model.measured[k]
        length, rate, _ = line(model, work, model.force_a[e], model.force_b[e], model.force_at[e])
        work.measure[2 * k], work.measure[2 * k + 1] = length, rate


def call_element(address, model, work, e):
    """An element that is not built in: plain and traced, its kernel; jitted, the C function at its address
    (numba_support.py)."""
    BY_CODE[int(model.force_kind[e])].apply(model, work, e)


@inline
def apply_other(model: Arrays, work: Work, e):
    """The last rung: element e is none of those built in."""
    call_element(model.force_call[e], model, work, e)


def rung(module: ModuleType, others: Kernel) -> Kernel:
    """The kernel that applies element e if it is of this module's kind, else asks the other rungs."""
    code, apply = module.KIND.code, module.apply

    @inline
    def apply_kind(model: Arrays, work: Work, e):
        if model.force_kind[e] == code:
            apply(model, work, e)
        else:
            others(model, work, e)

    return apply_kind


def ladder() -> Kernel:
    """The kernel that applies element e of whatever kind: a rung for each that is built in, the first of them on top."""
    top: Kernel = apply_other
    for module in reversed(MODULES):
        if module.KIND.built_in:
            top = rung(module, top)
    return top


apply_element = ladder()


@kernel
def apply_elements(model: Arrays, work: Work, tau):
    """work.Q = applied force vectors, work.tau = generalised forces: those handed in and those of the elements."""
    Q = work.Q
    for i in range(model.n):
        for j in range(6):
            Q[i, j] = 0.0
    for c in range(model.nv):
        work.tau[c] = tau[c]
    for e in range(model.ne):
        apply_element(model, work, e)
