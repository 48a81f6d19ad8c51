"""Systems that were pickled or copied, fresh and used: what they answer is what the first one does."""

import copy
import pickle

import numpy as np
import pytest

import madi
from madi.topology.parameters import parameters
from tests.bodies.beams import flexible_pendulum
from tests.mechanisms import four_bar, random_tree

LIFT = madi.table([(0, 0), (0.5, 0.3), (1, 0)])


def push(t, q, v):
    return -3.0 * madi.sin(q["A"]) + LIFT(t) - 0.1 * v["A"]


def remembers(t, q, v):
    remembers.calls += 1
    return -q["A"]


remembers.calls = 0


def driven():
    m = four_bar(q0=0.4, v0=0.0)
    m.joint_torque("push", "A", push)
    return m


MODELS = {
    "tree": lambda: random_tree(np.random.default_rng(5), 6, forces=True),
    "loop and table": driven,
    "flexible": flexible_pendulum,
}
WAYS = {"pickle": lambda s: pickle.loads(pickle.dumps(s)), "deepcopy": copy.deepcopy, "copy": copy.copy}


def use(s):
    """All that a system keeps."""
    q, v = s.start.q, s.start.v
    s.mobility()
    for engine in ("jit", "plain"):
        s.forward_dynamics(q, v, engine=engine)
    s.system_jacobian(q, v, 0 * v)
    s.reactions(q, v)
    s.energy(q, v)
    s.body_pose(q, s.bodies[0])
    s.forward_dynamics(np.tile(q, (300, 1)), v)
    madi.simulate(s, 0.02, rtol=1e-4)


def answers(s):
    q, v = s.start.q, s.start.v
    yield s.forward_dynamics(q, v)
    yield s.forward_dynamics(q, v, engine="plain")
    yield s.mass_matrix(q)
    yield from s.system_jacobian(q, v, 0.1 + v)[:4]
    yield from s.derivatives(q, v)
    yield [part for r in s.reactions(q, v).values() for part in (r.force, r.moment)]
    yield madi.simulate(s, 0.05, rtol=1e-4, times=np.linspace(0, 0.05, 6)).data["q"].values
    yield madi.simulate(s, 0.05, step=0.01, method="newmark").data["q"].values


@pytest.mark.parametrize("used", [False, True])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", MODELS)
def test_copies_answer_as_the_first(name, way, used):
    s = MODELS[name]().build()
    if used:
        use(s)
    other = WAYS[way](s)
    assert other is not s
    assert other.digest == s.digest
    for mine, its in zip(answers(s), answers(other), strict=True):
        np.testing.assert_array_equal(mine, its)


def test_a_copy_has_numbers_of_its_own():
    """Closed form: a pendulum's acceleration is -g sin(q) m l / J, whatever its copy's mass."""
    m = madi.Model("pendulum")
    bob = m.body("bob", mass=1.0, inertia=(0, 0.1, 0.1), position=(0, 0, -1), unphysical=True)
    m.revolute("A", m.ground, bob, at=(0, 0, 0), axis=(0, 1, 0), q0=0.5)
    s = m.build()
    first = s.adjustable(parameters(s.model, ["bob.mass"], s.frame))
    first.adjust(np.array([2.0]))
    copies = [way(first) for way in (copy.deepcopy, WAYS["pickle"])]
    first.adjust(np.array([4.0]))
    for mass, one in ((4.0, first), *((2.0, other) for other in copies)):
        expected = -9.81 * mass * np.sin(0.5) / (mass + 0.1)
        assert one.forward_dynamics([0.5], [0.0])[0] == pytest.approx(expected, abs=1e-12)
        assert one.derivatives([0.5], [0.0])[0][0, 0] == pytest.approx(expected / np.tan(0.5), abs=1e-11)
    copies[0].adjust(np.array([1.0]))
    assert copies[0].forward_dynamics([0.5], [0.0])[0] == pytest.approx(-9.81 * np.sin(0.5) / 1.1, abs=1e-12)


def test_functions_that_stay_in_python_are_shared_by_copies_and_not_pickled():
    m = four_bar(q0=0.4)
    m.joint_torque("brake", "A", madi.in_python(remembers))
    s = m.build()
    use(s)
    other = copy.deepcopy(s)
    before = remembers.calls
    np.testing.assert_array_equal(other.forward_dynamics(s.start.q, s.start.v), s.forward_dynamics(s.start.q, s.start.v))
    assert remembers.calls > before + 1
    with pytest.raises(madi.TraceError, match=r"brake.*stays in Python.*cannot be pickled"):
        pickle.dumps(s)


def test_a_function_that_cannot_be_pickled_is_named():
    m = four_bar(q0=0.4)
    m.joint_torque("wave", "A", lambda t: madi.sin(t))
    s = m.build()
    with pytest.raises(madi.TraceError, match=r"'wave'.*cannot be pickled.*top of a module"):
        pickle.dumps(s)
    q, v = s.start.q, s.start.v
    np.testing.assert_array_equal(copy.deepcopy(s).forward_dynamics(q, v, t=0.3), s.forward_dynamics(q, v, t=0.3))
