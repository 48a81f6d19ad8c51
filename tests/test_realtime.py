"""P4: the tire, readable equations, batches, step times, and the 6x6 experiment."""

import numpy as np
import pytest
import sympy

import madi
from madi.papers import six_by_six
from madi.topology.parameters import changed
from madi.verify import andrews
from tests.mechanisms import random_state, random_tree

# ---- the tire -------------------------------------------------------------------------------------------------------


def rolling(road=None, **numbers):
    """One wheel under 200 kg, spinning about y, free in the plane and across it."""
    m = madi.Model("wheel")
    m.body("hub", 200.0, inertia=(2, 3, 2), position=(0, 0, 0.3))
    m.free("base", m.ground, "hub")
    given = {"stiffness": 2e5, "damping": 1e3, "slip_stiffness": 3e4, "cornering_stiffness": 4e4, "friction": 0.8} | numbers
    m.tire("tire", "hub", (0, 0, 0.3), (0, 1, 0), radius=0.3, road=road, **given)
    return m


def on_tire(m, q, v):
    """Force on the hub in ground axes, and its moment about the hub's centre, for the state (q, v)."""
    s, bare = m.build(frame="ground"), madi.Model("bare")
    bare.bodies, bare.joints, bare.ground = m.bodies, m.joints, m.ground
    zero = np.zeros(6)
    load = bare.build(frame="ground").inverse_dynamics(q, v, zero, engine="plain") - s.inverse_dynamics(
        q, v, zero, engine="plain"
    )
    return load[:3], load[3:]


LOW = np.array([0, 0, -0.01, 1, 0, 0, 0.0])  # pressed 10 mm into the road


def test_forces_of_slip():
    """Linear in small slip, on the friction circle in large; signs: braking slip brakes, side slip pushes back."""
    m, N, arm = rolling(), 2e5 * 0.01, 0.29
    V = np.hypot(10.0, 0.5)
    for slip in (1e-5, -1e-5):
        force, moment = on_tire(m, LOW, np.array([10.0, 0, 0, 0, 10.0 * (1 + slip) / arm, 0]))
        assert force[2] == pytest.approx(N)
        assert force[0] == pytest.approx(3e4 * 10 * slip / V, rel=1e-4)  # driving slip pushes forward
        assert moment[1] == pytest.approx(-arm * force[0])
        force, _ = on_tire(m, LOW, np.array([10.0, 10 * slip, 0, 0, 10.0 / arm, 0]))
        assert force[1] == pytest.approx(-4e4 * 10 * slip / V, rel=1e-4)
    force, _ = on_tire(m, LOW, np.array([10.0, 0, 0, 0, 0.0, 0]))  # locked
    assert force[0] == pytest.approx(-0.8 * N, rel=2e-3)
    force, _ = on_tire(m, LOW, np.array([10.0, 3.0, 0, 0, 0.0, 0]))  # sliding askew: both together
    assert np.hypot(force[0], force[1]) == pytest.approx(0.8 * N, rel=2e-3)
    assert np.hypot(force[0], force[1]) < 0.8 * N


@pytest.mark.parametrize("law", ["smooth", "fiala", "brush"])
@pytest.mark.parametrize("path", ["standstill", "reverse", "lift-off", "touch-down"])
def test_continuous_where_a_tire_is_delicate(path, law):
    """Through standstill, into reverse and off the road the forces are finite and do not jump."""
    m, forces = rolling(rolling_resistance=0.02, law=law, sliding_friction=0.6), []
    for x in np.linspace(-1, 1, 401):
        q, v = LOW.copy(), np.array([2.0, 0.1, 0, 0, 6.0, 0])
        if path in ("lift-off", "touch-down"):
            q[2] = 1e-3 * x
            v[2] = 0.0 if path == "lift-off" else -0.3
        else:
            v = np.array([0.05 * x, 0.01, 0, 0, 0.05 * x / 0.29 if path == "reverse" else 0.1, 0])
        force, moment = on_tire(m, q, v)
        forces.append([*force, *moment])
    forces = np.array(forces)
    assert np.isfinite(forces).all()
    assert np.max(np.abs(np.diff(forces, axis=0))) < 0.02 * np.max(np.abs(forces))


