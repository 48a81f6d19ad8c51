"""The formulas of docs/theory/flexible.md, evaluated here beside the code."""

from itertools import product

import numpy as np
import pytest
import sympy as sp
from scipy.linalg import eigh, expm

import madi
from madi.flexible import clamped_free, clamped_loaded, craig_bampton, polynomials, rectangle
from madi.symbolic.lagrange import Lagrange, Link
from tests.mechanisms import random_tree

ALUMINIUM = {"E": 7e10, "rho": 2700.0}
ALL = {"y": 2, "z": 2, "twist": 1, "axial": 1}


def gauss(length=1.0, n=120):
    x, w = np.polynomial.legendre.leggauss(n)
    return 0.5 * length * (x + 1), 0.5 * length * w


def skew(x):
    return np.array([[0, -x[2], x[1]], [x[2], 0, -x[0]], [-x[1], x[0], 0]])


def flying(rotary=True, modes=None, E=7e6, **more):
    """A beam whose frame is free, and its field. A soft one: elastic forces do not hide the others."""
    m = madi.Model("flying", gravity=(0, 0, 0))
    link = m.beam("link", (0, 0, 0), (2, 0, 0), rectangle(0.03, 0.05), E=E, rho=2700.0, modes=modes or ALL,
                  rotary=rotary, points={"tip": 2.0, "middle": 1.1}, **more)  # fmt: skip
    m.free("base", m.ground, link)
    return m.build(), link.flexible.field


def state(rng, s, size=0.1):
    q = s.q0.copy()
    turn = rng.normal(size=4)
    q[:3], q[3:7], q[7:] = rng.normal(size=3), turn / np.linalg.norm(turn), size * rng.normal(size=s.nq - 7)
    return q, rng.normal(size=s.nv), rng.normal(size=s.nv)


def field(f, xi):
    """rho and rho_c at the points."""
    rho = f.points + np.einsum("cni,c->ni", f.psi, xi) + 0.5 * np.einsum("cdni,c,d->ni", f.chi, xi, xi)
    return rho, f.psi + np.einsum("cdni,d->cni", f.chi, xi)


# ---- 1., 2. field and shapes ------------------------------------------------------------------------------------------


def test_foreshortening_is_that_of_an_inextensible_line():
    """The curve (x + X xi xi / 2, w) keeps its length to fourth order."""
    s, f = flying(modes={"y": 2})
    order = np.argsort(f.points[:, 0])
    errors = []
    for size in (0.2, 0.1):
        rho = field(f, size * np.array([1.0, -0.7]))[0][order]
        x = f.points[order, 0]
        speed = np.hypot(np.gradient(rho[:, 0], x, edge_order=2), np.gradient(rho[:, 1], x, edge_order=2))
        errors.append(abs(np.trapezoid(speed - 1, x)))
    assert np.log2(errors[0] / errors[1]) == pytest.approx(4, abs=0.3)
    assert s.nv == 8


def test_quadratic_amplitudes_by_few_functions():
    """X_cd = sum G_rcd phi_r, phi orthonormal over the mass."""
    f = flying(modes={"y": 3, "z": 3})[1]
    functions, G = f.shortening(f.chi)
    again = np.einsum("rcd,rni->cdni", G, functions)
    size = np.sqrt(np.einsum("n,cdni,cdni->", f.masses, f.chi, f.chi))
    assert np.sqrt(np.einsum("n,cdni,cdni->", f.masses, again - f.chi, again - f.chi)) < 2e-4 * size
    np.testing.assert_allclose(
        np.einsum("n,ani,bni->ab", f.masses, functions, functions), np.eye(len(functions)), atol=1e-10
    )
    assert len(functions) < 12  # of 12 different X_cd


