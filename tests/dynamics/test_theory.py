"""docs/theory/recursion.md: the printed recursions in NumPy, on random trees, beside the kernels; and operation counts."""

from types import SimpleNamespace

import numpy as np
import pytest

import madi
from madi.bodies import rigid
from madi.dynamics import loads, recursive
from tests.mechanisms import random_state, random_tree
from tests.spatial.test_theory import cost, counting, cross_dual, full

TREES = pytest.mark.parametrize(("seed", "moving"), [(k, k % 3 == 0) for k in range(6)])


def tree(seed, moving, n=8):
    """A random tree with forces, and everything the page starts from: M^, Q^, A, B of the kernels' outward pass."""
    rng = np.random.default_rng(seed)
    m = random_tree(rng, n, moving=moving, reverse=0.3, forces=True)
    for joint in m.joints:
        if joint.kind in ("revolute", "prismatic"):
            joint.armature = 0.3
    s = m.build()
    q, v, tau = random_state(rng, s)
    s.forward_dynamics(q, v, tau, formulation="recursive", engine="plain")
    work, model = s.engine("plain").work, s.layout.arrays
    known = SimpleNamespace(
        M=[full(ten) for ten in work.inertia], Q=work.Q.copy(), A=work.A.copy(), B=work.B[: s.nv].copy(), Y=work.Y.copy(),
        tau=work.tau.copy(), K=work.K.copy(), W=work.W.copy(), U=work.U.copy(), P=work.P.copy(), r=work.r.copy(),
    )  # fmt: skip
    known.body, known.parent = model.column_body, model.parent
    known.rotor = model.armature
    return s, q, v, tau, known


def path(parent, i):
    """Bodies from i to the root, without the ground."""
    return [] if i == 0 else [i, *path(parent, parent[i])]


def subtree(parent, i):
    return [k for k in range(1, len(parent)) if i in path(parent, k)]


def equations(known, nv):
    """M and P of the page: sums over subtrees."""
    K = {i: sum(known.M[k] for k in subtree(known.parent, i)) for i in range(1, len(known.parent))}
    W = {i: sum(known.Q[k] - known.M[k] @ known.A[k] for k in subtree(known.parent, i)) for i in range(1, len(known.parent))}
    M, P = np.zeros((nv, nv)), np.zeros(nv)
    for j in range(nv):
        i = known.body[j]
        P[j] = known.tau[j] + known.B[j] @ W[i]
        for k in range(nv):
            if known.body[k] in path(known.parent, i):
                M[j, k] = M[k, j] = known.B[k] @ K[i] @ known.B[j]
        M[j, j] += known.rotor[j]
    return M, P, K, W


