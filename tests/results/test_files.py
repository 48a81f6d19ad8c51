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


def test_a_csv_s_heads_are_no_formulas(tmp_path):
    m = madi.Model("m")
    m.body("=1+1", 1.0, inertia=(1, 1, 1))
    m.free("@SUM", m.ground, "=1+1")
    run = madi.simulate(m, 0.1, step=0.05, engine="plain")
    heads = run.save(tmp_path / "t.csv").read_text().split("\n")[0].split(",")
    assert any("=1+1" in head for head in heads)
    assert not [head for head in heads if head.strip('"')[:1] in ("=", "+", "-", "@")]
