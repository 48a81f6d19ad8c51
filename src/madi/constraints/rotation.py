"""An axis p of frame b stays perpendicular to an axis s of frame a: Phi = p . s.

As a torque: p x s. Seen from a only p moves: extra = ((w x p) x s) . w. With p = z_b, s = x_a this is the turn about y, and
so on: what a revolute, prismatic or fixed joint forbids. At a half turn the residual vanishes as well; assembly looks
at the axes themselves (assembly/assemble.py).
"""

from __future__ import annotations

from madi.constraints.fields import Arrays, Work
from madi.constraints.kind import RowKind
from madi.kernel import Kernel, kernel
from madi.spatial.vector import NO_VECTOR, axis, cross, dot, join, plus, scaled, second


@kernel
def perpendicular(work: Work, i, j, sign, w):
    """(Phi, psi, extra) for axis i of frame b, times the sign, and axis j of frame a."""
    p, s = scaled(sign, axis(work.pair_E, 1, i)), axis(work.pair_E, 0, j)
    return dot(p, s), join(NO_VECTOR, cross(p, s)), dot(cross(cross(w, p), s), w)


def _kernels(i: int, j: int, sign: float) -> tuple[Kernel, Kernel]:
    """Row and swing of axis i of frame b and axis j of frame a."""

    @kernel
    def row(model: Arrays, work: Work, r, u, w):
        """(Phi, psi, extra)."""
        return perpendicular(work, i, j, sign, w)

    @kernel
    def swing(model: Arrays, work: Work, r, a, b):
        """Change of psi: p moves with body b, s with a."""
        p, s = scaled(sign, axis(work.pair_E, 1, i)), axis(work.pair_E, 0, j)
        return join(NO_VECTOR, plus(cross(cross(second(b), p), s), cross(p, cross(second(a), s))))

    return row, swing


X, Y, Z = range(3)
ROWS = (
    RowKind("rx", "rotation about x", *_kernels(Z, Y, -1.0), facing=Z),
    RowKind("ry", "rotation about y", *_kernels(Z, X, 1.0), facing=Z),
    RowKind("rz", "rotation about z", *_kernels(X, Y, 1.0), facing=X),
    RowKind("cross", "axes perpendicular", *_kernels(X, Z, 1.0)),
)
