"""P1's arm: driving torques and reactions against Pinocchio along the motions, operation counts against the formulas."""

import numpy as np
import pinocchio as pin
import pytest

from madi.papers import rrc
from tests.peers.pinocchio_model import Peer


@pytest.fixture(scope="module")
def first():
    return rrc.simulate_first(engine="jit")


@pytest.fixture(scope="module")
def second():
    return rrc.simulate_second(smooth=True, engine="jit")


def along(run, model, joint, every):
    """(madi's driving torque and reaction, Pinocchio's) at some instants; external force of the spring put in by hand."""
    s = model.build()
    peer = Peer(model, s)
    origins, _ = rrc.joint_frames()
    for k in range(0, run.data.sizes["time"], every):
        q, v, a = (run.data[name].values[k] for name in ("q", "v", "a"))
        forces = [pin.Force.Zero() for _ in range(8)]
        pin.forwardKinematics(peer.model, peer.data, q)
        if model.forces:
            r, A = s.body_pose(q, "link7")
            tip = r + A @ (origins[7] - np.asarray(model.bodies[6].position))
            line = origins[7] - [0, 0, rrc.INCH] - tip
            length = np.linalg.norm(line)
            pull = rrc.SPRING * (length - model["spring"].free_length) * line / length
            place = peer.data.oMi[7]
            forces[7] = place.actInv(pin.Force(pull, np.cross(tip, pull)))
        tau = pin.rnea(peer.model, peer.data, q, v, a, forces)
        i = int(joint)
        load = peer.data.oMi[i].rotation @ peer.data.f[i].linear
        yield (run[f"{joint}.drive"][k], run[f"{joint}.fx"][k]), (tau[i - 1], load[0])


@pytest.mark.parametrize(("which", "joint"), [("first", "2"), ("second", "4")])
def test_driving_torque_and_reaction_against_pinocchio(which, joint, request):
    run = request.getfixturevalue(which)
    model = rrc.first() if which == "first" else rrc.second(smooth=True)
    pairs = np.array(list(along(run, model, joint, 250)))
    scale = np.max(np.abs(pairs[:, 1]), axis=0)
    assert np.all(np.max(np.abs(pairs[:, 0] - pairs[:, 1]), axis=0) < 1e-7 * scale)


def test_motion_is_as_prescribed(first, second):
    t = first.data["time"].values
    np.testing.assert_allclose(first["2"], np.pi / 3 * np.sin(np.pi * t / 5), atol=1e-14)
    t = second.data["time"].values
    np.testing.assert_allclose(second["4"], np.pi / 30 * np.sin(np.pi * t - np.pi), atol=1e-14)
    for joint in rrc.ROLLS:
        assert not np.any(first[joint])
    # the stiff spring keeps its length: to 0.1 mm
    tension = second.data["force_value"].sel(force="spring").values
    assert np.max(np.abs(tension)) / rrc.SPRING < 3e-4
    assert np.max(np.abs(second["6"])) > 0.3


def test_both_ways_agree_along_the_runs(first, second):
    assert rrc.ways_differ(first, rrc.first(), "2") < 1e-10
    assert rrc.ways_differ(second, rrc.second(smooth=True), "4") < 1e-10


def test_first_simulation_converges():
    """The Adams-Bashforth run at 1 ms against a tight adaptive one."""
    import madi

    run = rrc.simulate_first(engine="jit")
    tight = madi.simulate(rrc.first(), 5.0, rtol=1e-11, times=run.data["time"].values, reactions=["2"], engine="jit")
    assert np.max(np.abs(run["6"] - tight["6"])) < 1e-4
    assert np.max(np.abs(run["2.drive"] - tight["2.drive"])) < 1e-3 * np.max(np.abs(tight["2.drive"]))


def test_operation_counts_follow_the_formulas():
    """P1 Table 1, with 24 instead of 36 multiplications for an inertia of ten numbers."""
    for row in rrc.operation_counts(rrc.arm().build()):
        outboard = 7 - row["joint"]
        assert row["selected mul"] == 6 * outboard + 24
        assert row["newton-euler mul"] == 24 * outboard + 24
        assert row["selected add"] <= row["newton-euler add"]


def test_weights_and_lengths_are_the_published_ones():
    origins, axes = rrc.joint_frames()
    reach = origins[7] - origins[0]
    # two segments of 27 in and the tool, stretched along x; the offsets of the pitch joints are sideways
    assert reach[0] == pytest.approx((27 + 27 + 6.6) * 0.0254)
    for k in (0, 2, 4, 6):
        np.testing.assert_allclose(axes[k], (1, 0, 0), atol=1e-15)
    for k in (1, 3, 5):
        np.testing.assert_allclose(np.abs(axes[k]), (0, 1, 0), atol=1e-15)
    total = sum(body.mass for body in rrc.arm().bodies)
    assert total == pytest.approx(505.0 * 0.45359237)


def test_the_tip_spring_s_printed_number_is_in_newtons_per_metre():
    """1e5 lb/in in N/m, to the printed digits: 1 lb/in = 0.45359237 kg 9.80665 m/s2 / 0.0254 m."""
    assert float(f"{1e5 * 0.45359237 * 9.80665 / 0.0254:.4e}") == 1.7513e7
    assert pytest.approx(1.7513e7, rel=1e-4) == rrc.SPRING
    assert pytest.approx(175.13, rel=1e-6) == rrc.LITERAL / rrc.SPRING
    assert rrc.frequency(rrc.LITERAL) > 4000 > 400 > rrc.frequency(rrc.SPRING)


def test_three_ways_to_the_loads_of_p1(first):
    import madi

    cartesian = madi.simulate(rrc.first(), 5.0, rtol=1e-9, times=first.data["time"].values[::500], reactions=["2"],
                              formulation="cartesian", engine="jit")  # fmt: skip
    few = madi.simulate(rrc.first(), 5.0, step=1e-3, method="ab3", times=first.data["time"].values[::500], reactions=["2"])
    for curves in rrc.three_ways(few, rrc.first(), "2", cartesian).values():
        selected, recursive, multipliers = curves.values()
        size = np.max(np.abs(selected))
        assert np.max(np.abs(selected - recursive)) < 1e-12 * size
        assert np.max(np.abs(selected - multipliers)) < 1e-5 * size
