"""Who evaluates mechanics in plain Python: a guard around calls in which somebody waits."""

import sys
import threading
from contextlib import contextmanager

import numpy as np

from madi.engines import library  # noqa: F401  (all kernels are there when the engines are)
from madi.kernel import KERNELS
from madi.run import cartesian  # noqa: F401  (its kernels too, whichever test comes first)

ROOMS = ("dynamics", "bodies", "forces", "constraints", "equations", "loops", "signals", "cartesian")


ALLOWED = {  # who may: module, and why
    "madi.system.inertia": "once for a System, while it is built: no engine knows the model yet",
    "madi.topology.settle": "the same",
    "madi.assembly.assemble": "axes of a pair from poses that are there: no mechanics is evaluated",
    "madi.cartesian.build": "once for a model in absolute coordinates, while it is built",
    "madi.cartesian.motion": "drives at the start, once for a model in absolute coordinates",
}


def _asked_by(frame, known):
    """The module that asked for a kernel: of the first caller that is none."""
    while frame is not None and frame.f_code in known:
        frame = frame.f_back
    return None if frame is None else frame.f_globals.get("__name__")


def _of_mechanics():
    return {k.__code__: k for k in KERNELS if k.__module__.split(".")[1] in ROOMS}


def _on_symbols(frame):
    """Whether what a kernel works on is symbols: then it is being traced, once for a model."""
    for name in ("work", "model"):
        memory = frame.f_locals.get(name)
        if getattr(getattr(memory, "real_memory", None), "dtype", None) is np.dtype(object):
            return True
    return False


@contextmanager
def plain_evaluations():
    """{kernel: how often}: kernels of the mechanics that ran on numbers as Python, in all threads, those ALLOWED apart."""
    found, known = {}, _of_mechanics()

    def profile(frame, event, argument):
        kernel = known.get(frame.f_code) if event == "call" else None
        if kernel is None or "work" not in frame.f_locals or _on_symbols(frame):
            return
        if _asked_by(frame, known) not in ALLOWED:
            name = f"{kernel.__module__}.{kernel.__name__}"
            found[name] = found.get(name, 0) + 1

    before = sys.getprofile()
    threading.setprofile(profile)
    sys.setprofile(profile)
    try:
        yield found
    finally:
        sys.setprofile(before)
        threading.setprofile(before)
