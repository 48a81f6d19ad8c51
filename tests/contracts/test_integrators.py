"""Every integrator, as it is registered: fitted order, outputs between steps, pausing, rotations of unit length."""

import numpy as np
import pytest

import madi
from madi.integrate import METHODS
from madi.integrate.memory import PAUSED
from tests.mechanisms import random_tree


def problem():
    """A free base, a ball joint and a hinge, tied by a spring: every kind of coordinate, a smooth motion."""
    rng = np.random.default_rng(4)
    m = random_tree(rng, 3, kinds=("revolute", "spherical"), moving=True)
    m.gravity = (0, 0, -3)
    m.spring_damper("s", "b2", m.ground, at=((0, 0, 1), (1, 0, 0)), stiffness=5.0, damping=0.3)
    s = m.build()
    v0 = 0.8 * rng.normal(size=s.nv)
    return s, v0


def final(s, v0, T=2.0, **options):
    run = madi.simulate(s, T, start=(None, v0), times=[T], **options)
    q = run.data["q"].values[-1]
    return np.concatenate([q * np.sign(q[3] or 1), run.data["v"].values[-1]]), run


@pytest.fixture(scope="module")
def reference():
    """By SciPy's DOP853 over quaternions as plain numbers: neither our integrators nor our charts."""
    from scipy.integrate import solve_ivp

    s, v0 = problem()
    joints = [(s.q_slice(j.name), s.v_slice(j.name), j.kind) for j in s.frozen.joints]

    def rates(t, y):
        q, v = y[: s.nq].copy(), y[s.nq :]
        out = np.zeros(s.nq)
        for at, columns, kind in joints:
            if kind == "revolute":
                out[at] = v[columns]
                continue
            p, spin = q[at][-4:], v[columns][-3:]
            q[at.stop - 4 : at.stop] = p = p / np.linalg.norm(p)
            w, x, y_, z = p
            E = np.array([[-x, -y_, -z], [w, -z, y_], [z, w, -x], [-y_, x, w]])
            out[at.stop - 4 : at.stop] = 0.5 * E @ spin
            if kind == "free":
                R = np.array([[1 - 2 * (y_ * y_ + z * z), 2 * (x * y_ - w * z), 2 * (x * z + w * y_)],
                              [2 * (x * y_ + w * z), 1 - 2 * (x * x + z * z), 2 * (y_ * z - w * x)],
                              [2 * (x * z - w * y_), 2 * (y_ * z + w * x), 1 - 2 * (x * x + y_ * y_)]])  # fmt: skip
                out[at.start : at.start + 3] = R @ v[columns][:3]
        return np.concatenate([out, s.forward_dynamics(q, v, engine="jit")])

    solved = solve_ivp(rates, (0.0, 2.0), np.concatenate([s.q0, v0]), method="DOP853", rtol=1e-13, atol=1e-14)
    q = solved.y[: s.nq, -1].copy()
    for at, _, kind in joints:
        if kind != "revolute":
            q[at.stop - 4 : at.stop] /= np.linalg.norm(q[at.stop - 4 : at.stop])
    return s, v0, np.concatenate([q * np.sign(q[3] or 1), solved.y[s.nq :, -1]])


STEPS = {
    "rk4": (0.02, 0.01, 0.005),
    "ab3": (0.004, 0.002, 0.001),
    "abm": (0.005, 0.0025, 0.00125),
    "dopri": (0.025, 0.0125, 0.00625),
    "newmark-explicit": (0.0025, 0.00125, 0.000625),
    "newmark-explicit-full": (0.01, 0.005, 0.0025),
    "newmark": (0.02, 0.01, 0.005),
    "generalized-alpha": (0.02, 0.01, 0.005),
    "radau": (0.1, 0.05, 0.025),
    "time-stepping": (0.02, 0.01, 0.005),
}
OURS = [name for name, method in METHODS.items() if method.outside is None]


def tight(name, step, **tolerances):
    """A step for methods that take one, else tolerances."""
    return tolerances if METHODS[name].adaptive else {"step": step}


