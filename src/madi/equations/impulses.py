"""Hard contact at velocity level: the impulses of a step of a time-stepping method (integrate/time_stepping.py).

With the state (q, v) that a step of length h would end with if nothing touched, and there the row J of a point of contact in
one direction, its impulse p adds K^-1 J^T p to v, K the loop equations' matrix (M in a tree): loops stay closed whatever p
is; and h/2 of what it adds to v it adds to the way. Looked for are p and v' with, at every point (n: along the normal, t: in
its plane, g the gap, u = J v, u- the same before the step)

    0 <= p_n   complementary to   u'_n - c >= 0,      c = -e u-_n   after an impact, else the lesser of 0 and u_n - 2 g / h,
    |p_t| <= mu p_n,   the largest dissipation: u'_t = 0, or against it with |p_t| = mu p_n,

the same without friction for hard stops, with |p| <= h F for friction of joints. They are found one after the other, back
and forth, each exactly (projected Gauss-Seidel; the impulses of the last step are the first guess), led on by conjugate
directions of their changes (Silcowitz, Niebe, Erleben), until no speed changes by more than a tolerance: what is left is the
residual that statistics tell.

*Coordinates.* In a tree M = L^T D L (dynamics/recursive.py), and with u = D^1/2 L v and the row w = D^-1/2 L^-T J^T,
J v = w u, and an impulse adds w p to u. w is not zero on the paths of the two bodies alone, so a contact of two balls costs
the same among a thousand. With loops v itself is used, and K^-1 J^T is full.

*Depth.* What overlaps at the end of the step is moved apart by the least motion, by mass, with J d >= -g; it is no motion of
the step and carries no energy.

Numbers are judged here: these kernels are not traced.

docs/references.md: [Moreau 1988], [Jean 1999], [Anitescu, Potra 1997], [Silcowitz et al. 2010].
"""

from __future__ import annotations

from madi.dynamics import recursive
from madi.dynamics.points import from_ground
from madi.equations.fields import Arrays, Work
from madi.equations.modes import masses
from madi.equations.motion import apply_drives, take_held
from madi.forces.contact import OFF, are_near, met_at, numbers_of_point, points_of
from madi.forces.contact_law import CREEP, HARD, MU, RESTITUTION, SLOWEST, STATIC, coefficient
from madi.forces.friction import sliding
from madi.forces.hard_stop import LOWER, REST, UPPER
from madi.forces.hard_stop import RESTITUTION as OF_STOP
from madi.forces.kind import origin_apart, seen_from
from madi.forces.modes import BY_METHOD, FRICTION, STOP
from madi.joints.columns import is_free
from madi.kernel import kernel, sqrt
from madi.loops.projection import refactor, step_for
from madi.spatial.vector import cross, dot, minus, plus_scaled, scaled, six, velocity_at

H, TOLERANCE, SWEEPS, GIVEN = range(4)  # of `out`, on entry; then displacements
RESIDUAL, TAKEN, MET = range(3)  # on return
POINT, ONE_SIDED, BRAKE = 3, 1, 2  # kinds of items: their number of rows, or one
# numbers of an item: base rates (3), wanted speed, limit, impulses (3), inverse masses (2), gap, displacement, speed if
# nothing touched, impulses before a sweep (3), direction in which they change (3)
RATE, WANTED, LIMIT, IMPULSE, MOBILITY, ACROSS, GAP, APART, ALONE, LAST, WAY = 0, 3, 4, 5, 8, 9, 10, 11, 12, 13, 16
NEVER = 1e300
TOO_MANY = -1.0  # residual: more points in touch than there is room for


