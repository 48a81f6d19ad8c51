"""Which engine "auto" is: C made for the model where the run is long enough to pay for it, else the general kernels.

Both sides are times. C must be made first; then every evaluation is quicker. What is in the cache already is not looked at:
one machine, one model, one answer to the last bit.
"""

from __future__ import annotations

from typing import Any

SAVED = 0.4e-9  # seconds an instruction of generated code saves against the general kernel, each time it is run
WORTH = 2.0  # times the wait that a run must save: nobody likes to wait for nothing
LEAST_SAVING = 2.0  # seconds a run must save at best, before its code is even looked at
LARGEST = 60  # degrees of freedom of models whose code is looked at
PER_COLUMN = 500  # instructions of an evaluation, before it is traced: a rough count


def choose_engine(system: Any, name: str, formulation: str, span: float, step: float | None, loops: Any, method: Any) -> str:
    """The engine asked for, or for "auto" the one that is sooner done. An adaptive run may be short, nobody knows
    beforehand: it gets the general kernels."""
    if name != "auto":
        system.engine(name)
        return name
    evaluations = 4 * span / step if step else 0.0
    if system.nv > LARGEST or SAVED * PER_COLUMN * system.nv * evaluations < LEAST_SAVING:
        return "jit"
    from madi.engines.compiler import is_trusted, seconds_for

    # (functions that stay in Python take longer than what C would save)
    if not is_trusted() or system.frozen.signals.callbacks or (system.frozen.rows and not loops.traced):
        return "jit"
    lines = instructions(system, system.entry(formulation), method)
    return "compiled" if WORTH * seconds_for(lines) < SAVED * lines * evaluations else "jit"


def instructions(system: Any, entry: str, method: Any) -> int:
    """Instructions of the code of an evaluation; of an implicit method, of its step."""
    if method.implicit:
        traced = system.traced_blocks
        return 10**9 if traced is None else 2 * int(traced[1].n_instructions())
    from madi.symbolic.trace import trace

    key = ("instructions", entry)
    if key not in system._traces:
        system._traces[key] = int(trace(system.layout, entry).n_instructions())
    return int(system._traces[key])
