"""Every kind of constraint: residual, Jacobian and right-hand side belong together; a cut joint forbids what it must."""

import numpy as np
import pytest

import madi
from madi.joints import KINDS
from tests.mechanisms import add_joint, difference, moved, random_inertia, rotation, unit

CUT = [name for name, kind in KINDS.items() if kind.cut]
CONSTRAINTS = ["distance", "point_on_line", "point_on_plane"]


def pair(kind, rng, cut=True):
    """Two free bodies, tied by a cut joint or a constraint of this kind."""
    m = madi.Model("pair")
    for name in "ab":
        m.body(name, 1.0, com=rng.normal(size=3) * 0.2, inertia=random_inertia(rng, 1.0), position=rng.normal(size=3),
               orientation=rotation(rng))  # fmt: skip
        m.free(name, m.ground, name)
    at = rng.normal(size=3)
    if kind in CUT:
        add_joint(m, rng, kind, "C", "a", "b", at)
        m.joints[-1].cut = True
    elif kind == "distance":
        m.distance("C", "a", "b", at=(at, at + unit(rng)))
    else:
        getattr(m, kind)("C", "a", "b", at, unit(rng))
    return m


@pytest.mark.parametrize("kind", [*CUT, *CONSTRAINTS])
@pytest.mark.parametrize("frame", ["base", "ground"])
def test_jacobian_and_gamma_are_derivatives_of_the_residual(kind, frame):
    rng = np.random.default_rng(sum(map(ord, kind)))
    s = pair(kind, rng).build(frame=frame)
    assert s.n_constraints == (6 - KINDS[kind].nv if kind in CUT else {"point_on_line": 2}.get(kind, 1))
    q = s.assemble(moved(s, s.q0, 0.2 * rng.normal(size=s.nv))).q
    v, a, h = rng.normal(size=s.nv), rng.normal(size=s.nv), 1e-5
    phi, rate, gamma, J = s.constraint_terms(q, v, engine="plain")
    assert np.max(np.abs(phi)) < 1e-11
    columns = [
        (s.constraints(moved(s, q, h * e), engine="plain") - s.constraints(moved(s, q, -h * e), engine="plain")) / (2 * h)
        for e in np.eye(s.nv)
    ]
    np.testing.assert_allclose(J, np.array(columns).T, atol=2e-8)
    np.testing.assert_allclose(J @ v, rate, atol=1e-11)

    def rate_at(t):
        return s.constraint_terms(moved(s, q, t * v + 0.5 * t * t * a), v + t * a, engine="plain")[1]

    # the chart bends: its acceleration at the start is a only for speeds along it, so the speeds are moved along too
    ahead, behind = (s.constraint_terms(*_flow(s, q, v, a, t), engine="plain")[1] for t in (h, -h))
    np.testing.assert_allclose((ahead - behind) / (2 * h), J @ a - gamma, atol=5e-7)
    assert rate_at(0.0) == pytest.approx(rate)


def _flow(s, q, v, a, t, steps=4):
    """State after t with constant accelerations a, in small steps."""
    h = t / steps
    for _ in range(steps):
        q = moved(s, q, h * (v + 0.5 * h * a))
        v = v + h * a
    return q, v


@pytest.mark.parametrize("kind", CUT)
def test_a_cut_joint_allows_what_the_joint_allows(kind):
    """Any motion of the joint as part of a tree leaves the rows of the same joint, cut, at rest, and no other does."""
    rng = np.random.default_rng(3)
    m = madi.Model("twice")
    for name in "ab":
        m.body(name, 1.0, inertia=(1, 1, 1), position=rng.normal(size=3), orientation=rotation(rng))
    m.free("A", m.ground, "a")
    at = rng.normal(size=3)
    state = rng.bit_generator.state
    add_joint(m, rng, kind, "B", "a", "b", at)
    rng.bit_generator.state = state
    add_joint(m, rng, kind, "C", "a", "b", at)
    m.joints[-1].cut = True
    if kind == "fixed":
        m.joints[1].kind = "free"  # two fixed joints between the same bodies are refused
    if kind != "fixed":
        s = m.build()
        for _ in range(5):
            theta = rng.normal(size=s.nv)
            phi, rate, _, J = s.constraint_terms(moved(s, s.q0, theta), rng.normal(size=s.nv), engine="plain")
            assert np.max(np.abs(phi)) < 1e-12
            assert np.max(np.abs(rate)) < 1e-11
            assert np.max(np.abs(J)) < 1e-11
    free = pair(kind, rng).build()
    J = free.constraint_jacobian(free.q0, engine="plain")
    assert np.linalg.matrix_rank(J, tol=1e-9) == 6 - KINDS[kind].nv