@pytest.mark.parametrize("name", OURS)
def test_order(name, reference):
    s, v0, exact = reference
    errors = []
    for h in STEPS[name]:
        # an adaptive method with no tolerance to speak of takes its largest step throughout
        options = {"max_step": h, "rtol": 0.9, "atol": 1e6} if name == "dopri" else {"step": h}
        state, _ = final(s, v0, method=name, **options)
        errors.append(np.max(np.abs(state - exact)))
    slopes = np.diff(np.log(errors)) / np.diff(np.log(STEPS[name]))
    assert slopes[-1] == pytest.approx(METHODS[name].order, abs=0.2), (errors, slopes)


@pytest.mark.parametrize("name", ["dopri", "abm", "radau", "ida", "cvode"])
def test_tolerance_is_kept(name, reference):
    s, v0, exact = reference
    work = []
    for rtol in (1e-5, 1e-8, 1e-11 if METHODS[name].outside is None else 1e-10):
        state, run = final(s, v0, method=name, rtol=rtol, atol=rtol)
        assert np.max(np.abs(state - exact)) < (200 if METHODS[name].outside is None else 3000) * rtol
        work.append(run.statistics["evaluations"])
    assert work[0] < work[1] < work[2] < 200 * work[0]


@pytest.mark.parametrize("name", list(METHODS))
def test_outputs_between_steps_and_unit_quaternions(name, reference):
    s, v0, _ = reference
    times = np.array([0.0, 0.0313, 0.5, 0.77777, 0.9999])
    accurate = 3e-6 if METHODS[name].order > 2 else 3e-5
    options = tight(name, 1e-3 if METHODS[name].order > 1 else 1e-5, rtol=1e-9, atol=1e-9)
    run = madi.simulate(s, 1.0, start=(None, v0), method=name, times=times, **options)
    for k, t in enumerate(times[1:], start=1):
        exact, _ = final(s, v0, T=t, method="dopri", rtol=1e-12, atol=1e-13)
        q = run.data["q"].values[k]
        state = np.concatenate([q * np.sign(q[3]), run.data["v"].values[k]])
        assert np.max(np.abs(state - exact)) < accurate
        assert np.linalg.norm(q[3:7]) == pytest.approx(1, abs=1e-13)


@pytest.mark.parametrize("name", OURS)
def test_a_paused_run_equals_an_unbroken_one(name, reference):
    """The loop returns after `limit` steps and goes on where it was, to the last bit."""
    from madi.run.solver import Solver, Steps

    s, v0, _ = reference
    results = []
    for limit in (10**6, 7):
        method, step = METHODS[name](), None if METHODS[name].adaptive else 1e-3
        steps = Steps(0.5, step=step, rtol=1e-7, atol=1e-9)
        solver = Solver(s, method, steps, np.linspace(0, 0.5, 11), "jit", "recursive")
        solver.start(s.q0, v0)
        loop, m = solver.connect(), solver.memory
        m.upto, m.end = solver.segments()[0]
        m.limit, calls = limit, 1
        while loop(m) == PAUSED:
            m.limit, calls = limit, calls + 1
        assert (calls > 1) == (limit == 7)
        m.limit = 0
        results.append((m.outputs.q_out.copy(), m.outputs.v_out.copy(), m.int_memory.copy(), m.real_memory.copy()))
    for one, two in zip(*results, strict=True):
        np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("name", OURS)
def test_plain_and_jit_loops_agree(name, reference):
    s, v0, _ = reference
    options = tight(name, 5e-3, rtol=1e-6)
    one, run1 = final(s, v0, T=0.1, method=name, engine="plain", **options)
    two, run2 = final(s, v0, T=0.1, method=name, engine="jit", **options)
    np.testing.assert_allclose(one, two, atol=1e-9)
    for key in ("evaluations", "steps", "rejected"):
        assert run1.statistics[key] == run2.statistics[key]


