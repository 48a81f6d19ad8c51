"""Blocks of the constraint Jacobian: who belongs together, their sparse factors against full matrices, how they grow."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import null_space as null_of
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components

import madi
from madi.loops import blocks, directions
from madi.loops.memory import LoopOptions, fresh_tally
from madi.topology.blocks import block_plan, room
from madi.verify import four_bars


def drawn(rng, ties=None):
    """(J, model, work): a random sparse Jacobian as kernels see it, some rows gone, some columns driven."""
    nv, nr = int(rng.integers(2, 14)), int(rng.integers(1, 9))
    J = rng.normal(size=(nr, nv)) * (rng.random((nr, nv)) < (rng.uniform(0.1, 0.5) if ties is None else ties))
    driven = rng.random(nv) < 0.15
    J[:, driven] = 0.0
    J[rng.random(nr) < 0.15] = 0.0
    if nr > 2 and rng.random() < 0.3:
        J[0] = J[1] * 2.0  # one that depends on another
    row, column = np.nonzero(J)
    free = np.flatnonzero(~driven)
    number = np.full(nv, -1)
    number[free] = np.arange(len(free))[::-1]
    active = np.where(np.any(J != 0.0, axis=1), np.arange(nr), -1)
    first = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=nr))])
    model = SimpleNamespace(nv=nv, nr=nr, nm=0, row_place=active, row_first=first, j_column=column, column_place=number,
                            column_number=number)  # fmt: skip
    return J, model, scratch(model, J[row, column])


def scratch(model, values):
    plan = block_plan(model)
    of = room(plan)
    lengths = {
        "block_factor": of["block_entries"], "block_inverse": of["block_entries"], "basis": of["block_directions"],
        "null": of["block_directions"], "gram": of["block_squares"], "block_epsilon": of["n_blocks"],
        "block_freedoms": of["n_blocks"], "block_reference": of["n_blocks"], "motion": plan.nu, "short": plan.nu,
        "rest": plan.nu, "j_scaled": len(values),
    }  # fmt: skip
    work = SimpleNamespace(
        blocks=plan, j_value=values, tally=fresh_tally(), options=LoopOptions({}), row_scale=np.ones(model.nr),
        column_scale=np.ones(model.nv), **{name: np.zeros(n) for name, n in lengths.items()},
    )  # fmt: skip
    blocks.factor_blocks(model, work)
    return work


def of(plan, b, J):
    """Unknowns, columns and rows of a block, and its part of J."""
    places = np.arange(plan.first[b], plan.first[b + 1])
    element = plan.element[places]
    columns, rows = element[element >= 0], -1 - element[element < 0]
    return places, columns, rows, J[np.ix_(rows, columns)]


SEEDS = st.integers(0, 2**32 - 1)


@given(SEEDS)
def test_blocks_are_what_nothing_ties_together(seed):
    J, model, work = drawn(np.random.default_rng(seed))
    plan = work.blocks
    free, rows = np.flatnonzero(model.column_place >= 0), np.flatnonzero(model.row_place >= 0)
    assert sorted(plan.element) == sorted([*free, *(-1 - rows)])
    graph = np.zeros((model.nv + model.nr,) * 2)
    graph[: model.nv, model.nv :] = J.T != 0.0
    count, label = connected_components(csr_matrix(graph), directed=False)
    mine = [{int(label[x] if x >= 0 else label[model.nv - 1 - x]) for x in plan.element[slice(*plan.first[b : b + 2])]}
            for b in range(plan.n_blocks)]  # fmt: skip
    assert all(len(labels) == 1 for labels in mine)
    assert len(set.union(set(), *mine)) == plan.n_blocks <= count
    sizes = [(len(places), len(columns)) for places, columns, _, _ in (of(plan, b, J) for b in range(plan.n_blocks))]
    assert np.diff(plan.directions).tolist() == [n * c for n, c in sizes]
    assert np.diff(plan.square).tolist() == [c * c for _, c in sizes]


@given(SEEDS)
@settings(max_examples=60)
def test_projector_and_pseudo_inverse(seed):
    """Against NumPy's, rows that depend on others included; the diagonal of the projector from the factor's own entries."""
    rng = np.random.default_rng(seed)
    J, model, work = drawn(rng)
    plan = work.blocks
    for b in range(plan.n_blocks):
        places, columns, rows, part = of(plan, b, J)
        at, sizes = places[plan.element[places] >= 0], np.linalg.svd(part, compute_uv=False)
        rank = int(np.sum(sizes > 1e-9))
        if len(sizes) and rank and sizes[rank - 1] < 0.03 * sizes[0]:
            continue  # neither dependent nor not
        found, low, high = blocks.independent_rows(work, b)
        assert found == rank
        if rank == len(rows) > 0:
            assert sizes[-1] * 0.99 <= low <= high <= sizes[0] * 1.01
        exact = np.eye(len(columns)) - np.linalg.pinv(part, rcond=1e-9) @ part
        f = 3
        X, wanted = np.zeros((len(places), f)), rng.normal(size=(len(columns), f))
        X[at - places[0]] = wanted
        flat = X.reshape(-1).copy()
        blocks.project(work, b, flat, 0, f)
        X = flat.reshape(-1, f)
        np.testing.assert_allclose(X[at - places[0]], exact @ wanted, atol=1e-10)
        assert not np.any(np.delete(X, at - places[0], axis=0))
        x, a = np.zeros(plan.nu), part @ rng.normal(size=len(columns))
        x[places[plan.element[places] < 0]] = a
        blocks.pseudo_inverse(model, work, b, x)
        np.testing.assert_allclose(x[at], np.linalg.pinv(part, rcond=1e-9) @ a, atol=1e-9)
        blocks.invert(work, b)
        np.testing.assert_allclose(work.block_inverse[at], np.diag(exact), atol=1e-3 if rank < len(rows) else 1e-8)


def test_entries_of_the_inverse_are_those_of_the_full_one():
    entries = sum(inverse_entries(seed) for seed in range(30))
    assert entries > 200


def inverse_entries(seed):
    """How many there are beside the diagonal, compared."""
    J, _model, work = drawn(np.random.default_rng(seed), ties=0.4)
    plan, count = work.blocks, 0
    for b in range(plan.n_blocks):
        places, _, rows, part = of(plan, b, J)
        element, sizes = plan.element[places], np.linalg.svd(part, compute_uv=False)
        if len(sizes) < len(rows) or np.min(sizes, initial=1.0) < 0.03:
            continue  # entries of 1/eps: nothing is exact
        K = np.diag(np.where(element >= 0, 1.0, -work.block_epsilon[b]))
        K[np.ix_(element < 0, element >= 0)] = part
        K[np.ix_(element >= 0, element < 0)] = part.T
        full = np.linalg.inv(K)
        blocks.invert(work, b)
        for k in places:
            s = slice(plan.l_first[k], plan.l_first[k + 1])
            there = plan.l_index[s] - places[0]
            np.testing.assert_allclose(work.block_inverse[plan.nu :][s], full[there, k - places[0]], rtol=1e-9, atol=1e-9)
            count += len(there)
    return count


@given(SEEDS)
@settings(max_examples=60)
def test_the_first_directions_are_the_longest_columns_left_of_the_projector(seed):
    """P2's pick, done in NumPy on the full projector; `partition` takes the coordinates it picks."""
    rng = np.random.default_rng(seed)
    J, _model, work = drawn(rng)
    plan = work.blocks
    for b in range(plan.n_blocks):
        places, columns, _, part = of(plan, b, J)
        at = places[plan.element[places] >= 0] - places[0]
        sizes = np.linalg.svd(part, compute_uv=False)
        rank = int(np.sum(sizes > 1e-9))
        if rank and sizes[rank - 1] < 0.03 * sizes[0]:
            continue
        f = len(columns) - rank
        if f == 0:
            continue
        P = np.eye(len(columns)) - np.linalg.pinv(part, rcond=1e-9) @ part
        left, picked, clear = P.copy(), [], True
        for _ in range(f):
            lengths = np.linalg.norm(left, axis=0)
            clear = clear and (len(lengths) == 1 or np.diff(np.sort(lengths)[-2:])[0] > 1e-3)
            picked.append(int(np.argmax(lengths)))
            u = left[:, picked[-1]] / lengths[picked[-1]]
            left = left - np.outer(u, u @ left)
        for way in (directions.BY_QR, directions.BY_PARTITION):
            work.options.directions = way
            directions.pick(work, b, f)
            N = directions.of_block(work, work.null, b, f).reshape(-1, f)[at]
            T = directions.of_block(work, work.basis, b, f).reshape(-1, f)[at]
            np.testing.assert_allclose(N.T @ N, np.eye(f), atol=1e-12)
            np.testing.assert_allclose(N @ N.T, P, atol=1e-9)
            if clear and way == directions.BY_PARTITION:
                np.testing.assert_array_equal(T, np.eye(len(columns))[:, picked])
            elif way == directions.BY_QR:
                np.testing.assert_array_equal(T, N)