def test_shapes_for_any_end():
    L = 1.7
    x, w = gauss(L)
    shapes, sigma = clamped_loaded(L, 5), x / L
    np.testing.assert_allclose(shapes[0](x), 0.5 * (3 * sigma**2 - sigma**3), atol=1e-14)
    np.testing.assert_allclose(shapes[1](x), 27 / 4 * sigma**2 * (1 - sigma), atol=1e-14)
    curves = np.array([shape(x, 2) for shape in shapes])
    K = (w * curves) @ curves.T
    size = np.sqrt(np.diag(K))
    np.testing.assert_allclose(K / np.outer(size, size), np.eye(5), atol=1e-9)
    for shape in shapes[2:]:
        np.testing.assert_allclose([shape(0.0), shape(0.0, 1), shape(L), shape(L, 1)], 0.0, atol=1e-9)


def test_numbers_said_of_the_shapes():
    x, w = gauss()
    true = np.array([shape.root**2 for shape in clamped_free(1.0, 20)])

    def frequencies(shapes):
        value, curve = (np.array([shape(x, k) for shape in shapes]) for k in (0, 2))
        return np.sqrt(eigh((w * curve) @ curve.T, (w * value) @ value.T, eigvals_only=True))

    ours, powers = frequencies(clamped_loaded(1.0, 20)), frequencies(polynomials(1.0, 20))
    assert [np.sum(np.abs(found / true - 1) < 0.01) for found in (ours, powers)] == [19, 12]
    assert ours[-1] / true[-1] == pytest.approx(2.6, abs=0.05)
    assert powers[-1] / true[-1] == pytest.approx(17.4, abs=0.5)
    terms = [s(1.0, 1) ** 2 / s.root**4 / np.sum(w * s(x) ** 2) for s in clamped_free(1.0, 20)]
    assert 1 - sum(terms[:10]) == pytest.approx(0.04, rel=0.03)
    assert 1 - sum(terms) == pytest.approx(0.02, rel=0.03)
    ends = [s(1.0, 1) ** 2 / np.sum(w * s(x, 2) ** 2) for s in clamped_loaded(1.0, 2)]
    assert sum(ends) == pytest.approx(1.0, rel=1e-12)


# ---- 3., 4. kinetic energy and equations of motion ---------------------------------------------------------------------


@pytest.mark.parametrize("rotary", [False, True])
def test_kinetic_energy_is_the_sum_over_points_and_slices(rotary):
    s, f = flying(rotary)
    rng = np.random.default_rng(1)
    for _ in range(3):
        q, v, _ = state(rng, s)
        rho, by = field(f, q[7:])
        speed = v[:3] + np.cross(v[3:6], rho) + np.einsum("cni,c->ni", by, v[6:])
        turn = v[3:6] + np.einsum("cni,c->ni", f.theta, v[6:])
        T = 0.5 * np.sum(f.masses[:, None] * speed**2) + 0.5 * np.einsum("ni,nij,nj->", turn, f.sections, turn)
        assert s.energy(q, v, engine="plain")["kinetic"] == pytest.approx(T, rel=1e-7)
    section, dx = rectangle(0.03, 0.05), np.sum(f.sections, axis=0)
    wanted = 2700.0 * 2.0 * np.diag([section.polar, rotary * section.iy, rotary * section.iz])
    np.testing.assert_allclose(dx, wanted, rtol=1e-12)


