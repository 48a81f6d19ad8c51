"""The formulas of docs/theory/time.md, evaluated here beside the code."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from numpy.polynomial import Polynomial
from scipy.linalg import expm

import madi
from madi.integrate import abm, dopri, radau
from madi.joints.chart import chart_point, chart_rate, coordinate_rate, exponential, normalise, retract
from madi.kernel.fields import ABSENT
from tests.mechanisms import random_state, random_tree

PICTURES = Path(__file__).parents[2] / "tools" / "figures" / "time.py"


def skew(x):
    return np.array([[0, -x[2], x[1]], [x[2], 0, -x[0]], [-x[1], x[0], 0]])


def matrix(q):
    w, x = q[0], q[1:]
    return (w * w - x @ x) * np.eye(3) + 2 * np.outer(x, x) + 2 * w * skew(x)


def moved(arrays, q, theta, chart):
    out = np.array(q)
    chart(arrays, np.array(q), np.array(theta), out)
    return out


def free_system(rng, n=3):
    return random_tree(rng, n, kinds=("spherical", "revolute", "cylindrical"), moving=True).build()


# ---- 1. charts --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1e-3, 1.0])
def test_rate_of_the_rotation_vector_and_both_charts(size):
    rng = np.random.default_rng(1)
    s = free_system(rng)
    q, v, _ = random_state(rng, s)
    theta, rate = size * rng.normal(size=s.nv), np.zeros(s.nv)
    chart_rate(s.layout.arrays, theta, v, rate)
    base, x = s.q_slice(s.joint_names[0]).start, theta[3:6]
    phi = np.linalg.norm(x)
    y = 1 / phi**2 - (1 + np.cos(phi)) / (2 * phi * np.sin(phi))
    w, X = v[3:6], skew(x)
    np.testing.assert_allclose(rate[3:6], w + 0.5 * X @ w + y * X @ X @ w, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(rate[:3], expm(X) @ v[:3], rtol=1e-10, atol=1e-12)
    b, c = (1 - np.cos(phi)) / phi**2, (phi - np.sin(phi)) / phi**3
    right = np.eye(3) - b * X + c * X @ X
    np.testing.assert_allclose(right @ rate[3:6], w, rtol=1e-6, atol=1e-8)
    A0 = matrix(q[base + 3 : base + 7])
    one, other = (moved(s.layout.arrays, q, theta, chart)[base : base + 7] for chart in (retract, exponential))
    np.testing.assert_allclose(matrix(one[3:]), A0 @ expm(X), atol=1e-12)
    np.testing.assert_allclose(one[:3], q[base : base + 3] + A0 @ theta[:3], atol=1e-12)
    step = np.block([[X, theta[:3, None]], [np.zeros((1, 4))]])  # constant velocity in body axes
    np.testing.assert_allclose(other[:3], q[base : base + 3] + A0 @ expm(step)[:3, 3], atol=1e-12)
    back = np.zeros(s.nv)
    chart_point(s.layout.arrays, q, moved(s.layout.arrays, q, theta, retract), back)
    if size < 1:
        np.testing.assert_allclose(back, theta, atol=1e-12)


def test_in_the_exponential_chart_the_second_derivative_is_that_of_v():
    """q moved by h v + h^2/2 v' misses the motion by h^3 in this chart, by h^2 w x v / 2 in the other."""
    rng = np.random.default_rng(2)
    s = free_system(rng, 1)
    arrays = s.layout.arrays
    q, v, a = random_state(rng, s)

    def motion(h, steps=400):
        now = np.array(q)
        for k in range(steps):  # midpoint rule, normalised
            half, end = np.zeros(s.nq), np.array(now)
            coordinate_rate(arrays, now, v + a * h * k / steps, half)
            middle = now + 0.5 * h / steps * half
            normalise(arrays, middle)
            coordinate_rate(arrays, middle, v + a * h * (k + 0.5) / steps, half)
            end = now + h / steps * half
            normalise(arrays, end)
            now = end
        return now

    misses = {exponential: [], retract: []}
    for h in (0.08, 0.04):
        truth = motion(h)
        for chart, found in misses.items():
            gap = np.zeros(s.nv)
            chart_point(arrays, moved(arrays, q, h * v + 0.5 * h * h * a, chart), truth, gap)
            found.append(gap)
    ratio = {chart: np.linalg.norm(x[:3]) / np.linalg.norm(y[:3]) for chart, (x, y) in misses.items()}
    assert ratio[exponential] == pytest.approx(8, rel=0.15)
    assert ratio[retract] == pytest.approx(4, rel=0.15)
    first = misses[retract][1][:3]
    turned = expm(skew(0.04 * v[3:6])).T @ (0.5 * 0.04**2 * np.cross(v[3:6], v[:3]))
    np.testing.assert_allclose(first, turned, atol=0.2 * np.linalg.norm(turned))


