"""Forces by the user's own laws: actuators and formulas between two points, tables on joints, and how tables go on between
their points."""

import numpy as np
import pytest

import madi
from madi.papers import five_dof

LINE = ((0.1, 0, 0), (0.9, 0.2, 0.1))
STIFFNESS, DAMPING, LENGTH = 40.0, 3.0, 0.7


def laws():
    def formula(length, rate, t):
        return STIFFNESS * (length - LENGTH) + DAMPING * rate

    def branch(rate, length):  # by name, in any order; a branch cannot be traced
        return STIFFNESS * (length - LENGTH) + DAMPING * rate if length > 0 else 0.0

    return {
        "traced": formula, "in Python": madi.in_python(formula), "with a branch": branch,
        "by order": lambda x, y: STIFFNESS * (x - LENGTH) + DAMPING * y,
        "of the state": lambda length, q, v, rate: STIFFNESS * (length - LENGTH) + DAMPING * rate + 0 * q["A"] * v["A"],
    }  # fmt: skip


def arm(add):
    """A pendulum in space on a moving base, an element between them."""
    m = madi.Model("arm")
    base = m.body("base", 2.0, inertia=(0.1, 0.2, 0.3))
    m.free("base", m.ground, base, v0=(0.1, 0, 0.2, 0.3, 0.1, 0))
    bob = m.body("bob", 1.0, inertia=(0.02, 0.03, 0.01), position=(0.9, 0, 0))
    m.revolute("A", base, bob, at=(0.5, 0, 0), axis=(0, 1, 0), v0=0.7)
    add(m)
    return m


@pytest.mark.filterwarnings("ignore::madi.errors.MadiWarning")
@pytest.mark.parametrize("name", list(laws()))
def test_a_law_by_formula_is_the_spring_and_damper_it_describes(name):
    wanted = arm(
        lambda m: m.spring_damper("f", "base", "bob", LINE, stiffness=STIFFNESS, damping=DAMPING, free_length=LENGTH)
    )
    drawn = arm(lambda m: m.two_point_force("f", "base", "bob", LINE, laws()[name]))
    a, b = wanted.build(), drawn.build()
    rng = np.random.default_rng(2)
    for _ in range(4):
        q = a.q0 + np.concatenate([0.1 * rng.normal(size=3), np.zeros(4), 0.3 * rng.normal(size=1)])
        v = rng.normal(size=a.nv)
        exact = a.forward_dynamics(q, v, engine="plain")
        for engine in ("plain", "jit"):
            np.testing.assert_allclose(b.forward_dynamics(q, v, engine=engine), exact, rtol=1e-11, atol=1e-11)
        assert b.powers(q, v)["f"]["value"] == pytest.approx(a.powers(q, v)["f"]["value"], rel=1e-11)
        assert b.powers(q, v)["f"]["power"] == pytest.approx(a.powers(q, v)["f"]["power"], rel=1e-11)
    times = np.linspace(0, 1, 11)
    run = madi.simulate(wanted, 1.0, rtol=1e-9, times=times)
    for options in ({}, {"formulation": "cartesian"}, {"frame": "ground"}, {"method": "radau"}):
        other = madi.simulate(drawn, 1.0, rtol=1e-9, times=times, engine="jit", **options)
        np.testing.assert_allclose(other.data["position"], run.data["position"], atol=1e-7)


def test_an_actuator_does_the_work_it_says():
    """Two masses of 2 and 3 kg, 1 m apart, pulled together by 6 N: (1/2 + 1/3) 6 = 5 m/s2; its work is their energy."""
    m = madi.Model("rams", gravity=(0, 0, 0))
    for name, mass, x in (("a", 2.0, 0.0), ("b", 3.0, 1.0)):
        m.body(name, mass, inertia=(1, 1, 1), position=(x, 0, 0))
        m.prismatic(name, m.ground, name, at=(x, 0, 0), axis=(1, 0, 0))
    m.two_point_force("ram", "a", "b", ((0, 0, 0), (1, 0, 0)), 6.0)
    run = madi.simulate(m, 0.5, rtol=1e-10)
    assert run["b.x"][-1] - run["a.x"][-1] == pytest.approx(1.0 - 0.5 * 5.0 * 0.25, abs=1e-9)
    assert run["energy"][-1] - run["energy"][0] == pytest.approx(6.0 * 0.5 * 5.0 * 0.25, rel=1e-9)
    m["ram"].value = lambda t: 12.0 * t  # the same impulse until 1 s: v' of the distance is 10 t
    run = madi.simulate(m, 0.5, rtol=1e-10)
    assert run["b.x"][-1] - run["a.x"][-1] == pytest.approx(1.0 - 10.0 * 0.5**3 / 6, abs=1e-9)


def test_an_active_suspension(tmp_path):
    """P0's spring-damper-actuator: a skyhook damper beside the seat's passive spring takes out most of the seat's swing, and
    the file of the model is the model."""
    passive = madi.simulate(five_dof.model(), 2.5, rtol=1e-8)
    m = five_dof.model()
    at = m["seat spring"].at
    m.two_point_force("actuator", "chassis", "seat", at, lambda v: 2000.0 * (v["chassis.y"] + v["seat"]))
    active = madi.simulate(m, 2.5, rtol=1e-8)
    swing = [np.ptp(run["seat.vz"]) for run in (passive, active)]
    assert swing[1] < 0.7 * swing[0]
    again = madi.load(m.save(tmp_path / "active.yaml"))
    other = madi.simulate(again, 2.5, rtol=1e-8)
    np.testing.assert_allclose(other.data["q"], active.data["q"], atol=1e-12)


