"""Mechanisms with loops, from the public face: assembly, redundancy, drives, drift, singular positions, bad input."""

import numpy as np
import pytest

import madi
from madi.papers import rssr
from madi.verify import bricard, four_bars


def four_bar(q0=None, v0=None, lengths=(0.3, 1.0, 0.8, 0.9), **joint):
    """A crank-rocker drawn with its crank upright: crank, coupler, rocker, ground, in the plane x, z."""
    crank, coupler, rocker, ground = lengths
    A, B, D = np.zeros(3), np.array([0, 0, crank]), np.array([ground, 0, 0])
    d = D - B
    far = np.linalg.norm(d)
    x = (coupler**2 - rocker**2 + far**2) / (2 * far)
    C = B + x * d / far + np.sqrt(coupler**2 - x**2) * np.array([-d[2], 0, d[0]]) / far
    m = madi.Model("four-bar")
    for name, P, Q in (("crank", A, B), ("coupler", B, C), ("rocker", D, C)):
        length = np.linalg.norm(Q - P)
        z = (Q - P) / length
        m.body(name, length, inertia=(length**3 / 12, length**3 / 12, length**3 / 900), position=(P + Q) / 2,
               orientation=np.column_stack([np.cross((0, 1, 0), z), (0, 1, 0), z]))  # fmt: skip
    m.revolute("A", m.ground, "crank", at=A, axis=(0, 1, 0), q0=q0, v0=v0, **joint)
    m.revolute("B", "crank", "coupler", at=B, axis=(0, 1, 0))
    m.revolute("C", "coupler", "rocker", at=C, axis=(0, 1, 0))
    m.revolute("D", m.ground, "rocker", at=D, axis=(0, 1, 0))
    return m


# ---- assembly -------------------------------------------------------------------------------------------------------


def test_a_given_start_stays_and_the_rest_follows():
    found = madi.assemble(four_bar(q0=2.5, v0=3.0))
    assert found.closed
    assert found.q[0] == 2.5
    assert found.v[0] == 3.0
    assert found.moved["A"] == 0.0
    assert abs(found.moved["B"]) > 0.1
    assert set(found.residual) == {"C"}
    assert found.residual["C"] < 1e-11
    s = four_bar().build()
    _, rate, _, _ = s.constraint_terms(found.q, found.v, engine="plain")
    assert np.max(np.abs(rate)) < 1e-11


def test_a_rough_start_is_closed_nearby():
    m = four_bar()
    s = m.build()
    right = madi.assemble(m, q0={"A": 0.8}, pin=["A"]).q
    rough = right + [0.0, 0.02, -0.03]
    found = s.assemble(rough)
    assert np.max(np.abs(found.q - rough)) < 0.05
    assert found.residual["C"] < 1e-11


def test_another_assembly_mode():
    m = four_bar()
    first, second = madi.assemble(m, pin=["A"]), madi.assemble(m, pin=["A"], assembly_mode=1)
    assert first.q[0] == second.q[0] == 0.0
    assert second.closed
    # the rocker's end lies on the other side of the line from B to D
    s = m.build()
    side = []
    for state in (first, second):
        (B, _), (R, turn) = s.body_pose(state.q, "coupler"), s.body_pose(state.q, "rocker")
        C = R + turn @ (0, 0, 0.4)
        side.append(np.cross(np.array([0.9, 0, 0]) - (0, 0, 0.3), C - (0, 0, 0.3))[1])
        assert B is not None
    assert side[0] * side[1] < 0
    with pytest.raises(madi.AssemblyError, match="only 2 way"):
        madi.assemble(m, pin=["A"], assembly_mode=7)


def test_what_cannot_close_is_told_with_the_nearest_state():
    m = four_bar(lengths=(0.6, 1.0, 0.5, 1.0))  # not a crank: it cannot turn all the way
    with pytest.raises(
        madi.AssemblyError, match=r"cannot be closed.*C 0\..*It closes if what is held may move: A"
    ) as caught:
        madi.assemble(m, q0={"A": -1.6}, pin=["A"])
    nearest = caught.value.assembly
    assert nearest.residual["C"] > 0.01  # of what was asked for
    assert nearest.closed
    assert np.max(np.abs(m.build().constraints(nearest.q, engine="plain"))) < 1e-10
    m.distance("rod", "crank", m.ground, at=((0, 0, 0.6), (0, 3, 0)), length=0.2)
    with pytest.raises(madi.AssemblyError, match="rod"):
        madi.simulate(m, 1.0)