@kernel
def impulses(model: Arrays, work: Work, t, q, v, x, out):
    """v: from what a step would end with to what it ends with; x: the speeds before it, then held values, whose forces
    are the first guess, and give way to those that follow. `out`: what is given (H ...), then what is told, and
    displacements."""
    nv, h = model.nv, out[H]
    tolerance, sweeps = out[TOLERANCE], int(out[SWEEPS])
    take_held(model, work, x, nv)
    for c in range(nv):
        work.before[c] = x[c]
    work.items, work.feels, work.filled = 0, 0, 0
    apply_drives(model, work, t, q, v)
    if h > 0.0:
        prepare(model, work, v)
    room = collect(model, work, x, h)
    if h <= 0.0:
        return
    residual, taken = 0.0, 0
    if work.items > 0:
        into_impulse_space(model, work, v)
        guess(work)
        residual, taken = find(model, work, tolerance, sweeps)
        out_of_impulse_space(model, work, v)
        tell(model, work, x, h)
    apart(model, work, v, h, out, tolerance, sweeps)
    out[RESIDUAL], out[TAKEN], out[MET] = residual if room else TOO_MANY, 1.0 * taken, 1.0 * work.items


@kernel
def prepare(model: Arrays, work: Work, v):
    """Masses, factored, at the coordinates in work."""
    for c in range(model.nv):
        work.hold[c], work.P[c], work.acceleration[c] = 0.0, 0.0, 0.0
    masses(model, work)
    if model.nr == 0:
        recursive.solve(model, work.M, work.P, work.acceleration)
    else:
        refactor(model, work)


# ---- what is in touch ---------------------------------------------------------------------------------------------------


@kernel
def collect(model: Arrays, work: Work, x, h):
    """All items; whether there was room."""
    for k in range(model.n_held):
        e, kind = model.held_of[k], model.held_kind[k]
        if kind in (FRICTION, STOP):
            x[model.nv + k] = BY_METHOD
            if h > 0.0 and not joint_item(model, work, e, k, h):
                return False
    room = True
    for e in range(model.ne):
        if room and model.force_touch[e] >= 0:
            room = contact_items(model, work, e, x, h)
    return room


@kernel
def contact_items(model: Arrays, work: Work, e, x, h):
    """The points of an element that would overlap, or pushed in the last step."""
    s, m = model.force_at[e], model.force_held[e] + 1
    numbers, positioned = numbers_of_point(model, s), h > 0.0
    x[model.nv + model.force_held[e]] = 0.0 if positioned else OFF
    close = positioned and are_near(model, work, e)
    for k in range(points_of(model, e)):
        at = model.nv + m
        pushed = x[at] if x[at + 1] == HARD else 0.0
        if x[at + 1] != HARD:
            for j in range(numbers):
                x[at + j] = 0.0
            x[at + 1] = HARD
        if close or (positioned and pushed > 0.0):
            if work.items >= model.n_hard:
                return False
            point_item(model, work, e, k, m, pushed, h)
        elif pushed > 0.0:
            for j in range(2, numbers):
                x[at + j] = 0.0
            x[at] = 0.0
        m += numbers
    return True


@kernel
def point_item(model: Arrays, work: Work, e, k, m, pushed, h):
    """One point as an item, unless it stays apart."""
    gap, n, x, frame_b = met_at(model, work, e, k)
    i = work.items
    work.item_first[i], work.item_value[i] = work.feels, work.filled
    paths(model, work, model.force_a[e], model.force_b[e])
    count = work.feels - work.item_first[i]
    row(model, work, i, 0, count, e, n, x)
    free, before = rate_of(work, i, 0, count, work.v), rate_of(work, i, 0, count, work.before)
    if pushed == 0.0 and gap > 0.0:
        work.feels = work.item_first[i]
        return
    s = model.force_at[e]
    p, law = model.parameter, work.item
    began = p[s + SLOWEST] + abs(free - before)
    arrives = gap <= 0.0 and before < -began
    law[i, WANTED] = -p[s + RESTITUTION] * before if arrives else min(0.0, free - 2.0 * gap / h)
    law[i, GAP], law[i, ALONE] = gap, free
    f = hard_of(work, m, n, frame_b)
    law[i, IMPULSE] = h * dot(f, n)
    work.item_kind[i], work.item_of[i], work.item_held[i], work.item_point[i] = POINT, e, m, k
    law[i, LIMIT] = 0.0
    work.filled += count
    if p[s + MU] > 0.0 or p[s + STATIC] > 0.0:
        a, b = across(n)
        for j in range(1, 3):
            direction = a if j == 1 else b
            row(model, work, i, j, count, e, direction, x)
            law[i, IMPULSE + j] = h * dot(f, direction)
        aside = sqrt(rate_of(work, i, 1, count, work.before) ** 2 + rate_of(work, i, 2, count, work.before) ** 2)
        law[i, LIMIT] = p[s + STATIC] if aside <= p[s + CREEP] else coefficient(p, s, aside)
        work.filled += 2 * count
    finish_item(model, work, i, count)


