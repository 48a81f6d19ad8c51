"""Checkpoints from strangers: damaged, crafted and impossible ones are refused."""

import io
import json
import zipfile
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import madi
from madi.run.checkpoint import _checksum
from tests.mechanisms import far_four_bar
from tests.results.damage import damaged

OPTIONS = {
    "dopri": {"rtol": 1e-6}, "abm": {"rtol": 1e-6, "method": "abm"}, "rk4": {"step": 1e-3},
    "radau": {"rtol": 1e-5, "method": "radau"}, "newmark": {"step": 1e-3, "method": "newmark"},
    "svd": {"rtol": 1e-6, "loops": "svd"}, "cartesian": {"rtol": 1e-6, "formulation": "cartesian"},
}  # fmt: skip


def checkpoint(path, name):
    """A checkpoint in the middle of a run."""
    from madi.run.simulate import keep, prepare

    solver = prepare(far_four_bar((0, 0, 0)), 0.2, engine="jit", **OPTIONS[name])
    keep(solver, madi.Checkpoint(path, every=1e9))

    def half(loop, progress):
        m = solver.memory
        m.upto, m.end = solver.segments()[0]
        m.limit = 5
        status = loop(m)
        solver.keeper.write(solver)
        return status

    solver.integrate = half
    solver.run(False)
    return path.read_bytes(), {"memory": solver.memory, **solver.scratch()}


def resumed(path, name):
    return madi.simulate(
        far_four_bar((0, 0, 0)), 0.2, engine="jit", checkpoint=madi.Checkpoint(path, resume=True), **OPTIONS[name]
    )


class Kept(dict):
    """Checkpoints by the name of their options, each made when it is asked for."""

    def __init__(self, folder):
        self.folder = folder

    def __missing__(self, name):
        self[name] = checkpoint(self.folder / f"{name}.npz", name)
        return self[name]


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    return Kept(tmp_path_factory.mktemp("checkpoints"))


@pytest.mark.parametrize("name", OPTIONS)
def test_a_checkpoint_is_taken_up(kept, tmp_path, name):
    path = tmp_path / "c.npz"
    path.write_bytes(kept[name][0])
    whole = madi.simulate(far_four_bar((0, 0, 0)), 0.2, engine="jit", **OPTIONS[name])
    np.testing.assert_array_equal(resumed(path, name).data["q"].values, whole.data["q"].values)


def rewritten(kept, change):
    """A checkpoint with its arrays changed, and a checksum that fits."""
    data, memories = kept
    with np.load(io.BytesIO(data)) as file:
        arrays = {name: file[name] for name in file.files}
    told = json.loads(bytes(arrays.pop("told")).decode())
    change(arrays, memories)
    told["checksum"] = _checksum(arrays)
    out = io.BytesIO()
    np.savez(out, told=np.frombuffer(json.dumps(told).encode(), dtype=np.uint8), **arrays)
    return out.getvalue()


def put(part, name, value):
    """A number of a part of the memory, or the first of an array, by its name."""

    def change(arrays, memories):
        memory = memories[part]
        field = memory.fields[name]
        flat = memory.real_memory if field.real else memory.int_memory
        array = getattr(memory, name)
        place = (array.ctypes.data - flat.ctypes.data) // 8 if field.array else memory.places[name]
        arrays[f"{part}.{'reals' if field.real else 'ints'}"][place] = value

    return change


@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.parametrize("change", [
    put("memory", "next", 10**6), put("memory", "next", -1), put("memory", "started", 7), put("memory", "accepted", 2**60),
    put("memory", "t", np.nan), put("memory", "t", 1e9), put("memory", "h", -1.0), put("memory", "end", 1e9),
    put("memory", "upto", 10**6), put("memory", "accepted", -1), put("memory", "rtol", 0.5), put("memory", "step", 1e-9),
    put("memory", "q", np.nan),
])  # fmt: skip
def test_places_no_run_comes_to_are_refused(kept, tmp_path, name, change):
    path = tmp_path / "c.npz"
    path.write_bytes(rewritten(kept[name], change))
    with pytest.raises(madi.InputError, match="no such run comes to"):
        resumed(path, name)


