"""The inertia integrals of a flexible body, as its kernels read them (bodies/bending.py).

A mode moves points along one or more axes of the body: its *parts*, scalar functions f_u of place, ordered by axis. What
bending takes from the length comes from the slopes psi' at a few places p of every plane,

    X_cd = e_x sum_p chi_p psi_c'(p) psi_d'(p),

chi_p = sum_r A_rp phi_r: between so many places the products psi_c' psi_d' are interpolated, to rounding. So the body is
written with scalar functions f_a, the parts and behind them the chi_p, and all it takes are int f_a dm, int s f_a dm and
int f_a f_b dm. The phi_r are orthonormal, and with A_rp psi_c'(p) psi_d'(p) = G_rcd, X_cd = e_x sum_r G_rcd phi_r: fewer of
them than places, for the modal mass.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from madi.flexible.field import Field

ROUNDING = 1e-14  # of the largest entry: below, a number is rounding
NOTHING_NEW = 1e-13  # of the largest product of slopes, or function: what no further one would add
AXES = (1, 2, 0)  # parts along y, along z, along x: behind the last come the functions of foreshortening, along x too


@dataclass(frozen=True)
class Parts:
    """Which mode each part is of, one past the last part of every axis, and of each part the places whose slopes it has."""

    mode: np.ndarray
    ends: tuple[int, int, int]
    first: np.ndarray
    last: np.ndarray


@dataclass(frozen=True)
class Shortening:
    """Slopes of the parts at the places (parts, places), of the orthonormal functions G by parts (functions, parts, parts)
    and A (functions, places), and the functions chi_p along x (places, N)."""

    slopes: np.ndarray
    G: np.ndarray
    weights: np.ndarray
    functions: np.ndarray


@dataclass(frozen=True)
class Integrals:
    """The numbers, kind by kind in the order of bodies/bending.py, and how they are to be read."""

    numbers: tuple[np.ndarray, ...]
    parts: Parts
    places: int
    functions: int


def integrals(field: Field, origin: np.ndarray, chi: np.ndarray) -> Integrals:
    """About a point of the body, with X less that of the point."""
    dm, s = field.masses, field.points - origin
    found = [(axis, c) for axis in AXES for c in _present(field.psi, axis)]
    axes, modes = (np.array([pair[j] for pair in found], dtype=np.int64) for j in range(2))
    ends = tuple(int(x) for x in np.cumsum([np.sum(axes == axis) for axis in AXES]))
    own = field.psi[modes, :, axes]
    first, last, shortening = _shortening(field, chi, modes, axes)
    every = np.concatenate([own, shortening.functions])
    overlap = (every * dm) @ every.T
    overlap[len(own) :, len(own) :] = shortening.weights.T @ shortening.weights  # the phi_r are orthonormal
    tilted = np.einsum("nij,cnj->ci", field.sections, field.theta)
    rigid = np.concatenate([[np.sum(dm)], dm @ s, _six(field.inertia(s))])
    planes = [shortening.G[:, start:end, start:end] for start, end in ((0, ends[0]), ends[:2])]
    by_part = np.concatenate([np.moveaxis(plane, 1, 0).reshape(-1) for plane in planes])
    numbers = [rigid, every @ dm, (every * dm) @ s, tilted, field.modal_mass, overlap, shortening.slopes, by_part]
    parts = Parts(modes, (ends[0], ends[1], ends[2]), first, last)
    flat = tuple(without_rounding(part).reshape(-1) for part in numbers)
    return Integrals(flat, parts, len(shortening.functions), len(shortening.weights))


def _present(psi: np.ndarray, axis: int) -> np.ndarray:
    """The modes that move points along an axis."""
    size = np.max(np.abs(psi), axis=(1, 2))
    return np.flatnonzero(np.max(np.abs(psi[:, :, axis]), axis=1) > ROUNDING * size)


def _shortening(
    field: Field, chi: np.ndarray, modes: np.ndarray, axes: np.ndarray
) -> tuple[np.ndarray, np.ndarray, Shortening]:
    """Of each part the first place and one past the last; and all numbers of the foreshortening."""
    phi, G = field.shortening(field.chi - chi[:, :, None, :])
    first, last = np.zeros((2, len(modes)), dtype=np.int64)
    slopes, weights, places = np.zeros((len(modes), 0)), np.zeros((len(phi), 0)), 0
    for plane in field.planes if len(phi) else ():
        bent = np.flatnonzero((axes == plane.axis) & np.isin(modes, plane.modes))
        more = np.zeros((len(modes), len(plane.chosen)))
        more[bent] = field.slopes[modes[bent]][:, plane.chosen]
        first[bent], last[bent] = places, places + len(plane.chosen)
        slopes, weights = np.hstack([slopes, more]), np.hstack([weights, plane.weights(G)])
        places += len(plane.chosen)
    return first, last, Shortening(slopes, G[:, modes][:, :, modes], weights, weights.T @ phi[:, :, 0])


@dataclass(frozen=True)
class Plane:
    """The products psi_c' psi_d' of the modes that bend a beam along one axis, as scale Q R over all points; R of the chosen
    points is upper triangular."""

    axis: int
    modes: np.ndarray
    c: np.ndarray
    d: np.ndarray
    scale: np.ndarray
    Q: np.ndarray
    R: np.ndarray
    chosen: np.ndarray

    def weights(self, G: np.ndarray) -> np.ndarray:
        """A with G_rcd = sum_p A_rp psi_c'(p) psi_d'(p) over the chosen points."""
        from scipy.linalg import solve_triangular

        wanted = (G[:, self.c, self.d] / self.scale).T
        found: np.ndarray = solve_triangular(self.R[:, self.chosen], self.Q.T @ wanted)
        return found.T

    def reduced(self, rows: np.ndarray) -> np.ndarray:
        """Few rows with the singular values and right vectors of what such rows, X_cd of c <= d, are with all X_dc."""
        twice = np.where(self.c == self.d, 1.0, np.sqrt(2.0))
        small = np.linalg.qr((twice * self.scale)[:, None] * self.Q, mode="r")
        few: np.ndarray = small @ (self.Q.T @ (rows / self.scale[:, None]))
        return few


def planes(field: Field) -> list[Plane]:
    """Of the axes along which a body bends and is foreshortened."""
    found = []
    for axis in AXES[:2]:
        modes = _present(field.psi, axis)
        modes = modes[np.any(field.slopes[modes] != 0.0, axis=1)]
        if len(modes):
            i, j = np.triu_indices(len(modes))
            slopes, sizes = field.slopes[modes], np.max(np.abs(field.slopes[modes]), axis=1)
            scale = sizes[i] * sizes[j]
            Q, R, chosen = pivoted(slopes[i] * slopes[j] / scale[:, None])
            found.append(Plane(axis, modes, modes[i], modes[j], scale, Q, R, chosen))
    return found


def pivoted(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Q, R and the columns it went by: Q R is the matrix to rounding. (LAPACK's goes on to the end where the rank is
    small.)"""
    left, Q, chosen, first = matrix.T.copy(), np.zeros((0, len(matrix))), [], 0.0
    for _ in range(min(matrix.shape)):
        sizes = np.sqrt(np.einsum("ji,ji->j", left, left))
        column = int(np.argmax(sizes))
        first = max(first, sizes[column])
        if not sizes[column] > NOTHING_NEW * first:
            break
        q = left[column] / sizes[column]
        q = q - np.einsum("k,ki->i", np.einsum("ki,i->k", Q, q), Q)  # again: late ones are small
        q = q / np.linalg.norm(q)
        left -= np.einsum("ji,i->j", left, q)[:, None] * q
        Q = np.vstack([Q, q])
        chosen.append(column)
    return Q.T, Q @ matrix, np.array(chosen, dtype=np.int64)


def without_rounding(values: np.ndarray) -> np.ndarray:
    """Entries that are rounding next to the largest are zero: a trace can drop them."""
    return np.where(np.abs(values) < ROUNDING * np.max(np.abs(values), initial=0.0), 0.0, values)


def turning(P: np.ndarray) -> np.ndarray:
    """int (rho.rho 1 - rho rho^T) of int rho rho^T."""
    return np.trace(P) * np.eye(3) - P


def _six(J: np.ndarray) -> list[float]:
    return [J[0, 0], J[0, 1], J[0, 2], J[1, 1], J[1, 2], J[2, 2]]
