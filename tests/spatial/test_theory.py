"""docs/theory/spatial.md, formula by formula: an implementation of the printed equations in NumPy beside the kernels."""

import re
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import madi
from madi.bodies.rigid import inertia as body_inertia
from madi.spatial.inertia import momentum_of
from madi.spatial.vector import dot, force_cross, motion_cross
from tests.mechanisms import moved, random_state, random_tree


def skew(s):
    return np.array([[0, -s[2], s[1]], [s[2], 0, -s[0]], [-s[1], s[0], 0]])


def cross(Y, X):
    """(v, w) x (u, e) = (w x u + v x e, w x e)."""
    return np.concatenate([np.cross(Y[3:], X[:3]) + np.cross(Y[:3], X[3:]), np.cross(Y[3:], X[3:])])


def cross_dual(Y, F):
    """(v, w) x* (f, n) = (w x f, v x f + w x n)."""
    return np.concatenate([np.cross(Y[3:], F[:3]), np.cross(Y[:3], F[:3]) + np.cross(Y[3:], F[3:])])


def full(ten):
    """The 6 x 6 matrix [[m 1, -h~], [h~, I]] of a ten-number inertia."""
    m, h, I = ten[0], skew(ten[1:4]), np.zeros((3, 3))
    I[np.triu_indices(3)] = ten[4:]
    I = I + np.triu(I, 1).T
    return np.block([[m * np.eye(3), -h], [h, I]])


def inertia(m, c, J):
    """M^ = [[m 1, -m c~], [m c~, J - m c~ c~]]."""
    return np.block([[m * np.eye(3), -m * skew(c)], [m * skew(c), J - m * skew(c) @ skew(c)]])


class Count:
    """A number that counts the multiplications, additions and divisions it takes part in."""

    mul = add = div = 0

    def __init__(self, x):
        self.x = float(x)

    def __float__(self):
        return self.x

    def _do(self, other, what, value):
        setattr(Count, what, getattr(Count, what) + 1)
        return Count(value(float(self), float(other)))

    def __mul__(self, other):
        return self._do(other, "mul", lambda a, b: a * b)

    __rmul__ = __mul__

    def __add__(self, other):
        return self._do(other, "add", lambda a, b: a + b)

    __radd__ = __add__

    def __sub__(self, other):
        return self._do(other, "add", lambda a, b: a - b)

    def __rsub__(self, other):
        return self._do(other, "add", lambda a, b: b - a)

    def __truediv__(self, other):
        return self._do(other, "div", lambda a, b: a / b)

    def __rtruediv__(self, other):
        return self._do(other, "div", lambda a, b: b / a)

    def __neg__(self):
        return Count(-self.x)


def counting(*shape):
    """An array of counting numbers, all different."""
    a = np.empty(shape, dtype=object)
    for k, place in enumerate(np.ndindex(*shape)):
        a[place] = Count(1.0 + 0.1 * k)
    return a


def cost(function):
    """(multiplications, additions, divisions) of a call."""
    Count.mul = Count.add = Count.div = 0
    function()
    return Count.mul, Count.add, Count.div


def test_cross_products_and_their_duality():
    rng = np.random.default_rng(1)
    for _ in range(20):
        Y, X, F = rng.normal(size=(3, 6))
        np.testing.assert_allclose(motion_cross(Y, X), cross(Y, X), atol=1e-14)
        np.testing.assert_allclose(force_cross(Y, F), cross_dual(Y, F), atol=1e-14)
        assert cross_dual(Y, F) @ X == pytest.approx(-F @ cross(Y, X), abs=1e-13)
        np.testing.assert_allclose(cross(Y, Y), 0, atol=1e-14)


