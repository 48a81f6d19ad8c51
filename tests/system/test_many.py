"""Many states in one call, and the light call of one: the same numbers as one state at a time, whatever the way."""

import threading

import numpy as np
import pytest

import madi
from tests.mechanisms import four_bar, random_state, random_tree

N = 150  # enough for several threads


def tree():
    return random_tree(np.random.default_rng(5), 7, forces=True).build()


def states(s, n, seed=3):
    rng = np.random.default_rng(seed)
    found = [random_state(rng, s)[:2] for _ in range(n)]
    return np.array([q for q, _ in found]), np.array([v for _, v in found])


def of_four_bar(n):
    s = four_bar(q0=0.4, v0=2.0).build()
    run = madi.simulate(s, 1.0, rtol=1e-9, times=np.linspace(0, 1, n))
    return s, run.data["q"].values, run.data["v"].values


QUESTIONS = {
    "forward_dynamics": lambda s, q, v, e: s.forward_dynamics(q, v, 0.1 * v, engine=e),
    "articulated": lambda s, q, v, e: s.forward_dynamics(q, v, formulation="articulated", engine=e),
    "inverse_dynamics": lambda s, q, v, e: s.inverse_dynamics(q, v, 0.3 * v, engine=e),
    "mass_matrix": lambda s, q, v, e: s.mass_matrix(q, engine=e),
    "residual": lambda s, q, v, e: s.residual(q, v, 0.2 * v, engine=e),
    "body_pose": lambda s, q, v, e: s.body_pose(q, s.bodies[-1], engine=e),
    "ground": lambda s, q, v, e: s.body_pose(q, "ground", engine=e),
    "point_jacobian": lambda s, q, v, e: s.point_jacobian(q, s.bodies[-1], (0.1, 0.2, 0.3), engine=e),
    "velocity_transformation": lambda s, q, v, e: s.velocity_transformation(q, v, engine=e),
    "energy": lambda s, q, v, e: tuple(s.energy(q, v, engine=e).values()),
    "powers": lambda s, q, v, e: tuple(x for row in s.powers(q, v, engine=e).values() for x in row.values()),
    "momentum": lambda s, q, v, e: s.momentum(q, v, engine=e),
    "reactions": lambda s, q, v, e: tuple(x for r in s.reactions(q, v, engine=e).values() for x in (r.force, r.moment)),
    "reactions in a body": lambda s, q, v, e: tuple(r.force for r in s.reactions(q, v, axes=s.bodies[1], engine=e).values()),
    "derivatives": lambda s, q, v, e: s.derivatives(q, v, 0.1 * v),
    "system_jacobian": lambda s, q, v, e: s.system_jacobian(q, v, 0.1 * v)[:4],
}  # fmt: skip
LOOPED = {
    **{name: QUESTIONS[name] for name in ("forward_dynamics", "reactions", "energy", "system_jacobian")},
    "constraint_terms": lambda s, q, v, e: s.constraint_terms(q, v, engine=e),
    "constraint_jacobian": lambda s, q, v, e: s.constraint_jacobian(q, engine=e),
}


