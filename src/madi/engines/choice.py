"""Which engine "auto" is: C made for the model where it is there or pays, else the general kernels.

Both sides are times. C must be made first, which takes as long as code of that size took here before; then every evaluation
is quicker. The general kernels may have to be made too, on a machine that never ran madi.
"""

from __future__ import annotations

from typing import Any

SAVED = 0.4e-9  # seconds an instruction of generated code saves against the general kernel, each time it is run
KERNEL = 5.0  # seconds a general kernel takes to be compiled
WORTH = 2.0  # times the wait that a run must save: nobody likes to wait for nothing
LEAST_SAVING = 2.0  # seconds a run must save at best, before its code is even looked at
LARGEST = 60  # degrees of freedom of models whose code is looked at
PER_COLUMN = 500  # instructions of an evaluation, before it is traced: a rough count


def choose_engine(system: Any, name: str, formulation: str, span: float, step: float | None, loops: Any, method: Any) -> str:
    """The engine asked for, or for "auto" the one that is soonest done. An adaptive run may be short, nobody knows
    beforehand: it gets C only where that is there, or sooner made than the kernels."""
    if name != "auto":
        system.engine(name)
        return name
    from madi.engines.cache import is_sealed
    from madi.engines.compiled import library_path
    from madi.engines.compiler import is_trusted, seconds_for
    from madi.engines.jit import is_made

    # (functions that stay in Python take longer than what C would save)
    if not is_trusted() or system.frozen.signals.callbacks or (system.frozen.rows and not loops.traced):
        return "jit"
    entry = system.entry(formulation)
    codes, kernels = [entry], [entry, "observe"]
    if method.implicit:
        codes += ["step"] if method.closes and method.fixed is not None else ["residual", "jacobian"]
        kernels += ["residual", "interpreter"]
    if all(is_sealed(library_path(system.drawn, code, (), system.parameters)) for code in codes):
        return "compiled"
    missing = KERNEL * sum(not is_made(kernel) for kernel in kernels)
    evaluations = 4 * span / step if step else 0.0
    if system.nv > LARGEST or missing + SAVED * PER_COLUMN * system.nv * evaluations < LEAST_SAVING:
        return "jit"
    lines = instructions(system, entry, method)
    return "compiled" if WORTH * seconds_for(lines) < missing + SAVED * lines * evaluations else "jit"


def instructions(system: Any, entry: str, method: Any) -> int:
    """Instructions of the code of an evaluation; of an implicit method, of its step."""
    if method.implicit:
        trace = system.residual_blocks[1]
        return 10**9 if trace is None else 2 * int(trace.n_instructions())
    from madi.symbolic.trace import trace

    key = ("instructions", entry)
    if key not in system._traces:
        system._traces[key] = int(trace(system.layout, entry).n_instructions())
    return int(system._traces[key])
