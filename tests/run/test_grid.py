"""Every method with every way to close loops, formulation, frame and engine, on five models: the same motion, or a clear
refusal. A sample here, all of it in `make test-all`; with sparse outputs, small steps, loose and tight tolerances, far away,
and a drive whose speed jumps: where wrong numbers were."""

import itertools
from functools import cache

import numpy as np
import pytest

import madi
from madi.engines import ENGINES
from madi.integrate import METHODS
from madi.loops.methods import LOOP_METHODS
from tests.mechanisms import double_pendulum, far_four_bar

LOOPS = [None, *LOOP_METHODS]
FORMULATIONS = [None, "recursive", "articulated", "velocity-transform", "cartesian"]
FRAMES = ["base", "ground"]
PLACES = [(0.0, 0.0, 0.0), (1e5, -1e5, 1e5)]
OUTPUTS = [[0.2], np.linspace(0, 0.2, 21)]
ADAPTIVE = [name for name, method in METHODS.items() if method.adaptive is not None]
SPAN = 0.2


def satellite(at):
    """A moving base with an arm on a ball joint and a reaction wheel."""
    o = np.asarray(at, dtype=float)
    m = madi.Model("satellite", gravity=(0.1, -0.2, -0.3))
    m.body("hull", 5.0, inertia=(0.5, 0.6, 0.4), position=o)
    m.body("arm", 1.0, inertia=(0.05, 0.06, 0.03), position=o + (0.5, 0.1, 0))
    m.body("wheel", 0.5, inertia=(0.02, 0.02, 0.03), position=o + (0, 0, 0.3))
    m.free("float", m.ground, "hull", v0=(0.3, 0.1, -0.2, 0.4, 0.2, -0.3))
    m.spherical("shoulder", "hull", "arm", at=o + (0.3, 0, 0), v0=(0.5, -0.4, 0.8))
    m.revolute("spin", "hull", "wheel", at=o + (0, 0, 0.3), axis=(0, 0, 1), v0=9.0)
    m.spring_damper("tie", "hull", "arm", at=(o, o + (0.7, 0.1, 0)), stiffness=30.0, damping=0.2, free_length=0.6)
    return m


def driven(at):
    m = far_four_bar(at)
    m.drive("A", lambda t: 0.5 * t * t)
    return m


def jumping(at):
    m = double_pendulum(at)
    m.drive("B", lambda t: madi.where(t < 0.1, 0.0, 0.7 * (t - 0.1)))
    return m


MODELS = {"tree": double_pendulum, "loop": far_four_bar, "base": satellite, "driven loop": driven, "jump": jumping}


@cache
def exact(name, many):
    run = madi.simulate(MODELS[name]((0, 0, 0)), SPAN, rtol=1e-11, times=OUTPUTS[many], engine="jit")
    return {body: run.data["position"].sel(body=body).values for body in run.data["body"].values}


def allowed(method, tight):
    if method in ADAPTIVE:
        return 1e-5 if tight else 1e-2
    return {"rk4": 1e-7, "ab3": 5e-5}.get(method, 1e-4)


def refuses(name, method, loops, formulation, engine):
    """What is refused, and said so."""
    closed, jumps = name in ("loop", "driven loop"), name == "jump"
    implicit = method in ("newmark", "generalized-alpha", "radau", "ida", "cvode")
    if formulation == "articulated" and closed:
        return "serves trees"
    if formulation == "cartesian" and (implicit or engine == "compiled" or (closed and loops not in (None, "projection"))):
        return "cartesian"
    if closed and loops is not None and method in ("newmark", "generalized-alpha", "ida"):
        return "leave `loops` out"
    if closed and formulation == "velocity-transform" and loops in ("pseudo-inverse", "svd", "qr", "partition"):
        return "has formulation='recursive'"
    if closed and engine == "compiled" and loops not in (None, "projection"):
        return "has engine='jit' or 'plain'"
    if jumps and method in ("ida", "cvode"):
        return "no impulse"
    return None


def combination(name, method, loops, formulation, frame, engine, place, many, tight):
    options = {"method": method, "formulation": formulation, "frame": frame, "engine": engine, "times": OUTPUTS[many]}
    if loops is not None:
        options["loops"] = loops
    if method in ADAPTIVE:
        options["rtol"] = 1e-8 if tight else 1e-4
    else:
        options["step"] = 2e-4 if tight and engine != "plain" else 1e-3
    refused = refuses(name, method, loops, formulation, engine)
    model = MODELS[name](PLACES[place])
    if refused is not None:
        with pytest.raises(madi.MadiError):
            madi.simulate(model, SPAN, **options)
        return
    run = madi.simulate(model, SPAN, **options)
    most = allowed(method, tight) * (100 if loops in ("augmented", "baumgarte") else 1)
    if name == "jump" and method not in ADAPTIVE:
        most = max(most, 2e-3)  # the jump is felt at the end of its step
    if method == "newmark-explicit":
        most = max(most, options["step"])  # of first order
    for body, wanted in exact(name, many).items():
        found = run.data["position"].sel(body=body).values - PLACES[place]
        assert np.max(np.abs(found - wanted)) < most, (name, options)