# ---- 2. explicit methods ----------------------------------------------------------------------------------------------


def adams_memory(n):
    """For so many unknowns, beside any model."""
    parts = dict.fromkeys(("model", "tally", "outputs", "forward", "close", "watch", "switch", "keep"), ABSENT)
    return abm.AdamsMemory({"nq": n, "nv": 0, "n_held": 0}, **parts)


def test_adams_weights_on_an_uneven_grid():
    """beta_i, g_i, predictor and corrector by `abm` beside integrals of Newton's polynomials."""
    rng = np.random.default_rng(3)
    k, n = 5, 3
    t = np.cumsum(rng.uniform(0.5, 1.5, size=k + 4))[::-1]  # t_n, t_{n-1}, ...
    h = 0.9
    values = rng.normal(size=(k + 4, n))  # f at them

    def divided(i):  # f[t_n, ..., t_{n-i+1}]
        return sum(values[a] / np.prod([t[a] - t[b] for b in range(i) if b != a]) for a in range(i))

    m = adams_memory(n)
    m.order, m.stored = k, k + 2
    for i in range(1, k + 4):
        m.psi[i] = t[0] - t[i]
    for i in range(1, k + 2):
        m.phi[(i - 1) * n : i * n] = np.prod([t[0] - t[j] for j in range(1, i)]) * divided(i)
    abm.coefficients(m, h)
    psi = [h] + [h + t[0] - t[j] for j in range(1, k + 3)]  # psi_1(n+1), ...
    for i in range(1, k + 3):
        quotient = Polynomial([1.0])
        for j in range(i - 1):
            quotient = quotient * Polynomial([t[0] - t[j], 1.0]) / psi[j]  # in t - t_n
        assert quotient(h) == pytest.approx(1.0)
        assert m.g[i] == pytest.approx(quotient.integ()(h) / h, rel=1e-12)
    m.y[:] = rng.normal(size=n)
    abm.predict(m, h, n)
    y, p, total = m.y, m.p, m.delta
    through = [np.polyfit(t[:k] - t[0], values[:k, j], k - 1) for j in range(n)]
    np.testing.assert_allclose(total, [np.polyval(x, h) for x in through], rtol=1e-7)
    np.testing.assert_allclose(p, [a + np.polyval(np.polyint(x), h) for a, x in zip(y, through, strict=True)], rtol=1e-7)
    new = rng.normal(size=n)
    corrected = p + h * m.g[k + 1] * (new - total)
    places = np.append(t[:k] - t[0], h)
    through = [np.polyfit(places, np.append(values[:k, j], new[j]), k) for j in range(n)]
    np.testing.assert_allclose(
        corrected, [a + np.polyval(np.polyint(x), h) for a, x in zip(y, through, strict=True)], rtol=1e-7
    )


def test_adams_weights_of_equal_steps():
    m = adams_memory(1)
    m.order, m.stored = 3, 5
    m.psi[:8] = np.arange(8.0)
    abm.coefficients(m, 1.0)
    np.testing.assert_allclose(m.g[1:6], [1, 1 / 2, 5 / 12, 3 / 8, 251 / 720], rtol=1e-14)


def growth(A, b, z):
    return 1 + z * b @ np.linalg.solve(np.eye(len(b)) - z * A, np.ones(len(b)))


def test_stability_functions():
    for z in (-1.3 + 0.4j, 2j, -0.2 - 3j):
        own = 1 + z + z**2 / 2 + z**3 / 6 + z**4 / 24
        assert growth(dopri.A, dopri.B, z) == pytest.approx(own + z**5 / 120 + z**6 / 600, rel=1e-12)
        quotient = (1 + 2 / 5 * z + z**2 / 20) / (1 - 3 / 5 * z + 3 / 20 * z**2 - z**3 / 60)
        assert growth(radau._A, radau._A[2], z) == pytest.approx(quotient, rel=1e-12)


