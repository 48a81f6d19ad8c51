"""O(n) forward dynamics: articulated inertias, eliminated one column at a time from the leaves to the root.

With Ydot_i - G = A_i + a_i (A known, and gravity G in it: kinematics.py) the force through joint i is `I_i a_i + p_i`,
where for the body alone I = M^ and p = M^ A - Q^. Through column c, with U = I B_c, d = B_c^T U + its armature and u =
tau_c - B_c^T p:

    I' = I - U U^T / d,      p' = p + U u / d,      and outwards      qdd_c = (u - U^T a) / d.

In code -p is work.W and u is work.P; a column is taken out by `eliminate_column` in bodies/rigid.py.
docs/theory/recursion.md has the proof.

Because all bodies share one origin and A carries the velocity terms, there is neither a 6x6 transform nor a bias product
on the way to the root.

docs/references.md: [Featherstone 1983], [Featherstone 2008].
"""

from __future__ import annotations

from madi import bodies
from madi.dynamics.fields import Arrays, Work
from madi.kernel import kernel
from madi.spatial.articulated import start_articulated
from madi.spatial.vector import plus, put, six


@kernel
def forward(model: Arrays, work: Work):
    """qdd of the free columns into work.acceleration."""
    I, W, a = work.articulated, work.W, work.a
    n = model.n
    for i in range(1, n):
        bodies.terms(model, work, i)  # W = Q^ - M^ A = -p
        start_articulated(I, i, work.inertia)
    for i in range(n - 1, 0, -1):
        bodies.eliminate(model, work, i)  # I', -p'
        p = model.parent[i]
        if p > 0:
            for j in range(21):
                I[p, j] = I[p, j] + I[i, j]
            put(W, p, plus(six(W, p), six(W, i)))
    for i in range(1, n):
        put(a, i, six(a, model.parent[i]))
        bodies.accelerate(model, work, i)
    for c in range(model.v_at[0], model.v_end[0]):  # first-order states
        work.d_inverse[c] = 1.0
        work.acceleration[c] = work.tau[c]
