"""Which joint is it? The only kernels that ask for its code; made from the registry, one rung for every file."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

from madi.joints import MODULES
from madi.kernel import Kernel, inline, kernel
from madi.spatial.vector import NO_MOTION, put, put_at

WITH_POSITION = 3  # where the quaternion starts of a joint that also moves its child's origin


def rung(code: int, this: Kernel, others: Kernel) -> Kernel:
    """Of the joint with this code what `this` gives, of any other what `others` do."""

    @inline
    def ask(asked, *given):
        if asked == code:
            return this(*given)
        return others(asked, *given)

    return ask


def always(this: Kernel) -> Kernel:
    """The end of a ladder."""

    @inline
    def ask(asked, *given):
        return this(*given)

    return ask


def ladder(name: str, end: Kernel | None = None) -> Kernel:
    """ask(code, ...): what the joint's file calls `name`, of joints without it `end`. Without an end all that are asked for
    have it, and the last needs no question."""
    found = [(module.KIND.code, getattr(module, name)) for module in MODULES if hasattr(module, name)]
    ask = always(end or found.pop()[1])
    for code, this in reversed(found):
        ask = rung(code, this, ask)
    return ask


def any_of(codes: list[int]) -> Kernel:
    """ask(code): whether it is one of these; no ladder, but a bit for each."""
    bits = sum(1 << code for code in codes)

    @inline
    def ask(asked):
        return (bits >> asked) & 1 == 1

    return ask


def codes_of(what: Callable[[ModuleType], bool]) -> list[int]:
    """Codes of the joints of which something is true."""
    return [code for module in MODULES if what(module) for code in module.KIND.codes]


@inline
def no_columns(q, k, R, p, S):
    """Of a joint that does not move."""


@inline
def no_bias(q, k, v, l, b):
    """Of columns that are constant in F, or in the child."""


axis_motion = ladder("motion")
_pose, _subspace, _bias = ladder("pose"), ladder("subspace", no_columns), ladder("bias", no_bias)
is_one_axis = any_of(codes_of(lambda module: module.KIND.one_axis))
turns = any_of(codes_of(lambda module: module.KIND.turns))
has_bias = any_of(codes_of(lambda module: hasattr(module, "bias")))
_turns_freely = any_of(codes_of(lambda module: module.KIND.quaternion == 0))
_moves_freely = any_of(codes_of(lambda module: module.KIND.quaternion == WITH_POSITION))


@inline
def quaternion_at(code):
    """Where in a joint's coordinates its unit quaternion starts, -1 if it has none."""
    if _turns_freely(code):
        return 0
    return WITH_POSITION if _moves_freely(code) else -1


@kernel
def local_pose(code, q, k, R, p):
    """Pose of the child's joint frame in F, for joints that are not of one axis."""
    _pose(code, q, k, R, p)


@kernel
def local_subspace(code, q, k, R, p, S):
    """Rows of S: the columns of the relative motion, in F."""
    for c in range(6):
        put(S, c, NO_MOTION)
    _subspace(code, q, k, R, p, S)


@kernel
def local_bias(code, q, k, v, l, b):
    """S° v, in F."""
    put_at(b, 0, NO_MOTION)
    _bias(code, q, k, v, l, b)


@kernel
def drawn_subspace(code, pitch, q, R, p, S):
    """Rows of S at the coordinates q of one joint, of any type: what it allows, seen from F."""
    if is_one_axis(code):
        for c in range(6):
            put(S, c, NO_MOTION)
        _, _, S[0, 5], S[0, 2] = axis_motion(code, q[0], pitch)
    else:
        local_pose(code, q, 0, R, p)
        local_subspace(code, q, 0, R, p, S)