def equations(f, xi, xd, xdd, a, w, e):
    """(F, moment, tau) by the three printed equations, integrals from sums over the points."""
    dm = f.masses
    functions, G = f.shortening(f.chi)
    psi, k = np.concatenate([f.psi, functions]), len(xi)
    eta = np.concatenate([xi, 0.5 * np.einsum("rcd,c,d->r", G, xi, xi)])
    E = np.vstack([np.eye(k), np.einsum("rcd,d->rc", G, xi)])
    rate, y = E @ xd, np.einsum("rcd,c,d->r", G, xd, xd)
    rho = f.points + np.einsum("ani,a->ni", psi, eta)

    def inertia(x, z):  # int of x.z - (x z^T + z x^T) / 2
        both = np.einsum("n,ni,nj->ij", dm, x, z)
        return np.trace(both) * np.eye(3) - 0.5 * (both + both.T)

    S1, m = np.einsum("n,ani->ai", dm, psi), np.einsum("n,ani,bni->ab", dm, psi, psi)
    S, J = np.einsum("n,ni->i", dm, rho), inertia(rho, rho)
    slope = [2 * inertia(rho, part) for part in psi]  # dJ/deta_a
    N = np.einsum("n,ani->ai", dm, np.cross(rho, psi))
    N1 = np.einsum("n,bani->bai", dm, np.cross(psi[:, None], psi[None, :]))
    Sc, Nc = E.T @ S1, E.T @ N
    Sd, Jd = S1.T @ rate, sum(r * part for r, part in zip(rate, slope, strict=True))
    F = np.sum(dm) * a + np.cross(e, S) + Sc.T @ xdd + np.cross(w, np.cross(w, S) + 2 * Sd) + S1[k:].T @ y
    moment = np.cross(S, a) + J @ e + Nc.T @ xdd + np.cross(w, J @ w + Nc.T @ xd) + Jd @ w + N[k:].T @ y
    gyro = np.einsum("i,bai,b->a", w, N1 - N1.transpose(1, 0, 2), rate)
    pull = np.array([0.5 * w @ part @ w for part in slope])
    tau = Sc @ a + Nc @ e + E.T @ m @ E @ xdd + E.T @ (gyro - pull + m[:, k:] @ y)
    j, T = f.sections, f.theta
    faster = e + np.einsum("cni,c->ni", T, xdd)
    moment = moment + np.einsum("nij,nj->i", j, faster)
    moment = moment + np.cross(w, np.einsum("nij,nj->i", j, w + np.einsum("cni,c->ni", T, xd)))
    tau = tau + np.einsum("cni,nij,nj->c", T, j, faster)
    return F, moment, tau


def test_the_three_equations():
    """Of a free beam, at random states, accelerations and deflections of a tenth of its length."""
    s, f = flying()
    rng = np.random.default_rng(2)
    for _ in range(3):
        q, v, qdd = state(rng, s)
        xi, xd, xdd = q[7:], v[6:], qdd[6:]
        F, moment, tau = equations(f, xi, xd, xdd, qdd[:3] + np.cross(v[3:6], v[:3]), v[3:6], qdd[3:6])
        found = s.inverse_dynamics(q, v, qdd, engine="plain")
        np.testing.assert_allclose(found[:3], F, atol=1e-9 * np.max(np.abs(F)))
        np.testing.assert_allclose(found[3:6], moment, atol=1e-9 * np.max(np.abs(moment)))
        elastic = f.stiffness @ xi + f.damping @ xd
        np.testing.assert_allclose(found[6:] - elastic, tau, atol=1e-9 * max(np.max(np.abs(tau)), np.max(np.abs(elastic))))


def test_the_mass_matrix_stays_positive():
    s, _ = flying(modes={"y": 3, "z": 3})
    rng = np.random.default_rng(3)
    for _ in range(5):
        assert np.linalg.eigvalsh(s.mass_matrix(state(rng, s, 1.0)[0], engine="plain"))[0] > 0


def test_what_is_left_out_of_slices():
    """A blade's torsional stiffness does not depend on its speed: the propeller moment is not there."""
    m = madi.Model("blade", gravity=(0, 0, 0))
    section = rectangle(0.1, 0.02)
    blade = m.beam("blade", (0, 0, 0), (2, 0, 0), section, **ALUMINIUM, modes={"twist": 1}, rotary=True)
    m.revolute("hub", m.ground, blade, at=(0, 0, 0), axis=(0, 0, 1))
    s = m.build()
    slow, fast = (s.system_jacobian([0, 0], [speed, 0], [0, 0]).by_q[1, 1] for speed in (0.0, 50.0))
    missing = 50.0**2 * 2700.0 * (section.iz - section.iy) * 2.0 / 3
    assert abs(fast - slow) < 1e-6 * missing


