"""Newmark and generalized-alpha: order, numerical damping, loops, drives, redundant rows, options."""

import numpy as np
import pytest

import madi
from madi.verify import andrews, bricard
from tests.mechanisms import four_bar_in_space


def governor():
    m = madi.Model("governor")
    m.body("shaft", 2.0, inertia=(0.1, 0.1, 0.05), position=(0, 0, 0.2))
    m.revolute("S", m.ground, "shaft", at=(0, 0, 0), axis=(0, 0, 1), v0=8.0)
    m.body("collar", 1.0, inertia=(0.01, 0.01, 0.01), position=(0, 0, 0.1))
    m.prismatic("P", "shaft", "collar", at=(0, 0, 0.1), axis=(0, 0, 1))
    for side, name in ((1, "left"), (-1, "right")):
        m.body(name, 0.5, inertia=(0.005, 0.005, 0.005), position=(side * 0.1, 0, 0.3))
        m.revolute(f"{name} pin", "shaft", name, at=(side * 0.02, 0, 0.4), axis=(0, 1, 0))
        m.distance(f"{name} rod", name, "collar", at=((side * 0.1, 0, 0.25), (side * 0.02, 0, 0.1)))
    m.joint_spring("spring", "P", 800.0, 5.0)
    return m


@pytest.mark.parametrize("jacobian", ["slow", "step", "once"])
@pytest.mark.parametrize("method", ["newmark", "generalized-alpha"])
def test_second_order_down_to_small_steps(method, jacobian):
    s = governor().build()
    exact = madi.simulate(s, 1.0, rtol=1e-12, times=[1.0], engine="jit").data["q"].values[-1]
    steps, errors = np.array([1e-2, 1e-3, 1e-4, 2e-5]), []
    for step in steps:
        run = madi.simulate(s, 1.0, step=step, method={method: {"jacobian": jacobian}}, times=[1.0], engine="jit")
        errors.append(np.max(np.abs(run.data["q"].values[-1] - exact)))
    slopes = np.diff(np.log(errors)) / np.diff(np.log(steps))
    assert np.all(np.abs(slopes - 2.0) < 0.15), errors


@pytest.mark.parametrize(
    "method",
    [madi.Newmark(), madi.GeneralizedAlpha(), madi.GeneralizedAlpha(spectral_radius=0.3), madi.GeneralizedAlpha(alpha=0.2)],
    ids=["newmark", "rho 0.8", "rho 0.3", "HHT"],
)  # fmt: skip
@pytest.mark.parametrize("name", ["andrews", "spatial"])
def test_second_order_on_loops(name, method):
    m = andrews.model() if name == "andrews" else four_bar_in_space()
    T, steps = (0.01, (4e-5, 2e-5, 1e-5)) if name == "andrews" else (1.0, (0.01, 0.005, 0.0025))
    s = m.build()
    exact = madi.simulate(s, T, method="dopri", rtol=1e-12, atol=1e-13, times=[T])
    errors = []
    for h in steps:
        run = madi.simulate(s, T, step=h, times=[T], engine="jit", method=method)
        errors.append([np.max(np.abs(run.data[x].values[-1] - exact.data[x].values[-1])) for x in ("q", "v")])
        assert run.data["violation"].values[-1] < 1e-10
    slopes = np.log2(np.array(errors[:-1]) / np.array(errors[1:]))
    np.testing.assert_allclose(slopes[-1], 2.0, atol=0.2)


def test_both_levels_hold_at_every_step_of_an_overconstrained_linkage():
    """Bricard's linkage has a redundant row: the matrix does not mind. Phi and Phi' are small before outputs are closed."""
    s = bricard.model().build()
    from madi.run.simulate import prepare

    solver = prepare(s, 0.5, step=1e-3, method="generalized-alpha", engine="jit")
    assert solver.run(False) == 0
    q, v = solver.memory.outputs.q_out[-s.nq :], solver.memory.outputs.v_out[-s.nv :]
    phi, rate, _, _ = s.constraint_terms(q, v, 0.5)
    assert np.max(np.abs(phi)) < 1e-11
    assert np.max(np.abs(rate)) < 1e-10
    run = solver.result()
    exact = madi.simulate(s, 0.5, method="dopri", rtol=1e-10, times=[0.5])
    np.testing.assert_allclose(run.data["q"].values[-1], exact.data["q"].values[-1], atol=1e-5)


