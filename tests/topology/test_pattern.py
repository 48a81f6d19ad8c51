"""The order of elimination and the weights of rows against full matrices; work that grows with a model, no faster."""

import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from madi.bench.large import MODELS
from madi.dynamics.kinematics import positions
from madi.dynamics.recursive import mass_diagonal
from madi.joints.columns import FREE_COLUMN
from madi.topology.pattern import Factor, paths_apart
from madi.topology.settle import compliances, random_coordinates, random_entries
from tests.mechanisms import close_loops, random_state, random_tree

SEEDS = st.integers(0, 2**32 - 1)


def naive(neighbours, columns):
    """Elimination as it is defined: everything a node meets meets each other afterwards; a row waits for its columns."""
    graph, order, below = [set(one) for one in neighbours], [], {}
    left = set(range(len(graph)))
    while left:
        ready = [i for i in left if i < columns or not any(j < columns for j in neighbours[i] & left)]
        k = min(ready, key=lambda i: (len(graph[i]), i))
        below[k] = set(graph[k])
        for i in graph[k]:
            graph[i] |= graph[k]
            graph[i] -= {i, k}
        order.append(k)
        left.discard(k)
    return order, below


@given(SEEDS)
def test_elimination_is_that_of_the_definition(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 14))
    meets = np.triu(rng.random((n, n)) < rng.uniform(0.05, 0.5), 1)
    neighbours = [set(map(int, np.flatnonzero(row))) for row in meets | meets.T]
    fixed = int(rng.integers(0, n + 1))
    order, below = naive(neighbours, fixed)
    factor = Factor([set(one) for one in neighbours], fixed)
    assert [int(factor.rank[k]) for k in order] == list(range(n))
    target = []
    for k, node in enumerate(order):
        item = sorted(int(factor.rank[i]) for i in below[node])
        assert factor.index[factor.first[k] : factor.first[k + 1]].tolist() == item
        target += [(i, j) for s, i in enumerate(item) for j in item[s:]]
    places = {(k, k): k for k in range(n)}
    for k in range(n):
        places |= {
            (k, int(i)): n + int(factor.first[k]) + s for s, i in enumerate(factor.index[slice(*factor.first[k : k + 2])])
        }
    assert factor.target.tolist() == [places[pair] for pair in target]


@given(SEEDS)
def test_paths_end_where_they_meet(seed):
    rng = np.random.default_rng(seed)
    parent = [int(rng.integers(-1, k)) for k in range(int(rng.integers(1, 20)))]

    def whole(x):
        found = []
        while x >= 0:
            found.append(x)
            x = parent[x]
        return found

    a, b = (int(rng.integers(-1, len(parent))) for _ in range(2))
    common = set(whole(a)) & set(whole(b))
    expected = [[x for x in whole(end) if x not in common] for end in (a, b)]
    assert list(map(list, paths_apart(a, b, parent))) == expected


@settings(max_examples=30)
@given(SEEDS)
def test_the_diagonal_of_the_mass_matrix(seed):
    rng = np.random.default_rng(seed)
    s = random_tree(rng, int(rng.integers(1, 8)), moving=bool(rng.integers(2)), reverse=0.3).build()
    q, *_ = random_state(rng, s)
    work, found = s.layout.scratch(), np.empty(s.nv)
    positions(s.layout.arrays, work, q)
    mass_diagonal(s.layout.arrays, work, found)
    np.testing.assert_allclose(found, np.diag(s.mass_matrix(q, engine="plain")), rtol=1e-12)


@settings(max_examples=30)
@given(SEEDS)
def test_weights_of_rows_are_those_of_the_full_matrices(seed):
    rng = np.random.default_rng(seed)
    m = random_tree(rng, int(rng.integers(3, 7)), moving=bool(rng.integers(2)))
    close_loops(m, rng, m.build().nv)
    if m.check() or not m.build().frozen.rows:
        return
    s = m.build()
    free = np.asarray(s.layout.arrays.drive) == FREE_COLUMN
    there = zip(random_coordinates(s.layout, s.q0), random_entries(s.layout, s.q0), strict=True)
    for q, (J, M) in there:
        full, mass = s.constraint_jacobian(q, engine="plain")[:, free], s.mass_matrix(q, engine="plain")[np.ix_(free, free)]
        expected = np.diag(full @ np.linalg.solve(mass, full.T))
        np.testing.assert_allclose(compliances(s.layout.arrays, J, M), expected, rtol=1e-7, atol=1e-12 * expected.max())


# ---- growth ---------------------------------------------------------------------------------------------------------------


def calls(act):
    """Functions called, in Python and in C, while something is done."""
    count = 0

    def seen(frame, event, argument):
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(seen)
    try:
        act()
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize("name", MODELS)
def test_building_grows_with_the_model_and_no_faster(name):
    small, large = (MODELS[name](n) for n in (60, 240))
    small.build()  # imports
    assert calls(large.build) < 4.5 * calls(small.build)
    sizes = [len(s.layout.ints) + len(s.layout.reals) for s in (small.build(), large.build())]
    assert sizes[1] < 4.5 * sizes[0]