def cart(stiffness=100.0, damping=0.0, q0=1.0):
    m = madi.Model("cart", gravity=(0, 0, 0))
    m.body("cart", mass=1.0, inertia=(1, 1, 1))
    m.prismatic("track", m.ground, "cart", at=(0, 0, 0), axis=(1, 0, 0), q0=q0)
    m.joint_spring("spring", "track", stiffness=stiffness, damping=damping)
    return m.build()


def test_one_step_on_an_oscillator_is_the_stability_function():
    W = 0.7
    rk4 = 1 + 1j * W - W**2 / 2 - 1j * W**3 / 6 + W**4 / 24
    for method, wanted in (("rk4", rk4), ("radau", growth(radau._A, radau._A[2], 1j * W))):
        run = madi.simulate(cart(), 0.07, step=0.07, times=[0.0, 0.07], method=method, engine="plain")
        assert run["track"][-1] == pytest.approx(wanted.real, abs=1e-9)
        assert run["track.v"][-1] == pytest.approx(-10 * wanted.imag, abs=1e-8)


def test_the_interpolant_as_printed():
    """Exact for solutions of degree 4, and of the ends and slopes of any."""
    k = np.append(dopri.C, 1.0) ** 3
    x1 = dopri.B @ k[:6]
    for s in np.linspace(0, 1, 7):
        tail = (2 * x1 - k[0] - k[6]) + (1 - s) * dopri.DENSE @ k
        x = s * (x1 + (1 - s) * ((k[0] - x1) + s * tail))
        assert x == pytest.approx(s**4 / 4, abs=1e-12)
    assert x1 == pytest.approx(0.25, abs=1e-14)


@pytest.mark.parametrize("D", [0.0, 0.3])
@pytest.mark.parametrize(("method", "f"), [("newmark-explicit", 1), ("newmark-explicit-full", 2)])
def test_limits_of_explicit_newmark(method, f, D):
    limit = 2 * (np.sqrt(1 + (f * D) ** 2) - f * D)
    sizes = []
    for share in (0.99, 1.01):
        h = share * limit / 10
        s = cart(100.0, 20 * D)
        run = madi.simulate(s, 200 * h, step=h, times=[0, 100 * h, 200 * h], method=method, engine="plain")
        sizes.append(np.hypot(run["track"], run["track.v"] / 10))
    assert sizes[0][-1] < (1e-3 if D else 30)
    assert sizes[1][-1] > 10 * sizes[1][1] > 10


# ---- 3. Newmark's family ----------------------------------------------------------------------------------------------


TRAPEZOIDAL = madi.Newmark(gamma=0.5, beta=0.25).scheme()


def by_radius(rho):
    return madi.GeneralizedAlpha(spectral_radius=rho).scheme()


def by_alpha(alpha):
    return madi.GeneralizedAlpha(alpha=alpha).scheme()


def roots(options, W):
    """Of the printed characteristic equation."""
    m, f, beta, gamma = options
    last = Polynomial([0.5 - gamma + beta, 0.5 + gamma - 2 * beta, beta])
    p = Polynomial([m, 1 - m]) * Polynomial([1, -2, 1]) + W * W * Polynomial([f, 1 - f]) * last
    return p.roots()