def test_rate_of_a_carried_screw():
    """X = (p x e + zeta e, e) fixed in a body that moves with Y: X' = Y x X; F alike with x*."""
    rng = np.random.default_rng(2)
    Y, p, e, zeta, h = rng.normal(size=6), rng.normal(size=3), rng.normal(size=3), rng.normal(), 1e-6

    def at(t):  # first order is enough for a central difference
        there, along = p + t * (Y[:3] + np.cross(Y[3:], p)), e + t * np.cross(Y[3:], e)
        return np.concatenate([np.cross(there, along) + zeta * along, along])

    np.testing.assert_allclose((at(h) - at(-h)) / (2 * h), cross(Y, at(0)), atol=1e-9)
    swap = [3, 4, 5, 0, 1, 2]  # a force along e through p is (e, p x e + zeta e)
    np.testing.assert_allclose((at(h) - at(-h))[swap] / (2 * h), cross_dual(Y, at(0)[swap]), atol=1e-9)


def moving_body(seed, frame="ground"):
    """A system, a state and the work arrays after an observation with accelerations."""
    rng = np.random.default_rng(seed)
    s = random_tree(rng, 5, moving=seed % 2 == 0, reverse=0.4).build(frame=frame)
    q, v, a = random_state(rng, s)
    return s, q, v, a


def flow(s, q, v, a, t, steps=8):
    """State after t for constant accelerations a."""
    h = t / steps
    for _ in range(steps):
        q = moved(s, q, h * (v + 0.5 * h * a))
        v = v + h * a
    return q, v


@pytest.mark.parametrize("seed", range(4))
def test_material_acceleration(seed):
    """r'' = v' + w' x r + w x (v + w x r), against differences of observed velocities."""
    s, q, v, a = moving_body(seed)
    seen, work = s.observe(q, v, a=a, engine="plain"), s.engine("plain").work
    Y, rate, r = work.Y.copy(), work.A + work.a, work.r.copy()
    g = np.asarray(s.model.gravity, dtype=float)
    h = 1e-4
    ahead, behind = (s.observe(*flow(s, q, v, a, t), engine="plain") for t in (h, -h))
    for k in range(len(s.bodies)):
        i = k + 1
        origin = np.concatenate([rate[i, :3] + g, rate[i, 3:]])  # gravity is hidden in A
        lever = r[i] + seen.rotation[0, k] @ s.frozen.body_R[k].T @ s.frozen.body_r[k]
        u = Y[i, :3] + np.cross(Y[i, 3:], lever)
        printed = origin[:3] + np.cross(origin[3:], lever) + np.cross(Y[i, 3:], u)
        np.testing.assert_allclose(u, seen.velocity[0, k], atol=1e-10)
        np.testing.assert_allclose(printed, seen.acceleration[0, k], atol=1e-9)
        differences = (ahead.velocity[0, k] - behind.velocity[0, k]) / (2 * h)
        np.testing.assert_allclose(printed, differences, atol=2e-5 * (1 + np.max(np.abs(printed))))