def apart(count):
    """Four-bars side by side on a body that turns."""
    m = madi.Model("four-bars on a base")
    m.body("base", 5.0, inertia=(1, 1, 1))
    m.revolute("O", m.ground, "base", at=(0, 0, 0), axis=(0, 0, 1))
    for k in range(count):
        y = np.array([0.0, 0.1 * k, 0.0])
        A, B, C, D = (y + p for p in ((0, 0, 0), (0, 0, 0.3), (0.95, 0, 0.75), (0.9, 0, 0)))
        for name, P, Q in (("crank", A, B), ("coupler", B, C), ("rocker", D, C)):
            m.body(f"{name}{k}", 1.0, inertia=(0.02, 0.02, 0.02), position=(P + Q) / 2)
        m.revolute(f"A{k}", "base", f"crank{k}", at=A, axis=(0, 1, 0), v0=1.0 + k)
        m.revolute(f"B{k}", f"crank{k}", f"coupler{k}", at=B, axis=(0, 1, 0))
        m.revolute(f"C{k}", f"coupler{k}", f"rocker{k}", at=C, axis=(0, 1, 0), cut=True)
        m.revolute(f"D{k}", "base", f"rocker{k}", at=D, axis=(0, 1, 0))
    return m


def test_what_is_kept_grows_as_the_blocks_do():
    """Loops that one body carries are tied together by M, not by their rows; of four-bars in a row, which are one block,
    the factor's products grow with their number."""
    small, large = (apart(count).build().layout.blocks for count in (2, 8))
    alone = room(small)["block_directions"] - 1, room(large)["block_directions"] - 1  # the base's own column
    assert alone[1] == 4 * alone[0]
    assert (small.n_blocks, large.n_blocks) == (3, 9)
    rows = [four_bars.model(count).build().layout.blocks for count in (10, 20, 40)]
    assert [plan.n_blocks for plan in rows] == [1, 1, 1]
    assert int(rows[2].nx - rows[1].nx) == 2 * int(rows[1].nx - rows[0].nx)