def test_parameters_by_the_spectral_radius():
    for rho in (0.0, 0.3, 0.5, 0.8, 1.0):
        m, f, beta, gamma = by_radius(rho)
        assert m == pytest.approx((2 * rho - 1) / (rho + 1))
        assert f == pytest.approx(rho / (rho + 1))
        assert gamma == pytest.approx((3 - rho) / (2 * (1 + rho)))
        assert beta == pytest.approx(1 / (1 + rho) ** 2)
        far = roots((m, f, beta, gamma), 1e5)
        np.testing.assert_allclose(np.abs(far), rho, atol=3e-3)  # a threefold root: digits are few
        assert max(np.max(np.abs(roots((m, f, beta, gamma), W))) for W in np.logspace(-2, 4, 60)) < 1 + 1e-6
    m, f, beta, gamma = by_alpha(0.2)
    np.testing.assert_allclose(np.sort(np.abs(roots((m, f, beta, gamma), 1e6))), [0.25, 0.8 / 1.2, 0.8 / 1.2], rtol=1e-4)
    assert by_radius(0.5) == pytest.approx(by_alpha(1 / 3))


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.8, 1.0])
def test_period_and_damping_of_small_steps(rho):
    W, delta = 0.02, (1 - rho) / (1 + rho)
    log = np.log(max((r for r in roots(by_radius(rho), W) if r.imag > 1e-3), key=abs))
    assert W / log.imag - 1 == pytest.approx((1 / 12 + 3 / 8 * delta**2) * W**2, rel=5e-3)
    assert -log.real / log.imag == pytest.approx(0.5 * delta**3 * W**3, rel=5e-3, abs=1e-9)
    log = np.log(max((r for r in roots(madi.Newmark(gamma=0.6).scheme(), W) if r.imag > 1e-3), key=abs))
    assert -log.real / log.imag == pytest.approx(0.05 * W, rel=1e-2)


def test_a_run_follows_the_roots():
    """Every third-order recursion has its characteristic equation: three steps fix the next."""
    options = by_radius(0.6)
    run = madi.simulate(
        cart(), 0.8, step=0.1, times=np.arange(9) * 0.1, method=madi.GeneralizedAlpha(spectral_radius=0.6), engine="plain"
    )
    p = np.poly(roots(options, 1.0)).real
    x = run["track"]
    np.testing.assert_allclose([p @ x[k : k + 4][::-1] for k in range(5)], 0.0, atol=1e-9)
    assert abs(np.poly(roots(by_radius(0.8), 1.0)).real @ x[:4][::-1]) > 1e-3


@pytest.mark.parametrize("options", [by_radius(0.8), TRAPEZOIDAL, by_alpha(0.2)])
def test_newton_s_matrix(options):
    """S with (1 - alpha_m) / (1 - alpha_f), beside differences of the residual along the step's own formulas."""
    m, f, beta, gamma = options
    rng, h = np.random.default_rng(4), 0.3
    s = random_tree(rng, 3, moving=True, forces=True).build()
    q, v, a = random_state(rng, s)
    J = s.system_jacobian(q, v, a)
    S = (1 - m) / (1 - f) * J.by_qdd + gamma * h * J.by_qd + beta * h**2 * J.by_q

    def R(d):  # what a change d of the algorithmic acceleration does
        at = moved(s.layout.arrays, q, beta * h**2 * d, exponential)
        return s.residual(at, v + gamma * h * d, a + (1 - m) / (1 - f) * d, engine="plain")

    found = np.array([(R(1e-5 * e) - R(-1e-5 * e)) / 2e-5 for e in np.eye(s.nv)]).T
    np.testing.assert_allclose(found, S, atol=1e-6 * np.max(np.abs(S)))
    if m != 0.0:
        assert np.max(np.abs(found - S + ((1 - m) / (1 - f) - 1) * J.by_qdd)) > 1e-2 * np.max(np.abs(S))


def step_by_hand(s, q, v, a, A, options, h):
    """One step as printed, Newton's matrix by differences: (q1, v1)."""
    m, f, beta, gamma = options
    nv, nr, arrays = s.nv, s.n_constraints, s.layout.arrays

    def trial(A1):
        theta = h * v + h * h * ((0.5 - beta) * A + beta * A1)
        v1 = v + h * ((1 - gamma) * A + gamma * A1)
        a1 = ((1 - m) * A1 + m * A - f * a) / (1 - f)
        return theta, v1, a1

    def F(y):
        theta, v1, a1 = trial(y[:nv])
        q1 = moved(arrays, q, theta, exponential)
        rows = s.constraint_jacobian(q1, engine="plain") @ v1 / (gamma * h) if nr else np.zeros(0)
        return np.concatenate([s.residual(q1, v1, a1, y[nv:], engine="plain"), rows])

    y = np.concatenate([A, np.zeros(nr)])
    for _ in range(7):
        S = np.array([(F(y + 1e-5 * e) - F(y - 1e-5 * e)) / 2e-5 for e in np.eye(nv + nr)]).T
        y = y - np.linalg.solve(S, F(y))
    theta, v1, _ = trial(y[:nv])
    for _ in range(6 if nr else 0):  # then Phi = 0, and Phi' = 0 there
        q1 = moved(arrays, q, theta, exponential)
        theta = theta + np.linalg.solve(S, np.concatenate([np.zeros(nv), -s.constraints(q1, engine="plain")]))[:nv]
        q1 = moved(arrays, q, theta, exponential)
        rate = s.constraint_jacobian(q1, engine="plain") @ v1
        v1 = v1 + np.linalg.solve(S, np.concatenate([np.zeros(nv), -rate]))[:nv]
    return moved(arrays, q, theta, exponential), v1


