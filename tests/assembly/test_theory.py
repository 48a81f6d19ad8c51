"""docs/theory/statics.md: its equations in NumPy beside madi."""

import numpy as np
import pytest
from scipy.linalg import null_space as null_of

import madi
from madi.assembly.redundancy import length_of
from madi.assembly.statics import Balance
from tests.loops.test_theory import carriage
from tests.mechanisms import four_bar, moved


def slider(damping=4.0):
    """The worked example: cos(phi) = 0.6 as drawn."""
    knee, top = np.array([0.4, 0, 0.3]), np.array([0, 0, 0.6])
    m = madi.Model("crank and slider")
    for name, a, b in (("crank", np.zeros(3), knee), ("rod", knee, top)):
        z = (b - a) / 0.5
        axes = np.column_stack([np.cross((0, 1, 0), z), (0, 1, 0), z])
        m.body(name, 1.0, inertia=(1 / 48, 1 / 48, 1e-4), position=(a + b) / 2, orientation=axes)
    m.body("slider", 1.0, inertia=(0.01, 0.01, 0.01), position=top)
    m.revolute("A", m.ground, "crank", at=(0, 0, 0), axis=(0, 1, 0))
    m.revolute("B", "crank", "rod", at=knee, axis=(0, 1, 0))
    m.revolute("C", "rod", "slider", at=top, axis=(0, 1, 0))
    m.prismatic("D", m.ground, "slider", at=top, axis=(0, 0, 1))
    m.joint_spring("spring", "D", stiffness=196.2, damping=damping, rest=0.3)
    return m


def skew(w):
    return np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])


# ---- 1. assembly ------------------------------------------------------------------------------------------------------


def scaled(s, q):
    """Phi_q with a typical length taken out of rows in m and of slides."""
    length = length_of(s)
    rows = np.array([1 / length if row.unit == "m" else 1.0 for row in s.frozen.rows])
    columns = np.array([length if unit.startswith("m") else 1.0 for unit in s.frozen.speed_units])
    return rows[:, None] * s.constraint_jacobian(q, engine="plain") * columns, columns


def test_positions_move_the_least_by_typical_lengths():
    s = slider().build()
    rng = np.random.default_rng(1)
    for size in (1e-3, 1e-4):
        rough = s.start.q + size * rng.normal(size=s.nq)
        found = s.assemble(rough)
        step = found.q - rough
        J, columns = scaled(s, found.q)
        assert np.linalg.norm(step) > 0.1 * size
        assert np.max(np.abs(null_of(J).T @ (step / columns))) < 10 * size**2
        # and not the least by mass, as the projection has it
        M = s.mass_matrix(found.q, engine="plain")
        assert np.max(np.abs(null_of(s.constraint_jacobian(found.q, engine="plain")).T @ M @ step)) > 100 * size**2


def test_velocities_change_the_least():
    s = slider().build()
    q, wild = s.start.q, np.array([1.0, 0.3, -0.4])
    J, columns = scaled(s, q)
    expected = wild - columns * (np.linalg.pinv(J, rcond=1e-10) @ (J @ (wild / columns)))
    np.testing.assert_allclose(s.assemble(q, wild).v, expected, atol=1e-10)
    held = s.assemble(q, {"A": 1.0})
    assert held.v[s.speeds.index("A")] == 1.0
    assert np.max(np.abs(J @ (held.v / columns))) < 1e-10


def corners(s, q):
    """B and C of the four-bar in the plane x, z."""
    (crank, R), (rocker, T) = s.body_pose(q, "crank", engine="plain"), s.body_pose(q, "rocker", engine="plain")
    return (crank + R @ (0, 0, 0.15))[[0, 2]], (rocker + T @ (0, 0, 0.4))[[0, 2]]


@pytest.mark.parametrize("angle", [-3.0, 0.7, 2.0, 6.0])
def test_continuation_keeps_the_assembly_mode(angle):
    """Both modes are the intersections of two circles; the drawing's is kept, the other found from a start near it."""
    s = four_bar().build()
    found = s.assemble({"A": angle})
    B, C = corners(s, found.q)
    D = np.array([0.9, 0.0])
    np.testing.assert_allclose(B, 0.3 * np.array([np.sin(angle), np.cos(angle)]), atol=1e-10)
    d = D - B
    x = (1.0 - 0.64 + d @ d) / (2 * np.linalg.norm(d))
    along, across = d / np.linalg.norm(d), np.array([-d[1], d[0]]) / np.linalg.norm(d)
    np.testing.assert_allclose(C, B + x * along + np.sqrt(1 - x * x) * across, atol=1e-9)
    # mirrored: coupler and rocker turn by minus twice their angle to BD
    q = found.q.copy()
    for name, P in (("B", B), ("D", D)):
        a = C - P
        turn = 2 * np.arctan2(a @ across, a @ along)
        q[s.coordinates.index(name)] += turn  # about +y the plane x, z turns clockwise
    other = s.assemble(q, pin=["A"])
    np.testing.assert_allclose(corners(s, other.q)[1], B + x * along - np.sqrt(1 - x * x) * across, atol=1e-9)


