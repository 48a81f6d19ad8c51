"""Files from strangers: each is read, or refused with a message that names it; no crash, no hang, nothing else is read."""

import io
import json
import zipfile
from contextlib import suppress
from pathlib import Path

import h5py
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import madi
from madi.checkpoint import _checksum
from madi.imports.mjcf import mjcf_text
from madi.results.files import MARK, TRAILER
from madi.schema.read import loads
from tests.mechanisms import far_four_bar, pendulum

# ---- result files -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    path = tmp_path_factory.mktemp("runs") / "run.nc"
    madi.simulate(pendulum(q0=0.5), 0.1, step=0.01, engine="plain").save(path)
    return path


def unsealed(saved, path):
    """A copy without its checksum: as a stranger would hand it in."""
    path.write_bytes(saved.read_bytes()[:-TRAILER])
    return path


def test_a_saved_run_is_sealed_and_still_netcdf(saved, tmp_path):
    import xarray as xr

    assert saved.read_bytes()[-TRAILER:].startswith(MARK)
    with xr.open_dataset(saved, engine="h5netcdf") as file:
        assert "q" in file
    np.testing.assert_array_equal(madi.load_run(saved)["A"], madi.load_run(unsealed(saved, tmp_path / "r.nc"))["A"])


def hostile(kind, file, outside):
    if kind == "external link":
        file["stolen"] = h5py.ExternalLink(str(outside), "/secret")
    elif kind == "soft link":
        file["stolen"] = h5py.SoftLink("/q")
    elif kind == "external storage":
        file.create_dataset("stolen", (4,), dtype="u1", external=[(str(outside), 0, 4)])
    elif kind == "virtual dataset":
        layout = h5py.VirtualLayout(shape=(4,), dtype="f8")
        layout[:] = h5py.VirtualSource(str(outside), "secret", shape=(4,))
        file.create_virtual_dataset("stolen", layout)
    elif kind == "huge":
        file.create_dataset("huge", (10**6, 10**6), dtype="f8", chunks=(1000, 1000))
    elif kind == "group":
        file.create_group("inner/deeper")
    elif kind == "references":
        file.create_dataset("refs", (2,), dtype=h5py.ref_dtype)
    elif kind == "compound":
        file.create_dataset("pairs", (2,), dtype=[("a", "f8"), ("b", "i4")])
    elif kind == "no positions":
        del file["position"]
    elif kind == "text for numbers":
        shape = file["q"].shape
        del file["q"]
        file.create_dataset("q", shape, dtype="S8")
    elif kind == "time runs back":
        file["time"][...] = file["time"][...][::-1]
    elif kind == "time is no number":
        file["time"][0] = np.nan


@pytest.mark.parametrize("kind", [
    "external link", "soft link", "external storage", "virtual dataset", "huge", "group", "references", "compound",
    "no positions", "text for numbers", "time runs back", "time is no number",
])  # fmt: skip
def test_a_result_file_that_is_none_is_told(kind, saved, tmp_path):
    outside = tmp_path / "outside.h5"
    with h5py.File(outside, "w") as file:
        file["secret"] = np.arange(4.0)
    path = unsealed(saved, tmp_path / "run.nc")
    with h5py.File(path, "a") as file:
        hostile(kind, file, outside)
    with pytest.raises(madi.InputError, match=r"run\.nc"):
        madi.load_run(path)


def damaged(data, seed):
    """Some bytes flipped, or a piece cut out, or the end."""
    rng, data = np.random.default_rng(seed), bytearray(data)
    how = rng.integers(3)
    if how == 0:
        for _ in range(rng.integers(1, 20)):
            data[rng.integers(len(data))] = int(rng.integers(256))
    elif how == 1:
        at = rng.integers(len(data))
        del data[at : at + rng.integers(1, 200)]
    else:
        del data[rng.integers(len(data)) :]
    return bytes(data)


def check_damaged_run(saved, folder, seed):
    """Told, or the very same run: where no more than the checksum is gone."""
    path = folder / "damaged.nc"
    path.write_bytes(damaged(saved.read_bytes(), seed))
    found = None
    with suppress(madi.InputError):
        found = madi.load_run(path)
    if found is not None:
        assert path.read_bytes()[:-TRAILER] == saved.read_bytes()[: len(path.read_bytes()) - TRAILER]
        np.testing.assert_array_equal(found.data["q"].values, madi.load_run(saved).data["q"].values)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 10**9))
def test_damaged_result_files(saved, tmp_path, seed):
    check_damaged_run(saved, tmp_path, seed)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 10**9))
def test_damaged_result_files_without_a_checksum(saved, tmp_path, seed):
    """HDF5 itself meets the damage: it is read, where the damage does not show, or told."""
    path = unsealed(saved, tmp_path / "damaged.nc")
    path.write_bytes(damaged(path.read_bytes(), seed))
    with suppress(madi.InputError):
        madi.load_run(path)


@pytest.mark.slow
@settings(max_examples=2000, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.integers(0, 10**9))
def test_many_damaged_result_files(saved, tmp_path, seed):
    check_damaged_run(saved, tmp_path, seed)