def test_damping():
    _, f = flying(modes={"y": 3}, E=7e10, damping=[0.01, 0.02, 0.05], proportional=(0.3, 1e-5))
    values, V = eigh(f.stiffness, f.modal_mass)
    omega, modal = np.sqrt(values), V.T @ f.damping @ V
    ratios = np.array([0.01, 0.02, 0.05]) + 0.5 * (0.3 / omega + 1e-5 * omega)
    np.testing.assert_allclose(modal, np.diag(2 * ratios * omega), atol=1e-7 * modal.max())


def test_modal_jacobian_of_an_attachment_point():
    """u_c and e_c, and by differences of the pose, at two points of a beam that bends both ways and twists."""
    s, f = flying()
    rng = np.random.default_rng(4)
    q, _, _ = state(rng, s, 0.15)
    xi = q[7:]
    A = s.body_pose(q, "link", engine="plain")[1]
    link = next(body for body in s.model.bodies if body.name == "link").flexible
    for name, x in (("tip", 2.0), ("middle", 1.1)):
        at = link.station(np.array([x, 0, 0]))
        J = s.point_jacobian(q, f"link@{name}", engine="plain")
        theta = at.theta.T @ xi
        t, W = np.linalg.norm(theta), skew(theta)
        left = np.eye(3) + (1 - np.cos(t)) / t**2 * W + (t - np.sin(t)) / t**3 * W @ W
        u = at.psi + np.einsum("cdi,d->ci", at.chi, xi)
        np.testing.assert_allclose(J[:3, 6:], A @ u.T, atol=1e-10)
        np.testing.assert_allclose(J[3:, 6:], A @ left @ at.theta.T, atol=1e-10)
        place, axes = s.body_pose(q, f"link@{name}", engine="plain")
        shift = at.psi.T @ xi + 0.5 * np.einsum("cdi,c,d->i", at.chi, xi, xi)
        np.testing.assert_allclose(place, q[:3] + A @ (at.position + shift), atol=1e-12)
        np.testing.assert_allclose(axes, A @ expm(W), atol=1e-12)
        assert t > 1e-2
    assert len(xi) == len(f.names)


def test_a_load_at_a_point_in_the_mass_matrix():
    """M_cd = m_cd + sum B_xd . K_x B_xc, where the frame is held."""
    m = madi.Model("arm", gravity=(0, 0, 0))
    link = m.beam("link", (0, 0, 0), (2, 0, 0), rectangle(0.03, 0.05), **ALUMINIUM, modes=ALL, points={"tip": 2.0})
    load = m.body("load", 3.0, com=(0.1, -0.2, 0.15), inertia=(0.3, 0.2, 0.4), position=(2, 0, 0))
    m.fixed("wall", m.ground, link, at=(0, 0, 0))
    m.fixed("grip", link, load, at=(2, 0, 0))
    s, f = m.build(), link.flexible.field
    xi = 0.1 * np.random.default_rng(5).normal(size=s.nv)
    _, by = field(f, xi)
    own = np.einsum("n,cni,dni->cd", f.masses, by, by) + np.einsum("cni,nij,dnj->cd", f.theta, f.sections, f.theta)
    J, axes = s.point_jacobian(xi, "link@tip", engine="plain"), s.body_pose(xi, "load", engine="plain")[1]
    arm = axes @ np.array([0.1, -0.2, 0.15])
    centre = J[:3] - skew(arm) @ J[3:]
    tensor = axes @ np.diag([0.3, 0.2, 0.4]) @ axes.T
    wanted = own + 3.0 * centre.T @ centre + J[3:].T @ tensor @ J[3:]
    np.testing.assert_allclose(s.mass_matrix(xi, engine="plain"), wanted, atol=1e-7 * np.max(wanted))


