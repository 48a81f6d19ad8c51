"""Newton's matrix of a tree eliminated without its entries: against the same matrix made of its entries, solved by NumPy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import madi
from madi.flexible import rectangle
from madi.forces.contact_law import SLIDES, STICKS
from madi.forces.modes import MEMORY
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


@pytest.mark.parametrize("engine", ["plain", "jit"])
def test_what_elements_remember_is_theirs_too(engine):
    """Balls on the ground: whether they stick, and how far their bristles are bent, is among the held values."""
    m = sprung_chain(5)
    m.shape("floor", m.ground, "plane", at=(0, 0, -1.0))
    for k in (2, 4):
        m.shape(f"skin{k}", f"b{k}", "sphere", radius=1.05 - 0.2 * k, at=(0.1, 0, 0))
        m.contact(f"touch{k}", f"skin{k}", "floor", stiffness=300.0, damping=0.3, mu=0.4)
    s = m.build()
    rng = np.random.default_rng(3)
    _, v, a = random_state(rng, s)
    held, x = np.zeros(s.n_held), rng.normal(size=s.nv)
    model, matrices = s.layout.arrays, []
    for mode in (SLIDES, STICKS):  # each remembers when the step began, how fast it arrived, mode, bend and velocity
        held[np.asarray(model.held_kind) == MEMORY] = [0.19, 0.1, mode, 1e-3, 2e-3, 0.0, 0.01, 0.0, 0.0] * 2
        values, plan, full = both(s, s.q0, 1e-3 * v, np.concatenate([np.zeros(s.nv), a, held]), engine)
        for part, name in enumerate(("qdd", "qd", "q")):
            product = np.zeros(s.nv)
            block_times(model, plan, values, part, np.zeros(plan.n_factor), x, product, s.nv)
            np.testing.assert_allclose(product, full[name] @ x, rtol=0, atol=1e-11 * np.abs(full[name]).max())
        matrices.append(full["q"])
    assert np.abs(matrices[1] - matrices[0]).max() > 0.1


def sprung_chain(n):
    """A chain of hinges and balls under gravity; springs in joints, to the ground and between neighbours; a rotor."""
    m = madi.Model("sprung chain")
    before = m.ground
    for k in range(n):
        body = m.body(f"b{k}", 1.0, com=(0.01, 0.02, -0.1), inertia=(0.02, 0.03, 0.01), position=(0, 0, -0.2 * k))
        at = (0, 0, -0.2 * k)
        if k % 7 == 3:
            m.spherical(f"j{k}", before, body, at=at)
            m.spring_damper(f"n{k}", before, body, at=((0.1, 0, 0.1 - 0.2 * k), (0.1, 0, -0.1 - 0.2 * k)), stiffness=300.0,
                            damping=2.0)  # fmt: skip
        else:
            m.revolute(f"j{k}", before, body, at=at, axis=[(1, 0, 0), (0, 1, 0)][k % 2], v0=0.3, armature=0.01)
            m.joint_spring(f"s{k}", f"j{k}", stiffness=20.0, damping=0.2)
        if k % 5 == 2:
            m.spring_damper(f"g{k}", m.ground, body, at=((1, 0.2, -0.2 * k), at), stiffness=50.0, damping=1.0)
        before = body
    m.friction("rub", "j2", coulomb=0.05)
    m.drive("j1", lambda t: 0.1 * t * t)
    return m


@pytest.mark.parametrize(
    "method", [madi.Newmark(), madi.GeneralizedAlpha(jacobian="step"), madi.Newmark(jacobian="once", iterations=3), "radau"]
)
def test_trajectories_are_those_with_all_entries(method, monkeypatch):
    """Newmark's, generalized-alpha's and radau's, real time's too; with a drive, friction that sticks, balls, rotors."""
    import madi.system.system as system

    runs = []
    for without in (True, False):
        monkeypatch.setattr(system, "deep", lambda *_, answer=without: answer)
        s = sprung_chain(12).build()
        chosen = s.newton_blocks(False)[1].entry
        assert chosen == ("articulated-slopes" if without else "slopes")
        runs.append(madi.simulate(s, 0.05, step=2e-3, method=method, engine="jit").data["q"].values)
    assert np.abs(runs[0][-1] - runs[0][0]).max() > 1e-3
    np.testing.assert_allclose(runs[0], runs[1], rtol=0, atol=1e-10)


def test_plain_and_machine_code_agree():
    s = sprung_chain(6).build()
    rng = np.random.default_rng(4)
    q, v, a = random_state(rng, s)
    x = np.concatenate([0.1 * rng.normal(size=s.nv), a, np.zeros(s.n_held)])
    slopes = articulated_slopes_of(s.layout)
    found = [
        s.engine(engine).with_slopes(slopes).evaluate(slopes.entry, 0.2, q, v, x, slopes.blocks.count)
        for engine in ("plain", "jit")
    ]
    np.testing.assert_allclose(found[1], found[0], rtol=1e-9, atol=1e-9)


def test_deep_trees_alone_go_without_entries():
    """And those whose elements couple no joints; loops, springs across joints and flexible bodies keep the entries."""
    from madi.bench.models import binary_tree, chain

    assert chain(40).build().newton_blocks(False)[1].entry == "articulated-slopes"
    assert chain(30).build().newton_blocks(True)[1].entry == "slopes"
    assert chain(5).build().newton_blocks(False)[1].entry == "slopes"
    assert binary_tree(127).build().newton_blocks(False)[1].entry == "slopes"
    m = chain(40)
    m.spring_damper("across", m.bodies[3], m.bodies[30], at=((0, 0, 3), (0, 0, 30)), stiffness=5.0)
    assert m.build().newton_blocks(False)[1].entry == "slopes"
    m = chain(40)
    beam = m.beam("beam", (0, 0, 40), (1, 0, 40), rectangle(0.02, 0.03), E=7e10, rho=2700.0, modes={"y": 1})
    m.fixed("root", m.bodies[39], beam, at=(0, 0, 40))
    s = m.build()
    assert s.articulated_slopes is None
    assert s.newton_blocks(False)[1].entry == "slopes"


def test_steps_cost_in_proportion_to_the_links():
    """Numbers of the factor, and of the values, by links: no entry is made."""
    from madi.bench.models import chain

    plans = [make_plan(s.newton_blocks(False)[0], s.layout.arrays) for s in (chain(n).build() for n in (50, 100, 200))]
    for name in ("n_factor", "n_entries"):
        sizes = np.array([getattr(plan, name) for plan in plans])
        assert sizes[2] - sizes[1] == 2 * (sizes[1] - sizes[0])


def test_newton_goes_on_where_one_matrix_a_step_leads_nowhere():
    """A chain of 160 links that whips, the step long: no step is halved, and few iterations more than Newton's own."""
    from madi.bench.models import chain
    from madi.bench.trees import state

    s = chain(160).build()
    told = {}
    for policy in ("step", "iteration"):
        run = madi.simulate(s, 0.03, step=3e-3, method=madi.Newmark(jacobian=policy), start=state(s), engine="jit")
        told[policy] = run.statistics
        assert run.statistics["rejected"] == 0
    assert told["step"]["newton_iterations"] <= 1.5 * told["iteration"]["newton_iterations"]
