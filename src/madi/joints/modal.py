"""Modal: a point of a flexible body moves on its frame as the modes tell.

The frame of the body and a point s of it, with axes along the body's: at modal coordinates xi the point is displaced by

    u = sum Psi_c xi_c + 1/2 sum X_cd xi_c xi_d        and turned by   exp(theta~),  theta = sum Theta_c xi_c,

Psi, Theta, X the shapes there (X: what bending takes from a beam's length, the source of geometric stiffening). All joints
of this kind on one body share its modal coordinates. One of them leads to the body's frame, walked from the point on which
the body hangs, against its drawn direction: its columns are the modes' own. The others lead out, to points on which
something else hangs; they see the same columns through *blades* of their own.

In the frame's axes mode c moves the point by u_c = Psi_c + sum X_cd xi_d and turns it by e_c = J(theta) Theta_c, with the
left Jacobian J = 1 + b theta~ + c theta~ theta~, b = (1 - cos t)/t^2, c = (t - sin t)/t^3, t = |theta|.
"""

from __future__ import annotations

from madi.joints.kind import JointKind
from madi.kernel import kernel

# modes are no degrees of freedom of the joint but of the body: topology/freeze.py gives them their columns
KIND = JointKind("modal", code=10, weight=0.0, coordinates=(), speeds=(), units=(), axes=0)
ANYHOW = 3  # model.turn; -1: not, 0, 1, 2: about that axis only


@kernel
def series(s):
    """(sin t / t, b, c) and (b', c') by s, for s = t^2: power series, for deflections turn by little (1e-16 up to 1 rad)."""
    a = 1 - s / 6 * (1 - s / 20 * (1 - s / 42 * (1 - s / 72 * (1 - s / 110 * (1 - s / 156 * (1 - s / 210))))))
    b = 0.5 * (1 - s / 12 * (1 - s / 30 * (1 - s / 56 * (1 - s / 90 * (1 - s / 132 * (1 - s / 182 * (1 - s / 240)))))))
    c = 1 / 6 * (1 - s / 20 * (1 - s / 42 * (1 - s / 72 * (1 - s / 110 * (1 - s / 156 * (1 - s / 210 * (1 - s / 272)))))))
    # d/ds of term k is k/s times it
    db = 1 - s * 3 / 112 * (1 - s * 4 / 270 * (1 - s * 5 / 528 * (1 - s * 6 / 910 * (1 - s * 7 / 1440))))
    dc = 1 - s * 3 / 144 * (1 - s * 4 / 330 * (1 - s * 5 / 624 * (1 - s * 6 / 1050 * (1 - s * 7 / 1632))))
    db, dc = -1 / 24 * (1 - s / 15 * db), -1 / 120 * (1 - s / 21 * dc)
    return a, b, c, db, dc


@kernel
def direction(model, i, c, q, k):
    """u_c = Psi_c + sum X_cd xi_d; q[k] is xi_0."""
    n, at = model.modes[i], model.mode_at[i]
    x, y, z = model.shape[at + 3 * c], model.shape[at + 3 * c + 1], model.shape[at + 3 * c + 2]
    at = at + 6 * n + 3 * n * c
    for d in range(n):
        f = q[k + d]
        x, y, z = x + model.shape[at + 3 * d] * f, y + model.shape[at + 3 * d + 1] * f, z + model.shape[at + 3 * d + 2] * f
    return x, y, z


@kernel
def turned(model, i, q, k):
    """theta."""
    n = model.modes[i]
    at = model.mode_at[i] + 3 * n
    x, y, z = 0.0, 0.0, 0.0
    for c in range(n):
        f = q[k + c]
        x, y, z = x + model.shape[at + 3 * c] * f, y + model.shape[at + 3 * c + 1] * f, z + model.shape[at + 3 * c + 2] * f
    return x, y, z