@kernel
def joint_item(model: Arrays, work: Work, e, k, h):
    """A stop that is near, or friction, as an item of one row; whether there was room."""
    c, s, p = model.force_a[e], model.force_at[e], model.parameter
    if not is_free(model, c):
        return True
    law, i = work.item, work.items
    sign, gap, pushed, free = 1.0, 0.0, work.held[k + 1], 0.0
    stops = model.held_kind[k] == STOP
    if stops:
        y = work.q[model.column_q[c]]
        below, above = y - p[s + LOWER], p[s + UPPER] - y
        sign, gap = (1.0, below) if below < above else (-1.0, above)
        free = sign * work.v[c]
        if pushed * sign <= 0.0 and gap > 0.0:
            return True
    if i >= model.n_hard:
        return False
    work.item_first[i], work.item_value[i] = work.feels, work.filled
    path(model, work, c)
    count = work.feels - work.item_first[i]
    for j in range(count):
        work.feel_value[work.filled + j] = sign if work.feel[work.item_first[i] + j] == c else 0.0
    work.filled += count
    work.item_kind[i], work.item_of[i], work.item_held[i], work.item_point[i] = (ONE_SIDED if stops else BRAKE), e, k, 0
    before, free = sign * work.before[c], sign * work.v[c]
    law[i, GAP], law[i, ALONE], law[i, IMPULSE], law[i, WANTED] = gap, free, h * sign * pushed, 0.0
    if stops:
        arrives = gap <= 0.0 and before < -(p[s + REST] + abs(free - before))
        law[i, WANTED] = -p[s + OF_STOP] * before if arrives else min(0.0, free - 2.0 * gap / h)
    else:
        law[i, LIMIT] = h * (p[s + 1] if before == 0.0 else sliding(model, s, abs(before)))
    finish_item(model, work, i, count)
    return True


@kernel
def hard_of(work: Work, m, n, frame_b):
    """The force of the last step at a point: push, then friction in b's axes."""
    h = work.held
    f = scaled(h[m + 2], frame_b[0])
    f = plus_scaled(plus_scaled(f, h[m + 3], frame_b[1]), h[m + 4], frame_b[2])
    return plus_scaled(f, h[m], n)


@kernel
def across(n):
    """Two directions normal to n and each other."""
    if abs(n[0]) < 0.6:
        a = (0.0, -n[2], n[1])
    else:
        a = (-n[1], n[0], 0.0)
    a = scaled(1.0 / sqrt(dot(a, a)), a)
    return a, cross(n, a)


# ---- rows ---------------------------------------------------------------------------------------------------------------


@kernel
def paths(model: Arrays, work: Work, a, b):
    """Columns that move body a or b, from the outermost inwards: work.feel from n_feel on; of a mechanism with loops all."""
    first = work.feels
    if model.nr > 0:
        for c in range(model.nv - 1, -1, -1):
            work.feel[work.feels] = c
            work.feels += 1
        return
    for i in (a, b):
        k = model.tip_motion[i]
        while k >= 0:
            add_column(model, work, first, model.motion_column[k])
            k = model.motion_parent[k]


@kernel
def add_column(model: Arrays, work: Work, first, c):
    """Put a free column into its place, unless it is there."""
    if not is_free(model, c):
        return
    n = work.feels
    j = n
    while j > first and work.feel[j - 1] < c:
        j -= 1
    if j > first and work.feel[j - 1] == c:
        return
    for i in range(n, j, -1):
        work.feel[i] = work.feel[i - 1]
    work.feel[j] = c
    work.feels = n + 1


@kernel
def path(model: Arrays, work: Work, c):
    """A column and all before it on its path."""
    if model.nr > 0:
        paths(model, work, 0, 0)
        return
    while c >= 0:
        work.feel[work.feels] = c
        work.feels += 1
        c = model.free_column_parent[c]