@pytest.mark.parametrize("law", ["fiala", "brush"])
def test_laws_that_slide_by_their_formulas(law):
    """Pure slip along and across against the papers' formulas, written out here; slope C at no slip; the limit beyond."""
    m, N, arm, mu, b = rolling(law=law, patch=0.08, low_speed=1e-6), 2e5 * 0.01, 0.29, 0.8, 0.08
    for k in (1e-4, 0.02, 0.05, 0.3):
        force, _ = on_tire(m, LOW, np.array([10.0, 0, 0, 0, 10.0 * (1 + k) / arm, 0]))
        F, z = 3e4 * k, 3e4 * k / (3 * mu * N)
        fiala = F if k < mu * N / 6e4 else mu * N - (mu * N) ** 2 / (4 * F)
        brush = mu * N * (3 * z - 3 * z**2 + z**3) if z < 1 else mu * N
        assert force[0] == pytest.approx(fiala if law == "fiala" else brush, rel=1e-9)
        force, moment = on_tire(m, LOW, np.array([10.0, -10 * k, 0, 0, 10.0 / arm, 0]))
        H, z = max(1 - 4e4 * k / (3 * mu * N), 0.0), min(4e4 * k / (3 * mu * N), 1.0)
        assert force[1] == pytest.approx(
            mu * N * (1 - H**3) if law == "fiala" else mu * N * (3 * z - 3 * z**2 + z**3), rel=1e-9
        )
        trail = b / 3 * (1 - z) ** 3 / (1 - z + z**2 / 3)
        aligning = -mu * N * b * (1 - H) * H**3 if law == "fiala" else -trail * force[1]
        assert moment[2] == pytest.approx(aligning, rel=1e-8, abs=1e-8)
    slope = on_tire(m, LOW, np.array([10.0, -1e-6, 0, 0, 10.0 / arm, 0]))[0][1] / 1e-7
    assert slope == pytest.approx(4e4, rel=1e-4)


def test_friction_that_falls_with_slip():
    m = rolling(law="fiala", sliding_friction=0.5, low_speed=1e-6)
    locked, _ = on_tire(m, LOW, np.array([10.0, 0, 0, 0, 0.0, 0]))  # slip 1: sliding friction
    N = 2000.0
    assert -locked[0] == pytest.approx(0.5 * N - (0.5 * N) ** 2 / (4 * 3e4), rel=1e-9)
    with pytest.raises(madi.InputError, match="choose one of smooth, fiala, brush"):
        rolling(law="magic")


def test_a_hill_holds_and_a_wheel_rolls_down():
    """On a slope of 10 % a locked wheel sticks (it creeps viscously), a free one accelerates as a rolling ring does."""
    road = madi.flat().polyline([(-1000, -100), (1000, 100)])
    m = rolling(road, damping=2e4)
    m.bodies[0].inertia = (5.0, 9.0, 5.0)
    m.joints[0].q0 = (0, 0, 0.001, 1, 0, 0, 0)
    run = madi.simulate(m, 2.0, method="radau", rtol=1e-7, times=[1.0, 2.0])
    a = np.diff(run.data["velocity"].values[:, 0, 0])[0]
    slope = np.arctan(0.1)
    expected = -9.81 * np.sin(slope) * np.cos(slope) / (1 + 9.0 / (200.0 * 0.29**2))
    assert a == pytest.approx(expected, rel=0.05)
    m = madi.Model("parked")
    m.body("car", 200.0, inertia=(2, 3, 2), position=(0, 0, 0.3))
    m.planar("base", m.ground, "car", at=(0, 0, 0.3), axis=(0, 1, 0), x_axis=(1, 0, 0))
    for k in (-1, 1):
        m.tire(f"tire{k}", "car", (0.5 * k, 0, 0.3 + 0.05 * k), (0, 1, 0), radius=0.3, stiffness=2e5, damping=4e3,
               slip_stiffness=3e4, road=road)  # fmt: skip
    run = madi.simulate(m, 3.0, method="radau", rtol=1e-7, times=[2.0, 3.0])
    creep = 200 * 9.81 * np.sin(slope) / (2 * 3e4 / 0.5)
    assert abs(np.diff(run.data["position"].values[:, 0, 0])[0]) == pytest.approx(creep, rel=0.1)


