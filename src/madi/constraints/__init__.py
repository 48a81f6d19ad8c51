"""Scalar constraints ("rows") between two frames, one on each of two bodies, or between two joint coordinates.

A row has a residual Phi, and its rate is a power: with the relative state velocity of body b against body a,

    Phi' = psi . (Y_b - Y_a),     Phi'' = psi . (Y_b' - Y_a') + psi' . (Y_b - Y_a),

so psi = (f, n) is at once the row of Phi_z (P0) and the force vector, about the reference origin, that a unit multiplier
puts between the bodies. Its joint-space row Phi_q is psi . B_c over the columns that move one body and not the other:
what both paths have in common cancels exactly and is never formed. An observer on body a sees

    psi' . dY = -psi . (Y_a x dY) + extra,

and a row file gives, in `row`, (Phi, f, n, extra). A new kind is a file beside these and its lines in `dispatch.py`.
"""

from madi.constraints.dispatch import ROWS, WORDS

__all__ = ["ROWS", "WORDS"]
