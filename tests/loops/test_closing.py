"""Loops during a run: every integrator and every method keeps them closed; tolerances; singular positions."""

import numpy as np
import pytest

import madi
from madi.papers import rssr
from madi.verify import four_bars
from tests.mechanisms import four_bar


@pytest.mark.parametrize("options", [
    {"method": "rk4", "step": 1e-3}, {"method": "ab3", "step": 5e-4}, {"method": "abm", "step": 1e-3},
    {"method": "abm", "rtol": 1e-9}, {"method": "dopri", "rtol": 1e-9},
])  # fmt: skip
def test_all_integrators_keep_loops_closed(options):
    exact = madi.simulate(four_bar(v0=3.0), 2.0, method="dopri", rtol=1e-11, times=[1.0, 2.0], engine="jit")
    run = madi.simulate(four_bar(v0=3.0), 2.0, times=np.linspace(0, 2, 57), engine="jit", **options)
    assert float(run.data["violation"].max()) < 1e-10
    assert float(run.data["violation_rate"].max()) < 1e-9
    assert run["A"][-1] == pytest.approx(exact["A"][-1], abs=1e-4 if options["method"] == "ab3" else 1e-5)


def test_a_hundred_seconds_do_not_drift():
    run = madi.simulate(four_bar(v0=3.0), 100.0, method="dopri", rtol=1e-10, engine="jit")
    assert float(run.data["violation"].max()) < 1e-10
    assert float(run.data["violation_rate"].max()) < 1e-9
    energy = run["energy"]
    assert np.ptp(energy) / np.max(np.abs(run["kinetic"])) < 1e-6


@pytest.mark.parametrize("loops", ["augmented", "baumgarte"])
def test_other_ways_to_keep_loops_closed(loops):
    exact = madi.simulate(four_bar(v0=3.0), 2.0, method="dopri", rtol=1e-11, times=[2.0], engine="jit")["A"][-1]
    run = madi.simulate(four_bar(v0=3.0), 2.0, step=1e-3, loops=loops, engine="jit")
    assert run.statistics["loops"] == loops
    assert run["A"][-1] == pytest.approx(exact, abs=1e-6)
    assert float(run.data["violation"].max()) < (1e-10 if loops == "augmented" else 1e-6)


def hanging_ring(links):
    """A chain of rods whose last one is pinned to the ground: one loop, a full mass matrix."""
    m = madi.Model("ring")
    bodies = [m.ground]
    for k in range(links):
        bodies.append(m.body(f"rod{k}", 1.0, inertia=(0.1, 0.1, 0.1), position=(k + 0.5, 0, 0)))
        m.revolute(f"J{k}", bodies[k], bodies[k + 1], at=(k, 0, 0), axis=(0, 1, 0), cut=False)
    m.distance("tie", bodies[-1], m.ground, at=((links, 0, 0), (links, 0, 3.0)))
    return m


def test_one_matrix_serves_position_velocity_and_acceleration():
    """P0: where a factorisation is dear, RK4's four evaluations a step take three: the closing ones use the last."""
    run = madi.simulate(hanging_ring(24), 0.1, step=1e-3, engine="jit")
    counted = run.statistics
    assert counted["evaluations"] == 4 * counted["steps"] + 1
    assert counted["factorisations"] <= 3 * counted["steps"] + 5
    assert counted["acceleration_iterations"] >= counted["steps"]
    assert counted["position_iterations"] <= 2 * counted["steps"]
    assert float(run.data["violation"].max()) < 1e-10
    # and the answer is that of a matrix for every state
    exact = madi.simulate(
        hanging_ring(24), 0.1, method="dopri", rtol=1e-11, times=[0.1], engine="jit", formulation="cartesian"
    )
    np.testing.assert_allclose(run.data["position"].values[-1], exact.data["position"].values[-1], atol=1e-7)


def test_engines_agree_on_loops():
    runs = [
        madi.simulate(four_bar(v0=3.0), 0.2, step=1e-3, engine=e, reactions=["A", "C"]) for e in ("plain", "jit", "compiled")
    ]
    for name in ("q", "v", "a", "reaction_force", "energy"):
        for other in runs[1:]:
            np.testing.assert_allclose(other.data[name], runs[0].data[name], rtol=1e-7, atol=1e-7)
    counted = [run.statistics["factorisations"] for run in runs]
    assert counted[0] == counted[1]
    assert abs(counted[2] - counted[1]) <= 1  # beside generated C the closer begins with a matrix of its own


