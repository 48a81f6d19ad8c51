"""Derivatives by recursion of mechanisms with flexible bodies: against the differentiated trace of the whole, and where that
would be too large against differences of the residual."""

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import madi
from madi import bodies
from madi.bodies import rigid_slopes
from madi.flexible import rectangle
from madi.joints.chart import exponential
from madi.joints.modal import second_series
from madi.papers import ralf
from madi.verify import slider_crank
from tests.bodies.test_identities import random_tree
from tests.dynamics.test_slopes import blocks_of

SOFT = {"E": 1e4, "rho": 2700.0, "strict": False}  # so that inertia is not lost beside stiffness
ALONG = np.array([2.0, 0.3, 0.0])


def trial(s, seed, bent):
    """A state, accelerations and multipliers; all coordinates displaced by `bent` in the chart."""
    rng = np.random.default_rng(seed)
    x = np.concatenate([bent * rng.normal(size=s.nv), rng.normal(size=s.nv), rng.normal(size=s.n_constraints)])
    return s.q0.copy(), rng.normal(size=s.nv), x


def check(m, seed=0, bent=0.05, engine="plain", told=1e-12):
    """Every block, to rounding of its largest entry."""
    s = m.build()
    assert s.slopes is not None
    for name, found, expected in blocks_of(s, *trial(s, seed, bent), engine):
        scale = max(1.0, np.max(np.abs(expected), initial=0.0))
        np.testing.assert_allclose(found, expected, atol=told * scale, err_msg=name)


def arm(modes, at=0.0, joint="revolute", stiffening=True, second=False):
    """A beam that hangs on a moving hub by its start or somewhere between, with bodies and forces at its points."""
    m = madi.Model("arm", gravity=(1, 2, -9.81))
    hub = m.body("hub", 1.0, com=(0.1, 0.2, 0.3), inertia=(0.1, 0.2, 0.25))
    m.revolute("h", m.ground, hub, at=(0, 0, 0), axis=(0.3, 1, 0.2))
    section = rectangle(0.03, 0.05)
    link = m.beam("link", (0, 0, 0), ALONG, section, modes=modes, stiffening=stiffening, rotary=True, **SOFT)
    if joint == "revolute":
        m.revolute("root", hub, link, at=at * ALONG, axis=(0, 0.2, 1))
    else:
        getattr(m, joint)("root", hub, link, at=at * ALONG)
    tip = m.body("tip", 0.7, com=(2.1, 0.4, 0.1), inertia=(0.01, 0.02, 0.015))
    m.revolute("end", link, tip, at=ALONG, axis=(0.1, 0.2, 1))
    middle = m.body("middle", 0.3, com=(1.1, 0.4, 0.1), inertia=(0.01, 0.02, 0.015))
    m.universal("between", link, middle, at=0.6 * ALONG, axes=((1, 0, 0), (0, 1, 0)))
    m.spring_damper("s1", tip, middle, at=((2, 0.5, 0.1), (1.1, 0.3, 0.3)), stiffness=30.0, damping=3.0)
    m.spring_damper("s2", m.ground, link, at=((1, 0, 1), 0.8 * ALONG), stiffness=30.0, damping=3.0)
    if second:
        end = ALONG + np.array([0, 1.0, 0.2])
        other = m.beam("other", ALONG, end, section, modes={"y": 2, "z": 1}, stiffening=stiffening, **SOFT)
        m.revolute("elbow", link, other, at=ALONG, axis=(0, 0, 1))
        load = m.body("load", 0.3, com=end, inertia=(0.01, 0.02, 0.015))
        m.spherical("holds", other, load, at=end)
    return m


@pytest.mark.parametrize("modes", [{"z": 2}, {"y": 2, "z": 1, "twist": 1, "axial": 1}], ids=str)
@pytest.mark.parametrize(("joint", "at"), [("fixed", 0.0), ("revolute", 0.4), ("spherical", 0.4)])
@pytest.mark.parametrize("stiffening", [True, False])
def test_an_arm_against_the_differentiated_trace(modes, joint, at, stiffening):
    """Hung by its start and in between, two beams one on the other, points and forces along them, bent by a tenth."""
    check(arm(modes, at, joint, stiffening, second=True), seed=1)