# ---- equations a person can read ------------------------------------------------------------------------------------


def double_pendulum():
    m = madi.Model("double pendulum")
    for k, name in enumerate("ab"):
        m.body(name, mass=1.0 + k, inertia=(0.05, 0.1, 0.06), position=(0, 0, -1 - k))
    m.revolute("A", m.ground, "a", at=(0, 0, 0), axis=(0, 1, 0))
    m.revolute("B", "a", "b", at=(0, 0, -1), axis=(0, 1, 0))
    m.joint_spring("s", "B", stiffness=5.0, damping=0.3)
    return m


def test_equations_of_the_double_pendulum_by_hand():
    e = double_pendulum().build().equations(["a.mass", "b.mass", "gravity.z", "s.stiffness"])
    ma, mb, g, k = (sympy.Symbol(name, real=True) for name in ("m_{a}", "m_{b}", "g_z", "k_{s}"))
    A, B = sympy.Symbol("q_{A}", real=True), sympy.Symbol("q_{B}", real=True)
    vA, vB = sympy.Symbol(r"\dot q_{A}", real=True), sympy.Symbol(r"\dot q_{B}", real=True)
    c, s = sympy.cos(B), sympy.sin(B)
    I = sympy.Rational(1, 10)
    M = sympy.Matrix([[ma + mb * (2 + 2 * c) + 2 * I, mb * (1 + c) + I], [mb * (1 + c) + I, mb + I]])
    P = sympy.Matrix([
        mb * s * (2 * vA * vB + vB**2) + g * ((ma + mb) * sympy.sin(A) + mb * sympy.sin(A + B)),
        -mb * s * vA**2 + g * mb * sympy.sin(A + B) - k * B - sympy.Rational(3, 10) * vB,
    ])  # fmt: skip
    for found, expected in ((e.mass_matrix, M), (e.right_side, P)):
        assert sympy.simplify(sympy.nsimplify(found - expected)) == sympy.zeros(*expected.shape)
    assert e.christoffel_symbols().keys() == {(0, 0, 1), (0, 1, 1), (1, 0, 0)}
    assert sympy.simplify(e.christoffel_symbols()[1, 0, 0] - mb * s) == 0
    assert e.pattern.tolist() == [["x", "x"], ["x", "c"]]
    assert e.operations["all"]["after"] <= e.operations["all"]["before"] <= e.operations["all"]["written_out"]
    assert r"\cos" in e.latex()
    assert "M(q)" in e.text()
    assert "<math" in e.page()


def test_equations_hold_with_loops_drives_and_random_trees():
    """M a + Phi_q^T lam = P for the accelerations of the engine; Christoffel's terms are P's part quadratic in v."""
    import casadi as ca

    rng = np.random.default_rng(5)
    for m in (
        andrews.model(),
        random_tree(rng, 4, kinds=("revolute", "prismatic", "universal", "cylindrical"), forces=True),
    ):
        s = m.build()
        q, v, _ = random_state(rng, s, 0.5)
        if s.n_constraints:
            q, v = s.start.q, 0 * v
        e = s.equations()
        value = ca.Function("f", [*e.inputs], [ca.densify(e._M), e._P, ca.densify(e._phi_q)])
        M, P, J = (np.array(x) for x in value(0.0, q, v, np.zeros(s.nv)))
        out = s._evaluate("multipliers" if s.n_constraints else s.entry(), q, v, np.zeros(s.nv), 0.0, "plain")
        lack = M @ out[: s.nv] + J.T @ out[s.nv :] - P.reshape(-1)
        assert np.max(np.abs(lack)) < 1e-9 * max(1.0, np.max(np.abs(P)))
        at_rest, double = (np.array(value(0.0, q, x, np.zeros(s.nv))[1]).reshape(-1) for x in (0 * v, 2 * v))
        quadratic = 0.5 * (double - 2 * P.reshape(-1) + at_rest)  # P(2v) - 2 P(v) + P(0) = 2 x the quadratic part
        if not s.n_constraints and not any(f.kind == "spring_damper" for f in m.forces):
            np.testing.assert_allclose(-np.einsum("ijk,j,k->i", e.christoffel(q), v, v), quadratic, atol=1e-9)
    m = double_pendulum()
    m.drive("A", lambda t: 0.5 * madi.sin(3 * t))
    s = m.build()
    q, v = np.array([0.5 * np.sin(0.9), 0.4]), np.array([1.5 * np.cos(0.9), -0.2])
    a = s.forward_dynamics(q, v, t=0.3)
    e = s.equations()
    value = ca.Function("f", [*e.inputs], [ca.densify(e._M), e._P])
    M, P = (np.array(x) for x in value(0.3, q, v, np.zeros(2)))
    assert (M @ a - P.reshape(-1))[1] == pytest.approx(0, abs=1e-12)