@pytest.mark.parametrize("rho", [1.0, 0.8, 0.5, 0.0])
def test_stiff_vibrations_decay_by_the_spectral_radius(rho):
    """A spring far too stiff for the step: generalized-alpha takes it down by rho a step, and a soft one hardly at all."""
    m = madi.Model("two carts", gravity=(0, 0, 0))
    for name, stiffness in (("stiff", 1e10), ("soft", 1.0)):
        m.body(name, 1.0, inertia=(1, 1, 1))
        m.prismatic(f"{name} way", m.ground, name, at=(0, 0, 0), axis=(1, 0, 0), q0=1e-6 if name == "stiff" else 1.0)
        m.joint_spring(f"{name} spring", f"{name} way", stiffness=stiffness)
    run = madi.simulate(m, 6.28, step=0.01, method=madi.GeneralizedAlpha(spectral_radius=rho), engine="plain")
    energy = (
        run.data["force_potential"].sel(force="stiff spring").values + 0.5 * run.data["v"].sel(speed="stiff way").values ** 2
    )
    early, late = energy[295:305].max(), energy[495:505].max()
    if rho == 1.0:
        assert late == pytest.approx(early, rel=1e-6)
    else:
        # the amplitude's factor per step; both roots are rho there, so it is n rho^n
        assert late <= early
        if rho >= 0.5:
            assert (late / early) ** (1 / 400) == pytest.approx(rho, rel=0.02)
    assert run["soft way"][-1] == pytest.approx(1.0, abs=2e-3)


def test_hht_is_its_special_case():
    m, f, beta, gamma = madi.GeneralizedAlpha(alpha=0.1).scheme()
    assert (m, f, gamma) == (0.0, 0.1, 0.6)
    assert beta == pytest.approx((1 + 0.1) ** 2 / 4)
    m, f, beta, gamma = madi.GeneralizedAlpha(spectral_radius=1.0).scheme()
    assert (m, f, beta, gamma) == (0.5, 0.5, 0.25, 0.5)


@pytest.mark.parametrize("method", ["newmark", "generalized-alpha", "radau", "newmark-explicit"])
@pytest.mark.parametrize("cut", [False, True])
def test_drives_are_followed(method, cut):
    """A driven crank, in the tree or as a cut joint, and what it drives."""
    m = four_bar_in_space()
    m.forces.clear()
    m.joints[0].cut = cut or None
    m.drive("A", lambda t: 0.3 * madi.sin(3 * t))
    options = {"rtol": 1e-9} if method == "radau" else {"step": 1e-3}
    run = madi.simulate(m, 0.5, method=method, times=[0.25, 0.5], engine="jit", **options)
    other = madi.simulate(m, 0.5, method="dopri", rtol=1e-10, times=[0.25, 0.5], engine="jit")
    np.testing.assert_allclose(run.data["position"].values, other.data["position"].values, atol=2e-6)
    if not cut:
        np.testing.assert_allclose(run["A"], 0.3 * np.sin(3 * np.array([0.25, 0.5])), atol=1e-12)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": {"rk4": {"gamma": 0.6}}}, "'rk4' has no option 'gamma'"),
        ({"method": {"newmark": {"spectral_radius": 0.5}}}, "'newmark' has no option 'spectral_radius'"),
        ({"method": {"newmark": {"gamma": 0.3}}}, "from 0.5 to 1"),
        ({"method": {"generalized-alpha": {"spectral_radius": 2.0}}}, "from 0 to 1"),
        ({"method": {"generalized-alpha": {"spectral_radius": 0.5, "alpha": 0.1}}}, "not both"),
        ({"method": {"newmark": {"iterations": 0}}}, "from 1 to 100"),
        ({"method": {"newmark": {"jacobian": "never"}}}, "choose one of iteration"),
        ({"method": "newmark", "formulation": "cartesian"}, "works in joint coordinates"),
    ],
)
def test_bad_options_are_told(options, message):
    with pytest.raises(madi.InputError, match=message):
        madi.simulate(four_bar_in_space(), 0.1, step=1e-3, **options)


