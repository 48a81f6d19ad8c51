"""All rows of a model. `pair_row` and `pair_swing` are the only places that ask which kind a row is."""

from __future__ import annotations

from madi.constraints import CODES, ROWS, coupler
from madi.constraints.coupler import entry
from madi.constraints.fields import Arrays, Work
from madi.constraints.kind import wanted
from madi.kernel import Kernel, apart, inline, kernel
from madi.spatial.vector import (
    NO_VECTOR,
    axis,
    dot,
    join,
    minus,
    motion_cross,
    plus,
    put,
    put_axis,
    scaled,
    second,
    six,
    three,
    turned,
    velocity_at,
)


@kernel
def pair_frames(model: Arrays, work: Work, k):
    """Axes and origins of the two frames of pair k, in the reference frame of the body (or bodies) it holds."""
    for side in range(2):
        i, s = model.pair_a[k] if side == 0 else model.pair_b[k], 2 * k + side
        o = plus(three(work.r, i), turned(work.R, i, three(model.pair_d, s)))
        if i == 0:
            f = three(work.frame_r, pair_frame(model, k))
            o = (apart(o[0], f[0]), apart(o[1], f[1]), apart(o[2], f[2]))
        put(work.pair_o, side, o)
        for m in range(3):
            put_axis(work.pair_E, side, m, turned(work.R, i, axis(model.pair_C, s, m)))


@inline
def pair_frame(model: Arrays, k):
    """The reference frame a pair is seen in: its bodies', of which one may be the ground."""
    return model.frame[model.pair_b[k] if model.pair_b[k] > 0 else model.pair_a[k]]


def _rung(code: int, this: Kernel, others: Kernel) -> Kernel:
    """What this kernel gives of a row of this kind, others of any other."""

    @inline
    def ask(model: Arrays, work: Work, r, x, y):
        """Of row r, the frames of its pair in work."""
        if model.row_kind[r] == code:
            return this(model, work, r, x, y)
        return others(model, work, r, x, y)

    return ask


def _ladder(what: str) -> Kernel:
    """The kernel (model, work, r, x, y) that does of each kind of row what its file gives for `what`, first to last; the
    last needs no question."""
    *before, last = [kind for kind in ROWS.values() if not kind.on_joints]
    found: Kernel = getattr(last, what)
    for kind in reversed(before):
        found = _rung(CODES[kind.name], getattr(kind, what), found)
    return found


pair_row, pair_swing = _ladder("row"), _ladder("swing")


@kernel
def evaluate_rows(model: Arrays, work: Work):
    """Phi, Phi', psi and gamma of every row; positions, velocities and accelerations without qdd are in work."""
    before = -1
    u, y, c = NO_VECTOR, join(NO_VECTOR, NO_VECTOR), join(NO_VECTOR, NO_VECTOR)
    for r in range(model.nr):
        k = model.row_pair[r]
        if k < 0:
            coupler.row(model, work, r)
            continue
        if k != before:
            before = k
            pair_frames(model, work, k)
            a, b = model.pair_a[k], model.pair_b[k]
            y = minus(six(work.Y, b), six(work.Y, a))
            u = velocity_at(y, three(work.pair_o, 1))
            # the relative acceleration less Y_a x dY: what psi meets in Phi''
            c = minus(minus(six(work.A, b), six(work.A, a)), motion_cross(six(work.Y, a), y))
        phi, psi, extra = pair_row(model, work, r, u, second(y))
        put(work.psi, r, psi)
        work.phi[r] = phi
        work.pace[r] = wanted(model, work, r, 1)
        work.rate[r] = dot(psi, y) - work.pace[r]
        work.gamma[r] = wanted(model, work, r, 2) - (dot(psi, c) + extra)


@inline
def jacobian_entry(model: Arrays, work: Work, r, j):
    """Entry j of Phi_q, in row r: power of a unit multiplier along a column, which moves one body of the pair (its sign), or
    (a mode) both, each in its own way."""
    if model.row_pair[r] < 0:
        return entry(model, r, model.j_column[j])
    power = model.j_sign[j] * dot(six(work.psi, r), six(work.B, model.j_motion[j]))
    if model.j_other[j] >= 0:
        power = power - dot(six(work.psi, r), six(work.B, model.j_other[j]))
    return power


@kernel
def jacobian(model: Arrays, work: Work, out):
    """Phi_q, full, row by row, driven columns included; psi and B are in work."""
    nv = model.nv
    for j in range(model.nr * nv):
        out[j] = 0.0
    for r in range(model.nr):
        k = model.row_pair[r]
        if k < 0:
            for column in (model.row_a[r], model.row_b[r]):
                out[r * nv + column] = entry(model, r, column)
            continue
        for side in range(2):
            i = model.pair_a[k] if side == 0 else model.pair_b[k]
            sign = -1.0 if side == 0 else 1.0
            x = model.tip_motion[i]
            while x >= 0:
                c = r * nv + model.motion_column[x]
                out[c] = out[c] + sign * dot(six(work.psi, r), six(work.B, x))
                x = model.motion_parent[x]


@kernel
def apply_multipliers(model: Arrays, work: Work):
    """Constraint forces -Phi_q^T lam as force vectors on the bodies (and generalised forces of couplers)."""
    for r in range(model.nr):
        k = model.row_pair[r]
        if k < 0:
            for column in (model.row_a[r], model.row_b[r]):
                work.tau[column] = work.tau[column] - entry(model, r, column) * work.lam[r]
        else:
            load = scaled(work.lam[r], six(work.psi, r))
            a, b = model.pair_a[k], model.pair_b[k]
            put(work.Q, a, plus(six(work.Q, a), load))
            put(work.Q, b, minus(six(work.Q, b), load))