def test_christoffel_needs_coordinates_and_long_equations_are_told():
    m = madi.Model("ball")
    m.body("b", 1.0, inertia=(1, 2, 3))
    m.spherical("S", m.ground, "b", at=(0, 0, 1))
    with pytest.raises(madi.InputError, match="no rates of coordinates"):
        m.build().equations().christoffel([1, 0, 0, 0])
    e = six_by_six.vehicle(tires=False).build().equations()
    assert not e.readable
    with pytest.raises(madi.InputError, match="too many to read"):
        e.latex()
    assert "export c" in e.text()
    assert np.sum(e.pattern == "0") > 200


# ---- many runs ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("engine", ["jit", "compiled"])
@pytest.mark.parametrize("method", ["rk4", "newmark"])
def test_a_batch_is_its_single_runs(engine, method):
    m = double_pendulum()
    rng = np.random.default_rng(3)
    values = {"a.mass": rng.uniform(0.5, 2, 7), "s.stiffness": rng.uniform(1, 9, 7), "B.at.z": rng.uniform(-1.3, -0.8, 7)}
    starts = {"A": rng.uniform(-1, 1, 7)}
    found = madi.simulate_many(m, values, 0.4, q0=starts, step=0.01, method=method, engine=engine, workers=2)
    assert dict(found.sizes) == {"run": 7, "time": 41, "coordinate": 2, "speed": 2}
    assert not found["message"].values.any()
    np.testing.assert_array_equal(found["a.mass"].values, values["a.mass"])
    for k in (0, 3, 6):
        drawn = changed(m, {name: float(v[k]) for name, v in values.items()})
        run = madi.simulate(drawn, 0.4, q0={"A": starts["A"][k]}, step=0.01, method=method, engine="jit")
        np.testing.assert_allclose(found["q"].values[k], run.data["q"].values, atol=1e-12)


def test_same_numbers_under_other_names_are_another_model():
    """Compiled code is kept by what its parameters move, not by what they are called."""
    found = []
    for names in ("ab", "ba"):
        m = madi.Model("names", gravity=(0, 0, 0))
        for k, name in enumerate(names):
            m.body(name, 1.0 + k, inertia=(1, 1, 1))
            m.prismatic(f"p{k}", m.ground, name, at=(0, 0, 0), axis=(1, 0, 0), q0=0.1)
            m.joint_spring(f"s{name}", f"p{k}", stiffness=100.0)
        found.append(madi.simulate_many(m, {"sa.stiffness": [100.0, 400.0]}, 0.5, step=0.01, engine="compiled"))
    for k, batch in enumerate(found):
        w = np.sqrt(400.0 / (1.0 + k))
        assert batch["q"].values[1, -1, k] == pytest.approx(0.1 * np.cos(0.5 * w), abs=1e-5)


