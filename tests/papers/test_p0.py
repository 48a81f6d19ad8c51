"""P0's experiments: the five-dof vehicle against Lagrange's equations, all of them against the Cartesian solver."""

import numpy as np
import pytest

import madi
from madi.papers import five_dof, rssr, tracked
from madi.papers.compare import apart


def test_five_dof_against_lagrange():
    from scipy.integrate import solve_ivp

    acceleration = five_dof.analytic()
    times = np.linspace(0, five_dof.DURATION, 251)
    solved = solve_ivp(
        lambda t, y: np.concatenate([y[5:], np.array(acceleration(t, y[:5], y[5:])).ravel()]), (0, five_dof.DURATION),
        np.zeros(10), method="DOP853", rtol=1e-11, atol=1e-13, t_eval=times, max_step=0.01,
    )  # fmt: skip
    run = madi.simulate(
        five_dof.model(), five_dof.DURATION, method="dopri", rtol=1e-11, times=times, max_step=0.01, engine="jit"
    )
    for k, name in enumerate(("chassis.y.q", "chassis.angle", "seat", "front", "rear")):
        assert apart(solved.y[k], run[name]) < 1e-6, name
    tires = run.data["force_value"].sel(force=["front tire", "rear tire"]).values
    assert np.min(tires) > 0  # so the one-sided tire of the model is the two-sided one above


@pytest.mark.parametrize("coupler", ["body", "distance"])
def test_rssr_against_cartesian(coupler):
    m = rssr.model(coupler)
    options = {"method": "abm", "rtol": 1e-10, "engine": "jit", "times": np.linspace(0, 2, 201)}
    run, other = madi.simulate(m, 2.0, **options), madi.simulate(m, 2.0, formulation="cartesian", **options)
    assert apart(run["body1.az"], other["body1.az"]) < 1e-6
    assert float(run.data["violation"].max()) < 1e-10
    s = m.build()
    assert (s.nv, s.n_constraints) == ((5, 3) if coupler == "body" else (2, 1))
    assert other.statistics["coordinates"] == (21 if coupler == "body" else 14)
    assert np.ptp(run["energy"]) < 1e-8


def test_tracked_vehicle_counts_and_agreement():
    m = tracked.model()
    s = m.build()
    assert (s.nq, s.nv, s.n_constraints) == (19, 18, 0)
    options = {"step": 5e-4, "engine": "jit", "times": np.linspace(0, 2.2, 221)}
    run, other = madi.simulate(m, 2.2, **options), madi.simulate(m, 2.2, formulation="cartesian", **options)
    assert (other.statistics["coordinates"], other.statistics["constraints"]) == (91, 60)
    assert apart(tracked.seat(run), tracked.seat(other)) < 1e-6
    assert apart(run["hull.z"], other["hull.z"]) < 1e-6
    # at rest on level ground before the bump, and lifted by it
    before = run.data["time"].values < 1.5
    assert np.max(np.abs(tracked.seat(run)[before])) < 5.0
    assert np.max(tracked.seat(run)) > 12.0
