"""A flexible body as its dynamics see it: masses at points, how the modes move them, and the integrals of both.

Beams (by quadrature along their length) and finite element models (by their nodes) come down to the same: points s with
masses dm and section inertias j, and of every mode the displacement Psi and the turn Theta of every point; X, for beams with
geometric stiffening, is what bending takes from their length.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from madi.errors import InputError, a_number, not_negative

ENOUGH = 1e-4  # functions of foreshortening smaller than this against the largest are left out
NO_SHORTENING = 1e-12  # m for a mode of 1, over all mass: none of the shapes foreshortens the body
DEPENDENT = 1e-10  # smallest eigenvalue of the scaled modal mass: below, one mode is a sum of others
NOT_STIFF = 1e-9  # of the largest eigenvalue of the stiffness: rounding of those that are zero
COUPLED = 1e-9  # entry of a modal matrix, against its diagonal, that is more than rounding
ROUNDING, LEAST_SIZE = 1e-14, 1e-300  # of the largest entry; that is at least this


@dataclass(frozen=True)
class Station:
    """A point of a flexible body: its name, what makes it the same point as another, where it is in the body's axes, and the
    shapes there."""

    label: str
    key: float  # x along a beam, number of a node; NaN: the frame
    position: np.ndarray
    psi: np.ndarray  # (modes, 3)
    theta: np.ndarray  # (modes, 3)
    chi: np.ndarray  # (modes, modes, 3)

    def numbers(self, chi: np.ndarray) -> np.ndarray:
        """What a modal joint reads (joints/modal.py); X less that of the point on which the body hangs."""
        return np.concatenate([self.psi.reshape(-1), self.theta.reshape(-1), (self.chi - chi).reshape(-1)])

    @property
    def turn(self) -> int:
        """Modes turn the point: -1 not, 0..2 about that axis only, 3 anyhow."""
        axes = np.flatnonzero(np.any(self.theta != 0.0, axis=0))
        return -1 if not len(axes) else int(axes[0]) if len(axes) == 1 else 3


@dataclass(frozen=True)
class Field:
    """Points, masses and shapes of a flexible body with k modes, in its own axes."""

    names: tuple[str, ...]
    units: tuple[str, ...]
    points: np.ndarray  # (N, 3)
    masses: np.ndarray  # (N,)
    sections: np.ndarray  # (N, 3, 3) rotary inertia of each point
    psi: np.ndarray  # (k, N, 3)
    theta: np.ndarray  # (k, N, 3)
    chi: np.ndarray  # (k, k, N, 3)
    stiffness: np.ndarray  # (k, k)
    damping: np.ndarray
    turns: bool = True  # the modes tell how points turn
    mass: np.ndarray | None = None  # (k, k) modal masses, where they are known better than from the points

    @property
    def rigid(self) -> tuple[float, np.ndarray, np.ndarray]:
        """Mass, centre of mass and inertia about it, undeformed."""
        m = float(np.sum(self.masses))
        com = np.einsum("n,ni->i", self.masses, self.points) / m
        return m, com, self._inertia(self.points - com)

    def _inertia(self, s: np.ndarray) -> np.ndarray:
        return _turning(np.einsum("n,ni,nj->ij", self.masses, s, s)) + np.sum(self.sections, axis=0)

    @property
    def modal_mass(self) -> np.ndarray:
        """m_cd."""
        if self.mass is not None:
            return self.mass
        slides = np.einsum("n,cni,dni->cd", self.masses, self.psi, self.psi)
        return slides + np.einsum("cni,nij,dnj->cd", self.theta, self.sections, self.theta)

    def integrals(self, origin: np.ndarray, chi: np.ndarray) -> tuple[np.ndarray, int]:
        """The inertia integrals about a point of the body, as kernels read them (bodies/bending.py), with X less that of the
        point; and how many functions the foreshortening takes."""
        functions, G = self.shortening(self.chi - chi[:, :, None, :])
        dm, psi, s = self.masses, np.concatenate([self.psi, functions]), self.points - origin
        n, k = len(psi), len(self.names)
        tilted = np.zeros((n, 3))
        tilted[:k] = np.einsum("nij,cnj->ci", self.sections, self.theta)
        mass = np.einsum("n,cni,dni->cd", dm, psi, psi)
        mass[:k, :k] = self.modal_mass
        turn = np.array([_six(_turning(_both(np.einsum("n,ni,nj->ij", dm, s, psi[c])))) for c in range(n)])
        turns = np.array([
            _six(_turning(_both(np.einsum("n,ni,nj->ij", dm, psi[c], psi[d])))) for c in range(n) for d in range(n)
        ])  # fmt: skip
        parts = [
            [np.sum(dm)], np.einsum("n,ni->i", dm, s), _six(self._inertia(s)), np.einsum("n,cni->ci", dm, psi), turn,
            np.einsum("n,cni->ci", dm, np.cross(s, psi)) + tilted, mass, turns,
            np.einsum("n,cdni->cdi", dm, np.cross(psi[:, None], psi[None, :])), G,
        ]  # fmt: skip
        return np.concatenate([_without_rounding(part).reshape(-1) for part in parts]), len(functions)

    def shortening(self, chi: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """X_cd = sum_r G_rcd phi_r, with a few functions phi_r (r, N, 3) orthonormal over the mass; the kinetic energy of
        the line (or the lumped masses) is that of the field without any term cut, and positive, for however many of them."""
        k = len(self.names)
        weights = np.sqrt(self.masses)[:, None]
        rows = (chi * weights).reshape(k * k, -1)
        if not np.linalg.norm(rows) > NO_SHORTENING * np.sqrt(np.sum(self.masses)):
            return np.zeros((0, *self.points.shape)), np.zeros((0, k, k))
        _, sizes, functions = np.linalg.svd(rows, full_matrices=False)
        functions = functions[sizes > ENOUGH * sizes[0]]
        with np.errstate(all="ignore"):
            shapes = np.where(weights > 0, functions.reshape(-1, *self.points.shape) / weights, 0.0)
        return shapes, (rows @ functions.T).T.reshape(-1, k, k)

    def check(self, what: str) -> None:
        """Finite, and the modes independent of each other."""
        for name, array in (("points", self.points), ("masses", self.masses), ("shapes", self.psi), ("turns", self.theta),
                            ("stiffness", self.stiffness), ("damping", self.damping)):  # fmt: skip
            if not np.isfinite(array).all():
                raise InputError(f"{what}: its {name} are not all finite; look for NaN in what was given")
        m = self.modal_mass
        diagonal = np.sqrt(np.maximum(np.diag(m), 0.0))
        empty = [name for name, size in zip(self.names, diagonal, strict=True) if not size > 0]
        if empty:
            raise InputError(f"{what}: mode(s) {', '.join(empty)} move no mass; leave them out")
        values, vectors = np.linalg.eigh(m / np.outer(diagonal, diagonal))
        if values[0] < DEPENDENT:
            culprits = [self.names[c] for c in np.flatnonzero(np.abs(vectors[:, 0]) > 0.1)]
            raise InputError(
                f"{what}: modes {', '.join(culprits)} depend on each other (their modal mass matrix is singular: smallest "
                f"eigenvalue {values[0]:.1e} of its scaled form); leave one of them out"
            )
        stiff = np.linalg.eigvalsh(0.5 * (self.stiffness + self.stiffness.T))
        if stiff[0] < -NOT_STIFF * max(abs(stiff[-1]), LEAST_SIZE):
            raise InputError(f"{what}: its modal stiffness is not positive (eigenvalue {stiff[0]:.3g})")


class Flexible(Protocol):
    """What a body must be able to tell to be flexible: a beam, or a finite element model."""

    @property
    def field(self) -> Field:
        """Points, masses, shapes."""
        ...

    def station(self, point: np.ndarray) -> Station:
        """The station that carries a point (body axes); InputError where there is none."""
        ...

    def named(self) -> dict[str, np.ndarray]:
        """Points that have a name, in body axes."""
        ...

    def line(self, points: int) -> tuple[np.ndarray, np.ndarray]:
        """Points to draw it by, and Psi there (modes, points, 3)."""
        ...


def damping_matrix(stiffness: np.ndarray, mass: np.ndarray, ratio: Any, proportional: Any, what: str) -> np.ndarray:
    """D of damping ratios of the body's natural modes, held as its shapes are, and of proportional damping a m + b K. One
    ratio, or one for each mode by its place: of modes coupled with each other the lowest frequency takes the first."""
    n = len(mass)
    try:
        ratios = np.broadcast_to(np.asarray(ratio, dtype=float), n)
        a, b = (a_number(x, what) for x in proportional)
    except (TypeError, ValueError, OverflowError):
        raise InputError(
            f"{what}: damping={ratio!r}, proportional={proportional!r}: give a ratio (or one for each of the "
            f"{n} modes), and two numbers (a, b) of a m + b K"
        ) from None
    for x in (*ratios, a, b):
        not_negative(float(x), f"{what}: damping")
    D = a * mass + b * stiffness
    for block in _coupled(stiffness, mass):
        D[block] += _modal_damping(stiffness[block], mass[block], ratios[block[1].ravel()])
    return D


def _modal_damping(stiffness: np.ndarray, mass: np.ndarray, ratios: np.ndarray) -> np.ndarray:
    from scipy.linalg import eigh

    values, vectors = eigh(0.5 * (stiffness + stiffness.T), mass)
    modal = mass @ vectors
    return modal @ np.diag(2 * ratios * np.sqrt(np.maximum(values, 0.0))) @ modal.T


def _coupled(*matrices: np.ndarray) -> list[Any]:
    """The blocks of modes that some matrix couples, as indices of a matrix."""
    from scipy.sparse.csgraph import connected_components

    sizes = [np.sqrt(np.abs(np.diag(matrix))) for matrix in matrices]
    coupled = [np.abs(matrix) > COUPLED * np.outer(size, size) for matrix, size in zip(matrices, sizes, strict=True)]
    count, label = connected_components(np.any(coupled, axis=0))
    return [np.ix_(*2 * (np.flatnonzero(label == k),)) for k in range(count)]


def frame_station(modes: int) -> Station:
    """The body's frame itself: no mode moves it."""
    return Station(
        "frame", float("nan"), np.zeros(3), np.zeros((modes, 3)), np.zeros((modes, 3)), np.zeros((modes, modes, 3))
    )


def _without_rounding(values: Any) -> np.ndarray:
    """Entries that are rounding next to the largest are zero: a trace can drop them."""
    array = np.asarray(values, dtype=float)
    return np.where(np.abs(array) < ROUNDING * np.max(np.abs(array), initial=0.0), 0.0, array)


def _turning(P: np.ndarray) -> np.ndarray:
    """int (rho.rho 1 - rho rho^T) of int rho rho^T."""
    return np.trace(P) * np.eye(3) - P


def _both(P: np.ndarray) -> np.ndarray:
    return P + P.T


def _six(J: np.ndarray) -> Sequence[float]:
    return [J[0, 0], J[0, 1], J[0, 2], J[1, 1], J[1, 2], J[2, 2]]
