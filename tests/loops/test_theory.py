"""docs/theory/loops.md: its equations in NumPy beside madi."""

import itertools

import mpmath
import numpy as np
import pytest
from scipy.linalg import null_space as null_of
from scipy.linalg import orthogonal_procrustes, qr

import madi
from madi.constraints.fields import REGULARISATION
from madi.loops import blocks, dense, kkt, null_space
from madi.loops.memory import LoopOptions
from madi.loops.methods import LOOP_METHODS, PENALTY, PENALTY_STEPS, NullSpace
from madi.topology.settle import random_coordinates
from madi.verify import bricard, four_bars
from tests.loops.test_blocks import full
from tests.mechanisms import close_loops, four_bar, random_tree

WAYS = [name for name, method in LOOP_METHODS.items() if issubclass(method, NullSpace)]


def carriage():
    """The worked example."""
    m = madi.Model("carriage and bob")
    m.body("carriage", 2.0, inertia=(1, 1, 1))
    m.body("bob", 1.0, inertia=(1, 1, 1), position=(0.6, 0, -0.8))
    m.prismatic("x", m.ground, "carriage", at=(0, 0, 0), axis=(1, 0, 0))
    m.prismatic("z", "carriage", "bob", at=(0, 0, 0), axis=(0, 0, 1))
    m.distance("rod", m.ground, "bob", at=((0, 0, 0), (0.6, 0, -0.8)))
    return m


def mechanisms(count=6):
    """Random ones with loops, at a closed state: (system, q, v)."""
    found, seed = [], 0
    while len(found) < count:
        rng = np.random.default_rng(seed := seed + 1)
        m = random_tree(rng, int(rng.integers(3, 6)), moving=bool(rng.integers(2)), forces=True)
        close_loops(m, rng, m.build().nv)
        if m.check():
            continue
        s = m.build()
        if s.frozen.rows and s.nv - s.mobility(s.q0).rank > 0:
            found.append((s, s.q0, s.assemble(s.q0, rng.normal(size=s.nv)).v))
    return found


MECHANISMS = mechanisms()


def terms(s, q, v):
    """M, P, Phi_q, gamma, eps of the active rows, and which those are."""
    active = np.asarray(s.layout.arrays.row_place) >= 0
    _, _, gamma, J = s.constraint_terms(q, v, engine="plain")
    P = -s.inverse_dynamics(q, v, np.zeros(s.nv), engine="plain")
    eps = np.asarray(s.layout.arrays.row_value)[active, 2]
    return s.mass_matrix(q, engine="plain"), P, J[active], gamma[active], eps, active


def told(method):
    """The options of a loop method as kernels read them."""
    options = LoopOptions({})
    method.put(options)
    return options


def eliminate(K, b, order):
    """Solution by L D L^T in this order, and the pivots."""
    A, x, n = K[np.ix_(order, order)].copy(), b[list(order)].copy(), len(b)
    for k in range(n):
        below = A[k + 1 :, k] / A[k, k]
        A[k + 1 :, k + 1 :] -= np.outer(below, A[k, k + 1 :])
        A[k + 1 :, k] = below
    for k in range(n):
        x[k + 1 :] -= A[k + 1 :, k] * x[k]
    x /= np.diag(A)
    for k in range(n - 1, -1, -1):
        x[k] -= A[k + 1 :, k] @ x[k + 1 :]
    out = np.empty(n)
    out[list(order)] = x
    return out, np.diag(A)


# ---- 2. elimination ---------------------------------------------------------------------------------------------------


def test_a_quasi_definite_matrix_factorises_in_every_order():
    rng = np.random.default_rng(1)
    B, J = rng.normal(size=(3, 3)), rng.normal(size=(2, 3))
    K = np.block([[B @ B.T + np.eye(3), J.T], [J, -0.5 * np.eye(2)]])
    b = rng.normal(size=5)
    for order in itertools.permutations(range(5)):
        x, pivots = eliminate(K, b, order)
        np.testing.assert_allclose(K @ x, b, atol=1e-10)
        assert [p > 0 for p in pivots] == [k < 3 for k in order]  # columns positive, rows negative


