"""The only place that asks which kind a row is."""

from __future__ import annotations

from madi.constraints import angle, coupler, distance, rotation, translation
from madi.kernel import apart, inline, kernel
from madi.spatial.algebra import dot6, motion_cross

ROWS = {
    "tx": 0, "ty": 1, "tz": 2, "rx": 3, "ry": 4, "rz": 5, "cross": 6, "angle": 7, "screw": 8, "distance": 9, "coupler": 10,
}  # fmt: skip
TZ, RX, RY, RZ, CROSS, ANGLE, SCREW, DISTANCE, COUPLER = range(2, 11)
WORDS = {
    "tx": "translation along x", "ty": "translation along y", "tz": "translation along z", "rx": "rotation about x",
    "ry": "rotation about y", "rz": "rotation about z", "cross": "axes perpendicular", "angle": "angle",
    "screw": "advance of the screw", "distance": "length", "coupler": "ratio",
}  # fmt: skip


@kernel
def pair_frames(model, work, k):
    """Axes and origins of the two frames of pair k, in the reference frame of the body (or bodies) it holds."""
    E, o, R = work.pair_E, work.pair_o, work.R
    C, d = model.pair_C, model.pair_d
    for side in range(2):
        i = model.pair_a[k] if side == 0 else model.pair_b[k]
        s = 2 * k + side
        for j in range(3):
            a, b, c = R[i, j, 0], R[i, j, 1], R[i, j, 2]
            o[side, j] = work.r[i, j] + a * d[s, 0] + b * d[s, 1] + c * d[s, 2]
            if i == 0:
                o[side, j] = apart(o[side, j], work.frame_r[pair_frame(model, k), j])
            for m in range(3):
                E[side, j, m] = a * C[s, 0, m] + b * C[s, 1, m] + c * C[s, 2, m]


@inline
def pair_frame(model, k):
    """The reference frame a pair is seen in: its bodies', of which one may be the ground."""
    return model.frame[model.pair_b[k] if model.pair_b[k] > 0 else model.pair_a[k]]


@kernel
def pair_row(model, work, r, u0, u1, u2, w0, w1, w2):
    """(Phi, f, n, extra) of row r, the frames of its pair in work."""
    kind = model.row_kind[r]
    if kind <= TZ:
        return translation.row(work, kind, u0, u1, u2, w0, w1, w2)
    if kind == RX:
        return rotation.row(work, 2, 1, -1.0, w0, w1, w2)
    if kind == RY:
        return rotation.row(work, 2, 0, 1.0, w0, w1, w2)
    if kind == RZ:
        return rotation.row(work, 0, 1, 1.0, w0, w1, w2)
    if kind == CROSS:
        return rotation.row(work, 0, 2, 1.0, w0, w1, w2)
    if kind == ANGLE:
        return angle.row(work, wanted(model, work, r, 0))
    if kind == SCREW:
        return angle.screw(work, model.row_value[r, 0], u0, u1, u2, w0, w1, w2)
    return distance.row(work, model.row_value[r, 0], u0, u1, u2, w0, w1, w2)


@inline
def wanted(model, work, r, order):
    """What the row's measure is held at (order 0), its rate (1) and acceleration (2) where it is driven."""
    s = model.row_signal[r]
    if s >= 0:
        return work.signal[s + order]
    return model.row_value[r, 1] if order == 0 else 0.0


