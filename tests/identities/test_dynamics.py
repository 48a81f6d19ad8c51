"""Identities that hold for every mechanism, on random ones: all joint types, both ways of drawing them, both frames."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.mechanisms import difference, moved, random_state, random_tree

seeds = st.integers(0, 10**6)


def draw(seed, n=6, **options):
    rng = np.random.default_rng(seed)
    m = random_tree(rng, n, reverse=0.4, **options)
    return rng, m


@given(seed=seeds, n=st.integers(1, 30), moving=st.booleans())
def test_all_formulations_agree(seed, n, moving):
    rng, m = draw(seed, n, moving=moving, forces=True)
    s = m.build()
    q, v, tau = random_state(rng, s)
    a = s.forward_dynamics(q, v, tau, formulation="recursive")
    for other in ("articulated", "velocity-transform"):
        assert difference(s.forward_dynamics(q, v, tau, formulation=other), a) < 1e-10


@given(seed=seeds, moving=st.booleans())
def test_forward_after_inverse_is_identity(seed, moving):
    rng, m = draw(seed, moving=moving, forces=True)
    s = m.build()
    q, v, a = random_state(rng, s)
    tau = s.inverse_dynamics(q, v, a)
    assert difference(s.forward_dynamics(q, v, tau), a) < 1e-9


@given(seed=seeds, moving=st.booleans())
def test_mass_matrix_is_derivative_of_inverse_dynamics(seed, moving):
    rng, m = draw(seed, moving=moving, forces=True)
    s = m.build()
    q, v, _ = random_state(rng, s)
    M = s.mass_matrix(q)
    zero = s.inverse_dynamics(q, v, np.zeros(s.nv))
    columns = np.column_stack([s.inverse_dynamics(q, v, e) - zero for e in np.eye(s.nv)])
    assert difference(columns, M) < 1e-9
    assert np.all(np.linalg.eigvalsh(M) > 0)
    assert difference(M, M.T) < 1e-13


@given(seed=seeds, moving=st.booleans())
def test_kinetic_energy_is_half_v_M_v(seed, moving):
    rng, m = draw(seed, moving=moving)
    s = m.build()
    q, v, _ = random_state(rng, s)
    assert s.energy(q, v)["kinetic"] == pytest.approx(0.5 * v @ s.mass_matrix(q) @ v, rel=1e-10)


@given(seed=seeds, moving=st.booleans())
def test_power_balance(seed, moving):
    """dE/dt, by differences along the motion, is the power put in by tau and by forces without potential."""
    rng, m = draw(seed, 5, moving=moving, forces=True)
    s = m.build()
    q, v, tau = random_state(rng, s)
    a = s.forward_dynamics(q, v, tau)
    rate = rate_along(s, q, v, a, lambda q, v: s.energy(q, v)["total"])
    powers = s.powers(q, v)
    expected = tau @ v - sum(p["dissipated"] for p in powers.values())
    expected += sum(powers[name]["power"] for name in ("f", "t", "jt") if name in powers)
    scale = abs(rate) + sum(abs(p["power"]) for p in powers.values()) + abs(tau) @ abs(v)
    assert abs(rate - expected) < 1e-6 * scale


def rate_along(s, q, v, a, function, h=1e-5):
    """d/dt of a function of (q, v) along the motion, by fourth-order differences."""

    def at(k):
        theta = k * h * v + 0.5 * (k * h) ** 2 * (a + chart_bias(s, q, v))
        return function(moved(s, q, theta), v + k * h * a)

    return (8 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12 * h)


def chart_bias(s, q, v):
    """theta'' - a at the chart's origin: w x v for the position of a free joint."""
    out = np.zeros(s.nv)
    for joint in s.frozen.joints:
        if joint.kind == "free":
            k = s.v_slice(joint.name).start
            out[k : k + 3] = np.cross(v[k + 3 : k + 6], v[k : k + 3])
    return out


@given(seed=seeds, n=st.integers(1, 12))
def test_base_frame_and_ground_frame_agree(seed, n):
    rng, m = draw(seed, n, moving=True, forces=True)
    base, ground = m.build(frame="base"), m.build(frame="ground")
    q, v, tau = random_state(rng, base)
    a = base.forward_dynamics(q, v, tau)
    assert difference(ground.forward_dynamics(q, v, tau), a) < 1e-9
    assert difference(ground.mass_matrix(q), base.mass_matrix(q)) < 1e-10
    assert difference(ground.momentum(q, v), base.momentum(q, v)) < 1e-10
    one, two = base.reactions(q, v, a=a), ground.reactions(q, v, a=a)
    size = max(np.max(np.abs([*r.force, *r.moment])) for r in one.values())
    for name in one:
        assert np.max(np.abs(one[name].force - two[name].force)) < 1e-9 * size
        assert np.max(np.abs(one[name].moment - two[name].moment)) < 1e-8 * size