# ---- 5. geometric stiffening -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("plane", "inside"), [("z", 0), ("y", 1)])
@pytest.mark.parametrize("radius", [0.0, 0.4])
def test_a_rotating_cantilever(plane, inside, radius):
    """omega^2 = omega_0^2 + (kappa - epsilon) speed^2 with G = int N psi'^2 / speed^2, also away from the axis."""
    L, speed, section = 1.5, 40.0, rectangle(0.05, 0.01)
    m = madi.Model("rotor", gravity=(0, 0, 0))
    blade = m.beam("blade", (radius, 0, 0), (radius + L, 0, 0), section, **ALUMINIUM, modes={plane: clamped_free(L, 1)})
    m.revolute("hub", m.ground, hub := m.body("hub", 1.0, inertia=(1, 1, 1)), at=(0, 0, 0), axis=(0, 0, 1))
    m.fixed("root", hub, blade, at=(radius, 0, 0))
    J = m.build().system_jacobian([0, 0], [speed, 0], [0, 0])
    x, w = gauss(L)
    shape, mu = clamped_free(L, 1)[0], 2700.0 * section.area
    pull = mu * (radius * (L - x) + 0.5 * (L * L - x * x))
    mass, G = mu * np.sum(w * shape(x) ** 2), np.sum(w * pull * shape(x, 1) ** 2)
    K = 7e10 * (section.iz if plane == "y" else section.iy) * np.sum(w * shape(x, 2) ** 2)
    assert J.by_qdd[1, 1] == pytest.approx(mass, rel=1e-9)
    assert J.by_q[1, 1] == pytest.approx(K + speed**2 * (G - inside * mass), rel=1e-9)
    if radius == 0.0:
        assert G / mass == pytest.approx(1.1933, abs=1e-4)


def test_southwell_coefficient_by_hand():
    x, w = gauss()
    shape = clamped_loaded(1.0, 1)[0]
    mass, stiffness = np.sum(w * shape(x) ** 2), np.sum(w * shape(x, 2) ** 2)
    running = np.array([np.sum(gauss(a, 30)[1] * shape(gauss(a, 30)[0], 1) ** 2) for a in x])
    assert [mass, stiffness] == pytest.approx([33 / 140, 3.0])
    assert np.sum(w * x * running) == pytest.approx(81 / 280)
    assert np.sum(w * x * running) / mass == pytest.approx(27 / 22)


# ---- 6. finite elements ------------------------------------------------------------------------------------------------


def test_craig_bampton():
    rng = np.random.default_rng(6)
    n, interface, fixed = 8, [6, 7], [0]
    M, K = (x @ x.T + np.eye(n) for x in (rng.normal(size=(n, n)), 3 * rng.normal(size=(n, n))))
    modes, mass, stiffness = craig_bampton(M, K, interface, 2, fixed)
    inner = [1, 2, 3, 4, 5]
    static = np.zeros((n, 2))
    static[interface, [0, 1]] = 1.0
    static[inner] = -np.linalg.solve(K[np.ix_(inner, inner)], K[np.ix_(inner, interface)])
    held = eigh(K[np.ix_(inner, inner)], M[np.ix_(inner, inner)])[1][:, :2]
    normal = np.zeros((n, 2))
    normal[inner] = held
    span = np.hstack([static, normal])
    left = modes.T - span @ np.linalg.lstsq(span, modes.T, rcond=None)[0]
    assert np.max(np.abs(left)) < 1e-9
    np.testing.assert_allclose(modes @ M @ modes.T, mass, atol=1e-9)
    np.testing.assert_allclose(modes @ K @ modes.T, stiffness, atol=1e-8 * np.max(stiffness))


# ---- 7. Christoffel symbols --------------------------------------------------------------------------------------------


def symbols_of(mass, q, h=1e-3):
    """C[i, j, k] by differences of M of fourth order, and dM[j, i, k]."""
    n = len(q)
    d = np.array([(8 * (mass(q + h * e) - mass(q - h * e)) - mass(q + 2 * h * e) + mass(q - 2 * h * e)) / (12 * h)
                  for e in np.eye(n)])  # fmt: skip
    return np.array(
        [[[0.5 * (d[k, i, j] + d[j, i, k] - d[i, j, k]) for k in range(n)] for j in range(n)] for i in range(n)]
    ), d


