"""Modal: a point of a flexible body moves on its frame as the modes tell.

The frame of the body and a point s of it, with axes along the body's: at modal coordinates xi the point is displaced by

    u = sum Psi_c xi_c + 1/2 sum X_cd xi_c xi_d        and turned by   exp(theta~),  theta = sum Theta_c xi_c,

Psi, Theta, X the shapes there (X: what bending takes from a beam's length, the source of geometric stiffening). All joints
of this kind on one body share its modal coordinates. One of them leads to the body's frame, walked from the point on which
the body hangs, against its drawn direction: its columns are the modes' own. The others lead out, to points on which
something else hangs; they see the same columns through *unit motions* of their own.

In the frame's axes mode c moves the point by u_c = Psi_c + sum X_cd xi_d and turns it by e_c = J(theta) Theta_c, with the
left Jacobian J = 1 + b theta~ + c theta~ theta~, b = (1 - cos t)/t^2, c = (t - sin t)/t^3, t = |theta|.
"""

from __future__ import annotations

from madi.joints.fields import Arrays
from madi.joints.kind import JointKind
from madi.kernel import inline, kernel
from madi.spatial.rotation import skew_series
from madi.spatial.vector import NO_VECTOR, at, cross, dot, join, plus, plus_scaled, put_at, scaled

# modes are no degrees of freedom of the joint but of the body: topology/freeze.py gives them their columns
KIND = JointKind("modal", code=10, weight=0.0, coordinates=(), speeds=(), units=(), axes=0, bends=True)
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
def direction(model: Arrays, i, c, q, k):
    """u_c = Psi_c + sum X_cd xi_d; q[k] is xi_0."""
    s, n = model.shape, model.modes[i]
    u = at(s, model.mode_at[i] + 3 * c)
    for d in range(n):
        u = plus_scaled(u, q[k + d], at(s, model.mode_at[i] + 6 * n + 3 * (n * c + d)))
    return u


@kernel
def rotation(model: Arrays, i, q, k):
    """theta."""
    theta, n = NO_VECTOR, model.modes[i]
    for c in range(n):
        theta = plus_scaled(theta, q[k + c], at(model.shape, model.mode_at[i] + 3 * (n + c)))
    return theta


@inline
def half_way(model: Arrays, i, c, q, k, u):
    """(Psi_c + u_c) xi_c / 2: what mode c adds to the displacement."""
    return scaled(0.5 * q[k + c], plus(at(model.shape, model.mode_at[i] + 3 * c), u))


@kernel
def point_pose(model: Arrays, i, q, k, R, p):
    """The point's axes and its displacement, in the body's axes."""
    u = NO_VECTOR
    for c in range(model.modes[i]):
        u = plus(u, half_way(model, i, c, q, k, direction(model, i, c, q, k)))
    put_at(p, 0, u)
    x, y, z = rotation(model, i, q, k)
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
def turning(model: Arrays, i, c, q, k):
    """e_c = J(theta) Theta_c."""
    e = at(model.shape, model.mode_at[i] + 3 * (model.modes[i] + c))
    if model.turn[i] < ANYHOW:
        return e
    theta = rotation(model, i, q, k)
    _, b, f, _, _ = series(dot(theta, theta))
    return skew_series(theta, b, f, e)


@kernel
def point_bias(model: Arrays, i, q, k, v, l, out):
    """S° v = (u' + u x e + p x e', e'), with u = sum u_c xi_c', e = sum e_c xi_c', u' = sum X xi' xi', e' from J'."""
    n, numbers = model.modes[i], model.mode_at[i] + 6 * model.modes[i]
    p, u, e = NO_VECTOR, NO_VECTOR, NO_VECTOR
    u_rate, e_rate = NO_VECTOR, NO_VECTOR
    for c in range(n):
        u_c = direction(model, i, c, q, k)
        p = plus(p, half_way(model, i, c, q, k, u_c))
        u, e = plus_scaled(u, v[l + c], u_c), plus_scaled(e, v[l + c], turning(model, i, c, q, k))
        for d in range(n):
            u_rate = plus_scaled(u_rate, v[l + c] * v[l + d], at(model.shape, numbers + 3 * (n * c + d)))
    if model.turn[i] == ANYHOW:  # theta'' = 0: b' t x t' + c' t x (t x t') + c t' x (t x t')
        t, t_rate = rotation(model, i, q, k), rotation(model, i, v, l)
        _, _, c, db, dc = series(dot(t, t))
        rate, y = 2.0 * dot(t, t_rate), cross(t, t_rate)
        e_rate = plus_scaled(plus_scaled(scaled(db * rate, y), dc * rate, cross(t, y)), c, cross(t_rate, y))
    put_at(out, 0, join(plus(plus(u_rate, cross(u, e)), cross(p, e_rate)), e_rate))