def test_laws_in_files(tmp_path):
    text = """
madi: 1
gravity: [0, 0, 0]
parameters: {k: 40 N/m}
bodies: {bob: {mass: 2 kg, inertia: [1, 1, 1], position: [1, 0, 0]}}
joints: {A: {type: prismatic, parent: ground, child: bob, at: [1, 0, 0], axis: [1, 0, 0], q0: 0.2}}
forces:
  f: {type: two_point_force, a: ground, b: bob, at: [[0, 0, 0], [1, 0, 0]], law: "k * (length - 1 m) + 3 * rate + 0.0 * t"}
"""
    (tmp_path / "m.yaml").write_text(text)
    m = madi.load(tmp_path / "m.yaml")
    s = m.build()
    assert s.forward_dynamics([0.2], [0.5], engine="jit")[0] == pytest.approx(-(40 * 0.2 + 3 * 0.5) / 2, rel=1e-12)
    (tmp_path / "m.yaml").write_text(text.replace("3 * rate", "3 * speed"))
    with pytest.raises(madi.MadiError, match="there is no parameter 'speed'"):
        madi.load(tmp_path / "m.yaml")
    with pytest.raises(madi.MadiError, match="its function takes 4 arguments: write f\\(length, rate, t\\)"):
        arm(lambda m: m.two_point_force("f", "base", "bob", LINE, lambda a, b, c, d: 0.0)).build()


@pytest.mark.parametrize("between", ["linear", "cubic"])
def test_a_joint_s_spring_by_table(between, tmp_path):
    """Points on a straight line are a joint_spring, and a broken line is its pieces; potential and power to match."""

    def draw(add):
        m = madi.Model("pendulum")
        m.body("bob", 1.0, inertia=(0.1, 0.1, 0.1), position=(0.5, 0, 0))
        m.revolute("A", m.ground, "bob", at=(0, 0, 0), axis=(0, 1, 0))
        add(m)
        return m

    spring, damper = [(-2.0, -60.0), (0.0, 0.0), (0.3, 9.0), (2.0, 60.0)], [(-5.0, -10.0), (5.0, 10.0)]
    wanted = draw(lambda m: m.joint_spring("s", "A", stiffness=30.0, damping=2.0, rest=0.1)).build()
    drawn = draw(lambda m: m.joint_characteristic("s", "A", spring, damper, rest=0.1, between=between))
    systems = [drawn.build(), madi.load(drawn.save(tmp_path / "m.yaml")).build()]
    for q, v in ((0.3, 0.4), (-0.7, -2.0), (3.0, 9.0)):
        exact, told = wanted.forward_dynamics([q], [v], engine="plain"), wanted.powers([q], [v])["s"]
        for s in systems:
            for engine in ("plain", "jit", "compiled"):
                np.testing.assert_allclose(s.forward_dynamics([q], [v], engine=engine), exact, rtol=1e-12)
            for what, value in s.powers([q], [v])["s"].items():
                assert value == pytest.approx(told[what], rel=1e-12)
    broken = draw(lambda m: m.joint_characteristic("s", "A", [(-1, -1), (0, 0), (0.1, 5), (1.1, 5.5)], between=between))
    torque = -broken.build().powers([0.6], [0.0])["s"]["value"]  # amid a long piece beside a short one
    assert torque == pytest.approx(5.25, abs=1e-12) if between == "linear" else abs(torque - 5.25) > 0.05
    with pytest.raises(madi.ModelError, match=r"between='smooth'.*'linear', 'cubic'"):
        draw(lambda m: m.joint_characteristic("s", "A", spring, between="smooth")).build()


def test_the_energy_of_tables_and_laws_balances():
    """d(energy)/dt = power - dissipated along a run: tables store and dissipate, what a law does is power."""
    m = madi.Model("mass", gravity=(0, 0, 0))
    m.body("b", 1.0, inertia=(1, 1, 1), position=(1, 0, 0))
    m.prismatic("A", m.ground, "b", at=(1, 0, 0), axis=(1, 0, 0), q0=0.3)
    line = ((0, 0, 0), (1, 0, 0))
    m.characteristic("c", m.ground, "b", line, [(-1, -5), (0, 0), (1, 5)], [(-1, -0.4), (0, 0), (1, 0.4)], free_length=1.0)
    m.joint_characteristic("j", "A", [(-1, -2), (0, 0), (1, 3)], [(-1, -0.1), (1, 0.1)])
    for law in (None, lambda length, rate: 2.0 * (length - 1.0) + 0.3 * rate):
        if law is not None:
            m.two_point_force("f", m.ground, "b", line, law)
        run = madi.simulate(m, 2.0, rtol=1e-10, times=np.linspace(0, 2, 4001))
        change = np.trapezoid(run["power"] - run["dissipated"], run["time"])
        assert run["energy"][-1] - run["energy"][0] == pytest.approx(change, abs=1e-6)
        assert (np.max(np.abs(run["power"])) > 0.1) == (law is not None)


def test_a_parameter_must_not_hide_what_a_law_sees(tmp_path):
    (tmp_path / "m.yaml").write_text("""
madi: 1
parameters: {length: 3}
bodies: {bob: {mass: 2, inertia: [1, 1, 1], position: [1, 0, 0]}}
joints: {A: {type: prismatic, parent: ground, child: bob, at: [1, 0, 0], axis: [1, 0, 0]}}
forces: {f: {type: two_point_force, a: ground, b: bob, at: [[0, 0, 0], [1, 0, 0]], law: "10 * length"}}
""")
    with pytest.raises(madi.MadiError, match="'length' is what the element measures"):
        madi.load(tmp_path / "m.yaml")