def test_inertia_momentum_and_its_rate():
    """M^ from (m, c, J); M^' X = Y x* M^ X - M^ (Y x X), by differences along the motion."""
    rng = np.random.default_rng(5)
    m, s, V = 1.7, rng.normal(size=3), rng.normal(size=(3, 3))
    J = np.trace(V @ V.T) * np.eye(3) - V @ V.T
    Y, r0 = rng.normal(size=6), rng.normal(size=3)

    def ten(t):  # the body carried for t with constant Y
        w = skew(Y[3:])
        angle = np.linalg.norm(Y[3:])
        R = np.eye(3) + np.sin(angle * t) / angle * w + (1 - np.cos(angle * t)) / angle**2 * w @ w
        steps, r = 400, r0.copy()
        for _ in range(steps):  # midpoint rule for r' = v + w x r
            half = r + 0.5 * t / steps * (Y[:3] + np.cross(Y[3:], r))
            r = r + t / steps * (Y[:3] + np.cross(Y[3:], half))
        work = SimpleNamespace(R=R[None], r=r[None], inertia=np.zeros((1, 10)))
        pack = np.array([[J[0, 0], J[0, 1], J[0, 2], J[1, 1], J[1, 2], J[2, 2]]])
        model = SimpleNamespace(axisymmetric=[0], J=pack, mass=[m], com=s[None])
        body_inertia(model, work, 0)
        c = r + R @ s
        np.testing.assert_allclose(full(work.inertia[0]), inertia(m, c, R @ J @ R.T), atol=1e-12)
        return work.inertia[0]

    M, h = full(ten(0.0)), 1e-4
    rate = (full(ten(h)) - full(ten(-h))) / (2 * h)
    for X in rng.normal(size=(5, 6)):
        np.testing.assert_allclose(rate @ X, cross_dual(Y, M @ X) - M @ cross(Y, X), atol=1e-6)
        np.testing.assert_allclose(momentum_of(ten(0.0)[None], 0, X), M @ X, atol=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_force_vector_is_the_papers(seed):
    """Q^ = F - Y x* M^ Y = (f + m c' x w, n + c x f + m c x (c' x w) - w x J w)."""
    s, q, v, _ = moving_body(seed)
    s.forward_dynamics(q, v, formulation="recursive", engine="plain")
    work, model = s.engine("plain").work, s.layout.arrays
    for i in range(1, model.n):
        m, c = model.mass[i], work.r[i] + work.R[i] @ model.com[i]
        J = np.zeros((3, 3))
        J[np.triu_indices(3)] = model.J[i]
        J = work.R[i] @ (J + np.triu(J, 1).T) @ work.R[i].T
        Y = work.Y[i]
        w, rate = Y[3:], Y[:3] + np.cross(Y[3:], c)
        printed = np.concatenate(
            [m * np.cross(rate, w), m * np.cross(c, np.cross(rate, w)) - np.cross(w, J @ w)]
        )  # no forces are applied
        np.testing.assert_allclose(work.Q[i], printed, atol=1e-10 * (1 + np.max(np.abs(printed))))
        np.testing.assert_allclose(-cross_dual(Y, inertia(m, c, J) @ Y), printed, atol=1e-10 * (1 + np.max(np.abs(printed))))


def test_gravity_is_an_acceleration_of_the_ground():
    """Weights as forces at the centres of mass do what gravity in A does."""
    rng = np.random.default_rng(8)
    m = random_tree(rng, 6, reverse=0.3)
    g = np.array(m.gravity, dtype=float)
    s = m.build()
    q, v, tau = random_state(rng, s)
    heavy = s.forward_dynamics(q, v, tau, engine="plain")
    np.testing.assert_allclose(s.engine("plain").work.A[0], [*-g, 0, 0, 0])
    m.gravity = (0, 0, 0)
    for body in m.bodies:
        m.force(f"weight of {body.name}", body, float(body.mass) * g)
    np.testing.assert_allclose(m.build().forward_dynamics(q, v, tau, engine="plain"), heavy, rtol=1e-9, atol=1e-9)


def test_base_frame():
    """B of the base is 1, D is 0, joints on the base have constant columns; accelerations as in the ground's frame."""
    rng = np.random.default_rng(10)
    m = random_tree(rng, 4, kinds=("revolute", "prismatic"), moving=True, chain=0.0)
    base, ground = m.build(frame="base"), m.build(frame="ground")
    columns = []
    for _ in range(3):
        q, v, tau = random_state(rng, base)
        a = base.forward_dynamics(q, v, tau, engine="plain")
        work, model = base.engine("plain").work, base.layout.arrays
        np.testing.assert_allclose(work.B[:6], np.eye(6))
        np.testing.assert_allclose(work.Y[1], v[:6])
        R = base.body_pose(q, base.bodies[0], engine="plain")[1] @ base.frozen.body_R[0].T
        np.testing.assert_allclose(work.A[1], [*(-R.T @ np.asarray(m.gravity)), 0, 0, 0], atol=1e-12)  # D = Y x Y = 0
        turning = [
            c for c in range(6, base.nv) if model.parent[model.column_body[c]] == 1 and base.frozen.units[c + 1] == "rad"
        ]
        columns.append(work.B[turning].copy())
        np.testing.assert_allclose(ground.forward_dynamics(q, v, tau, engine="plain"), a, rtol=1e-9, atol=1e-9)
    assert len(columns[0]) > 0
    np.testing.assert_allclose(columns[1], columns[0], atol=1e-14)
    np.testing.assert_allclose(columns[2], columns[0], atol=1e-14)


def test_far_away_no_digits_are_lost():
    """A tree 1000 km off has the mass matrix it has at home: its origin goes along. About the ground's it would not."""
    matrices = []
    for far in (0.0, 2.0**20):
        m = madi.Model("far")
        place = np.array([far, 0, 0])
        m.body("a", mass=1.0, inertia=(0.01, 0.02, 0.03), position=place + (0.5, 0, 0))
        m.body("b", mass=2.0, inertia=(0.01, 0.02, 0.03), position=place + (1.5, 0.25, 0))
        m.revolute("A", m.ground, "a", at=place, axis=(0, 0, 1))
        m.revolute("B", "a", "b", at=place + (1, 0, 0), axis=(0, 1, 0))
        matrices.append(m.build().mass_matrix([0.3, 0.4], engine="plain"))
    np.testing.assert_allclose(matrices[1], matrices[0], rtol=1e-9)
    J, c = np.diag([0.01, 0.02, 0.03]), np.array([2.0**20, 0.1, 0.2])
    about_ground = inertia(1.0, c, J)[3:, 3:] + skew(c) @ skew(c)
    assert np.max(np.abs(about_ground - J)) > 1e-5


def test_counts_of_the_table():
    """Multiplications (and additions) of the left column, by running the kernels on numbers that count."""
    assert cost(lambda: momentum_of(counting(1, 10), 0, counting(6))) == (24, 18, 0)
    assert cost(lambda: dot(counting(6), counting(6))) == (6, 5, 0)
    assert cost(lambda: motion_cross(counting(6), counting(6)))[0] == 18
    for axisymmetric, products in ((0, 63), (1, 21)):
        model = SimpleNamespace(axisymmetric=[axisymmetric], J=counting(1, 6), mass=counting(1), com=counting(1, 3))
        work = SimpleNamespace(R=counting(1, 3, 3), r=counting(1, 3), inertia=counting(1, 10))
        assert cost(lambda model=model, work=work: body_inertia(model, work, 0))[0] == products


def test_counts_of_the_other_column():
    """A six-vector, a ten-number inertia and a full symmetric one from frame to frame, as the page counts them."""

    def turned(R, x):
        return R @ x

    def vector(R, r, f, n):  # force vector: turn both parts, add the arm
        f = turned(R, f)
        return f, turned(R, n) + np.cross(r, f)

    def symmetric(R, I):  # R I R^T, six of nine entries
        half = R @ I
        return [half[i] @ R[j] for i in range(3) for j in range(i, 3)]

    def ten(R, r, m, h, I):
        symmetric(R, I)
        h = turned(R, h)
        shifted = h + r * m
        # I' = I - r~ h~ - h'~ r~: products r_i h_j and h'_i r_j
        return np.outer(r, h), np.outer(shifted, r)

    rng = np.random.default_rng(3)
    m, c, arm, J = 1.3, rng.normal(size=3), rng.normal(size=3), np.diag([1.0, 2.0, 2.5])
    shifted = inertia(m, c, J)[3:, 3:] - skew(arm) @ skew(m * c) - skew(m * c + m * arm) @ skew(arm)
    np.testing.assert_allclose(shifted, inertia(m, c + arm, J)[3:, 3:], atol=1e-12)
    R, r, f, n = counting(3, 3), counting(3), counting(3), counting(3)
    assert cost(lambda: vector(R, r, f, n))[0] == 24
    assert cost(lambda: ten(R, r, Count(2.0), f, counting(3, 3)))[0] == 75
    assert cost(lambda: symmetric(R, counting(3, 3)))[0] == 45
    assert cost(lambda: R @ counting(3, 3) @ R.T)[0] == 54


def test_references_are_there():
    """Every key the documents cite has one entry."""
    docs = Path(__file__).parents[2] / "docs"
    known = re.findall(r'<a id="([^"]+)"></a>\*\*\[', (docs / "references.md").read_text())
    assert len(known) == len(set(known)) > 50
    for page in docs.rglob("*.md"):
        for key in re.findall(r"references\.md#([\w-]+)", page.read_text()):
            assert key in known, (page.name, key)
