"""What a result records of a state, and poses alone."""

from __future__ import annotations

from madi.dynamics.energy import gravity_potential, inertias, kinetic, momentum
from madi.dynamics.kinematics import accelerations, positions, velocities
from madi.dynamics.points import point, point_velocity, to_ground
from madi.equations.fields import Arrays, Work
from madi.equations.motion import apply_drives, take_held
from madi.equations.row import Row
from madi.forces.contact import PLACE, TOUCH, points_of
from madi.forces.kind import seen_from
from madi.forces.modes import HOLDS
from madi.joints.columns import is_free
from madi.kernel import kernel, where
from madi.signals.tape import apply_forces
from madi.spatial.vector import NO_MOTION, at, axis, cross, plus, put, put_at, scaled, second, six, three, velocity_at

# of a body, ground axes: its internal frame, velocities and accelerations of it
FRAME = Row(R=("1", 3, 3), r=("1", 3), velocity=("1", 3), angular_velocity=("1", 3))
BODY = Row(**FRAME.named, acceleration=("1", 3), angular_acceleration=("1", 3))
FRAME_NUMBERS, BODY_NUMBERS = FRAME.length({}), BODY.length({})
AT = BODY.offsets()
AT_R, AT_POSITION, AT_VELOCITY, AT_ANGULAR_VELOCITY = AT["R"], AT["r"], AT["velocity"], AT["angular_velocity"]
AT_ACCELERATION, AT_ANGULAR_ACCELERATION = AT["acceleration"], AT["angular_acceleration"]

# of a state: energies, powers of forces and dissipated, momentum; of every force element value, potential, power, dissipated
OBSERVED = Row(
    q="nq", v="nv", a="nv", kinetic="1", potential="1", power="1", dissipated="1", momentum="6", force=("ne", 4),
    body=("bodies", BODY_NUMBERS), touch=("n_touch", TOUCH),
)  # fmt: skip
STATE = Row(q="nq", v="nv", a="nv")  # what a row of OBSERVED begins with
POSES = Row(body=("bodies", FRAME_NUMBERS))
Q, V, ACCELERATION = OBSERVED.place("q"), OBSERVED.place("v"), OBSERVED.place("a")
KINETIC, POTENTIAL, POWER, DISSIPATED = (OBSERVED.place(n) for n in ("kinetic", "potential", "power", "dissipated"))
MOMENTUM, FORCE, BODIES = OBSERVED.place("momentum"), OBSERVED.place("force"), OBSERVED.place("body")
TOUCHES = OBSERVED.place("touch")


@kernel
def observe(model: Arrays, work: Work, t, q, v, x, out):
    """Everything a result records (OBSERVED), for the accelerations x of the free columns."""
    take_held(model, work, x, model.nv)
    apply_drives(model, work, t, q, v)
    positions(model, work, work.q)
    velocities(model, work, work.q, work.v)
    for c in range(model.nv):
        work.P[c] = 0.0
    apply_forces(model, work, t, work.P)
    put_state(model, work, x, out)
    if model.n_held > 0:
        put_holding_forces(model, work)
    accelerations(model, work, work.acceleration)
    put_energies(model, work, out)
    for i in range(1, model.n):
        body_pose_out(model, work, i, out, BODIES(model) + BODY_NUMBERS * (i - 1))
        body_acceleration_out(model, work, i, out, BODIES(model) + BODY_NUMBERS * (i - 1))
    if model.n_touch > 0:
        put_touches(model, work, out, TOUCHES(model))


@kernel
def put_touches(model: Arrays, work: Work, out, start):
    """What is told of each point of contact, in ground axes."""
    for e in range(model.ne):
        first = model.force_touch[e]
        if first >= 0:
            a, b = model.force_a[e], model.force_b[e]
            o, common = seen_from(model, a, b), model.frame[a] == model.frame[b]
            for k in range(first, first + points_of(model, e)):
                s = start + TOUCH * k
                for j in range(TOUCH):
                    out[s + j] = work.touch[k, j]
                for j in range(1, 13, 3):
                    x = at(out, s + j)
                    if common:
                        x = to_ground(work, o, x)
                    put_at(out, s + j, plus(x, three(work.frame_r, o)) if j == PLACE else x)


@kernel
def put_holding_forces(model: Arrays, work: Work):
    """What elements hold their columns with (forces/modes.py); of several on one, each takes what it can of what is left."""
    for k in range(model.n_held):
        c = model.held_column[k]
        if c < 0:
            continue
        left = -work.hold[c] * work.acceleration[c]
        for j in range(k + 1):
            if model.held_column[j] == c:
                share = where(left < work.low[j], work.low[j], where(left > work.high[j], work.high[j], left))
                share = where(work.held[j] >= HOLDS, share, 0.0)
                left = left - share
                if j == k:
                    work.force[model.held_of[k], 0] = work.force[model.held_of[k], 0] + share


