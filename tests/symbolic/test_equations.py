"""Equations a person can read: by hand, on loops, drives and random trees."""

import numpy as np
import pytest
import sympy

import madi
from madi.papers import six_by_six
from madi.verify import andrews
from tests.mechanisms import random_state, random_tree, sprung_double_pendulum


def test_equations_of_the_double_pendulum_by_hand():
    e = sprung_double_pendulum().build().equations(["a.mass", "b.mass", "gravity.z", "s.stiffness"])
    ma, mb, g, k = (sympy.Symbol(name, real=True) for name in ("m_{a}", "m_{b}", "g_z", "k_{s}"))
    A, B = sympy.Symbol("q_{A}", real=True), sympy.Symbol("q_{B}", real=True)
    vA, vB = sympy.Symbol(r"\dot q_{A}", real=True), sympy.Symbol(r"\dot q_{B}", real=True)
    c, s = sympy.cos(B), sympy.sin(B)
    I = sympy.Rational(1, 10)
    M = sympy.Matrix([[ma + mb * (2 + 2 * c) + 2 * I, mb * (1 + c) + I], [mb * (1 + c) + I, mb + I]])
    P = sympy.Matrix([
        mb * s * (2 * vA * vB + vB**2) + g * ((ma + mb) * sympy.sin(A) + mb * sympy.sin(A + B)),
        -mb * s * vA**2 + g * mb * sympy.sin(A + B) - k * B - sympy.Rational(3, 10) * vB,
    ])  # fmt: skip
    for found, expected in ((e.mass_matrix, M), (e.right_side, P)):
        assert sympy.simplify(sympy.nsimplify(found - expected)) == sympy.zeros(*expected.shape)
    assert e.christoffel_symbols().keys() == {(0, 0, 1), (0, 1, 1), (1, 0, 0)}
    assert sympy.simplify(e.christoffel_symbols()[1, 0, 0] - mb * s) == 0
    assert e.pattern.tolist() == [["x", "x"], ["x", "c"]]
    assert e.operations["all"]["after"] <= e.operations["all"]["before"] <= e.operations["all"]["written_out"]
    assert r"\cos" in e.latex()
    assert "M(q)" in e.text()
    assert "<math" in e.page()


def test_equations_hold_with_loops_drives_and_random_trees():
    """M a + Phi_q^T lam = P for the accelerations of the engine; Christoffel's terms are P's part quadratic in v."""
    import casadi as ca

    rng = np.random.default_rng(5)
    for m in (
        andrews.model(),
        random_tree(rng, 4, kinds=("revolute", "prismatic", "universal", "cylindrical"), forces=True),
    ):
        s = m.build()
        q, v, _ = random_state(rng, s, 0.5)
        if s.n_constraints:
            q, v = s.start.q, 0 * v
        e = s.equations()
        value = ca.Function("f", [*e.inputs], [ca.densify(e._M), e._P, ca.densify(e._phi_q)])
        M, P, J = (np.array(x) for x in value(0.0, q, v, np.zeros(s.nv)))
        out = s._evaluate("multipliers" if s.n_constraints else s.entry(), q, v, np.zeros(s.nv), 0.0, "plain")
        lack = M @ out[: s.nv] + J.T @ out[s.nv :] - P.reshape(-1)
        assert np.max(np.abs(lack)) < 1e-9 * max(1.0, np.max(np.abs(P)))
        at_rest, double = (np.array(value(0.0, q, x, np.zeros(s.nv))[1]).reshape(-1) for x in (0 * v, 2 * v))
        quadratic = 0.5 * (double - 2 * P.reshape(-1) + at_rest)  # P(2v) - 2 P(v) + P(0) = 2 x the quadratic part
        if not s.n_constraints and not any(f.kind == "spring_damper" for f in m.forces):
            np.testing.assert_allclose(-np.einsum("ijk,j,k->i", e.christoffel(q), v, v), quadratic, atol=1e-9)
    m = sprung_double_pendulum()
    m.drive("A", lambda t: 0.5 * madi.sin(3 * t))
    s = m.build()
    q, v = np.array([0.5 * np.sin(0.9), 0.4]), np.array([1.5 * np.cos(0.9), -0.2])
    a = s.forward_dynamics(q, v, t=0.3)
    e = s.equations()
    value = ca.Function("f", [*e.inputs], [ca.densify(e._M), e._P])
    M, P = (np.array(x) for x in value(0.3, q, v, np.zeros(2)))
    assert (M @ a - P.reshape(-1))[1] == pytest.approx(0, abs=1e-12)


def test_christoffel_needs_coordinates_and_long_equations_are_told():
    m = madi.Model("ball")
    m.body("b", 1.0, inertia=(1, 2, 3))
    m.spherical("S", m.ground, "b", at=(0, 0, 1))
    with pytest.raises(madi.InputError, match="no rates of coordinates"):
        m.build().equations().christoffel([1, 0, 0, 0])
    e = six_by_six.vehicle(tires=False).build().equations()
    assert not e.readable
    with pytest.raises(madi.InputError, match="too many to read"):
        e.latex()
    assert "export c" in e.text()
    assert np.sum(e.pattern == "0") > 200