def test_a_csv_s_heads_are_no_formulas(tmp_path):
    m = madi.Model("m")
    m.body("=1+1", 1.0, inertia=(1, 1, 1))
    m.free("@SUM", m.ground, "=1+1")
    run = madi.simulate(m, 0.1, step=0.05, engine="plain")
    heads = run.save(tmp_path / "t.csv").read_text().split("\n")[0].split(",")
    assert any("=1+1" in head for head in heads)
    assert not [head for head in heads if head.strip('"')[:1] in ("=", "+", "-", "@")]


@pytest.mark.parametrize("name", ["{{run}}", "{{script}}", "</script><script>alert(1)</script>", "{{title}}{{style}}"])
def test_a_page_of_a_name_that_looks_like_a_mark(name):
    from html import escape

    m = pendulum(q0=0.3)
    m.name = name
    page = _page(m)
    assert page.count("<script") == 2
    assert f"<title>{escape(name)}</title>" in page
    start = page.index('id="run">') + len('id="run">')
    assert json.loads(page[start : page.index("</script>", start)])["name"] == name


def _page(model):
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "page.html"
        madi.simulate(model, 0.1, step=0.01, engine="plain").view(path)
        return path.read_text()


# ---- checkpoints ------------------------------------------------------------------------------------------------------

OPTIONS = {
    "dopri": {"rtol": 1e-6}, "abm": {"rtol": 1e-6, "method": "abm"}, "rk4": {"step": 1e-3},
    "radau": {"rtol": 1e-5, "method": "radau"}, "newmark": {"step": 1e-3, "method": "newmark"},
    "svd": {"rtol": 1e-6, "loops": "svd"}, "cartesian": {"rtol": 1e-6, "formulation": "cartesian"},
}  # fmt: skip


def checkpoint(path, name):
    """A checkpoint in the middle of a run."""
    from madi.pipeline import keep, prepare

    solver = prepare(far_four_bar((0, 0, 0)), 0.2, engine="jit", **OPTIONS[name])
    keep(solver, path, 1e9, False)
    loop_was = solver.integrate

    def half(loop, arguments, progress):
        ends = solver.segments()
        solver.state[3] = ends[0][1]
        status = loop(*arguments[:-1], ends[0][0], 5)
        solver.checkpoint.write(solver)
        return status

    solver.integrate = half
    solver.run(False)
    solver.integrate = loop_was
    return path


def resumed(path, name):
    return madi.simulate(far_four_bar((0, 0, 0)), 0.2, engine="jit", checkpoint=path, resume=True, **OPTIONS[name])


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    folder = tmp_path_factory.mktemp("checkpoints")
    return {name: checkpoint(folder / f"{name}.npz", name).read_bytes() for name in OPTIONS}


@pytest.mark.parametrize("name", OPTIONS)
def test_a_checkpoint_is_taken_up(kept, tmp_path, name):
    path = tmp_path / "c.npz"
    path.write_bytes(kept[name])
    whole = madi.simulate(far_four_bar((0, 0, 0)), 0.2, engine="jit", **OPTIONS[name])
    np.testing.assert_array_equal(resumed(path, name).data["q"].values, whole.data["q"].values)


def rewritten(data, change):
    """A checkpoint with its arrays changed, and a checksum that fits."""
    with np.load(io.BytesIO(data)) as file:
        arrays = {name: file[name] for name in file.files}
    told = json.loads(bytes(arrays.pop("told")).decode())
    change(arrays)
    told["checksum"] = _checksum(arrays)
    out = io.BytesIO()
    np.savez(out, told=np.frombuffer(json.dumps(told).encode(), dtype=np.uint8), **arrays)
    return out.getvalue()


def put(name, place, value):
    def change(arrays):
        arrays[name].reshape(-1)[place] = value

    return change


@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.parametrize("change", [
    put("memory.count", 0, 10**6), put("memory.count", 0, -1), put("memory.count", 4, 7), put("memory.count", 2, 2**60),
    put("memory.state", 0, np.nan), put("memory.state", 0, 1e9), put("memory.state", 1, -1.0), put("memory.state", 3, 1e9),
])  # fmt: skip
def test_places_no_run_comes_to_are_refused(kept, tmp_path, name, change):
    path = tmp_path / "c.npz"
    path.write_bytes(rewritten(kept[name], change))
    with pytest.raises(madi.InputError, match="no such run comes to"):
        resumed(path, name)


@pytest.mark.parametrize("name, change", [
    ("abm", put("memory.count", 5, 10**6)), ("abm", put("memory.count", 6, 10**6)), ("abm", put("memory.count", 5, 0)),
    ("svd", put("work.chosen", 0, 1e9)), ("svd", put("work.order", 0, -5.0)), ("svd", put("work.tally", 98, 1e6)),
    ("svd", put("work.tally", 16, 1e6)), ("svd", put("work.tally", 96, 77.0)), ("dopri", put("work.tally", 16, 1e6)),
])  # fmt: skip
def test_places_in_the_memory_of_methods_are_refused(kept, tmp_path, name, change):
    path = tmp_path / "c.npz"
    path.write_bytes(rewritten(kept[name], change))
    with pytest.raises(madi.InputError, match="no such run comes to"):
        resumed(path, name)