def test_not_every_order_is_stable():
    s = four_bar(q0=0.5, v0=3.0).build()
    M, P, J, gamma, eps, _ = terms(s, s.start.q, s.start.v)
    n, rows = len(M), list(range(len(M), len(M) + len(J)))
    columns = list(range(n))[::-1]
    K, b = np.block([[M, J.T], [J, -np.diag(eps)]]), np.concatenate([P, gamma])
    with mpmath.workdps(50):
        exact = np.array([float(x) for x in mpmath.lu_solve(mpmath.matrix(K.tolist()), mpmath.matrix(b.tolist()))])[:n]
    good, bad = (eliminate(K, b, order)[0][:n] for order in (columns + rows, rows + columns))
    size = np.linalg.norm(exact)
    assert np.linalg.norm(good - exact) < 2e-15 * size
    assert 1e-8 < np.linalg.norm(bad - exact) / size < 1e-4  # ten digits are lost, six are left


@pytest.mark.parametrize("windows", [1, 2, 5, 9])
def test_order_places_and_products(windows):
    a = four_bars.model(windows).build().layout.arrays
    row = np.repeat(np.arange(int(a.nr)), np.diff(a.row_first))
    there = a.row_place[row] >= 0
    assert (a.column_place[a.j_column[there]] < a.row_place[row[there]]).all()  # a row comes after its columns
    assert len(a.l_target) == 25 * windows - 12


def test_eps_is_relative_to_the_usual_inverse_mass():
    s = bricard.model().build()
    inverse_masses = []
    for q in random_coordinates(s.layout, s.q0):
        J, M = s.constraint_jacobian(q, engine="plain"), s.mass_matrix(q, engine="plain")
        inverse_masses.append(np.diag(J @ np.linalg.solve(M, J.T)))
    mean = np.mean(inverse_masses, axis=0)
    units = np.array([row.unit for row in s.frozen.rows])
    for unit in ("m", "rad"):
        expected = 1e-10 * np.exp(np.mean(np.log(mean[units == unit])))
        np.testing.assert_allclose(np.asarray(s.layout.arrays.row_value)[units == unit, 2], expected, rtol=1e-9)


# ---- 3. the proximal step ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", range(len(MECHANISMS)))
def test_rate_of_the_proximal_step(case):
    s, q, v = MECHANISMS[case]
    M, P, J, gamma, eps, _ = terms(s, q, v)
    n, eps = len(M), 1e9 * eps  # so soft that the rate can be seen: 0.1 of the usual diagonal
    Delta, root = J @ np.linalg.solve(M, J.T), np.sqrt(eps)
    K = np.block([[M, J.T], [J, -np.diag(eps)]])
    sigma, V = np.linalg.eigh(Delta / np.outer(root, root))
    b = J @ np.linalg.solve(M, P) - gamma
    exact = np.linalg.lstsq(Delta / root, b, rcond=1e-10)[0] / root  # least norm in the metric eps
    x, e = np.linalg.solve(K, np.concatenate([P, gamma])), None
    for _ in range(4):
        # the form of the code, and eq. (4)
        again = x + np.linalg.solve(K, np.concatenate([np.zeros(n), gamma - J @ x[:n]]))
        np.testing.assert_allclose(again, np.linalg.solve(K, np.concatenate([P, gamma - eps * x[n:]])), rtol=1e-6, atol=1e-8)
        e, old = V.T @ (root * (again[n:] - exact)), V.T @ (root * (x[n:] - exact))
        np.testing.assert_allclose(e, old / (1 + sigma), atol=1e-9 * (1 + np.max(np.abs(old))))
        x = again
    assert np.max(sigma) > 1.0


def test_multipliers_are_least_in_the_metric_of_eps():
    """Bricard's mechanism has one redundant row, and rows in m and rad."""
    s = bricard.model().build()
    q, v = s.start.q, s.start.v
    M, P, J, gamma, eps, _ = terms(s, q, v)
    out = s._evaluate("multipliers", q, v, np.zeros(s.nv), 0.0, "plain")
    Delta, b = J @ np.linalg.solve(M, J.T), J @ np.linalg.solve(M, P) - gamma
    assert np.linalg.matrix_rank(Delta, tol=1e-9) == len(J) - 1
    weighted = np.linalg.lstsq(Delta / np.sqrt(eps), b, rcond=1e-10)[0] / np.sqrt(eps)
    plain = np.linalg.lstsq(Delta, b, rcond=1e-10)[0]
    size = np.max(np.abs(weighted))
    assert np.max(np.abs(out[s.nv :] - weighted)) < 1e-6 * size
    assert np.max(np.abs(out[s.nv :] - plain)) > 1e-4 * size
    np.testing.assert_allclose(out[: s.nv], np.linalg.solve(M, P - J.T @ plain), rtol=1e-9, atol=1e-9)