# ---- redundancy and mobility ----------------------------------------------------------------------------------------


def test_redundant_rows_are_named_and_loads_marked():
    s = four_bar(q0=0.5, v0=1.0).build()
    found = s.mobility()
    assert (found.gruebler, found.degrees_of_freedom) == (-2, 1)
    assert found.redundant == (
        "translation along z at joint C", "rotation about x at joint C", "rotation about y at joint C",
    )  # fmt: skip
    loads = s.reactions(s.start.q, s.start.v, engine="plain")
    for load in loads.values():  # forces in the plane and the moment about its normal are certain, the rest is not
        assert not load.unique
        assert load.determined.tolist() == [True, False, True, False, True, False]
    # a spherical joint in place of C, a universal one in place of B: nothing is redundant any more
    m = four_bar(q0=0.5, v0=1.0)
    m.joints[2].kind, m.joints[2].axes = "spherical", ()
    m.joints[1].kind, m.joints[1].axes = "universal", ((0, 1, 0), (1, 0, 0))
    s = m.build()
    assert s.mobility().redundant == ()
    assert s.mobility().degrees_of_freedom == s.mobility().gruebler
    assert all(load.unique for load in s.reactions(s.start.q, s.start.v, engine="plain").values())


def test_bricard_moves_although_it_should_not():
    found = bricard.model().build().mobility()
    assert (found.gruebler, found.degrees_of_freedom, len(found.redundant)) == (0, 1, 1)
    assert "at joint P4" in found.redundant[0]


def test_scale_does_not_matter():
    """Millimetres or metres: the same rank."""
    for size in (1e-3, 1e3):
        s = four_bar(lengths=tuple(size * x for x in (0.3, 1.0, 0.8, 0.9))).build()
        assert s.mobility().degrees_of_freedom == 1
        assert len(s.mobility().redundant) == 3


def test_a_locked_mechanism_is_told_and_its_statics_work():
    m = madi.Model("truss")
    m.body("bar", 2.0, inertia=(1, 1, 1), position=(1, 0, 0))
    m.revolute("A", m.ground, "bar", at=(0, 0, 0), axis=(0, 1, 0))
    m.distance("rope", m.ground, "bar", at=((0, 0, 1.5), (2, 0, 0)))
    with pytest.raises(madi.InputError, match="its constraints leave no degree of freedom"):
        madi.simulate(m, 1.0)
    s = m.build()
    loads = s.reactions(s.start.q, s.start.v, joints=["A", "rope"], engine="plain")
    # moments about A: the rope's vertical part carries half the weight; its direction is (-2, 0, 1.5)
    vertical = 0.5 * 2.0 * 9.81
    np.testing.assert_allclose(loads["rope"].force, (-vertical * 2 / 1.5, 0, vertical), rtol=1e-9)
    np.testing.assert_allclose(loads["A"].force, (vertical * 2 / 1.5, 0, vertical), rtol=1e-9)
    assert loads["A"].unique


# ---- runs -----------------------------------------------------------------------------------------------------------


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


def test_constraint_forces_do_no_work_and_balance():
    """Sum of all reactions on the ground is the rate of momentum less gravity; multipliers do no work."""
    m = four_bar(q0=0.4, v0=2.0)
    s = m.build()
    q, v = s.start.q, s.start.v
    a = s.forward_dynamics(q, v, engine="plain")
    loads = s.reactions(q, v, engine="plain")
    seen = s.observe(q, v, a=a, engine="plain")
    mass = np.array([body.mass for body in (next(b for b in m.bodies if b.name == name) for name in s.bodies)])
    total = (mass[:, None] * (seen.acceleration[0] + (0, 0, 9.81))).sum(axis=0)
    np.testing.assert_allclose(loads["A"].force + loads["D"].force, total, atol=1e-9)
    # what the open tree would need beside its own forces is what the multipliers give: not zero, and without power
    constraint = s.inverse_dynamics(q, v, a, engine="plain")
    assert np.max(np.abs(constraint)) > 1.0
    assert v @ constraint == pytest.approx(0.0, abs=1e-8)