@given(seed=seeds)
def test_drawing_direction_does_not_change_the_motion(seed):
    """A tree drawn against its direction: bodies at the same poses, moving alike, accelerate alike."""
    rng = np.random.default_rng(seed)
    m = random_tree(rng, 5, reverse=0.0)
    turned = random_tree(np.random.default_rng(seed), 5, reverse=0.0)
    for joint in turned.joints:
        if joint.kind in ("revolute", "prismatic", "screw", "cylindrical", "fixed"):
            joint.parent, joint.child = joint.child, joint.parent
    s, r = m.build(), turned.build()
    q, v, tau = random_state(rng, s)
    # against its direction a one-axis joint's coordinate is the same number about the opposite axis: the sign flips
    flip = np.ones(s.nq)
    flip_v = np.ones(s.nv)
    for joint in turned.joints:
        if joint.kind in ("revolute", "prismatic", "screw", "cylindrical"):
            flip[s.q_slice(joint.name)] = flip_v[s.v_slice(joint.name)] = -1
    a, b = s.forward_dynamics(q, v, tau), r.forward_dynamics(flip * q, flip_v * v, flip_v * tau)
    assert difference(flip_v * b, a) < 1e-9
    for body in s.bodies:
        np.testing.assert_allclose(r.body_pose(flip * q, body)[0], s.body_pose(q, body)[0], atol=1e-10)


@given(seed=seeds, moving=st.booleans())
def test_point_jacobian_is_derivative_of_position(seed, moving):
    rng, m = draw(seed, 5, moving=moving)
    s = m.build()
    q, v, _ = random_state(rng, s)
    point = rng.normal(size=3)
    J = s.point_jacobian(q, "b4", point)
    h = 1e-6

    def place(theta):
        r, A = s.body_pose(moved(s, q, theta), "b4")
        return r + A @ point

    numeric = np.column_stack([(place(h * e) - place(-h * e)) / (2 * h) for e in np.eye(s.nv)])
    assert np.max(np.abs(J[:3] - numeric)) < 1e-7
    seen = s.observe(q, v)
    np.testing.assert_allclose(J[3:] @ v, seen.angular_velocity[0, s.bodies.index("b4")], atol=1e-9)


@given(seed=seeds, moving=st.booleans())
def test_momentum_balance(seed, moving):
    """The rate of linear momentum of everything is weight plus the reactions of the joints that hold the ground."""
    rng, m = draw(seed, 6, moving=moving)
    s = m.build()
    q, v, tau = random_state(rng, s)
    a = s.forward_dynamics(q, v, tau)
    rate = rate_along(s, q, v, a, lambda q, v: s.momentum(q, v)[:3])
    force = sum(b.mass for b in m.bodies) * np.asarray(m.gravity)
    joints = {j.name: j for j in m.joints}
    held = s.reactions(q, v, a=a, joints=[j for _, parent, j in s.tree if parent == "ground"])
    for name, load in held.items():
        force = force + load.force * (1 if joints[name].parent is m.ground else -1)
    scale = np.max(np.abs(rate)) + np.max(np.abs(force)) + 1
    assert np.max(np.abs(rate - force)) < 1e-6 * scale


@given(seed=seeds, moving=st.booleans())
def test_velocity_transformation(seed, moving):
    """P0: M = B^T diag(m, J) B; accelerations of the centres of mass are B a + Bdot v, by differences of B v."""
    rng, m = draw(seed, 5, moving=moving)
    s = m.build()
    q, v, a = random_state(rng, s)
    B, bias = s.velocity_transformation(q, v)
    drawn = {b.name: b for b in m.bodies}
    blocks = np.zeros((6 * len(s.bodies),) * 2)
    for k, name in enumerate(s.bodies):
        _, A = s.body_pose(q, name)
        blocks[6 * k : 6 * k + 3, 6 * k : 6 * k + 3] = drawn[name].mass * np.eye(3)
        blocks[6 * k + 3 : 6 * k + 6, 6 * k + 3 : 6 * k + 6] = A @ drawn[name].inertia @ A.T
    assert difference(B.T @ blocks @ B, s.mass_matrix(q)) < 1e-10
    rate = rate_along(s, q, v, a, lambda q, v: s.velocity_transformation(q, v)[0] @ v)
    assert difference(B @ a + bias, rate) < 1e-6
