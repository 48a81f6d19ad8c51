"""Charts of the configuration space: what integrators step in, one number for every generalised velocity.

First-order states, the columns of the ground, have no coordinate: a chart carries their integral, and q does not see it.

docs/references.md: [Iserles et al. 2000].
"""

from __future__ import annotations

from madi.joints.fields import Arrays
from madi.joints.ladder import WITH_POSITION, quaternion_at
from madi.kernel import inline, kernel, sqrt
from madi.spatial.rotation import (
    conjugate,
    put_quaternion,
    quaternion,
    quaternion_exp,
    quaternion_log,
    quaternion_product,
    rotation_rate,
    slide_by,
    slide_while_turning,
    square,
    turn_by,
    turn_by_quaternion,
)
from madi.spatial.vector import at, minus, plus, plus_scaled, put, put_at, scaled, six


@kernel
def retract(model: Arrays, q0, theta, q):
    """q = q0 moved by `theta`, one number for each velocity: sums, and A0 exp(theta~) for rotations."""
    for i in range(1, model.n):
        k, l, lead = model.q_at[i], model.v_at[i], quaternion_at(model.code[i])
        if lead < 0:
            for j in range(model.v_end[i] - l):
                q[k + j] = q0[k + j] + theta[l + j]
            continue
        old = quaternion(q0, k + lead)
        if lead == WITH_POSITION:  # the position moves along the axes of the old rotation
            put_at(q, k, plus(at(q0, k), turn_by_quaternion(old, at(theta, l))))
        new = quaternion_product(old, quaternion_exp(at(theta, l + lead)))
        put_quaternion(q, k + lead, 1.5 - 0.5 * square(new), new)  # one Newton step back to unit length


@kernel
def exponential(model: Arrays, q0, theta, q):
    """q = q0 moved for a unit of time with the velocities `theta`, held constant: as `retract`, but a free body slides and
    turns at once. In this chart theta'' = v' at its origin, which is what Newmark's formulas take for granted."""
    retract(model, q0, theta, q)
    for i in range(1, model.n):
        if quaternion_at(model.code[i]) == WITH_POSITION:
            k, l = model.q_at[i], model.v_at[i]
            slide = slide_while_turning(at(theta, l + 3), at(theta, l))
            put_at(q, k, plus(at(q0, k), turn_by_quaternion(quaternion(q0, k + 3), slide)))


@kernel
def moved_rotation(model: Arrays, i, theta, B, D):
    """Rows D_c of joint i, which has a quaternion: the motions by which theta_c of `exponential` moves its child, there
    where theta is. B_c is what the speed v_c does: the two are the same at theta = 0."""
    l, lead = model.v_at[i], quaternion_at(model.code[i])
    turn = at(theta, l + lead)
    for c in range(3):
        unit = (1.0 if c == 0 else 0.0, 1.0 if c == 1 else 0.0, 1.0 if c == 2 else 0.0)
        w = turn_by(turn, unit)
        d = motion_of(B, l + lead, w)
        if lead == WITH_POSITION:
            put(D, l + c, motion_of(B, l, w))
            d = plus(d, motion_of(B, l, slide_by(turn, at(theta, l), unit)))
        put(D, l + lead + c, d)


@inline
def motion_of(B, l, x):
    """The motion of the three columns from l on at the rates x."""
    return plus_scaled(plus_scaled(scaled(x[0], six(B, l)), x[1], six(B, l + 1)), x[2], six(B, l + 2))


@kernel
def same_in_space(model: Arrays, theta, v):
    """Velocities v, in the axes of a child, are those in its axes after it has moved by `theta`: they keep their directions
    in space."""
    for i in range(1, model.n):
        l, lead = model.v_at[i], quaternion_at(model.code[i])
        if lead >= 0:
            back = quaternion_exp(scaled(-1.0, at(theta, l + lead)))
            if lead == WITH_POSITION:
                put_at(v, l, turn_by_quaternion(back, at(v, l)))
            put_at(v, l + lead, turn_by_quaternion(back, at(v, l + lead)))


@kernel
def chart_rate(model: Arrays, theta, v, rate):
    """rate = theta' in the chart at q0, at the point `theta`, for the velocities v."""
    for c in range(model.v_at[0], model.v_end[0]):
        rate[c] = v[c]
    for i in range(1, model.n):
        l, lead = model.v_at[i], quaternion_at(model.code[i])
        if lead < 0:
            for j in range(l, model.v_end[i]):
                rate[j] = v[j]
            continue
        turn = at(theta, l + lead)
        if lead == WITH_POSITION:
            put_at(rate, l, turn_by_quaternion(quaternion_exp(turn), at(v, l)))
        put_at(rate, l + lead, rotation_rate(turn, at(v, l + lead)))


@kernel
def chart_point(model: Arrays, q0, q, theta):
    """The inverse of `retract`: the theta that leads from q0 to q."""
    for c in range(model.v_at[0], model.v_end[0]):
        theta[c] = 0.0
    for i in range(1, model.n):
        k, l, lead = model.q_at[i], model.v_at[i], quaternion_at(model.code[i])
        if lead < 0:
            for j in range(model.v_end[i] - l):
                theta[l + j] = q[k + j] - q0[k + j]
            continue
        back = conjugate(quaternion(q0, k + lead))
        if lead == WITH_POSITION:
            put_at(theta, l, turn_by_quaternion(back, minus(at(q, k), at(q0, k))))
        put_at(theta, l + lead, quaternion_log(quaternion_product(back, quaternion(q, k + lead))))


# ---- coordinates as plain numbers: rotations as the quaternions they are in q ---------------------------------------


@kernel
def coordinate_rate(model: Arrays, q, v, rate):
    """rate = q' for the velocities v: of a rotation, q' = q (0, w) / 2."""
    for i in range(1, model.n):
        k, l, lead = model.q_at[i], model.v_at[i], quaternion_at(model.code[i])
        if lead < 0:
            for j in range(model.v_end[i] - l):
                rate[k + j] = v[l + j]
            continue
        turn, w = quaternion(q, k + lead), scaled(0.5, at(v, l + lead))
        if lead == WITH_POSITION:
            put_at(rate, k, turn_by_quaternion(turn, at(v, l)))
        put_quaternion(rate, k + lead, 1.0, quaternion_product(turn, (0.0, w[0], w[1], w[2])))


@kernel
def normalise(model: Arrays, q):
    """Quaternions to unit length."""
    for i in range(1, model.n):
        lead = quaternion_at(model.code[i])
        if lead >= 0:
            turn = quaternion(q, model.q_at[i] + lead)
            put_quaternion(q, model.q_at[i] + lead, 1.0 / sqrt(square(turn)), turn)