# ---- 2. equilibrium -----------------------------------------------------------------------------------------------------


def potential(phi):
    """V and its second derivative, by hand."""
    z = np.cos(phi)
    return 19.62 * z + 98.1 * (z - 0.9) ** 2, 196.2 * np.sin(phi) ** 2 - (19.62 + 196.2 * (z - 0.9)) * z


def test_the_example_by_hand():
    rest = madi.statics(slider())
    place = rest.system.coordinates.index
    assert 0.6 + rest.q[place("D")] == pytest.approx(0.8, abs=1e-10)
    assert np.arccos(0.6) + rest.q[place("A")] == pytest.approx(np.arccos(0.8), abs=1e-9)
    assert rest.stable
    assert potential(np.arccos(0.8))[1] == pytest.approx(70.632)
    assert potential(0.0)[1] == pytest.approx(-39.24)


def reduced_stiffness(s, q, lam):
    """N^T K N along the one direction that is free, K = dR/dq at constant multipliers."""
    K = s.system_jacobian(q, np.zeros(s.nv), np.zeros(s.nv), lam).by_q
    N = null_of(s.constraint_jacobian(q, engine="plain"))
    return N, N.T @ K @ N


def test_reduced_stiffness_is_the_second_derivative_of_the_potential():
    for start, wanted in ((None, 70.632), ({"A": -np.arccos(0.6)}, -39.24)):
        rest = madi.statics(slider(), q0=start)
        s, a = rest.system, rest.system.speeds.index("A")
        N, stiffness = reduced_stiffness(s, rest.q, rest.lam)
        assert stiffness[0, 0] / N[a, 0] ** 2 == pytest.approx(wanted, rel=1e-7)
        assert rest.stable == (wanted > 0)
        # and along the closed curve itself
        h = 1e-3
        V = [s.energy(s.assemble({"A": rest.q[a] + x}).q, np.zeros(3), engine="plain")["potential"] for x in (-h, 0.0, h)]
        assert (V[0] - 2 * V[1] + V[2]) / h**2 == pytest.approx(wanted, rel=1e-4)


def test_the_stiffness_of_a_constraint_force():
    m = carriage()
    rest = madi.statics(m)
    s = rest.system
    np.testing.assert_allclose(rest.q, [-0.6, -0.2], atol=1e-9)
    assert rest.lam[0] == pytest.approx(9.81)
    np.testing.assert_allclose(reduced_stiffness(s, rest.q, rest.lam)[1], [[9.81]], rtol=1e-9)
    np.testing.assert_allclose(reduced_stiffness(s, rest.q, 0 * rest.lam)[1], [[0.0]], atol=1e-12)
    assert abs(madi.linearize(rest).modes[0]["eigenvalue"]) == pytest.approx(1.808314, abs=1e-6)


@pytest.mark.parametrize("shift", [0.0, 5.0, 1e4])
def test_a_pseudo_transient_step(shift):
    s = slider().build()
    balance = Balance(s, 0.0)
    state = balance.at(moved(s, s.start.q, [0.02, -0.01, 0.03]), np.zeros(s.nv), np.zeros(s.n_constraints))
    m = len(state.phi)
    assert np.max(np.abs(state.phi)) > 1e-3
    A = np.block([[state.K + shift * state.M, state.J.T], [state.J, np.zeros((m, m))]])
    expected = np.linalg.solve(A, -np.concatenate([state.R, state.phi]))[: s.nv]
    np.testing.assert_allclose(balance.step(state, shift), expected, rtol=1e-8, atol=1e-10)


def test_small_pseudo_time_goes_downhill_newton_to_the_maximum():
    """phi = 0.1: V'' < 0."""
    s = slider().build()
    start = s.assemble({"A": 0.1 - np.arccos(0.6)})
    assert potential(0.1)[1] < 0
    balance = Balance(s, 0.0)
    state = balance.at(start.q, np.zeros(s.nv), np.zeros(s.n_constraints))
    a = s.speeds.index("A")
    newton, careful = balance.step(state, 0.0), balance.step(state, 1e3)
    assert newton[a] < 0 < careful[a]
    assert state.R @ newton > 0 > state.R @ careful
    found = madi.statics(s, q0=start.q)
    assert np.arccos(0.6) + found.q[a] == pytest.approx(np.arccos(0.8), abs=1e-9)


