"""Armature of joints: inertia of rotors on the diagonal of the mass matrix."""

import numpy as np
import pytest

import madi
from tests.mechanisms import far_four_bar, random_tree


@pytest.mark.parametrize("seed", range(4))
def test_armature_adds_to_the_diagonal(seed):
    """M + diag(armature), and what follows from it by a dense solution, in all formulations and lives."""
    rng = np.random.default_rng(seed)
    m = random_tree(rng, 6, moving=False)
    bare = m.build()
    for joint in m.joints:
        if joint.kind in ("revolute", "prismatic", "screw"):
            joint.armature = float(rng.uniform(0.1, 2.0))
    s = m.build()
    rotor = np.zeros(s.nv)
    for joint in m.joints:
        rotor[s.v_slice(joint.name)] = joint.armature
    q, v, tau = s.q0, rng.normal(size=s.nv), rng.normal(size=s.nv)
    np.testing.assert_allclose(s.mass_matrix(q), bare.mass_matrix(q) + np.diag(rotor), rtol=1e-12)
    bias = bare.inverse_dynamics(q, v, np.zeros(s.nv))
    wanted = np.linalg.solve(bare.mass_matrix(q) + np.diag(rotor), tau - bias)
    for formulation in ("recursive", "articulated", "velocity-transform"):
        for engine in ("plain", "jit", "compiled"):
            found = s.forward_dynamics(q, v, tau, formulation=formulation, engine=engine)
            np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(s.inverse_dynamics(q, v, wanted), tau, rtol=1e-9, atol=1e-9)
    assert s.energy(q, v)["kinetic"] == pytest.approx(bare.energy(q, v)["kinetic"] + 0.5 * rotor @ v**2, rel=1e-12)


def test_armature_in_cartesian_coordinates_loops_and_files(tmp_path):
    m = far_four_bar((0, 0, 0))
    m["A"].armature = 0.3
    m["B"].armature = 0.05
    m.joint_torque("motor", "A", lambda t: 2.0 * np.sin(3 * t))
    back = madi.load(m.save(tmp_path / "m.yaml"))
    assert back["A"].armature == 0.3
    common = {"rtol": 1e-9, "times": [0.5, 1.0], "reactions": ["A", "D"], "engine": "jit"}
    ways = [(m, {}), (back, {}), (m, {"formulation": "cartesian"}), (m, {"loops": "svd"})]
    runs = [madi.simulate(model, 1.0, **common, **options) for model, options in ways]
    for run in runs[1:]:
        for name in ("A", "energy", "A.fx", "A.my", "D.fz"):
            np.testing.assert_allclose(run[name], runs[0][name], atol=1e-6)
    energy = madi.simulate(m, 1.0, rtol=1e-10, engine="jit")
    work = np.trapezoid(energy["power"], energy.data["time"].values)
    np.testing.assert_allclose(energy["energy"][-1] - energy["energy"][0], work, rtol=1e-4)


def test_a_rotor_alone_is_inertia_enough():
    m = madi.Model("motor")
    m.body("hand", 0.0)
    m.revolute("A", m.ground, "hand", at=(0, 0, 0), axis=(0, 0, 1), armature=0.5)
    assert m.build().forward_dynamics([0], [0], [2.0]) == pytest.approx([4.0])
    m.replace("A", armature=-1.0)
    with pytest.raises(madi.ModelError, match="armature"):
        m.build()
