"""Newton's matrix of a tree eliminated without its entries: against the same matrix made of its entries, solved by NumPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import madi
from madi.integrate.newton_matrix import (
    assemble,
    assemble_complex,
    block_times,
    factorise,
    factorise_complex,
    make_plan,
    solve,
    solve_complex,
)
from madi.symbolic.elements import articulated_slopes_of, slopes_of
from tests.mechanisms import random_state, random_tree

SEEDS = st.integers(0, 10**6)


def both(s, q, v, x, engine="plain"):
    """(values, plan) of the O(n) form; and the full matrices by qdd, qd, q."""
    found = []
    for slopes in (articulated_slopes_of(s.layout), slopes_of(s.layout)):
        machine = s.engine(engine).with_slopes(slopes)
        size = slopes.blocks.count if slopes.entry == "articulated-slopes" else sum(slopes.blocks.sizes)
        found.append((slopes.blocks, machine.evaluate(slopes.entry, 0.2, q, v, x, size)))
    (tree, values), (blocks, entries) = found
    return values, make_plan(tree, s.layout.arrays), blocks.matrices(entries, s.nv, 0)


def tied(rng, forces):
    """A random tree; joint springs, springs and forces from the ground, bushings between neighbours."""
    m = random_tree(rng, rng.integers(1, 9), moving=bool(rng.integers(2)), reverse=0.4, chain=0.7)
    if not forces:
        return m
    for k, joint in enumerate(m.joints):
        near, far = joint.parent, joint.child
        if rng.random() < 0.5 and near is not far:
            m.spring_damper(f"near{k}", near, far, at=(rng.normal(size=3), rng.normal(size=3)), stiffness=20.0, damping=2.0)
        if rng.random() < 0.5 and joint.kind in ("revolute", "prismatic", "screw"):
            m.joint_spring(f"spring{k}", joint.name, stiffness=30.0, damping=3.0)
        if rng.random() < 0.5:
            m.spring_damper(f"tie{k}", m.ground, m.bodies[k], at=(rng.normal(size=3), rng.normal(size=3)), stiffness=40.0,
                            damping=4.0)  # fmt: skip
        if rng.random() < 0.3:
            m.force(f"force{k}", m.bodies[k], rng.normal(size=3), at=rng.normal(size=3))
    return m


@settings(max_examples=60)
@given(SEEDS, st.booleans(), st.sampled_from(["base", "ground"]), st.sampled_from([0.0, 0.4]))
def test_it_solves_with_the_matrix_of_all_entries(seed, forces, frame, away):
    """All joints, drawn both ways, both frames, off the chart's origin; any sum of the three blocks."""
    rng = np.random.default_rng(seed)
    m = tied(rng, forces)
    try:
        s = m.build(frame=frame)
    except madi.ModelError:
        return
    q, v, a = random_state(rng, s)
    values, plan, full = both(s, q, v, np.concatenate([away * rng.normal(size=s.nv), a]))
    model = s.layout.arrays
    F, product, x = np.zeros(plan.n_factor), np.zeros(s.nv), rng.normal(size=s.nv)
    for part, name in enumerate(("qdd", "qd", "q")):
        block_times(model, plan, values, part, F, x, product, s.nv)
        np.testing.assert_allclose(product, full[name] @ x, rtol=0, atol=1e-11 * max(1.0, np.abs(full[name]).max()))
    mu, G, right = 3.0 + 2.0j, np.zeros(2 * plan.n_factor), rng.normal(size=2 * s.nv)
    J = mu * full["qdd"] + full["qd"] + full["q"] / mu
    assemble_complex(model, plan, values, mu.real, mu.imag, G)
    factorise_complex(model, plan, G)
    x = right.copy()
    solve_complex(model, plan, G, x)
    left = J @ (x[: s.nv] + 1j * x[s.nv :]) - (right[: s.nv] + 1j * right[s.nv :])
    assert np.linalg.norm(left) < 1e-11 * max(1.0, np.linalg.cond(J)) * np.linalg.norm(right)
    for c in ([1.0, 0.0, 0.0], [1.0, 0.05, 0.002], [0.7, -0.02, 0.001]):
        F, right = np.zeros(plan.n_factor), rng.normal(size=s.nv)
        J = c[0] * full["qdd"] + c[1] * full["qd"] + c[2] * full["q"]
        expected = np.linalg.solve(J, right)
        assemble(model, plan, values, *c, F, 1)
        factorise(model, plan, F)
        for _ in range(2):  # the factor is kept
            x = right.copy()
            solve(model, plan, F, x)
            error = np.linalg.norm(J @ (x - expected)) / np.linalg.norm(right)
            assert error < 1e-11 * max(1.0, np.linalg.cond(J) * 1e-3), error