def test_batches_with_loops_failures_and_other_results():
    from tests.mechanisms import four_bar_in_space

    m = four_bar_in_space()
    found = madi.simulate_many(m, {"crank.mass": [1.0, 1.5]}, 0.1, step=1e-3, method="generalized-alpha",
                               keep=("q", "position", "energy"), engine="jit")  # fmt: skip
    assert found["position"].sizes == {"run": 2, "time": 101, "body": 3, "axis": 3}
    run = madi.simulate(changed(m, {"crank.mass": 1.5}), 0.1, step=1e-3, method="generalized-alpha", engine="jit")
    np.testing.assert_allclose(found["q"].values[1], run.data["q"].values, atol=1e-9)
    # run 1 blows up, run 2 goes on
    m = double_pendulum()
    found = madi.simulate_many(
        m, {"s.stiffness": [5.0, 1e9, 6.0]}, 0.5, step=0.01, method="rk4", q0={"B": 0.5}, engine="jit"
    )
    assert "beyond all bounds" in str(found["message"].values[1])
    assert not found["message"].values[[0, 2]].any()
    assert np.isnan(found["q"].values[1, -1]).all()
    assert np.isfinite(found["q"].values[[0, 2]]).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: madi.simulate_many(m), "at least one list"),
        (lambda m: madi.simulate_many(m, {"a.mass": [1, 2], "b.mass": [1, 2, 3]}), "different lengths"),
        (lambda m: madi.simulate_many(m, {"a.mass": ["x"]}), "must be a list of numbers"),
        (lambda m: madi.simulate_many(m, {"a.mass": [1, np.nan]}), "not finite"),
        (lambda m: madi.simulate_many(m, ["a.mass"]), "give parameters as"),
        (lambda m: madi.simulate_many(m, {"a.mass": [1, 2]}, workers=-1), "from 1 on"),
        (lambda m: madi.simulate_many(m, {"a.mass": [1, 2]}, keep="wrong", step=0.1), "there is no 'wrong'"),
        (lambda m: madi.simulate_many(m, {"a.mass": [1, 2]}, method="ida"), "one at a time"),
        (lambda m: madi.realtime(m, step=1e-3, method="dopri"), "chooses its own steps"),
        (lambda m: madi.realtime(m, step=1e-3, duration="long"), "duration='long'"),
    ],
)
def test_wrong_batches_are_told(call, message):
    with pytest.raises(madi.InputError, match=message):
        call(double_pendulum())


def test_a_negative_mass_in_a_batch_is_a_defect():
    with pytest.raises(madi.ModelError, match="mass"):
        madi.simulate_many(double_pendulum(), {"a.mass": [1.0, -5.0]}, 0.1, step=0.01)


# ---- step times, and the experiment ---------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["newmark", "rk4"])
def test_realtime_counts_and_times_every_step(method):
    found = madi.realtime(double_pendulum(), step=1e-3, duration=0.5, method=method, engine="jit")
    assert found["steps"] == 500
    assert 0 < found["mean"] <= found["p99.9"] <= found["max"]
    assert found["factor"] == pytest.approx(1e-3 / found["mean"], rel=1e-9)
    paced = madi.realtime(double_pendulum(), step=0.01, duration=0.2, method=method, paced=True, engine="jit")
    assert paced["steps"] == 20
    assert paced["paced"]


def test_the_6x6_stands_rolls_and_keeps_its_peaks():
    """At rest on its springs; peaks over the bump at 20 ms within 5 % of the tight run; real time many times over."""
    m = six_by_six.experiment()
    s = m.build()
    still = s.inverse_dynamics(s.q0, 0 * s.v0, 0 * s.v0)
    assert np.max(np.abs(still)) < 1e-6
    loads = s.powers(s.q0, s.v0, engine="plain")
    total = sum(loads[f"tire_{side}{k}"]["value"] for side in ("left", "right") for k in (1, 2, 3))
    assert total == pytest.approx((2575 + 6 * (227.38 + 25)) * 9.81, rel=1e-9)
    tight = madi.simulate(s, 3.0, method="dopri", rtol=1e-8, times=np.linspace(0, 3, 3001))
    peaks = np.max(np.abs(six_by_six.chassis(tight)), axis=0)
    assert np.all(peaks > [5, 10])
    for h, options in ((0.02, six_by_six.REAL_TIME), (0.02, {}), (0.01, six_by_six.REAL_TIME)):
        run = madi.simulate(s, 3.0, step=h, method="newmark", engine="jit", **options)
        a = six_by_six.chassis(run)
        np.testing.assert_allclose(np.max(np.abs(a), axis=0), peaks, rtol=0.05)
        assert np.max(np.abs(a[run.data["time"].values < 1.0])) < 1e-10
    noisy = six_by_six.chassis(madi.simulate(s, 1.0, step=0.02, method="rk4", engine="jit"))
    assert np.max(np.abs(noisy)) > 0.05  # RK4 at 20 ms stirs where nothing should move


