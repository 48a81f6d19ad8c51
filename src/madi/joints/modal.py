"""Modal: a point of a flexible body moves on its frame as the modes tell.

The frame of the body and a point s of it, with axes along the body's: at modal coordinates xi the point is displaced by

    u = sum Psi_c xi_c + 1/2 sum X_cd xi_c xi_d        and turned by   exp(theta~),  theta = sum Theta_c xi_c,

Psi, Theta, X the shapes there (X: what bending takes from a beam's length, the source of geometric stiffening). All joints
of this kind on one body share its modal coordinates. One of them leads to the body's frame, walked from the point on which
the body hangs, against its drawn direction: its columns are the modes' own. The others lead out, to points on which
something else hangs; they see the same columns through *unit motions* of their own.

X is along x. In the frame's axes mode c moves the point by u_c = Psi_c + sum X_cd xi_d and turns it by
e_c = J(theta) Theta_c, with the left Jacobian J = 1 + b theta~ + c theta~ theta~, b = (1 - cos t)/t^2, c = (t - sin t)/t^3,
t = |theta|.

For derivatives (bodies/modal_slopes.py): as the motion goes on, b_c = (u_c + p x e_c, e_c) changes by its rates, and with
another mode by d_d b_c = (X_cd + u_d x e_c + p x d_d e_c, d_d e_c), d_d e_c from dJ by theta along Theta_d.
"""

from __future__ import annotations

from madi.joints.fields import Arrays
from madi.joints.kind import JointKind
from madi.kernel import inline, kernel
from madi.kernel.sums import along, times
from madi.spatial.rotation import skew_series
from madi.spatial.vector import (
    NO_VECTOR,
    at,
    cross,
    dot,
    first,
    join,
    plus,
    plus_scaled,
    put,
    put_at,
    scaled,
    to_point,
)

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
def second_series(s):
    """b'', c'' by s."""
    b = 1 - s * 7 / 1200 * (1 - s * 8 / 1836 * (1 - s * 9 / 2660))
    b = 1 - s * 3 / 56 * (1 - s / 45 * (1 - s * 5 / 396 * (1 - s * 3 / 364 * b)))
    c = 1 - s * 7 / 1360 * (1 - s * 2 / 513 * (1 - s * 9 / 2940))
    c = 1 - s / 24 * (1 - s / 55 * (1 - s * 5 / 468 * (1 - s / 140 * c)))
    return b / 360, c / 2520


@kernel
def bow(model: Arrays, i, q, k, out, m):
    """sum X_cd xi_d, along x, into out[m] of the first mode and those behind it; q[k] is xi_0."""
    n = model.modes[i]
    if model.bows[i] > 0:
        times(model.shape, model.mode_at[i] + 6 * n, n, n, q, k, 0, n, out, m)
    else:
        for c in range(n):
            out[m + c] = 0.0


@inline
def direction(model: Arrays, i, c, bow, m):
    """u_c = Psi_c + sum X_cd xi_d."""
    x, y, z = at(model.shape, model.mode_at[i] + 3 * c)
    return x + bow[m + c], y, z


@kernel
def rotation(model: Arrays, i, q, k):
    """theta."""
    theta, n = NO_VECTOR, model.modes[i]
    for c in range(n):
        theta = plus_scaled(theta, q[k + c], at(model.shape, model.mode_at[i] + 3 * (n + c)))
    return theta


@kernel
def displacement(model: Arrays, i, q, k, bow, m):
    """u: of each mode (Psi_c + u_c) xi_c / 2."""
    u = NO_VECTOR
    for c in range(model.modes[i]):
        x, y, z = at(model.shape, model.mode_at[i] + 3 * c)
        u = plus_scaled(u, q[k + c], (x + 0.5 * bow[m + c], y, z))
    return u


@kernel
def point_pose(model: Arrays, i, q, k, bow, m, R, p):
    """The point's axes and its displacement, in the body's axes."""
    u = displacement(model, i, q, k, bow, m)
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
def left_jacobian(model: Arrays, i, q, k):
    """theta, b and c of J(theta); of no use to points that turn about one axis."""
    if model.turn[i] < ANYHOW:
        return NO_VECTOR, 0.5, 1 / 6
    theta = rotation(model, i, q, k)
    _, b, c, _, _ = series(dot(theta, theta))
    return theta, b, c


@inline
def turning(model: Arrays, i, c, left):
    """e_c = J(theta) Theta_c."""
    e = at(model.shape, model.mode_at[i] + 3 * (model.modes[i] + c))
    if model.turn[i] < ANYHOW:
        return e
    return skew_series(left[0], left[1], left[2], e)


@kernel
def point_bias(model: Arrays, i, q, v, k, bow, m, out):
    """S° v = (u' + u x e + p x e', e'), with u = sum u_c xi_c', e = sum e_c xi_c', u' = sum X xi' xi', e' from J'."""
    n, numbers = model.modes[i], model.mode_at[i] + 6 * model.modes[i]
    p, u, e = displacement(model, i, q, k, bow, m), NO_VECTOR, NO_VECTOR
    left = left_jacobian(model, i, q, k)
    e_rate, x_rate = NO_VECTOR, 0.0
    for c in range(n):
        u = plus_scaled(u, v[k + c], direction(model, i, c, bow, m))
        e = plus_scaled(e, v[k + c], turning(model, i, c, left))
        if model.bows[i] > 0:
            x_rate = x_rate + v[k + c] * along(model.shape, numbers + n * c, v, k, 0, n)
    if model.turn[i] == ANYHOW:  # theta'' = 0: b' t x t' + c' t x (t x t') + c t' x (t x t')
        t, t_rate = left[0], rotation(model, i, v, k)
        _, _, c, db, dc = series(dot(t, t))
        rate, y = 2.0 * dot(t, t_rate), cross(t, t_rate)
        e_rate = plus_scaled(plus_scaled(scaled(db * rate, y), dc * rate, cross(t, y)), c, cross(t_rate, y))
    u_rate = (x_rate, 0.0, 0.0)
    put_at(out, 0, join(plus(plus(u_rate, cross(u, e)), cross(p, e_rate)), e_rate))


