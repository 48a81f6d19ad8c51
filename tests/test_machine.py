"""A machine that fails: compilers that are broken, caches that are damaged, folders that cannot be written."""

import os
import stat
import subprocess
import sys
import textwrap
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import madi
from madi.engines import cache, compiler
from madi.files import whole_file
from tests.mechanisms import pendulum

ROOT = Path(__file__).parents[1]
SOURCE = (
    "#include <stdint.h>\nint32_t entry(double t, double *a, double *b, double *c, double *d, int64_t *e) { return 7; }\n"
)


@pytest.fixture
def own_cache(tmp_path, monkeypatch):
    """A cache of its own, and nothing remembered of the machine."""
    folder = tmp_path / "cache"
    monkeypatch.setenv("MADI_CACHE_DIR", str(folder))
    yield from _forgotten(folder)


def _forgotten(folder):
    remembered = (cache.cache_folder, cache.jit_folder, compiler.compiler, compiler.machine)
    for function in remembered:
        function.cache_clear()
    cache._told.clear()
    yield folder
    for function in remembered:
        function.cache_clear()


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
    from madi import pipeline

    monkeypatch.setenv("CC", str(fake(tmp_path, BROKEN["stub"])))
    monkeypatch.setattr(pipeline, "choose_engine", lambda system, name, *_: "compiled" if name == "auto" else name)
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


# ---- the cache --------------------------------------------------------------------------------------------------------


def piece(folder, name="piece", files=3):
    made = folder / f".new-{name}"
    made.mkdir(parents=True)
    for k in range(files):
        (made / f"{k}.nbi").write_bytes(bytes(range(k, k + 50)) * 20)
    cache.put(made, folder / name)
    return folder / name


WAYS = ["flip", "cut", "empty", "remove", "seal", "more"]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(WAYS))
def test_a_damaged_piece_is_noticed_and_removed(tmp_path_factory, seed, how):
    check_damaged_piece(tmp_path_factory, seed, how)


@pytest.mark.slow
@settings(max_examples=2000, deadline=None)
@given(st.integers(0, 10**9), st.sampled_from(WAYS))
def test_many_damaged_pieces(tmp_path_factory, seed, how):
    check_damaged_piece(tmp_path_factory, seed, how)


def check_damaged_piece(tmp_path_factory, seed, how):
    rng = np.random.default_rng(seed)
    folder = tmp_path_factory.mktemp("cache")
    made = piece(folder)
    assert cache.is_whole(made)
    target = made / f"{rng.integers(3)}.nbi"
    data = bytearray(target.read_bytes())
    if how == "flip":
        data[rng.integers(len(data))] ^= 1 + int(rng.integers(255))
    elif how == "cut":
        del data[rng.integers(len(data)) :]
    elif how == "empty":
        data = bytearray()
    target.write_bytes(data)
    if how == "remove":
        target.unlink()
    if how == "more":
        (made / "3.nbi").write_bytes(b"stranger")
    if how == "seal":
        seal = folder / "piece.seal"
        text = seal.read_bytes()
        seal.write_bytes(text[: rng.integers(len(text))])
    assert not cache.is_whole(made)
    assert not made.exists()
    assert not (folder / "piece.seal").exists()


def test_damaged_kernels_are_made_anew(tmp_path):
    """A process with a damaged cache gives the same numbers, without a word; the cache is whole afterwards."""
    program = (
        "import madi, tests.mechanisms as t; print(madi.simulate(t.pendulum(q0=.5), 1., step=.01, engine='jit')['A'][-1])"
    )
    environment = {**os.environ, "MADI_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(ROOT)}

    def told():
        done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, cwd=ROOT)
        assert done.returncode == 0, done.stderr
        assert not done.stderr
        return done.stdout

    first = told()
    damaged = 0
    for path in sorted((tmp_path / "cache").rglob("*.nb*")):
        path.write_bytes(path.read_bytes()[:100] if damaged % 2 else b"")
        damaged += 1
    assert damaged > 4
    assert told() == first == told()


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="users are POSIX's")
def test_only_the_user_can_write_the_cache(own_cache):
    before = os.umask(0)
    try:
        made = piece(cache.cache_folder())
    finally:
        os.umask(before)
    assert stat.S_IMODE(own_cache.stat().st_mode) == 0o700
    assert cache.is_whole(made)
    (made / "0.nbi").chmod(0o666)
    assert not cache.is_whole(made)


