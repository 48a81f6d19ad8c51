"""One source, three lives: plain, jitted and traced kernels agree to rounding, derivatives with differences."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.mechanisms import difference, moved, random_state, random_tree

ENTRIES = ("recursive", "articulated", "velocity-transform")


BAR = 1e-12


@given(seed=st.integers(0, 10**6), n=st.integers(1, 7), moving=st.booleans())
def test_plain_and_jit(seed, n, moving):
    rng = np.random.default_rng(seed)
    s = random_tree(rng, n, moving=moving, reverse=0.3, forces=True).build()
    q, v, tau = random_state(rng, s)
    for entry in ENTRIES:
        plain = s.forward_dynamics(q, v, tau, formulation=entry, engine="plain")
        assert difference(s.forward_dynamics(q, v, tau, formulation=entry, engine="jit"), plain) < BAR
    assert difference(s.inverse_dynamics(q, v, tau, engine="jit"), s.inverse_dynamics(q, v, tau, engine="plain")) < 1e-12
    assert difference(s.mass_matrix(q, engine="jit"), s.mass_matrix(q, engine="plain")) < 1e-12
    one, two = s.observe(q, v, engine="plain"), s.observe(q, v, engine="jit")
    for name in (
        "position",
        "rotation",
        "velocity",
        "angular_velocity",
        "acceleration",
        "kinetic",
        "potential",
        "momentum",
        "force",
    ):
        assert difference(getattr(two, name), getattr(one, name)) < 1e-12, name


@settings(max_examples=12)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 5), moving=st.booleans())
def test_trace_equals_plain(seed, n, moving):
    """The trace itself, run by CasADi: no compiler in between."""
    from madi.symbolic.trace import trace

    rng = np.random.default_rng(seed)
    s = random_tree(rng, n, moving=moving, reverse=0.3, forces=True).build()
    q, v, tau = random_state(rng, s)
    for entry in (*ENTRIES, "inverse", "observe"):
        function = trace(s.layout, entry)
        out = np.array(function(0.3, q, v, tau)).ravel()
        plain = s.engine("plain").evaluate(entry, 0.3, q, v, tau, len(out))
        assert difference(out, plain) < BAR, entry


@pytest.mark.parametrize("moving", [False, True])
def test_compiled_equals_plain(moving):
    rng = np.random.default_rng(11)
    s = random_tree(rng, 6, moving=moving, reverse=0.3, forces=True).build()
    q, v, tau = random_state(rng, s)
    for entry in ENTRIES:
        plain = s.forward_dynamics(q, v, tau, formulation=entry, engine="plain")
        assert difference(s.forward_dynamics(q, v, tau, formulation=entry, engine="compiled"), plain) < BAR


def test_long_trace_is_cut_into_parts_and_still_right():
    """Force many small C functions: values must travel between them."""
    import ctypes
    from pathlib import Path
    from tempfile import TemporaryDirectory

    from madi.engines.compiled import _CALL
    from madi.engines.compiler import compile_c
    from madi.symbolic.codegen import c_source
    from madi.symbolic.trace import trace

    rng = np.random.default_rng(3)
    s = random_tree(rng, 5, moving=True).build()
    q, v, tau = random_state(rng, s)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "cut.so"
        source = c_source(trace(s.layout, "recursive"), part=50)
        assert source.count(" void piece") > 10
        compile_c(source, path)
        out = np.zeros(s.nv)
        _CALL(("entry", ctypes.CDLL(str(path))))(0.0, *(a.ctypes.data for a in (q, v, tau, out, np.zeros(3))))
    assert difference(out, s.forward_dynamics(q, v, tau, engine="plain")) < 1e-11


@settings(max_examples=10)
@given(seed=st.integers(0, 10**6), moving=st.booleans())
def test_exact_derivatives_against_differences(seed, moving):
    rng = np.random.default_rng(seed)
    s = random_tree(rng, 4, moving=moving, reverse=0.3, forces=True).build()
    q, v, tau = random_state(rng, s)
    by_q, by_v, by_tau = s.derivatives(q, v, tau)
    h = 1e-5

    def centred(f):
        columns = [(8 * (f(h * e) - f(-h * e)) - (f(2 * h * e) - f(-2 * h * e))) / (12 * h) for e in np.eye(s.nv)]
        return np.column_stack(columns)

    assert difference(by_q, centred(lambda x: s.forward_dynamics(moved(s, q, x), v, tau))) < 1e-6
    assert difference(by_v, centred(lambda x: s.forward_dynamics(q, v + x, tau))) < 1e-6
    assert difference(by_tau, np.linalg.inv(s.mass_matrix(q))) < 1e-7


def test_operation_count_counts():
    """A pendulum in the plane needs a sine and few products; sharing never adds operations."""
    import madi

    m = madi.Model("pendulum")
    bob = m.body("bob", mass=1.0, inertia=(0.1, 0.2, 0.1), position=(0, 0, -1))
    m.revolute("pin", m.ground, bob, at=(0, 0, 0), axis=(0, 1, 0))
    s = m.build()
    count = s.operation_count()
    assert count["sin"] == 1
    assert count["total"] < 25
    assert s.operation_count("recursive")["total"] <= s.operation_count("recursive", share=False)["total"]


def test_a_compiled_piece_keeps_its_kernels_to_itself(tmp_path):
    """Of a symbol that several pieces define, a process runs the copy it met first."""
    from madi.engines import numba_support
    from madi.engines.pieces import ELEMENT, Piece
    from madi.forces import spring_damper

    piece = numba_support.compile_piece(tmp_path, Piece("spring", ELEMENT, (spring_damper.apply,)))
    functions = [f for f in piece._library.get_defined_functions() if not f.name.startswith("NRT_")]
    assert {f.linkage.name for f in functions} == {"external", "internal"}


@pytest.mark.slow
def test_the_process_that_compiles_gives_the_same_bits_as_those_that_load(tmp_path):
    program = (
        "import madi, tests.mechanisms as t, hashlib\n"
        "run = madi.simulate(t.four_bar(v0=3.0), 1.0, engine='jit')\n"
        "print(hashlib.sha1(b''.join(run.data[n].values.tobytes() for n in ('q', 'v', 'a', 'multiplier'))).hexdigest())"
    )
    told = [
        subprocess.run(
            [sys.executable, "-c", program], env={**os.environ, "MADI_CACHE_DIR": str(tmp_path)}, check=True,
            capture_output=True, text=True,
        ).stdout
        for _ in range(2)
    ]  # fmt: skip
    assert told[0] == told[1] != ""
