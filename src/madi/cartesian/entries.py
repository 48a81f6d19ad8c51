"""What a run asks for: accelerations, the projection onto the constraints, and what results are made of."""

from __future__ import annotations

from madi.cartesian.equations import accelerations, factorise, masses
from madi.cartesian.fields import Arrays, Work
from madi.cartesian.loads import apply
from madi.cartesian.motion import angles, bodies, joint_state, normalise, spin_rate, take
from madi.cartesian.rows import rows
from madi.constraints.fields import REGULARISATION
from madi.equations.fields import Arrays as TreeArrays
from madi.equations.fields import Work as TreeWork
from madi.equations.row import Row
from madi.kernel import Kernel, kernel
from madi.loops.closing import POSITION_GOOD, POSITION_TINY, SLOW, VELOCITY_GOOD, VELOCITY_ROUNDING, VELOCITY_TINY
from madi.loops.kkt import DEPENDENT_PIVOT, EPSILON, solve, update_verdict
from madi.loops.memory import AT_POSITIONS, AT_VELOCITIES, NOT
from madi.spatial.vector import at, put_at, six, three

NAN = float("nan")
POSITIONS, VELOCITIES, MOST_ITERATIONS = 0, 1, 40  # levels of closing; of one level


# of a body: axes, centre of mass, its velocity, angular velocity, acceleration, angular acceleration
BODY = Row(R=("1", 3, 3), r=("1", 3), u=("1", 3), w=("1", 3), acceleration=("1", 3), spin=("1", 3))
# of a state: joint coordinates, velocities, accelerations; bodies; value, potential, power, dissipated of every element;
# generalised forces on joint coordinates; of each row (f, n) on body b of its link and of a coupler's second, by unit lam
REPORTED = Row(q="nq", v="nv", a="nv", body=("bodies", BODY.length({})), force=("ne", 4), tau="nv", gradient=("rows", 2, 6))


@kernel
def forward(model: Arrays, work: Work, element: TreeArrays, forces: TreeWork, t, q, v, x, out):
    """Accelerations r'', p'' of all bodies, and of the joints' angles."""
    take(model, work, element, forces, t, q, v)
    apply(model, work, element, forces, t)
    rows(model, work, forces)
    masses(model, work)
    factorise(model, work)
    accelerations(model, work, True)
    for k in range(7 * model.n):
        out[k] = work.a[k]
    angles(model, work, work.angle, work.pace, out)
    state_rates(model, element, forces, out)


@kernel
def state_rates(model: Arrays, element: TreeArrays, forces: TreeWork, out):
    """z' of the first-order states, from the force elements."""
    for k in range(model.nz):
        out[model.nq - model.nz + k] = forces.tau[element.nv - model.nz + k]


@kernel
def largest(values, n):
    """Largest size among n values; NaN if one is."""
    size = 0.0
    for r in range(n):
        if not abs(values[r]) <= size:
            size = abs(values[r])
    return size


@kernel
def correct(model: Arrays, work: Work, values, of):
    """of += the least change, by mass, that takes `values` off the rows."""
    x = work.unknown
    for k in range(model.nu):
        x[k] = 0.0
    for r in range(model.nr):
        x[model.row_place[r]] = -values[r]
    solve(model, work.factor, x)
    for k in range(7 * model.n):
        of[k] = of[k] + x[model.q_place[k]]
    normalise(model, work)
    bodies(model, work)


