"""What an engine can be asked for: the entry kernels, all with one signature.

    entry(model, work, t, q, v, x, out)

`x` is what the entry needs beside the state (generalised forces, or accelerations), `out` what it gives.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from madi.bodies import generalised_force
from madi.constraints.dispatch import apply_multipliers, evaluate_rows, jacobian, pair_frame, pair_frames
from madi.dynamics import articulated, recursive, velocity_transform
from madi.dynamics.energy import gravity_potential, inertias, kinetic, momentum
from madi.dynamics.impulse import drive_impulse
from madi.dynamics.inverse import inverse
from madi.dynamics.kinematics import accelerations, positions, velocities
from madi.dynamics.loads import at_joint, reaction, reaction_newton_euler
from madi.dynamics.points import point, point_velocity, to_ground
from madi.joints.chart import exponential
from madi.joints.columns import LOCKED, is_free
from madi.joints.kind import FORWARD
from madi.joints.place import direction
from madi.kernel import inline, kernel, view1
from madi.loops import kkt, null_space, projection
from madi.signals.tape import apply_forces, drive_signals
from madi.spatial.vector import (
    NO_MOTION,
    at,
    axis,
    cross,
    dot,
    first,
    minus,
    plus,
    put,
    put_at,
    scaled,
    second,
    six,
    three,
    to_point,
    velocity_at,
)


@kernel
def take_motion(model, work, t, q, v):
    """work.q, work.v: the state, driven coordinates, rates and accelerations as prescribed at time t."""
    for j in range(model.nq):
        work.q[j] = q[j]
    for c in range(model.nv):
        work.v[c] = v[c]
        work.acceleration[c] = 0.0
        if model.drive[c] == LOCKED:
            work.v[c] = 0.0
    drive_signals(model, work, t, q, v)
    for c in range(model.nv):
        s = model.drive[c]
        if s >= 0:
            work.q[model.column_q[c]] = work.signal[s]
            work.v[c] = work.signal[s + 1]
            work.acceleration[c] = work.signal[s + 2]


@kernel
def forces_at(model, work, t, q, v, tau):
    """Everything an equation of motion starts from: positions, velocities, forces."""
    take_motion(model, work, t, q, v)
    positions(model, work, work.q)
    velocities(model, work, work.q, work.v)
    apply_forces(model, work, t, tau)


@inline
def give(values, n, out):
    """Copy the first n of `values` to `out`."""
    for c in range(n):
        out[c] = values[c]


@kernel
def forward_recursive(model, work, t, q, v, x, out):
    """Accelerations by P1's composite recursion."""
    forces_at(model, work, t, q, v, x)
    recursive.forward(model, work)
    give(work.acceleration, model.nv, out)


@kernel
def forward_articulated(model, work, t, q, v, x, out):
    """Accelerations by the O(n) recursion."""
    forces_at(model, work, t, q, v, x)
    articulated.forward(model, work)
    give(work.acceleration, model.nv, out)


@kernel
def forward_velocity_transform(model, work, t, q, v, x, out):
    """Accelerations by P0's velocity transformation."""
    forces_at(model, work, t, q, v, x)
    velocity_transform.forward(model, work)
    give(work.acceleration, model.nv, out)


@kernel
def loop_coefficients(model, work, t, q, v, x):
    """M, P, Phi_q and gamma of a mechanism with loops, by composite inertias."""
    forces_at(model, work, t, q, v, x)
    recursive.composites(model, work)
    for c in range(model.nv):
        work.P[c] = generalised_force(model, work, c) + work.tau[c]
    evaluate_rows(model, work)
    kkt.coefficients(model, work)


@kernel
def loop_equations(model, work, t, q, v, x):
    """qdd and lam, the sparse loop equations refactorised."""
    loop_coefficients(model, work, t, q, v, x)
    kkt.factorise(model, work, work.tally[kkt.SOFTNESS])
    kkt.accelerate(model, work)


@kernel
def forward_loops(model, work, t, q, v, x, out):
    """Accelerations with loops."""
    loop_equations(model, work, t, q, v, x)
    give(work.acceleration, model.nv, out)


@kernel
def forward_loops_velocity_transform(model, work, t, q, v, x, out):
    """Accelerations with loops, M and P by P0's velocity transformation: Mq = B^T M B."""
    forces_at(model, work, t, q, v, x)
    velocity_transform.equations(model, work)
    evaluate_rows(model, work)
    recursive.composite_inertias(model, work)
    kkt.coefficients(model, work)
    for k in range(model.nm):
        work.mass[k] = work.M[model.m_row[k] * model.nv + model.m_column[k]]
    kkt.factorise(model, work, work.tally[kkt.SOFTNESS])
    kkt.accelerate(model, work)
    give(work.acceleration, model.nv, out)


