"""C compilers that are missing, broken, slow or hang."""

import pytest

import madi
from tests.mechanisms import pinned_bob


def test_no_compiler_is_told(monkeypatch):
    from madi.engines import compiler

    monkeypatch.setattr(compiler, "compiler", lambda: None)
    s = pinned_bob().build()
    with pytest.raises(madi.EngineError, match=r"C compiler.*jit"):
        s.forward_dynamics([0.1], [0.0], engine="compiled")
    run = madi.simulate(s, 0.1, step=0.01)
    assert run.statistics["engine"] == "jit"
