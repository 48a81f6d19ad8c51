"""C compilers that are missing, broken, slow or hang."""

import ctypes
import sys
import textwrap
import warnings

import numpy as np
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


def sums(count):
    """Of two numbers so many sums, each of the two before it, as a function; and the last of them."""
    import casadi as ca

    t, q, v, x = (ca.SX.sym(name, 2) for name in "tqvx")
    values = [q[0], q[1]]
    for k in range(count):
        values.append(ca.sin(values[-1]) + 0.5 * values[-2] / v[k % 2])
    return ca.Function("sums", [t[0], q, v, x], [values[-1]])


def called(path, q, v):
    from madi.engines.compiled import _CALL

    out = np.zeros(1)
    context = np.zeros(3, dtype=np.int64)
    _CALL(("entry", ctypes.CDLL(str(path))))(0.0, *(a.ctypes.data for a in (q, v, np.zeros(2), out, context)))
    return out[0]


def test_a_long_source_is_compiled_in_parts_on_any_number_of_cores(own_cache, monkeypatch):
    """The same file to the last byte from one core and from three, with the values of the trace itself."""
    from madi.symbolic.codegen import APART, c_source, objects

    function = sums(4000)
    source = c_source(function)
    parts = objects(source)
    assert len(parts) > 2
    assert max(part.count(" = ") for part in parts) < 1.2 * APART
    q, v, made = np.array([0.3, 0.7]), np.array([1.3, 1.9]), []
    for count in (1, 3):
        monkeypatch.setattr(compiler, "cores", lambda count=count: count)
        path = compiler.compile_c(source, own_cache / "compiled" / f"x{count}.so")
        assert cache.is_whole(path)
        made.append(path.read_bytes())
        assert called(path, q, v) == pytest.approx(float(function(0.0, q, v, np.zeros(2))), rel=1e-12)
    assert made[0] == made[1]
    assert len(objects(c_source(sums(100)))) == 1  # what is short stays one file


def test_a_part_that_does_not_compile_is_told(own_cache):
    from madi.symbolic.codegen import c_source

    source = c_source(sums(4000)).replace("void piece3(", "void piece3(nonsense ", 1)
    with pytest.raises(madi.EngineError, match="nonsense"):
        compiler.compile_c(source, own_cache / "compiled" / "x.so")
    assert not list(own_cache.rglob("*.so"))


SYSTEMS = {
    ("linux", "x86_64"): ({"-march=native", "-fPIC", "-shared"}, ["-lm"]),
    ("linux", "aarch64"): ({"-mcpu=native", "-fPIC", "-shared"}, ["-lm"]),
    ("darwin", "arm64"): ({"-mcpu=native", "-fPIC", "-dynamiclib"}, ["-lm"]),
    ("darwin", "x86_64"): ({"-march=native", "-fPIC", "-dynamiclib"}, ["-lm"]),
    ("win32", "AMD64"): ({"-march=native", "-shared"}, []),
}


@pytest.mark.parametrize("system", SYSTEMS, ids=" ".join)
def test_every_system_has_its_own_flags(system, monkeypatch):
    monkeypatch.setattr(compiler.sys, "platform", system[0])
    monkeypatch.setattr(compiler.platform, "machine", lambda: system[1])
    own, libraries = SYSTEMS[system]
    assert set(compiler.flags()) - set(compiler.FLAGS) == own
    assert compiler.libraries() == libraries
    assert set(compiler.flags(1)) - set(compiler.FLAGS) == own - {"-shared", "-dynamiclib"} | {"-c", "-DMADI_OBJECT=1"}


def test_on_windows_a_compiler_is_stopped_with_its_children(monkeypatch):
    """There are no groups of processes there."""
    called = []
    monkeypatch.setattr(compiler.sys, "platform", "win32")
    monkeypatch.delattr(compiler.os, "killpg", raising=False)
    monkeypatch.setattr(compiler.subprocess, "run", lambda words, **_: called.append(words))

    class Process:
        pid = 4711

        def kill(self):
            called.append("killed")

    compiler._stop(Process())
    assert called == [["taskkill", "/T", "/F", "/PID", "4711"], "killed"]
