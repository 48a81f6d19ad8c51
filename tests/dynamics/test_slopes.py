"""Derivatives by recursion: the printed formulas on point masses, random mechanisms against the differentiated trace, chains
against Pinocchio; entries and cost that grow with the mechanism and no faster."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import madi
from madi.bodies.rigid_slopes import coriolis_of, coriolis_times, put_coriolis
from madi.kernel.fields import ABSENT
from madi.spatial.inertia import put_inertia
from madi.symbolic.elements import slopes_of
from madi.topology.slopes import BLOCKS, slope_plan
from tests.contracts.test_elements import SCENES, scene, states
from tests.identities.test_jacobian import on_a_road
from tests.mechanisms import close_loops, random_state, random_tree

SEEDS = st.integers(0, 10**6)


class Scratch:
    """What the kernels of a single body read and write."""

    def __init__(self):
        self.inertia, self.momentum, self.coriolis = np.zeros((1, 10)), np.zeros((1, 3)), np.zeros((1, 9))


@given(SEEDS)
def test_twelve_numbers_are_the_coriolis_forces_of_all_points(seed):
    """Eq. 6: a change (e, w') of the velocities gives every point (m, u) the force 2 m w' x u, and e none."""
    rng = np.random.default_rng(seed)
    m, r = rng.uniform(0.1, 2.0, 7), rng.normal(size=(7, 3))
    c = m @ r / m.sum()
    d = r - c
    J = sum(k * (x @ x * np.eye(3) - np.outer(x, x)) for k, x in zip(m, d, strict=True))
    y, eta = rng.normal(size=6), rng.normal(size=6)
    u = y[:3] + np.cross(y[3:], r)
    work = Scratch()
    put_inertia(work.inertia, 0, m.sum(), m.sum() * c, c, J[np.triu_indices(3)])
    work.momentum[0] = m @ u
    put_coriolis(work, 0, y)
    force = 2 * m[:, None] * np.cross(eta[3:], u)
    expected = [*force.sum(axis=0), *np.cross(r, force).sum(axis=0)]
    np.testing.assert_allclose(coriolis_times(work.momentum, work.coriolis, 0, eta[3:]), expected, rtol=1e-12, atol=1e-12)
    b = rng.normal(size=6)
    assert np.dot(coriolis_of(work.momentum, work.coriolis, 0, b), eta[3:]) == pytest.approx(np.dot(b, expected), rel=1e-11)


def blocks_of(s, q, v, x, engine="plain"):
    """By recursion, and by differentiating the trace of the residual: over free columns and rows that do not vanish."""
    model, slopes = s.layout.arrays, slopes_of(s.layout)
    machine = s.engine(engine).with_slopes(slopes)
    found = slopes.blocks.matrices(machine.evaluate("slopes", 0.2, q, v, x, sum(slopes.blocks.sizes)), s.nv, s.n_constraints)
    places, trace = s.traced_blocks
    expected = places.matrices(np.asarray(trace(0.2, q, v, x)), s.nv, s.n_constraints)
    free, active = np.asarray(model.drive) == -1, np.asarray(model.row_place) >= 0
    axes = {"lam": (free, active), "phi": (active, free), "rate": (active, free)}
    for name in BLOCKS:
        rows, columns = axes.get(name, (free, free))
        yield name, found[name][np.ix_(rows, columns)], expected[name][np.ix_(rows, columns)]


@settings(max_examples=8)
@given(SEEDS, st.booleans(), st.booleans(), st.sampled_from(["base", "ground"]), st.sampled_from([0.0, 0.4]))
def test_random_mechanisms_against_the_differentiated_trace(seed, loops, forces, frame, away):
    """All joints, both ways of drawing them, both frames, loops, springs, tires; also off the chart's origin."""
    rng = np.random.default_rng(seed)
    m = random_tree(rng, 4, moving=seed % 2 == 0, reverse=0.4, forces=forces)
    if forces:
        on_a_road(m, rng)
    try:
        if loops:
            close_loops(m, rng, m.build().nv)
        s = m.build(frame=frame)
    except madi.ModelError:
        return
    q, v, a = random_state(rng, s)
    x = np.concatenate([away * rng.normal(size=s.nv), a, rng.normal(size=s.n_constraints)])
    for name, found, expected in blocks_of(s, q, v, x):
        scale = max(1.0, np.max(np.abs(expected), initial=0.0))
        np.testing.assert_allclose(found, expected, atol=1e-11 * scale, err_msg=name)


def test_machine_code_gives_the_same():
    rng = np.random.default_rng(5)
    m = random_tree(rng, 6, moving=True, reverse=0.4, forces=True)
    on_a_road(m, rng)
    close_loops(m, rng, m.build().nv)
    s = m.build()
    q, v, a = random_state(rng, s)
    x = np.concatenate([0.3 * rng.normal(size=s.nv), a, rng.normal(size=s.n_constraints)])
    for (name, one, _), (_, other, _) in zip(blocks_of(s, q, v, x), blocks_of(s, q, v, x, "jit"), strict=True):
        np.testing.assert_allclose(
            other, one, rtol=1e-10, atol=1e-10 * max(1.0, np.max(np.abs(one), initial=0)), err_msg=name
        )


@pytest.mark.parametrize("name", SCENES)
def test_elements_of_every_kind(name):
    s = scene(name)
    rng = np.random.default_rng(2)
    for q, v in states(s, name, 3, seed=1):
        x = np.concatenate([0.01 * rng.normal(size=s.nv), rng.normal(size=s.nv), np.zeros(s.n_held)])
        for block, found, expected in blocks_of(s, q, v, x):
            scale = max(1.0, np.max(np.abs(expected), initial=0.0))
            np.testing.assert_allclose(found, expected, atol=1e-10 * scale, err_msg=block)


def chain(n, springs=False):
    m = madi.Model("chain")
    before = m.ground
    for k in range(n):
        body = m.body(f"b{k}", 1.0, com=(0, 0, -0.1), inertia=(0.02, 0.02, 0.01), position=(0, 0, -0.2 * k))
        m.revolute(f"j{k}", before, body, at=(0, 0, -0.2 * k), axis=[(1, 0, 0), (0, 1, 0)][k % 2])
        if springs and k:
            m.spring_damper(f"s{k}", before, body, at=((0.1, 0, -0.2 * k + 0.1), (0.1, 0, -0.2 * k - 0.1)), stiffness=50.0,
                            damping=1.0)  # fmt: skip
        before = body
    return m


@pytest.mark.parametrize("n", [7, 40])
def test_chains_against_pinocchio(n):
    import pinocchio as pin

    model, joint = pin.Model(), 0
    for k in range(n):
        place = pin.SE3(np.eye(3), np.array([0, 0, -0.2 if k else 0.0]))
        joint = model.addJoint(joint, [pin.JointModelRX(), pin.JointModelRY()][k % 2], place, f"j{k}")
        inertia = pin.Inertia(1.0, np.array([0, 0, -0.1]), np.diag([0.02, 0.02, 0.01]))
        model.appendBodyToJoint(joint, inertia, pin.SE3.Identity())
    data, s = model.createData(), chain(n).build()
    rng = np.random.default_rng(n)
    q, v, a = 0.5 * rng.normal(size=(3, n))
    pin.computeRNEADerivatives(model, data, q, v, a)
    found = s.system_jacobian(q, v, a)
    assert found.exact
    for mine, theirs in ((found.by_q, data.dtau_dq), (found.by_qd, data.dtau_dv)):
        np.testing.assert_allclose(mine, theirs, atol=1e-11 * np.max(np.abs(theirs)))


def test_entries_grow_with_the_mechanism_and_no_faster():
    """Of a chain the entries are those of M, and springs between neighbours add none; what these take is so much each."""
    sizes = []
    for n in (10, 20, 40):
        slopes = chain(n, springs=True).build().slopes
        assert slopes.blocks.sizes[:3] == [n * n] * 3
        sizes.append(slopes.fields["sizes"])
    for name in ("n_place", "n_values", "n_motions"):
        a, b, c = (size[name] for size in sizes)
        assert c - b == 2 * (b - a) > 0  # so many for each spring


def test_a_plan_without_elements_needs_no_program():
    s = chain(3).build()
    assert s.slopes.program is None
    blocks, fields = slope_plan(s.layout.arrays, [])
    assert s.slopes.plan(None).elements is ABSENT
    assert blocks.sizes[3:] == [0, 0, 0]
    assert fields["sizes"]["n_groups"] == 0


def test_where_a_trace_of_the_whole_is_smaller_it_is_taken():
    """Wheels have long laws: many of them on few columns are traced with the vehicle, few as elements."""
    from madi.papers import six_by_six, tracked

    many, few = tracked.model().build(), six_by_six.vehicle(six_by_six.road(False)).build()
    assert many.slopes is None
    assert few.slopes is not None


def test_large_models_have_equilibria_and_modes():
    """60 links that hang: the lowest frequency is that of a heavy chain, 2.4048 / 2 sqrt(g/L) (the zero of J0)."""
    m = madi.Model("hanging")
    before = m.ground
    n, length = 60, 3.0
    h = length / n
    for k in range(n):
        body = m.body(f"b{k}", 1.0 / n, com=(0, 0, -h / 2), inertia=(1e-9, 1e-9, 1e-9), position=(0, 0, -h * k))
        m.revolute(f"j{k}", before, body, at=(0, 0, -h * k), axis=(0, 1, 0), q0=0.01 if k else 0.3)
        before = body
    rest = madi.statics(m)
    assert np.max(np.abs(rest.q)) < 1e-9
    lowest = min(mode["frequency"] for mode in madi.linearize(rest).modes)
    assert lowest * 2 * np.pi == pytest.approx(2.404825557695773 / 2 * np.sqrt(9.81 / length), rel=1e-3)
