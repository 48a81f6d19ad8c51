"""Derivatives: what dynamics/slopes.py asks of a flexible body and of its points.

A mode moves its body's frame and the subtree of every point by unit motions of their own, B_x = B_c + X_F b_c (joints/
modal.py), so it is as many columns as these, one beside the other, and the frame's inertia forces depend on it beyond that
(bending_slopes.py). Displaced by it, what hangs on x turns by B_x, and by [Featherstone 2008] d_c Y = d/dt B_x + B_x x Y:

    psi_x = B_x',      psi'_x = B_x'',      kappa_x = 2 B_x',

with the rates of b_c seen from the frame, X_F b' + Y_F x B and so on, Y_F the frame's velocity. With these E_x, F_x, G_x of
the points are as in any joint. Let f = W and C be of the body alone, g_c what its own motion takes of mode c, and, by the
same twelve numbers and one more vector of each mode,

    C eta = (2 w x p, N w),      dg_c = eps_c . w,      eps_c = 2 int u x rho_c dm,      u the velocities of its points.

Then in all, as if a mode were one column (d_d at fixed pose, velocity and acceleration of the frame),

    E_c = C^T B_c + eps_c + sum_x E_x,                       U_c = K B_c + h_c + sum_x U_x,
    F_c = K psi'_c + C psi_c + B_c x* f + d_c f + sum_x F_x,            G_c = K kappa_c + C B_c + d_c' f + sum_x G_x,

and between modes of one body, where neither carries the other, with the whole load L_x on x (inertia, applied, constraint
forces) and d_d B_x = B_d x B_x + X_F d_d b_c,

    dR_c/dxi_d  = B_c . F_d + h_c . psi'_d + eps_c . psi_d + d_d g_c + sum_x B_xc . F_xd + sum_x (d_d B_xc) . L_x,
    dR_c/dxi_d' = B_c . G_d + h_c . kappa_d + eps_c . B_d + d_d' g_c + sum_x B_xc . G_xd,

F_d and G_d those of the frame alone; the sum over loads has the frame's as well.

docs/references.md: [Featherstone 2008], [Shabana 2013].
"""

from __future__ import annotations

from madi.bodies import rigid_slopes
from madi.bodies.bending_slopes import as_a_whole, mode_forces, own_changes
from madi.bodies.fields import Arrays, Work
from madi.bodies.modal import block_place, is_point
from madi.bodies.modal import owns as owns
from madi.bodies.rigid_slopes import answer, coriolis_of, coriolis_times
from madi.joints import modal as joint
from madi.joints.place import from_joint, joint_frame
from madi.kernel import inline, kernel, separate
from madi.spatial.inertia import momentum_of
from madi.spatial.vector import (
    NO_MOTION,
    dot,
    first,
    force_cross,
    join,
    minus,
    motion_cross,
    plus,
    put,
    scaled,
    second,
    six,
    three,
    to_point,
    turned_back,
)


@separate
def momenta(model: Arrays, work: Work, i):
    """W, p and N of the body alone."""
    if is_point(model, i):
        rigid_slopes.momenta(model, work, i)
    else:
        as_a_whole(model, work, i)


@inline
def moved(model: Arrays, work: Work, i, theta):
    """D, psi, psi', kappa of the unit motions of the body, or of one of its points."""
    move_motions(model, work, i)


@separate
def move_motions(model: Arrays, work: Work, i):
    """See `moved`."""
    l, x, B, f = model.mode_v[i], model.motion_at[i], work.B, i
    joint.point_rates(model, i, work.xi, work.xi_rate, work.acceleration, l, work.bow, x, work.psi_q, work.psi_rate)
    F = joint_frame(model, work, i)
    if is_point(model, i):
        f = model.parent[i]
    y, rate = six(work.Y, f), plus(six(work.A, f), six(work.a, f))
    for k in range(x, x + model.modes[i]):
        b, psi, psi_rate = six(B, k), NO_MOTION, NO_MOTION
        if is_point(model, i):  # beyond what the frame does
            c = l + k - x
            b, psi, psi_rate = minus(b, six(B, c)), six(work.psi_q, c), six(work.psi_rate, c)
        seen, again = from_joint(model, i, F, six(work.psi_q, k)), from_joint(model, i, F, six(work.psi_rate, k))
        carried = motion_cross(y, b)
        psi = plus(psi, plus(carried, seen))
        again = plus(again, plus(motion_cross(rate, b), motion_cross(y, plus(carried, scaled(2.0, seen)))))
        put(work.moved_by, k, six(B, k))
        put(work.psi_q, k, psi)
        put(work.psi_rate, k, plus(psi_rate, again))
        put(work.kappa, k, scaled(2.0, psi))


