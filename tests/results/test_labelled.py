"""A run's plain arrays answer as the Dataset does that is made of them."""

import subprocess
import sys

import numpy as np

import madi
from tests.mechanisms import four_bar


def make():
    return madi.simulate(four_bar(q0=0.3, v0=1.0), 0.2, step=1e-2, reactions=["A"], history=True)


def test_signals_are_the_same_before_and_after():
    run, other = make(), make()
    other.data  # noqa: B018
    assert run.signals == other.signals
    for name in run.signals:
        assert np.array_equal(run[name], other[name], equal_nan=True), name
    assert type(run.arrays).__name__ == "Labelled"
    assert run.data.equals(other.data)
    assert run.data.attrs == other.data.attrs
    assert repr(run).split(", {")[0] == repr(other).split(", {")[0]


def test_what_is_added_to_the_dataset_is_a_signal():
    run = make()
    run.data["twice"] = 2 * run.data["energy"]
    assert np.array_equal(run["twice"], 2 * run["energy"])


def test_a_run_needs_no_heavy_library():
    program = (
        "import sys, madi\nfrom tests.mechanisms import pendulum\nrun = madi.simulate(pendulum(q0=0.3), 0.1, rtol=1e-6)\n"
        "run['A'], run.signals, repr(run)\n"
        "print([name for name in ('xarray', 'pandas', 'scipy', 'casadi', 'matplotlib', 'sympy', 'numba', 'yaml', 'h5py')"
        " if name in sys.modules])"
    )
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert told.stdout.strip() == "[]", told.stdout + told.stderr
