"""Which element made a run leave the finite numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from madi.errors import RunError

if TYPE_CHECKING:
    from madi.system import System


def cause(system: System, t: float, step: float, q: np.ndarray, v: np.ndarray, engine: str = "jit") -> str | None:
    """The element that is not finite, from the last good state and what the next step would have met; None if none is."""
    for callback, _, _ in system.frozen.signals.callbacks:
        if callback.error is not None:
            error, callback.error = callback.error, None
            return f"the function of {callback.name} raised {type(error).__name__}: {error}."
    for later in (0.0, 0.5 * step, step):
        try:
            a = system.forward_dynamics(q, v, t=t + later, engine=engine)
            table = system.observe(q, v, t + later, engine=engine).force[0]
        except RunError as error:  # a function in Python
            return f"{error}."
        except (ZeroDivisionError, OverflowError, ValueError) as error:  # plain: machine code goes on
            return f"the equations have no finite solution there ({error}); look for a massless or locked-up mechanism."
        for name, row in zip(system.forces, table, strict=True):
            if not np.isfinite(row[0]):
                return f"force {name!r} is not finite ({row[0]}) at t = {t + later:.6g} s; check its function or parameters."
        for name, value in zip(system.speeds, a, strict=True):
            if not np.isfinite(value):
                return f"the acceleration of {name!r} is not finite; the mass matrix is singular there, or a drive is."
    return None


def runaway(system: System, q: np.ndarray, v: np.ndarray, fixed_step: bool, engine: str = "jit") -> str:
    """Nothing is wrong by itself: what grew most."""
    a = system.forward_dynamics(q, v, engine=engine)
    worst = int(np.argmax(np.abs(v) + np.abs(a))) if len(v) else 0
    cure = "The step is too long for this motion: make it shorter, or use method='dopri'" if fixed_step else (
        "The motion runs away: check signs of springs and dampers"
    )  # fmt: skip
    name = system.speeds[worst] if system.speeds else "?"
    return (
        f"the state grew beyond all bounds, worst at {name!r} (speed {v[worst]:.3g}, acceleration {a[worst]:.3g}). {cure}."
    )
