"""Functions with memory stay in Python, pure ones are traced, and trying a function leaves no mark on it."""

import functools
import threading
import warnings

import numpy as np
import pytest

import madi
from tests.mechanisms import pendulum

RNG = np.random.default_rng(1)


def counted():
    calls = [0]

    def hold(t, q, v):
        calls[0] += 1
        return 1.0 if calls[0] > 40 else 0.0

    return hold, calls


def integral():
    total = [0.0]

    def control(t, q, v):
        total[0] += q[0]
        return -total[0]

    return control, total


class Controller:
    """Memory in an object."""

    def __init__(self):
        self.total = 0.0

    def __call__(self, t, q, v):
        self.total += float(v[0]) if isinstance(v[0], float) else v[0]
        return -self.total


def rebound():
    count = 0

    def f(t, q, v):
        nonlocal count
        count += 1
        return -q["A"] * np.cos(t)

    return f


class Shared:
    """Memory on a class."""

    total = 0.0

    def f(self, t, q, v):
        Shared.total = Shared.total + q[0]
        return -q[0]


class Late:
    """Another value only after many calls."""

    def __init__(self):
        self.calls, self.lock = 0, None

    def f(self, t, q, v):
        self.calls += 1
        return 0.0 * q[0] if self.calls < 50 else 1.0 + 0.0 * q[0]


def with_attribute():
    def f(t, q, v):
        f.total = f.total + q[0]
        return -f.total

    f.total = 0.0
    return f


def with_lock():
    late = Late()
    late.lock = threading.Lock()
    return late.f


@pytest.mark.parametrize("make", [
    lambda: Shared().f, lambda: Late().f, with_attribute, with_lock,
    lambda: functools.partial(lambda t, q, v, state: state.append(q[0]) or -q[0], state=[]),
    lambda: counted()[0], lambda: integral()[0], Controller, rebound,
    lambda: lambda t, q, v: RNG.normal(), lambda: lambda t, q, v: np.random.default_rng().normal(),
    lambda: lambda t, q, v: 1.0 if q[0] > 0 else -1.0,
])  # fmt: skip
def test_a_function_with_memory_stays_in_python_and_is_told(make):
    m = pendulum(q0=0.5)
    m.joint_torque("f", "A", make())
    with pytest.warns(madi.MadiWarning, match=r"force 'f'.*stays in Python.*madi.in_python"):
        s = m.build()
    assert len(s.frozen.signals.callbacks) == 1
    m.build()  # what tracing tried is not left behind
    assert Shared.total == 0.0


def test_trying_a_function_leaves_no_mark_on_it():
    (hold, calls), (control, total) = counted(), integral()
    for function in (hold, control):
        m = pendulum(q0=0.5)
        m.joint_torque("f", "A", function)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            m.build()
    assert calls == [0]
    assert total == [0.0]


def test_every_call_is_made():
    hold, calls = counted()
    m = pendulum(q0=0.5)
    m.joint_torque("f", "A", madi.in_python(hold))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        run = madi.simulate(m, 1.0, step=0.01, engine="jit", times=[1.0])
    assert calls[0] >= run.statistics["evaluations"]
    free = madi.simulate(pendulum(q0=0.5), 1.0, step=0.01, engine="jit", times=[1.0])
    assert abs(run["A"][-1] - free["A"][-1]) > 0.1  # the torque set in after forty calls


NOTHING = object()


def with_gain():
    def f(t, q, v):
        return -f.gain * q[0]

    f.gain = 3.0
    return f


@pytest.mark.parametrize("function", [
    lambda t, q, v: -2.0 * q["A"] - v["A"], lambda t: np.sin(3 * t), lambda t, q, v, k=3.0: -k * np.tanh(q[0]),
    lambda t, q, v: madi.where(q["A"] > 0, -1.0, 1.0), madi.table([(0, 0), (1, 0.2), (2, 0)]), with_gain(),
    lambda t, q, v, nothing=NOTHING: -q[0], functools.partial(lambda t, q, v, k: -k * q[0], k=2.0),
])  # fmt: skip
def test_a_pure_function_is_traced_without_a_word(function):
    m = pendulum(q0=0.5)
    m.joint_torque("f", "A", function)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert not m.build().frozen.signals.callbacks


def test_a_drive_with_memory_is_refused():
    calls = []
    m = pendulum()
    m.drive("A", lambda t: calls.append(1) or 0.1 * t * len(calls))
    with pytest.raises(madi.ModelError, match="function of time alone"):
        m.build()
