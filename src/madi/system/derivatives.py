"""Derivatives of the accelerations, exact, for models of any size.

The equations are  M a + Phi_q^T lam = P + tau  and  Phi'' = 0.  How the first change is known by recursion
(equations/slopes.py), how the rows do from a trace of them alone (symbolic/rows.py), so that

    [M    Phi_q^T] [da  ]     [dtau - dR  ]
    [Phi_q    0  ] [dlam]  =  [  - dPhi'' ]

is left, solved with one sparse factor: with the rows' own eps on the diagonal, which refinement takes out. What is
prescribed does not change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from madi.constraints.fields import REGULARISATION
from madi.joints.columns import FREE_COLUMN
from madi.kernel.cores import one_core

Derivatives = tuple[np.ndarray, np.ndarray, np.ndarray]

if TYPE_CHECKING:
    from madi.given import Numbers, States
    from madi.system import System

REFINED = 3


def derivatives(system: System, q: States, v: States, tau: States | None, t: Numbers) -> Derivatives:
    """d(acceleration)/d(q, v, tau), of a state or of many."""
    nv, nr = system.nv, system.n_constraints
    out = system._evaluate("multipliers", q, v, tau, t, "auto") if nr else system.forward_dynamics(q, v, tau, t)
    blocks = system._blocks(t, q, v, system._trial(out[..., :nv], out[..., nv:] if nr else None))
    lead = blocks["qdd"].shape[:-2]
    by_q, by_v = system._row_slopes(t, q, v, out[..., :nv]) if nr else (np.zeros((*lead, 0, nv)),) * 2
    model = system.layout.arrays
    free = np.flatnonzero(np.asarray(model.drive) == FREE_COLUMN)
    rows = np.flatnonzero(np.asarray(model.row_place) >= 0) if nr else np.zeros(0, dtype=np.int64)
    epsilon = np.asarray(model.row_value)[rows, REGULARISATION] if nr else np.zeros(0)
    push = np.zeros((len(free), nv))
    push[np.arange(len(free)), free] = 1.0
    found = np.zeros((3, *lead, nv, nv))
    with one_core(len(free) + len(rows)):
        for at in np.ndindex(lead):
            M, J = blocks["qdd"][at][np.ix_(free, free)], blocks["phi"][at][np.ix_(rows, free)]
            above = np.hstack([-blocks["q"][at][free], -blocks["qd"][at][free], push])
            below = np.hstack([-by_q[at][rows], -by_v[at][rows], np.zeros((len(rows), nv))])
            change = _solved(M, J, epsilon, above, below)
            for k in range(3):
                found[(k, *at)][free] = change[:, k * nv : (k + 1) * nv]
    return found[0], found[1], found[2]


def _solved(M: np.ndarray, J: np.ndarray, epsilon: np.ndarray, above: np.ndarray, below: np.ndarray) -> Any:
    """da of the equations above."""
    if not len(J):
        return np.linalg.solve(M, above)
    from scipy.sparse import bmat, csc_matrix, diags
    from scipy.sparse.linalg import splu

    rows, n = csc_matrix(J), len(M)
    exact = bmat([[csc_matrix(M), rows.T], [rows, None]], format="csc")
    with one_core(len(M) + len(J)):
        factor = splu((exact - diags(np.concatenate([np.zeros(n), epsilon]))).tocsc())
        side = np.vstack([above, below])
        found = factor.solve(side)
        for _ in range(REFINED):
            found += factor.solve(side - exact @ found)
    return found[:n]
