"""Identities of flexible bodies on random trees: mass matrix, momentum, engines, points."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import madi
from madi.flexible import (
    clamped_free,
    clamped_tip,
    free_free,
    pinned_pinned,
    polynomials,
    rectangle,
)
from madi.joints.chart import retract
from tests.bodies.beams import ALUMINIUM, FORMULATIONS

KINDS = ("clamped", "pinned", "free", "tip", "all")


def random_tree(seed):
    """Flexible and rigid bodies on joints of all kinds, hanging on ends and in between, loaded at points."""
    rng = np.random.default_rng(seed)
    m = madi.Model(f"random {seed}")
    before, at = m.ground, np.zeros(3)
    for k in range(3):
        L = float(rng.uniform(0.5, 1.5))
        direction = rng.normal(size=3)
        end = at + L * direction / np.linalg.norm(direction)
        if rng.random() < 0.7:
            kind = KINDS[rng.integers(len(KINDS))]
            shapes = {
                "clamped": {"y": 2, "z": 1}, "pinned": {"y": pinned_pinned(L, 2)}, "tip": {"y": clamped_tip(L, 0.5, 0.1, 2)},
                "free": {"y": free_free(L, 1), "z": free_free(L, 1)}, "all": {"y": 1, "z": 1, "twist": 1, "axial": 1},
            }[kind]  # fmt: skip
            body = m.beam(f"b{k}", at, end, rectangle(0.03, 0.02), 1e8, 2700.0, shapes, damping=0.02,
                          stiffening=bool(rng.integers(2)), rotary=bool(rng.integers(2)), points={"tip": L},
                          strict=False)  # fmt: skip
            m.force(f"f{k}", body, rng.normal(size=3), at=at + 0.7 * (end - at))
            m.torque(f"t{k}", body.point("tip"), rng.normal(size=3))
        else:
            body = m.body(f"b{k}", 1.0, inertia=(0.1, 0.2, 0.25), position=end)
        name = f"j{k}"
        joint = rng.integers(4)
        if joint == 0:
            m.revolute(name, before, body, at=at, axis=rng.normal(size=3))
        elif joint == 1:
            m.spherical(name, before, body, at=at)
        elif joint == 2:
            m.universal(name, body, before, at=at, axes=((0, 1, 0), (1, 0, 0)))
        else:
            m.cylindrical(name, before, body, at=at, axis=rng.normal(size=3))
        before, at = body, at + float(rng.uniform(0.2, 1.0)) * (end - at)
    return m


def random_state(system, seed, amount=0.01):
    rng = np.random.default_rng(seed + 1000)
    theta, q = rng.normal(size=system.nv), np.empty(system.nq)
    modes = np.array([name.split(".")[0].startswith("b") for name in system.speeds])
    theta[modes] *= amount
    retract(system.layout.arrays, system.q0, theta, q)
    return q, rng.normal(size=system.nv)


@given(st.integers(0, 10**6))
def test_identities_of_random_trees(seed):
    system = random_tree(seed).build()
    q, v = random_state(system, seed)
    a = system.forward_dynamics(q, v, formulation="recursive", engine="plain")
    scale = np.max(np.abs(a))
    for formulation in FORMULATIONS[1:]:
        np.testing.assert_allclose(
            system.forward_dynamics(q, v, formulation=formulation, engine="plain"), a, atol=1e-9 * scale
        )
    M = system.mass_matrix(q, engine="plain")
    forces = np.max(np.abs(M)) * scale
    np.testing.assert_allclose(system.inverse_dynamics(q, v, a, engine="plain"), 0.0, atol=1e-10 * forces)
    assert system.energy(q, v, engine="plain")["kinetic"] == pytest.approx(0.5 * v @ M @ v, rel=1e-11)
    # dE/dt along the motion is the power of what acts from outside or dissipates
    h, moved = 1e-5, [np.empty(system.nq), np.empty(system.nq)]
    for sign, there in zip((1, -1), moved, strict=True):
        retract(system.layout.arrays, q, sign * h * v, there)
    energies = [system.energy(there, v, engine="plain")["total"] for there in moved]
    rate = (energies[0] - energies[1]) / (2 * h) + v @ M @ a
    powers = system.powers(q, v, engine="plain")
    outside = sum(p["power"] for name, p in powers.items() if name[0] in "ft" and "." not in name)
    lost = sum(p["dissipated"] for p in powers.values())
    assert rate == pytest.approx(outside - lost, abs=1e-6 * max(1.0, abs(v @ M @ a), abs(energies[0])))
    selected, classic = (system.reactions(q, v, way=way, engine="plain") for way in ("selected", "newton-euler"))
    for name, load in selected.items():
        size = 1e-9 * max(1.0, forces)
        np.testing.assert_allclose(load.force, classic[name].force, atol=size)
        np.testing.assert_allclose(load.moment, classic[name].moment, atol=size)
    # what a joint does not hold, it does not carry
    assert all(abs(x) < 1e-8 * max(1.0, forces) for load in selected.values() for x in load.driving.values())


@pytest.mark.parametrize("seed", [1, 7, 12])
def test_three_engines_agree_on_random_trees(seed):
    system = random_tree(seed).build()
    q, v = random_state(system, seed)
    for formulation in FORMULATIONS:
        one, two, three = (
            system.forward_dynamics(q, v, formulation=formulation, engine=engine) for engine in ("plain", "jit", "compiled")
        )
        np.testing.assert_allclose(two, one, rtol=0, atol=1e-9 * np.max(np.abs(one)))
        np.testing.assert_allclose(three, one, rtol=0, atol=1e-9 * np.max(np.abs(one)))


def test_points_move_as_their_jacobian_says():
    system = random_tree(5).build()
    q, v = random_state(system, 5)
    body = next(name for name in system.bodies if name.endswith("@tip"))
    J, h = system.point_jacobian(q, body, (0.1, 0.2, 0.3), engine="plain"), 1e-6
    ends = []
    for sign in (1, -1):
        there = np.empty(system.nq)
        retract(system.layout.arrays, q, sign * h * v, there)
        r, R = system.body_pose(there, body, engine="plain")
        ends.append(r + R @ [0.1, 0.2, 0.3])
    np.testing.assert_allclose(J[:3] @ v, (ends[0] - ends[1]) / (2 * h), atol=1e-7)
    seen = system.observe(q, v, engine="plain")
    k = system.bodies.index(body)
    np.testing.assert_allclose(J[3:] @ v, seen.angular_velocity[0, k], atol=1e-12)


def test_free_flexible_bodies_keep_their_momentum():
    """A free beam struck at its tip: momentum is force times time."""
    m = madi.Model("struck", gravity=(0, 0, 0))
    beam = m.beam("beam", (0, 0, 0), (1, 0, 0), rectangle(0.02, 0.02), **ALUMINIUM, modes={"z": 3}, points={"tip": 1.0})
    m.free("F", m.ground, beam)
    m.force("blow", "beam@tip", lambda t: (0 * t, 0 * t, madi.where(t < 0.002, 1000.0, 0.0)))
    run = madi.simulate(m, 0.02, rtol=1e-8, times=np.linspace(0, 0.02, 21), max_step=1e-4)
    momentum = run.data["momentum"].values[-1]
    np.testing.assert_allclose(momentum[:3], [0, 0, 2.0], atol=1e-4)


@pytest.mark.parametrize("shapes", [clamped_free(1.0, 5), polynomials(1.0, 8)], ids=["clamped", "polynomials"])
def test_the_mass_matrix_stays_positive(shapes):
    """With stiffening and far beyond small deflections: the kinetic energy is complete."""
    m = madi.Model("free", gravity=(0, 0, 0))
    beam = m.beam("beam", (0, 0, 0), (1, 0, 0), rectangle(0.02, 0.02), **ALUMINIUM, modes={"z": shapes, "y": 1, "axial": 1})
    m.free("F", m.ground, beam)
    system, rng = m.build(), np.random.default_rng(2)
    for amount in (0.001, 0.01, 0.1, 0.5):
        q = system.q0
        q[7:] = amount * rng.normal(size=system.nq - 7)
        M = system.mass_matrix(q, engine="plain")
        assert np.min(np.linalg.eigvalsh(M)) > 1e-9
