"""A flexible body as its dynamics see it: masses at points, how the modes move them, and the integrals of both.

Beams (by quadrature along their length) and finite element models (by their nodes) come down to the same: points s with
masses dm and section inertias j, and of every mode the displacement Psi and the turn Theta of every point; X, for beams with
geometric stiffening, is what bending takes from their length.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from madi.errors import InputError, a_number, not_negative
from madi.flexible.integrals import Plane, planes, turning

ENOUGH = 1e-4  # functions of foreshortening smaller than this against the largest are left out
NO_SHORTENING = 1e-12  # m for a mode of 1, over all mass: none of the shapes foreshortens the body
DEPENDENT = 1e-10  # smallest eigenvalue of the scaled modal mass: below, one mode is a sum of others
NOT_STIFF = 1e-9  # of the largest eigenvalue of the stiffness: rounding of those that are zero
COUPLED = 1e-9  # entry of a modal matrix, against its diagonal, that is more than rounding
LEAST_SIZE = 1e-300  # the largest entry is at least this


@dataclass(frozen=True)
class Station:
    """A point of a flexible body: its name, what makes it the same point as another, where it is in the body's axes, and the
    shapes there."""

    label: str
    key: float  # x along a beam, number of a node; NaN: the frame
    position: np.ndarray
    psi: np.ndarray  # (modes, 3)
    theta: np.ndarray  # (modes, 3)
    chi: np.ndarray  # (modes, modes, 3), along x

    def numbers(self, chi: np.ndarray) -> np.ndarray:
        """What a modal joint reads (joints/modal.py); X less that of the point on which the body hangs, nothing where that
        is zero."""
        left = (self.chi - chi)[:, :, 0]
        return np.concatenate([self.psi.reshape(-1), self.theta.reshape(-1), left.reshape(-1) if np.any(left) else []])

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
    chi: np.ndarray  # (k, k, N, 3), along x
    stiffness: np.ndarray  # (k, k)
    damping: np.ndarray
    turns: bool = True  # the modes tell how points turn
    mass: np.ndarray | None = None  # (k, k) modal masses, where they are known better than from the points
    bends: np.ndarray | None = None  # (k, N) psi' of bending modes, of which chi is made; None: nothing foreshortens it

    @property
    def slopes(self) -> np.ndarray:
        """psi' of bending modes (k, N), zero of others."""
        return np.zeros((len(self.names), len(self.masses))) if self.bends is None else self.bends

    @cached_property
    def planes(self) -> list[Plane]:
        """The planes in which it bends, and the products of slopes there."""
        return planes(self)

    @property
    def rigid(self) -> tuple[float, np.ndarray, np.ndarray]:
        """Mass, centre of mass and inertia about it, undeformed."""
        m = float(np.sum(self.masses))
        com = np.einsum("n,ni->i", self.masses, self.points) / m
        return m, com, self.inertia(self.points - com)

    def inertia(self, s: np.ndarray) -> np.ndarray:
        """J of the points at s, undeformed."""
        return turning(np.einsum("n,ni,nj->ij", self.masses, s, s)) + np.sum(self.sections, axis=0)

    @property
    def modal_mass(self) -> np.ndarray:
        """m_cd."""
        if self.mass is not None:
            return self.mass
        slides = np.einsum("n,cni,dni->cd", self.masses, self.psi, self.psi)
        return slides + np.einsum("cni,nij,dnj->cd", self.theta, self.sections, self.theta)

    def shortening(self, chi: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """X_cd = sum_r G_rcd phi_r, with a few functions phi_r (r, N, 3) orthonormal over the mass; the kinetic energy of
        the line (or the lumped masses) is that of the field without any term cut, and positive, for however many of them."""
        k, weights = len(self.names), np.sqrt(self.masses)
        if not np.linalg.norm(chi[..., 0] * weights) > NO_SHORTENING * np.sqrt(np.sum(self.masses)):
            return np.zeros((0, *self.points.shape)), np.zeros((0, k, k))
        rows = [chi[plane.c, plane.d, :, 0] * weights for plane in self.planes]
        few = np.vstack([plane.reduced(mine) for plane, mine in zip(self.planes, rows, strict=True)])
        _, sizes, functions = np.linalg.svd(few, full_matrices=False)
        functions = functions[sizes > ENOUGH * sizes[0]]
        G = np.zeros((len(functions), k, k))
        for plane, mine in zip(self.planes, rows, strict=True):
            G[:, plane.c, plane.d] = G[:, plane.d, plane.c] = functions @ mine.T
        shapes = np.zeros((len(functions), *self.points.shape))
        np.divide(functions, weights, out=shapes[:, :, 0], where=weights > 0)
        return shapes, G

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
