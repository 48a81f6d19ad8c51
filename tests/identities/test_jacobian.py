"""The residual R = M a + Phi_q^T lam - P and its derivatives: identities and central differences on random mechanisms."""

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import madi
from madi.integrate.memory import Loop
from madi.kernel import call
from madi.kernel.fields import Fields, Reals, function, given_reals
from tests.mechanisms import close_loops, moved, random_state, random_tree

SEEDS = st.integers(0, 10**6)


def on_a_road(m, rng):
    """A tire and a wheel on two of the bodies, pressed into a wavy road."""
    road = madi.flat(level=-1.0).sine(0.3, 2.5, start=-5.0, end=20.0).polyline([(-3, 0), (1, 0.4), (4, 0.1)]).two_sided(0.3)
    m.tire("tire", "b0", rng.normal(size=3), (0.1, 1, 0.2), radius=4.0, stiffness=60.0, damping=3.0, slip_stiffness=40.0,
           cornering_stiffness=25.0, rolling_resistance=0.03, road=road)  # fmt: skip
    m.wheel("wheel", m.bodies[-1], rng.normal(size=3), radius=4.0, stiffness=30.0, damping=2.0, road=road)


def model(seed, loops, forces=True, n=4):
    rng = np.random.default_rng(seed)
    m = random_tree(rng, n, moving=seed % 2 == 0, reverse=0.3, forces=forces)
    on_a_road(m, rng)
    if loops:
        close_loops(m, rng, m.build().nv)
    return m, rng


def built(m, frame="base"):
    """The system; drawings in which two joints leave no freedom between two bodies are not tried."""
    try:
        return m.build(frame=frame)
    except madi.ModelError:
        assume(False)


@settings(max_examples=10, deadline=None)
@given(SEEDS, st.booleans(), st.sampled_from(["base", "ground"]))
def test_the_jacobian_is_that_of_central_differences(seed, loops, frame):
    """To 1e-6, with loops, tires and springs: dR by qdd, qd and q, and Phi_q."""
    m, rng = model(seed, loops)
    s = built(m, frame)
    q, v, a = random_state(rng, s, speed=0.5)
    lam = rng.normal(size=s.n_constraints)
    found = s.system_jacobian(q, v, a, lam)
    assert found.exact
    h = 1e-6

    def R(q, v, a):
        return s.residual(q, v, a, lam, engine="plain")

    scale = max(np.max(np.abs(found.by_q)), np.max(np.abs(found.by_qd)), 1.0)
    for c in range(s.nv):
        e = h * np.eye(s.nv)[c]
        np.testing.assert_allclose(found.by_qdd[:, c], (R(q, v, a + e) - R(q, v, a - e)) / (2 * h), atol=1e-6 * scale)
        np.testing.assert_allclose(found.by_qd[:, c], (R(q, v + e, a) - R(q, v - e, a)) / (2 * h), atol=1e-6 * scale)
        by_q = (R(moved(s, q, e), v, a) - R(moved(s, q, -e), v, a)) / (2 * h)
        np.testing.assert_allclose(found.by_q[:, c], by_q, atol=3e-6 * scale)
    np.testing.assert_allclose(found.by_qdd, s.mass_matrix(q, engine="plain"), atol=1e-9 * scale)
    active = s.layout.arrays.row_place >= 0
    J = s.constraint_jacobian(q, engine="plain")
    np.testing.assert_allclose(found.constraints[active], J[active], atol=1e-9 * max(1.0, np.max(np.abs(J), initial=0)))


@settings(max_examples=15, deadline=None)
@given(SEEDS)
def test_the_residual_vanishes_where_the_motion_is_right(seed):
    """R(q, v, forward dynamics, multipliers) = 0 on closed mechanisms."""
    m, rng = model(seed, True)
    s = built(m)
    try:
        q, v = s.assemble(v0=0.3 * rng.normal(size=s.nv)).q, np.zeros(s.nv)
    except madi.AssemblyError:
        return
    out = s._evaluate("multipliers", q, v, np.zeros(s.nv), 0.0, "plain")
    R = s.residual(q, v, out[: s.nv], out[s.nv :], engine="plain")
    P = s.residual(q, v, np.zeros(s.nv), engine="plain")
    assert np.max(np.abs(R)) < 1e-6 * max(1.0, np.max(np.abs(P)))