@kernel
def pose(model, i, q, k, R, p):
    """The point's axes and its displacement, in the body's axes."""
    n, at = model.modes[i], model.mode_at[i]
    p[0], p[1], p[2] = 0.0, 0.0, 0.0
    for c in range(n):
        x, y, z = direction(model, i, c, q, k)
        f, j = 0.5 * q[k + c], at + 3 * c
        p[0] = p[0] + f * (model.shape[j] + x)
        p[1] = p[1] + f * (model.shape[j + 1] + y)
        p[2] = p[2] + f * (model.shape[j + 2] + z)
    x, y, z = turned(model, i, q, k)
    for j in range(3):
        for c in range(3):
            R[j, c] = 1.0 if j == c else 0.0
    turn = model.turn[i]
    if turn == ANYHOW:
        a, b, _, _, _ = series(x * x + y * y + z * z)
        R[0, 0], R[0, 1], R[0, 2] = 1.0 - b * (y * y + z * z), b * x * y - a * z, b * x * z + a * y
        R[1, 0], R[1, 1], R[1, 2] = b * x * y + a * z, 1.0 - b * (x * x + z * z), b * y * z - a * x
        R[2, 0], R[2, 1], R[2, 2] = b * x * z - a * y, b * y * z + a * x, 1.0 - b * (x * x + y * y)
    elif turn >= 0:
        x = x + y + z  # two of them are zero
        a, b, _, _, _ = series(x * x)
        s, c = a * x, 1.0 - b * x * x
        j, m = (turn + 1) % 3, (turn + 2) % 3
        R[j, j], R[j, m] = c, -s
        R[m, j], R[m, m] = s, c


@kernel
def turning(model, i, c, q, k):
    """e_c = J(theta) Theta_c."""
    at = model.mode_at[i] + 3 * model.modes[i] + 3 * c
    a0, a1, a2 = model.shape[at], model.shape[at + 1], model.shape[at + 2]
    if model.turn[i] < ANYHOW:
        return a0, a1, a2
    x, y, z = turned(model, i, q, k)
    _, b, f, _, _ = series(x * x + y * y + z * z)
    b0, b1, b2 = y * a2 - z * a1, z * a0 - x * a2, x * a1 - y * a0
    return (
        a0 + b * b0 + f * (y * b2 - z * b1),
        a1 + b * b1 + f * (z * b0 - x * b2),
        a2 + b * b2 + f * (x * b1 - y * b0),
    )


@kernel
def bias(model, i, q, k, v, l, out):
    """S° v = (u' + u x e + p x e', e'), with u = sum u_c xi_c', e = sum e_c xi_c', u' = sum X xi' xi', e' from J'."""
    n = model.modes[i]
    p0, p1, p2 = 0.0, 0.0, 0.0
    u0, u1, u2 = 0.0, 0.0, 0.0
    e0, e1, e2 = 0.0, 0.0, 0.0
    a0, a1, a2 = 0.0, 0.0, 0.0
    first, at = model.mode_at[i], model.mode_at[i] + 6 * n
    for c in range(n):
        f = v[l + c]
        x, y, z = direction(model, i, c, q, k)
        u0, u1, u2 = u0 + f * x, u1 + f * y, u2 + f * z
        g, j = 0.5 * q[k + c], first + 3 * c
        p0, p1, p2 = p0 + g * (model.shape[j] + x), p1 + g * (model.shape[j + 1] + y), p2 + g * (model.shape[j + 2] + z)
        x, y, z = turning(model, i, c, q, k)
        e0, e1, e2 = e0 + f * x, e1 + f * y, e2 + f * z
        for d in range(n):
            g, j = f * v[l + d], at + 3 * (n * c + d)
            a0, a1, a2 = a0 + g * model.shape[j], a1 + g * model.shape[j + 1], a2 + g * model.shape[j + 2]
    r0, r1, r2 = 0.0, 0.0, 0.0
    if model.turn[i] == ANYHOW:  # theta'' = 0: b' t x t' + c' t x (t x t') + c t' x (t x t')
        x, y, z = turned(model, i, q, k)
        f0, f1, f2 = turned(model, i, v, l)
        _, _, c, db, dc = series(x * x + y * y + z * z)
        rate = 2.0 * (x * f0 + y * f1 + z * f2)
        db, dc = db * rate, dc * rate
        g0, g1, g2 = y * f2 - z * f1, z * f0 - x * f2, x * f1 - y * f0
        r0 = db * g0 + dc * (y * g2 - z * g1) + c * (f1 * g2 - f2 * g1)
        r1 = db * g1 + dc * (z * g0 - x * g2) + c * (f2 * g0 - f0 * g2)
        r2 = db * g2 + dc * (x * g1 - y * g0) + c * (f0 * g1 - f1 * g0)
    out[0] = a0 + (u1 * e2 - u2 * e1) + (p1 * r2 - p2 * r1)
    out[1] = a1 + (u2 * e0 - u0 * e2) + (p2 * r0 - p0 * r2)
    out[2] = a2 + (u0 * e1 - u1 * e0) + (p0 * r1 - p1 * r0)
    out[3], out[4], out[5] = r0, r1, r2