@settings(max_examples=10)
@given(st.integers(0, 10**6))
def test_random_trees_against_the_differentiated_trace(seed):
    """Shapes of all kinds, some of which move and turn the point their frame hangs on."""
    check(random_tree(seed), seed, bent=0.01)


def tied(how):
    """The arm with a loop: to the ground, from one of its points to another, or over a coupler to another beam."""
    m = arm({"y": 2, "z": 1, "twist": 1}, at=0.3)
    link = m.bodies[1]
    if how == "ground":
        m.point_on_line("guide", m.ground, link, at=ALONG, axis=(1, 0, 0.2))
    elif how == "itself":
        strut = m.body("strut", 0.3, com=0.5 * ALONG, inertia=(0.02, 0.02, 0.02))
        m.spherical("near", link, strut, at=0.2 * ALONG)
        m.spherical("far", strut, link, at=0.9 * ALONG, cut=True)
    else:
        start, end = np.array([0.1, 1.0, 0.0]), ALONG + np.array([0, 1.0, 0.2])
        other = m.beam("other", start, end, rectangle(0.03, 0.05), modes={"y": 2, "z": 1}, **SOFT)
        m.universal("foot", m.ground, other, at=start, axes=((0, 0, 1), (0, 1, 0)))
        coupler = m.body("coupler", 0.3, com=0.8 * ALONG, inertia=(0.02, 0.02, 0.02))
        m.spherical("one", link, coupler, at=0.8 * ALONG)
        m.revolute("two", coupler, other, at=end, axis=(1, 2, 3), cut=True)
    return m


@pytest.mark.parametrize("how", ["ground", "itself", "another"])
def test_loops_through_points(how):
    """A mode that moves both ends of a pair, each in its own way, is in its rows twice."""
    m = tied(how)
    assert m.build().n_constraints > 0
    check(m, seed=2, bent=0.03)


@pytest.mark.parametrize("actuators", ["free", "locked", "driven"])
def test_ralf(actuators):
    check(ralf.model(actuators=actuators), bent=0.01)


def test_a_flexible_slider_crank():
    check(slider_crank.model(), bent=1e-3)


@pytest.mark.parametrize("numbers", [3, 6])
def test_nodes(numbers):
    """A body from finite elements: three parts a mode, with and without nodes that turn."""
    rng = np.random.default_rng(numbers)
    nodes, modes = rng.normal(size=(6, 3)), 0.3 * rng.normal(size=(4, 6, numbers))
    m = madi.Model("nodes", gravity=(1, 2, 3))
    part = m.flexible_body("part", nodes, np.ones(6), modes, [1.0, 2.0, 3.0, 4.0])
    m.spherical("foot", m.ground, part, at=nodes[0])
    load = m.body("load", 1.0, com=nodes[3], inertia=(0.1, 0.1, 0.1))
    (m.fixed if numbers == 6 else m.spherical)("grip", part, load, at=nodes[3])
    m.spring_damper("spring", m.ground, part, at=((0, 0, 0), nodes[2]), stiffness=10.0, damping=1.0)
    check(m, bent=0.1)


def test_machine_code_gives_the_same():
    check(tied("another"), seed=4, bent=0.03, engine="jit", told=1e-11)


def along(s, q, v, x, towards, h):
    """(R, Phi') at h towards a direction (theta, v, qdd, lam)."""
    nv = s.nv
    by = x + h * np.concatenate([towards[:nv], towards[2 * nv :]])
    found = s.engine("jit").evaluate("residual", 0.0, q, v + h * towards[nv : 2 * nv], by, nv + 2 * s.n_constraints)
    return np.concatenate([found[:nv], found[nv + s.n_constraints :]])