def test_explicit_newmark_does_on_the_6x6_what_p4_says():
    """10 ms: peaks that jump somewhat; 20 ms: it runs, with false peaks and noise on the level road. The full predictor,
    whose limit is half as far where damping decides, is lost there."""
    s = six_by_six.experiment().build()
    tight = madi.simulate(s, 3.0, method="dopri", rtol=1e-8, times=np.linspace(0, 3, 3001))
    peaks = np.max(np.abs(six_by_six.chassis(tight)), axis=0)
    off, noise = {}, {}
    for step in (0.01, 0.02):
        run = madi.simulate(s, 3.0, step=step, method="newmark-explicit", engine="jit")
        a = six_by_six.chassis(run)
        off[step] = np.max(np.abs(np.max(np.abs(a), axis=0) / peaks - 1))
        noise[step] = np.max(np.abs(a[run.data["time"].values < 1.0]))
    assert 0.02 < off[0.01] < 0.08 < off[0.02] < 0.25
    assert noise[0.01] < 0.15 < noise[0.02] < 1.0
    with pytest.raises(madi.RunError, match="grew beyond all bounds"):
        madi.simulate(s, 3.0, step=0.02, method="newmark-explicit-full", engine="jit")


def test_rk4_at_20_ms_shows_p4_s_false_peaks_with_a_stronger_damper():
    s = six_by_six.experiment(six_by_six.STIFFER * six_by_six.DAMPER).build()
    tight = madi.simulate(s, 3.0, method="dopri", rtol=1e-8, times=np.linspace(0, 3, 3001))
    peaks = np.max(np.abs(six_by_six.chassis(tight)), axis=0)
    for step, low, high in ((0.01, 0.0, 0.05), (0.02, 0.2, 10.0)):
        a = six_by_six.chassis(madi.simulate(s, 3.0, step=step, method="rk4", engine="jit"))
        assert low < np.max(np.abs(np.max(np.abs(a), axis=0) / peaks - 1)) < high


def test_the_chassis_frame_takes_fewer_operations():
    """Load-proof evidence for P4's Table 4: counted from the traces."""
    for tires, most in ((True, 0.85), (False, 0.45)):  # what tires take from the road is the same in both
        assert six_by_six.operations("base", tires) < most * six_by_six.operations("ground", tires)


def test_both_frames_of_the_6x6_are_one_motion():
    m = six_by_six.experiment()
    runs = [madi.simulate(m, 2.0, step=0.005, method="newmark", frame=frame, engine="jit") for frame in ("base", "ground")]
    np.testing.assert_allclose(runs[0].data["q"].values, runs[1].data["q"].values, atol=1e-8)


@pytest.mark.slow
def test_the_report_of_the_6x6(tmp_path):
    found = six_by_six.report(tmp_path)
    assert len(found["tables"]) == 4
    assert {entry["verdict"] for entry in found["claims"]} <= {"holds", "depends on the damping"}
    assert (tmp_path / "six_by_six.png").exists()
    assert found["values"]["the same in Exudyn, m/s²"] == pytest.approx(
        found["values"]["largest vertical acceleration, m/s²"], rel=0.02
    )
    assert found["values"]["the same in Exudyn, rad/s²"] == pytest.approx(
        found["values"]["largest pitch acceleration, rad/s²"], rel=0.02
    )