def test_a_step_of_a_free_tree_by_hand():
    rng, h = np.random.default_rng(5), 0.02
    m = random_tree(rng, 3, kinds=("spherical", "revolute", "universal"), moving=True)
    s = m.build()
    q, v, _ = random_state(rng, s)
    a = s.forward_dynamics(q, v, engine="plain")
    method = madi.GeneralizedAlpha(spectral_radius=0.8)
    run = madi.simulate(s, h, step=h, times=[0.0, h], method=method, engine="plain", start=(q, v))
    q1, v1 = step_by_hand(s, q, v, a, a, by_radius(0.8), h)
    np.testing.assert_allclose(run.data["q"].values[-1], q1, atol=1e-9)
    np.testing.assert_allclose(run.data["v"].values[-1], v1, atol=1e-8)


def four_bar():
    m = madi.Model("four-bar")
    points = [(0, 0, 0), (0.1, 0, 0.4), (0.9, 0, 0.6), (0.8, 0, 0)]
    before = m.ground
    for k, name in enumerate("abc"):
        one, two = np.array(points[k]), np.array(points[k + 1])
        m.body(name, 1.0 + k, inertia=(0.05, 0.1, 0.05), position=(one + two) / 2)
        m.revolute(f"j{k}", before, name, at=one, axis=(0, 1, 0))
        before = name
    m.point_on_line("shut", m.ground, "c", at=points[3], axis=(0, 1, 0))
    return m.build()


def test_a_step_with_a_loop_by_hand():
    """Phi' = 0 for the multipliers, then Phi = 0: the closed state after a step."""
    s, h = four_bar(), 0.01
    q, v = s.q0, np.linalg.svd(s.constraint_jacobian(s.q0))[2][-1] * 3.0
    a = s._evaluate("multipliers", q, v, np.zeros(s.nv), 0.0, "plain")[: s.nv]
    method = madi.Newmark(jacobian="iteration")
    run = madi.simulate(s, h, step=h, times=[0.0, h], method=method, engine="plain", start=(None, v))
    q1, v1 = step_by_hand(s, q, v, a, a, TRAPEZOIDAL, h)
    assert np.max(np.abs(s.constraints(q1))) < 1e-12
    np.testing.assert_allclose(run.data["q"].values[-1], q1, atol=2e-9)
    np.testing.assert_allclose(run.data["v"].values[-1], v1, atol=2e-7)
    assert np.max(np.abs(q1 - q - h * v)) > 1e-5


def test_orders_of_the_multiplier(monkeypatch):
    """Of the page's pendulum: no convergence with Phi = 0, first order with v projected, second order with Phi' = 0."""
    monkeypatch.syspath_prepend(str(PICTURES.parent))
    spec = importlib.util.spec_from_file_location("pictures_of_time", PICTURES)
    pictures = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(pictures)
    for level, order in (("position", 0), ("projected", 1), ("rate", 2)):
        coarse, fine = (np.max(np.abs(pictures.pendulum(h, level)[:, 1])) for h in (0.01, 0.005))
        assert np.log2(coarse / fine) == pytest.approx(order, abs=0.1)