def test_engines_take_the_same_steps():
    """The whole step as one C function against the loop over kernels: the same iterations, the same digits."""
    s = four_bar_in_space().build()
    runs = [madi.simulate(s, 0.3, step=2e-3, method="generalized-alpha", engine=name) for name in ("jit", "compiled")]
    for key in ("newton_iterations", "jacobians", "steps", "evaluations"):
        assert runs[0].statistics[key] == runs[1].statistics[key]
    np.testing.assert_allclose(runs[0].data["v"].values, runs[1].data["v"].values, atol=1e-10)


def test_large_turns_have_no_singular_angle():
    """A free body tumbling through every attitude, Newmark's steps on the group: momentum and energy keep."""
    m = madi.Model("tumbler", gravity=(0, 0, 0))
    m.body("box", 2.0, inertia=(1.0, 2.0, 2.6))
    m.free("base", m.ground, "box", v0=(0.3, 0.1, -0.2, 0.4, 3.0, 0.5))
    exact = madi.simulate(m, 5.0, method="dopri", rtol=1e-11, times=[5.0])
    errors = []
    for h in (0.02, 0.01):
        run = madi.simulate(m, 5.0, step=h, method="newmark", times=[5.0], engine="jit")
        errors.append(np.max(np.abs(run.data["position"].values[-1] - exact.data["position"].values[-1])))
        errors.append(np.max(np.abs(run.data["v"].values[-1] - exact.data["v"].values[-1])))
    assert errors[1] / errors[3] == pytest.approx(4, rel=0.15)
    assert errors[0] / errors[2] == pytest.approx(4, rel=0.15)


def test_a_mechanism_may_come_to_rest():
    """Damped masses at their end: corrections are rounding there, which is no failure of Newton's."""
    m = madi.Model("rest", gravity=(0, 0, -9.81))
    for k in range(3):
        m.body(f"b{k}", 1.0 + k, inertia=(1, 1, 1))
        m.prismatic(f"p{k}", m.ground, f"b{k}", at=(0, 0, 0), axis=(1, 0, 0.1), q0=0.01)
        m.joint_spring(f"s{k}", f"p{k}", stiffness=1e4 * (1 + k) if k else 1e6, damping=200.0)
    run = madi.simulate(m, 5.0, step=1e-3, method="newmark", engine="jit")
    assert run.statistics["rejected"] == 0
    assert np.max(np.abs(run.data["v"].values[-1])) < 1e-9


def test_redundant_rows_keep_the_order_and_their_loads():
    """Bricard's linkage with the matrix made only when Newton is slow."""
    s = bricard.model().build()
    exact = madi.simulate(s, 0.6, method="dopri", rtol=1e-11, atol=1e-13, times=[0.6])
    errors = []
    for h in (8e-3, 4e-3, 2e-3):
        run = madi.simulate(s, 0.6, step=h, method="newmark", times=[0.6], engine="jit")
        errors.append(np.max(np.abs(run.data["q"].values[-1] - exact.data["q"].values[-1])))
    np.testing.assert_allclose(np.log2(np.array(errors[:-1]) / errors[1:]), 2.0, atol=0.2)
    from madi.run.simulate import prepare

    solver = prepare(s, 0.6, step=1e-3, method="generalized-alpha", engine="jit")
    solver.run(False)
    lam, exact_q = solver.memory.lam.copy(), exact.data["q"].values[-1]
    out = s._evaluate("multipliers", exact_q, exact.data["v"].values[-1], np.zeros(s.nv), 0.6, "plain")
    J = s.constraint_jacobian(exact_q)
    np.testing.assert_allclose(J.T @ lam, J.T @ out[s.nv :], atol=0.01 * np.max(np.abs(J.T @ lam)))  # what acts
    assert np.max(np.abs(lam)) < 10 * np.max(np.abs(out[s.nv :]))  # and of what does not, little
