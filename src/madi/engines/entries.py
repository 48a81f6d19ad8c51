"""What an engine can be asked for: the entry kernels, all with one signature.

    entry(model, work, t, q, v, x, out)

`x` is what the entry needs beside the state (generalised forces, or accelerations), `out` what it gives.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from madi.constraints.dispatch import apply_multipliers, evaluate_rows, jacobian, pair_frame, pair_frames
from madi.dynamics import articulated, recursive, velocity_transform
from madi.dynamics.energy import gravity_potential, inertias, kinetic, momentum
from madi.dynamics.impulse import drive_impulse
from madi.dynamics.inverse import inverse
from madi.dynamics.kinematics import accelerations, point, point_velocity, positions, to_ground, velocities
from madi.dynamics.loads import at_joint, reaction, reaction_newton_euler
from madi.dynamics.modal import generalised_force
from madi.joints.dispatch import direction, exponential
from madi.kernel import inline, kernel, view1
from madi.loops import kkt, null_space, projection
from madi.signals.tape import apply_forces, drive_signals


@kernel
def take_motion(model, work, t, q, v):
    """work.q, work.v: the state, driven coordinates, rates and accelerations as prescribed at time t."""
    for j in range(model.nq):
        work.q[j] = q[j]
    for c in range(model.nv):
        work.v[c] = v[c]
        work.acceleration[c] = 0.0
        if model.drive[c] == -2:
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
    kkt.factorise(model, work, work.options.softness)
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
    kkt.factorise(model, work, work.options.softness)
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
            v[c] = v[c] + work.acceleration[c] if model.drive[c] == -1 else work.v[c]
    forward_recursive(model, work, t, q, v, x, out)


@kernel
def forward_null_space(model, work, t, q, v, x, out):
    """Accelerations with loops by the null-space method of work.options."""
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
        if model.drive[c] == -1:
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
        if model.drive[c] != -1:
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
    at = nq + 2 * nv
    for c in range(nv):
        out[nq + c] = work.v[c]
        if model.drive[c] == -1:
            work.acceleration[c] = x[c]
        out[nq + nv + c] = work.acceleration[c]
    accelerations(model, work, work.acceleration)
    inertias(model, work)
    out[at] = kinetic(model, work)
    out[at + 1] = gravity_potential(model, work)
    out[at + 2] = 0.0
    out[at + 3] = 0.0
    for e in range(model.ne):
        out[at + 1] = out[at + 1] + work.force[e, 1]
        out[at + 2] = out[at + 2] + work.force[e, 2]
        out[at + 3] = out[at + 3] + work.force[e, 3]
    momentum(model, work, out, at + 4)
    at = at + 10
    for e in range(model.ne):
        for j in range(4):
            out[at + 4 * e + j] = work.force[e, j]
    at = at + 4 * model.ne
    for i in range(1, model.n):
        body_pose_out(model, work, i, out, at)
        body_acceleration_out(model, work, i, out, at + 18)
        at = at + 24


@kernel
def body_pose_out(model, work, i, out, at):
    """Internal frame of body i in the ground: R by rows, r, velocity of r, angular velocity."""
    f, R = model.frame[i], work.R
    for k in range(3):
        a, b, c = to_ground(work, f, R[i, 0, k], R[i, 1, k], R[i, 2, k])
        out[at + k], out[at + 3 + k], out[at + 6 + k] = a, b, c
    x, y, z = work.r[i, 0], work.r[i, 1], work.r[i, 2]
    u, v, w = point_velocity(work, i, x, y, z)
    x, y, z = to_ground(work, f, x, y, z)
    out[at + 9], out[at + 10], out[at + 11] = x + work.frame_r[f, 0], y + work.frame_r[f, 1], z + work.frame_r[f, 2]
    out[at + 12], out[at + 13], out[at + 14] = to_ground(work, f, u, v, w)
    out[at + 15], out[at + 16], out[at + 17] = to_ground(work, f, work.Y[i, 3], work.Y[i, 4], work.Y[i, 5])


@kernel
def body_acceleration_out(model, work, i, out, at):
    """r'' = v' + w' x r + w x r' of the internal frame's origin, and w'; gravity, hidden in A, is taken out again."""
    f, A, a = model.frame[i], work.A, work.a
    x, y, z = work.r[i, 0], work.r[i, 1], work.r[i, 2]
    w0, w1, w2 = work.Y[i, 3], work.Y[i, 4], work.Y[i, 5]
    e0, e1, e2 = A[i, 3] + a[i, 3], A[i, 4] + a[i, 4], A[i, 5] + a[i, 5]
    u0, u1, u2 = point_velocity(work, i, x, y, z)
    r0 = A[i, 0] + a[i, 0] + (e1 * z - e2 * y) + (w1 * u2 - w2 * u1)
    r1 = A[i, 1] + a[i, 1] + (e2 * x - e0 * z) + (w2 * u0 - w0 * u2)
    r2 = A[i, 2] + a[i, 2] + (e0 * y - e1 * x) + (w0 * u1 - w1 * u0)
    r0, r1, r2 = to_ground(work, f, r0, r1, r2)
    g = model.gravity
    out[at], out[at + 1], out[at + 2] = r0 + g[0], r1 + g[1], r2 + g[2]
    out[at + 3], out[at + 4], out[at + 5] = to_ground(work, f, e0, e1, e2)


