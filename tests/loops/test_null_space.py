"""Null-space methods against the projection: same motion, same forces; their identities; continuity; bad input."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import madi
from madi.loops.memory import LoopOptions
from madi.loops.methods import LOOP_METHODS, NullSpace
from madi.papers import rssr
from madi.run.simulate import prepare, run_solver
from madi.spatial.rotation import frame_with_z
from madi.verify import andrews, bricard, four_bars
from tests.loops.test_blocks import full
from tests.mechanisms import close_loops, four_bar, random_tree

WAYS = [name for name, method in LOOP_METHODS.items() if issubclass(method, NullSpace)]
MECHANISMS = {
    "rssr": (lambda: rssr.model(), 2.0),
    "andrews": (lambda: andrews.model(), 0.03),
    "bricard": (lambda: bricard.model(), 5.0),  # overconstrained
    "four-bars": (lambda: four_bars.model(5), 2.0),  # through four singular positions
}


def engine_of(s, way):
    """Kernels as plain Python that close loops this way."""
    options = LoopOptions({})
    LOOP_METHODS[way]().put(options)
    return s.engine("plain").for_run(directions=True, options=options)


@pytest.mark.parametrize("name", MECHANISMS)
def test_all_methods_give_one_motion_and_one_set_of_forces(name):
    draw, duration = MECHANISMS[name]
    found = madi.compare(draw(), duration, rtol=1e-10, atol=1e-12, repeats=1)
    assert not found.failed
    assert [row["method"] for row in found.table] == ["projection", *WAYS]
    for row in found.table:
        assert row["motion"] < 1e-6, row
        assert row["forces"] < 1e-6, row  # Phi_q^T lam: unique where multipliers are not
        assert row["drift"] < 1e-10, row
    for way in WAYS:
        assert float(found.runs[way].data["null_space_error"].max()) < 1e-10
    if name != "bricard":  # multipliers themselves, where rows are independent
        first = found.runs["projection"].data["multiplier"].values
        for way in WAYS:
            assert np.max(np.abs(found.runs[way].data["multiplier"].values - first)) < 1e-6 * np.max(np.abs(first))


def slider_crank():
    """In space: crank, ball, rod, universal joint, slider; its coordinates change their roles at every turn."""
    m = madi.Model("spatial slider-crank")
    O, P, S = np.array([0, 0.1, 0.12]), np.array([0, 0.1, 0.2]), np.array([0.2, 0, 0])
    along = (S - P) / 0.3
    across = np.cross(along, (1, 0, 0)) / np.linalg.norm(np.cross(along, (1, 0, 0)))
    m.body("crank", 0.12, inertia=(1e-4, 1e-4, 1e-5), position=(O + P) / 2)
    m.body("rod", 0.5, inertia=(4e-3, 4e-3, 4e-4), position=(P + S) / 2, orientation=frame_with_z(along))
    m.body("slider", 2.0, inertia=(1e-4, 1e-4, 1e-4), position=S)
    m.revolute("turn", m.ground, "crank", at=O, axis=(1, 0, 0), v0=6.0)
    m.spherical("ball", "crank", "rod", at=P)
    m.prismatic("guide", m.ground, "slider", at=S, axis=(1, 0, 0))
    m.universal("gudgeon", "slider", "rod", at=S, axes=(across, np.cross(across, along)))
    return m


@pytest.mark.parametrize("method", ["dopri", "abm"])
def test_errors_follow_the_tolerance(method):
    s = slider_crank().build()
    exact = madi.simulate(s, 5.0, rtol=1e-12, times=[5.0]).data["position"].values
    for rtol in (1e-6, 1e-8, 1e-10):
        errors = {}
        for loops in ("projection", *WAYS):
            run = madi.simulate(s, 5.0, method=method, rtol=rtol, loops=loops, times=[5.0])
            errors[loops] = np.max(np.abs(run.data["position"].values - exact))
            assert run.statistics["leaps"] == 0
            assert run.statistics["singular_times"] == []  # ill-chosen directions are no singular position
        assert max(errors.values()) < 3 * errors["projection"], (rtol, errors)


@pytest.mark.parametrize("loops", ["projection", *WAYS])
def test_tight_tolerances_through_singular_positions(loops):
    for rtol in (1e-8, 1e-10, 1e-12):
        run = madi.simulate(four_bars.model(5), 2.0, rtol=rtol, loops=loops, times=[2.0])
        th = -run["A0"][-1]
        assert np.max(np.abs([np.sin(th), np.cos(th)] - four_bars.corner(5, [2.0])[0])) < 30 * rtol
        assert run.statistics["evaluations"] < 4000


@pytest.mark.parametrize("loops", ["projection", *WAYS])
def test_a_drive_whose_speed_jumps_leaves_the_momentum_of_what_it_does_not_touch(loops):
    """A four-bar on a base that turns freely: the drive at its cut joint acts within it."""
    m = madi.Model("four-bar on a base", gravity=(0, 0, 0))
    A, B, C, D = (np.array(p) for p in ((0.0, 0, 0), (0, 0.3, 0), (0.95, 0.75, 0), (0.9, 0, 0)))
    m.body("base", 2.0, inertia=(0.2, 0.2, 0.2), position=(A + D) / 2)
    for name, P, Q in (("crank", A, B), ("coupler", B, C), ("rocker", D, C)):
        length = np.linalg.norm(Q - P)
        m.body(name, length, inertia=np.full(3, length**3 / 12), position=(P + Q) / 2)
    at = {"O": ("ground", "base", (0.2, -0.3, 0)), "A": ("base", "crank", A), "B": ("crank", "coupler", B),
          "D": ("base", "rocker", D)}  # fmt: skip
    for name, (parent, child, point) in at.items():
        m.revolute(name, parent, child, at=point, axis=(0, 0, 1))
    m.revolute("C", "coupler", "rocker", at=C, axis=(0, 0, 1), cut=True)
    m.drive("C", lambda t: madi.where(t < 0.5, 0.0, 0.7 * (t - 0.5)))
    run = madi.simulate(m, 1.0, rtol=1e-8, loops=loops, times=[0.6, 1.0])
    p = run.data["momentum"].values
    assert np.max(np.abs(run["O.v"])) > 0.3
    np.testing.assert_allclose(p[:, 5] - (0.2 * p[:, 1] + 0.3 * p[:, 0]), 0.0, atol=1e-7)


@pytest.mark.parametrize("way", WAYS)
def test_motion_prescribed_in_time(way):
    """Phi_t: a driven cut joint (a row that depends on time), beside freedoms that are left: a pendulum on the coupler."""
    m = four_bar()
    m.body("bob", 0.5, inertia=(0.01, 0.01, 0.01), position=(0.4, 0, 0.1))
    m.revolute("P", "coupler", "bob", at=(0.4, 0, 0.5), axis=(0, 1, 0), q0=0.4)
    m.drive("C", lambda t: 0.2 * madi.sin(3 * t))  # the cut joint
    runs = [madi.simulate(m, 1.0, rtol=1e-10, times=np.linspace(0, 1, 41), loops=loops) for loops in ("projection", way)]
    assert np.max(np.abs(runs[0].data["position"].values - runs[1].data["position"].values)) < 1e-8
    force = runs[0]["C.drive"]
    assert np.max(np.abs(force - runs[1]["C.drive"])) < 1e-6 * np.ptp(force)


@pytest.mark.parametrize("way", WAYS)
def test_identities_by_other_means(way):
    """Range and null space in the kernel's scratch against NumPy and the Jacobian the system gives."""
    m = rssr.model()
    solver = prepare(m, 0.02, step=1e-3, loops=way, engine="plain")
    run = run_solver(solver)
    s, work = solver.system, solver.closing_engine.work
    J = s.constraint_jacobian(run.data["q"].values[-1])
    free = s.layout.arrays.column_number >= 0
    rank = np.linalg.matrix_rank(J[:, free])
    kept = full(s, work)
    N = kept.S * work.column_scale  # from coordinates measured by mass
    assert np.max(np.abs(J[:, free] @ N[:, free].T)) < 1e-10
    assert np.linalg.matrix_rank(N) == len(N) == np.sum(free) - rank
    scaled = J[:, free] * work.column_scale[free] * work.row_scale[:, None]
    if way == "pseudo-inverse":
        np.testing.assert_allclose(kept.right_inverse(s, work)[free], np.linalg.pinv(scaled), rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(kept.T @ kept.T.T, np.eye(len(N)), atol=1e-6)
    else:
        inverse = np.linalg.inv(np.vstack([scaled, kept.T[:, free]]))
        np.testing.assert_allclose(kept.right_inverse(s, work)[free], inverse[:, :rank], rtol=1e-9, atol=1e-10)
        np.testing.assert_allclose(kept.N[:, free], inverse[:, rank:].T, rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("way", ["pseudo-inverse", "svd", "qr"])
def test_directions_do_not_jump(way):
    """Per step the directions turn as far as the mechanism does: halving the steps halves the turns (pseudo-inverse); those
    chosen anew lie nearest to the old ones."""
    m = rssr.model()
    turns = [
        madi.simulate(m, 2.0, step=step, method="rk4", loops=way).statistics["basis_jump"] for step in (4e-3, 2e-3, 1e-3)
    ]
    if way == "pseudo-inverse":
        assert 1.6 < turns[0] / turns[1] < 2.4
        assert 1.6 < turns[1] / turns[2] < 2.4
    assert max(turns) < 0.5


def test_each_chooses_anew_when_it_should():
    done = {way: madi.simulate(andrews.model(), 0.03, rtol=1e-8, loops=way).statistics for way in WAYS}
    assert done["pseudo-inverse"]["decompositions"] == 1  # P2: once, then only re-projected
    assert done["svd"]["decompositions"] > 3  # K1 turns more than twice
    assert all(stat["condition"] >= 1.0 for stat in done.values())
    through = madi.simulate(four_bars.model(3), 2.0, rtol=1e-9, loops="partition").statistics
    assert through["decompositions"] > 1  # a singular position needs other coordinates


@given(st.integers(0, 10**6))
@settings(max_examples=25, deadline=None)
def test_accelerations_of_random_mechanisms(seed):
    """By the directions and the right inverse that are kept, through N M N^T in NumPy: those of the sparse factor."""
    rng = np.random.default_rng(seed)
    m = random_tree(rng, int(rng.integers(3, 7)), moving=bool(rng.integers(2)))
    close_loops(m, rng, m.build().nv)
    assume(not m.check())
    s = m.build()
    assume(s.frozen.rows and s.mobility(s.q0).degrees_of_freedom > 0)
    v = s.assemble(s.q0, rng.normal(size=s.nv)).v
    expected = s.forward_dynamics(s.q0, v, engine="plain")
    M, P = s.mass_matrix(s.q0, engine="plain"), -s.inverse_dynamics(s.q0, v, np.zeros(s.nv), engine="plain")
    gamma = s.constraint_terms(s.q0, v, engine="plain")[2]
    for way in WAYS:
        engine = engine_of(s, way)
        found = engine.evaluate("close-null-space", 0.0, s.q0.copy(), v.copy(), np.zeros(s.nv), s.nv)
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6 * (1 + np.max(np.abs(expected))))
        again = reduced(s, engine.work, M, P, gamma)
        np.testing.assert_allclose(again, expected, rtol=1e-5, atol=1e-5 * (1 + np.max(np.abs(expected))))


def reduced(s, work, M, P, gamma):
    """qdd by the equations of null-space methods."""
    kept, size = full(s, work), np.where(work.column_scale > 0.0, work.column_scale, 1.0)
    N = kept.N * size
    given = size * (kept.right_inverse(s, work) @ (work.row_scale * gamma))
    return given + N.T @ np.linalg.solve(N @ M @ N.T, N @ (P - M @ given))


def parallelogram(q0=None, v0=None, flat=False):
    """Links of 0.5 m on pivots 1 m apart; `flat`: drawn in a line, a singular position."""
    up = np.array([0.5, 0, 0]) if flat else np.array([0, 0, 0.5])
    A, D = np.zeros(3), np.array([1.0, 0, 0])
    m = madi.Model("parallelogram")
    for name, P, Q in (("a", A, A + up), ("b", A + up, D + up), ("c", D, D + up)):
        m.body(name, 1.0, inertia=(0.02, 0.02, 0.02), position=(P + Q) / 2)
    given = [{} if v0 is None else {"v0": v} for v in (v0, None if v0 is None else -v0, v0)]
    m.revolute("A", m.ground, "a", at=A, axis=(0, 1, 0), q0=q0, **given[0])
    m.revolute("B", "a", "b", at=A + up, axis=(0, 1, 0), **given[1])
    m.revolute("C", "b", "c", at=D + up, axis=(0, 1, 0))
    m.revolute("D", m.ground, "c", at=D, axis=(0, 1, 0), **given[2])
    return m


@pytest.mark.parametrize("way", WAYS)
def test_a_singular_start_and_a_start_near_one(way):
    for m, duration in ((parallelogram(v0=3.0, flat=True), 0.05), (parallelogram(q0=1.57, v0=0.5), 0.02)):
        times = np.linspace(0, duration, 6)
        runs = [madi.simulate(m, duration, rtol=1e-8, loops=loops, times=times) for loops in ("projection", way)]
        a, b = (run.data["q"].values for run in runs)
        assert np.max(np.abs(a - b)) < 1e-5 * np.ptp(a)


@pytest.mark.parametrize("way", WAYS)
def test_a_stage_that_is_not_finite_is_taken_back(way):
    m = four_bar(v0=2.0)
    m.joint_torque("f", "A", lambda t, q, v: 5 * madi.sqrt(9 - v[0] * v[0]) - 60 * (v[0] - 2))
    first = madi.DormandPrince(first_step=0.5)
    runs = [madi.simulate(m, 1.0, rtol=1e-3, method=first, loops=loops, times=[1.0]) for loops in ("projection", way)]
    assert runs[1].statistics["rejected"] > 0
    np.testing.assert_allclose(runs[1].data["q"].values, runs[0].data["q"].values, atol=2e-2)


@pytest.mark.parametrize("way", WAYS)
def test_heavy_and_light_parts_in_one_model(way):
    m = madi.Model("heavy and light")
    for name, L, mass in (("big", 10.0, 1e5), ("small", 0.01, 1e-4)):
        A, B, C, D = (L * np.array(p) for p in ((0, 0, 0), (0, 0, 0.3), (0.95, 0, 0.75), (0.9, 0, 0)))
        for part, P, Q in (("crank", A, B), ("coupler", B, C), ("rocker", D, C)):
            m.body(f"{name} {part}", mass, inertia=np.full(3, mass * L**2 / 30), position=(P + Q) / 2)
        m.revolute(f"{name} A", m.ground, f"{name} crank", at=A, axis=(0, 1, 0))
        m.revolute(f"{name} B", f"{name} crank", f"{name} coupler", at=B, axis=(0, 1, 0))
        m.revolute(f"{name} C", f"{name} coupler", f"{name} rocker", at=C, axis=(0, 1, 0))
        m.revolute(f"{name} D", m.ground, f"{name} rocker", at=D, axis=(0, 1, 0))
    s = m.build()
    q, v = s.start.q, s.start.v
    expected = s.forward_dynamics(q, v, engine="plain")
    engine = engine_of(s, way)
    found = engine.evaluate("close-null-space", 0.0, q.copy(), v.copy(), np.zeros(s.nv), s.nv)
    np.testing.assert_allclose(found, expected, rtol=1e-8)
    M, P = s.mass_matrix(q, engine="plain"), -s.inverse_dynamics(q, v, np.zeros(s.nv), engine="plain")
    gamma = s.constraint_terms(q, v, engine="plain")[2]
    np.testing.assert_allclose(reduced(s, engine.work, M, P, gamma), expected, rtol=1e-8)


def test_drives_do_not_count_as_leaving_and_multipliers_do_not_jump():
    m = four_bar()
    m.drive("A", lambda t: 3.0 * t)
    assert madi.simulate(m, 1.0, rtol=1e-7, loops="svd").statistics["decompositions"] == 1
    times = np.linspace(0, 5, 1001)
    for way in WAYS:
        lam = madi.simulate(bricard.model(), 5.0, rtol=1e-8, loops=way, times=times).data["multiplier"].values
        assert np.max(np.abs(np.diff(lam, axis=0))) < 0.03 * np.ptp(lam), way


@pytest.mark.parametrize("way", ["pseudo-inverse", "qr"])
def test_every_integrator_that_lets_loops_be_closed(way):
    m, times = rssr.model(), np.linspace(0, 1, 11)
    exact = madi.simulate(m, 1.0, rtol=1e-11, times=times)["body1.z"]
    ways = {"radau": {"rtol": 1e-8}, "cvode": {"rtol": 1e-8}, "abm": {"rtol": 1e-8}, "ab3": {"step": 1e-3}}
    for method, options in ways.items():
        run = madi.simulate(m, 1.0, method=method, loops=way, times=times, **options)
        assert np.max(np.abs(run["body1.z"] - exact)) < (1e-5 if method == "ab3" else 1e-7), method
        assert float(run.data["violation"].max()) < 1e-9, method