@kernel
def evaluate_rows(model, work):
    """Phi, Phi', psi and gamma of every row; positions, velocities and accelerations without qdd are in work."""
    Y, A, psi = work.Y, work.A, work.psi
    o = work.pair_o
    before = -1
    u0, u1, u2 = 0.0, 0.0, 0.0
    c0, c1, c2, c3, c4, c5 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    y0, y1, y2, y3, y4, y5 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for r in range(model.nr):
        k = model.row_pair[r]
        if k < 0:
            coupler.row(model, work, r)
            continue
        a, b = model.pair_a[k], model.pair_b[k]
        if k != before:
            before = k
            pair_frames(model, work, k)
            y0, y1, y2 = Y[b, 0] - Y[a, 0], Y[b, 1] - Y[a, 1], Y[b, 2] - Y[a, 2]
            y3, y4, y5 = Y[b, 3] - Y[a, 3], Y[b, 4] - Y[a, 4], Y[b, 5] - Y[a, 5]
            x, y, z = o[1, 0], o[1, 1], o[1, 2]
            u0, u1, u2 = y0 + (y4 * z - y5 * y), y1 + (y5 * x - y3 * z), y2 + (y3 * y - y4 * x)
            c0, c1, c2, c3, c4, c5 = motion_cross(
                Y[a, 0], Y[a, 1], Y[a, 2], Y[a, 3], Y[a, 4], Y[a, 5], y0, y1, y2, y3, y4, y5
            )
            # the relative acceleration less Y_a x dY: what psi meets in Phi''
            c0, c1, c2 = A[b, 0] - A[a, 0] - c0, A[b, 1] - A[a, 1] - c1, A[b, 2] - A[a, 2] - c2
            c3, c4, c5 = A[b, 3] - A[a, 3] - c3, A[b, 4] - A[a, 4] - c4, A[b, 5] - A[a, 5] - c5
        phi, f0, f1, f2, n0, n1, n2, extra = pair_row(model, work, r, u0, u1, u2, y3, y4, y5)
        psi[r, 0], psi[r, 1], psi[r, 2] = f0, f1, f2
        psi[r, 3], psi[r, 4], psi[r, 5] = n0, n1, n2
        if model.row_kind[r] <= TZ:
            phi = phi - wanted(model, work, r, 0)
        work.phi[r] = phi
        work.pace[r] = wanted(model, work, r, 1)
        work.rate[r] = f0 * y0 + f1 * y1 + f2 * y2 + n0 * y3 + n1 * y4 + n2 * y5 - work.pace[r]
        work.gamma[r] = wanted(model, work, r, 2) - (f0 * c0 + f1 * c1 + f2 * c2 + n0 * c3 + n1 * c4 + n2 * c5 + extra)


@inline
def jacobian_entry(model, work, r, j):
    """Entry j of Phi_q, in row r: power of a unit multiplier along a column, which moves one body of the pair (its sign), or
    (a mode) both, each in its own way."""
    if model.row_pair[r] < 0:
        return 1.0 if model.row_a[r] == model.j_column[j] else -model.row_value[r, 0]
    power = model.j_sign[j] * dot6(work.psi, r, work.B, model.j_motion[j])
    if model.j_other[j] >= 0:
        power = power - dot6(work.psi, r, work.B, model.j_other[j])
    return power


@kernel
def jacobian(model, work, out):
    """Phi_q, full, row by row, driven columns included; psi and B are in work."""
    nv = model.nv
    for j in range(model.nr * nv):
        out[j] = 0.0
    for r in range(model.nr):
        k = model.row_pair[r]
        if k < 0:
            out[r * nv + model.row_a[r]] = 1.0
            out[r * nv + model.row_b[r]] = out[r * nv + model.row_b[r]] - model.row_value[r, 0]
            continue
        for side in range(2):
            i = model.pair_a[k] if side == 0 else model.pair_b[k]
            sign = -1.0 if side == 0 else 1.0
            x = model.tip_motion[i]
            while x >= 0:
                c = r * nv + model.motion_column[x]
                out[c] = out[c] + sign * dot6(work.psi, r, work.B, x)
                x = model.motion_parent[x]


@kernel
def apply_multipliers(model, work):
    """Constraint forces -Phi_q^T lam as force vectors on the bodies (and generalised forces of couplers)."""
    Q, psi = work.Q, work.psi
    for r in range(model.nr):
        x, k = work.lam[r], model.row_pair[r]
        if k < 0:
            work.tau[model.row_a[r]] = work.tau[model.row_a[r]] - x
            work.tau[model.row_b[r]] = work.tau[model.row_b[r]] + model.row_value[r, 0] * x
        else:
            a, b = model.pair_a[k], model.pair_b[k]
            for j in range(6):
                Q[a, j] = Q[a, j] + psi[r, j] * x
                Q[b, j] = Q[b, j] - psi[r, j] * x
