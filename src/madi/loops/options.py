"""How the loops of a run are kept closed: the method by name, and its numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from madi.errors import InputError, a_number
from madi.loops import kkt
from madi.loops.null_space import WAYS

if TYPE_CHECKING:
    from madi.integrate.contract import Method

LOOPS = ("projection", "pseudo-inverse", "svd", "qr", "partition", "augmented", "baumgarte")
WITHIN = ("newmark", "generalized-alpha", "ida")  # methods that close the loops within their step
AUGMENTED = (1e4, 6)  # the penalty's softness against the projection's regularisation, and the iterations it takes
CLOSING = (1e-13, 0.1)  # m or rad: what may be asked for


@dataclass(frozen=True)
class LoopOptions:
    """The method, Baumgarte's alpha and beta, the tolerance on the constraints (0: rounding), and whether null-space methods
    leave columns and rows as they are instead of measuring them by mass."""

    name: str = "projection"
    feedback: tuple[float, float] = (10.0, 10.0)
    closing: float = 0.0
    plain: bool = False

    @property
    def words(self) -> str:
        """What identifies a run that was kept (checkpoint.py)."""
        told = [self.name]
        told += [str(tuple(self.feedback))] if self.name == "baumgarte" else []
        told += [f"closing {self.closing!r}"] if self.closing else []
        return " ".join(told + (["plain"] if self.plain else []))

    def tell(self, tally: np.ndarray) -> None:
        """Into the tally of a run (loops/kkt.py), counters at zero."""
        tally[:] = 0.0
        tally[[kkt.CLOSENESS, kkt.LOWEST]] = 1.0
        if self.name in ("baumgarte", "augmented"):
            alpha, beta = self.feedback
            tally[kkt.FEEDBACK_RATE], tally[kkt.FEEDBACK_POSITION] = 2 * alpha, beta**2
        if self.name == "augmented":
            tally[kkt.SOFTNESS], tally[kkt.EXTRA] = AUGMENTED
        tally[kkt.WAY] = WAYS.get(self.name, 0)
        tally[[kkt.CLOSING, kkt.PLAIN]] = self.closing, float(self.plain)


def loop_options(
    name: Any, method: Method, formulation: str | None, engine: str, has_loops: bool, feedback: Any = None,
    closing: Any = None, weighting: Any = None,
) -> LoopOptions:  # fmt: skip
    """What was asked for, if it fits the rest; a model without loops runs as if nothing were said of them."""
    pair = _feedback(feedback, name, method)
    if name is not None and name not in LOOPS:
        raise InputError(f"loops={name!r}: choose one of {', '.join(LOOPS)}")
    shut = _closing(closing, name, method)
    if weighting not in (None, "mass", "none"):
        raise InputError(f"weighting={weighting!r}: choose 'mass' or 'none'")
    if weighting == "none" and name not in WAYS:
        raise InputError(f"weighting='none': it belongs to loops={', '.join(map(repr, WAYS))}; leave it out")
    if not has_loops:
        return LoopOptions(closing=shut)
    if name is not None and method.name in WITHIN:
        raise InputError(f"loops={name!r}: method={method.name!r} closes the loops within its step; leave `loops` out")
    name = name or "projection"
    if formulation == "cartesian" and name != "projection":
        raise InputError(f"loops={name!r}: formulation='cartesian' has loops='projection'")
    if formulation == "velocity-transform" and name in WAYS:
        raise InputError(f"loops={name!r} has formulation='recursive'")
    if engine == "compiled" and name != "projection":
        raise InputError(f"loops={name!r} has engine='jit' or 'plain'; generated C serves loops='projection'")
    return LoopOptions(name, pair, shut, weighting == "none")


def _feedback(given: Any, loops: str | None, method: Method) -> tuple[float, float]:
    """Baumgarte's alpha and beta."""
    if given is None:
        return 10.0, 10.0
    if loops not in ("baumgarte", "augmented") and method.name != "cvode":
        raise InputError("feedback: it belongs to loops='baumgarte' and 'augmented' (and method='cvode'); leave it out")
    if not (isinstance(given, tuple | list) and len(given) == 2 and all(a_number(x, "feedback") >= 0 for x in given)):
        raise InputError(f"feedback={given!r}: give two numbers >= 0, Baumgarte's alpha and beta in 1/s")
    return float(given[0]), float(given[1])


def _closing(given: Any, loops: str | None, method: Method) -> float:
    """P0's tolerance on the constraints; 0: down to rounding."""
    if given is None:
        return 0.0
    if method.name in (*WITHIN, "cvode"):
        raise InputError(f"closing={given!r}: method={method.name!r} keeps the loops closed by itself; leave it out")
    if loops == "baumgarte":
        raise InputError(f"closing={given!r}: loops='baumgarte' only feeds the violation back; leave it out")
    low, high = CLOSING
    value = a_number(given, "closing")
    if not low <= value <= high:
        raise InputError(f"closing={given!r}: give a length (m or rad) from {low:g} to {high:g}")
    return value