# ---- drives in loops ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cut", [None, 0, 3])
def test_a_driven_crank(cut):
    """Driven on a tree joint, or on the very joint that closes the loop: the same motion, the same power balance."""
    m = four_bar()
    m.drive("A", lambda t: 2.0 * t + 0.1 * madi.sin(5 * t))
    if cut is not None:
        m.joints[cut].cut = True
    run = madi.simulate(m, 2.0, method="dopri", rtol=1e-10, times=np.linspace(0, 2, 41), engine="jit")
    (angle,) = (
        np.unwrap(2 * np.arctan2(run.data["orientation"].sel(body="crank", quaternion="y"),
                                 run.data["orientation"].sel(body="crank", quaternion="w"))),
    )  # fmt: skip
    t = run.data["time"].values
    np.testing.assert_allclose(angle, 2 * t + 0.1 * np.sin(5 * t), atol=1e-9)
    assert float(run.data["violation"].max()) < 1e-10


def test_driving_torque_by_energy():
    """d(energy)/dt is what the drive delivers."""
    m = four_bar()
    m.drive("A", lambda t: 3.0 * t + 0.2 * t * t)
    run = madi.simulate(m, 1.0, method="dopri", rtol=1e-11, times=np.linspace(0, 1, 2001), engine="jit")
    rate = np.gradient(run["energy"], run.data["time"].values, edge_order=2)
    np.testing.assert_allclose(rate[5:-5], run["power"][5:-5], atol=2e-4 * np.max(np.abs(rate)))


def test_two_drives_on_one_freedom_are_refused():
    m = four_bar()
    m.drive("A", lambda t: t)
    m.drive("D", lambda t: 0.1 * t)
    with pytest.raises(madi.InputError, match=r"tie these driven or locked coordinates together: A, D"):
        madi.simulate(m, 1.0)
    m = four_bar()
    m.drive("A", lambda t: t)
    m.lock("B")
    with pytest.raises(madi.InputError, match="tie these"):
        madi.simulate(m, 1.0)


def test_a_drive_that_leaves_the_reach_stops_with_names():
    m = four_bar(lengths=(0.6, 1.0, 0.5, 1.0))
    m.drive("A", lambda t: t)
    with pytest.raises(madi.RunError, match=r"loops cannot be closed .*C .*drives \('A'\)") as caught:
        madi.simulate(m, 4.0, step=1e-3, engine="jit")
    kept = caught.value.run.data
    assert len(kept["time"]) > 100
    assert float(kept["violation"].max()) < 1e-10


# ---- singular positions ---------------------------------------------------------------------------------------------


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


def test_a_start_in_a_singular_position():
    """A flat four-bar: two freedoms there, one elsewhere."""
    m = four_bars.model(1)
    m.joints[0].v0 = None
    s = m.build()
    assert s.mobility().degrees_of_freedom == 1
    flat = s.assemble(q0=[-np.pi / 2, np.pi / 2, -np.pi / 2])
    assert s.mobility(flat.q).degrees_of_freedom == 2


# ---- what reviewers and users stumble over --------------------------------------------------------------------------


def test_starts_by_name_are_kept():
    m = four_bar(q0=0.3)
    run = madi.simulate(m, 0.01, step=1e-3, q0={"D": 0.1}, v0={"A": 1.0}, engine="plain")
    assert run["D"][0] == 0.1  # named: stays; A was only given, and follows
    assert run["A.v"][0] == pytest.approx(1.0)
    found = madi.assemble(m, q0={"A": 0.7})
    assert found.q[0] == 0.7
    assert found.released == ()
    np.testing.assert_allclose(found.a, m.build().forward_dynamics(found.q, found.v, engine="plain"))


def test_drives_of_cut_joints_do_work():
    m = four_bar(cut=True)
    m.drive("A", lambda t: 3.0 * t + 0.2 * t * t)
    run = madi.simulate(m, 1.0, method="dopri", rtol=1e-11, times=np.linspace(0, 1, 2001), engine="jit")
    rate = np.gradient(run["energy"], run.data["time"].values, edge_order=2)
    np.testing.assert_allclose(rate[5:-5], run["power"][5:-5], atol=2e-4 * np.max(np.abs(rate)))
    tree = four_bar()
    tree.drive("A", lambda t: 3.0 * t + 0.2 * t * t)
    other = madi.simulate(tree, 1.0, method="dopri", rtol=1e-11, times=np.linspace(0, 1, 2001), engine="jit")
    np.testing.assert_allclose(run["A.drive"], other["A.drive"], rtol=1e-6, atol=1e-6)


