"""Once per model: which rows vanish identically, and how strongly each row is regularised.

A planar linkage drawn in space has, at every cut revolute, three rows that no motion of the tree can violate: their
Jacobian is zero at every configuration, and at a few random ones with certainty as good as any. They stay in the report
(redundant, by name) and leave the equations. eps of a row is 1e-10 of Phi_q M^-1 Phi_q^T, the inverse of the mass it moves:
the mean over the random configurations, and over the rows of its unit so that multipliers of least norm are forces alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from madi.bodies.bending import MASS, RIGID
from madi.constraints.dispatch import evaluate_rows
from madi.constraints.fields import REGULARISATION
from madi.dynamics.kinematics import positions
from madi.dynamics.recursive import subtree_inertias
from madi.joints.chart import retract
from madi.kernel.cores import one_core
from madi.loops.kkt import EPSILON, coefficients
from madi.topology.closures import Row
from madi.topology.layout import Layout, repack
from madi.topology.pattern import pattern

TRIALS = 3
VANISHES = 1e-13  # largest entry of a row, against that of all (1 at least): rounding
BENT = 1e-3  # of the radius of gyration: displacement of a mode, small and well above rounding


def settle(layout: Layout, rows: list[Row], q0: np.ndarray) -> tuple[Layout, np.ndarray]:
    """The layout with its final pattern and regularisation; which rows are active."""
    model = layout.arrays
    nr = layout.sizes["nr"]
    sizes, mean = np.zeros(nr), np.zeros(nr)
    for J, M in random_entries(layout, q0):
        np.maximum.at(sizes, J.row, np.abs(J.value))
        mean += compliances(model, J, M) / TRIALS
    active = sizes > VANISHES * max(1.0, float(np.max(sizes, initial=0.0)))
    if not (np.isfinite(sizes).all() and np.all(mean[active] > 0)):
        raise np.linalg.LinAlgError("constraints cannot be weighed")
    epsilon = np.ones(nr)
    units = np.array([row.unit for row in rows])
    for unit in np.unique(units):
        same = (units == unit) & active
        if same.any():
            epsilon[same] = EPSILON * np.exp(np.mean(np.log(mean[same])))
    values = model.row_value.copy()
    values[:, REGULARISATION] = epsilon
    scheme = pattern(model.values(), active)
    return repack(layout, scheme.pop("sizes"), {**scheme, "row_value": values}), active


class Entries(NamedTuple):
    """A sparse matrix, entry by entry."""

    row: np.ndarray
    column: np.ndarray
    value: np.ndarray


def compliances(model: Any, J: Entries, M: Entries) -> np.ndarray:
    """The diagonal of Phi_q M^-1 Phi_q^T, over the free columns. M is that of trees apart: a row meets two of them at most,
    and each is solved by itself."""
    tree = _trees(model)
    found = np.zeros(model.nr)
    local = np.zeros(model.nv, dtype=np.int64)
    masses, meetings = _split(tree[M.row], M), _split(tree[J.column], J)
    for root, mass in masses.items():
        if root not in meetings:
            continue
        meeting = meetings[root]
        columns, rows = np.unique(mass.row), np.unique(meeting.row)
        local[columns] = np.arange(len(columns))
        full = np.zeros((len(columns), len(columns)))
        full[local[mass.row], local[mass.column]] = full[local[mass.column], local[mass.row]] = mass.value
        load = np.zeros((len(columns), len(rows)))
        load[local[meeting.column], np.searchsorted(rows, meeting.row)] = meeting.value
        with one_core(len(columns)):
            found[rows] += np.einsum("cr,cr->r", load, np.linalg.solve(full, load))
    return found


def _trees(model: Any) -> np.ndarray:
    """Of every column the first one on its path."""
    found = np.arange(model.nv)
    for c, parent in enumerate(model.column_parent.tolist()):
        if parent >= 0:
            found[c] = found[parent]
    return found


def _split(key: np.ndarray, entries: Entries) -> dict[int, Entries]:
    """The entries by key."""
    order = np.argsort(key, kind="stable")
    keys, first = np.unique(key[order], return_index=True)
    parts = np.split(order, first[1:])
    return {int(k): Entries(*(part[at] for part in entries)) for k, at in zip(keys, parts, strict=False)}


def column_amounts(layout: Layout) -> np.ndarray:
    """How far columns are moved to look around: by 1, modes by what bends their body by a thousandth of its size."""
    model, shape = layout.arrays, layout.arrays.shape
    amounts = np.ones(layout.sizes["nv"])
    for i in np.flatnonzero(model.modal >= 0):
        (rigid, mass), k = (int(model.integral_at[i, kind]) for kind in (RIGID, MASS)), int(model.modes[i])
        turning = shape[rigid + 4] + shape[rigid + 7] + shape[rigid + 9]
        modal = np.diag(shape[mass : mass + k * k].reshape(k, k))
        # the rms displacement against the gyration radius
        amounts[model.v_at[i] : model.v_end[i]] = BENT * np.sqrt(turning / modal)
    return amounts


def random_coordinates(layout: Layout, q0: np.ndarray, seed: int = 1) -> Iterator[np.ndarray]:
    """A few configurations around q0, open loops and all."""
    rng, amounts = np.random.default_rng(seed), column_amounts(layout)
    for _ in range(TRIALS):
        q = np.empty(len(q0))
        retract(layout.arrays, q0, amounts * rng.uniform(-1.0, 1.0, layout.sizes["nv"]), q)
        yield q


def random_entries(layout: Layout, q0: np.ndarray) -> Iterator[tuple[Entries, Entries]]:
    """(Phi_q, M) there, over the free columns; of M one half."""
    model, work = layout.arrays, layout.scratch()
    row = np.repeat(np.arange(layout.sizes["nr"]), np.diff(model.row_first))
    for q in random_coordinates(layout, q0):
        positions(model, work, q)
        evaluate_rows(model, work)
        subtree_inertias(model, work)
        coefficients(model, work)
        yield Entries(row, model.j_column, work.j_value.copy()), Entries(model.m_row, model.m_column, work.m_value.copy())