def test_a_folder_of_another_user_is_not_used(own_cache, monkeypatch):
    monkeypatch.setattr(cache, "_own", lambda path: False)
    with pytest.warns(madi.MadiWarning, match=r"belongs to another user"):
        folder = cache.cache_folder()
    assert folder != own_cache


@pytest.mark.parametrize("how", ["a file is there", "no room"])
def test_without_a_cache_runs_go_on_with_one_warning(how, tmp_path):
    folder = tmp_path / "cache"
    if how == "a file is there":
        folder.write_text("no folder")
    program = """
        import errno, sys, madi, tests.mechanisms as t, pathlib
        if sys.argv[1] == "no room":
            from madi.engines import cache
            def full(*_, **__):
                raise OSError(errno.ENOSPC, "No space left on device")
            cache.os.rename = full
        run = madi.simulate(t.pendulum(q0=.5), 1., step=.01, engine="jit")
        print(run["A"][-1])
    """
    environment = {**os.environ, "MADI_CACHE_DIR": str(folder), "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path / "tmp")}
    (tmp_path / "tmp").mkdir()
    words = [sys.executable, "-c", textwrap.dedent(program), how]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("MadiWarning") == 1
    assert str(folder) in done.stderr
    assert not list((tmp_path / "tmp").iterdir())


def test_the_cache_has_a_limit(own_cache, monkeypatch):
    folder = cache.cache_folder() / "compiled"
    for k in range(6):
        made = piece(folder, f"piece{k}")
        os.utime(folder / f"piece{k}.seal", (k, k))
    size = cache.pieces()[0][1]
    monkeypatch.setenv("MADI_CACHE_MB", str(4.5 * size / 1e6))
    assert cache.prune() >= 2 * size
    kept = {made.name for made, _, _ in cache.pieces()}
    assert kept <= {"piece2", "piece3", "piece4", "piece5"}
    assert made.name in kept
    (own_cache / "somebody's.txt").write_text("not ours")
    assert cache.clear() > 0
    assert not cache.pieces()
    assert (own_cache / "somebody's.txt").exists()


def test_parts_of_killed_saves_are_swept(tmp_path):
    for k in range(5):
        part = tmp_path / f".run-{k}.nc.part"
        part.write_text("half")
        if k:
            os.utime(part, (1, 1))
    with whole_file(tmp_path / "run.nc") as target:
        target.write_text("whole")
    assert sorted(path.name for path in tmp_path.iterdir()) == [".run-0.nc.part", "run.nc"]


def test_every_command_speaks_ascii(tmp_path):
    """On a terminal that knows nothing else, nothing is an error."""
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "LC_ALL": "C", "COLUMNS": "120"}
    m = pendulum(q0=0.5)
    m.name, m.description = "Maschine µ → ∞ 마디", "größer"
    m.save(tmp_path / "m.yaml")
    for words in (["info", "m.yaml"], ["check", "m.yaml"], ["run", "m.yaml", "--duration", "0.1s", "--engine", "plain"],
                  ["new"], ["cache"], ["schema", "--reference"], ["--help"], ["check", "nichts-µ.yaml"]):  # fmt: skip
        done = subprocess.run([sys.executable, "-m", "madi", *words], cwd=tmp_path, env=environment, capture_output=True)
        assert b"Traceback" not in done.stderr, words
        assert b"UnicodeEncodeError" not in done.stderr