@pytest.mark.parametrize("way", ["pseudo-inverse", "svd", "qr", "partition"])
def test_blocks_go_their_own_way(way):
    """Each loop chooses its directions when it needs to, and all move as with the projection, in both metrics."""
    m, times = apart(3), np.linspace(0.0, 2.0, 9)
    exact = madi.simulate(m, 2.0, rtol=1e-10, times=times).data["q"].values
    method = {"pseudo-inverse": madi.PseudoInverse, "svd": madi.SingularValues, "qr": madi.QR, "partition": madi.Partition}
    for weighting in ("mass", "none"):
        run = madi.simulate(m, 2.0, rtol=1e-10, times=times, loops=method[way](weighting=weighting))
        np.testing.assert_allclose(run.data["q"].values, exact, rtol=1e-6, atol=1e-6)
        assert float(run.data["null_space_error"].max()) < 1e-12
        assert float(run.data["violation"].max()) < 1e-10


def test_every_block_against_the_full_matrices():
    """Directions of all blocks side by side are those of the whole: J N^T = 0, T I_R = 0, J I_R = 1, T N^T = 1."""
    s = apart(3).build()
    for way, method in (("qr", madi.QR()), ("partition", madi.Partition()), ("svd", madi.SingularValues())):
        engine = s.engine("plain").for_run(directions=True, options=LoopOptions({}))
        method.put(engine.work.options)
        engine.evaluate("close-null-space", 0.0, s.start.q.copy(), s.start.v.copy(), np.zeros(s.nv), s.nv)
        later = s.assemble({"A0": 0.2, "A1": 0.1, "A2": -0.1}, {"A0": 1.0, "A1": 1.0, "A2": 2.0})
        engine.evaluate("close-null-space", 0.0, later.q.copy(), later.v.copy(), np.zeros(s.nv), s.nv)
        kept = full(s, engine.work)
        active = np.asarray(s.layout.arrays.row_place) >= 0
        J = s.constraint_jacobian(later.q, engine="plain")[active] * engine.work.column_scale
        J *= engine.work.row_scale[active][:, None]
        E = np.vstack([J, kept.T])
        assert E.shape == (s.nv, s.nv), way
        inverse = np.linalg.inv(E)
        np.testing.assert_allclose(kept.N, inverse[:, len(J) :].T, atol=1e-10)
        np.testing.assert_allclose(kept.right_inverse(s, engine.work)[:, active], inverse[:, : len(J)], atol=1e-10)
        assert null_of(J).shape[1] == len(kept.T) == 4


def full(s, work):
    """The directions of all blocks as rows over all columns: T, S, N, and I_R."""
    from madi.loops import null_space

    plan, T, S = work.blocks, [], []
    for b in range(plan.n_blocks):
        f, places = int(work.block_freedoms[b]), np.arange(plan.first[b], plan.first[b + 1])
        for rows, kept in ((T, work.basis), (S, work.null)):
            part = directions.of_block(work, kept, b, f).reshape(len(places), f)
            for i in range(f):
                line = np.zeros(s.nv)
                there = plan.element[places] >= 0
                line[plan.element[places][there]] = part[there, i]
                rows.append(line)
    T, S = np.array(T).reshape(-1, s.nv), np.array(S).reshape(-1, s.nv)

    def right_inverse(s, work):
        found = np.zeros((s.nv, s.n_constraints))
        for r in range(s.n_constraints):
            if plan.row_at[r] >= 0:
                x = np.zeros(plan.nu)
                x[plan.row_at[r]] = 1.0
                for b in range(plan.n_blocks):
                    null_space.right_inverse_times(s.layout.arrays, work, b, x)
                there = plan.element >= 0
                found[plan.element[there], r] = x[there]
        return found

    return SimpleNamespace(T=T, S=S, N=np.linalg.solve(T @ S.T, S), right_inverse=right_inverse)