def many_modes(closed):
    """Three links of 16 modes each, in one plane or in both; the last one held on a line or not."""
    m, before = madi.Model("many", gravity=(0, -9.81, 0)), None
    for k, modes in enumerate([{"y": 16}, {"y": 8, "z": 8}, {"y": 12, "twist": 2, "axial": 2}]):
        at = (float(k), 0, 0)
        link = m.beam(f"l{k}", at, (k + 1.0, 0, 0), rectangle(0.03, 0.02), modes=modes, y_axis=(0, 1, 0), **SOFT)
        m.revolute(f"j{k}", before or m.ground, link, at=at, axis=(0, 0.1, 1))
        before = link
    if closed:
        m.point_on_line("line", m.ground, before, at=(2.5, 0, 0), axis=(1, 0, 0))
    return m


@pytest.mark.parametrize("closed", [False, True])
def test_many_modes_against_differences(closed):
    """Where no trace of the whole was possible: along random directions, by differences of sixth order."""
    s = many_modes(closed).build()
    assert s.traced_blocks is None
    q, v, x = trial(s, 3, 0.003)
    found = s.slopes.blocks.matrices(
        s.engine("jit").with_slopes(s.slopes).evaluate("slopes", 0.0, q, v, x, sum(s.slopes.blocks.sizes)),
        s.nv,
        s.n_constraints,
    )
    upper = np.hstack([found["q"], found["qd"], found["qdd"], found["lam"]])
    lower = np.hstack([found["rate"], found["phi"], np.zeros((s.n_constraints, s.nv + s.n_constraints))])
    rng, size = np.random.default_rng(0), len(x) + s.nv
    for _ in range(5):
        towards = rng.normal(size=size) * np.where(np.arange(size) < s.nv, 0.01, 1.0)
        pairs = [along(s, q, v, x, towards, k * 0.02) - along(s, q, v, x, towards, -k * 0.02) for k in (1, 2, 3)]
        expected = (45 * pairs[0] - 9 * pairs[1] + pairs[2]) / (60 * 0.02)
        np.testing.assert_allclose(
            np.concatenate([upper @ towards, lower @ towards]), expected, atol=1e-9 * np.max(np.abs(expected))
        )


def test_derivatives_of_many_modes_are_exact_and_used():
    """Accelerations by q, v, tau; equilibrium; and an implicit run."""
    m = many_modes(closed=True)
    s = m.build()
    assert s.has_exact_slopes
    q, v = s.start.q, s.start.v
    by_q, _, by_tau = s.derivatives(q, v)
    towards, h, moved = np.random.default_rng(1).normal(size=s.nv), 1e-6, np.empty(s.nq)
    ahead = []
    for sign in (1, -1):
        exponential(s.layout.arrays, q, sign * h * towards, moved)
        ahead.append(s.forward_dynamics(moved, v))
    expected = (ahead[0] - ahead[1]) / (2 * h)
    np.testing.assert_allclose(by_q @ towards, expected, atol=1e-5 * np.max(np.abs(expected)))
    np.testing.assert_allclose(by_tau, by_tau.T, atol=1e-9 * np.max(np.abs(by_tau)))
    run = madi.simulate(m, 0.01, step=1e-3, method="newmark", engine="jit")
    assert run.statistics["jacobian"] == "exact"


def test_kinds_without_derivatives_keep_the_trace(monkeypatch):
    """A new kind of body need not have any: none are taken for a rigid body's."""
    s = ralf.model().build()
    monkeypatch.setattr(bodies, "SLOPES", (rigid_slopes,))
    assert s.slopes is None
    assert s.residual_blocks is s.traced_blocks


def test_second_derivatives_of_the_series():
    """b = (1 - cos t) / t^2, c = (t - sin t) / t^3, by s = t^2: at 0 from their series."""
    assert second_series(0.0) == pytest.approx((2 / 720, 2 / 5040), rel=1e-15)
    with mpmath.workdps(40):
        for s in (0.1, 0.5, 1.0):
            b = mpmath.diff(lambda y: (1 - mpmath.cos(mpmath.sqrt(y))) / y, s, 2)
            c = mpmath.diff(lambda y: (mpmath.sqrt(y) - mpmath.sin(mpmath.sqrt(y))) / mpmath.sqrt(y) ** 3, s, 2)
            assert second_series(s) == pytest.approx((float(b), float(c)), rel=1e-13)