@kernel
def row(model: Arrays, work: Work, i, j, count, e, d, x):
    """Row j of item i: the speed of a's material point against b's at the place x along d, by columns."""
    a, b, first, at = model.force_a[e], model.force_b[e], work.item_first[i], work.item_value[i] + j * count
    common, o = model.frame[a] == model.frame[b], seen_from(model, a, b)
    work.item[i, RATE + j] = one_side(model, work, a, d, x, common, o, 1.0) + one_side(model, work, b, d, x, common, o, -1.0)
    for k in range(count):
        c = work.feel[first + k]
        work.feel_value[at + k] = work.row_now[c]
        work.row_now[c] = 0.0


@kernel
def one_side(model: Arrays, work: Work, i, d, x, common, o, sign):
    """What body i adds to work.row_now; returns the part of columns that are prescribed."""
    prescribed = 0.0
    if i > 0 and not common:
        f = model.frame[i]
        x, d = from_ground(work, f, minus(x, origin_apart(work, f, o))), from_ground(work, f, d)
    k = model.tip_motion[i] if i > 0 else -1
    while k >= 0:
        c = model.motion_column[k]
        felt_now = sign * dot(d, velocity_at(six(work.B, k), x))
        if is_free(model, c):
            work.row_now[c] = work.row_now[c] + felt_now
        else:
            prescribed += felt_now * work.v[c]
        k = model.motion_parent[k]
    return prescribed


@kernel
def rate_of(work: Work, i, j, count, v):
    """Row j of item i times speeds, in joint coordinates."""
    first, at, total = work.item_first[i], work.item_value[i] + j * count, work.item[i, RATE + j]
    for k in range(count):
        total += work.feel_value[at + k] * v[work.feel[first + k]]
    return total


@kernel
def rows_of(work: Work, i):
    """How many rows item i has."""
    return 3 if work.item_kind[i] == POINT and work.item[i, LIMIT] > 0.0 else 1


@kernel
def finish_item(model: Arrays, work: Work, i, count):
    """Rows in impulse space, what answers, how mobile a point is."""
    rows, at = rows_of(work, i), work.item_value[i]
    if work.item_kind[i] != POINT:
        work.item[i, RATE] = 0.0
    for j in range(rows):
        answer(model, work, i, j, count)
    work.item[i, MOBILITY] = product(work, at, at, count)
    if rows == 3:
        b, c = at + count, at + 2 * count
        bb, cc, bc = product(work, b, b, count), product(work, c, c, count), product(work, b, c, count)
        work.item[i, ACROSS] = 0.5 * (bb + cc) + sqrt(0.25 * (bb - cc) ** 2 + bc * bc)
    work.item_columns[i] = count
    work.items = i + 1


@kernel
def product(work: Work, a, b, count):
    """Of two rows: what one feels of the other's impulse."""
    total = 0.0
    for k in range(count):
        total += work.feel_value[a + k] * work.answer_value[b + k]
    return total


@kernel
def answer(model: Arrays, work: Work, i, j, count):
    """In a tree w = D^-1/2 L^-T J^T, which is the row and its answer; with loops K^-1 J^T."""
    first, at, nv = work.item_first[i], work.item_value[i] + j * count, model.nv
    if model.nr > 0:
        for c in range(nv):
            work.P[c] = 0.0
        for k in range(count):
            work.P[work.feel[first + k]] = work.feel_value[at + k]
        for r in range(model.nr):
            work.gamma[r] = 0.0
        step_for(model, work, work.P, work.gamma)
        for k in range(count):
            place = model.column_place[work.feel[first + k]]
            work.answer_value[at + k] = work.unknown[place] if place >= 0 else 0.0
        return
    lam, M = model.free_column_parent, work.M
    for k in range(count):
        work.row_now[work.feel[first + k]] = work.feel_value[at + k]
    for k in range(count):
        c = work.feel[first + k]
        y, p = work.row_now[c], lam[c]
        while p >= 0:
            work.row_now[p] = work.row_now[p] - M[c * nv + p] * y
            p = lam[p]
        work.row_now[c] = 0.0
        w = y * sqrt(M[c * nv + c])
        work.feel_value[at + k] = w
        work.answer_value[at + k] = w


