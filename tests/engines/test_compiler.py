"""C compilers that are missing, broken, slow or hang."""

import sys
import textwrap
import warnings

import pytest

import madi
from madi.engines import cache, compiler
from tests.mechanisms import pendulum, pinned_bob


def test_no_compiler_is_told(monkeypatch):
    from madi.engines import compiler

    monkeypatch.setattr(compiler, "compiler", lambda: None)
    s = pinned_bob().build()
    with pytest.raises(madi.EngineError, match=r"C compiler.*jit"):
        s.forward_dynamics([0.1], [0.0], engine="compiled")
    run = madi.simulate(s, 0.1, step=0.01)
    assert run.statistics["engine"] == "jit"


SOURCE = (
    "#include <stdint.h>\nint32_t entry(double t, double *a, double *b, double *c, double *d, int64_t *e) { return 7; }\n"
)


def fake(folder, text, name="cc"):
    path = folder / name
    path.write_text(f"#!{sys.executable}\n{textwrap.dedent(text)}")
    path.chmod(0o755)
    return path


BROKEN = {
    "stub": "import sys; sys.stderr.write('xcrun: error: no developer tools'); sys.exit(1)",
    "garbage": "import sys; a = sys.argv; open(a[a.index('-o') + 1], 'w').write('no') if '-o' in a else print('cc 1')",
    "truncated": """
        import subprocess, sys
        a = sys.argv[1:]
        done = subprocess.run(['/usr/bin/cc', *a])
        if '-o' in a:
            made = a[a.index('-o') + 1]
            data = open(made, 'rb').read()
            open(made, 'wb').write(data[: len(data) // 2])
        sys.exit(done.returncode)
        """,
    "silent": "import sys; print('cc 1')",
}  # fmt: skip


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_compiler_is_told_once_and_remembered(kind, own_cache, tmp_path, monkeypatch):
    monkeypatch.setenv("CC", str(fake(tmp_path, BROKEN[kind])))
    s = pendulum(q0=0.3).build()
    with pytest.raises(madi.EngineError, match=r"C compiler.*jit"):
        madi.simulate(s, 0.1, step=0.01, engine="compiled")
    assert not compiler.is_trusted()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert madi.simulate(s, 0.1, step=0.01).statistics["engine"] == "jit"
    assert not [piece for piece, _, _ in cache.pieces() if piece.suffix == ".so"]
    assert not list(own_cache.rglob(".new-*"))


def test_auto_goes_on_with_jit_and_one_warning(own_cache, tmp_path, monkeypatch):
    from madi.run import simulate

    monkeypatch.setenv("CC", str(fake(tmp_path, BROKEN["stub"])))
    monkeypatch.setattr(simulate, "choose_engine", lambda system, name, *_: "compiled" if name == "auto" else name)
    with pytest.warns(madi.MadiWarning, match="goes on with engine='jit'"):
        run = madi.simulate(pendulum(q0=0.3), 0.1, step=0.01)
    assert run.statistics["engine"] == "jit"


def test_a_compiler_that_hangs_is_stopped(own_cache, tmp_path, monkeypatch):
    text = "import sys, time\nif '--version' in sys.argv: print('cc 1'); sys.exit(0)\ntime.sleep(600)"
    monkeypatch.setenv("CC", str(fake(tmp_path, text)))
    monkeypatch.setattr(compiler, "seconds_for", lambda lines: -1.49)  # a limit of 0.2 s
    with pytest.raises(madi.EngineError, match="took longer than"):
        compiler.compile_c(SOURCE, own_cache / "compiled" / "x.so")


def test_a_compiler_with_arguments(own_cache, monkeypatch):
    monkeypatch.setenv("CC", "gcc -O1")
    assert compiler.compiler()[1:] == ("-O1",)
    path = compiler.compile_c(SOURCE, own_cache / "compiled" / "x.so")
    assert cache.is_whole(path)
    assert compiler.is_trusted()
    assert compiler.seconds_for(3) > 0


def test_times_are_those_measured_here(own_cache, monkeypatch):
    monkeypatch.setattr(compiler, "_times", lambda: [[100.0, 2.0], [10_000.0, 60.0]])
    assert compiler.seconds_for(100) == 2.0
    assert compiler.seconds_for(9_000) == 60.0
    assert compiler.seconds_for(20_000) > 120.0  # faster than the code grows