def test_options_of_a_run_do_not_stay_in_the_system():
    s = four_bar(q0=0.5, v0=1.0).build()
    q, v = s.start.q + [0, 1e-3, 0], s.start.v
    before = s.forward_dynamics(q, v, engine="jit")
    madi.simulate(s, 0.01, step=1e-3, loops="baumgarte", engine="jit")
    np.testing.assert_allclose(s.forward_dynamics(q, v, engine="jit"), before, rtol=1e-12)


def test_a_function_that_fails_in_a_loop_is_named():
    m = four_bar(v0=1.0)

    def torque(t, q, v):
        if t > 0.05:
            raise RuntimeError("boom")
        return (0.0, 0.0, 0.0)

    m.torque("motor", "rocker", torque)
    ways = ({"step": 1e-2}, {"method": "dopri"}, {"step": 1e-2, "loops": "baumgarte"}, {"formulation": "cartesian"})
    for options in ways:
        with pytest.raises(madi.RunError, match=r"motor.* raised RuntimeError: boom"):
            madi.simulate(m, 1.0, engine="jit", **options)


def test_turns_are_counted_in_cartesian_coordinates():
    m = four_bar()
    m.drive("A", lambda t: 20.0 * t)
    for times in (np.linspace(0, 0.6, 61), [0.0, 0.3, 0.6]):
        a = madi.simulate(m, 0.6, step=1e-3, times=times, engine="jit")
        b = madi.simulate(m, 0.6, step=1e-3, times=times, engine="jit", formulation="cartesian")
        np.testing.assert_allclose(b["A"], 20.0 * np.asarray(times), atol=1e-8)
        np.testing.assert_allclose(b.data["position"], a.data["position"], atol=1e-6)


def test_two_drives_on_one_cut_joint():
    runs = []
    for formulation in (None, "cartesian"):
        m = madi.Model("drill")
        m.body("bit", 1.0, inertia=(1, 1, 1), position=(0, 0, 1))
        m.free("F", m.ground, "bit")
        m.cylindrical("C", m.ground, "bit", at=(0, 0, 0), axis=(0, 0, 1), cut=True)
        m.drive("C.z", lambda t: 0.1 * t)
        m.drive("C.angle", lambda t: 4.0 + 2.0 * t)
        runs.append(madi.simulate(m, 1.0, step=1e-2, engine="jit", formulation=formulation))
    for run in runs:
        assert run["bit.wz"][-1] == pytest.approx(2.0)
        assert run["bit.z"][-1] == pytest.approx(1.1)


def test_loads_by_the_classical_way_and_of_what_has_no_freedom():
    s = four_bar(q0=0.5, v0=1.0).build()
    a, b = (s.reactions(s.start.q, s.start.v, way=way, engine="plain") for way in ("selected", "newton-euler"))
    for name in a:
        np.testing.assert_allclose(a[name].force, b[name].force, atol=1e-9)
        np.testing.assert_allclose(a[name].moment, b[name].moment, atol=1e-9)
    m = madi.Model("stiff")
    m.body("block", 2.0, inertia=(1, 1, 1))
    m.fixed("A", m.ground, "block")
    m.distance("rod", m.ground, "block", at=((1, 0, 0), (0, 0, 0)))
    s = m.build()
    assert s.mobility().degrees_of_freedom == 0
    assert s.reactions(s.start.q, s.start.v, engine="plain")["A"].unique is False


@pytest.mark.parametrize("options, told", [
    ({"feedback": 5, "loops": "baumgarte"}, "two numbers"), ({"feedback": (1.0, 1.0)}, "leave it out"),
    ({"loops": "projektion"}, "pseudo-inverse"),
    ({"formulation": "cartesian", "loops": "augmented"}, "has loops='projection'"),
    ({"formulation": "articulated"}, "serves trees"),
])  # fmt: skip
def test_wrong_options_are_told(options, told):
    with pytest.raises(madi.InputError, match=told):
        madi.simulate(four_bar(v0=1.0), 0.1, step=1e-2, **options)
    with pytest.raises(madi.InputError, match="assembly_mode"):
        madi.assemble(four_bar(), assembly_mode=-1)
    with pytest.raises(madi.InputError, match="no coordinate 'nonsense'"):
        madi.assemble(four_bar(), pin=["nonsense"])


