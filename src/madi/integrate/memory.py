"""What every integrator works on, by name; a method adds what it needs beside (subclasses of `Memory`).

The unknowns of one step are x = (theta, v): speeds v, and `theta` the coordinates of a chart at the step's first point
q (joints/chart.py), where theta = 0. In it every method is its textbook self; the step ends with q1 = q moved by theta.
So rotations are stepped on the manifold: a unit quaternion stays one, and a steady turn is exact.

A step leads from (q, v, a) to (q1, v1, a1). Everything a run must remember is in here: a loop may return after any step and
go on later (march.py), and a run that is kept in a file goes on from these numbers (run/checkpoint.py).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from madi.equations.fields import Arrays
from madi.kernel import kernel
from madi.kernel.fields import ABSENT, Fields, Function, Reals, function, integer, part, real, reals
from madi.loops.memory import LoopTally, fresh_tally

DONE, PAUSED = 0, 1  # what a loop, and a step, return
NOT_FINITE, STEP_TOO_SMALL, NEWTON_FAILED = 2, 3, 4
AGAIN = 5  # of a step: not taken, to be tried anew
EVENT = 6  # something has happened that Python wants to know; go on


LOGGED = 64  # events that are kept until Python reads them, and those of one more instant


class Outputs(Fields):
    """Where output is wanted, and the states there, held values among them."""

    times: Reals = reals("outputs")
    q_out: Reals = reals("outputs*nq")
    v_out: Reals = reals("outputs*nv")
    held_out: Reals = reals("outputs*n_held")


class Memory(Fields):
    """Memory of an explicit method."""

    limits: ClassVar[dict[str, tuple[int, int]]] = {}  # of integers that are places

    model: Arrays = part(Arrays)
    tally: LoopTally = part(LoopTally)
    outputs: Outputs = part(Outputs)
    forward: Any = function()  # accelerations of a state
    close: Any = function()  # closes the loops at the end of a step, and gives the accelerations there; ABSENT: none
    watch: Any = function()  # margins of modes (equations/modes.py); ABSENT: there are none
    switch: Any = function()  # the modes that go on after an event
    keep: Any = function()  # what elements remember of a step (equations/modes.py); ABSENT: nothing
    # options
    rtol: float = real()
    atol: float = real()
    max_step: float = real()
    first_step: float = real()  # 0: the method chooses
    step: float = real()  # of fixed-step methods
    # progress
    t: float = real()
    h: float = real()  # length of the next step (adaptive), of the last one (fixed)
    start: float = real()
    end: float = real()
    limit: int = integer()  # steps until the loop returns
    upto: int = integer()  # outputs to write before it does
    next: int = integer()  # the next output
    idle: int = integer()  # events since time went on
    written: int = integer()  # the same where the step at hand begins
    started: int = integer()
    anew: int = integer()  # 1: the state was changed from outside, the method begins anew
    evaluations: int = integer()
    accepted: int = integer()
    grid: int = integer()  # steps since `start`, of a method with steps of a fixed length
    rejected: int = integer()
    # the step
    q: Reals = reals("nq")
    v: Reals = reals("nv")
    a: Reals = reals("nv")
    q1: Reals = reals("nq")
    v1: Reals = reals("nv")
    a1: Reals = reals("nv")
    # events: margins at the end of the step (and which signals change sides), at its start, in its middle; what happened
    margin: Reals = reals("2*n_held")
    margin_before: Reals = reals("n_held")
    margin_within: Reals = reals("2*n_held")
    events: int = integer()
    event_time: Reals = reals(f"{LOGGED}+n_held")
    event_of: Reals = reals(f"{LOGGED}+n_held")
    event_mode: Reals = reals(f"{LOGGED}+n_held")  # the held value that followed
    event_loss: Reals = reals(f"{LOGGED}+n_held")  # energy lost in it
    lost: Reals = reals("n_held")
    broke: Reals = reals("1")  # points of friction that have given way in a step
    # what is applied beside the model's own forces: none; then the held values (forces/modes.py)
    # scratch: coordinates of a stage; ends of a cubic and a point of it (outputs.py)
    applied: Reals = reals("nv+n_held")
    q_stage: Reals = reals("nq")
    cubic: Reals = reals("10*nv")


class StageMemory(Memory):
    """Memory of a method that evaluates stages x in the chart at q."""

    x0: Reals = reals("2*nv")
    x1: Reals = reals("2*nv")
    x: Reals = reals("2*nv")
    k: Reals  # derivatives of its stages: their number is the method's


class AdaptiveMemory(StageMemory):
    """Memory of a method that judges its steps: the error, and what it is measured by at both ends."""

    error: Reals = reals("2*nv")
    scale: Reals = reals("2*nv")
    scale1: Reals = reals("2*nv")
    last_error: float = real()  # of the step before, against the tolerance


def make_memory(
    memory: Any, sizes: dict[str, int], times: Any, model: Any, plan: Any = None, room: Callable[[int], Any] = np.zeros
) -> Any:
    """Memory of a run with these sizes (nq, nv, nr) and output times, its functions absent; `model`: the chart; `room`:
    gives so many numbers for the outputs."""
    sizes = {"n_held": 0, **sizes}  # (absolute coordinates have none)
    recorded = {**sizes, "outputs": len(times)}
    outputs = Outputs(recorded, real_memory=room(Outputs.length(recorded, True)))
    outputs.times[:] = times
    parts: dict[str, Any] = {"model": model, "tally": fresh_tally(), "outputs": outputs}
    if plan is not None:
        parts["plan"] = plan
        sizes = sizes | {name: getattr(plan, name) for name in ("nu", "n_factor", "n_entries")}
    functions = [name for name, field in memory.fields.items() if field.part is Function]
    return memory(sizes, **parts, **dict.fromkeys(functions, ABSENT))


@dataclass(frozen=True)
class Loop:
    """A loop that engines run, compiled or as it is: a kernel of one named memory."""

    name: str
    kernel: Callable[[Any], int]
    memory: Any
    begin: Any = None  # of a method with steps of a fixed length: its kernels, which exported code is made of
    step: Any = None
    remember: Any = None
    outside: bool = False  # an external solver takes its steps: there is nothing to compile
    known: ClassVar[dict[str, Loop]] = {}

    def __post_init__(self) -> None:
        Loop.known[self.name] = self
        kernel(self.kernel)