def test_a_step_of_nothing_does_not_hang(kept, tmp_path):
    path = tmp_path / "c.npz"
    path.write_bytes(rewritten(kept["dopri"], put("memory.state", 1, 1e-300)))
    with pytest.raises(madi.RunError, match="step fell below"):
        resumed(path, "dopri")


def crafted(kind, data):
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as source, zipfile.ZipFile(out, "w") as target:
        for info in source.infolist():
            content = source.read(info)
            name, way = info.filename, zipfile.ZIP_STORED
            if name == "memory.Q.npy":
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
            if kind == "twice" and name == "memory.Q.npy":
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
    path.write_bytes(crafted(kind, kept["dopri"]))
    with pytest.raises(madi.InputError, match=r"c\.npz"):
        resumed(path, "dopri")


def check_damaged_checkpoint(kept, folder, seed):
    name = list(OPTIONS)[seed % len(OPTIONS)]
    path = folder / "c.npz"
    path.write_bytes(damaged(kept[name], seed))
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


# ---- model files ------------------------------------------------------------------------------------------------------

SMALL = "bodies: {b: {mass: 1, inertia: [1, 1, 1]}}\njoints: {f: {type: free, parent: ground, child: b}}\n"


def test_deep_sums_of_sums():
    text = "0.5"
    for _ in range(27):
        text = "(" + " + ".join(["1"] * 99 + [text]) + ")"
    m = loads(f"parameters: {{a: '{text}'}}\nbodies: {{b: {{mass: a, inertia: [1, 1, 1]}}}}\n"
              "joints: {f: {type: free, parent: ground, child: b}}\n")  # fmt: skip
    assert m["b"].mass == 27 * 99 + 0.5
    with pytest.raises(madi.FileError, match="parentheses"):
        loads(SMALL + f"parameters: {{a: '{'(' * 40}1{')' * 40}'}}\n")


def test_many_parameters_are_read_in_linear_time():
    """Work, not seconds: looking a name up may not walk over all of them."""
    count = 20_000
    lines = ["p0: 1.5"] + [f"p{k}: 'p{k - 1} + 0.001'" for k in range(1, count)]
    m = loads("parameters:\n  " + "\n  ".join(lines) + "\nbodies: {b: {mass: p19999, inertia: [1, 1, 1]}}\n"
              "joints: {f: {type: free, parent: ground, child: b}}\n")  # fmt: skip
    assert m["b"].mass == pytest.approx(1.5 + 0.001 * (count - 1))


def test_many_mistakes_are_told_together():
    bodies = "\n".join(f"  body_number_{k}: {{mass: 1, inertia: [1, 1, 1]}}" for k in range(2000))
    joints = "\n".join(f"  j{k}: {{type: free, parent: ground, child: bodi_number_{k}}}" for k in range(200))
    with pytest.raises(
        madi.FileError, match=r"(?s)did you mean 'body_number_0'.*did you mean 'body_number_19'.*and 180 more"
    ):
        loads(f"bodies:\n{bodies}\njoints:\n{joints}\n")


def test_tables_have_a_limit_that_is_looked_at_first():
    points = ", ".join(f"[{k}, 0]" for k in range(300_000))
    with pytest.raises(madi.FileError, match="300000 points are given; a table has at most 2000"):
        loads(SMALL + f"tables: {{lift: {{points: [{points}]}}}}\n")


def test_two_mistakes_in_one_joint_are_both_told():
    with pytest.raises(madi.FileError) as caught:
        loads("bodies: {b: {mass: 1, inertia: [1, 1, 1]}}\n"
              "joints: {A: {type: revolute, parent: ground, child: b, at: [0, 0], axis: [0, x, 0]}}\n")  # fmt: skip
    assert "joints.A.at" in str(caught.value)
    assert "joints.A.axis" in str(caught.value)


def test_a_csv_with_lone_returns(tmp_path):
    (tmp_path / "t.csv").write_bytes(b"x,y\r0,0\r1,2\r2,0\r")
    (tmp_path / "m.yaml").write_text(SMALL + "tables: {lift: {points: {csv: t.csv}, between: linear}}\n"
                                     "forces: {F: {type: force, body: b, value: ['lift(t)', 0, 0]}}\n")  # fmt: skip
    s = madi.load(tmp_path / "m.yaml").build()
    assert s.forward_dynamics(s.q0, np.zeros(6), t=0.5, engine="plain")[0] == pytest.approx(1.0)


@pytest.mark.parametrize("size", ["1e308", "1e200", "nan", "inf"])
def test_sizes_no_mechanism_has(size):
    with pytest.raises(madi.FileError, match="finite number"):
        mjcf_text(f'<mujoco><worldbody><body><freejoint/><geom type="sphere" size="{size}"/></body></worldbody></mujoco>')