def test_circulatory_loads_may_flutter_although_the_symmetric_part_is_positive():
    m = madi.Model("circulatory", gravity=(0, 0, 0))
    for name, axis in (("x", (1, 0, 0)), ("y", (0, 1, 0))):
        m.body(f"on {name}", 1.0, inertia=(1, 1, 1))
        m.prismatic(name, m.ground, f"on {name}", at=(0, 0, 0), axis=axis)
        m.joint_spring(f"spring {name}", name, stiffness=10.0)
    m.joint_torque("fx", "x", lambda t, q, v: -3.0 * q["y"])
    m.joint_torque("fy", "y", lambda t, q, v: 3.0 * q["x"])
    rest = madi.statics(m, q0=[0.1, 0.05])
    assert rest.stable
    worst = max(madi.linearize(rest).eigenvalues, key=lambda x: x.real)
    assert worst.real == pytest.approx(np.sqrt(-10 + 3j).real, rel=1e-9)


# ---- 3. linearisation -----------------------------------------------------------------------------------------------------


def by_differences(s, lin):
    """A of a mechanism at rest: closed states near it, accelerations of the independent coordinates."""
    f = len(lin.states) // 2
    names = lin.states[:f]
    at = [s.speeds.index(name) for name in names]
    h, rows = 1e-5, []
    for k in range(2 * f):
        found = []
        for sign in (1, -1):
            q = {name: lin.q[s.coordinates.index(name)] + (sign * h if k == j else 0) for j, name in enumerate(names)}
            v = {name: sign * h if k == f + j else 0.0 for j, name in enumerate(names)}
            state = s.assemble(q, v)
            found.append(s.forward_dynamics(state.q, state.v, engine="plain")[at])
        rows.append((found[0] - found[1]) / (2 * h))
    return np.vstack([np.hstack([np.zeros((f, f)), np.eye(f)]), np.array(rows).T])


@pytest.mark.parametrize("draw", [slider, lambda: slider(0.0)])
def test_the_reduction_against_differences_of_closed_states(draw):
    lin = madi.linearize(draw())
    np.testing.assert_allclose(lin.A, by_differences(lin.system, lin), rtol=1e-5, atol=1e-5)


def test_the_eigenvalue_by_hand():
    mode = madi.linearize(slider()).modes[0]
    mass = (0.25 / 3 + 0.25 * (0.25 * 0.64 + 2.25 * 0.36) + 0.25 / 12 + 0.36) / 0.36
    assert mass == pytest.approx(1.962963, abs=1e-6)
    root = max(np.roots([mass, 4.0, 196.2]), key=lambda x: x.imag)
    assert mode["eigenvalue"] == pytest.approx(root, rel=1e-8)
    assert root == pytest.approx(-1.018868 + 9.945494j, abs=1e-6)


def pair(cut):
    """Two bodies on a ball joint, which may close a loop; without gravity."""
    m = madi.Model("pair", gravity=(0, 0, 0))
    m.body("A", 2.0, inertia=(0.3, 0.4, 0.5))
    m.body("B", 1.0, inertia=(0.2, 0.25, 0.1), position=(0, 0, 1.0))
    m.free("fa", m.ground, "A")
    if cut:
        m.free("fb", m.ground, "B")
    m.spherical("S", "A", "B", at=(0, 0, 0.6), cut=True if cut else None)
    return m.build()


