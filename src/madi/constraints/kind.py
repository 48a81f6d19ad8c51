"""What a row, and a constraint that is drawn, tell the rest of the package about themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from madi.constraints.fields import HELD_AT, Arrays, Work
from madi.kernel import Kernel, inline


@dataclass(frozen=True)
class RowKind:
    """Name, words for it in reports, and its kernel.

    `row(model, work, r, u, w)` gives (Phi, psi, extra) from the frames of the row's pair, which are in work; u: velocity of
    o_b seen from a, w: angular velocity of b seen from a. A row between two joint coordinates (`on_joints`) has no pair:
    its `row(model, work, r)` puts everything into work.
    `swing(model, work, r, a, b)` gives how psi changes when body a is moved by the motion a, body b by b; None: not at all.
    `number`: the parameter it takes from its element: a length, the pitch (per radian), a ratio; "": none.
    `slide`, `turn`: axis of frame a along or about which it measures, where a joint coordinate may be measured by it.
    `facing`: axis that the two frames have in common when the row is closed the right way round: a half turn looks closed.
    """

    name: str
    words: str
    row: Kernel
    swing: Kernel | None = None
    unit: str = "rad"
    number: str = ""
    on_joints: bool = False
    slide: int | None = None
    turn: int | None = None
    facing: int | None = None


@dataclass(frozen=True)
class ConstraintKind:
    """A constraint that is drawn: its rows, its rows in absolute coordinates (cartesian/words.py), and the number they take
    from its points and parameters. `on_joints`: between two joint coordinates, not between points of two bodies; `rod`: the
    line between its points is all it has, others have an axis on body a. `check(c, points, joints)` yields what is wrong
    with its parameters, and the cure; joints and bodies are given by their names."""

    name: str
    rows: str
    absolute: str
    number: Callable[..., float] = lambda points, parameters: 0.0
    on_joints: bool = False
    rod: bool = False
    check: Callable[..., Iterable[tuple[str, str]]] = lambda c, points, joints: ()


@inline
def wanted(model: Arrays, work: Work, r, order):
    """What the row's measure is held at (order 0), its rate (1) and acceleration (2) where it is driven."""
    s = model.row_signal[r]
    if s >= 0:
        return work.signal[s + order]
    return model.row_value[r, HELD_AT] if order == 0 else 0.0
