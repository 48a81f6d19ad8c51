"""Machine code made with the package: all pieces are in it, it is used, it is the sources', and it needs nothing else."""

import json
import os
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from types import SimpleNamespace

import pytest

from madi.ahead import is_own, pieces
from madi.ahead.build import PLATFORMS, look_at
from madi.ahead.front import wrapper
from madi.ahead.symbols import symbols
from madi.engines import library
from madi.engines.cache import kernel_hash
from madi.integrate.memory import Loop

NO_NUMBA = """
import sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("numba", "llvmlite"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Blocked())
import importlib.metadata as metadata
found = metadata.version
def version(name):
    if name in ("numba", "llvmlite"):
        raise metadata.PackageNotFoundError(name)
    return found(name)
metadata.version = version
"""


def fresh(program, **environment):
    """A process of its own, with an empty cache and no compiler."""
    with tempfile.TemporaryDirectory() as folder:
        variables = {**os.environ, "MADI_CACHE_DIR": folder, "PATH": folder, **environment}
        return subprocess.run([sys.executable, "-c", program], env=variables, capture_output=True, text=True)


PENDULUM = """
import json, madi
m = madi.Model("pendulum")
body = m.body("body", mass=1.0, inertia=(0.08, 0.08, 0.001), position=(0, 0, -0.5))
m.revolute("A", m.ground, body, at=(0, 0, 0), axis=(0, 1, 0), q0=1.2)
tip = m.body("tip", mass=0.5, inertia=(0.04, 0.04, 0.001), position=(0, 0, -1.5))
m.spherical("B", body, tip, at=(0, 0, -1))
{more}
run = madi.simulate(m, 0.2, {options})
print(json.dumps([run.data.q.values[-1].tolist(), sorted(set(sys.modules) & {{"numba", "llvmlite"}})]))
"""
LOOP = 'm.spherical("C", tip, m.ground, at=(0, 0, -2))'
CASES = {
    "tree": ("", "rtol=1e-8, reactions=['A']"),
    "loop": (LOOP, "rtol=1e-8, reactions=['A']"),
    "implicit": ("", "step=1e-3, method='newmark'"),
    "cartesian": (LOOP, "step=1e-3, method='rk4', formulation='cartesian'"),
    "null space": (LOOP, "step=1e-3, method='abm', loops='qr'"),
}


def test_every_loop_is_listed():
    """What is added later (a method, a recorder, an entry) is in the list by itself."""
    names = [piece.name for piece in pieces()]
    assert len(names) == len(set(names)) == len({library.symbol(name) for name in names})
    assert {f"loop-{loop.name}" for loop in Loop.known.values() if is_own(loop)} <= set(names)


def test_the_library_has_every_piece():
    """`make test` makes it before the tests."""
    assert library.is_there(), library.why_none()
    assert not [piece.name for piece in pieces() if not library.has(piece.name)]


@pytest.mark.parametrize("case", CASES)
def test_a_run_needs_neither_numba_nor_a_compiler(case):
    more, options = CASES[case]
    told = fresh(NO_NUMBA + PENDULUM.format(more=more, options=options))
    assert told.returncode == 0, told.stderr
    q, loaded = json.loads(told.stdout)
    assert loaded == []
    plain = fresh("import sys\n" + PENDULUM.format(more=more, options=options + ", engine='plain'"))
    assert plain.returncode == 0, plain.stderr
    assert q == pytest.approx(json.loads(plain.stdout)[0], abs=2e-7)


@pytest.mark.parametrize("case", CASES)
def test_without_library_and_numba_the_cure_is_said(case):
    more, options = CASES[case]
    told = fresh(NO_NUMBA + PENDULUM.format(more=more, options=options), MADI_LIBRARY="none")
    assert told.returncode == 1
    assert told.stderr.splitlines()[-1].startswith("madi.errors.MadiError: MADI_LIBRARY=none")
    assert "pip install numba" in told.stderr.splitlines()[-1]


@pytest.mark.parametrize("level", ["x86-64-v9", "None", "../x86-64-v2"])
def test_machine_code_that_is_not_there_is_refused_with_what_is(level):
    told = fresh(PENDULUM.format(more="", options="rtol=1e-6"), MADI_LIBRARY=level)
    assert told.returncode == 1
    last = told.stderr.splitlines()[-1]
    assert last.startswith(f"madi.errors.InputError: MADI_LIBRARY={level!r}")
    assert all(there in last for there in library.there())
    assert "none" in last


def test_a_library_of_other_sources_is_not_used(monkeypatch):
    monkeypatch.setattr(library, "kernel_hash", lambda: "0" * len(kernel_hash()))
    library._loaded.cache_clear()
    try:
        assert not library.is_there()
        assert "other sources" in library.why_none()
        assert library.address("recursive") == 0
    finally:
        library._loaded.cache_clear()


