"""Symbolic Lagrange equations: rigid arms against madi's recursion, bending links against closed forms."""

import subprocess

import numpy as np
import pytest
import sympy as sp

import madi
from madi import flexible
from madi.symbolic.lagrange import Lagrange, Link, Lump

x = sp.Symbol("x")


def rigid_arm(lengths=(1.2, 0.8), density=2.0):
    """Slender rods on pins in the plane x, z (angles from the downward vertical, relative)."""
    q = sp.symbols("q1:3")
    a, b = q[0], q[0] + q[1]
    first = sp.Matrix([-x * sp.sin(a), -x * sp.cos(a)])
    elbow = first.subs(x, lengths[0])
    second = elbow + sp.Matrix([-x * sp.sin(b), -x * sp.cos(b)])
    return Lagrange(q, [Link(first, x, lengths[0], density), Link(second, x, lengths[1], density)], (0.0, -9.81))


def test_rigid_arm_against_the_recursion():
    m = madi.Model("arm")
    at = np.zeros(3)
    before = m.ground
    for k, L in enumerate((1.2, 0.8)):
        mass = 2.0 * L
        m.body(
            f"b{k}", mass, inertia=(mass * L**2 / 12, mass * L**2 / 12, 1e-12), position=at - (0, 0, L / 2), unphysical=True
        )
        m.revolute(f"q{k}", before, f"b{k}", at=at, axis=(0, 1, 0))
        at, before = at - (0, 0, L), f"b{k}"
    s, arm = m.build(), rigid_arm()
    rng = np.random.default_rng(2)
    for _ in range(5):
        q, v, tau = rng.normal(size=2), rng.normal(size=2), rng.normal(size=2)
        np.testing.assert_allclose(arm.accelerations(q, v, tau), s.forward_dynamics(q, v, tau, engine="plain"), rtol=1e-9)
    assert arm.structure.symmetric[0] == arm.structure.symmetric[1]
    assert arm.structure.uncoupled == (3, 3)
    assert arm.structure.antisymmetric[0] == arm.structure.antisymmetric[1]
    assert arm.structure.operations[1] < arm.structure.operations[0]


def turning_beam(count=2):
    """One link that bends in the plane it turns in: r = x e1 + u e2."""
    q = sp.Symbol("theta")
    shapes = flexible.clamped_free(2.0, count)
    xi, psi = sp.symbols(f"xi1:{count + 1}"), sp.symbols(f"psi1:{count + 1}")
    u = sum(a * b for a, b in zip(xi, psi, strict=True))
    r = sp.Matrix([x * sp.cos(q) - u * sp.sin(q), x * sp.sin(q) + u * sp.cos(q)])
    link = Link(r, x, 2.0, 3.0, tuple(zip(xi, psi, shapes, strict=True)), bending=50.0)
    return Lagrange([q, *xi], [link]), shapes


def test_a_turning_beam_by_hand():
    """M = [[rho L^3/3 + sum m xi^2, ∫x psi], [., m]]; centrifugal term -m xi thetadot^2; K = m w^2."""
    beam, shapes = turning_beam()
    p, w = np.polynomial.legendre.leggauss(60)
    p, w = p + 1.0, w
    mass = [3.0 * (w @ shape(p) ** 2) for shape in shapes]
    first = [3.0 * (w @ (p * shape(p))) for shape in shapes]
    M = sp.lambdify(beam.coordinates, beam.M)(0.7, 0.1, -0.05)
    rigid = 3.0 * 2.0**3 / 3 + mass[0] * 0.1**2 + mass[1] * 0.05**2
    np.testing.assert_allclose(M, [[rigid, *first], [first[0], mass[0], 0], [first[1], 0, mass[1]]], atol=1e-9)
    omega = [np.sqrt(50.0 / 3.0) * (shape.root / 2.0) ** 2 for shape in shapes]
    np.testing.assert_allclose(
        np.array(beam.K, dtype=float), np.diag([0, mass[0] * omega[0] ** 2, mass[1] * omega[1] ** 2]), atol=1e-6
    )
    v = sp.symbols("v1:4")
    h = beam.coupling(v)
    found = sp.lambdify([*beam.coordinates, *v], h)(0.7, 0.1, -0.05, 2.0, 0.3, -0.4).reshape(-1)
    spin = 2 * 2.0 * (mass[0] * 0.1 * 0.3 + mass[1] * 0.05 * 0.4)
    np.testing.assert_allclose(found, [spin, -mass[0] * 0.1 * 4.0, mass[1] * 0.05 * 4.0], atol=1e-9)
    split = beam.split(beam.M)
    assert split["rigid"].shape == (1, 1)
    assert split["coupling"].shape == (1, 2)
    # energy: d/dt (T + U) = 0 along the accelerations
    q, qd = np.array([0.2, 0.05, 0.01]), np.array([1.0, -0.3, 0.2])
    qdd, step = beam.accelerations(q, qd), 1e-5

    def energy(q, qd):
        M = np.array(sp.lambdify(beam.coordinates, beam.M)(*q), dtype=float)
        return 0.5 * qd @ M @ qd + 0.5 * q @ np.array(beam.K, dtype=float) @ q

    ahead, behind = (energy(q + t * qd + t * t / 2 * qdd, qd + t * qdd) for t in (step, -step))
    assert abs(ahead - behind) / (2 * step) < 1e-6 * energy(q, qd)