@kernel
def poses(model, work, t, q, v, x, out):
    """The internal frames of all bodies for the coordinates as given, laid out as in `observe`."""
    positions(model, work, q)
    for i in range(1, model.n):
        for j in range(6):
            work.Y[i, j] = 0.0
        body_pose_out(model, work, i, out, 18 * (i - 1))


@kernel
def loads_at(model, work, t, q, v, qdd):
    """All that P1's steps 1-6 leave behind: composites, and accelerations for the given qdd."""
    take_motion(model, work, t, q, v)
    for c in range(model.nv):
        if model.drive[c] == -1:
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


@kernel
def pair_load(model, work, k, out, at):
    """Force and moment on body b of pair k, at its frame, ground axes: -psi lam over the rows of the pair."""
    R = work.joint_a
    for j in range(6):
        R[j] = 0.0
    for r in range(model.nr):
        if model.row_pair[r] == k:
            for j in range(6):
                R[j] = R[j] - work.psi[r, j] * work.lam[r]
    pair_frames(model, work, k)
    x, y, z = work.pair_o[1, 0], work.pair_o[1, 1], work.pair_o[1, 2]
    f0, f1, f2 = R[0], R[1], R[2]
    n0, n1, n2 = R[3] - (y * f2 - z * f1), R[4] - (z * f0 - x * f2), R[5] - (x * f1 - y * f0)
    f = pair_frame(model, k)
    out[at], out[at + 1], out[at + 2] = to_ground(work, f, f0, f1, f2)
    out[at + 3], out[at + 4], out[at + 5] = to_ground(work, f, n0, n1, n2)


@kernel
def coupler_load(model, work, r, out, at):
    """What coupler r does to the drawn child of its first joint, ground axes: a couple -lam about its axis, or a force -lam
    along its slide."""
    i = model.column_body[model.row_a[r]]
    f, lam = model.frame[i], -work.lam[r] if model.reverse[i] == 0 else work.lam[r]
    u0, u1, u2, e0, e1, e2 = direction(model, work, i, model.row_a[r])
    out[at], out[at + 1], out[at + 2] = to_ground(work, f, lam * u0, lam * u1, lam * u2)
    out[at + 3], out[at + 4], out[at + 5] = to_ground(work, f, lam * e0, lam * e1, lam * e2)


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
        reaction(model, work, i, work.acceleration, work.joint_a)
        for c in range(model.v_at[i], model.v_end[i]):
            out[driving] = (
                work.B[c, 0] * work.joint_a[0]
                + work.B[c, 1] * work.joint_a[1]
                + work.B[c, 2] * work.joint_a[2]
                + work.B[c, 3] * work.joint_a[3]
                + work.B[c, 4] * work.joint_a[4]
                + work.B[c, 5] * work.joint_a[5]
                - work.tau[c]
                + model.armature[c] * work.acceleration[c]
            )
            driving += 1
        at_joint(model, work, i, work.joint_a, out, 6 * k)


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
        reaction_newton_euler(model, work, i, work.joint_a)
        at_joint(model, work, i, work.joint_a, out, 6 * k)


@kernel
def point_jacobian(model, work, t, q, v, x, out):
    """x: a body, a point in its internal axes. out: six rows, ground axes: velocity of the point and angular velocity
    of the body per unit of each speed."""
    nv, i, B = model.nv, int(x[0]), work.B
    positions(model, work, q)
    for j in range(6 * nv):
        out[j] = 0.0
    f = model.frame[i]
    x0, x1, x2 = point(work, i, x[1], x[2], x[3])
    b = model.tip_blade[i]
    while b >= 0:
        c = model.blade_column[b]
        w0, w1, w2 = B[b, 3], B[b, 4], B[b, 5]
        u0, u1, u2 = B[b, 0] + (w1 * x2 - w2 * x1), B[b, 1] + (w2 * x0 - w0 * x2), B[b, 2] + (w0 * x1 - w1 * x0)
        out[c], out[nv + c], out[2 * nv + c] = to_ground(work, f, u0, u1, u2)
        out[3 * nv + c], out[4 * nv + c], out[5 * nv + c] = to_ground(work, f, w0, w1, w2)
        b = model.blade_parent[b]


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
