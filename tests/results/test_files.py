"""Files of runs: saved and loaded."""

import numpy as np

import madi
from tests.mechanisms import four_bar


def test_a_run_with_loops_is_saved_and_loaded(tmp_path):
    run = madi.simulate(four_bar(v0=1.0), 0.1, step=1e-2, reactions="A", engine="plain")
    assert run.data["reaction_determined"].sel(joint="A").values.tolist() == [True, False, True, False, True, False]
    again = madi.load_run(run.save(tmp_path / "run.nc"))
    np.testing.assert_allclose(again["A"], run["A"])
    assert "violation" in again.data
