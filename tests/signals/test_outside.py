"""P4: R = R_sym + R_num. Functions that stay in Python in implicit methods and in generated C, against the same functions
traced."""

import numpy as np
import pytest

import madi
from madi.engines.compiled import library_path
from madi.papers import six_by_six


def push(q, v):
    return -3.0 * v[0] * np.abs(v[0]) - 5.0 * v["A"] + 20.0 * q["base"][4] * q["base"][3]


def law(length, rate):
    return 30.0 * (length - 0.5) ** 3 + 2.0 * rate


def machine(python):
    """A moving base with a four-bar and a driven flywheel on it, a force of the state and a law between two points."""
    keep = madi.in_python if python else (lambda f: f)
    m = madi.Model("machine")
    base = m.body("base", 5.0, inertia=(0.5, 0.6, 0.7))
    m.free("base", m.ground, base, v0=(1.0, 0.2, 0, 0.3, 0.1, 0.5))
    places = {"a": ((0, 0, 0), (0, 0, 0.5)), "b": ((0, 0, 0.5), (1, 0, 0.7)), "c": ((1, 0, 0), (1, 0, 0.7))}
    for name, ends in places.items():
        m.body(name, 1.0, inertia=(0.05, 0.05, 0.05), position=np.mean(ends, axis=0))
    y = (0, 1, 0)
    m.revolute("A", base, "a", at=(0, 0, 0), axis=y, v0=1.0)
    m.revolute("B", "a", "b", at=(0, 0, 0.5), axis=y)
    m.revolute("C", "b", "c", at=(1, 0, 0.7), axis=y)
    m.revolute("D", base, "c", at=(1, 0, 0), axis=y)
    wheel = m.body("wheel", 1.0, inertia=(0.1, 0.2, 0.1), position=(0.5, 0, 0))
    m.revolute("W", base, wheel, at=(0.5, 0, 0), axis=y)
    m.drive("W", lambda t: 3.0 * t + madi.sin(t))
    m.force("push", "c", keep(lambda t, q, v: (push(q, v), 0.1 * v["W"] + t, 0.0)), at=(1, 0, 0.7))
    m.two_point_force("ram", "base", "b", ((0.2, 0.1, 0), (0.5, 0, 0.6)), keep(law))
    return m


def states(s, count=4):
    rng = np.random.default_rng(3)
    for _ in range(count):
        q = s.q0 + 0.05 * rng.normal(size=s.nq)
        q[3:7] /= np.linalg.norm(q[3:7])
        yield q, rng.normal(size=s.nv), rng.normal(size=s.nv), rng.normal(size=s.n_constraints), rng.uniform(0, 3)


def test_the_jacobian_is_that_of_the_traced_functions():
    traced, python = machine(False).build(), machine(True).build()
    assert python.residual_blocks[1].outside is not None
    for q, v, a, lam, t in states(traced):
        wanted, found = (s.system_jacobian(q, v, a, lam, t) for s in (traced, python))
        for x, y in zip(wanted[:4], found[:4], strict=True):
            np.testing.assert_allclose(y, x, atol=2e-7 * np.max(np.abs(x)))


def with_a_branch(t, q, v):
    """What cannot be traced; it depends on a coordinate of the base, on two speeds, and on time."""
    push = -3.0 * v[0] * abs(v[0]) + 20.0 * q["base"][4] if t < 1e9 else 0.0
    return push if push < 1e9 else 0.0, 0.1 * v["W"] + t, 0.0


@pytest.mark.filterwarnings("ignore::madi.errors.MadiWarning")
def test_what_a_function_depends_on_is_found_or_told():
    m = machine(True)
    m["push"].value = with_a_branch
    s = m.build()
    places = [*s.coordinates, *s.speeds, "length", "rate"]
    first, second = ([places[j] for j in columns] for columns in s.outside.columns)
    names = s.coordinates[s.q_slice("base")]
    assert first == [names[4], "base.vx", "W"]
    assert second == places  # marked with in_python: it may have a memory, and is not tried
    m["push"].value = madi.in_python(lambda t, q, v: (0.0, -v["A"], 0.0), of=["A"])
    s = m.build()
    assert [places[j] for j in s.outside.columns[0]] == ["A", "A"]  # the coordinate, and the speed
    m["push"].value = madi.in_python(lambda t, q, v: (0.0, -v["A"], 0.0), of=["X"])
    with pytest.raises(madi.ModelError, match="there is no coordinate or speed 'X'"):
        m.build()