def bending_arm():
    """Two links that bend, the second on the tip of the first; angles first, then the modes."""
    q1, q2, a, b = sp.symbols("q1 q2 xi1 xi2")
    psi, chi = sp.symbols("psi chi")
    L = 1.0
    first, second = (flexible.clamped_free(L, 1)[0] for _ in range(2))
    r = sp.Matrix([x * sp.cos(q1) - a * psi * sp.sin(q1), x * sp.sin(q1) + a * psi * sp.cos(q1)])
    tip = r.subs({x: L, psi: first(L)})
    angle = q1 + a * first(L, 1) + q2
    s = tip + sp.Matrix([x * sp.cos(angle) - b * chi * sp.sin(angle), x * sp.sin(angle) + b * chi * sp.cos(angle)])
    links = [Link(r, x, L, 1.0, ((a, psi, first),), 10.0), Link(s, x, L, 1.0, ((b, chi, second),), 10.0)]
    return Lagrange([q1, q2, a, b], links)


def test_what_does_not_hold_is_not_used():
    """On a bending arm P3's last property fails for some coefficients; those that hold shorten the coupling all the same."""
    arm = bending_arm()
    found = arm.structure
    assert found.symmetric == (64, 64)
    assert found.antisymmetric[0] < found.antisymmetric[1]
    assert found.operations[1] < 0.7 * found.operations[0]
    assert "antisymmetry" in str(found)
    q, v, h = np.array([0.3, 0.5, 0.02, -0.01]), np.array([1.0, -0.7, 0.2, 0.3]), 1e-6
    mass = sp.lambdify(arm.coordinates, arm.M)

    def momentum(q):  # d/dt (M v) - dT/dq, by differences, is the coupling
        return np.array(mass(*q), dtype=float) @ v

    rate = (momentum(q + h * v) - momentum(q - h * v)) / (2 * h)
    slope = [(0.5 * v @ momentum(q + h * e) - 0.5 * v @ momentum(q - h * e)) / (2 * h) for e in np.eye(4)]
    found = sp.lambdify([*arm.coordinates, *arm.speeds], arm.coupling(arm.speeds))(*q, *v).reshape(-1)
    np.testing.assert_allclose(found, rate - np.array(slope), rtol=1e-6, atol=1e-7)


def test_code_and_latex(tmp_path):
    arm = rigid_arm()
    space = {}
    exec(arm.code("numpy"), space)
    q, v = np.array([0.4, -0.3]), np.array([0.7, 1.1])
    M, h = space["equations"](q, v)
    np.testing.assert_allclose(np.linalg.solve(M, -h), arm.accelerations(q, v), rtol=1e-9)
    (tmp_path / "arm.c").write_text(arm.code("c"))
    subprocess.run(["gcc", "-std=c99", "-Wall", "-Werror", "-c", "arm.c", "-o", "arm.o"], cwd=tmp_path, check=True)
    assert r"\mathbf{M}" in arm.latex()
    with pytest.raises(madi.InputError, match="language"):
        arm.code("fortran")


def test_point_mass_and_wrong_symbols():
    q, z = sp.symbols("q z")
    bob = Lagrange([q], [Lump(sp.Matrix([sp.sin(q), -sp.cos(q)]), 2.0)], (0, -9.81))
    assert float(bob.M[0]) == pytest.approx(2.0)
    assert bob.accelerations([0.3], [0.0])[0] == pytest.approx(-9.81 * np.sin(0.3))
    with pytest.raises(madi.InputError, match="z"):
        Lagrange([q], [Lump(sp.Matrix([z, q]), 1.0)])
    shape = flexible.clamped_free(1.0, 1)[0]
    with pytest.raises(madi.InputError, match="z"):
        Lagrange([q], [Link(sp.Matrix([x * q, x]), x, 1.0, 1.0, ((z, sp.Symbol("psi"), shape),))])


@pytest.mark.parametrize("draw", [rigid_arm, lambda: turning_beam()[0], bending_arm])
def test_the_reduced_coefficients_are_the_full_ones(draw):
    """Each coefficient that is left out vanishes, each that is mirrored is the mirror; the coupling is the same vector."""
    arm = draw()
    n, reduced = len(arm.coordinates), arm.reduced
    for i in range(n):
        for j in range(n):
            for k in range(j, n):
                sign, base = reduced.uses.get((i, j, k), (1, (i, j, k)))
                found = sign * reduced.derived.get(base, sp.Integer(0))
                assert abs(sp.expand(found - arm.C[i][j, k]).subs({q: 0.3 for q in arm.coordinates})) < 1e-12
    assert len(reduced.derived) + len(reduced.uses) < n * n * (n + 1) / 2 or n == 1
    both = [sp.lambdify([*arm.coordinates, *arm.speeds], arm.coupling(arm.speeds, way))(*np.linspace(0.1, 0.9, 2 * n))
            for way in (True, False)]  # fmt: skip
    np.testing.assert_allclose(*both, rtol=1e-12, atol=1e-12)
    parts = arm.coupling_parts(arm.speeds)
    whole = sp.lambdify([*arm.coordinates, *arm.speeds], sum(parts.values(), sp.zeros(n, 1)))
    np.testing.assert_allclose(whole(*np.linspace(0.1, 0.9, 2 * n)), both[0], rtol=1e-12, atol=1e-12)
    assert arm.work(True) < arm.work(False)