# ---- 4, 5. drift, Baumgarte, augmented Lagrangian -----------------------------------------------------------------------


def bob(q, v, alpha, beta):
    """Accelerations of the worked example by eq. (7)."""
    x, z = q[0] + 0.6, q[1] - 0.8
    J, W = np.array([x, z]), np.array([1 / 3, 1.0])
    phi, rate, gamma = 0.5 * (x * x + z * z - 1), J @ v, -v @ v
    P = np.array([0.0, -9.81])
    lam = (J @ (W * P) - gamma + 2 * alpha * rate + beta**2 * phi) / (J @ (W * J))
    return W * (P - J * lam)


def rk4(h, duration, alpha=0.0, beta=0.0):
    """(largest |Phi| at the end, q) of the worked example."""
    y = np.array([0.0, 0.0, 2.4, 1.8])

    def f(y):
        return np.concatenate([y[2:], bob(y[:2], y[2:], alpha, beta)])

    for _ in range(round(duration / h)):
        k1 = f(y)
        k2 = f(y + h / 2 * k1)
        k3 = f(y + h / 2 * k2)
        k4 = f(y + h * k3)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return abs(0.5 * ((y[0] + 0.6) ** 2 + (y[1] - 0.8) ** 2 - 1)), y[:2]


def test_drift_grows_with_the_order_and_the_square_of_time():
    assert rk4(0.02, 20.0)[0] / rk4(0.01, 20.0)[0] == pytest.approx(16, rel=0.4)
    assert rk4(0.01, 40.0)[0] / rk4(0.01, 20.0)[0] == pytest.approx(4, rel=0.4)
    assert rk4(0.01, 40.0, 10.0, 10.0)[0] < 1e-3 * rk4(0.01, 40.0)[0]


@pytest.mark.parametrize("feedback", [(0.0, 0.0), (10.0, 10.0), (3.0, 7.0)])
def test_baumgarte_as_printed(feedback):
    run = madi.simulate(carriage(), 0.5, method="rk4", step=0.01, start=([0, 0], [2.4, 1.8]),
                        loops=madi.Baumgarte(*feedback), times=[0.5], engine="plain")  # fmt: skip
    violation, q = rk4(0.01, 0.5, *feedback)
    np.testing.assert_allclose(run.data["q"].values[-1], q, rtol=1e-10)
    assert float(run.data["violation"][-1]) == pytest.approx(violation, rel=1e-6)


def test_defaults_of_feedback_and_penalty():
    for method in (madi.Augmented(), madi.Baumgarte()):
        options = told(method)
        assert (options.feedback_rate, options.feedback_position) == (20.0, 100.0)
    options = told(madi.Augmented())
    assert (options.softness, options.proximal_steps) == (PENALTY, PENALTY_STEPS)
    assert kkt.EPSILON * (1 + options.softness) == pytest.approx(1e-6, rel=1e-3)
    assert kkt.PROXIMAL + options.proximal_steps == 7


def test_augmented_lagrangian_is_the_proximal_iteration():
    s = four_bar(q0=0.5, v0=3.0).build()
    M, P, J, gamma, eps, _ = terms(s, s.start.q, s.start.v)
    eps = 1e7 * eps
    K = np.block([[M, J.T], [J, -np.diag(eps)]])
    lam, errors = np.zeros(len(J)), []
    exact = np.linalg.solve(J @ np.linalg.solve(M, J.T), J @ np.linalg.solve(M, P) - gamma)
    for _ in range(3):
        x = np.linalg.solve(K, np.concatenate([P, gamma - eps * lam]))
        qdd = np.linalg.solve(M + J.T @ (J / eps[:, None]), P - J.T @ lam + J.T @ (gamma / eps))
        lam = lam + (J @ qdd - gamma) / eps
        np.testing.assert_allclose(x, np.concatenate([qdd, lam]), rtol=1e-9)
        errors.append(np.linalg.norm(lam - exact))
    root = np.sqrt(eps)
    sigma = np.linalg.eigvalsh(J @ np.linalg.solve(M, J.T) / np.outer(root, root))
    assert 1 / (1 + sigma[-1]) * 0.99 < errors[2] / errors[1] < 1 / (1 + sigma[0]) * 1.01