def test_a_run_with_loops_is_saved_and_loaded(tmp_path):
    run = madi.simulate(four_bar(v0=1.0), 0.1, step=1e-2, reactions="A", engine="plain")
    assert run.data["reaction_determined"].sel(joint="A").values.tolist() == [True, False, True, False, True, False]
    again = madi.load_run(run.save(tmp_path / "run.nc"))
    np.testing.assert_allclose(again["A"], run["A"])
    assert "violation" in again.data


def test_exact_derivatives_with_loops():
    m = four_bar(q0=0.5, v0=1.0)
    m.joints[2].kind, m.joints[2].axes = "spherical", ()
    m.joints[1].kind, m.joints[1].axes = "universal", ((0, 1, 0), (1, 0, 0))
    s = m.build()
    q, v, tau, h = s.start.q, s.start.v, np.zeros(s.nv), 1e-6
    exact = s.derivatives(q, v, tau)
    for k, found in enumerate(exact):
        columns = []
        for e in np.eye(s.nv):
            ahead, behind = ([x + sign * h * e if j == k else x for j, x in enumerate((q, v, tau))] for sign in (1, -1))
            columns.append(
                (s.forward_dynamics(*ahead, engine="plain") - s.forward_dynamics(*behind, engine="plain")) / (2 * h)
            )
        np.testing.assert_allclose(found, np.array(columns).T, rtol=1e-6, atol=1e-6 * np.max(np.abs(found)))


def test_constraints_are_explained():
    m = four_bar()
    m.distance("rod", "coupler", m.ground, at=((0.5, 1, 0.5), (0.5, 3, 0)))
    text = m.build().explain()
    assert "6 constraint(s), 1 cut joint(s)" in text
    assert "constraint: 'rod', 1 row(s)" in text
    assert "Grübler: 3 - 6 = -3" in text


def test_loads_of_an_open_mechanism_are_refused():
    s = four_bar(q0=0.6).build()
    with pytest.raises(madi.InputError, match=r"open at these positions \('C'"):
        s.reactions(s.q0, s.v0, engine="plain")
    default, start = s.reactions(engine="plain"), s.reactions(s.start.q, s.start.v, engine="plain")
    np.testing.assert_allclose(default["A"].force, start["A"].force)
    m = four_bar(q0=0.6)
    m.distance("rod", "coupler", m.ground, at=((0.5, 1, 0.5), (0.5, 3, 0)))
    assert set(m.build().loaded_names) == {"A", "B", "C", "D", "rod"}


def planetary(on_carrier):
    """Sun 20, planet 22, ring 64 teeth: with the ring held, the sun turns 1 + 64/20 = 4.2 times the carrier."""
    m = madi.Model("planetary", gravity=(0, 0, 0))
    for name, x in (("carrier", 0.0), ("sun", 0.0), ("planet", 0.42), ("ring", 0.0)):
        m.body(name, 1.0, inertia=(1, 1, 1), position=(x, 0, 0))
    z = (0, 0, 1)
    m.revolute("C", m.ground, "carrier", at=(0, 0, 0), axis=z)
    base = "carrier" if on_carrier else m.ground
    m.revolute("S", base, "sun", at=(0, 0, 0), axis=z)
    m.revolute("P", "carrier", "planet", at=(0.42, 0, 0), axis=z)
    m.revolute("R", base, "ring", at=(0, 0, 0), axis=z)
    m.gear("sun-planet", "S", "P", radii=(20, 22))
    m.gear("planet-ring", "P", "R", radii=(22, 64), internal=True)
    return m


def test_a_planetary_gear():
    m = planetary(on_carrier=True)
    m.fixed("held", m.ground, "ring")
    m.drive("C", lambda t: t)
    run = madi.simulate(m, 1.0, step=0.01, engine="plain")
    assert run["sun.wz"][-1] == pytest.approx(4.2)
    assert abs(run["ring.wz"][-1]) < 1e-9
    found = planetary(on_carrier=False).check()
    assert len(found) == 2
    assert all("one carrier" in str(finding) for finding in found)