@kernel
def settle(model: Arrays, work: Work, forces: TreeWork, level):
    """Positions or velocities (the level) on the constraints; whether they are."""
    tiny, good = (POSITION_TINY, POSITION_GOOD) if level == POSITIONS else (VELOCITY_TINY, VELOCITY_GOOD)
    tiny, good = max(work.options.tolerance, tiny), max(work.options.tolerance, good)
    rows(model, work, forces)
    rounding = VELOCITY_ROUNDING * largest(work.v, 7 * model.n) if level == VELOCITIES else 0.0
    size = largest(work.phi if level == POSITIONS else work.rate, model.nr)
    if level == POSITIONS:
        work.tally.violation_before = size
    for _ in range(MOST_ITERATIONS):
        if size <= tiny + rounding:
            return True
        if work.factor_valid == 0:
            masses(model, work)
            factorise(model, work)
        if level == POSITIONS:
            correct(model, work, work.phi, work.q)
            work.tally.position_steps += 1
        else:
            correct(model, work, work.rate, work.v)
            work.tally.velocity_steps += 1
        rows(model, work, forces)
        now = largest(work.phi if level == POSITIONS else work.rate, model.nr)
        if not now < SLOW * size:
            if now <= good + 10.0 * rounding:
                return True
            if now != now:
                return False
            work.factor_valid = 0
        size = now
    return size <= good + 10.0 * rounding


@kernel
def close(model: Arrays, work: Work, element: TreeArrays, forces: TreeWork, t, q, v, x, out):
    """q, v onto the constraints (in place), and the accelerations there; NaN where that fails."""
    take(model, work, element, forces, t, q, v)
    work.tally.failed = NOT
    if work.tally.close_stages != 0:
        work.factor_valid = 0
    closed = settle(model, work, forces, POSITIONS)
    if not closed:
        work.tally.failed = AT_POSITIONS
    else:
        closed = settle(model, work, forces, VELOCITIES)
        if not closed:
            work.tally.failed = AT_VELOCITIES
    if not closed:
        for k in range(model.nq):
            out[k] = NAN
        return
    for k in range(7 * model.n):
        q[k], v[k] = work.q[k], work.v[k]
    apply(model, work, element, forces, t)
    masses(model, work)
    fresh = work.factor_valid == 0
    if fresh:
        factorise(model, work)
    accelerations(model, work, fresh)
    dependent, near = 0, 1.0
    for r in range(model.nr):
        ratio = -EPSILON / (work.factor[model.row_place[r]] * model.row_value[r, REGULARISATION])
        if ratio < DEPENDENT_PIVOT:
            dependent += 1
        elif ratio < near:
            near = ratio
    update_verdict(work.tally, dependent, near)
    for k in range(7 * model.n):
        out[k] = work.a[k]
    angles(model, work, q, v, out)
    state_rates(model, element, forces, out)


@kernel
def report(model: Arrays, work: Work, element: TreeArrays, forces: TreeWork, t, q, v, x, out):
    """Everything a result records (REPORTED), for the accelerations x."""
    take(model, work, element, forces, t, q, v)
    for k in range(7 * model.n):
        work.a[k] = x[k]
    apply(model, work, element, forces, t)
    rows(model, work, forces)
    joint_state(model, work, forces, forces.q, forces.v, forces.acceleration)
    for k in range(model.nz):
        forces.acceleration[element.nv - model.nz + k] = x[model.nq - model.nz + k]
    p = 0
    for j in range(element.nq):
        out[p + j] = forces.q[j]
    p += element.nq
    for c in range(element.nv):
        out[p + c], out[p + element.nv + c] = forces.v[c], forces.acceleration[c]
    p += 2 * element.nv
    for i in range(model.n):
        for j in range(3):
            for m in range(3):
                out[p + 3 * j + m] = work.R[i, j, m]
        put_at(out, p + 9, three(work.r, i))
        put_at(out, p + 12, three(work.u, i))
        put_at(out, p + 15, three(work.w, i))
        put_at(out, p + 18, at(work.a, 7 * i))
        put_at(out, p + 21, spin_rate(model, work, i))
        p += 24
    for e in range(element.ne):
        for j in range(4):
            out[p + j] = forces.force[e, j]
        p += 4
    for c in range(element.nv):
        out[p + c] = forces.tau[c]
    p += element.nv
    for r in range(model.nr):
        put_at(out, p, six(work.turning, 4 * r + 1))
        put_at(out, p + 6, six(work.turning, 4 * r + 3))
        p += 12


ENTRIES: dict[str, Kernel] = {"forward": forward, "close": close, "report": report}