@pytest.mark.parametrize("name, change", [
    ("abm", put("memory", "order", 10**6)), ("abm", put("memory", "stored", 10**6)), ("abm", put("memory", "order", 0)),
    ("abm", put("memory", "made_for", 10**6)), ("newmark", put("memory", "iterations", 10**6)),
    ("newmark", put("memory", "policy", 77)), ("newmark", put("memory", "halvings", 10**6)),
    ("newmark", put("memory", "beta", 0.0)),
    ("svd", put("work", "block_freedoms", 10**6)), ("svd", put("work", "block_freedoms", -1)),
    ("svd", put("work", "block_freedoms", 0.5)), ("svd", put("work", "basis_chosen", 77)),
    ("svd", put("tally", "singular_count", 10**6)), ("dopri", put("tally", "singular_count", 10**6)),
])  # fmt: skip
def test_places_in_the_memory_of_methods_are_refused(kept, tmp_path, name, change):
    path = tmp_path / "c.npz"
    path.write_bytes(rewritten(kept[name], change))
    with pytest.raises(madi.InputError, match="no such run comes to"):
        resumed(path, name)


def test_a_step_of_nothing_does_not_hang(kept, tmp_path):
    path = tmp_path / "c.npz"
    path.write_bytes(rewritten(kept["dopri"], put("memory", "h", 1e-300)))
    with pytest.raises(madi.RunError, match="step fell below"):
        resumed(path, "dopri")


def crafted(kind, data):
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as source, zipfile.ZipFile(out, "w") as target:
        for info in source.infolist():
            content = source.read(info)
            name, way = info.filename, zipfile.ZIP_STORED
            if name == "outputs.q.npy":
                if kind == "bomb":
                    content, way = content + bytes(200_000_000), zipfile.ZIP_DEFLATED
                elif kind == "shape":
                    content = content.replace(
                        content[10:128],
                        b"{'descr': '<f8', 'fortran_order': False, 'shape': (10000000000000,), }".ljust(117) + b"\n",
                    )
                elif kind == "pickle":
                    buffer = io.BytesIO()
                    np.save(buffer, np.array([{}], dtype=object), allow_pickle=True)
                    content = buffer.getvalue()
                elif kind == "missing":
                    continue
                elif kind == "unknown":
                    way = zipfile.ZIP_LZMA
                elif kind == "nonsense":
                    content = b"nonsense"
            if name == "told.npy" and kind in ("nested", "list", "long"):
                text = {"nested": b"[" * 50_000, "list": b"[]", "long": b" " * 100_000}[kind]
                buffer = io.BytesIO()
                np.save(buffer, np.frombuffer(text, dtype=np.uint8))
                content = buffer.getvalue()
            target.writestr(zipfile.ZipInfo(name), content, way)
            if kind == "twice" and name == "outputs.q.npy":
                target.writestr(zipfile.ZipInfo(name), content, way)
        if kind == "stranger":
            target.writestr("../outside.npy", b"x")
    data = bytearray(out.getvalue())
    if kind == "encrypted":
        at = bytes(data).index(b"PK\x01\x02")
        while at >= 0:
            data[at + 8] |= 1
            at = bytes(data).find(b"PK\x01\x02", at + 4)
    return bytes(data)


@pytest.mark.filterwarnings("ignore:Duplicate name")
@pytest.mark.parametrize("kind", [
    "bomb", "shape", "pickle", "missing", "unknown", "nonsense", "nested", "list", "long", "twice", "encrypted",
])  # fmt: skip
def test_crafted_checkpoints_are_told(kept, tmp_path, kind):
    path = tmp_path / "c.npz"
    path.write_bytes(crafted(kind, kept["dopri"][0]))
    with pytest.raises(madi.InputError, match=r"c\.npz"):
        resumed(path, "dopri")


def check_damaged_checkpoint(kept, folder, seed):
    name = list(OPTIONS)[seed % len(OPTIONS)]
    path = folder / "c.npz"
    path.write_bytes(damaged(kept[name][0], seed))
    with suppress(madi.InputError):  # or the damage was where nobody looks
        resumed(path, name)
    path.unlink(missing_ok=True)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 10**9))
def test_damaged_checkpoints(kept, tmp_path, seed):
    check_damaged_checkpoint(kept, tmp_path, seed)


@pytest.mark.slow
@settings(max_examples=2000, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 10**9))
def test_many_damaged_checkpoints(kept, tmp_path, seed):
    check_damaged_checkpoint(kept, tmp_path, seed)
