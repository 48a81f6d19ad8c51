"""What engine='auto' chooses."""

import madi
from madi.papers import rssr
from madi.run.simulate import prepare


def test_auto_weighs_what_compiling_takes_here(monkeypatch, tmp_path):
    from madi.engines import choice, compiler

    s = rssr.model("body").build()
    method = prepare(s, 1.0, rtol=1e-6, engine="jit").method
    monkeypatch.setattr(choice, "instructions", lambda *_: 50_000)
    monkeypatch.setattr(compiler, "is_trusted", lambda: True)
    from madi.engines import cache, jit

    monkeypatch.setattr(cache, "is_sealed", lambda path: False)
    monkeypatch.setattr(jit, "is_made", lambda piece: True)
    for seconds, wanted in ((1.0, "compiled"), (200.0, "jit")):
        monkeypatch.setattr(compiler, "seconds_for", lambda lines, seconds=seconds: seconds)
        assert choice.choose_engine(s, "auto", "recursive", 4.0, 1e-6, madi.Projection(), method) == wanted
