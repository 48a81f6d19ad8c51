"""Relative against Cartesian: two formulations that share the model and nothing else."""

import numpy as np
import pytest

import madi
from tests.mechanisms import close_loops, random_tree

KINDS = ("revolute", "prismatic", "screw", "cylindrical", "universal", "spherical", "planar", "fixed")
SIGNALS = ("v", "a", "position", "velocity", "acceleration", "angular_velocity", "energy", "momentum")


def random_loops(seed):
    """A random mechanism with loops, or None where chance drew one that madi refuses."""
    rng = np.random.default_rng(seed)
    m = random_tree(rng, int(rng.integers(3, 6)), kinds=KINDS, moving=rng.random() < 0.4, reverse=0.4, forces=True)
    freedoms = m.build().nv
    if freedoms < 3:
        return None
    close_loops(m, rng, freedoms)
    if m.check() or not (m.constraints or any(joint.cut for joint in m.joints)):
        return None
    return m


SEEDS = [seed for seed in range(70) if random_loops(seed) is not None][:30]


def apart(a, b):
    return float(np.max(np.abs(a - b)) / max(float(np.ptp(a)), float(np.max(np.abs(a))), 1e-9))


@pytest.mark.parametrize("seed", SEEDS)
def test_thirty_random_mechanisms_with_loops(seed):
    m = random_loops(seed)
    s = m.build()
    names = [*s.joint_names, *s.cut_joints]
    options = {"method": "dopri", "rtol": 1e-9, "times": np.linspace(0, 0.4, 9), "engine": "jit", "reactions": names}
    run = madi.simulate(m, 0.4, **options)
    other = madi.simulate(m, 0.4, formulation="cartesian", **options)
    for name in SIGNALS:
        assert apart(run.data[name].values, other.data[name].values) < 1e-6, name
    assert apart(np.abs(run.data["q"].values), np.abs(other.data["q"].values)) < 1e-6  # q and -q are one rotation
    for data in (run.data, other.data):
        assert float(data["violation"].max()) < 1e-10
        assert float(data["violation_rate"].max()) < 1e-9
    # loads, where the mechanics of rigid bodies determines them
    q, v = run.data["q"].values[4], run.data["v"].values[4]
    sure = np.array([load.determined for load in s.reactions(q, v, joints=names, engine="plain").values()])
    loads = [
        np.concatenate([r.data["reaction_force"].values[4], r.data["reaction_moment"].values[4]], axis=1)
        for r in (run, other)
    ]
    assert np.max(np.abs(loads[0] - loads[1])[sure], initial=0.0) < 1e-6 * np.max(np.abs(loads[0]))


def test_drives_and_locks_in_cartesian_coordinates():
    rng = np.random.default_rng(5)
    m = random_tree(rng, 4, kinds=("revolute", "prismatic", "cylindrical", "spherical"), forces=True, chain=0.8)
    joint = next(j for j in m.joints if j.kind in ("revolute", "prismatic"))
    m.drive(joint, lambda t: 0.3 * madi.sin(2 * t))
    other = next(j for j in m.joints if j is not joint)
    m.lock(other)
    options = {"method": "dopri", "rtol": 1e-10, "times": np.linspace(0, 1, 5), "engine": "jit", "reactions": [joint.name]}
    a, b = madi.simulate(m, 1.0, **options), madi.simulate(m, 1.0, formulation="cartesian", **options)
    for name in ("position", "velocity", "acceleration", "reaction_force", "driving_force"):
        assert apart(a.data[name].values, b.data[name].values) < 1e-6, name


def test_what_the_cartesian_formulation_cannot_do_is_told():
    m = madi.Model("point")
    m.body("bob", 1.0, position=(0, 0, -1))
    m.revolute("A", m.ground, "bob", at=(0, 0, 0), axis=(0, 1, 0))
    with pytest.raises(madi.InputError, match="body 'bob' needs a mass and three moments"):
        madi.simulate(m, 1.0, step=0.01, formulation="cartesian")
    with pytest.raises(madi.InputError, match="pass the Model"):
        madi.simulate(m.build(), 1.0, step=0.01, formulation="cartesian")