def test_engines_agree_on_the_residual_and_its_blocks():
    m, rng = model(3, True)
    s = m.build()
    q, v, a = random_state(rng, s)
    lam = rng.normal(size=s.n_constraints)
    x = np.concatenate([0.2 * rng.normal(size=s.nv), a, lam])
    blocks, trace = s.traced_blocks
    answers, values = [], []
    for name in ("plain", "jit", "compiled"):
        engine = s.engine(name)
        answers.append(engine.evaluate("residual", 0.3, q, v, x, s.nv + 2 * s.n_constraints))
        out = np.zeros(sum(blocks.sizes))
        engine.loop(ONCE)(Once({}, function=engine.program("jacobian", trace), q=q, v=v, x=x, out=out))
        values.append(out)
    for other in (1, 2):
        np.testing.assert_allclose(answers[other], answers[0], rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(values[other], values[0], rtol=1e-9, atol=1e-9)


class Once(Fields):
    """A system function and its arguments."""

    function: Any = function()
    q: Reals = given_reals()
    v: Reals = given_reals()
    x: Reals = given_reals()
    out: Reals = given_reals()


def once(m):
    return call(m.function, 0.3, m.q, m.v, m.x, m.out)


ONCE = Loop("test-once", once, Once)


def test_functions_that_stay_in_python_are_differenced_and_said_so():
    def pull(t, q, v):
        return float(np.tanh(np.asarray(q, dtype=float)[0])) if not hasattr(q[0], "sx") else untraceable(q)

    def untraceable(q):
        raise madi.TraceError("numbers only")

    m = madi.Model("user")
    m.body("a", 1.0, inertia=(0.1, 0.2, 0.3), position=(0.5, 0, 0))
    m.revolute("A", m.ground, "a", at=(0, 0, 0), axis=(0, 1, 0), q0=0.4)
    m.joint_torque("t", "A", pull)
    s = m.build()
    found = s.system_jacobian([0.4], [0.1], [0.2])
    assert not found.exact
    # P = m g l cos q + tanh q, so dR/dq = m g l sin q - 1 + tanh^2 q
    assert found.by_q[0, 0] == pytest.approx(9.81 * 0.5 * np.sin(0.4) - 1 + np.tanh(0.4) ** 2, abs=1e-7)
    run = madi.simulate(m, 0.5, step=0.01, method="newmark", engine="jit")
    other = madi.simulate(m, 0.5, method="dopri", rtol=1e-10, times=[0.5])
    assert run.statistics["jacobian"] == "split"
    assert run["A"][-1] == pytest.approx(other["A"][-1], abs=1e-3)
    made = madi.simulate(m, 0.5, step=0.01, method="newmark", engine="compiled")
    assert made["A"][-1] == pytest.approx(run["A"][-1], abs=1e-9)


def test_one_library_serves_all_trial_states(tmp_path, monkeypatch):
    """What an entry is given is data, not part of its code: no second compilation for other accelerations."""
    from madi.engines import compiled

    made = []
    monkeypatch.setattr(
        compiled, "compile_c", lambda source, path, real=compiled.compile_c: made.append(1) or real(source, path)
    )
    m, rng = model(11, True)
    m.name = "served"
    m.bodies[0].mass = 1.2345 + rng.random() * 1e-9 + np.random.default_rng().random() * 1e-9  # never compiled before
    s = m.build()
    q, v, a = random_state(rng, s)
    for k in range(3):
        lam = rng.normal(size=s.n_constraints)
        found = s.residual(q, v, a + k, lam, engine="compiled")
        np.testing.assert_allclose(found, s.residual(q, v, a + k, lam, engine="plain"), rtol=1e-9, atol=1e-9)
    assert len(made) == 1
