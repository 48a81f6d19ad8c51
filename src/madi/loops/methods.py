"""How the loops of a run are kept closed, as users name it: objects whose fields are their options.

    madi.simulate(model, 10.0, loops=madi.Baumgarte(10, 10))

The plain word ("baumgarte") means the defaults; in files, `loops: {baumgarte: {alpha: 20}}`. A new one is a subclass of
`LoopMethod` and a line of the registry at the end, with the entries of equations/ that do it.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, ClassVar

from madi.errors import InputError, a_number
from madi.loops.directions import BY_PARTITION, BY_PSEUDO_INVERSE, BY_QR, BY_SVD
from madi.loops.memory import LoopOptions

CLOSEST, WIDEST = 1e-13, 0.1  # m or rad: residuals that may be asked for
# augmented Lagrangian: its softness against the projection's eps, iterations that take it out
PENALTY, PENALTY_STEPS = 1e4, 6


@dataclass(frozen=True)
class LoopMethod:
    """Base of all: which entries give accelerations and close a step, and whether it keeps directions."""

    name: ClassVar[str]
    forward: ClassVar[str | None] = None  # entry of the accelerations; None: that of the formulation
    close: ClassVar[str | None] = "close"  # entry that closes them at the end of a step; None: they are left as they are
    directions: ClassVar[bool] = False  # of the null space
    traced: ClassVar[bool] = False  # generated C serves it
    formulations: ClassVar[tuple[str, ...]] = ("recursive", "velocity-transform")

    def put(self, options: LoopOptions) -> None:
        """Options into named memory."""

    def words(self) -> str:
        """What identifies it in a run that was kept."""
        return " ".join([self.name, *(f"{field.name}={getattr(self, field.name)!r}" for field in fields(self))])


@dataclass(frozen=True)
class Closing(LoopMethod):
    """Base of those that close every step. `closing`: the largest residual of a constraint, m or rad (and per s), that a
    step may leave; None: rounding."""

    closing: float | None = None

    def __post_init__(self) -> None:
        if self.closing is not None and not CLOSEST <= a_number(self.closing, "closing") <= WIDEST:
            raise InputError(f"closing={self.closing!r}: give a length (m or rad) from {CLOSEST:g} to {WIDEST:g}")

    def put(self, options: LoopOptions) -> None:
        """See LoopMethod."""
        options.tolerance = self.closing or 0.0


@dataclass(frozen=True)
class Projection(Closing):
    """P0's projection, sparse and drift-free: positions, speeds and accelerations with one factored matrix. The default."""

    name = "projection"
    traced = True
    formulations = ("recursive", "velocity-transform", "cartesian")


@dataclass(frozen=True)
class NullSpace(Closing):
    """Base of the methods by independent directions, drift-free too. `weighting`: "mass", or "none": columns and rows as
    they are."""

    weighting: str = "mass"
    by: ClassVar[int]
    close = "close-null-space"
    directions = True
    formulations = ("recursive",)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.weighting not in ("mass", "none"):
            raise InputError(f"weighting={self.weighting!r}: choose 'mass' or 'none'")

    def put(self, options: LoopOptions) -> None:
        """See LoopMethod."""
        super().put(options)
        options.directions, options.unweighted = self.by, int(self.weighting == "none")


@dataclass(frozen=True)
class PseudoInverse(NullSpace):
    """Directions by the pseudo-inverse, carried on from step to step (P2)."""

    name = "pseudo-inverse"
    by = BY_PSEUDO_INVERSE


@dataclass(frozen=True)
class SingularValues(NullSpace):
    """Directions by singular value decomposition."""

    name = "svd"
    by = BY_SVD


@dataclass(frozen=True)
class QR(NullSpace):
    """Directions by orthogonal decomposition."""

    name = "qr"
    by = BY_QR


@dataclass(frozen=True)
class Partition(NullSpace):
    """Directions along independent coordinates."""

    name = "partition"
    by = BY_PARTITION


@dataclass(frozen=True)
class Baumgarte(LoopMethod):
    """Feedback of the violations, Phi'' + 2 alpha Phi' + beta^2 Phi = 0: loops stay near their constraints. 1/s."""

    alpha: float = 10.0
    beta: float = 10.0
    name = "baumgarte"
    close = None

    def __post_init__(self) -> None:
        two_rates((self.alpha, self.beta))

    def put(self, options: LoopOptions) -> None:
        """See LoopMethod."""
        options.feedback_rate, options.feedback_position = 2 * self.alpha, self.beta**2


@dataclass(frozen=True)
class Augmented(Closing):
    """Augmented Lagrangian: a penalty with feedback (alpha, beta as in Baumgarte), iterated; steps are closed as well."""

    alpha: float = 10.0
    beta: float = 10.0
    name = "augmented"

    def __post_init__(self) -> None:
        super().__post_init__()
        two_rates((self.alpha, self.beta))

    def put(self, options: LoopOptions) -> None:
        """See LoopMethod."""
        super().put(options)
        options.feedback_rate, options.feedback_position = 2 * self.alpha, self.beta**2
        options.softness, options.proximal_steps = PENALTY, PENALTY_STEPS


def two_rates(given: Any) -> None:
    """Baumgarte's alpha and beta, checked."""
    if not (isinstance(given, tuple | list) and len(given) == 2 and all(a_number(x, "feedback") >= 0 for x in given)):
        raise InputError(f"feedback={given!r}: give two numbers >= 0, Baumgarte's alpha and beta in 1/s")


LOOP_METHODS: dict[str, type[LoopMethod]] = {
    method.name: method for method in (Projection, PseudoInverse, SingularValues, QR, Partition, Augmented, Baumgarte)
}
