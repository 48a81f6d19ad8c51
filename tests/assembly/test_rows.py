"""Rows and their blocks against full matrices, and what is found by blocks against what was found by one matrix."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import qr

import madi
from madi.assembly.redundancy import DEPENDENT, scales
from madi.assembly.rows import Sparse
from madi.equations.loads import Load
from madi.joints.columns import FREE_COLUMN
from madi.system.loads import determined
from madi.verify import bricard, four_bars
from tests.mechanisms import close_loops, four_bar, random_tree

SEEDS = st.integers(0, 2**32 - 1)


def full(matrix):
    found = np.zeros(matrix.shape)
    found[matrix.row, matrix.column] = matrix.value
    return found


def random_sparse(rng):
    """Sparse, some rows and columns empty, some rows repeated."""
    rows, columns = rng.integers(1, 12, size=2)
    A = rng.normal(size=(rows, columns)) * (rng.random((rows, columns)) < 0.2)
    A[rng.integers(rows)] = A[rng.integers(rows)]
    row, column = np.nonzero(A)
    return Sparse((int(rows), int(columns)), row, column, A[row, column]), A


@given(SEEDS)
def test_blocks_are_the_matrix(seed):
    rng = np.random.default_rng(seed)
    sparse, A = random_sparse(rng)
    again = np.zeros_like(A)
    for block in sparse.blocks:
        again[np.ix_(block.rows, block.columns)] = block.matrix
    np.testing.assert_array_equal(again, A)
    assert sorted(np.concatenate([block.rows for block in sparse.blocks])) == list(range(len(A)))
    expected = np.linalg.svd(A, compute_uv=False)
    found = np.zeros(len(expected))
    found[: len(sparse.singular_values())] = sparse.singular_values()[: len(expected)]
    np.testing.assert_allclose(found, expected, atol=1e-12)
    right = rng.normal(size=len(A))
    np.testing.assert_allclose(sparse.least_squares(right, 1e-10), np.linalg.lstsq(A, right, rcond=1e-10)[0], atol=1e-9)
    keep = rng.random(len(A)) < 0.7, rng.random(A.shape[1]) < 0.7
    np.testing.assert_array_equal(full(sparse.part(*keep)), A[np.ix_(*keep)])


def test_numbers_that_are_none_are_not_lost():
    sparse = Sparse((2, 2), np.array([0, 1]), np.array([0, 1]), np.array([np.nan, 1.0]))
    with pytest.raises(np.linalg.LinAlgError):
        sparse.least_squares(np.ones(2), 1e-10)


def looped(seed):
    """A random mechanism with loops; None where this seed gives none."""
    rng = np.random.default_rng(seed)
    m = random_tree(rng, int(rng.integers(3, 7)), moving=bool(rng.integers(2)), reverse=0.3)
    close_loops(m, rng, m.build().nv)
    if rng.random() < 0.5:
        hinges = [joint.name for joint in m.joints if joint.kind == "revolute" and not joint.cut]
        for name in hinges[:1]:
            m.lock(name)
    return None if m.check() else (rng, m.build())


@settings(max_examples=40)
@given(SEEDS)
def test_rows_are_those_of_the_full_jacobian(seed):
    found = looped(seed)
    if found is None:
        return
    rng, s = found
    q, v = s.q0, rng.normal(size=s.nv)
    expected = s.constraint_terms(q, v, 0.3, engine="plain")
    phi, rate, J = s.constraint_rows.at(0.3, q, v)
    np.testing.assert_allclose(phi, expected[0], atol=1e-14)
    np.testing.assert_allclose(rate, expected[1], atol=1e-13)
    np.testing.assert_allclose(full(J), expected[3], atol=1e-13)


def one_matrix(s, q):
    """Rank, names of redundant rows and left null vectors by one full matrix."""
    rows, columns = scales(s)
    free = np.asarray(s.layout.arrays.drive) == FREE_COLUMN
    J = (rows[:, None] * s.constraint_jacobian(q, engine="plain") * columns)[:, free]
    left, values, _ = np.linalg.svd(J, full_matrices=True)
    rank = int(np.sum(values > DEPENDENT * values[0])) if len(values) and values[0] > 1e-12 else 0
    *_, order = qr(J.T, mode="economic", pivoting=True)
    smallest = values[rank - 1] / values[0] if rank else 1.0
    return rank, [s.frozen.rows[r].name for r in sorted(order[rank:])], rows[:, None] * left[:, rank:], smallest


def compare_mobility(s, q):
    found, (rank, redundant, null, smallest) = s.mobility(q), one_matrix(s, q)
    free = int(np.sum(np.asarray(s.layout.arrays.drive) == FREE_COLUMN))
    assert (found.rank, found.degrees_of_freedom) == (rank, free - rank)
    assert found.smallest == pytest.approx(smallest, rel=1e-6)
    assert len(found.redundant) == len(redundant)
    assert found.null.shape == null.shape
    # the same space of multipliers: each of one is a sum of the other
    np.testing.assert_allclose(null @ np.linalg.lstsq(null, found.null, rcond=None)[0], found.null, atol=1e-7)
    return redundant


@settings(max_examples=40)
@given(SEEDS)
def test_mobility_by_blocks_is_that_of_one_matrix(seed):
    found = looped(seed)
    if found is not None and found[1].frozen.rows:
        compare_mobility(found[1], found[1].q0)


@pytest.mark.parametrize("make", [four_bar, bricard.model, lambda: four_bars.model(4)], ids=["four-bar", "bricard", "row"])
def test_mobility_of_known_mechanisms(make):
    s = make().build()
    assert sorted(s.mobility().redundant) == sorted(compare_mobility(s, s.start.q))


def side_by_side(count):
    """Parallelograms that do not know of each other."""
    m = madi.Model("side by side")
    for k in range(count):
        corners = [(3 * k, 0, 0), (3 * k, 0, 1), (3 * k + 1, 0, 1), (3 * k + 1, 0, 0)]
        bars = [m.body(f"bar{k}_{i}", 1.0, inertia=(0.1, 0.1, 0.1), position=corners[i]) for i in range(3)]
        for i, (a, b) in enumerate(zip([m.ground, *bars], [*bars, m.ground], strict=True)):
            m.revolute(f"{'ABCD'[i]}{k}", a, b, at=corners[i], axis=(0, 1, 0))
    return m


def test_mechanisms_side_by_side_are_blocks():
    one, many = side_by_side(1).build().mobility(), side_by_side(5).build().mobility()
    assert (many.rank, many.degrees_of_freedom, len(many.redundant)) == (5 * one.rank, 5, 5 * len(one.redundant))
    assert many.smallest == pytest.approx(one.smallest)
    J = side_by_side(5).build().constraint_rows.at(0.0, np.zeros(15))[2]
    assert [block.matrix.shape for block in J.blocks if block.matrix.size] == [(2, 3)] * 5


@pytest.mark.parametrize("make", [four_bar, bricard.model, lambda: side_by_side(2)], ids=["four-bar", "bricard", "two"])
def test_a_mixture_of_multipliers_tells_what_each_tells(make):
    """Which loads are determined, by every redundant multiplier on its own."""
    s = make().build()
    q, names, none = s.start.q, s.loaded_names, np.zeros(s.nv)
    wanted = [s.load_of(name) for name in names]
    sure = np.ones((len(names), 6), dtype=bool)
    size = 6 * len(wanted) + len(s.driving_columns(wanted))

    def loads(multipliers):
        x = np.concatenate([none, Load.request(wanted), multipliers])
        return s._evaluate("loads", q, none, x, 0.0, "plain", (size,))[: 6 * len(wanted)].reshape(-1, 6)

    null = s.mobility(q).null
    for k in range(null.shape[1]):
        change = np.abs(loads(null[:, k]) - loads(0 * null[:, k]))
        sure &= change < 1e-9 * max(1.0, change.max())
    np.testing.assert_array_equal(determined(s, q, 0.0, np.eye(3), wanted), sure)


def band(rng, n, repeated=0):
    """A long band whose rows are independent, and among them rows that are sums of neighbours."""
    A = np.zeros((n, n + 3))
    for k in range(n):
        A[k, k : k + 4] = rng.normal(size=4) + [0, 4, 0, 0]
    places = 4 * np.arange(repeated)
    sums = np.array([rng.uniform(0.5, 1.0, 3) @ A[k : k + 3] for k in places]).reshape(-1, n + 3)
    return np.insert(A, places + 3, sums, axis=0)


@pytest.mark.parametrize("repeated", [0, 1, 12])
def test_large_blocks_are_told_sparsely_where_their_rank_is_sure(repeated, monkeypatch):
    """Rank, extreme singular values, least squares and null vectors against full matrices."""
    monkeypatch.setattr("madi.assembly.rows.LARGE", 20)
    rng = np.random.default_rng(4)
    A = band(rng, 60, repeated)
    row, column = np.nonzero(A)
    sparse, right = Sparse(A.shape, row, column, A[row, column]), rng.normal(size=len(A))
    (block,) = sparse.blocks
    found, values, expected = block.certain, sparse.singular_values(), np.linalg.svd(A, compute_uv=False)
    assert found.rank == np.sum(values > 1e-9 * values[0]) == np.sum(expected > 1e-9 * expected[0]) == 60
    np.testing.assert_allclose(values[[0, 59]], expected[[0, 59]], rtol=1e-7)
    np.testing.assert_allclose(sparse.least_squares(right, 1e-10), np.linalg.lstsq(A, right, rcond=1e-10)[0], atol=1e-10)
    assert np.linalg.matrix_rank(np.delete(A, found.dependent, axis=0)) == 60 == len(A) - len(found.dependent)
    for weights in np.eye(repeated):
        null = found.balanced(weights)
        np.testing.assert_array_equal(null[found.dependent], weights)
        np.testing.assert_allclose(null @ A, 0, atol=1e-12)


@pytest.mark.parametrize("small", [1e-6, 1e-8, 1e-10])
def test_what_is_nearly_dependent_is_left_to_singular_values(small, monkeypatch):
    """A row that is a sum of others but for a little: neither surely independent nor surely dependent."""
    monkeypatch.setattr("madi.assembly.rows.LARGE", 20)
    A = band(np.random.default_rng(4), 60, 1)
    A[3] += small * np.linalg.norm(A[3]) * np.random.default_rng(1).normal(size=63)
    row, column = np.nonzero(A)
    sparse = Sparse(A.shape, row, column, A[row, column])
    assert sparse.blocks[0].certain is None
    np.testing.assert_allclose(sparse.singular_values(), np.linalg.svd(A, compute_uv=False), rtol=1e-4)


def ladder(count):
    """Plane ladders of parallelograms: a rail on three rockers has a loop that adds nothing but at its place."""
    m = madi.Model("ladder")
    rails = [m.body(f"rail{k}", 1.0, inertia=(0.1, 0.1, 0.1), position=(1, 0, k + 1)) for k in range(count)]
    for k, (below, above) in enumerate(zip([m.ground, *rails], rails, strict=False)):
        for i in range(3):
            rocker = m.body(f"rocker{k}_{i}", 1.0, inertia=(0.1, 0.1, 0.1), position=(i, 0, k + 0.5))
            m.revolute(f"A{k}_{i}", below, rocker, at=(i, 0, k), axis=(0, 1, 0))
            m.revolute(f"B{k}_{i}", rocker, above, at=(i, 0, k + 1), axis=(0, 1, 0))
    return m


@pytest.mark.parametrize("make", [lambda: ladder(6), lambda: four_bars.model(20), lambda: side_by_side(12)],
                         ids=["ladder", "row", "side by side"])  # fmt: skip
def test_mobility_is_the_same_told_sparsely(make, monkeypatch):
    """Rank, smallest pivot and null space of one full matrix; the redundant rows named leave the others independent."""
    monkeypatch.setattr("madi.assembly.rows.LARGE", 8)
    s = make().build()
    J = s.constraint_rows.at(0.0, s.q0)[2]
    assert any(block.certain is not None for block in J.blocks) or len(J.blocks) > 10
    compare_mobility(s, s.q0)
    others = [name not in s.mobility().redundant for name in s.constraint_names]
    assert np.linalg.matrix_rank(s.constraint_jacobian(s.q0, engine="plain")[others]) == s.mobility().rank == sum(others)