class Sampled:
    """A controller with a memory: it acts every 10 ms and holds in between."""

    next = u = 0.0

    def __call__(self, t, q, v):
        if t >= self.next - 1e-12:
            self.u, self.next = -40.0 * q[0] - 5.0 * v[0], t + 0.01
        return self.u


def cart(function):
    m = madi.Model("cart", gravity=(0, 0, 0))
    m.body("b", 2.0, inertia=(1, 1, 1))
    m.prismatic("A", m.ground, "b", at=(0, 0, 0), axis=(1, 0, 0), q0=0.2)
    m.joint_torque("u", "A", function)
    return m


def test_a_controller_with_a_memory_is_not_tried():
    controller = Sampled()
    assert cart(madi.in_python(controller)).build().residual_blocks[1] is not None
    assert (controller.next, controller.u) == (0.0, 0.0)
    ends = [
        madi.simulate(cart(madi.in_python(Sampled())), 1.0, step=1e-3, method=method, engine="jit")["A"][-1]
        for method in ("rk4", "newmark")
    ]
    assert ends[0] == pytest.approx(ends[1], abs=2e-3)


def test_an_object_with_a_function_of_its_own_is_called_itself():
    class Gain:
        def __init__(self, function):
            self.function = function

        def __call__(self, t, q, v):
            return -10.0 * self.function(t, q, v)

    s = cart(madi.in_python(Gain(lambda t, q, v: q[0]))).build()
    assert s.forward_dynamics([0.2], [0.0])[0] == pytest.approx(-1.0)


@pytest.mark.filterwarnings("ignore::madi.errors.MadiWarning")
def test_linearisation_sees_what_trying_has_missed():
    """A spring that acts at its own time only: w = sqrt(500 / 2)."""
    m = cart(lambda t, q, v: -500.0 * q[0] if 2 < t < 50 else -2.0 * v[0])
    found = madi.linearize(m, q=[0.0], v=[0.0], t=3.0)
    assert np.max(found.eigenvalues.imag) == pytest.approx(np.sqrt(250.0), rel=1e-6)


@pytest.mark.parametrize("options", [{"method": "newmark", "step": 1e-2}, {"method": "ida"}, {"method": "radau"}])
def test_of_two_functions_the_guilty_one_is_named(options):
    def fails(t, q, v):
        if t > 0.3:
            raise ValueError("no more")
        return 0.0

    m = cart(madi.in_python(lambda t, q, v: -q[0]))
    m.joint_torque("guilty", "A", madi.in_python(fails))
    with pytest.raises(madi.RunError, match="'guilty' raised ValueError: no more") as caught:
        madi.simulate(m, 1.0, engine="jit", **options)
    assert len(caught.value.run.data["time"]) > 3


@pytest.mark.parametrize("engine", ["jit", "compiled"])
@pytest.mark.parametrize("options", [{"method": "newmark", "step": 5e-3}, {"method": "radau", "rtol": 1e-7},
                                     {"method": madi.GeneralizedAlpha(iterations=2, jacobian="once"), "step": 5e-3},
                                     {"method": "rk4", "step": 5e-3}, {"method": "dopri", "rtol": 1e-8}])  # fmt: skip
def test_runs_and_generated_code_with_functions_in_python(engine, options):
    """The same motion and the same work as with the functions traced."""
    times = np.linspace(0, 0.5, 6)
    wanted, found = (
        madi.simulate(machine(python), 0.5, engine=engine, times=times, reactions=["D"], **options)
        for python in (False, True)
    )
    for name in ("q", "v", "reaction_force"):
        a, b = wanted.data[name].values, found.data[name].values
        np.testing.assert_allclose(b, a, atol=1e-6 * np.max(np.abs(a)))
    assert found.statistics["evaluations"] <= 1.05 * wanted.statistics["evaluations"]
    if "newton_iterations" in wanted.statistics:
        assert (wanted.statistics["jacobian"], found.statistics["jacobian"]) == ("exact", "split")