@kernel
def multipliers(model, work, t, q, v, x, out):
    """Accelerations, then the multipliers of all rows."""
    loop_equations(model, work, t, q, v, x)
    give(work.acceleration, model.nv, out)
    for r in range(model.nr):
        out[model.nv + r] = work.lam[r]


@kernel
def close_loops(model, work, t, q, v, x, out):
    """P0's projection, in place: q, v become the closed state, out its accelerations (loops/projection.py)."""
    take_motion(model, work, t, q, v)
    projection.close(model, work, t, q, v, x, out)


@kernel
def meet_drives(model, work, t, q, v, x, out):
    """A tree at the end of a step, in place: drives as prescribed, the others' speeds after the impulse of those that jump;
    out = the accelerations there."""
    take_motion(model, work, t, q, v)
    positions(model, work, work.q)
    recursive.mass_matrix(model, work)
    if drive_impulse(model, work, v) > 0.0:
        recursive.solve(model, work.M, work.P, work.acceleration)
        for c in range(model.nv):
            v[c] = v[c] + work.acceleration[c] if is_free(model, c) else work.v[c]
    forward_recursive(model, work, t, q, v, x, out)


@kernel
def forward_null_space(model, work, t, q, v, x, out):
    """Accelerations with loops by the null-space method that work.tally names."""
    loop_coefficients(model, work, t, q, v, x)
    null_space.equations(model, work)
    give(work.acceleration, model.nv, out)


@kernel
def close_null_space(model, work, t, q, v, x, out):
    """The same, in place, at the end of a step: q, v become the closed state, out its accelerations."""
    take_motion(model, work, t, q, v)
    null_space.close(model, work, t, q, v, x, out)


@kernel
def constraints(model, work, t, q, v, x, out):
    """Of all rows Phi, Phi', gamma at the state as given; then the joint-space Jacobian Phi_q, full, row by row."""
    take_motion(model, work, t, q, v)
    for j in range(model.nq):
        work.q[j] = q[j]
    for c in range(model.nv):
        work.v[c] = v[c]
    positions(model, work, work.q)
    velocities(model, work, work.q, work.v)
    evaluate_rows(model, work)
    nr = model.nr
    for r in range(nr):
        out[r], out[nr + r], out[2 * nr + r] = work.phi[r], work.rate[r], work.gamma[r]
    jacobian(model, work, view1(out, 3 * nr, nr * model.nv))


@kernel
def inverse_dynamics(model, work, t, q, v, x, out):
    """Generalised forces for the accelerations x, at the state as given (drives do not act)."""
    for c in range(model.nv):
        work.v[c] = v[c]
        work.acceleration[c] = x[c]
        work.P[c] = 0.0
    for j in range(model.nq):
        work.q[j] = q[j]
    positions(model, work, work.q)
    velocities(model, work, work.q, work.v)
    apply_forces(model, work, t, work.P)
    inverse(model, work, out)


@kernel
def residual(model, work, t, q, v, x, out):
    """R = M qdd + Phi_q^T lam - P of all columns, then Phi and Phi' of all rows, for x = (theta, qdd, lam) at q moved by
    theta. Of a driven column, R is how far qdd is from what is prescribed; of a row that vanishes, lam."""
    nv, nr = model.nv, model.nr
    exponential(model, q, x, work.moved)
    take_motion(model, work, t, work.moved, v)
    for c in range(nv):
        if is_free(model, c):
            work.acceleration[c] = x[nv + c]
        work.P[c] = 0.0
    positions(model, work, work.q)
    velocities(model, work, work.q, work.v)
    apply_forces(model, work, t, work.P)
    if nr > 0:
        for r in range(nr):
            work.lam[r] = x[2 * nv + r]
        evaluate_rows(model, work)
        apply_multipliers(model, work)
    inverse(model, work, out)
    for c in range(nv):
        if not is_free(model, c):
            out[c] = x[nv + c] - work.acceleration[c]
    for r in range(nr):
        out[nv + r] = work.phi[r] if model.row_place[r] >= 0 else x[2 * nv + r]
        out[nv + nr + r] = work.rate[r] if model.row_place[r] >= 0 else 0.0 * x[2 * nv + r]


@kernel
def mass_matrix(model, work, t, q, v, x, out):
    """M, row by row."""
    positions(model, work, q)
    recursive.mass_matrix(model, work)
    nv = model.nv
    for c in range(nv):
        for j in range(nv):
            out[c * nv + j] = work.M[c * nv + j]


