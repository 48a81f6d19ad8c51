"""What engine='auto' chooses."""

import madi
from madi.papers import rssr
from madi.run.simulate import prepare


def test_auto_weighs_what_compiling_takes(monkeypatch):
    from madi.engines import choice, compiler

    s = rssr.model("body").build()
    method = prepare(s, 1.0, rtol=1e-6, engine="jit").method
    monkeypatch.setattr(choice, "instructions", lambda *_: 50_000)
    monkeypatch.setattr(compiler, "is_trusted", lambda: True)

    def chosen(span, step):
        return choice.choose_engine(s, "auto", "recursive", span, step, madi.Projection(), method)

    assert chosen(4.0, 1e-6) == "compiled"
    assert chosen(4.0, 1e-3) == "jit"
    assert chosen(1e9, None) == "jit"  # nobody knows how many steps
    monkeypatch.setattr(compiler, "seconds_for", lambda lines: 200.0)
    assert chosen(4.0, 1e-6) == "jit"
