"""Scalar constraints ("rows") between two frames, one on each of two bodies, or between two joint coordinates.

A row has a residual Phi, and its rate is a power: with the relative state velocity of body b against body a,

    Phi' = psi . (Y_b - Y_a) - c',     Phi'' = psi . (Y_b' - Y_a') + psi' . (Y_b - Y_a) - c'',

c(t) what the row is driven to (zero where it is not). So psi = (f, n) is at once the row of Phi_z (P0) and a force vector
about the reference origin: with M qdd + Phi_q^T lam = P a multiplier lam puts -psi lam on body b and psi lam on body a. Its
joint-space row Phi_q is psi . B_c over the columns that move b and not a, -psi . B_c over those that move a and not b: what
both paths have in common cancels exactly and is never formed. An observer on body a sees

    psi' . dY = -psi . (Y_a x dY) + extra,

and a row file gives (Phi, psi, extra) of its kinds, in `ROWS`, and the constraints that can be drawn with them; and `swing`,
how psi changes when its bodies are moved, for the derivatives of the equations (equations/slopes.py): what extra says of
their velocities, swing says of any motion. A new kind is a file beside these and its name in `MODULES`.
"""

from madi.constraints import angle, coupler, distance, rotation, translation
from madi.constraints.kind import ConstraintKind, RowKind

MODULES = (translation, rotation, angle, distance, coupler)
ROWS: dict[str, RowKind] = {kind.name: kind for module in MODULES for kind in module.ROWS}
CODES = {name: code for code, name in enumerate(ROWS)}  # in arrays
BY_CODE = tuple(ROWS.values())
CONSTRAINTS: dict[str, ConstraintKind] = {
    kind.name: kind for module in MODULES for kind in getattr(module, "CONSTRAINTS", ())
}