# ---- impulse space ------------------------------------------------------------------------------------------------------


@kernel
def into_impulse_space(model: Arrays, work: Work, v):
    """work.u: D^1/2 L v, with loops v."""
    nv, lam, M = model.nv, model.free_column_parent, work.M
    for c in range(nv):
        work.u[c] = v[c]
        if model.nr == 0 and is_free(model, c):
            y, p = v[c], lam[c]
            while p >= 0:
                y += M[c * nv + p] * v[p]
                p = lam[p]
            work.u[c] = y / sqrt(M[c * nv + c])


@kernel
def out_of_impulse_space(model: Arrays, work: Work, v):
    """And back, into v (work.u stays)."""
    nv, lam, M = model.nv, model.free_column_parent, work.M
    for c in range(nv):
        if not is_free(model, c):
            continue
        v[c] = work.u[c]
        if model.nr == 0:
            y, p = work.u[c] * sqrt(M[c * nv + c]), lam[c]
            while p >= 0:
                y -= M[c * nv + p] * v[p]
                p = lam[p]
            v[c] = y


@kernel
def felt(work: Work, i, j):
    """The rate of row j of item i now."""
    count, first = work.item_columns[i], work.item_first[i]
    at, total = work.item_value[i] + j * count, work.item[i, RATE + j]
    for k in range(count):
        total += work.feel_value[at + k] * work.u[work.feel[first + k]]
    return total


@kernel
def give_impulse(work: Work, i, j, p):
    """Row j of item i gets the impulse p."""
    count, first = work.item_columns[i], work.item_first[i]
    at = work.item_value[i] + j * count
    for k in range(count):
        c = work.feel[first + k]
        work.u[c] = work.u[c] + work.answer_value[at + k] * p


# ---- solving ------------------------------------------------------------------------------------------------------------


@kernel
def guess(work: Work):
    """The impulses of the last step."""
    for i in range(work.items):
        for j in range(rows_of(work, i)):
            give_impulse(work, i, j, work.item[i, IMPULSE + j])


@kernel
def find(model: Arrays, work: Work, tolerance, sweeps):
    """(residual, sweeps taken): sweeps there and back, each led on by conjugate directions of the changes so far."""
    law, residual, before = work.item, 0.0, 0.0
    for k in range(sweeps):
        for i in range(work.items):
            for j in range(3):
                law[i, LAST + j] = law[i, IMPULSE + j]
        residual = sweep(model, work, k % 2 == 1)
        if residual <= tolerance or k == sweeps - 1:
            return residual, k + 1
        before = lead_on(work, before)
    return residual, sweeps


@kernel
def lead_on(work: Work, before):
    """Go on along the direction of the changes so far, as long as they become smaller; the square of the last change."""
    law, square = work.item, 0.0
    for i in range(work.items):
        for j in range(rows_of(work, i)):
            change = law[i, IMPULSE + j] - law[i, LAST + j]
            square += change * change
    beta = square / before if square < before else 0.0
    for i in range(work.items):
        for j in range(rows_of(work, i)):
            change, step = law[i, IMPULSE + j] - law[i, LAST + j], beta * law[i, WAY + j]
            law[i, WAY + j] = step + change
            if step != 0.0:
                law[i, IMPULSE + j] = law[i, IMPULSE + j] + step
                give_impulse(work, i, j, step)
    return square


@kernel
def sweep(model: Arrays, work: Work, back):
    """Every item once; the largest change of a speed."""
    largest, n = 0.0, work.items
    for k in range(n):
        i = n - 1 - k if back else k
        if work.item_kind[i] == BRAKE:
            change = brake(work, i)
        else:
            change = normal(work, i)
            if rows_of(work, i) == 3:
                change = max(change, tangent(work, i))
        largest = max(largest, change)
    return largest


