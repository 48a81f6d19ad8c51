"""O(n) forward dynamics: articulated inertias, eliminated one column at a time from the leaves to the root.

With Ydot_i = A_i + a_i (A known, kinematics.py) the force through joint i is `I_i a_i + p_i`, where for the body alone
I = M^ and p = M^ A - Q^. Through column c, with U = I B_c, d = B_c^T U + its armature and u = tau_c - B_c^T p:

    I' = I - U U^T / d,      p' = p + U u / d,      and outwards      qdd_c = (u - U^T a) / d.

Because all bodies share one origin and A carries the velocity terms, there is neither a 6x6 transform nor a bias product
on the way to the root.

docs/references.md: [Featherstone 1983], [Featherstone 2008].
"""

from __future__ import annotations

from madi.dynamics.kinematics import point_acceleration
from madi.dynamics.modal import block_place, generalised_force, modal_columns
from madi.dynamics.recursive import body_terms
from madi.joints.columns import is_free
from madi.joints.place import MODAL
from madi.kernel import ACCELERATE, ELIMINATE, call_seldom, inline, kernel, seldom
from madi.spatial.articulated import articulated_times, start_articulated, take_out
from madi.spatial.vector import dot, minus, plus, plus_scaled, put, scaled, six


@kernel
def forward(model, work):
    """qdd of the free columns into work.acceleration."""
    I, W, a = work.articulated, work.W, work.a
    n = model.n
    for i in range(1, n):
        body_terms(model, work, i)  # W = Q^ - M^ A = -p
        start_articulated(I, i, work.inertia)
    for i in range(n - 1, 0, -1):
        p = model.parent[i]
        if model.code[i] == MODAL:
            call_seldom(model.seldom[ELIMINATE], ELIMINATE, model, work, i)
        else:
            for c in range(model.v_end[i] - 1, model.v_at[i] - 1, -1):
                if is_free(model, c):
                    eliminate(model, work, i, c)
        if p > 0:
            for j in range(21):
                I[p, j] = I[p, j] + I[i, j]
            put(W, p, plus(six(W, p), six(W, i)))
    for i in range(1, n):
        put(a, i, six(a, model.parent[i]))
        if model.code[i] == MODAL:
            call_seldom(model.seldom[ACCELERATE], ACCELERATE, model, work, i)
            continue
        for c in range(model.v_at[i], model.v_end[i]):
            if is_free(model, c):
                accelerate(work, i, c)
    for c in range(model.v_at[0], model.v_end[0]):  # first-order states
        work.T[c, 0] = 1.0
        work.acceleration[c] = work.tau[c]


@inline
def eliminate(model, work, i, c):
    """Take column c out of the articulated inertia and force of body i; u goes to P, 1/d to T."""
    b, w = six(work.B, c), six(work.W, i)  # w = -p
    U = articulated_times(work.articulated, i, b)
    inverse = 1.0 / (dot(b, U) + model.armature[c])
    u = work.tau[c] + dot(b, w)
    work.P[c] = u
    work.T[c, 0] = inverse
    put(work.U, c, U)
    put(work.W, i, minus(w, scaled(u * inverse, U)))
    take_out(work.articulated, i, U, inverse)


@inline
def accelerate(work, i, c):
    """qdd of column c, and what it adds to the acceleration of body i."""
    a = six(work.a, i)
    work.acceleration[c] = (work.P[c] - dot(six(work.U, c), a)) * work.T[c, 0]
    put(work.a, i, plus_scaled(a, work.acceleration[c], six(work.B, c)))


@seldom(ELIMINATE)
def eliminate_modes(model, work, i):
    """Take the modes of a flexible body out of its articulated inertia and force, the last first. Between them is the block
    (dynamics/modal.py), of which c's row stays for the way outwards: xi_c'' = (u - U^T a - sum_{d<c} M_cd xi_d'') / d.
    Of a point: what its blades carry."""
    I, W, U = work.articulated, work.W, work.U
    if model.modal[i] < 0:
        for x in range(model.blade_at[i], model.blade_at[i] + model.modes[i]):
            put(U, x, articulated_times(I, i, six(work.B, x)))
        return
    l, m = model.v_at[i], model.v_end[i]
    modal_columns(model, work, i)
    for c in range(l, m):
        work.P[c] = generalised_force(model, work, c) + work.tau[c]
    for c in range(m - 1, l - 1, -1):
        if not is_free(model, c):
            continue
        inverse, u = 1.0 / work.block[block_place(model, i, c, c)], six(U, c)
        work.T[c, 0] = inverse
        take_out(I, i, u, inverse)
        put(W, i, minus(six(W, i), scaled(work.P[c] * inverse, u)))
        for d in range(l, c):
            if is_free(model, d):
                y = work.block[block_place(model, i, c, d)] * inverse
                work.P[d] = work.P[d] - y * work.P[c]
                put(U, d, minus(six(U, d), scaled(y, u)))
                for k in range(l, d + 1):
                    at = block_place(model, i, d, k)
                    work.block[at] = work.block[at] - y * work.block[block_place(model, i, c, k)]


@seldom(ACCELERATE)
def accelerate_modes(model, work, i):
    """Accelerations of the modes, then of the body's frame; or of a point."""
    if model.modal[i] < 0:
        point_acceleration(model, work, i, work.acceleration)
        return
    a, l = six(work.a, i), model.v_at[i]
    for c in range(l, model.v_end[i]):
        if is_free(model, c):
            x = work.P[c] - dot(six(work.U, c), a)
            for d in range(l, c):
                if is_free(model, d):
                    x = x - work.block[block_place(model, i, c, d)] * work.acceleration[d]
            work.acceleration[c] = x * work.T[c, 0]
    for c in range(l, model.v_end[i]):
        if is_free(model, c):
            a = plus_scaled(a, work.acceleration[c], six(work.B, c))
    put(work.a, i, a)
