"""The origin of frame b stays where it is along axis k of frame a, or is driven: Phi = e . (o_b - o_a) - wanted.

As a force: along e, through o_b. Seen from a, e rests and o_b moves with u: extra = (u x e) . w.
"""

from __future__ import annotations

from madi.constraints.fields import Arrays, Work
from madi.constraints.kind import ConstraintKind, RowKind, wanted
from madi.kernel import Kernel, kernel
from madi.spatial.vector import axis, cross, dot, join, minus, plus, second, three, velocity_at


@kernel
def along(model: Arrays, work: Work, r, k, u, w):
    """(Phi, psi, extra) for axis k."""
    e, o = axis(work.pair_E, 0, k), three(work.pair_o, 1)
    phi = dot(e, minus(o, three(work.pair_o, 0))) - wanted(model, work, r, 0)
    return phi, join(e, cross(o, e)), dot(cross(u, e), w)


def _kernels(k: int) -> tuple[Kernel, Kernel]:
    """Row and swing of axis k."""

    @kernel
    def row(model: Arrays, work: Work, r, u, w):
        """(Phi, psi, extra)."""
        return along(model, work, r, k, u, w)

    @kernel
    def swing(model: Arrays, work: Work, r, a, b):
        """Change of psi: e moves with body a, o_b with b."""
        e, o = axis(work.pair_E, 0, k), three(work.pair_o, 1)
        turn = cross(second(a), e)
        return join(turn, plus(cross(velocity_at(b, o), e), cross(o, turn)))

    return row, swing


ROWS = tuple(RowKind(f"t{x}", f"translation along {x}", *_kernels(k), unit="m", slide=k) for k, x in enumerate("xyz"))
CONSTRAINTS = (ConstraintKind("point_on_line", "tx ty", "xd yd"), ConstraintKind("point_on_plane", "tz", "zd"))