EVERYTHING = list(
    itertools.product(MODELS, METHODS, LOOPS, FORMULATIONS, FRAMES, ENGINES, range(2), range(2), (False, True))
)


def sample(count, seed):
    """Evenly over models and methods, the rest at random; generated C is slow to make: few of it."""
    rng = np.random.default_rng(seed)
    chosen = []
    for name, method in itertools.product(MODELS, METHODS):
        of = [one for one in EVERYTHING if one[:2] == (name, method)]
        good = [one for one in of if refuses(name, method, one[2], one[3], one[5]) is None]
        for k in range(count):
            among = good if k % 4 and good else of
            pick = among[rng.integers(len(among))]
            chosen.append(pick if k == 1 else (*pick[:5], "jit" if pick[5] == "compiled" else pick[5], *pick[6:]))
    return chosen


@pytest.mark.parametrize("name", MODELS)
def test_a_sample_of_all_combinations(name):
    for one in sample(4, 11):
        if one[0] == name and not (one[5] == "plain" and one[8]):  # plain Python is slow
            combination(*one)


@pytest.mark.slow
@pytest.mark.parametrize("name, method", itertools.product(MODELS, METHODS))
def test_all_combinations(name, method):
    for k, one in enumerate(EVERYTHING):
        if one[:2] == (name, method) and (one[5] != "plain" or (k % 7 == 0 and not one[8])):  # plain Python is slow
            combination(*one)


@pytest.mark.parametrize("name", ["tree", "loop", "base"])
@pytest.mark.parametrize("options", [
    {"rtol": 1e-7}, {"rtol": 1e-7, "method": "abm"}, {"step": 1e-3}, {"rtol": 1e-6, "method": "radau"},
    {"step": 1e-3, "method": "newmark"}, {"rtol": 1e-7, "formulation": "cartesian"},
])  # fmt: skip
def test_cut_and_resumed_is_the_whole(name, options, tmp_path):
    """A run stopped between steps and taken up again, twice, equals the whole run bit for bit."""
    from madi.run.simulate import keep, prepare

    model, path = MODELS[name]((1e3, 0, 0)), tmp_path / "c.npz"
    whole = madi.simulate(model, SPAN, engine="jit", **options)
    for steps in (3, 4):
        solver = prepare(model, SPAN, engine="jit", **options)
        keep(solver, madi.Checkpoint(path, every=1e9, resume=True))
        real = solver.integrate

        def part(loop, progress, solver=solver, steps=steps):
            m = solver.memory
            m.upto, m.end = solver.segments()[0]
            m.limit = steps
            status = loop(m)
            solver.keeper.write(solver)
            return status

        solver.integrate = part
        solver.run(False)
        solver.integrate = real
    again = madi.simulate(model, SPAN, engine="jit", checkpoint=madi.Checkpoint(path, resume=True), **options)
    for variable in ("q", "v", "a"):
        np.testing.assert_array_equal(again.data[variable].values, whole.data[variable].values)


@pytest.mark.parametrize("name", ["tree", "loop"])
def test_many_runs_exported_code_and_small_motions_far_away(name, tmp_path):
    import subprocess

    far = MODELS[name]((1e5, 1e5, 0))
    found = madi.simulate_many(far, {f"{far.bodies[0].name}.mass": [1.0, 2.0]}, SPAN, step=1e-3, times=[SPAN])
    alone = madi.simulate(far, SPAN, step=1e-3, times=[SPAN], engine="jit")
    np.testing.assert_allclose(found["q"].values[0, -1], alone.data["q"].values[-1], atol=1e-9)
    files = madi.export_c(far, tmp_path, step=1e-3, method="newmark", duration=SPAN)
    assert files
    sources = [str(path) for path in tmp_path.glob("*.c")]
    subprocess.run(["cc", "-O1", "-std=c99", *sources, "-o", str(tmp_path / "run"), "-lm"], check=True, cwd=tmp_path)
    told = subprocess.run([str(tmp_path / "run")], check=True, capture_output=True, text=True).stdout.strip().split("\n")[-1]
    last = madi.simulate(far, SPAN, step=1e-3, method="newmark", times=[SPAN], engine="jit").data["q"].values[-1]
    numbers = [float(word) for word in told.replace(",", " ").split()]
    assert (
        min(np.max(np.abs(np.array(numbers[k : k + len(last)]) - last)) for k in range(len(numbers) - len(last) + 1)) < 1e-6
    )
    near = MODELS[name]((0, 0, 0))
    np.testing.assert_allclose(
        np.sort_complex(np.asarray(madi.linearize(far).eigenvalues)),
        np.sort_complex(np.asarray(madi.linearize(near).eigenvalues)), atol=1e-6,
    )  # fmt: skip