# ---- 6. projection ----------------------------------------------------------------------------------------------------


def closed(s, q, v, entry="close", way=None, plain=False):
    """q, v as the end of a step leaves them."""
    method = madi.Projection() if way is None else LOOP_METHODS[way](weighting="none" if plain else "mass")
    engine = s.engine("plain").for_run(directions=way is not None, options=told(method))
    q, v = np.array(q, dtype=float), np.array(v, dtype=float)
    engine.evaluate(entry, 0.0, q, v, np.zeros(s.nv), s.nv)
    return q, v


@pytest.mark.parametrize("case", range(len(MECHANISMS)))
def test_velocities_are_projected_by_mass(case):
    s, q, v = MECHANISMS[case]
    rng = np.random.default_rng(case)
    wild = v + rng.normal(size=s.nv)
    M, _, J, _, _, active = terms(s, q, wild)
    rate = s.constraint_terms(q, wild, engine="plain")[1][active]
    dv = -np.linalg.solve(M, J.T) @ np.linalg.lstsq(J @ np.linalg.solve(M, J.T), rate, rcond=1e-9)[0]
    found = closed(s, q, wild)[1]
    np.testing.assert_allclose(found, wild + dv, rtol=1e-7, atol=1e-7)
    assert np.max(np.abs(s.constraint_terms(q, found, engine="plain")[1])) < 1e-9
    kinetic = [0.5 * x @ M @ x for x in (wild, found, dv)]
    assert kinetic[0] == pytest.approx(kinetic[1] + kinetic[2], rel=1e-7)  # Pythagoras: Phi_t = 0
    # in other coordinates the same
    A = rng.normal(size=M.shape)
    Mb, Jb = A.T @ M @ A, J @ A
    same = -np.linalg.solve(Mb, Jb.T) @ np.linalg.lstsq(Jb @ np.linalg.solve(Mb, Jb.T), rate, rcond=1e-9)[0]
    np.testing.assert_allclose(A @ same, dv, rtol=1e-5, atol=1e-6)


def test_positions_are_projected_by_mass():
    s = four_bar(q0=0.5).build()
    q = s.start.q
    for size in (1e-3, 1e-4):
        away = q + size * np.array([1.0, -2.0, 0.5])
        found, _ = closed(s, away, np.zeros(3))
        assert np.max(np.abs(s.constraints(found, engine="plain"))) < 1e-10
        M, J = s.mass_matrix(found, engine="plain"), s.constraint_jacobian(found, engine="plain")
        step = found - away
        # nothing along the free direction, to second order
        assert np.max(np.abs(null_of(J).T @ M @ step)) < 5 * size**2
        assert np.linalg.norm(step) > 0.1 * size