def test_the_cut_does_not_matter():
    """Another tree, the same motion and the same loads where they are certain."""
    runs = []
    for cut in range(4):
        m = four_bar(v0=3.0) if cut else four_bar()
        m.joints[cut].cut = True
        if cut == 0:
            start = madi.assemble(four_bar(v0=3.0))
            m.joints[1].v0 = None
            m.joints[3].v0 = start.v[2]
        runs.append(
            madi.simulate(m, 1.0, method="dopri", rtol=1e-11, times=[0.3, 1.0], reactions=list("ABCD"), engine="jit")
        )
        assert m.build().cut_joints == ["ABCD"[cut]]
    for run in runs[1:]:
        np.testing.assert_allclose(run.data["position"].sel(body="coupler"), runs[0].data["position"].sel(body="coupler"),
                                   atol=1e-8)  # fmt: skip
        loads = run.data["reaction_force"].sel(axis=["x", "z"])
        np.testing.assert_allclose(loads, runs[0].data["reaction_force"].sel(axis=["x", "z"]), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("windows", [1, 3])
@pytest.mark.parametrize("rtol", [1e-6, 1e-9])
def test_singular_positions_are_passed_and_reported(windows, rtol):
    run = madi.simulate(four_bars.model(windows), 4.0, method="dopri", rtol=rtol, engine="jit")
    th = -run["A0"]
    exact = four_bars.corner(windows, run.data["time"].values)
    np.testing.assert_allclose(np.column_stack([np.sin(th), np.cos(th)]), exact, atol=2e3 * rtol)
    # the rockers are horizontal where x of B0 is +-1
    x = exact[:, 0]
    turning = [k for k in range(1, len(x) - 1) if abs(x[k]) > 0.9 and abs(x[k]) >= max(abs(x[k - 1]), abs(x[k + 1]))]
    times = run.data["time"].values[turning]
    np.testing.assert_allclose(run.statistics["singular_times"], times, atol=0.01)


CLOSINGS = [
    {"method": "rk4", "step": 4e-3}, {"method": "abm", "rtol": 1e-5}, {"method": "dopri", "rtol": 1e-5},
    {"method": "radau", "rtol": 1e-5}, {"method": "rk4", "step": 4e-3, "loops": "pseudo-inverse"},
    {"method": "rk4", "step": 4e-3, "loops": {"qr": {"weighting": "none"}}},
    {"method": "rk4", "step": 4e-3, "formulation": "cartesian"},
]  # fmt: skip


@pytest.mark.parametrize("options", CLOSINGS, ids=lambda o: " ".join(map(str, o.values())))
def test_a_tolerance_on_the_constraints_is_kept_at_every_step(options):
    """P0's eps: what a step leaves is within it, looser than rounding and with fewer iterations; the motion moves little."""
    m = rssr.model()
    tight = madi.simulate(m, 1.0, history=True, engine="jit", **options)
    for eps in (1e-9, 1e-6):
        word = options.get("loops", "projection")
        loops = {word: {"closing": eps}} if isinstance(word, str) else {"qr": {"closing": eps, **word["qr"]}}
        run = madi.simulate(m, 1.0, history=True, engine="jit", **{**options, "loops": loops})
        left = run.data["step_violation"].values
        assert np.max(left) <= eps
        assert np.max(run["violation"]) <= eps
        assert np.max(left) > 100 * np.max(tight.data["step_violation"].values)
        iterations = [sum(r.statistics[f"{name}_iterations"] for name in ("position", "velocity")) for r in (run, tight)]
        assert iterations[0] < iterations[1]
        assert np.max(np.abs(run["body1.z"] - np.interp(run["time"], tight["time"], tight["body1.z"]))) < 2e-3


def test_a_tolerance_on_the_constraints_is_refused_where_it_has_no_say():
    m = rssr.model()
    for options, told in (
        ({"method": "newmark", "step": 1e-3, "loops": madi.Projection(closing=1e-6)}, "closes the loops within its step"),
        ({"loops": {"baumgarte": {"closing": 1e-6}}}, "'baumgarte' has no option 'closing'"),
        ({"loops": {"projection": {"closing": 0.0}}}, "from 1e-13 to 0.1"),
        ({"loops": {"projection": {"closing": "tight"}}}, "closing 'tight' must be a number"),
        ({"loops": {"projection": {"weighting": "none"}}}, "'projection' has no option 'weighting'"),
        ({"loops": {"qr": {"weighting": "heavy"}}}, "choose 'mass' or 'none'"),
    ):  # fmt: skip
        with pytest.raises(madi.InputError, match=told):
            madi.simulate(m, 0.1, **options)


def test_p2_s_own_form_corrects_by_coordinates_and_ours_by_mass():
    """An open loop is closed along I_R alone (dq = -J^T (J J^T)^-1 Phi, P2's eq. 5.1), or by the least motion by mass; a
    heavy part sets the two apart, as it must."""
    from madi.run.simulate import prepare

    moved = {}
    for weighting in ("mass", "none"):
        m = rssr.model()
        m["body2"].mass = 100.0  # heavy beside the others
        m["body2"].inertia = tuple(100.0 * x for x in m["body2"].inertia)
        solver = prepare(m, 0.1, step=1e-3, loops=madi.PseudoInverse(weighting=weighting), engine="plain")
        assert solver.options.unweighted == (weighting == "none")
        close = solver.closing_engine.function("close-null-space").call
        q, v = solver.system.q0, np.zeros(solver.system.nv)
        start = solver.system.q0
        q[0] += 1e-4  # R1 alone is turned: the loop is open
        close(0.0, q, v, np.zeros(len(v)), np.zeros(len(v)))
        assert np.max(np.abs(solver.system.constraints(q))) < 1e-10
        moved[weighting] = q - start
    system = rssr.model().build()
    J = system.constraint_jacobian(system.q0)
    first = np.zeros(system.nv)
    first[0] = 1e-4
    plain = first - J.T @ np.linalg.solve(J @ J.T, J @ first)  # P2's eq. 5.1, to first order
    columns = [system.v_slice("R1").start, system.v_slice("R3").start]
    places = [system.q_slice("R1").start, system.q_slice("R3").start]
    np.testing.assert_allclose(moved["none"][places], plain[columns], atol=1e-7)
    assert np.max(np.abs(moved["mass"][places] - plain[columns])) > 1e-6