# ---- derivatives --------------------------------------------------------------------------------------------------------


@kernel
def point_rates(model: Arrays, i, q, v, a, k, bow, m, once, twice):
    """First and second rate of b_c, in F's axes, for the speeds v and accelerations a of the modes, into rows m of `once`
    and `twice`; q[k], v[k], a[k] of the first mode."""
    n, numbers = model.modes[i], model.mode_at[i] + 6 * model.modes[i]
    p, p1, p2 = displacement(model, i, q, k, bow, m), NO_VECTOR, NO_VECTOR
    for c in range(n):
        u, x1, x2 = direction(model, i, c, bow, m), 0.0, 0.0
        if model.bows[i] > 0:
            x1, x2 = along(model.shape, numbers + n * c, v, k, 0, n), along(model.shape, numbers + n * c, a, k, 0, n)
        p1 = plus_scaled(p1, v[k + c], u)
        p2 = plus(plus_scaled(p2, a[k + c], u), (v[k + c] * x1, 0.0, 0.0))
        put(once, m + c, (x1, 0.0, 0.0, 0.0, 0.0, 0.0))
        put(twice, m + c, (x2, 0.0, 0.0, 0.0, 0.0, 0.0))
    if model.turn[i] < 0:
        return
    left = left_jacobian(model, i, q, k)
    t1, t2 = rotation(model, i, v, k), rotation(model, i, a, k)
    change = series_rates(left[0], t1, t2)
    for c in range(n):
        e, e1, e2 = turning(model, i, c, left), NO_VECTOR, NO_VECTOR
        if model.turn[i] == ANYHOW:
            e1, e2 = turning_rates(left, t1, t2, change, at(model.shape, model.mode_at[i] + 3 * (n + c)))
        u1, u2 = plus(cross(p1, e), cross(p, e1)), plus(plus_scaled(cross(p2, e), 2.0, cross(p1, e1)), cross(p, e2))
        put(once, m + c, join(plus((once[m + c, 0], 0.0, 0.0), u1), e1))
        put(twice, m + c, join(plus((twice[m + c, 0], 0.0, 0.0), u2), e2))


@kernel
def series_rates(t, t1, t2):
    """First and second rates of b and c for theta' = t1, theta'' = t2."""
    s, s1, s2 = dot(t, t), 2.0 * dot(t, t1), 2.0 * (dot(t1, t1) + dot(t, t2))
    _, _, _, b, c = series(s)
    b2, c2 = second_series(s)
    return b * s1, c * s1, b2 * s1 * s1 + b * s2, c2 * s1 * s1 + c * s2


@inline
def turning_rates(left, t1, t2, change, x):
    """First and second rate of J(theta) x, x fixed."""
    t, b, c = left
    b1, c1, b2, c2 = change
    y, y1, y2 = cross(t, x), cross(t1, x), cross(t2, x)
    both = plus(cross(t1, y), cross(t, y1))
    e1 = plus(plus_scaled(scaled(b1, y), b, y1), plus_scaled(scaled(c1, cross(t, y)), c, both))
    e2 = plus_scaled(plus_scaled(scaled(b2, y), 2.0 * b1, y1), b, y2)
    e2 = plus_scaled(plus_scaled(e2, c2, cross(t, y)), 2.0 * c1, both)
    return e1, plus_scaled(e2, c, plus(plus(cross(t2, y), cross(t, y2)), scaled(2.0, cross(t1, y1))))


@kernel
def add_power(model: Arrays, i, q, k, bow, m, load, sign, out, start):
    """Add sign (d_d b_c) . load to out[start:], row by row of c; `load` in F's axes and about F's origin."""
    n, shape, thetas = model.modes[i], model.shape, model.mode_at[i] + 3 * model.modes[i]
    f, force = scaled(sign, first(load)), scaled(sign, load)
    moment = to_point(force, displacement(model, i, q, k, bow, m))
    left = left_jacobian(model, i, q, k)
    _, _, _, db, dc = series(dot(left[0], left[0]))
    for c in range(n):
        across, turn = NO_VECTOR, NO_VECTOR
        if model.turn[i] >= 0:
            across = cross(turning(model, i, c, left), f)
        if model.turn[i] == ANYHOW:
            turn = turning_power(left, db, dc, moment, at(shape, thetas + 3 * c))
        for d in range(n):
            x = 0.0
            if model.bows[i] > 0:
                x = shape[thetas + 3 * n + n * c + d] * f[0]
            if model.turn[i] >= 0:
                x = x + dot(direction(model, i, d, bow, m), across)
            if model.turn[i] == ANYHOW:
                x = x + dot(at(shape, thetas + 3 * d), turn)
            out[start + n * c + d] = out[start + n * c + d] + x


@inline
def turning_power(left, db, dc, n, x):
    """y with n . dJ x = y . dtheta."""
    t, b, c = left
    y, z = cross(t, x), cross(n, t)
    along_t = 2.0 * (db * dot(n, y) + dc * dot(n, cross(t, y)))
    return plus(plus_scaled(scaled(along_t, t), b, cross(x, n)), scaled(c, plus(cross(y, n), cross(x, z))))