def test_bumps_are_not_leapt_over_and_their_work_is_counted():
    m = madi.Model("runner")
    m.body("cart", 1.0, inertia=(1, 1, 1), position=(0, 0, 0.3))
    m.body("wheel", 20.0, inertia=(1, 1, 1), position=(0, 0, 0.3))
    m.prismatic("x", m.ground, "cart", at=(0, 0, 0.3), axis=(1, 0, 0))
    m.prismatic("z", "cart", "wheel", at=(0, 0, 0.3), axis=(0, 0, 1))
    m.drive("x", lambda t: 20.0 * t)
    road = madi.flat().sine(0.05, 0.4, start=100.0, end=100.4)
    m.wheel("tire", "wheel", at=(0, 0, 0.3), radius=0.3 + 20 * 9.81 / 2e5, stiffness=2e5, damping=300.0, road=road)
    run = madi.simulate(m, 5.3, rtol=1e-9, engine="jit", times=np.linspace(4.9, 5.3, 4001))
    assert run["z"].max() > 0.02
    time = run.data["time"].values
    net = run["power"] - run["dissipated"]
    work = np.concatenate([[0.0], np.cumsum(0.5 * (net[1:] + net[:-1]) * np.diff(time))])
    assert np.max(np.abs(run["energy"] - run["energy"][0] - work)) < 2e-3 * np.ptp(run["energy"])
    assert np.array_equal(run["tire"], run.data["force_value"].sel(force="tire").values)


CLOSINGS = [
    {"method": "rk4", "step": 4e-3}, {"method": "abm", "rtol": 1e-5}, {"method": "dopri", "rtol": 1e-5},
    {"method": "radau", "rtol": 1e-5}, {"method": "rk4", "step": 4e-3, "loops": "pseudo-inverse"},
    {"method": "rk4", "step": 4e-3, "loops": "qr", "weighting": "none"},
    {"method": "rk4", "step": 4e-3, "formulation": "cartesian"},
]  # fmt: skip


@pytest.mark.parametrize("options", CLOSINGS, ids=lambda o: " ".join(map(str, o.values())))
def test_a_tolerance_on_the_constraints_is_kept_at_every_step(options):
    """P0's eps: what a step leaves is within it, looser than rounding and with fewer iterations; the motion moves little."""
    m = rssr.model()
    tight = madi.simulate(m, 1.0, history=True, engine="jit", **options)
    for eps in (1e-9, 1e-6):
        run = madi.simulate(m, 1.0, history=True, closing=eps, engine="jit", **options)
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
        ({"method": "newmark", "step": 1e-3}, "closes|keeps the loops closed by itself"),
        ({"loops": "baumgarte", "step": 1e-3}, "only feeds the violation back"), ({"closing": 0.0}, "from 1e-13 to 0.1"),
        ({"closing": "tight"}, "must be a number"), ({"weighting": "none"}, "belongs to loops='pseudo-inverse'"),
        ({"weighting": "heavy", "loops": "qr"}, "choose 'mass' or 'none'"),
    ):  # fmt: skip
        with pytest.raises(madi.InputError, match=told):
            madi.simulate(m, 0.1, **{"closing": 1e-6 if "weighting" not in options else None, **options})


def test_p2_s_own_form_corrects_by_coordinates_and_ours_by_mass():
    """An open loop is closed along I_R alone (dq = -J^T (J J^T)^-1 Phi, P2's eq. 5.1), or by the least motion by mass; a
    heavy part sets the two apart, as it must."""
    from madi.loops import kkt
    from madi.run.simulate import prepare

    moved = {}
    for weighting in ("mass", "none"):
        m = rssr.model()
        m["body2"].mass = 100.0  # heavy beside the others
        m["body2"].inertia = tuple(100.0 * x for x in m["body2"].inertia)
        solver = prepare(m, 0.1, step=1e-3, loops="pseudo-inverse", weighting=weighting, engine="plain")
        assert solver.closer.work.tally[kkt.PLAIN] == (weighting == "none")
        close, context = solver.closer.function("close-null-space")
        q, v = solver.system.q0, np.zeros(solver.system.nv)
        start = solver.system.q0
        q[0] += 1e-4  # R1 alone is turned: the loop is open
        close(0.0, q, v, np.zeros(len(v)), np.zeros(len(v)), context)
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


def test_old_names_are_answered_with_the_new_ones():
    m = four_bar()
    s = m.build()
    with pytest.raises(madi.InputError, match="'degrees_of_freedom'"):
        _ = s.mobility().freedoms
    with pytest.raises(madi.InputError, match="'assembly_mode'"):
        madi.assemble(m, branch=1)
    run = madi.simulate(m, 0.05, history=True)
    assert float(run.data["step_residual"].max()) >= 0.0
    with pytest.raises(madi.InputError, match="'step_residual'"):
        _ = run["step_opening"]
