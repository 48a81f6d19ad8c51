"""Flexible bodies with many modes: their integrals against sums over the points, and how much they compute, counted."""

import numpy as np
import pytest

import madi
from madi.flexible import clamped_free, rectangle, user
from madi.flexible.integrals import AXES, integrals, pivoted
from madi.kernel.sums import along, four_along, times
from madi.symbolic.trace import count_operations, trace
from tests.bodies.beams import ALUMINIUM

MIXED = {"y": 5, "z": 4, "twist": 1, "axial": 2}


def held(modes, stiffening=True, at=0.0):
    """A beam of 2 m, its frame free or a point of it held by a ball, and its field."""
    m = madi.Model("held", gravity=(0, 0, 0))
    link = m.beam("link", (0, 0, 0), (2, 0, 0), rectangle(0.03, 0.05), **ALUMINIUM, modes=modes, stiffening=stiffening,
                  strict=False)  # fmt: skip
    if at > 0:
        m.spherical("ball", m.ground, link, at=(at, 0, 0))
    else:
        m.free("base", m.ground, link)
    return m.build(), link.flexible


def truncated(field, chi):
    """X of all points as the kinetic energy has it: its projection on the orthonormal functions."""
    left = field.chi - chi[:, :, None]
    functions, _ = field.shortening(left)
    share = np.einsum("n,rni,cdni->rcd", field.masses, functions, left)
    return np.einsum("rcd,rni->cdni", share, functions)


def mass_by_points(field, chi, xi):
    """Mass matrix about the frame's origin in the frame's axes, (v, w, xi'), of sums over points and slices."""
    X = truncated(field, chi)
    rho = field.points + np.einsum("cni,c->ni", field.psi, xi) + 0.5 * np.einsum("cdni,c,d->ni", X, xi, xi)
    by = field.psi + np.einsum("cdni,d->cni", X, xi)
    turning = np.stack([np.cross(e, rho) for e in np.eye(3)])
    moved = np.concatenate([np.broadcast_to(np.eye(3)[:, None], (3, *rho.shape)), turning, by])
    turned = np.concatenate([np.zeros((3, *rho.shape)), np.broadcast_to(np.eye(3)[:, None], (3, *rho.shape)), field.theta])
    M = np.einsum("n,ani,bni->ab", field.masses, moved, moved)
    return M + np.einsum("ani,nij,bnj->ab", turned, field.sections, turned)


@pytest.mark.parametrize("modes", [{"z": 1}, MIXED, {"y": 7}, {"z": 9, "y": 3}], ids=str)
@pytest.mark.parametrize("at", [0.0, 0.7])
@pytest.mark.parametrize("stiffening", [True, False])
def test_the_mass_matrix_is_that_of_the_points(modes, at, stiffening):
    """Also where the frame hangs in the middle, and foreshortening is counted from there."""
    s, flexible = held(modes, stiffening, at)
    rng = np.random.default_rng(1)
    field, chi = flexible.field, flexible.station(np.array([at, 0.0, 0.0])).chi
    k = len(field.names)
    for size in (0.01, 0.1):
        q = s.q0.copy()
        q[-k:] = xi = size * rng.normal(size=k)
        M, A = s.mass_matrix(q, engine="plain"), s.body_pose(q, "link", engine="plain")[1]
        J = np.kron(np.eye(2), A.T) @ s.point_jacobian(q, "link", engine="plain")  # of the frame, in its axes
        J = np.vstack([J, np.hstack([np.zeros((k, s.nv - k)), np.eye(k)])])
        wanted = J.T @ mass_by_points(field, chi, xi) @ J
        np.testing.assert_allclose(M, wanted, atol=1e-10 * np.max(np.abs(wanted)))