# ---- 7. null spaces -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", range(len(MECHANISMS)))
def test_reduced_equations_for_any_directions(case):
    s, q, v = MECHANISMS[case]
    M, P, J, gamma, _, active = terms(s, q, v)
    n, rank = s.nv, int(np.linalg.matrix_rank(J, tol=1e-9))
    f = n - rank
    *_, pick = qr(J.T, mode="economic", pivoting=True)  # independent rows
    full, J, gamma = J, J[pick[:rank]], gamma[pick[:rank]]
    T = np.random.default_rng(case).normal(size=(f, n))
    inverse = np.linalg.inv(np.vstack([J, T]))
    IR, N = inverse[:, :rank], inverse[:, rank:].T
    zdd = np.linalg.solve(N @ M @ N.T, N @ (P - M @ IR @ gamma))
    qdd = IR @ gamma + N.T @ zdd
    out = s._evaluate("multipliers", q, v, np.zeros(n), 0.0, "plain")
    np.testing.assert_allclose(qdd, out[:n], rtol=1e-6, atol=1e-6)
    lam = IR.T @ (P - M @ qdd)
    np.testing.assert_allclose(J.T @ lam, full.T @ out[n:][active], rtol=1e-5, atol=1e-5)
    if rank == len(full):
        np.testing.assert_allclose(lam, out[n:][active][pick], rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(T @ qdd, zdd, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(IR @ (J @ v) + N.T @ (T @ v), v, rtol=1e-8, atol=1e-8)


def test_quasi_accelerations_are_no_derivatives():
    """With N turning along with the mechanism d/dt (N v) is not z''; with T held it is."""
    s = four_bar(q0=0.5, v0=3.0).build()
    h = 1e-4
    run = madi.simulate(four_bar(q0=0.5, v0=3.0), 2 * h, method="rk4", step=h, times=[0, h, 2 * h], engine="plain")
    q, v, a = (run.data[name].values for name in ("q", "v", "a"))
    N = [null_of(s.constraint_jacobian(x, engine="plain")).T for x in q]
    N = [np.sign(x[0, 0]) * x for x in N]
    moving = (N[2] @ v[2] - N[0] @ v[0]) / (2 * h)
    held = N[1] @ (v[2] - v[0]) / (2 * h)
    assert held == pytest.approx(N[1] @ a[1], rel=1e-5)
    turn = (N[2] - N[0]) / (2 * h) @ v[1]
    assert moving == pytest.approx(N[1] @ a[1] + turn, rel=1e-5)


@pytest.mark.parametrize("way", WAYS)
def test_corrections_of_all_methods_are_the_least_by_mass(way):
    for s, q, v in MECHANISMS:
        wild = v + np.random.default_rng(7).normal(size=s.nv)
        np.testing.assert_allclose(
            closed(s, q, wild, "close-null-space", way)[1], closed(s, q, wild)[1], rtol=1e-6, atol=1e-6
        )


def test_the_example_in_both_metrics():
    s = carriage().build()
    for way in WAYS:
        assert closed(s, [0, 0], [1, 1], "close-null-space", way)[1] == pytest.approx([1 + 0.04 / 0.76, 1 - 0.16 / 0.76])
    by_coordinates = closed(s, [0, 0], [1, 1], "close-null-space", "pseudo-inverse", plain=True)[1]
    assert by_coordinates == pytest.approx([1.12, 0.84])
    assert s.energy([0, 0], by_coordinates, engine="plain")["kinetic"] == pytest.approx(2.2344)
    assert s.energy([0, 0], closed(s, [0, 0], [1, 1])[1], engine="plain")["kinetic"] == pytest.approx(2 - 0.02 / 0.76)
    # the proximal step of the example
    M, P, J, gamma, eps, _ = terms(s, np.zeros(2), np.array([2.4, 1.8]))
    first = np.linalg.solve(np.block([[M, J.T], [J, -np.diag(eps)]]), np.concatenate([P, gamma]))
    lam = 16.848 / 0.76
    assert first[2] == pytest.approx(lam * 0.76 / (0.76 + eps[0]), rel=1e-14)
    assert (J @ first[:2] - gamma)[0] == pytest.approx(eps[0] * lam, rel=1e-5)
    assert eps[0] == pytest.approx(3.6e-11, rel=0.01)


def test_new_directions_lie_nearest_to_the_old_ones():
    """The polar factor of the projected directions is the solution of Procrustes' problem, whatever basis it starts from."""
    rng = np.random.default_rng(2)
    n, m = 7, 4
    old, _ = np.linalg.qr(rng.normal(size=(n, n - m)))
    basis, _ = np.linalg.qr(old + 0.3 * rng.normal(size=(n, n - m)))
    mixed = basis @ np.linalg.qr(rng.normal(size=(n - m, n - m)))[0]
    found = (basis @ basis.T @ old).reshape(-1)
    while dense.straighten(found, np.zeros((n - m) ** 2), np.zeros(n - m), n - m, n) > 1e-8:
        pass
    A, _ = orthogonal_procrustes(mixed, old)
    np.testing.assert_allclose(found.reshape(n, n - m), mixed @ A, atol=1e-10)


def test_the_criterion_of_svd():
    """How much of the velocity leaves the span of T."""
    s = four_bar(q0=0.5, v0=3.0).build()
    start, later = s.start, s.assemble({"A": 1.3}, {"A": 3.0})
    engine = s.engine("plain").for_run(directions=True, options=told(madi.SingularValues()))
    engine.evaluate("close-null-space", 0.0, start.q.copy(), start.v.copy(), np.zeros(3), 3)
    work, a = engine.work, s.layout.arrays
    T, size = full(s, work).T[0], work.column_scale.copy()
    work.v[:] = later.v
    kkt_rows(s, work, later.q)
    blocks.factor_blocks(a, work)
    null_space.carry(work, 0, 1)
    v = later.v / size
    share = np.sqrt(1 - (T @ v) ** 2 / (v @ v))  # one direction is left, and nothing is driven: N^T T v is v
    assert share > 0.05
    assert null_space.leaving(a, work, 0) == pytest.approx(share, rel=1e-9)
    masses = np.diag(s.mass_matrix(start.q, engine="plain"))
    np.testing.assert_allclose(size, 1 / np.sqrt(masses), rtol=1e-9)  # columns are measured by mass


def kkt_rows(s, work, q):
    """Phi_q at q, into work."""
    a = s.layout.arrays
    J = s.constraint_jacobian(q, engine="plain")
    row = np.repeat(np.arange(s.n_constraints), np.diff(a.row_first))
    work.j_value[:] = J[row, a.j_column]


@pytest.mark.parametrize("way", WAYS)
def test_corrections_without_weights(way):
    """P2's eq. (5.1): [J; T] dv = (what is missing, 0); of the pseudo-inverse T is N, and dv the least by coordinates."""
    for s, q, v in MECHANISMS:
        wild = v + np.random.default_rng(7).normal(size=s.nv)
        engine = s.engine("plain").for_run(directions=True, options=told(LOOP_METHODS[way](weighting="none")))
        engine.evaluate("close-null-space", 0.0, q.copy(), v.copy(), np.zeros(s.nv), s.nv)
        T, found = full(s, engine.work).T, wild.copy()
        engine.work.factor_valid = 1
        engine.evaluate("close-null-space", 0.0, q.copy(), found, np.zeros(s.nv), s.nv)
        _, rate, _, J = s.constraint_terms(q, wild, engine="plain")
        E = np.vstack([J, T])
        step = np.linalg.lstsq(E, np.concatenate([-rate, np.zeros(len(T))]), rcond=1e-9)[0]
        np.testing.assert_allclose(found - wild, step, rtol=1e-6, atol=1e-6)
        if way == "pseudo-inverse":
            np.testing.assert_allclose(step, -np.linalg.pinv(J, rcond=1e-9) @ rate, rtol=1e-6, atol=1e-6)


# ---- 8, 9. driven rows, redundancy ---------------------------------------------------------------------------------------


def test_a_driven_row_and_its_multiplier():
    m = four_bar()
    m.joints[2].cut = True
    m.drive("C", lambda t: 0.2 * madi.sin(3 * t))
    run = madi.simulate(m, 0.02, method="rk4", step=1e-3, times=[0.01, 0.02], engine="plain")
    assert run.statistics["loops"] == "projection"
    s = m.build()
    row = next(k for k, item in enumerate(s.frozen.rows) if item.driven == "C")
    np.testing.assert_allclose(run.data["multiplier"].values[:, row], -run["C.drive"], rtol=1e-9)
    phi, rate, _, J = s.constraint_terms(run.data["q"].values[0], np.zeros(3), 0.01, engine="plain")
    assert abs(phi[row]) < 1e-10
    assert rate[row] == pytest.approx(-0.6 * np.cos(0.03))  # Phi_t
    assert J[row] @ run.data["v"].values[0] == pytest.approx(0.6 * np.cos(0.03))


def test_self_equilibrated_constraint_forces():
    s = bricard.model().build()
    q, v = s.start.q, s.start.v
    found = s.mobility(q)
    J = s.constraint_jacobian(q, engine="plain")
    n = found.null
    assert n.shape == (len(J), 1)
    assert np.max(np.abs(n.T @ J)) < 1e-12
    _, _, gamma, _ = s.constraint_terms(q, v, engine="plain")
    assert abs(n[:, 0] @ gamma) < 1e-9 * (1 + np.max(np.abs(gamma)))  # consistent
    lam = s._evaluate("multipliers", q, v, np.zeros(s.nv), 0.0, "plain")[s.nv :]
    eps = s.layout.arrays.row_value[:, REGULARISATION]
    assert np.max(np.abs(lam)) > 1.0
    assert abs(n[:, 0] @ (eps * lam)) < 1e-6 * np.linalg.norm(eps * lam)  # of all lam + c n that of least lam^T eps lam
    for way in WAYS:  # the rows that null-space methods leave out of J bear their part too
        engine = s.engine("plain").for_run(directions=True, options=told(LOOP_METHODS[way]()))
        engine.evaluate("close-null-space", 0.0, q.copy(), v.copy(), np.zeros(s.nv), s.nv)
        np.testing.assert_allclose(engine.work.lam, lam, atol=1e-6)