def test_steady_turn_is_exact():
    """A ball turning at constant speed: one long step on the manifold is as good as many."""
    m = madi.Model("ball", gravity=(0, 0, 0))
    ball = m.body("ball", mass=1, inertia=(1, 1, 1))
    m.spherical("A", m.ground, ball, at=(0, 0, 0), v0=(0.3, -0.8, 1.1))
    run = madi.simulate(m, 2.0, step=0.5, method="rk4")
    w = np.array([0.3, -0.8, 1.1])
    angle = np.linalg.norm(w) * 2.0
    expected = np.append(np.cos(angle / 2), np.sin(angle / 2) * w / np.linalg.norm(w))
    q = run.data["q"].values[-1]
    np.testing.assert_allclose(q * np.sign(q @ expected), expected, atol=1e-13)


def test_a_last_step_of_another_length_and_counters():
    m = madi.Model("spring", gravity=(0, 0, 0))
    cart = m.body("cart", mass=1, inertia=(1, 1, 1))
    m.prismatic("A", m.ground, cart, at=(0, 0, 0), axis=(1, 0, 0), q0=1.0)
    m.joint_spring("k", "A", stiffness=4.0)
    run = madi.simulate(m, 1.0, step=0.03, method="rk4")
    assert run.data["time"].values[-1] == 1.0
    assert run.statistics["steps"] == 34
    assert run.statistics["evaluations"] == 4 * 34 + 1
    assert run["A"][-1] == pytest.approx(np.cos(2.0), abs=1e-6)


def test_first_step_is_taken_as_given(reference):
    s, v0, exact = reference
    slow, long_start = final(s, v0, method=madi.DormandPrince(first_step=1e-9), rtol=1e-8)
    _, free_start = final(s, v0, method="dopri", rtol=1e-8)
    assert long_start.statistics["steps"] > free_start.statistics["steps"] + 5
    assert np.max(np.abs(slow - exact)) < 1e-5


def oscillator(damping):
    """x'' + 2 D x' + x = 0 with a unit mass on a slide."""
    m = madi.Model("oscillator", gravity=(0, 0, 0))
    m.body("bob", 1.0, inertia=(1, 1, 1))
    m.prismatic("x", m.ground, "bob", at=(0, 0, 0), axis=(1, 0, 0))
    m.joint_spring("s", "x", stiffness=1.0, damping=2.0 * damping)
    return m.build()


@pytest.mark.parametrize("name, part", [("newmark-explicit", 0.5), ("newmark-explicit-full", 1.0)])
@pytest.mark.parametrize("damping", [0.0, 0.05, 0.5, 2.0])
def test_explicit_newmark_is_stable_to_the_limit_it_states(name, part, damping):
    """Just below h w0 = 2 (sqrt(1 + (2 p D)^2) - 2 p D) nothing grows, just above it does; and a step is the amplification
    matrix of (x, h v, h^2 a) with the predictor v + p h a."""
    s, limit = oscillator(damping), 2 * (np.sqrt(1 + (2 * part * damping) ** 2) - 2 * part * damping)
    for h, grows in ((0.98 * limit, False), (1.02 * limit, True)):
        run = madi.simulate(s, 120 * h, step=h, method=name, start=([1.0], [0.3]), engine="jit")
        size = np.abs(run["x"])
        assert (np.max(size[80:]) > 1.5 * np.max(size[40:80])) == grows
        place = np.array([1.0, 1.0, 0.5])
        force = -h * h * place - 2 * damping * h * np.array([0.0, 1.0, part])
        matrix = np.array([place, [0.0, 1.0, 0.5] + 0.5 * force, force])
        state = np.array([1.0, 0.3 * h, -h * h * (1.0 + 2 * damping * 0.3)])
        for k in range(5):
            assert run["x"][k] == pytest.approx(state[0], rel=1e-9, abs=1e-12)
            state = matrix @ state