@TREES
def test_composite_recursion(seed, moving):
    s, q, v, tau, known = tree(seed, moving)
    M, P, K, W = equations(known, s.nv)
    scale = np.max(np.abs(M))
    np.testing.assert_allclose(s.mass_matrix(q, engine="plain"), M, atol=1e-11 * scale)
    np.testing.assert_allclose(known.P, P, rtol=1e-9, atol=1e-9)
    for i in range(1, len(known.parent)):
        np.testing.assert_allclose(full(known.K[i]), K[i], rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(known.W[i], W[i], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(s.forward_dynamics(q, v, tau, engine="plain"), np.linalg.solve(M, P), rtol=1e-7, atol=1e-8)


@TREES
def test_virtual_power(seed, moving):
    """sum dY_i . (M^ Y' - Q^) = sum tau dv for every dv, with the accelerations the kernels give."""
    s, q, v, tau, known = tree(seed, moving)
    a = s.forward_dynamics(q, v, tau, engine="plain")
    rng = np.random.default_rng(seed)
    for _ in range(3):
        dv, power = rng.normal(size=s.nv), 0.0
        for i in range(1, len(known.parent)):
            along = [c for c in range(s.nv) if known.body[c] in path(known.parent, i)]
            dY = sum((known.B[c] * dv[c] for c in along), np.zeros(6))
            rate = known.A[i] + sum((known.B[c] * a[c] for c in along), np.zeros(6))
            power += dY @ (known.M[i] @ rate - known.Q[i])
        right = np.sum((known.tau - known.rotor * a) * dv)
        assert power == pytest.approx(right, rel=1e-7, abs=1e-7)


@TREES
def test_the_papers_composite_force(seed, moving):
    """L_i = Q^_i + sum (L_c - K_c D_c), W = L - K A, A counted from the ground's A_0."""
    s, _, _, _, known = tree(seed, moving)
    n = len(known.parent)
    K = [full(ten) for ten in known.K]
    L = known.Q.copy()
    for i in range(n - 1, 0, -1):
        p = known.parent[i]
        if p > 0:
            L[p] += L[i] - K[i] @ (known.A[i] - known.A[p])
    for i in range(1, n):
        np.testing.assert_allclose(L[i] - K[i] @ known.A[i], known.W[i], rtol=1e-8, atol=1e-8)
    assert s.nv > 0


@TREES
def test_articulated_recursion(seed, moving):
    """I' = I - U U^T / d, Z' = Z - U u / d, qdd = (u - U^T a) / d; d are the pivots of M = L^T D L; I' by its minimum."""
    s, q, v, tau, known = tree(seed, moving)
    n, nv = len(known.parent), s.nv
    I = [M.copy() for M in known.M]
    Zs = [known.Q[i] - known.M[i] @ known.A[i] for i in range(n)]
    U, d, u = np.zeros((nv, 6)), np.zeros(nv), np.zeros(nv)
    rng = np.random.default_rng(seed)
    for i in range(n - 1, 0, -1):
        for c in [c for c in range(nv - 1, -1, -1) if known.body[c] == i]:
            B = known.B[c]
            U[c] = I[i] @ B
            d[c], u[c] = B @ U[c] + known.rotor[c], known.tau[c] + B @ Zs[i]
            less = I[i] - np.outer(U[c], U[c]) / d[c]
            a = rng.normal(size=6)
            x = -(B @ I[i] @ a) / d[c]  # where the bracket is least
            bracket = (a + B * x) @ I[i] @ (a + B * x) + known.rotor[c] * x * x
            assert a @ less @ a == pytest.approx(bracket, rel=1e-8, abs=1e-8)
            I[i], Zs[i] = less, Zs[i] - U[c] * u[c] / d[c]
        assert np.min(np.linalg.eigvalsh(I[i])) > -1e-9 * np.max(np.abs(known.M))
        p = known.parent[i]
        I[p], Zs[p] = I[p] + I[i], Zs[p] + Zs[i]
    qdd, acceleration = np.zeros(nv), np.zeros((n, 6))
    for i in range(1, n):
        acceleration[i] = acceleration[known.parent[i]]
        for c in [c for c in range(nv) if known.body[c] == i]:
            qdd[c] = (u[c] - U[c] @ acceleration[i]) / d[c]
            acceleration[i] = acceleration[i] + known.B[c] * qdd[c]
    np.testing.assert_allclose(
        s.forward_dynamics(q, v, tau, formulation="articulated", engine="plain"), qdd, rtol=1e-7, atol=1e-8
    )
    np.testing.assert_allclose(1 / s.engine("plain").work.d_inverse[:nv], d, rtol=1e-9)
    M = s.mass_matrix(q, engine="plain")
    np.testing.assert_allclose(np.linalg.slogdet(M)[1], np.sum(np.log(d)), rtol=1e-8, atol=1e-8)
    paths = [set(path(known.parent, known.body[c])) for c in range(nv)]
    related = np.array([[a <= b or b <= a for a in paths] for b in paths])
    left = M.copy()  # eliminate the last column first: what is left on the diagonal is d
    for k in range(nv - 1, -1, -1):
        assert left[k, k] == pytest.approx(d[k], rel=1e-7)
        left[:k, :k] -= np.outer(left[:k, k], left[k, :k]) / left[k, k]
        assert np.all(left[:k, :k][~related[:k, :k]] == 0.0)


def test_no_fill_in_and_where_there_would_be():
    """A tree with branches: leaves to root keeps the zeros, root first does not."""
    m = madi.Model("branches")
    m.body("trunk", mass=1.0, inertia=(1, 1, 1))
    m.revolute("T", m.ground, "trunk", at=(0, 0, 0), axis=(0, 0, 1))
    for k in range(3):
        m.body(f"b{k}", mass=1.0, inertia=(1, 1, 1), position=(1 + k, 1, 0))
        m.revolute(f"B{k}", "trunk", f"b{k}", at=(1 + k, 0, 0), axis=(0, 0, 1))
    M = m.build().mass_matrix(np.array([0.1, 0.2, 0.3, 0.4]), engine="plain")
    assert np.count_nonzero(M) == 4 + 6
    leaves_first = M.copy()
    for k in (3, 2, 1):
        leaves_first[:k, :k] -= np.outer(leaves_first[:k, k], leaves_first[k, :k]) / leaves_first[k, k]
        assert np.count_nonzero(leaves_first[:k, :k]) == np.count_nonzero(M[:k, :k])
    root_first = M[1:, 1:] - np.outer(M[1:, 0], M[0, 1:]) / M[0, 0]
    assert np.count_nonzero(root_first) == 9


@TREES
def test_selected_loads(seed, moving):
    """R_i = -W_i + K_i a_i + sum U_k qdd_k = -L_i + K_i Y'_i + ...; at the joint (R_f, R_n - r x R_f); driving forces."""
    s, q, v, tau, known = tree(seed, moving)
    qdd = s.forward_dynamics(q, v, tau, engine="plain")
    kept = known.tau - tau  # of the model's own elements on joints
    _, _, K, W = equations(known, s.nv)
    turn = s.engine("plain").work.frame_R
    a = np.zeros((len(known.parent), 6))
    for i in range(1, len(known.parent)):
        a[i] = a[known.parent[i]] + sum((known.B[c] * qdd[c] for c in range(s.nv) if known.body[c] == i), np.zeros(6))
    for way in ("selected", "newton-euler"):
        found = s.reactions(q, v, tau=tau, way=way, engine="plain")
        for i, joint in enumerate(s.frozen.joints, start=1):
            outboard = [c for c in range(s.nv) if i in path(known.parent, known.body[c]) and known.body[c] != i]
            R = -W[i] + K[i] @ a[i] + sum((K[known.body[c]] @ known.B[c] * qdd[c] for c in outboard), np.zeros(6))
            L = W[i] + K[i] @ known.A[i]
            P1 = -L + K[i] @ (known.A[i] + a[i]) + sum((known.U[c] * qdd[c] for c in outboard), np.zeros(6))
            np.testing.assert_allclose(P1, R, rtol=1e-7, atol=1e-7)
            own = [c for c in range(s.nv) if known.body[c] == i]
            for c in own:
                assert known.B[c] @ R + known.rotor[c] * qdd[c] == pytest.approx(known.tau[c], rel=1e-6, abs=1e-6)
            if s.layout.arrays.reverse[i] == 0:
                at = R[3:] - np.cross(known.r[i], R[:3])
                f = s.layout.arrays.frame[i]
                np.testing.assert_allclose(found[joint.name].force, turn[f] @ R[:3], rtol=1e-6, atol=1e-6)
                np.testing.assert_allclose(found[joint.name].moment, turn[f] @ at, rtol=1e-6, atol=1e-6)
            if way == "selected":
                drive = [known.B[c] @ R + known.rotor[c] * qdd[c] - kept[c] for c in own]
                np.testing.assert_allclose(list(found[joint.name].driving.values()), drive, rtol=1e-6, atol=1e-6)


def test_block_of_a_moving_base():
    """M of the base is the composite inertia of all; M between a column and the base is U_j."""
    s, q, _, _, known = tree(3, True)
    M = s.mass_matrix(q, engine="plain")
    np.testing.assert_allclose(M[:6, :6], full(known.K[1]), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(M[6:, :6], known.U[6 : s.nv], rtol=1e-9, atol=1e-9)
    assert s.nv > 8


# ---- counts ------------------------------------------------------------------------------------------------------------


def chain(n):
    """Arrays of a chain of one-axis joints, as far as the counted kernels read them."""
    model = SimpleNamespace(
        n=n + 1, nv=n, nh=0, n_held=0, code=np.zeros(n + 1, dtype=int), v_at=np.arange(n + 1) - 1,
        v_end=np.arange(n + 1), last=np.full(n + 1, n), parent=np.arange(n + 1) - 1,
        drive=-np.ones(n, dtype=int), modal=-np.ones(n + 1, dtype=int),
        modes=np.zeros(n + 1, dtype=int), free_column_parent=np.arange(n) - 1, column_body=np.arange(n) + 1,
        armature=counting(n), axisymmetric=np.zeros(n + 1, dtype=int),
        J=counting(n + 1, 6), mass=counting(n + 1), com=counting(n + 1, 3),
    )  # fmt: skip
    shapes = {
        "Y": 6, "A": 6, "Q": 6, "W": 6, "a": 6, "K": 10, "inertia": 10, "articulated": 21, "r": 3,
    }  # fmt: skip
    work = SimpleNamespace(**{name: counting(n + 1, size) for name, size in shapes.items()})
    work.R, work.B, work.U, work.d_inverse = counting(n + 1, 3, 3), counting(n, 6), counting(n, 6), counting(n)
    work.tau, work.P, work.M, work.acceleration = counting(n), counting(n), counting(n * n), counting(n)
    return model, work


@pytest.mark.parametrize("i", range(1, 8))
def test_counts_of_selected_loads(i):
    model, work = chain(7)
    assert cost(lambda: loads.reaction(model, work, i, counting(7)))[0] == 6 * (7 - i) + 24
    assert cost(lambda: loads.reaction_newton_euler(model, work, i))[0] == 24 * (7 - i) + 24


def test_counts_of_both_recursions():
    assert cost(lambda: rigid.terms(*chain(1), 1))[0] == 129
    assert cost(lambda: rigid.eliminate_column(*chain(1), 1, 0))[0] == 82 == 36 + 12 + 34
    for n in (1, 2, 5, 9):
        model, work = chain(n)
        work.B = np.array(work.B)
        outward = 13 * n  # U . a, times 1/d, B qdd: read off `rigid.accelerate`
        eliminated = sum(cost(lambda c=c: rigid.eliminate_column(model, work, c + 1, c))[0] for c in range(n))
        assert eliminated + outward == 95 * n
        substituted = cost(lambda: recursive.solve(model, work.M, work.P, work.acceleration))[0]
        assert substituted == sum(1 + 3 * k + k * (k + 1) // 2 for k in range(n))
        columns = cost(lambda: [rigid.column(work, c + 1, c) for c in range(n)])[0]
        entries = 6 * sum(k + 1 for k in range(n)) + 6 * n
        assert columns + entries + substituted == sum(37 + 9.5 * k + k * k / 2 for k in range(n))


def test_the_rule_of_auto():
    """Composite while sum(6 depth + depth^2 / 2) < 60 nv: of a chain, up to 11 bodies."""
    for n, expected in ((10, "recursive"), (11, "recursive"), (12, "articulated"), (20, "articulated")):
        m = madi.Model("chain")
        before = m.ground
        for k in range(n):
            before = m.body(f"b{k}", mass=1.0, inertia=(1, 1, 1), position=(k + 0.5, 0, 0)) and f"b{k}"
            m.revolute(f"J{k}", m.ground if k == 0 else f"b{k - 1}", before, at=(k, 0, 0), axis=(0, 0, 1))
        depth = np.arange(1, n + 1)
        rule = "recursive" if np.sum(6 * depth + depth**2 / 2) < 60 * n else "articulated"
        assert m.build().formulation() == rule == expected


def test_gyroscopic_part_of_the_example():
    """The worked example's Q^ by its definition, in the plane."""
    Y, momentum = np.array([0, -1, 0, 0, 0, 2.0]), np.array([-2, 1, 0, 0, 0, 3.0])
    np.testing.assert_allclose(-cross_dual(Y, momentum), [2, 4, 0, 0, 0, 2])
