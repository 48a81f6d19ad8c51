"""Many states at once: an entry over rows of arrays, on all cores, in machine code."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from madi.integrate.memory import Loop
from madi.kernel import call, view1
from madi.kernel.cores import cores
from madi.kernel.fields import Fields, Function, Reals, function, given_reals, integer, size
from madi.kernel.forks import in_child

FEWEST = 64  # states a core must have to be worth a thread


class Many(Fields):
    """A function of the system, and the states it is asked at: rows of arrays, or (stride 0) one row for all."""

    nq: int = size()
    nv: int = size()
    nx: int = size()
    width: int = size()
    function: Any = function()
    t: Reals = given_reals()
    q: Reals = given_reals()
    v: Reals = given_reals()
    x: Reals = given_reals()
    out: Reals = given_reals()
    t_stride: int = integer()
    q_stride: int = integer()
    v_stride: int = integer()
    x_stride: int = integer()
    out_stride: int = integer()  # 0: only the last answer stays (a benchmark's)
    first: int = integer()
    last: int = integer()


def evaluate_many(m: Many):
    """From the first state to the last."""
    for k in range(m.first, m.last):
        q, v = view1(m.q, k * m.q_stride, m.nq), view1(m.v, k * m.v_stride, m.nv)
        x, out = view1(m.x, k * m.x_stride, m.nx), view1(m.out, k * m.out_stride, m.width)
        call(m.function, m.t[k * m.t_stride], q, v, x, out)
    return 0


MANY = Loop("many", evaluate_many, Many)
_CALL = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_double, *[ctypes.c_void_p] * 5)


def _one(engine: Any, asked: Function, t: float, *numbers: np.ndarray) -> None:
    """One state: a call, without named memory for it. `numbers`: q, v, x, out."""
    if engine.machine_code:
        _CALL(asked.address)(t, *(array.ctypes.data for array in (*numbers, asked.context)))
        return
    assert asked.call is not None
    with np.errstate(all="ignore"):
        asked.call(t, *numbers)


@cache
def pool() -> Any:
    """The threads; they stay, and so does the scratch each has."""
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(cores(), thread_name_prefix="madi")


in_child(pool.cache_clear)  # they are not there


def evaluate_rows(engine: Any, asked: Callable[[], Function], t: np.ndarray, q: np.ndarray, v: np.ndarray, x: np.ndarray,
                  out: np.ndarray, threads: bool = True, lanes: Callable[[], Any] | None = None) -> None:  # fmt: skip
    """Fill the rows of `out`. t, q, v, x: rows too, or (a dimension less) one for all. `asked()` gives the entry with the
    scratch of the thread that asks; `lanes()` what is better than one state after the other, or None."""
    count, width = out.shape
    if count == 1:
        _one(engine, asked(), float(t.flat[0]), q.reshape(-1), v.reshape(-1), x.reshape(-1), out.reshape(-1))
        return
    sizes = {"nq": q.shape[-1], "nv": v.shape[-1], "nx": x.shape[-1], "width": width}
    given = {"t": np.atleast_1d(t), "q": q.reshape(-1), "v": v.reshape(-1), "x": x.reshape(-1), "out": out.reshape(-1)}
    strides = [t.ndim, *((a.ndim - 1) * a.shape[-1] for a in (q, v, x)), width]
    beside = lanes() if lanes is not None and count >= FEWEST else None

    def part(first: int, last: int) -> None:
        if beside is not None:
            beside(first, last, list(given.values()), strides)
            return
        memory = Many(sizes, function=asked(), **given)
        memory.t_stride, memory.q_stride, memory.v_stride, memory.x_stride, memory.out_stride = strides
        memory.first, memory.last = first, last
        engine.loop(MANY)(memory)

    workers = min(cores(), count // FEWEST) if threads else 1
    if workers < 2:
        part(0, count)
        return
    ends = np.linspace(0, count, workers + 1).astype(int)
    for task in [pool().submit(part, first, last) for first, last in pairwise(ends)]:
        task.result()
