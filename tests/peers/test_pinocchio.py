"""Random trees against Pinocchio, an engine of other authors; only the drawing of axes is shared."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.mechanisms import difference, random_state, random_tree
from tests.peers.pinocchio_model import Peer


def compare(seed, n, moving, engine):
    rng = np.random.default_rng(seed)
    m = random_tree(rng, n, moving=moving)
    s = m.build()
    peer = Peer(m, s)
    q, v, tau = random_state(rng, s)
    M = peer.mass_matrix(q)
    assert difference(s.mass_matrix(q, engine=engine), M) < 1e-9
    assert difference(s.inverse_dynamics(q, v, tau, engine=engine), peer.inverse_dynamics(q, v, tau)) < 1e-9
    a = peer.forward_dynamics(q, v, tau)
    for formulation in ("recursive", "articulated", "velocity-transform"):
        assert difference(s.forward_dynamics(q, v, tau, formulation=formulation, engine=engine), a) < 1e-9, formulation


@given(seed=st.integers(0, 10**6), n=st.integers(1, 60), moving=st.booleans())
def test_jit_agrees(seed, n, moving):
    compare(seed, n, moving, "jit")


@pytest.mark.parametrize("n", [1, 3, 8])
@pytest.mark.parametrize("moving", [False, True])
def test_plain_agrees(n, moving):
    compare(17 * n + moving, n, moving, "plain")


@pytest.mark.parametrize("n", [2, 9])
@pytest.mark.parametrize("moving", [False, True])
def test_compiled_agrees(n, moving):
    compare(5 * n + moving, n, moving, "compiled")


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["plain", "compiled"])
@pytest.mark.parametrize("n", [30, 60])
def test_large_trees_agree_in_the_other_engines_too(n, engine):
    compare(n, n, n == 60, engine)