@pytest.mark.parametrize("name, damping, order", [
    ("newmark-explicit", 0.0, 2), ("newmark-explicit", 0.2, 1), ("newmark-explicit-full", 0.0, 2),
    ("newmark-explicit-full", 0.2, 2),
])  # fmt: skip
def test_order_of_explicit_newmark_with_and_without_damping(name, damping, order):
    s, t = oscillator(damping), 3.0
    w = np.sqrt(1 - damping**2)
    exact = np.exp(-damping * t) * (np.cos(w * t) + damping / w * np.sin(w * t))
    errors = [
        abs(madi.simulate(s, t, step=h, method=name, start=([1.0], [0.0]), engine="jit")["x"][-1] - exact)
        for h in (0.02, 0.01, 0.005)
    ]
    np.testing.assert_allclose(np.log2(np.divide(errors[:-1], errors[1:])), order, atol=0.15)


@pytest.mark.parametrize("name", ["abm", "dopri"])
def test_outputs_before_a_drive_s_jump_know_nothing_of_it(name):
    """The impulse acts at 0.7 s; up to there the motion is that of the drive without its jump."""

    def cart(jump):
        m = madi.Model("cart")
        m.body("c", 1.0, inertia=(0.1, 0.1, 0.1))
        m.body("b", 1.0, inertia=(0.05, 0.05, 0.05), position=(0, 0, -0.5))
        m.prismatic("X", m.ground, "c", at=(0, 0, 0), axis=(1, 0, 0))
        m.revolute("A", "c", "b", at=(0, 0, 0), axis=(0, 1, 0), q0=0.3)
        m.drive("X", (lambda t: madi.where(t < 0.7, 0.2 * t, 0.14 + 1.5 * (t - 0.7))) if jump else (lambda t: 0.2 * t))
        return m

    times = np.linspace(0, 0.6995, 1400)
    found, wanted = (madi.simulate(cart(jump), 1.0, method=name, rtol=1e-9, times=times) for jump in (True, False))
    np.testing.assert_allclose(found["A.v"], wanted["A.v"], atol=1e-6)


@pytest.mark.parametrize("name", ["rk4", "ab3", "abm"])
def test_outputs_between_fixed_steps_are_as_good_as_cubics(name, reference):
    """Of fourth order with quaternions too: halving the step takes the error between steps down by eight at least."""
    s, v0, _ = reference
    errors = []
    for h in (8e-3, 4e-3):
        times = np.round(np.arange(1, 20) * 8e-3 + 0.4 * h, 12)
        run = madi.simulate(s, 0.2, start=(None, v0), method=name, step=h, times=times)
        exact = madi.simulate(s, 0.2, start=(None, v0), method="dopri", rtol=1e-12, atol=1e-13, times=times)
        errors.append(np.max(np.abs(run.data["v"].values - exact.data["v"].values)))
    assert errors[1] < errors[0] / 6.5


@pytest.mark.parametrize("options", [{"rtol": 1e-6}, {"step": 0.02}])
def test_a_step_of_abm_that_does_not_arrive_leaves_no_outputs(options):
    """A slider-crank driven beyond its reach stops where its loop cannot be closed; what was written is closed, finite."""
    m = madi.Model("reach")
    for name, x in (("a", 0.25), ("b", 0.75)):
        m.body(name, 1.0, inertia=(0.02, 0.02, 0.02), position=(x, 0, 0.1))
    m.revolute("A", m.ground, "a", at=(0, 0, 0), axis=(0, 1, 0))
    m.revolute("B", "a", "b", at=(0.5, 0, 0.2), axis=(0, 1, 0))
    m.body("d", 1.0, inertia=(0.02, 0.02, 0.02), position=(1, 0, 0))
    m.revolute("C", "b", "d", at=(1, 0, 0), axis=(0, 1, 0))
    m.prismatic("D", m.ground, "d", at=(1, 0, 0), axis=(1, 0, 0), cut=False)
    m.drive("D", lambda t: 0.2 * t)  # the links reach 1.077 m: 0.385 s
    with pytest.raises(madi.RunError) as caught:
        madi.simulate(m, 1.0, method="abm", times=np.linspace(0, 1, 2001), **options)
    data = caught.value.run.data
    assert 0.3 < float(data["time"][-1]) < 0.386
    assert np.isfinite(data["position"].values).all()
    assert float(data["violation"].max()) < 1e-9