def test_steady_motions_with_turning_axes():
    """Spinning about the common axis and moving along it: eqs. (8) to (12) with Jacobians by differences."""
    s = pair(cut=True)
    q, v = s.start.q, np.zeros(12)
    v[[5, 11]], v[[2, 8]] = 5.0, 0.3
    lin = madi.linearize(s, q, v)
    assert lin.steady
    f = len(lin.states) // 2
    ind = [s.speeds.index(name) for name in lin.states[:f]]
    S = np.zeros((12, 12))
    for k in (0, 6):
        u, w = skew(v[k : k + 3]), skew(v[k + 3 : k + 6])
        S[k : k + 6, k : k + 6] = -np.block([[w, u], [np.zeros((3, 3)), w]])
    N, X = lin.N, lin.X
    turning = (S @ N)[ind]
    np.testing.assert_allclose(lin.A[:f, :f], turning, atol=1e-12)
    np.testing.assert_allclose(X, N @ turning - S @ N, atol=1e-12)  # eq. (12)
    assert np.max(np.abs(X)) > 0.1
    # the blocks by differences along the exponential, to which both charts are equal at first order
    h = 1e-5
    a, lam = np.zeros(12), s._evaluate("multipliers", q, v, np.zeros(12), 0.0, "plain")[12:]
    one = np.eye(12)

    def R(theta, dv, da):
        return s.residual(moved(s, q, theta), v + dv, a + da, lam, engine="plain")[:12]

    def rate(theta):
        return s.constraint_terms(moved(s, q, theta), v, engine="plain")[1]

    zero = np.zeros(12)
    K = np.column_stack([(R(h * e, zero, zero) - R(-h * e, zero, zero)) / (2 * h) for e in one])
    D = np.column_stack([(R(zero, h * e, zero) - R(zero, -h * e, zero)) / (2 * h) for e in one])
    M = np.column_stack([(R(zero, zero, h * e) - R(zero, zero, -h * e)) / (2 * h) for e in one])
    H = np.column_stack([(rate(h * e) - rate(-h * e)) / (2 * h) for e in one])
    J = s.constraint_jacobian(q, engine="plain")
    np.testing.assert_allclose(J @ X, -H @ N, atol=1e-8)
    np.testing.assert_allclose(H @ N, J @ S @ N, atol=1e-8)
    mass = N.T @ M @ N
    lower = -np.linalg.solve(mass, np.hstack([N.T @ (K @ N + D @ X + M @ X @ turning), N.T @ (D @ N + M @ X)]))
    np.testing.assert_allclose(lin.A[f:], lower, atol=1e-6)
    # the same small motions where the ball joint is in the tree
    tree = pair(cut=False)
    same = madi.linearize(tree, tree.q0, [0, 0, 0.3, 0, 0, 5.0, 0, 0, 0])
    coefficients = [np.poly(x.A) for x in (lin, same)]
    np.testing.assert_allclose(coefficients[0], coefficients[1], atol=1e-6 * np.max(np.abs(coefficients[1])))


@pytest.mark.parametrize("spin", [10.0, 34.0, 35.0, 50.0])
def test_a_sleeping_top(spin):
    m = madi.Model("top")
    m.body("top", 1.0, inertia=(0.02, 0.02, 0.01), position=(0, 0, 0.1))
    m.spherical("tip", m.ground, "top", at=(0, 0, 0))
    found = madi.linearize(m, q=[1, 0, 0, 0], v=[0, 0, spin]).eigenvalues
    expected = 1j * (np.roots([0.03, -0.01 * spin, 0.981]).astype(complex) - spin)
    for value in (*expected, *expected.conj()):
        assert np.min(np.abs(found - value)) < 1e-5 * abs(value)
    assert (np.max(found.real) > 1e-3) == (spin < 2 * np.sqrt(0.03 * 0.981) / 0.01)


def test_a_governor_on_a_driven_shaft():
    """A relative equilibrium: cos(theta) = g / (W^2 l), small motions with W sin(theta)."""
    spin, length = 6.0, 0.5
    m = madi.Model("governor")
    m.body("shaft", 1.0, inertia=(1, 1, 1))
    m.body("ball", 1.0, inertia=(0, 0, 0), position=(0, 0, -length), unphysical=True)
    m.revolute("spin", m.ground, "shaft", at=(0, 0, 0), axis=(0, 0, 1))
    m.revolute("arm", "shaft", "ball", at=(0, 0, 0), axis=(0, 1, 0))
    m.drive("spin", lambda t: spin * t)
    theta = np.arccos(9.81 / (spin**2 * length))
    found = madi.linearize(m.build(), [0.0, -theta], [spin, 0.0])
    assert found.steady
    assert found.states == ("arm", "arm.v")
    assert found.modes[0]["eigenvalue"] == pytest.approx(1j * spin * np.sin(theta), rel=1e-8)


def test_first_order_states():
    """A force that lags behind its command: 10 x = z, z = 3 - 4 x."""
    m = madi.Model("lag", gravity=(0, 0, 0))
    m.body("mass", 2.0, inertia=(1, 1, 1))
    m.prismatic("x", m.ground, "mass", at=(0, 0, 0), axis=(1, 0, 0))
    m.joint_spring("spring", "x", stiffness=10.0, damping=1.0)
    m.state("z", lambda t, q, v: (3.0 - 4.0 * q["x"] + 0.5 * v["x"] - v["z"]) / 0.2)
    m.joint_torque("actuator", "x", lambda t, q, v: v["z"])
    rest = madi.statics(m)
    np.testing.assert_allclose(rest.q, [3 / 14], rtol=1e-9)
    np.testing.assert_allclose(rest.v, [0.0, 30 / 14], rtol=1e-9)
    found = madi.linearize(rest)
    assert found.states == ("x", "x.v", "z")
    np.testing.assert_allclose(found.A, [[0, 1, 0], [-5, -0.5, 0.5], [-20, 2.5, -5]], atol=1e-9)
    assert rest.stable is None  # the stiffness with z held is positive, and says nothing
    assert max(found.eigenvalues.real) > 0  # with its feedback it is not
