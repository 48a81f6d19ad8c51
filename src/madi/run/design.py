"""Designs: which values parameters take in the runs of a sweep."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from madi.errors import InputError

KINDS = ("grid", "random", "latin", "sobol")
MOST = 100_000_000  # numbers of a design


def design(
    parameters: Mapping[str, Any], runs: int | None = None, kind: str = "grid", *, seed: int | None = None
) -> dict[str, np.ndarray]:
    """Values of parameters for `simulate_many`, one for each run: {name: values}.

    `parameters`: {name: (from, to)}. `kind`: "grid", where `runs` is how many values each parameter takes, and lists of
    values may stand in place of (from, to); "random", evenly; "latin" (hypercube); "sobol", best with powers of two. `seed`
    makes the last three the same again.

    >>> import madi
    >>> found = madi.design({"spring.stiffness": (1e3, 3e3), "bob.mass": [1.0, 2.0]}, 3)
    >>> found["spring.stiffness"]
    array([1000., 1000., 2000., 2000., 3000., 3000.])
    """
    if kind not in KINDS:
        raise InputError(f"design: kind={kind!r}: choose one of {', '.join(KINDS)}")
    if not isinstance(parameters, Mapping) or not parameters:
        raise InputError("design: give parameters as {name: (from, to)}")
    if runs is not None and (isinstance(runs, bool) or not isinstance(runs, int | np.integer) or runs < 1):
        raise InputError(f"design: runs={runs!r}: give a whole number from 1 on")
    if kind == "grid":
        return _grid(parameters, runs)
    if runs is None:
        raise InputError(f"design: how many runs shall a {kind!r} design have?")
    low, high = np.array([_ends(name, given) for name, given in parameters.items()]).T
    if runs * len(low) > MOST:
        raise InputError(f"design: {runs} runs of {len(low)} parameters are too many")
    values = low + (high - low) * _unit(kind, int(runs), len(low), seed)
    return {name: values[:, k].copy() for k, name in enumerate(parameters)}


def _unit(kind: str, runs: int, count: int, seed: int | None) -> np.ndarray:
    """Points of the unit cube."""
    if kind == "random":
        return np.random.default_rng(seed).random((runs, count))
    import warnings

    from scipy.stats import qmc

    try:
        made = (qmc.LatinHypercube if kind == "latin" else qmc.Sobol)(count, seed=seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # that balance wants powers of two is said above
            return np.asarray(made.random(runs))
    except ValueError as error:
        raise InputError(f"design: {error}") from None


def _ends(name: Any, given: Any) -> tuple[float, float]:
    """(from, to), or an error that names the parameter."""
    try:
        low, high = (float(one) for one in given)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"design: {name!r}={given!r}: give (from, to)") from None
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise InputError(f"design: {name!r}: {low:g} to {high:g} is no interval")
    return low, high


def _grid(parameters: Mapping[str, Any], runs: int | None) -> dict[str, np.ndarray]:
    """All combinations, the last parameter varying quickest."""
    axes = []
    for name, given in parameters.items():
        if isinstance(given, tuple):
            if runs is None:
                raise InputError(f"design: how many values shall {name!r} take? Give runs, or a list of values")
            axes.append(np.linspace(*_ends(name, given), int(runs)))
            continue
        try:
            values = np.atleast_1d(np.asarray(given, dtype=float))
        except (TypeError, ValueError, OverflowError):
            values = np.zeros((0, 0))
        if values.ndim != 1 or not len(values) or not np.isfinite(values).all():
            raise InputError(f"design: {name!r}={given!r}: give (from, to), or a list of numbers")
        axes.append(values)
    if math.prod(map(len, axes)) * len(axes) > MOST:
        raise InputError(f"design: a grid of {' x '.join(str(len(axis)) for axis in axes)} runs is too large")
    rows = np.array(list(itertools.product(*axes)))
    return {str(name): rows[:, k].copy() for k, name in enumerate(parameters)}