def test_structure_of_a_rigid_chain():
    """Antisymmetry for j <= i, k, and not beyond; non-coupling for j <= i."""
    rng = np.random.default_rng(1)
    s = random_tree(rng, 5, kinds=("revolute", "prismatic", "screw"), chain=1.0).build()
    C, d = symbols_of(lambda q: s.mass_matrix(q, engine="plain"), rng.normal(size=s.nv))
    n, size = s.nv, np.max(np.abs(C))
    triples = list(product(range(n), repeat=3))
    for i, j, k in triples:
        assert C[i, j, k] == pytest.approx(C[i, k, j], abs=1e-12 * size)
        assert C[i, j, k] + C[k, j, i] == pytest.approx(d[j, i, k], abs=1e-12 * size)
    inside = [abs(C[i, j, k] + C[k, j, i]) for i, j, k in triples if j <= i and j <= k]
    outside = [abs(C[i, j, k] + C[k, j, i]) for i, j, k in triples if j > i or j > k]
    assert max(inside) < 1e-7 * size
    assert np.mean(np.array(outside) > 1e-5 * size) > 0.85
    assert max(abs(C[i, i, j]) for i, j in product(range(n), repeat=2) if j <= i) < 1e-7 * size
    assert max(abs(C[i, i, j]) for i, j in product(range(n), repeat=2) if j > i) > 1e-2 * size


def two_links(L=1.0):
    x, psi, chi = sp.symbols("x psi chi")
    q1, q2, a, b = sp.symbols("q1 q2 xi1 xi2")
    shape = clamped_free(L, 1)[0]
    r = sp.Matrix([x * sp.cos(q1) - a * psi * sp.sin(q1), x * sp.sin(q1) + a * psi * sp.cos(q1)])
    turn = q1 + a * shape(L, 1) + q2
    end = r.subs({x: L, psi: shape(L)})
    s = end + sp.Matrix([x * sp.cos(turn) - b * chi * sp.sin(turn), x * sp.sin(turn) + b * chi * sp.cos(turn)])
    links = [Link(r, x, L, 1.4, ((a, psi, shape),), 10.0), Link(s, x, L, 0.8, ((b, chi, shape),), 10.0)]
    return Lagrange([q1, q2, a, b], links)


def test_structure_of_a_flexible_arm_and_the_recursion():
    """7 of 10 and 8 of 10; and M qdd + C + K q of the symbols is madi's inverse dynamics without foreshortening."""
    arm = two_links()
    assert arm.structure.antisymmetric == (7, 10)
    assert arm.structure.uncoupled == (8, 10)
    m = madi.Model("arm", gravity=(0, 0, 0))
    section = rectangle(0.1, 0.1)
    for k, density in enumerate((1.4, 0.8)):
        m.beam("ab"[k], (k, 0, 0), (k + 1, 0, 0), section, E=10.0 / section.iz, rho=density / section.area,
               modes={"y": clamped_free(1.0, 1)}, stiffening=False, strict=False, rotary=False)  # fmt: skip
    m.revolute("A", m.ground, "a", at=(0, 0, 0), axis=(0, 0, 1))
    m.revolute("B", "a", "b", at=(1, 0, 0), axis=(0, 0, 1))
    s = m.build()
    at = [s.speeds.index(name) for name in ("A", "B", "a.y1", "b.y1")]
    rng = np.random.default_rng(7)
    q, v, qdd = rng.normal(size=(3, 4)) * np.array([1, 1, 0.1, 0.1])
    values = dict(zip([*arm.coordinates, *arm.speeds], [*q, *v], strict=True))
    M = np.array(arm.M.subs(values), dtype=float)
    C = np.array([[float(sum(arm.C[i][j, k] * v[j] * v[k] for j, k in product(range(4), repeat=2)).subs(values))]
                  for i in range(4)])[:, 0]  # fmt: skip
    K = np.array(arm.K, dtype=float)
    full = [np.zeros(4) for _ in range(3)]
    for mine, theirs in zip(full, (q, v, qdd), strict=True):
        mine[at] = theirs
    found = s.inverse_dynamics(*full, engine="plain")[at]
    np.testing.assert_allclose(found, M @ qdd + C + K @ q, rtol=1e-9, atol=1e-9)
