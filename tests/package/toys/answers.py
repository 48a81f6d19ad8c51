"""Run with the extended package: answers.py WHAT ENGINE."""

import sys

import numpy as np
import pytest

import madi

INERTIA = (0.02, 0.03, 0.04)


def ends(models, engine, span=0.4, step=2e-3, **options):
    """Poses at the end of runs of these models; what all have is the body "pin"."""
    runs = [madi.simulate(m, span, step=step, method="rk4", engine=engine, **options) for m in models]
    pins = [run.data.sel(body="pin").isel(time=-1) for run in runs]
    return [np.concatenate([pin["position"].values, pin["bryant"].values]) for pin in pins]


def pinned(joint):
    m = madi.Model("pin in a slot", gravity=(0, -9.81, 0))
    m.body("pin", mass=1.0, inertia=INERTIA, com=(0.1, 0.2, 0.05))
    start = {"q0": (0.3, 0.5), "v0": (0.4, -2.0)}
    if joint == "slot":
        m.slot("S", m.ground, "pin", at=(0, 0, 0), axis=(0, 0, 1), x_axis=(1, 0, 0), **start)
    elif joint == "cut":  # closes a loop with a free body
        m.free("F", m.ground, "pin")
        m.slot("S", m.ground, "pin", at=(0, 0, 0), axis=(0, 0, 1), x_axis=(1, 0, 0), cut=True)
    else:
        m.body("stone")
        m.prismatic("P", m.ground, "stone", at=(0, 0, 0), axis=(1, 0, 0), q0=0.3, v0=0.4)
        m.revolute("R", "stone", "pin", at=(0, 0, 0), axis=(0, 0, 1), q0=0.5, v0=-2.0)
    return m


def joint(engine):
    """A slide and a turn are a slot; so they are in absolute coordinates, and where the slot closes a loop."""
    slot, two = ends([pinned("slot"), pinned("two")], engine)
    np.testing.assert_allclose(slot, two, atol=1e-10)
    if engine == "jit":
        np.testing.assert_allclose(ends([pinned("slot")], engine, formulation="cartesian")[0], two, atol=1e-8)
    s = pinned("cut").build()
    assert s.n_constraints == 4


def force(engine):
    models = []
    for own in (True, False):
        m = pinned("two")
        if own:
            m.cubic_spring("K", "R", stiffness=30.0)
        else:
            m.joint_torque("K", "R", lambda t, q, v: -30.0 * q["R"] ** 3)
        models.append(m)
    own, traced = ends(models, engine)
    np.testing.assert_allclose(own, traced, atol=1e-12)
    assert np.linalg.norm(own - ends([pinned("two")], engine)[0]) > 0.1


def spinning(kind, mass=1.0):
    m = madi.Model("gyrostat", gravity=(0, 0, 0))
    h = (0.0, 0.0, 0.3)
    if kind == "gyrostat":
        m.gyrostat("pin", 1.0, INERTIA, h)
    else:  # the same body: a carrier, and a wheel that turns in it by 100 rad/s
        m.body("pin", mass=0.8, inertia=np.subtract(INERTIA, (0.002, 0.002, 0.003)))
        m.body("wheel", mass=0.2, inertia=(0.002, 0.002, 0.003))
        m.revolute("W", "pin", "wheel", at=(0, 0, 0), axis=(0, 0, 1))
        m.drive("W", lambda t: 100.0 * t)
    m.free("F", m.ground, "pin", v0=(0, 0, 0, 1.0, 2.0, -1.0))
    return m


def body(engine):
    runs = [madi.simulate(spinning(kind), 0.3, step=1e-3, method="rk4", engine=engine) for kind in ("gyrostat", "wheel")]
    turned = [run.data["q"].values[-1][3:7] for run in runs]
    np.testing.assert_allclose(turned[0], turned[1], atol=1e-8)
    for formulation in ("articulated", "velocity-transform"):
        run = madi.simulate(spinning("gyrostat"), 0.3, step=1e-3, method="rk4", engine=engine, formulation=formulation)
        np.testing.assert_allclose(run.data["q"].values[-1], runs[0].data["q"].values[-1], atol=1e-10)
    s, v = spinning("gyrostat").build(), np.array([0, 0, 0, 1.0, 2.0, -1.0])
    qdd = s.forward_dynamics(s.q0, v, engine=engine)
    np.testing.assert_allclose(s.inverse_dynamics(s.q0, v, qdd, engine=engine), 0.0, atol=1e-12)
    with pytest.raises(madi.InputError, match="'pin' is not rigid"):
        madi.simulate(spinning("gyrostat"), 0.1, step=0.01, method="rk4", formulation="cartesian")


def integrator(engine):
    assert madi.Heun.name == "heun"
    exact, *others = (
        madi.simulate(pinned("two"), 0.4, step=h, method=method, engine=engine).data["q"].values[-1]
        for method, h in (("rk4", 1e-3), ("heun", 4e-3), ("heun", 2e-3))
    )
    coarse, fine = (np.linalg.norm(q - exact) for q in others)
    assert 3.5 < coarse / fine < 4.5, (coarse, fine)


def loops(engine):
    """As stiff springs the loop of a four-bar nearly stays closed."""
    found = []
    for method in ("projection", madi.Penalty(stiffness=1e7, damping=2e3)):
        m = madi.Model("four-bar", gravity=(0, 0, -9.81))
        for name, x in (("crank", 0.0), ("rod", 0.0), ("pin", 0.4)):
            m.body(name, mass=1.0, inertia=INERTIA, position=(x, 0, 0.2 if name == "rod" else 0.1))
        m.revolute("A", m.ground, "crank", at=(0, 0, 0), axis=(0, 1, 0), v0=2.0)
        m.revolute("B", "crank", "rod", at=(0, 0, 0.2), axis=(0, 1, 0))
        m.revolute("C", "rod", "pin", at=(0.4, 0, 0.3), axis=(0, 1, 0))
        m.revolute("D", m.ground, "pin", at=(0.4, 0, 0), axis=(0, 1, 0))
        found.append(ends([m], engine, span=0.2, step=2e-4, loops=method)[0])
    np.testing.assert_allclose(found[0], found[1], atol=2e-3)
    assert np.linalg.norm(found[0] - found[1]) > 1e-12


def files(engine):
    """What is drawn with them can be written and read."""
    m = pinned("slot")
    m.cubic_spring("K", "S.angle", stiffness=3.0)
    m.save("slot.yaml")
    again = madi.load("slot.yaml")
    np.testing.assert_array_equal(*ends([m, again], "plain", span=0.02))


def machine(engine):
    m = pinned("slot")
    m.cubic_spring("K", "S.angle", stiffness=3.0)
    m.gyrostat("top", 1.0, INERTIA, (0.1, 0.2, 0.3), position=(0, 1, 0))
    m.spherical("B", "pin", "top", at=(0, 1, 0), v0=(1, 2, 3))
    runs = [madi.simulate(m, 0.05, step=1e-3, method="heun", engine=engine) for engine in ("plain", "jit")]
    np.testing.assert_allclose(*(run.data["q"].values for run in runs), atol=1e-12)
    print("one motion")


if __name__ == "__main__":
    what, engine = sys.argv[1:]
    globals()[what](engine)
    print(f"{what}: as it should be")