@separate
def answers(model: Arrays, work: Work, i):
    """E, F, G of the unit motions of a point; of the body, whose points are done, those of its modes, and the blocks of
    their own equations."""
    l, m = model.v_at[i], model.v_end[i]
    if is_point(model, i):
        for x in range(model.motion_at[i], model.motion_at[i] + model.modes[i]):
            answer(work, i, x)
        return
    mode_forces(model, work, i)
    own_changes(model, work, i)
    frame_alone(model, work, i)
    among_points(model, work, i)
    turned_loads(model, work, i)
    p, N, f = work.frame_p, work.frame_N, model.modal[i]
    for c in range(l, m):
        put(work.E, c, plus(three(work.E, c), coriolis_of(p, N, f, six(work.B, c))))
    for x in range(model.copy_at[i], model.copy_end[i]):
        c = model.motion_column[x]
        put(work.E, c, plus(three(work.E, c), three(work.E, x)))
        put(work.F, c, plus(six(work.F, c), six(work.F, x)))
        put(work.G, c, plus(six(work.G, c), six(work.G, x)))


@kernel
def frame_alone(model: Arrays, work: Work, i):
    """F and G of the modes by what the frame does, and what they and it do to the modes' own equations; eps_c is in E."""
    l, m, f, p, N, K = model.v_at[i], model.v_end[i], model.modal[i], work.frame_p, work.frame_N, work.inertia
    if model.stays[i] == 1:
        return
    for c in range(l, m):
        b, psi = six(work.B, c), six(work.psi_q, c)
        F = plus(momentum_of(K, i, six(work.psi_rate, c)), coriolis_times(p, N, f, second(psi)))
        put(work.F, c, plus(six(work.F, c), plus(F, force_cross(b, six(work.frame_W, f)))))
        G = plus(momentum_of(K, i, six(work.kappa, c)), coriolis_times(p, N, f, second(b)))
        put(work.G, c, plus(six(work.G, c), G))
    for c in range(l, m):
        b, h, e = six(work.B, c), six(work.h, c), three(work.E, c)
        for d in range(l, m):
            k = block_place(model, i, c, d)
            q = dot(b, six(work.F, d)) + dot(h, six(work.psi_rate, d)) + dot(e, second(six(work.psi_q, d)))
            v = dot(b, six(work.G, d)) + dot(h, six(work.kappa, d)) + dot(e, second(six(work.B, d)))
            work.block_q[k], work.block_v[k] = work.block_q[k] + q, work.block_v[k] + v


@kernel
def among_points(model: Arrays, work: Work, i):
    """What is attached to each point does to the modes' own equations, B_xc . F_xd."""
    k, at = model.modes[i], model.block_at[i]
    for x in range(model.copy_at[i], model.copy_end[i], k):
        for c in range(k):
            b = six(work.B, x + c)
            for d in range(k):
                s = at + c * k + d
                work.block_q[s] = work.block_q[s] + dot(b, six(work.F, x + d))
                work.block_v[s] = work.block_v[s] + dot(b, six(work.G, x + d))


@kernel
def turned_loads(model: Arrays, work: Work, i):
    """(d_d B_xc) . L_x of all points and the frame, the whole loads L being in work.Q."""
    l, at = model.v_at[i], model.block_at[i]
    whole, frame = six(work.Q, i), six(work.frame_W, model.modal[i])
    for x in range(model.copy_at[i], model.copy_end[i], model.modes[i]):
        p = model.motion_body[x]
        load = six(work.Q, p)
        joint.add_power(model, p, work.xi, l, work.bow, x, in_joint(model, work, p, load), 1.0, work.block_q, at)
        if model.stays[i] == 0:
            add_turned(model, work, i, x, load)
    if model.stays[i] == 0:
        add_turned(model, work, i, l, frame)
        joint.add_power(model, i, work.xi, l, work.bow, l, in_joint(model, work, i, whole), -1.0, work.block_q, at)


@inline
def in_joint(model: Arrays, work: Work, i, load):
    """A load as modal joint i sees it: in the axes of the flexible body, about the joint's own origin."""
    o = joint_frame(model, work, i)[3]
    f = model.parent[i] if is_point(model, i) else i
    return join(turned_back(work.R, f, first(load)), turned_back(work.R, f, to_point(load, o)))


@kernel
def add_turned(model: Arrays, work: Work, i, x, load):
    """(B_d x B_xc) . L = -B_xc . (B_d x* L)."""
    k, l, at = model.modes[i], model.v_at[i], model.block_at[i]
    for d in range(k):
        turned = force_cross(six(work.B, l + d), load)
        for c in range(k):
            s = at + c * k + d
            work.block_q[s] = work.block_q[s] - dot(six(work.B, x + c), turned)


@inline
def own_entry(model: Arrays, work: Work, i, c, j):
    """(M_cj, dR_c/dv_j, dR_c/dxi_j) of two modes of body i."""
    k = block_place(model, i, c, j)
    return work.block[block_place(model, i, max(c, j), min(c, j))], work.block_v[k], work.block_q[k]