@kernel
def observe(model, work, t, q, v, x, out):
    """Everything a result records, for the accelerations x of the free columns.

    out: q, v, acceleration; kinetic energy, potential energy, power of forces, power dissipated, momentum (6);
    for every force element its four numbers; for every body, in ground axes, its internal frame: R (9), r, velocity and
    angular velocity, acceleration and angular acceleration.
    """
    take_motion(model, work, t, q, v)
    positions(model, work, work.q)
    velocities(model, work, work.q, work.v)
    nq, nv = model.nq, model.nv
    for c in range(nv):
        work.P[c] = 0.0
    apply_forces(model, work, t, work.P)
    for j in range(nq):
        out[j] = work.q[j]
    k = nq + 2 * nv
    for c in range(nv):
        out[nq + c] = work.v[c]
        if is_free(model, c):
            work.acceleration[c] = x[c]
        out[nq + nv + c] = work.acceleration[c]
    accelerations(model, work, work.acceleration)
    inertias(model, work)
    out[k] = kinetic(model, work)
    out[k + 1] = gravity_potential(model, work)
    out[k + 2] = 0.0
    out[k + 3] = 0.0
    for e in range(model.ne):
        out[k + 1] = out[k + 1] + work.force[e, 1]
        out[k + 2] = out[k + 2] + work.force[e, 2]
        out[k + 3] = out[k + 3] + work.force[e, 3]
    momentum(model, work, out, k + 4)
    k = k + 10
    for e in range(model.ne):
        for j in range(4):
            out[k + 4 * e + j] = work.force[e, j]
    k = k + 4 * model.ne
    for i in range(1, model.n):
        body_pose_out(model, work, i, out, k)
        body_acceleration_out(model, work, i, out, k + 18)
        k = k + 24


@kernel
def body_pose_out(model, work, i, out, start):
    """Internal frame of body i in the ground: R by rows, r, velocity of r, angular velocity."""
    f, r = model.frame[i], three(work.r, i)
    for k in range(3):
        a = to_ground(work, f, axis(work.R, i, k))
        out[start + k], out[start + 3 + k], out[start + 6 + k] = a[0], a[1], a[2]
    put_at(out, start + 9, plus(to_ground(work, f, r), three(work.frame_r, f)))
    put_at(out, start + 12, to_ground(work, f, point_velocity(work, i, r)))
    put_at(out, start + 15, to_ground(work, f, second(six(work.Y, i))))


@kernel
def body_acceleration_out(model, work, i, out, start):
    """r'' = v' + w' x r + w x r' of the internal frame's origin, and w'; gravity, hidden in A, is taken out again."""
    f, r = model.frame[i], three(work.r, i)
    rate, w = plus(six(work.A, i), six(work.a, i)), second(six(work.Y, i))
    a = plus(velocity_at(rate, r), cross(w, point_velocity(work, i, r)))
    put_at(out, start, plus(to_ground(work, f, a), at(model.gravity, 0)))
    put_at(out, start + 3, to_ground(work, f, second(rate)))


@kernel
def poses(model, work, t, q, v, x, out):
    """The internal frames of all bodies for the coordinates as given, laid out as in `observe`."""
    positions(model, work, q)
    for i in range(1, model.n):
        put(work.Y, i, NO_MOTION)
        body_pose_out(model, work, i, out, 18 * (i - 1))


@kernel
def loads_at(model, work, t, q, v, qdd):
    """All that P1's steps 1-6 leave behind: composites, and accelerations for the given qdd."""
    take_motion(model, work, t, q, v)
    for c in range(model.nv):
        if is_free(model, c):
            work.acceleration[c] = qdd[c]
        work.P[c] = 0.0
    positions(model, work, work.q)
    velocities(model, work, work.q, work.v)
    apply_forces(model, work, t, work.P)
    if model.nr > 0:
        after = model.nv + 1 + int(qdd[model.nv])
        for r in range(model.nr):
            work.lam[r] = qdd[after + r]
        evaluate_rows(model, work)
        apply_multipliers(model, work)
    recursive.composites(model, work)
    accelerations(model, work, work.acceleration)


@inline
def put_load(work, f, R, p, out, start):
    """The force R = (f, n) of reference frame f, its moment taken at the point p, in ground axes."""
    put_at(out, start, to_ground(work, f, first(R)))
    put_at(out, start + 3, to_ground(work, f, to_point(R, p)))


@kernel
def pair_load(model, work, k, out, start):
    """Force and moment on body b of pair k, at its frame, ground axes: -psi lam over the rows of the pair."""
    R = NO_MOTION
    for r in range(model.nr):
        if model.row_pair[r] == k:
            R = minus(R, scaled(work.lam[r], six(work.psi, r)))
    pair_frames(model, work, k)
    put_load(work, pair_frame(model, k), R, three(work.pair_o, 1), out, start)