def test_p3_s_split_has_its_speeds():
    beam, _ = turning_beam()
    parts, v = beam.coupling_parts(beam.speeds), beam.speeds
    assert parts["P"].free_symbols & set(v) == {v[0]}
    assert parts["Q"].free_symbols & set(v) == set(v)
    assert parts["R"] == sp.zeros(3, 1)  # M of one link depends on its modes in one place only, that of theta


def test_link_data_stay_symbols():
    """The rod: M = rho L^3 / 3 with both letters; a beam with an unknown shape has the letters of its moments."""
    q, xi, psi, rho, length, stiff = sp.symbols("q xi psi rho L EI")
    u = xi * psi
    at = sp.Matrix([x * sp.cos(q) - u * sp.sin(q), x * sp.sin(q) + u * sp.cos(q)])
    rod = Lagrange([q], [Link(at.subs(psi, 0), x, length, rho)])
    assert sp.simplify(rod.M[0] - rho * length**3 / 3) == 0
    known = Lagrange([q, xi], [Link(at, x, length, rho, ((xi, psi, x**2 / length**2),), stiff)])
    assert sp.simplify(known.M[1, 1] - rho * length / 5) == 0
    assert sp.simplify(known.K[1, 1] - 4 * stiff / length**3) == 0
    unknown = Lagrange([q, xi], [Link(at, x, length, rho, ((xi, psi, None),), stiff, "a")])
    assert unknown.M[0, 1] == sp.Symbol("I_a_11")
    assert unknown.K[1, 1] == sp.Symbol("K_a_11")
    with pytest.raises(madi.InputError, match="I_a_02, I_a_11, K_a_11, L, rho have no value"):
        unknown.accelerations([0.1, 0.2], [0.3, 0.4])
    values = {rho: 2.0, length: 3.0, stiff: 10.0}
    numbers = known.with_values(values)
    moments = {sp.Symbol("I_a_02"): 2.0 * 3.0 / 5, sp.Symbol("I_a_11"): 2.0 * 9.0 / 4, sp.Symbol("K_a_11"): 40.0 / 27}
    again = unknown.with_values({**values, **moments})
    state = [0.2, 0.1], [0.7, -0.3]
    np.testing.assert_allclose(numbers.accelerations(*state), again.accelerations(*state), rtol=1e-12)
    space = {}
    exec(known.code(), space)
    M, h = space["equations"](*map(np.array, state), [values[letter] for letter in known.letters])
    np.testing.assert_allclose(np.linalg.solve(M, -h), numbers.accelerations(*state), rtol=1e-12)


def test_p3_s_printed_coefficients_lack_the_slope_of_d():
    """Of eqs. 61-66, 12 of 126 entries are wrong, and all are right if dD/dq is dropped; the printed ones make power out of
    nothing (Mdot - 2 C is not skew), the derived ones do not."""
    from madi.papers import ralf_print

    assert list(ralf_print.agreement().values()) == [126, 114, 126]
    wrong = {row["entry"]: (row["printed"], row["derived"]) for row in ralf_print.differences()}
    assert wrong["C(2)35"] == ("-d61/2", "0")
    assert wrong["C(3)25"] == ("-d61/2", "-d61")
    assert wrong["C(5)23"] == ("d61/2", "0")
    assert len(wrong) == 12
    assert ralf_print.power("derived") == 0
    assert ralf_print.power("printed") != 0
    change = ralf_print.energies(0.2)
    assert change["derived"] < 1e-9
    assert change["printed"] > 1e-6


def test_code_with_letters_that_code_has_for_itself():
    """Coordinates and data called q, v, M, h, t1: the written function is right all the same; and pi is known."""
    q, h, M, v = sp.symbols("q h M v")
    made = Lagrange(
        [q, v], [Lump(sp.Matrix([h * sp.sin(q), -h * sp.cos(q) * sp.cos(sp.pi * v / 7)]), M)], (0, -9.81), data=[h]
    )
    space = {}
    exec(made.code(), space)
    state, values = ([0.3, 0.4], [0.5, -0.6]), {h: 1.3, M: 2.0}
    found = space["equations"](*state, [values[letter] for letter in made.letters])
    numbers = made.with_values(values)
    wanted = numbers._numbers(*state[0], *state[1])
    np.testing.assert_allclose(found[0], np.array(wanted[0], dtype=float), rtol=1e-12)
    np.testing.assert_allclose(found[1], np.array(wanted[1], dtype=float).reshape(-1), rtol=1e-12)