def test_a_fixed_number_of_iterations():
    """One correction with the step's own matrix keeps the second order; with a matrix made once two are of first order."""
    p = madi.Model("double pendulum")
    for k, name in enumerate("ab"):
        p.body(name, mass=1.0 + k, inertia=(0.05, 0.1, 0.06), position=(0, 0, -1 - k))
    p.revolute("A", p.ground, "a", at=(0, 0, 0), axis=(0, 1, 0), q0=1.0)
    p.revolute("B", "a", "b", at=(0, 0, -1), axis=(0, 1, 0), q0=0.5)
    s = p.build()
    truth = madi.simulate(s, 1.0, rtol=1e-10, atol=1e-11, times=[1.0])["B"][-1]
    orders = []
    for options in ({"iterations": 1, "jacobian": "step"}, {"iterations": 2, "jacobian": "once"}):
        errors = [
            abs(madi.simulate(s, 1.0, step=h, times=[1.0], method=madi.Newmark(**options))["B"][-1] - truth)
            for h in (0.005, 0.0025)
        ]
        orders.append(np.log2(errors[0] / errors[1]))
    assert orders == pytest.approx([2.0, 1.0], abs=0.15)


def test_first_order_states_by_the_trapezoidal_rule():
    m = madi.Model("lag")
    m.body("cart", mass=1.0, inertia=(1, 1, 1))
    m.prismatic("track", m.ground, "cart", at=(0, 0, 0), axis=(1, 0, 0))
    m.state("z", lambda t, q, v: -5.0 * v["z"], start=1.0)
    run = madi.simulate(m, 0.3, step=0.1, times=[0.0, 0.1, 0.2, 0.3], method="newmark", engine="plain")
    np.testing.assert_allclose(run["z"], (0.75 / 1.25) ** np.arange(4), rtol=1e-10)


# ---- 4. Radau ---------------------------------------------------------------------------------------------------------


def test_radau_s_eigenvalues_and_error_estimate():
    two, one = 3 ** (2 / 3), 3 ** (1 / 3)
    wanted = [3 + two - one, 3 - 0.5 * (two - one), np.sqrt(3) / 2 * (two + one)]
    np.testing.assert_allclose([radau.G, radau.ALPHA, radau.BETA], wanted, rtol=1e-13)
    L = np.array([[radau.G, 0, 0], [0, radau.ALPHA, radau.BETA], [0, -radau.BETA, radau.ALPHA]])
    np.testing.assert_allclose(np.linalg.inv(radau._A) @ radau.T, radau.T @ L, atol=1e-12)
    D = np.array([-13 - 7 * np.sqrt(6), -13 + 7 * np.sqrt(6), -1]) / 3
    np.testing.assert_allclose(D, [radau.D1, radau.D2, radau.D3], rtol=1e-14)
    weights = radau._A[2] + D @ radau._A / radau.G  # of the embedded formula, beside f(x0) / g
    assert 1 / radau.G + np.sum(weights) == pytest.approx(1.0)
    np.testing.assert_allclose([weights @ radau.C, weights @ radau.C**2], [1 / 2, 1 / 3], rtol=1e-12)


def test_the_halved_system():
    """(mu - J) w = r beside the printed half, with constraints, real and complex."""
    rng = np.random.default_rng(6)
    n, r = 4, 2
    M = rng.normal(size=(n, n))
    M = M @ M.T + np.eye(n)
    Rv, Rq, rows = rng.normal(size=(n, n)), rng.normal(size=(n, n)), rng.normal(size=(r, n))
    kkt = np.block([[M, rows.T], [rows, np.zeros((r, r))]])
    by_q, by_v = (-np.linalg.solve(kkt, np.vstack([x, np.zeros((r, n))]))[:n] for x in (Rq, Rv))
    J = np.block([[np.zeros((n, n)), np.eye(n)], [by_q, by_v]])
    for mu in (radau.G / 0.1, (radau.ALPHA - 1j * radau.BETA) / 0.1):
        right = rng.normal(size=2 * n) + 0j
        w = np.linalg.solve(mu * np.eye(2 * n) - J, right)
        half = np.block([[mu * M + Rv + Rq / mu, rows.T], [rows, np.zeros((r, r))]])
        dv = np.linalg.solve(half, np.concatenate([M @ right[n:] - Rq @ right[:n] / mu, rows @ right[n:] / mu]))[:n]
        np.testing.assert_allclose(w[n:], dv, rtol=1e-9)
        np.testing.assert_allclose(w[:n], (right[:n] + dv) / mu, rtol=1e-9)
