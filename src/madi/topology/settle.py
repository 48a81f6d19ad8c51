"""Once per model: which rows vanish identically, and how strongly each row is regularised.

A planar linkage drawn in space has, at every cut revolute, three rows that no motion of the tree can violate: their
Jacobian is zero at every configuration, and at a few random ones with certainty as good as any. They stay in the report
(redundant, by name) and leave the equations. eps of a row is 1e-10 of Phi_q M^-1 Phi_q^T, the inverse of the mass it moves:
the mean over the random configurations, and over the rows of its unit so that multipliers of least norm are forces alike.
"""

from __future__ import annotations

import numpy as np

from madi.constraints.dispatch import evaluate_rows, jacobian
from madi.constraints.fields import REGULARISATION
from madi.dynamics import recursive
from madi.dynamics.kinematics import positions
from madi.joints.chart import retract
from madi.joints.columns import FREE_COLUMN
from madi.loops.kkt import EPSILON
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
    free = model.drive == FREE_COLUMN
    jacobians, compliances = [], []
    for J, M in random_configurations(layout, q0):
        J, M = J[:, free], M[np.ix_(free, free)]
        jacobians.append(J)
        compliances.append(np.einsum("rc,cr->r", J, np.linalg.solve(M, J.T)) if J.size else np.zeros(nr))
    sizes = np.max([np.max(np.abs(J), axis=1, initial=0.0) for J in jacobians], axis=0)
    active = sizes > VANISHES * max(1.0, float(np.max(sizes, initial=0.0)))
    mean = np.mean(compliances, axis=0)
    if not (np.isfinite(sizes).all() and np.all(mean[active] > 0)):
        raise np.linalg.LinAlgError("constraints cannot be weighed")
    epsilon = np.ones(nr)
    for unit in {row.unit for row in rows}:
        same = np.array([row.unit == unit for row in rows]) & active
        if same.any():
            epsilon[same] = EPSILON * np.exp(np.mean(np.log(mean[same])))
    values = model.row_value.copy()
    values[:, REGULARISATION] = epsilon
    scheme = pattern(model.values(), active)
    return repack(layout, scheme.pop("sizes"), {**scheme, "row_value": values}), active


def column_amounts(layout: Layout) -> np.ndarray:
    """How far columns are moved to look around: by 1, modes by what bends their body by a thousandth of its size."""
    model, shape = layout.arrays, layout.arrays.shape
    amounts = np.ones(layout.sizes["nv"])
    for i in np.flatnonzero(model.modal >= 0):
        at, k = int(model.inertia_at[i]), int(model.modes[i])
        turning = shape[at + 4] + shape[at + 7] + shape[at + 9]
        n, at = k + int(model.shortenings[i]), at + 10 + 12 * (k + int(model.shortenings[i]))
        modal = np.diag(shape[at : at + n * n].reshape(n, n))[:k]
        # the rms displacement against the gyration radius
        amounts[model.v_at[i] : model.v_end[i]] = BENT * np.sqrt(turning / modal)
    return amounts


def random_configurations(layout: Layout, q0: np.ndarray, seed: int = 1) -> list[tuple[np.ndarray, np.ndarray]]:
    """(Phi_q, M) at a few configurations around q0, open loops and all."""
    model, rng = layout.arrays, np.random.default_rng(seed)
    work = layout.scratch()
    nv, nr = layout.sizes["nv"], layout.sizes["nr"]
    amounts = column_amounts(layout)
    found = []
    for _ in range(TRIALS):
        q = np.empty(len(q0))
        retract(model, q0, amounts * rng.uniform(-1.0, 1.0, nv), q)
        positions(model, work, q)
        evaluate_rows(model, work)
        J = np.zeros(nr * nv)
        jacobian(model, work, J)
        recursive.mass_matrix(model, work)
        found.append((J.reshape(nr, nv), work.M.reshape(nv, nv).copy()))
    return found
