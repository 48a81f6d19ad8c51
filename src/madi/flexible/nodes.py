"""A flexible body from arrays, as finite element programs give them: nodes, lumped masses, mode vectors, stiffness.

docs/references.md: [Craig, Bampton 1968], [Wallrapp 1994].
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from madi.errors import InputError
from madi.flexible.field import Field, Station, damping_matrix

SYMMETRIC = 1e-8  # of the largest entry: matrices come from files with eight digits
RIGID_RANK = 1e-12  # of the largest inertia: nodes on a line, or one, have no inertia about it
NEGATIVE = 1e-9  # of the scaled mass: rounding of a body whose motion is all rigid
AT_NODE, SMALLEST = 1e-6, 1e-3  # of the body's size, m at least: a point that near to a node is on it
UNSTRAINED = 1e-12  # of the largest eigenvalue: rigid motions, which the frame has already


@dataclass(frozen=True)
class Nodes:
    """nodes (N, 3), masses (N,), modes (k, N, 3 or 6: displacement and rotation of every node), stiffness (k,) or (k, k)."""

    name: str
    nodes: Any
    masses: Any
    modes: Any
    stiffness: Any
    inertias: Any = None  # (N, 3) or (N, 3, 3) of the nodes
    modal_mass: Any = None  # (k, k), where the program gives a consistent one
    damping: Any = 0.0
    proportional: Any = (0.0, 0.0)
    labels: Sequence[str] | None = None
    strict = False  # nothing is known of boundary conditions
    stiffening = None  # and arrays do not know of foreshortening

    def _array(self, what: str, value: Any, shapes: Sequence[tuple[int, ...]]) -> np.ndarray:
        """As floats of one of these shapes, or an error that names both."""
        wanted = " or ".join(str(shape) for shape in shapes)
        try:
            array = np.asarray(value, dtype=float)
        except (TypeError, ValueError, OverflowError):
            raise InputError(f"flexible body {self.name!r}: {what} are not numbers of shape {wanted}") from None
        if array.shape not in shapes:
            raise InputError(f"flexible body {self.name!r}: {what} have shape {array.shape}; {wanted} is needed")
        return array

    @cached_property
    def field(self) -> Field:
        """Shapes at the nodes."""
        what = f"flexible body {self.name!r}"
        try:
            n, k = len(self.masses), len(self.modes)
        except TypeError:
            raise InputError(f"{what}: masses and modes must be arrays, (N,) and (k, N, 6)") from None
        if not n or not k:
            raise InputError(f"{what}: it has {n} nodes and {k} modes; for a rigid body use m.body(...)")
        nodes = self._array("nodes", self.nodes, [(n, 3)])
        masses = self._array("masses", self.masses, [(n,)])
        modes = self._array("modes", self.modes, [(k, n, 3), (k, n, 6)])
        stiffness = self._array("stiffness", self.stiffness, [(k,), (k, k)])
        if np.any(masses < 0) or not np.sum(masses) > 0:
            raise InputError(f"{what}: masses must be >= 0, and not all zero")
        K = np.diag(stiffness) if stiffness.ndim == 1 else stiffness
        mass = None if self.modal_mass is None else self._array("modal_mass", self.modal_mass, [(k, k)])
        for name, matrix in (("stiffness", K), ("modal_mass", mass)):
            if matrix is not None and not np.isfinite(matrix).all():
                raise InputError(f"{what}: its {name} is not finite; look for NaN in what was given")
            if matrix is not None and not np.allclose(
                matrix, np.transpose(matrix), rtol=SYMMETRIC, atol=SYMMETRIC * np.max(np.abs(matrix))
            ):
                raise InputError(f"{what}: {name} is not symmetric")
        given = np.zeros((n, 3)) if self.inertias is None else self._array("inertias", self.inertias, [(n, 3), (n, 3, 3)])
        if not np.isfinite(given).all():
            raise InputError(f"{what}: its inertias are not finite; look for NaN in what was given")
        sections = given if given.ndim == 3 else np.einsum("ni,ij->nij", given, np.eye(3))
        theta = modes[:, :, 3:] if modes.shape[2] == 6 else np.zeros((k, n, 3))
        names = tuple(f"mode{c + 1}" for c in range(k))
        self.names  # noqa: B018 - told if they are wrong
        found = Field(
            names, ("1",) * k, nodes, masses, sections, modes[:, :, :3], theta, np.zeros((k, k, n, 3)), K, np.zeros((k, k)),
            modes.shape[2] == 6, mass,
        )  # fmt: skip
        found.check(what)
        D = damping_matrix(K, found.modal_mass, self.damping, self.proportional, what)
        return replace(found, damping=D)

    def lacking(self) -> str:
        """What to say where modal_mass is less than the masses of the nodes carry as the body flies freely: then no kinetic
        energy is positive, M = [[rigid, shared], [shared, modal]]. Nothing if it is enough."""
        found = self.field
        if found.mass is None:
            return ""
        # velocities of the nodes in rigid motions, and their momenta
        moving = np.zeros((6, *found.points.shape))
        moving[:3] = np.eye(3)[:, None, :]
        moving[3:] = np.cross(np.eye(3)[:, None, :], found.points[None])
        turning = np.zeros_like(moving)
        turning[3:] = np.eye(3)[:, None, :]
        rigid = np.einsum("n,ani,bni->ab", found.masses, moving, moving)
        rigid += np.einsum("ani,nij,bnj->ab", turning, found.sections, turning)
        shared = np.einsum("n,ani,cni->ac", found.masses, moving, found.psi)
        shared += np.einsum("ani,nij,cnj->ac", turning, found.sections, found.theta)
        left = found.mass - shared.T @ np.linalg.pinv(rigid, rcond=RIGID_RANK, hermitian=True) @ shared
        size = np.sqrt(np.diag(found.mass))
        values, vectors = np.linalg.eigh(left / np.outer(size, size))
        if values[0] > -NEGATIVE:
            return ""
        worst = [name for name, part in zip(found.names, vectors[:, 0], strict=True) if abs(part) > 0.3]
        return (
            "its modal_mass is smaller than what the masses at its nodes carry "
            f"in {', '.join(worst)} (by {-values[0]:.1e} of "
            "it): the mass matrix is indefinite"
        )

    @cached_property
    def names(self) -> dict[int, str]:
        """Nodes that have a name."""
        what, n = f"flexible body {self.name!r}", np.shape(self.masses)[0]
        if self.labels is None:
            return {}
        if isinstance(self.labels, str) or not isinstance(self.labels, Sequence | np.ndarray) or len(self.labels) != n:
            raise InputError(
                f'{what}: labels={self.labels!r}; give a list of {n}, one for each node, "" where there is none'
            )
        named = {k: str(label) for k, label in enumerate(self.labels) if label}
        for name, count in Counter(named.values()).items():
            if count > 1 or "@" in name or name == "frame" or name.startswith("node"):
                raise InputError(f"{what}: label {name!r} is used twice or stands for something else; give another")
        return named

    def station(self, point: np.ndarray) -> Station:
        """The node at a point."""
        field = self.field
        distance = np.linalg.norm(field.points - point, axis=1)
        near, size = int(np.argmin(distance)), float(np.max(np.abs(field.points)))
        if distance[near] > AT_NODE * max(size, SMALLEST):
            x, y, z = field.points[near]
            raise InputError(
                f"no node is at ({point[0]:.6g}, {point[1]:.6g}, {point[2]:.6g}) of the body; the nearest, number {near} at "
                f"({x:.6g}, {y:.6g}, {z:.6g}), is {distance[near]:.3g} m away"
            )
        k = len(field.names)
        label = self.names.get(near, f"node{near}")
        return Station(label, float(near), field.points[near], field.psi[:, near], field.theta[:, near], np.zeros((k, k, 3)))

    def named(self) -> dict[str, np.ndarray]:
        """Nodes that have a name, in the body's axes."""
        return {label: np.asarray(self.nodes, dtype=float)[k] for k, label in self.names.items()}

    def line(self, points: int) -> tuple[np.ndarray, np.ndarray]:
        """All nodes, and Psi there."""
        return self.field.points, self.field.psi