@kernel
def coupler_load(model, work, r, out, start):
    """What coupler r does to the drawn child of its first joint, ground axes: a couple -lam about its axis, or a force -lam
    along its slide."""
    i = model.column_body[model.row_a[r]]
    lam = -work.lam[r] if model.reverse[i] == FORWARD else work.lam[r]
    R = scaled(lam, direction(model, work, i, model.row_a[r]))
    put_at(out, start, to_ground(work, model.frame[i], first(R)))
    put_at(out, start + 3, to_ground(work, model.frame[i], second(R)))


@kernel
def element_load(model, work, k, out, at):
    """Of pair k of a loop, or (behind the pairs) of a coupler."""
    if k < model.nk:
        pair_load(model, work, k, out, at)
    else:
        coupler_load(model, work, k - model.nk, out, at)


@kernel
def loads(model, work, t, q, v, x, out):
    """x: accelerations, the number of joints asked for, their bodies (n + k: element_load), multipliers. out: force,
    moment at the joint, for each joint, then, for every column of those joints, B^T R and what its rotor takes, less what
    the model's own force elements do there: the driving force."""
    loads_at(model, work, t, q, v, x)
    nv = model.nv
    count = int(x[nv])
    driving = 6 * count
    for k in range(count):
        i = int(x[nv + 1 + k])
        if i >= model.n:
            element_load(model, work, i - model.n, out, 6 * k)
            continue
        R = reaction(model, work, i, work.acceleration)
        for c in range(model.v_at[i], model.v_end[i]):
            out[driving] = dot(six(work.B, c), R) - work.tau[c] + model.armature[c] * work.acceleration[c]
            driving += 1
        at_joint(model, work, i, R, out, 6 * k)


@kernel
def loads_newton_euler(model, work, t, q, v, x, out):
    """As `loads`, without driving forces, by the classical recursion (P1 eq. 28)."""
    loads_at(model, work, t, q, v, x)
    nv = model.nv
    for k in range(int(x[nv])):
        i = int(x[nv + 1 + k])
        if i >= model.n:
            element_load(model, work, i - model.n, out, 6 * k)
            continue
        at_joint(model, work, i, reaction_newton_euler(model, work, i), out, 6 * k)


@kernel
def point_jacobian(model, work, t, q, v, x, out):
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


@dataclass(frozen=True)
class Entry:
    """An entry kernel and the length of out, as a function of the layout's sizes; 0: asked for."""

    function: Callable[..., Any]
    out: Callable[[dict[str, int]], int]
    traced: bool = True
    given: Callable[[dict[str, int]], int] = lambda n: n["nv"]  # length of x


FORMULATIONS = ("recursive", "articulated", "velocity-transform")
ENTRIES: dict[str, Entry] = {
    "recursive": Entry(forward_recursive, lambda n: n["nv"]),
    "articulated": Entry(forward_articulated, lambda n: n["nv"]),
    "velocity-transform": Entry(forward_velocity_transform, lambda n: n["nv"]),
    "loops": Entry(forward_loops, lambda n: n["nv"]),
    "loops-velocity-transform": Entry(forward_loops_velocity_transform, lambda n: n["nv"]),
    "multipliers": Entry(multipliers, lambda n: n["nv"] + n["nr"]),
    "close": Entry(close_loops, lambda n: n["nv"], traced=False),
    "meet-drives": Entry(meet_drives, lambda n: n["nv"], traced=False),
    "null-space": Entry(forward_null_space, lambda n: n["nv"], traced=False),
    "close-null-space": Entry(close_null_space, lambda n: n["nv"], traced=False),
    "constraints": Entry(constraints, lambda n: n["nr"] * (3 + n["nv"])),
    "inverse": Entry(inverse_dynamics, lambda n: n["nv"]),
    "residual": Entry(residual, lambda n: n["nv"] + 2 * n["nr"], given=lambda n: 2 * n["nv"] + n["nr"]),
    "mass-matrix": Entry(mass_matrix, lambda n: n["nv"] ** 2),
    "observe": Entry(observe, lambda n: n["nq"] + 2 * n["nv"] + 10 + 4 * n["ne"] + 24 * (n["n"] - 1)),
    "poses": Entry(poses, lambda n: 18 * (n["n"] - 1)),
    "point-jacobian": Entry(point_jacobian, lambda n: 6 * n["nv"]),
    "loads": Entry(loads, lambda n: 0),
    "loads-newton-euler": Entry(loads_newton_euler, lambda n: 0),
}