@pytest.mark.parametrize("kind", [*CUT, *CONSTRAINTS])
def test_the_three_lives_agree(kind):
    rng = np.random.default_rng(11)
    m = pair(kind, rng)
    m.spring_damper("s", "a", m.ground, at=((1, 0, 0), (0, 0, 1)), stiffness=20.0, damping=1.0)
    s = m.build()
    q, v = s.assemble(moved(s, s.q0, 0.1 * rng.normal(size=s.nv)), 0.5 * rng.normal(size=s.nv)).q, rng.normal(size=s.nv)
    plain = s.forward_dynamics(q, v, engine="plain")
    for engine in ("jit", "compiled"):
        assert difference(s.forward_dynamics(q, v, engine=engine), plain) < 1e-10
        assert difference(s.constraint_jacobian(q, engine=engine), s.constraint_jacobian(q, engine="plain")) < 1e-12
    assert difference(s.forward_dynamics(q, v, formulation="velocity-transform", engine="plain"), plain) < 1e-9


def test_couplers_gears_and_racks():
    """Two gears and a rack: accelerations by hand."""
    m = madi.Model("gears", gravity=(0, 0, 0))
    for name, inertia, x in (("a", 2.0, 0), ("b", 3.0, 1)):
        m.body(name, 1.0, inertia=(inertia, inertia, inertia), position=(x, 0, 0))
    m.body("bar", 5.0, inertia=(1, 1, 1))
    m.revolute("A", m.ground, "a", at=(0, 0, 0), axis=(0, 0, 1))
    m.revolute("B", m.ground, "b", at=(1, 0, 0), axis=(0, 0, 1))
    m.prismatic("R", m.ground, "bar", at=(0, 0, 0), axis=(1, 0, 0))
    m.gear("g", "A", "B", radii=(0.2, 0.5))
    m.rack("r", "R", "B", radius=0.5)
    m.joint_torque("t", "A", 7.0)
    s = m.build()
    a = s.forward_dynamics(s.q0, s.v0, engine="plain")
    # b turns with -0.4 of a, the bar slides 0.5 times that: 2 + 3 * 0.16 + 5 * 0.04
    expected = 7.0 / (2 + 3 * 0.4**2 + 5 * 0.2**2)
    np.testing.assert_allclose(a, [expected, -0.4 * expected, -0.2 * expected], rtol=1e-9)
    assert s.mobility().degrees_of_freedom == 1
    run = madi.simulate(m, 1.0, step=0.01)
    np.testing.assert_allclose(run["B"], -0.4 * run["A"], atol=1e-10)
    np.testing.assert_allclose(run["R"], 0.5 * run["B"], atol=1e-10)


@pytest.mark.parametrize("kind", [*CUT, *CONSTRAINTS])
def test_swings_are_what_the_rate_of_psi_is_made_of(kind):
    """psi' . dY = -psi . (Y_a x dY) + extra (constraints/__init__.py), for the motions Y_a and Y_b of its bodies."""
    from madi.constraints.dispatch import evaluate_rows, pair_frames, pair_row, pair_swing
    from madi.dynamics.kinematics import positions, velocities
    from madi.spatial.vector import minus, motion_cross, second, six, three, velocity_at

    rng = np.random.default_rng(sum(map(ord, kind)) + 1)
    s = pair(kind, rng).build(frame="ground")
    model, work = s.layout.arrays, s.layout.scratch()
    positions(model, work, moved(s, s.q0, 0.3 * rng.normal(size=s.nv)))
    velocities(model, work, work.q, rng.normal(size=s.nv))
    evaluate_rows(model, work)
    for r in range(s.n_constraints):
        k = model.row_pair[r]
        pair_frames(model, work, k)
        y_a, y_b = six(work.Y, model.pair_a[k]), six(work.Y, model.pair_b[k])
        y = minus(y_b, y_a)
        _, psi, extra = pair_row(model, work, r, velocity_at(y, three(work.pair_o, 1)), second(y))
        swing = pair_swing(model, work, r, y_a, y_b)
        assert np.dot(swing, y) == pytest.approx(extra - np.dot(psi, motion_cross(y_a, y)), abs=1e-11)
