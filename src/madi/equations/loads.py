"""Loads of joints, constraints and couplers that were asked for.

A request (`Load.request`) follows the accelerations and the held values in x: how many, then of each what it is and its
number; the multipliers follow it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from madi.bodies import added_inertia
from madi.constraints.dispatch import apply_multipliers, evaluate_rows, pair_frame, pair_frames
from madi.dynamics import recursive
from madi.dynamics.kinematics import accelerations, positions, velocities
from madi.dynamics.loads import at_joint, reaction, reaction_newton_euler
from madi.dynamics.points import to_ground
from madi.equations.fields import Arrays, Work
from madi.equations.motion import apply_drives, take_held
from madi.joints.columns import is_free
from madi.joints.kind import FORWARD
from madi.joints.place import direction
from madi.kernel import inline, kernel
from madi.loops.joint_friction import friction_of
from madi.signals.tape import apply_forces
from madi.spatial.vector import NO_MOTION, dot, first, minus, put_at, scaled, second, six, three, to_point

# what a load is of: a joint (by its body), the pair of a loop, the row of a coupler
OF_JOINT, OF_PAIR, OF_COUPLER = range(3)


class Load(NamedTuple):
    """One load that can be asked for."""

    of: int
    number: int

    @staticmethod
    def request(loads: Sequence[Load]) -> tuple[float, ...]:
        """These loads as an entry reads them."""
        return (float(len(loads)), *(float(part) for load in loads for part in load))


@inline
def the_request(model: Arrays):
    """Where in x it begins."""
    return model.nv + model.n_held


@inline
def after_request(model: Arrays, x):
    """Where in x the multipliers begin."""
    at = the_request(model)
    return at + 1 + 2 * int(x[at])


@kernel
def prepare_loads(model: Arrays, work: Work, t, q, v, qdd):
    """All that P1's steps 1-6 leave behind: composites, and accelerations for the given qdd."""
    take_held(model, work, qdd, model.nv)
    apply_drives(model, work, t, q, v)
    for c in range(model.nv):
        if is_free(model, c):
            work.acceleration[c] = qdd[c]
        work.P[c] = 0.0
    positions(model, work, work.q)
    velocities(model, work, work.q, work.v)
    apply_forces(model, work, t, work.P)
    if model.nr > 0:
        after = after_request(model, qdd)
        for r in range(model.nr):
            work.lam[r] = qdd[after + r]
        evaluate_rows(model, work)
        apply_multipliers(model, work)
    recursive.composites(model, work)
    accelerations(model, work, work.acceleration)


@inline
def put_load(work: Work, f, R, p, out, start):
    """The force R = (f, n) of reference frame f, its moment taken at the point p, in ground axes."""
    put_at(out, start, to_ground(work, f, first(R)))
    put_at(out, start + 3, to_ground(work, f, to_point(R, p)))


@kernel
def pair_load(model: Arrays, work: Work, k, out, start):
    """Force and moment on body b of pair k, at its frame, ground axes: -psi lam over the rows of the pair."""
    R = NO_MOTION
    for r in range(model.nr):
        if model.row_pair[r] == k:
            R = minus(R, scaled(work.lam[r], six(work.psi, r)))
    pair_frames(model, work, k)
    put_load(work, pair_frame(model, k), R, three(work.pair_o, 1), out, start)


@kernel
def coupler_load(model: Arrays, work: Work, r, out, start):
    """What coupler r does to the drawn child of its first joint, ground axes: a couple -lam about its axis, or a force -lam
    along its slide."""
    i = model.column_body[model.row_a[r]]
    lam = -work.lam[r] if model.reverse[i] == FORWARD else work.lam[r]
    R = scaled(lam, direction(model, work, i, model.row_a[r]))
    put_at(out, start, to_ground(work, model.frame[i], first(R)))
    put_at(out, start + 3, to_ground(work, model.frame[i], second(R)))


@kernel
def closing_load(model: Arrays, work: Work, of, k, out, at):
    """Of what closes a loop."""
    if of == OF_PAIR:
        pair_load(model, work, k, out, at)
    else:
        coupler_load(model, work, k, out, at)


@kernel
def loads(model: Arrays, work: Work, t, q, v, x, out):
    """x: accelerations, the request, multipliers. out: force, moment at the joint, for each load, then, for every column of
    the joints among them, B^T R and what its rotor takes, less what the model's own force elements do there: the driving
    force."""
    prepare_loads(model, work, t, q, v, x)
    at = the_request(model)
    count = int(x[at])
    driving = 6 * count
    for k in range(count):
        of, i = int(x[at + 1 + 2 * k]), int(x[at + 2 + 2 * k])
        if of != OF_JOINT:
            closing_load(model, work, of, i, out, 6 * k)
            continue
        R = reaction(model, work, i, work.acceleration)
        for c in range(model.v_at[i], model.v_end[i]):
            out[driving] = dot(six(work.B, c), R) - work.tau[c] + added_inertia(model, work, c) * work.acceleration[c]
            for j in range(model.n_loaded):
                if model.force_a[model.loaded[j]] == c:
                    out[driving] = out[driving] - friction_of(model, work, j, R)
            driving += 1
        at_joint(model, work, i, R, out, 6 * k)


@kernel
def loads_newton_euler(model: Arrays, work: Work, t, q, v, x, out):
    """As `loads`, without driving forces, by the classical recursion (P1 eq. 28)."""
    prepare_loads(model, work, t, q, v, x)
    at = the_request(model)
    for k in range(int(x[at])):
        of, i = int(x[at + 1 + 2 * k]), int(x[at + 2 + 2 * k])
        if of != OF_JOINT:
            closing_load(model, work, of, i, out, 6 * k)
            continue
        at_joint(model, work, i, reaction_newton_euler(model, work, i), out, 6 * k)