def test_processors_are_told_apart_by_their_features(monkeypatch, tmp_path):
    every = set().union(*library.FEATURES.values())
    for lacking, best in (("", "x86-64-v4"), ("avx512vl", "x86-64-v3"), ("fma", "x86-64-v2"), ("ssse3", "x86-64-v2")):
        text = "flags : " + " ".join(sorted(every - {lacking}))
        monkeypatch.setattr(library.Path, "read_text", lambda self, text=text, **_: text)
        monkeypatch.setattr(library.platform, "machine", lambda: "x86_64")
        monkeypatch.setattr(library.sys, "platform", "linux")
        assert library.levels()[0] == best


def test_every_platform_has_processors():
    for place in PLATFORMS.values():
        assert place.levels
        assert place.triple.split("-")[0] in ("x86_64", "aarch64", "arm64")


def test_a_wrapper_is_plain_c():
    """(In LLVM's words.)"""
    from madi.engines import numba_support
    from madi.engines.pieces import ELEMENT, LOOP

    assert "define i64 @f(i64 %a0)" in wrapper("f", "native", numba_support.SIGNATURES[LOOP])
    assert "define void @f(i64 %a0, i64 %a1, i64 %a2)" in wrapper("f", "native", numba_support.SIGNATURES[ELEMENT])


def test_processors_are_told_apart_on_other_systems(monkeypatch):
    known = {f"hw.optional.{name}" for name in library.SYSCTL["x86-64-v3"]}
    monkeypatch.setattr(library.platform, "machine", lambda: "x86_64")
    monkeypatch.setattr(library.sys, "platform", "darwin")
    monkeypatch.setattr(library, "_sysctl", lambda name: int(name in known))
    assert library.levels() == ["x86-64-v3", "x86-64-v2"]
    monkeypatch.setattr(library, "_sysctl", lambda name: 0)
    assert library.levels() == ["x86-64-v2"]
    kernel = SimpleNamespace(IsProcessorFeaturePresent=lambda feature: feature == library.AVX2)
    monkeypatch.setattr(library.ctypes, "windll", SimpleNamespace(kernel32=kernel), raising=False)
    monkeypatch.setattr(library.sys, "platform", "win32")
    monkeypatch.setattr(library.platform, "machine", lambda: "AMD64")
    assert library.levels() == ["x86-64-v3", "x86-64-v2"]
    for machine in ("arm64", "aarch64"):
        monkeypatch.setattr(library.platform, "machine", lambda machine=machine: machine)
        assert library.levels() == ["arm64"]
    assert [library.file_name("a", system) for system in ("linux", "darwin", "win32")] == ["a.so", "a.dylib", "a.dll"]


C_FILE = """
#include <math.h>
#ifdef _WIN32
__declspec(dllexport)
#endif
double madi_toy(double x) { return sin(x); }
"""


@pytest.mark.slow
@pytest.mark.skipif(find_spec("ziglang") is None, reason="zig's linker is not installed")
@pytest.mark.parametrize("place", PLATFORMS.values(), ids=PLATFORMS)
def test_libraries_of_other_systems_are_linked_and_read(place, tmp_path):
    """What is exported and needed is read from ELF, PE and Mach-O."""
    from madi.ahead.back import hash_object, link, linker

    (tmp_path / "toy.c").write_text(C_FILE)
    command, made = linker(place.zig), tmp_path / library.file_name("toy", place.system)
    subprocess.run([*command, "-O1", "-fPIC", "-c", str(tmp_path / "toy.c"), "-o", str(tmp_path / "toy.o")], check=True)
    (tmp_path / "sources.o").write_bytes(hash_object(place.triple, kernel_hash()))
    link([tmp_path / "toy.o", tmp_path / "sources.o"], made, command, ["madi_toy"])
    look_at(made, ["madi_toy", library.SOURCES])
    found = symbols(made.read_bytes())
    assert kernel_hash().encode() in made.read_bytes()
    assert found.signed or place.zig != "aarch64-macos.11.0"
    assert place.system == "win32" or "sin" in found.needed
    with pytest.raises(RuntimeError, match="madi_other"):
        look_at(made, ["madi_other"])


def test_this_machine_s_library_is_read():
    assert library.is_there(), library.why_none()
    found = symbols((library.FOLDER / library.file_name(library.level())).read_bytes())
    assert {library.symbol(piece.name) for piece in pieces()} | {library.SOURCES} <= found.exported
    assert "sin" in found.needed
    with pytest.raises(ValueError, match="neither ELF"):
        symbols(b"#!/bin/sh\n")