def test_foreshortening_by_slopes_at_places():
    """X_cd less what is left out = e_x sum_p chi_p psi_c'(p) psi_d'(p), also of a user's shapes."""
    L = 2.0
    shapes = [*clamped_free(L, 3), user(lambda x: madi.sin(x) ** 2 * x, L)]
    _, flexible = held({"y": shapes, "z": 6})
    field = flexible.field
    found = integrals(field, np.zeros(3), np.zeros((*field.chi.shape[:2], 3)))
    K, P, n = len(found.parts.mode), found.places, len(found.parts.mode) + found.places
    overlap, slopes = found.numbers[5].reshape(n, n), found.numbers[6].reshape(K, P)
    X = truncated(field, np.zeros((*field.chi.shape[:2], 3)))
    axes = np.repeat(AXES, np.diff([0, *found.parts.ends]))
    own = field.psi[found.parts.mode, :, axes]
    # moments with the parts, and inner products with each other, of X_cd for all c, d
    mine = np.einsum("cp,dp,up->cdu", slopes, slopes, overlap[:K, K:])
    sums = np.einsum("n,cdn,un->cdu", field.masses, X[found.parts.mode][:, found.parts.mode][..., 0], own)
    np.testing.assert_allclose(mine, sums, atol=1e-11 * np.max(np.abs(sums)))
    mine = np.einsum("cp,dp,pq,eq,fq->cdef", slopes, slopes, overlap[K:, K:], slopes, slopes, optimize=True)
    X = X[found.parts.mode][:, found.parts.mode][..., 0]
    sums = np.einsum("n,cdn,efn->cdef", field.masses, X, X, optimize=True)
    np.testing.assert_allclose(mine, sums, atol=1e-11 * np.max(np.abs(sums)))


def test_pivoted_factorisation_ends_at_the_rank():
    rng = np.random.default_rng(3)
    matrix = rng.normal(size=(30, 7)) @ np.diag(10.0 ** -np.arange(7)) @ rng.normal(size=(7, 50))
    Q, R, chosen = pivoted(matrix)
    assert len(chosen) == len(set(chosen)) == 7
    np.testing.assert_allclose(Q @ R, matrix, atol=1e-12 * np.max(np.abs(matrix)))
    np.testing.assert_allclose(Q.T @ Q, np.eye(7), atol=1e-14)
    assert np.max(np.abs(np.tril(R[:, chosen], -1))) < 1e-12 * np.max(np.abs(R))


@pytest.mark.parametrize("rows", [0, 1, 3, 4, 6, 9])
def test_rows_times_a_vector(rows):
    rng = np.random.default_rng(rows)
    a, b, out = rng.normal(size=200), rng.normal(size=20), np.full(12, 7.0)
    matrix = a[5 : 5 + 11 * rows].reshape(rows, 11)
    times(a, 5, 11, rows, b, 3, 2, 9, out, 1)
    np.testing.assert_allclose(out[1 : 1 + rows], matrix[:, 2:9] @ b[5:12], atol=1e-14)
    assert np.all(np.delete(out, np.arange(1, 1 + rows)) == 7.0)
    assert along(a, 0, b, 0, 4, 4) == 0.0
    wanted = a[:44].reshape(4, 11)[:, :7] @ b[:7]
    np.testing.assert_allclose(four_along(a, 0, 11, b, 0, 0, 7), wanted, atol=1e-14)


def operations(entry, k, stiffening):
    system, _ = held({"z": k}, stiffening)
    return sum(count_operations(trace(system.layout, entry)).values())


def test_what_is_computed_grows_as_the_square_of_the_modes():
    """Counted in the trace: inverse dynamics O(k^2), with stiffening too; forward dynamics forms and solves with the modal
    mass."""
    sizes = (6, 12, 24)
    for entry, stiffening, power in (("inverse", True, 2.1), ("inverse", False, 2.0), ("articulated", True, 2.6)):
        counts = [operations(entry, k, stiffening) for k in sizes]
        found = np.log(counts[-1] / counts[-2]) / np.log(sizes[-1] / sizes[-2])
        assert found < power, (entry, stiffening, counts)


def test_places_are_some_multiple_of_the_modes():
    """Of one plane, and of two; never more than there are products."""
    for modes, planes in (({"z": 4}, 1), ({"z": 24}, 1), ({"y": 12, "z": 12}, 2)):
        _, flexible = held(modes)
        field = flexible.field
        found = integrals(field, np.zeros(3), np.zeros((*field.chi.shape[:2], 3)))
        k = len(field.names) // planes
        assert found.places <= planes * min(k * (k + 1) // 2, 3 * k + 3)
        assert found.functions <= 2 * k
