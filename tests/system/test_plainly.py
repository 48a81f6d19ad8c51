"""Where somebody waits, mechanics is machine code: no public call evaluates it in plain Python, unless it is asked for."""

import numpy as np
import pytest

import madi
from madi import vehicle
from madi.engines.library import has
from madi.papers import lane_change
from tests.mechanisms import double_pendulum, far_four_bar
from tests.system.plainly import plain_evaluations
from tests.vehicle.cars import struts, wishbones

HERE = (0.0, 0.0, 0.0)


def failing():
    m = double_pendulum(HERE)
    m.force("blow", "upper", lambda t: (madi.sqrt(0.05 - t), 0.0, 0.0))
    return m


def failed_run():
    with pytest.raises(madi.RunError, match="force 'blow' is not finite"):
        madi.simulate(failing(), 0.2, step=1e-2)


def running_away():
    m = madi.Model("grows", gravity=(0, 0, 0))
    m.body("bob", 1.0, inertia=(0.1, 0.1, 0.1), position=(0, 0, -1))
    m.revolute("pin", m.ground, "bob", at=(0, 0, 0), axis=(0, 1, 0), q0=0.1)
    m.joint_torque("push", "pin", lambda t, q, v: 1e6 * v["pin"] ** 3 + q["pin"])
    with pytest.raises(madi.RunError):
        madi.simulate(m, 10.0, step=1e-2)


def drive_without_numbers():
    m = double_pendulum(HERE)
    m.drive("B", lambda t: madi.sqrt(0.05 - t))
    with pytest.raises(madi.RunError, match="not finite"):
        madi.simulate(m, 0.2, step=1e-2)


def on_tires():
    """A car at speed: settled, driven over flat ground, and what its tires did."""
    car = lane_change.car()
    run = madi.simulate(car.model, 0.02, times=[0.0, 0.01, 0.02], **car.settle(10.0).given())
    assert np.all(vehicle.tire_signals(car, run)["fz"].values > 0)


def statics_and_around():
    m = far_four_bar(HERE)
    rest = madi.statics(m)
    madi.linearize(rest)
    madi.check(m)
    madi.assemble(m, {"A": 0.1})
    system = m.build()
    system.mobility(system.q0)
    system.reactions(rest.q, rest.v, joints=["A"])
    madi.compare(m, 0.02, step=1e-2)


def many():
    m = double_pendulum(HERE)
    madi.simulate_many(m, madi.design({"k.stiffness": (50.0, 150.0)}, 3, "random", seed=1), 0.02, step=1e-2, keep=["energy"])


def equations():
    from madi.symbolic.equations import Equations

    _ = Equations(double_pendulum(HERE).build()).pattern


CALLS = {
    "rig, double wishbone": lambda: vehicle.kinematics(wishbones(), "front", steps=3),
    "rig, McPherson": lambda: vehicle.kinematics(struts(), "front", steps=3),
    "failed run": failed_run, "runaway": running_away, "drive": drive_without_numbers,
    "statics and around": statics_and_around,
    "absolute coordinates": lambda: madi.simulate(
        far_four_bar(HERE), 0.02, step=1e-2, formulation="cartesian", engine="jit"
    ),
    "table": lambda: madi.simulate(far_four_bar(HERE), 0.02, step=1e-2, reactions=["A"]).table(),
    "tires": on_tires, "equations": equations,
    "many": many,
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_nothing_is_evaluated_in_plain_python(name):
    if not has("gaps"):
        pytest.skip("without machine code of the package, small things are not worth compiling")
    with plain_evaluations() as found:
        CALLS[name]()
    assert found == {}


def test_the_guard_sees_what_is_plain():
    system = double_pendulum(HERE).build()
    with plain_evaluations() as found:
        system.observe(system.q0, system.v0)
    assert found == {}
    with plain_evaluations() as found:
        system.observe(system.q0, system.v0, engine="plain")
    assert found["madi.equations.observe.observe"] == 1
    assert found["madi.dynamics.kinematics.positions"] == 1
