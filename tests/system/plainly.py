"""Who evaluates mechanics in plain Python: a guard around calls in which somebody waits."""

import sys
import threading
from contextlib import contextmanager

import numpy as np

from madi.engines import library  # noqa: F401  (all kernels are there when the engines are)
from madi.kernel import KERNELS

ROOMS = ("dynamics", "bodies", "forces", "constraints", "equations", "loops", "signals", "cartesian")


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
    """{kernel: how often}: kernels of the mechanics that ran on numbers as Python, in all threads."""
    found, known = {}, _of_mechanics()

    def profile(frame, event, argument):
        kernel = known.get(frame.f_code) if event == "call" else None
        if kernel is not None and "work" in frame.f_locals and not _on_symbols(frame):
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