def test_one_python_force_on_p4_s_vehicle_costs_its_calls_and_no_more():
    """P4's bar: at most 1.5 times the evaluations of the traced run, beside the calls of the function itself."""
    calls = [0]

    def drag(t, q, v):
        calls[0] += 1
        return -3.0 * v[0] * abs(v[0]), 0.0, 0.0

    found = {}
    for name, function in (("traced", lambda t, q, v: (-3.0 * v[0] * madi.fabs(v[0]), 0.0, 0.0)), ("python", drag)):
        m = six_by_six.experiment()
        m.force("drag", "chassis", function if name == "traced" else madi.in_python(function, of=["base"]))
        calls[0] = 0
        found[name] = madi.simulate(m, 1.0, method="newmark", step=0.01, engine="jit", times=[1.0]).statistics
    python, traced = found["python"], found["traced"]
    assert python["evaluations"] <= 1.5 * traced["evaluations"]
    each = 1 + 2 * 13  # of a Jacobian: the value, and both ways for the seven coordinates and six speeds of the base
    assert calls[0] <= python["evaluations"] + each * python["jacobians"] + 10


def test_what_a_function_raises_is_told_from_generated_code_too():
    m = machine(True)

    def fails(t, q, v):
        if t > 0.05:
            raise ValueError("no more")
        return 0.0, 0.0, 0.0

    m["push"].value = madi.in_python(fails)
    for engine in ("jit", "compiled"):
        for options in ({"method": "newmark", "step": 1e-2}, {"method": "rk4", "step": 1e-2}):
            with pytest.raises(madi.RunError, match="'push' raised ValueError: no more"):
                madi.simulate(m, 0.2, engine=engine, **options)


def test_code_is_kept_for_the_model_not_for_the_address_of_its_function():
    layouts = [machine(True).build().layout for _ in range(2)]
    assert len({layout.ints.tobytes() for layout in layouts}) == 2
    assert len({library_path(layout, "residual") for layout in layouts}) == 1


def test_statics_with_a_function_in_python():
    """A mass on a spring of -k x in Python hangs at m g / k."""
    m = madi.Model("scale")
    m.body("pan", 2.0, inertia=(1, 1, 1))
    m.prismatic("z", m.ground, "pan", at=(0, 0, 0), axis=(0, 0, 1))
    m.joint_torque("spring", "z", madi.in_python(lambda t, q, v: -100.0 * q["z"]))
    assert madi.statics(m).q[0] == pytest.approx(-2.0 * 9.81 / 100.0, rel=1e-9)
    found = madi.linearize(m)
    assert np.max(np.abs(found.eigenvalues.imag)) == pytest.approx(np.sqrt(50.0), rel=1e-7)


@pytest.mark.parametrize("options", [{"step": 1e-2, "method": "newmark"}, {"rtol": 1e-7}, {"rtol": 1e-6, "method": "radau"}])
def test_batches_with_functions_in_python(options):
    """Each run of a batch is that of the traced function; the addresses of functions are no part of a model's structure."""

    def pendulum(keep):
        m = madi.Model("pendulum")
        m.body("bob", 1.0, inertia=(0.1, 0.1, 0.1), position=(0.5, 0, 0))
        m.revolute("A", m.ground, "bob", at=(0, 0, 0), axis=(0, 1, 0))
        m.joint_spring("s", "A", stiffness=5.0, damping=0.1)
        m.joint_torque("t", "A", keep(lambda t, q, v: -0.3 * v["A"] + 0.2 * q["A"]))
        return m

    values = {"s.stiffness": [1.0, 5.0, 9.0]}
    found, wanted = (
        madi.simulate_many(pendulum(keep), values, 1.0, times=[1.0], **options) for keep in (madi.in_python, lambda f: f)
    )
    np.testing.assert_allclose(found["q"].values, wanted["q"].values, rtol=1e-9)
    assert len(np.unique(found["q"].values)) == 3