def agree(many, single, q, v):
    """An answer over all states, and those of some of them."""
    many = many if isinstance(many, tuple) else (many,)
    for k in (0, 1, len(q) // 2, len(q) - 1):
        one = single(q[k], v[k])
        for all_of, of_one in zip(many, one if isinstance(one, tuple) else (one,), strict=True):
            assert np.shape(all_of)[1:] == np.shape(of_one)
            np.testing.assert_allclose(all_of[k], of_one, rtol=1e-11, atol=1e-11)


@pytest.mark.parametrize("name", QUESTIONS)
def test_every_function_takes_many_states(name):
    s, ask = tree(), QUESTIONS[name]
    q, v = states(s, N)
    agree(ask(s, q, v, "auto"), lambda a, b: ask(s, a, b, "plain"), q, v)


@pytest.mark.parametrize("name", LOOPED)
def test_with_loops_too(name):
    (s, q, v), ask = of_four_bar(N), LOOPED[name]
    agree(ask(s, q, v, "auto"), lambda a, b: ask(s, a, b, "plain"), q, v)


@pytest.mark.parametrize("count", [9, N])  # one after the other, in lanes; the last vector is not full
@pytest.mark.parametrize("name", ["forward_dynamics", "inverse_dynamics", "mass_matrix", "energy", "momentum"])
def test_generated_code_takes_many_states(name, count):
    s, ask = tree(), QUESTIONS[name]
    q, v = states(s, count)
    agree(ask(s, q, v, "compiled"), lambda a, b: ask(s, a, b, "plain"), q, v)


def test_lanes_of_loops_and_parameters():
    s, q, v = of_four_bar(N)
    np.testing.assert_allclose(s.forward_dynamics(q, v, engine="compiled"), s.forward_dynamics(q, v), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(s.constraint_jacobian(q, engine="compiled"), s.constraint_jacobian(q), atol=1e-11)


def test_lanes_decide_each_for_itself():
    """Conditions, powers, minima: whatever a force may be made of."""
    m = madi.Model("lanes")
    body = m.body("body", mass=1.0, inertia=(1, 1, 1))
    m.prismatic("A", m.ground, body, at=(0, 0, 0), axis=(1, 0, 0))

    def force(t, q, v):
        x = q["A"]
        odd = madi.where(x > 0.3, madi.exp(-x) * madi.sin(3 * x), madi.where(x < -0.4, madi.sqrt(madi.fabs(x)), x**3))
        return odd + madi.atan2(x, 2.0 + t) + madi.floor(5 * x) + madi.log(2 + x) * madi.tanh(x) + abs(x) ** 1.7

    m.joint_torque("push", "A", force)
    s, q = m.build(), np.linspace(-1, 1, N)[:, None]
    t = np.linspace(0, 1, N)
    found = s.forward_dynamics(q, [0.0], t=t, engine="compiled")
    np.testing.assert_allclose(found, s.forward_dynamics(q, [0.0], t=t, engine="plain"), rtol=1e-13, atol=1e-14)


def test_leading_axes_are_kept_and_broadcast():
    s = tree()
    q, v = states(s, 6)
    grid = s.forward_dynamics(q.reshape(2, 3, -1), v.reshape(2, 3, -1))
    np.testing.assert_array_equal(grid.reshape(6, -1), s.forward_dynamics(q, v))
    every = s.forward_dynamics(q[:, None], v, t=[[0.0]] * 6)
    assert every.shape == (6, 6, s.nv)
    np.testing.assert_array_equal(every[2, 4], s.forward_dynamics(q[2], v[4]))
    assert s.mass_matrix(q[:0]).shape == (0, s.nv, s.nv)
    seen = s.observe(q.reshape(2, 3, -1), v.reshape(2, 3, -1))
    assert seen.position.shape == (2, 3, len(s.bodies), 3)


def no_states(ask, s, q, v, engine):
    """Shapes of the answers at no states, and what they should be: those at four, but for the first axis."""
    none, four = (ask(s, a, b, engine) for a, b in ((q[:0], v[:0]), (q[:4], v[:4])))
    none, four = (part if isinstance(part, tuple) else (part,) for part in (none, four))
    assert [np.shape(part) for part in none] == [(0, *np.shape(part)[1:]) for part in four]


@pytest.mark.parametrize("engine", ["auto", "plain"])
@pytest.mark.parametrize("name", QUESTIONS)
def test_no_states_at_all_have_empty_answers(name, engine):
    no_states(QUESTIONS[name], tree(), *states(tree(), 4), engine)


@pytest.mark.parametrize("engine", ["auto", "plain"])
@pytest.mark.parametrize("name", {**QUESTIONS, **LOOPED})
def test_no_states_of_loops_too(name, engine):
    if name != "articulated":
        no_states({**QUESTIONS, **LOOPED}[name], *of_four_bar(4), engine)


def test_no_states_that_have_further_axes():
    s = of_four_bar(4)[0]
    found = s.reactions(np.zeros((3, 0, s.nq)), np.zeros((3, 0, s.nv)), axes="coupler")["A"]
    assert found.force.shape == found.moment.shape == (3, 0, 3)
    assert found.determined.tolist() == s.reactions()["A"].determined.tolist()
    assert all(np.shape(one) == (3, 0) for one in found.driving.values())
    assert s.observe(np.zeros((0, s.nq))).position.shape == (0, 3, 3)
    assert s.forward_dynamics(np.zeros((0, s.nq)), s.v0, engine="compiled").shape == (0, s.nv)


def test_each_state_has_its_time():
    m = madi.Model("driven")
    body = m.body("body", mass=1.0, inertia=(1, 1, 1))
    m.prismatic("A", m.ground, body, at=(0, 0, 0), axis=(1, 0, 0))
    m.joint_torque("push", "A", lambda t: madi.sin(t))
    s, t = m.build(), np.linspace(0, 2, 200)
    np.testing.assert_allclose(s.forward_dynamics(np.zeros((200, 1)), [0.0], t=t)[:, 0], np.sin(t), atol=1e-14)


def test_functions_in_python_are_called_for_every_state():
    m = madi.Model("python")
    body = m.body("body", mass=2.0, inertia=(1, 1, 1))
    m.prismatic("A", m.ground, body, at=(0, 0, 0), axis=(1, 0, 0))
    m.joint_torque("push", "A", madi.in_python(lambda t, q, v: 3.0 * q["A"] + v["A"]))
    s = m.build()
    q, v = np.linspace(-1, 1, N)[:, None], np.linspace(2, 3, N)[:, None]
    np.testing.assert_allclose(s.forward_dynamics(q, v), (3 * q + v) / 2, atol=1e-14)


def test_what_is_wrong_is_said():
    s = tree()
    q, v = states(s, 4)
    bad = v.copy()
    bad[2, 1] = np.inf
    with pytest.raises(madi.InputError, match="v: number 1 of state 2 is not finite"):
        s.forward_dynamics(q, bad)
    with pytest.raises(madi.InputError, match=r"states do not fit together: q .*4.*v .*3"):
        s.forward_dynamics(q, v[:3])
    with pytest.raises(madi.InputError, match=r"tau: .* numbers are needed"):
        s.forward_dynamics(q, v, np.zeros((4, 1)))
    with pytest.raises(madi.InputError, match="out: a writable array of float64 of shape"):
        s.forward_dynamics(q, v, out=np.zeros(3))
    with pytest.raises(madi.InputError, match=r"t=.*finite"):
        s.forward_dynamics(q, v, t=[0.0, 1.0, np.nan, 2.0])


# ---- the light call ----------------------------------------------------------------------------------------------------


def test_the_light_call_is_used():
    s = tree()
    s.forward_dynamics(*(part[0] for part in states(s, 1)))
    assert type(s._light.calls[s.entry(), "auto"]).__name__ == "builtin_function_or_method"


@pytest.mark.parametrize("engine", ["auto", "compiled"])
def test_whatever_is_given_the_answer_is_the_same(engine):
    s = tree()
    q, v = (part[0] for part in states(s, 1))
    tau = np.linspace(-1, 1, s.nv)
    wanted = s.forward_dynamics(q, v, tau, engine="plain")
    strided, column = np.repeat(q, 2)[::2], np.zeros((s.nv, 2))
    column[:, 1] = v
    for given in ((q, v, tau), (q.tolist(), v, tau), (strided, v, tau), (q, column[:, 1], tau), (q, v, list(tau))):
        np.testing.assert_allclose(s.forward_dynamics(*given, engine=engine), wanted, rtol=1e-10, atol=1e-10)
    zero = s.forward_dynamics(q, v, engine="plain")
    for given in (None, np.zeros(s.nv, dtype=int), np.zeros(s.nv, dtype=np.float32)):
        np.testing.assert_allclose(s.forward_dynamics(q, v, given, engine=engine), zero, rtol=1e-10, atol=1e-10)


def test_answers_go_where_they_are_wanted():
    s = tree()
    q, v = (part[0] for part in states(s, 1))
    wanted, out = s.forward_dynamics(q, v), np.full(s.nv, 7.0)
    assert s.forward_dynamics(q, v, out=out) is out
    np.testing.assert_array_equal(out, wanted)
    M = np.full((s.nv, s.nv), 7.0)
    assert s.mass_matrix(q, out=M) is M
    np.testing.assert_array_equal(M, s.mass_matrix(q))
    own = v.copy()
    s.forward_dynamics(q, own, out=own)  # what it reads is what it writes
    np.testing.assert_array_equal(own, wanted)
    wide = np.zeros((s.nv, 2))
    s.forward_dynamics(q, v, out=wide[:, 0])
    np.testing.assert_array_equal(wide, np.stack([wanted, 0 * wanted], axis=1))
    many = np.zeros((2, 3, s.nv))
    s.forward_dynamics(q, np.broadcast_to(v, (3, 2, s.nv)), out=np.swapaxes(many, 0, 1))
    np.testing.assert_array_equal(many, np.broadcast_to(wanted, many.shape))


@pytest.mark.parametrize("out", [np.zeros(2), np.zeros(7, dtype=np.float32), [0.0] * 7])
def test_places_that_do_not_fit_are_refused(out):
    s = tree()
    q, v = (part[0] for part in states(s, 1))
    with pytest.raises(madi.InputError, match="out: a writable array"):
        s.forward_dynamics(q, v, out=out)
    fixed = np.zeros(s.nv)
    fixed.flags.writeable = False
    with pytest.raises(madi.InputError, match="out: a writable array"):
        s.forward_dynamics(q, v, out=fixed)


def test_answers_are_not_shared():
    s = tree()
    q, v = (part[0] for part in states(s, 1))
    first = s.forward_dynamics(q, v)
    kept = first.copy()
    s.forward_dynamics(q, 2 * v)
    np.testing.assert_array_equal(first, kept)


def test_threads_do_not_disturb_each_other():
    s = tree()
    q, v = states(s, 8)
    wanted, wrong = [s.forward_dynamics(a, b) for a, b in zip(q, v, strict=True)], []

    def ask(k):
        for _ in range(300):
            if not np.array_equal(s.forward_dynamics(q[k], v[k]), wanted[k]):
                wrong.append(k)

    threads = [threading.Thread(target=ask, args=(k,)) for k in range(8)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert not wrong


def test_references_are_not_lost():
    """None, and arrays that are handed out, are counted."""
    import sys

    s = tree()
    q, v = (part[0] for part in states(s, 1))
    out = np.zeros(s.nv)
    before = sys.getrefcount(out), sys.getrefcount(q)
    for _ in range(2000):
        s.forward_dynamics(q, v, out=out)
        s.forward_dynamics(q, v)
        s._light.calls[s.entry(), "auto"](q[:1], v, None, 0.0, None)
    after = sys.getrefcount(out), sys.getrefcount(q)
    assert before == after
    assert sys.getrefcount(s.forward_dynamics(q, v)) == sys.getrefcount(np.zeros(3))
