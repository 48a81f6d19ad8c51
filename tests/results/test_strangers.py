"""Result files from strangers: read, or refused with a message that names them; nothing else is read."""

from contextlib import suppress

import h5py
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import madi
from madi.results.files import MARK, TRAILER
from tests.mechanisms import pendulum
from tests.results.damage import damaged


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