def craig_bampton(mass: Any, stiffness: Any, interface: Sequence[int], count: int = 4,
                  fixed: Sequence[int] = ()) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
    """Craig-Bampton modes of a finite element model with full matrices `mass` and `stiffness` (degrees of freedom by
    number): one static shape for each `interface` degree of freedom, then `count` normal shapes with the interface held;
    `fixed` ones (those of the node the body will be attached to) do not move. Mixed so that mass and stiffness are diagonal.

    Returns (modes (k, degrees of freedom), modal masses (k, k), modal stiffness (k, k)); shapes of zero frequency, rigid
    motions that the joint will do, are left out.
    """
    from scipy.linalg import eigh

    try:
        M, K = np.asarray(mass, dtype=float), np.asarray(stiffness, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise InputError("craig_bampton: mass and stiffness must be square matrices of numbers") from None
    if not (np.isfinite(M).all() and np.isfinite(K).all()):
        raise InputError("craig_bampton: mass and stiffness are not all finite")
    if M.ndim != 2 or M.shape[0] != M.shape[1] or K.shape != M.shape:
        raise InputError(f"craig_bampton: mass {M.shape} and stiffness {K.shape} must be square and of one size")
    n, b = len(M), list(interface)
    held = set(b) | set(fixed)
    if any(not 0 <= d < n for d in held) or len(held) != len(b) + len(set(fixed)):
        raise InputError(f"craig_bampton: interface and fixed must be different degrees of freedom, from 0 to {n - 1}")
    inner = [d for d in range(n) if d not in held]
    if not (isinstance(count, int | np.integer) and 0 <= count <= len(inner)):
        raise InputError(f"craig_bampton: count={count!r}: there are {len(inner)} inner degrees of freedom")
    shapes = np.zeros((n, len(b) + count))
    for column, d in enumerate(b):
        shapes[d, column] = 1.0
        try:
            shapes[inner, column] = -np.linalg.solve(K[np.ix_(inner, inner)], K[inner, d])
        except np.linalg.LinAlgError:
            raise InputError("craig_bampton: with the interface held the model can still move; hold or tie more") from None
    if count:
        _, vectors = eigh(K[np.ix_(inner, inner)], M[np.ix_(inner, inner)], subset_by_index=[0, count - 1])
        shapes[inner, len(b) :] = vectors
    values, mix = eigh(shapes.T @ K @ shapes, shapes.T @ M @ shapes)
    keep = values > UNSTRAINED * values[-1]
    shapes = (shapes @ mix)[:, keep]
    return shapes.T, np.eye(int(keep.sum())), np.diag(values[keep])