@kernel
def normal(work: Work, i):
    """p_n >= 0 complementary to J_n v - c >= 0."""
    law = work.item
    mobility, old = law[i, MOBILITY], law[i, IMPULSE]
    if mobility <= 0.0:
        return 0.0
    new = old - (felt(work, i, 0) - law[i, WANTED]) / mobility
    new = new if new > 0.0 else 0.0
    law[i, IMPULSE] = new
    give_impulse(work, i, 0, new - old)
    return abs(new - old) * mobility


@kernel
def tangent(work: Work, i):
    """Friction: no sliding, or against it at the limit."""
    law = work.item
    mobility, most = law[i, ACROSS], law[i, LIMIT] * law[i, IMPULSE]
    if mobility <= 0.0:
        return 0.0
    old_a, old_b = law[i, IMPULSE + 1], law[i, IMPULSE + 2]
    a, b = old_a - felt(work, i, 1) / mobility, old_b - felt(work, i, 2) / mobility
    size = sqrt(a * a + b * b)
    if size > most:
        a, b = a * most / size, b * most / size
    law[i, IMPULSE + 1], law[i, IMPULSE + 2] = a, b
    give_impulse(work, i, 1, a - old_a)
    give_impulse(work, i, 2, b - old_b)
    return max(abs(a - old_a), abs(b - old_b)) * mobility


@kernel
def brake(work: Work, i):
    """Friction of a joint: it stands still, or slides at the limit."""
    law = work.item
    mobility, most, old = law[i, MOBILITY], law[i, LIMIT], law[i, IMPULSE]
    if mobility <= 0.0:
        return 0.0
    new = min(max(old - felt(work, i, 0) / mobility, -most), most)
    law[i, IMPULSE] = new
    give_impulse(work, i, 0, new - old)
    return abs(new - old) * mobility


@kernel
def tell(model: Arrays, work: Work, x, h):
    """The forces of the step, into the held values."""
    law = work.item
    for i in range(work.items):
        m, e = work.item_held[i], work.item_of[i]
        at = model.nv + m
        if work.item_kind[i] != POINT:
            sign = 1.0
            if work.item_kind[i] == ONE_SIDED:
                c, s = model.force_a[e], model.force_at[e]
                y = work.q[model.column_q[c]]
                sign = 1.0 if y - model.parameter[s + LOWER] < model.parameter[s + UPPER] - y else -1.0
            x[at + 1] = sign * law[i, IMPULSE] / h
            continue
        _gap, n, _place, frame_b = met_at(model, work, e, work.item_point[i])
        x[at] = law[i, IMPULSE] / h
        f = (0.0, 0.0, 0.0)
        if rows_of(work, i) == 3:
            a, b = across(n)
            f = plus_scaled(scaled(law[i, IMPULSE + 1] / h, a), law[i, IMPULSE + 2] / h, b)
        for j in range(3):
            x[at + 2 + j] = dot(f, frame_b[j])


@kernel
def apart(model: Arrays, work: Work, v, h, out, tolerance, sweeps):
    """Displacements that part what would overlap at the end of the step: out[GIVEN:]."""
    law, nv = work.item, model.nv
    deepest = 0.0
    for i in range(work.items):
        law[i, APART], law[i, WANTED] = 0.0, NEVER
        if work.item_kind[i] != BRAKE:
            end = law[i, GAP] + 0.5 * h * (felt(work, i, 0) - law[i, ALONE])
            law[i, WANTED] = -end
            deepest = max(deepest, -end)
    for c in range(nv):
        out[GIVEN + c] = 0.0
        work.u[c] = 0.0
    if deepest <= 0.0:
        return
    for _k in range(sweeps):
        largest = 0.0
        for i in range(work.items):
            if work.item_kind[i] == BRAKE or law[i, MOBILITY] <= 0.0:
                continue
            old = law[i, APART]
            new = old - (felt(work, i, 0) - law[i, RATE] - law[i, WANTED]) / law[i, MOBILITY]
            new = new if new > 0.0 else 0.0
            law[i, APART] = new
            give_impulse(work, i, 0, new - old)
            largest = max(largest, abs(new - old) * law[i, MOBILITY])
        if largest <= tolerance * h:
            break
    for c in range(nv):
        work.before[c] = 0.0
    out_of_impulse_space(model, work, work.before)
    for c in range(nv):
        out[GIVEN + c] = work.before[c]
