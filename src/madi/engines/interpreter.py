"""A trace run as data: the jit engine's way to exact Jacobians, on machines without a C compiler.

The instructions of a trace are put in an order in which many of one kind follow each other: the interpreter then asks once
per run what to do, not once per instruction. Registers: constants, inputs, then what each instruction makes.

    context = (counts, runs, a, b, inputs, outputs, registers, parameters, curve), addresses of arrays.

Of look-ups, b is the place of their block.
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any

import numpy as np

from madi.kernel import kernel
from madi.kernel.lookup import lookup
from madi.signals.tape import (
    ADD,
    IF_ELSE_ZERO,
    LOOKUP,
    LT,
    MUL,
    NEG,
    NOT,
    OPS,
    SUB,
    arithmetic,
    comparison,
    function,
)

OF_Q, OF_V, OF_X, OF_P = 1, 2, 3, 4  # inputs of a trace; 0: the time
TWO = tuple(OPS[name] for name in ("div", "pow", "atan2", "fmin", "fmax", "copysign", "fmod"))


@kernel
def interpret(counts, runs, a, b, inputs, outputs, r, p, curve, t, q, v, x, out):
    """Fill the registers, run by run."""
    for k in range(counts[0]):
        kind, at = inputs[3 * k], inputs[3 * k + 1]
        value = t
        if kind == OF_Q:
            value = q[at]
        elif kind == OF_V:
            value = v[at]
        elif kind == OF_X:
            value = x[at]
        elif kind == OF_P:
            value = p[at]
        r[inputs[3 * k + 2]] = value
    for n in range(counts[1]):
        op, first, last = runs[3 * n], runs[3 * n + 1], runs[3 * n + 2]
        base = counts[3]  # register of the first instruction
        if op == MUL:
            for k in range(first, last):
                r[base + k] = r[a[k]] * r[b[k]]
        elif op == ADD:
            for k in range(first, last):
                r[base + k] = r[a[k]] + r[b[k]]
        elif op == SUB:
            for k in range(first, last):
                r[base + k] = r[a[k]] - r[b[k]]
        elif op == NEG:
            for k in range(first, last):
                r[base + k] = -r[a[k]]
        elif op >= LOOKUP:
            for k in range(first, last):
                r[base + k] = lookup(curve, b[k], r[a[k]], op - LOOKUP)
        elif op in TWO:
            for k in range(first, last):
                r[base + k] = arithmetic(op, r[a[k]], r[b[k]])
        elif op >= LT and op <= IF_ELSE_ZERO and op != NOT:
            for k in range(first, last):
                r[base + k] = comparison(op, r[a[k]], r[b[k]])
        else:
            for k in range(first, last):
                r[base + k] = function(op, r[a[k]])
    for k in range(counts[2]):
        out[outputs[2 * k]] = r[outputs[2 * k + 1]]


class Program:
    """The arrays of a trace, ready to be interpreted."""

    def __init__(self, trace: Any):
        from madi.symbolic.ssa import instructions

        listed = instructions(trace)
        constants = [k for k, made in enumerate(listed) if made.op == "const"]
        given = [k for k, made in enumerate(listed) if made.op == "input"]
        results = [made for made in listed if made.op == "output"]
        order, runs = _schedule(listed)
        register = {k: n for n, k in enumerate([*constants, *given, *order])}
        base = len(constants) + len(given)
        self.start = np.zeros(max(len(register), 1))
        self.start[: len(constants)] = [listed[k].value for k in constants]
        inputs = [(listed[k].a, listed[k].b, register[k]) for k in given]
        self.a = np.array([register[listed[k].a] for k in order], dtype=np.int64)
        self.b = np.array([_second(listed[k], register) for k in order], dtype=np.int64)
        self.inputs = np.array(inputs, dtype=np.int64).reshape(-1)
        self.runs = np.array(runs, dtype=np.int64).reshape(-1)
        self.outputs = np.array([(int(made.value), register[made.a]) for made in results], dtype=np.int64).reshape(-1)
        self.counts = np.array([len(inputs), len(runs), len(results), base], dtype=np.int64)

    def arrays(self) -> tuple[np.ndarray, ...]:
        """In the order of `interpret`; the registers are fresh."""
        return self.counts, self.runs, self.a, self.b, self.inputs, self.outputs, self.start.copy()


def _second(made: Any, register: dict[int, int]) -> int:
    """The second number of an instruction: a register, or where a look-up's block is."""
    if OPS[made.op] >= LOOKUP:
        return int(made.value)
    return register[made.b] if made.b >= 0 else 0


def _schedule(listed: list[Any]) -> tuple[list[int], list[tuple[int, int, int]]]:
    """An order of the arithmetic and its runs (operation, first, last + 1): always the kind that most are ready of."""
    waiting: dict[int, int] = {}
    readers: dict[int, list[int]] = defaultdict(list)
    ready: dict[str, list[int]] = defaultdict(list)
    for k, made in enumerate(listed):
        if made.op in ("const", "input", "output"):
            continue
        needs = {j for j in (made.a, made.b) if j >= 0 and listed[j].op not in ("const", "input")}
        waiting[k] = len(needs)
        for j in needs:
            readers[j].append(k)
        if not needs:
            ready[made.op].append(k)
    order: list[int] = []
    runs: list[tuple[int, int, int]] = []
    while ready:
        op = max(ready, key=lambda name: len(ready[name]))
        batch = ready.pop(op)
        runs.append((OPS[op], len(order), len(order) + len(batch)))
        order += batch
        for k in batch:
            for reader in readers[k]:
                waiting[reader] -= 1
                if waiting[reader] == 0:
                    ready[listed[reader].op].append(reader)
    return order, runs