@kernel
def put_state(model: Arrays, work: Work, x, out):
    """Coordinates, velocities and accelerations, those of the free columns as x has them."""
    for j in range(model.nq):
        out[Q(model) + j] = work.q[j]
    for c in range(model.nv):
        out[V(model) + c] = work.v[c]
        if is_free(model, c):
            work.acceleration[c] = x[c]
        out[ACCELERATION(model) + c] = work.acceleration[c]


@kernel
def state(model: Arrays, work: Work, t, q, v, x, out):
    """The state with what drives prescribe put in."""
    apply_drives(model, work, t, q, v)
    put_state(model, work, x, out)


@kernel
def put_energies(model: Arrays, work: Work, out):
    """Energies, powers and momentum of all, and what every force element has."""
    inertias(model, work)
    potential, power, dissipated = gravity_potential(model, work), 0.0, 0.0
    for e in range(model.ne):
        potential = potential + work.force[e, 1]
        power = power + work.force[e, 2]
        dissipated = dissipated + work.force[e, 3]
        for j in range(4):
            out[FORCE(model) + 4 * e + j] = work.force[e, j]
    out[KINETIC(model)] = kinetic(model, work)
    out[POTENTIAL(model)] = potential
    out[POWER(model)] = power
    out[DISSIPATED(model)] = dissipated
    momentum(model, work, out, MOMENTUM(model))


@kernel
def body_pose_out(model: Arrays, work: Work, i, out, start):
    """FRAME of body i, R by rows."""
    f, r = model.frame[i], three(work.r, i)
    for k in range(3):
        a = to_ground(work, f, axis(work.R, i, k))
        out[start + AT_R + k], out[start + AT_R + 3 + k], out[start + AT_R + 6 + k] = a[0], a[1], a[2]
    put_at(out, start + AT_POSITION, plus(to_ground(work, f, r), three(work.frame_r, f)))
    put_at(out, start + AT_VELOCITY, to_ground(work, f, point_velocity(work, i, r)))
    put_at(out, start + AT_ANGULAR_VELOCITY, to_ground(work, f, second(six(work.Y, i))))


@kernel
def body_acceleration_out(model: Arrays, work: Work, i, out, start):
    """r'' = v' + w' x r + w x r' of the internal frame's origin, and w'; gravity, hidden in A, is taken out again."""
    f, r = model.frame[i], three(work.r, i)
    rate, w = plus(six(work.A, i), six(work.a, i)), second(six(work.Y, i))
    a = plus(velocity_at(rate, r), cross(w, point_velocity(work, i, r)))
    put_at(out, start + AT_ACCELERATION, plus(to_ground(work, f, a), at(model.gravity, 0)))
    put_at(out, start + AT_ANGULAR_ACCELERATION, to_ground(work, f, second(rate)))


@kernel
def poses(model: Arrays, work: Work, t, q, v, x, out):
    """The internal frames of all bodies for the coordinates as given, laid out as in `observe`."""
    positions(model, work, q)
    for i in range(1, model.n):
        put(work.Y, i, NO_MOTION)
        body_pose_out(model, work, i, out, FRAME_NUMBERS * (i - 1))


@kernel
def body_pose(model: Arrays, work: Work, t, q, v, x, out):
    """x: a body, a point in its internal axes, and axes there (a rotation matrix by rows). out: where the point is, and the
    axes (likewise), in the ground."""
    i = int(x[0])
    positions(model, work, q)
    f = model.frame[i]
    put_at(out, 0, plus(to_ground(work, f, point(work, i, at(x, 1))), three(work.frame_r, f)))
    a, b, c = (to_ground(work, f, axis(work.R, i, 0)), to_ground(work, f, axis(work.R, i, 1)),
               to_ground(work, f, axis(work.R, i, 2)))  # fmt: skip
    for k in range(3):
        y = plus(plus(scaled(x[4 + k], a), scaled(x[7 + k], b)), scaled(x[10 + k], c))
        out[3 + k], out[6 + k], out[9 + k] = y[0], y[1], y[2]


@kernel
def point_jacobian(model: Arrays, work: Work, t, q, v, x, out):
    """x: a body, a point in its internal axes. out: six rows, ground axes: velocity of the point and angular velocity
    of the body per unit of each speed."""
    nv, i = model.nv, int(x[0])
    positions(model, work, q)
    for j in range(6 * nv):
        out[j] = 0.0
    f, p = model.frame[i], point(work, i, at(x, 1))
    k = model.tip_motion[i]
    while k >= 0:
        c, b = model.motion_column[k], six(work.B, k)
        v, w = to_ground(work, f, velocity_at(b, p)), to_ground(work, f, second(b))
        out[c], out[nv + c], out[2 * nv + c] = v[0], v[1], v[2]
        out[3 * nv + c], out[4 * nv + c], out[5 * nv + c] = w[0], w[1], w[2]
        k = model.motion_parent[k]
