"""Force elements as functions of the poses and velocities of the bodies they see, with exact derivatives: a program of small
parts, for equations/slopes.py.

    (t, q, v, x = (theta, frames, bodies, held values)) -> of every group Q, Q by the motions and by the velocities of its
                                              bodies, by the coordinates and by the speeds it depends on beside them.

The kernels of forces/ and signals/ run on symbols, as in any trace, but poses and velocities are symbols themselves: nothing
of the tree is in it, and it grows with the elements alone. A motion (e, w) of a body about the reference origin changes its
pose by r' = e + w x r, R' = w~ R.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np

from madi.equations.motion import apply_drives
from madi.forces import BY_CODE
from madi.forces.dispatch import apply_element, measure_lines
from madi.joints.chart import exponential
from madi.signals.tape import force_signals
from madi.spatial.vector import X_AXIS, Y_AXIS, Z_AXIS, put, put_axes
from madi.symbolic.jacobian import Jacobian
from madi.symbolic.lookup import Looked, jacobian
from madi.symbolic.sym import Sym, column_of, symbols
from madi.symbolic.trace import adjusted
from madi.topology.layout import Layout, model_views
from madi.topology.parameters import Parameters
from madi.topology.slopes import Group, Slopes, articulated_plan, slope_plan

KEPT = 16  # elements and derivatives of models that are kept
FRAME, BODY = 12, 18  # numbers of a frame: axes, origin; of a body: axes, origin, velocity


class State:
    """Symbols of what elements may see, put into a scratch."""

    def __init__(self, layout: Layout, model: Any, work: Any):
        nq, nv, self.frames, self.n = (layout.header(name) for name in ("nq", "nv", "nf", "n"))
        (self.t, t), (self.q, q), (self.v, v) = symbols("t", 1), symbols("q", nq), symbols("v", nv)
        self.theta, theta = symbols("theta", nv)
        held = layout.header("n_held")
        self.x, x = symbols("x", FRAME * (self.frames - 1) + BODY * (self.n - 1) + held)
        put_axes(work.R, 0, X_AXIS, Y_AXIS, Z_AXIS)
        put_axes(work.frame_R, 0, X_AXIS, Y_AXIS, Z_AXIS)
        k = 0
        for f in range(1, self.frames):
            _put_pose(work.frame_R, work.frame_r, f, x[k : k + FRAME])
            k += FRAME
        self.first = k
        for b in range(1, self.n):
            _put_pose(work.R, work.r, b, x[k : k + FRAME])
            put(work.Y, b, tuple(x[k + FRAME : k + BODY]))
            k += BODY
        for j in range(held):
            work.held[j] = x[k + j]
        work.now = t[0]
        self.last = k
        self.column = ca.SX.sym("B")  # what an element must not see
        work.B[:] = Sym(self.column)
        self.numbers = {  # of the symbols that may be met, by CasADi's name for them
            symbol.element_hash(): (what, k)
            for what, column in (("x", self.x), ("theta", self.theta), ("q", self.q), ("v", self.v))
            for k, symbol in enumerate(ca.vertsplit(column) if column.numel() else [])
        }
        exponential(model, q, theta, work.moved)
        apply_drives(model, work, t[0], work.moved, v)
        measure_lines(model, work)
        force_signals(model, work, t[0], work.q, work.v)

    def met(self, expression: ca.SX) -> tuple[list[int], list[int], list[int]]:
        """Bodies, columns by their coordinates and columns by their speeds that an expression depends on."""
        found = [self.numbers[h] for symbol in ca.symvar(expression) if (h := symbol.element_hash()) in self.numbers]
        bodies = {1 + (k - self.first) // BODY for what, k in found if what == "x" and self.first <= k < self.last}
        return (
            sorted(bodies),
            sorted({k for what, k in found if what == "theta"}),
            sorted({k for what, k in found if what == "v"}),
        )

    def pose(self, b: int) -> ca.SX:
        """Axes and origin of body b."""
        return self.x[self.first + BODY * (b - 1) :][:FRAME]

    def velocity(self, b: int) -> ca.SX:
        """Its velocity."""
        return self.x[self.first + BODY * (b - 1) + FRAME :][:6]

    def motions(self, b: int) -> ca.SX:
        """How its pose changes by a motion: twelve rows, six columns."""
        pose, found = self.pose(b), ca.SX(FRAME, 6)
        for j in range(3):
            found[9 + j, j] = 1
            w = [1.0 if i == j else 0.0 for i in range(3)]
            for a in range(3):
                for i, value in enumerate(_cross(w, [pose[a], pose[3 + a], pose[6 + a]])):
                    found[3 * i + a, 3 + j] = value
            for i, value in enumerate(_cross(w, [pose[9 + a] for a in range(3)])):
                found[9 + i, 3 + j] = value
        return found


def _put_pose(R: Any, r: Any, i: int, x: np.ndarray) -> None:
    R[i] = x[:9].reshape(3, 3)
    r[i] = x[9:12]


def _cross(a: Any, b: Any) -> list[Any]:
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def element_program(layout: Layout, parameters: Parameters | None = None) -> tuple[list[Group], Jacobian, int] | None:
    """(the groups, their program, how many numbers it gives). None: there is a force that sees more than poses and
    velocities of bodies, coordinates and speeds."""
    p, reals = adjusted(layout, parameters)
    model, work = model_views(layout.ints, reals, layout.curve), layout.scratch(dtype=object)
    groups: list[Group] = []
    parts: list[ca.SX] = []
    with Looked() as looked:
        state = State(layout, model, work)
        for e in range(layout.header("ne")):
            group, values = _group(model, work, state, e, looked)
            if group.bodies or group.taus:
                groups.append(group)
                parts += values
        out = looked.closed(ca.vertcat(*parts)) if parts else ca.SX(0, 1)
    if state.column.element_hash() in {symbol.element_hash() for symbol in ca.symvar(out)}:
        return None
    inputs = [state.t, state.q, state.v, ca.vertcat(state.theta, state.x)]
    return groups, Jacobian(ca.Function("elements", [*inputs, *p], [ca.cse(out)])), int(out.numel())


def elements_of(layout: Layout, parameters: Parameters | None = None) -> tuple[list[Group], Jacobian, int] | None:
    """As `element_program`. Of the last few models it is kept: one is often settled, linearised and simulated, each time
    built anew."""
    if parameters:
        return element_program(layout, parameters)
    return _kept(element_program, layout)


def slopes_of(layout: Layout, parameters: Parameters | None = None) -> Slopes | None:
    """All derivatives by recursion; kept as its elements are."""

    def plan(layout: Layout) -> Slopes | None:
        found = elements_of(layout, parameters)
        return found and Slopes(*slope_plan(layout.arrays, found[0], found[2]), found[1])

    return plan(layout) if parameters else _kept(plan, layout)


def articulated_slopes_of(layout: Layout, parameters: Parameters | None = None) -> Slopes | None:
    """What an elimination without entries takes, of a tree; None: there is none, as its elements couple joints."""
    found = elements_of(layout, parameters)
    made = found and articulated_plan(layout.arrays, found[0], found[2])
    return made and found and Slopes(*made, found[1])


def _kept(make: Callable[[Layout], Any], layout: Layout) -> Any:
    """What `make` gives for this model; the last few are kept."""
    key = (make.__qualname__, layout.ints.tobytes(), layout.reals.tobytes(), layout.curve_key)
    if key not in _made:
        while len(_made) >= KEPT:
            _made.pop(next(iter(_made)), None)
        _made[key] = make(layout)
    return _made[key]


_made: dict[Any, Any] = {}
NOTHING = 0.0  # this very object: where an element has put nothing


def _group(model: Any, work: Any, state: State, e: int, looked: Looked) -> tuple[Group, list[ca.SX]]:
    """An element as a group, and its values."""
    work.Q[:], work.tau[:] = NOTHING, NOTHING
    apply_element(model, work, e)
    touched = {k // 6 for k, x in enumerate(work.Q.reshape(-1).tolist()) if x is not NOTHING}  # few, of all bodies
    acts = [i for i in sorted(touched) if i and any(isinstance(x, Sym) or x != 0 for x in work.Q[i])]
    taus = [c for c, x in enumerate(work.tau) if isinstance(x, Sym)]
    bodies, by_q, by_v = state.met(looked.closed(column_of([*work.Q[acts].reshape(-1), *work.tau[taus]])))
    group = Group(sorted(set(bodies) | set(acts)), taus, by_q, by_v)
    group.relative = BY_CODE[int(model.force_kind[e])].KIND.ends == 2 and len(group.bodies) == 2 and not taus and (
        model.frame[group.bodies[0]] == model.frame[group.bodies[1]]
    )  # fmt: skip
    wrenches = column_of(work.Q[group.bodies].reshape(-1))
    answer = ca.vertcat(wrenches, column_of(work.tau[taus]))
    by_rows = [jacobian(answer, state.pose(b)) @ state.motions(b) for b in group.bodies]
    by_rows += [jacobian(answer, state.velocity(b)) for b in group.bodies]
    direct = [jacobian(answer, state.theta[c]) for c in by_q] + [jacobian(answer, state.v[c]) for c in by_v]
    return group, [ca.densify(part) for part in (wrenches, *(ca.vec(part.T) for part in by_rows), *direct)]
