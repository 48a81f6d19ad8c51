"""Friction that sticks, hard stops, events: closed forms, momentum, and what every method and engine must agree on."""

import numpy as np
import pytest

import madi
from madi.errors import InputError, ModelError
from madi.verify import dry_friction as known

METHODS = [
    {"rtol": 1e-9}, {"rtol": 1e-9, "method": "abm"}, {"rtol": 1e-8, "method": "radau"}, {"step": 0.01},
    {"step": 0.01, "method": "ab3"}, {"step": 0.01, "method": "abm"}, {"step": 0.01, "method": "newmark"},
    {"step": 0.01, "method": "generalized-alpha"}, {"step": 0.01, "method": "radau"},
    {"step": 0.01, "method": "newmark-explicit-full"},
]  # fmt: skip


def slides(*masses, **start):
    """Blocks in a row, each on a slide on the one before; coordinates are the distances."""
    m = madi.Model("blocks", gravity=(0, 0, 0))
    before = m.ground
    for k, mass in enumerate(masses):
        block = m.body(f"block{k}", mass=mass, inertia=(1, 1, 1))
        m.prismatic(f"x{k}", before, block, at=(0, 0, 0), axis=(1, 0, 0), **{n: v[k] for n, v in start.items()})
        before = block
    return m


def four_bar(crank=0.2, v0=None):
    m = madi.Model("four-bar", gravity=(0, 0, -9.81))
    at = {"A": (0, 0, 0), "B": (0, 0, 0.3), "C": (0.8, 0, 0.7), "D": (0.9, 0, 0)}
    names = [("crank", "A", "B"), ("coupler", "B", "C"), ("rocker", "C", "D")]
    for name, a, b in names:
        middle = (np.array(at[a]) + at[b]) / 2
        m.body(name, mass=1.0, inertia=(0.05, 0.05, 0.05), position=middle)
    m.revolute("A", m.ground, "crank", at=at["A"], axis=(0, 1, 0), q0=crank, v0=v0)
    m.revolute("B", "crank", "coupler", at=at["B"], axis=(0, 1, 0))
    m.revolute("C", "coupler", "rocker", at=at["C"], axis=(0, 1, 0))
    m.revolute("D", "rocker", m.ground, at=at["D"], axis=(0, 1, 0))
    return m


@pytest.mark.parametrize("options", METHODS, ids=lambda o: f"{o.get('method', '')} {o.get('step', '')}".strip() or "dopri")
def test_a_block_stops_where_it_must_and_stays_in_every_method(options):
    """Constant forces: every method is exact, so only the event can err; then it moves no more, and needs what holds it."""
    run = madi.simulate(known.incline(0.3), 2.0, engine="jit", times=[1.0, 2.0], **options)
    assert run["x"][0] == pytest.approx(known.STOP_WAY, abs=1e-12)
    assert run["x"][1] == run["x"][0]
    assert run.events[0].time == pytest.approx(known.STOP_TIME, abs=1e-12)
    assert run["friction"][1] == pytest.approx(known.G * np.sin(known.INCLINE), rel=1e-12)
    assert run["friction.mode"].tolist() == [2.0, 2.0]
    back = madi.simulate(known.incline(0.2), known.BACK_TIME, engine="jit", times=[known.BACK_TIME], **options)
    assert back["x.v"][0] == pytest.approx(known.BACK_SPEED, abs=1e-11)


@pytest.mark.parametrize("engine", ["plain", "compiled"])
@pytest.mark.parametrize("model", [known.oscillator, known.belt_drops, known.ball, known.pendulum])
def test_engines_agree(model, engine):
    a, b = (madi.simulate(model(), 2.0, step=0.01, engine=name) for name in ("jit", engine))
    assert len(a.events) == len(b.events) > 0
    np.testing.assert_allclose([e.time for e in a.events], [e.time for e in b.events], atol=1e-11)
    np.testing.assert_allclose(a.data["q"].values, b.data["q"].values, atol=1e-11)


@pytest.mark.parametrize("formulation", ["recursive", "articulated", "velocity-transform"])
def test_formulations_agree_on_what_is_held(formulation):
    """Two blocks on each other, pulled harder and harder: the lower one is held by the floor (5 N), the upper one by the
    lower (9 N). At 5 N both start; at 5 + 4 (1 + 2) / 1 = 17 N the upper one slides on the lower."""
    m = slides(1.0, 2.0)
    m.friction("floor", "x0", coulomb=5.0)
    m.friction("between", "x1", coulomb=9.0)
    m.force("pull", "block1", lambda t: (2.0 * t, 0.0, 0.0))
    run = madi.simulate(m, 10.0, rtol=1e-10, formulation=formulation, engine="jit", times=np.linspace(0, 10, 11))
    assert [event.name for event in run.events] == ["floor", "between"]
    np.testing.assert_allclose([event.time for event in run.events], [2.5, 8.5], atol=1e-9)
    together = run.data["time"].values <= 8.5
    np.testing.assert_allclose(run["x1"][together], 0.0, atol=1e-35)
    t = run.data["time"].values[together]
    np.testing.assert_allclose(run["x0.v"][together], np.maximum(t - 2.5, 0.0) ** 2 / 3, atol=1e-9)
    assert run["floor"][1] == pytest.approx(-2.0)  # it bears what pulls
    assert run["between"][6] == pytest.approx(-(12.0 - 2.0 * (12.0 - 5.0) / 3.0))  # what the upper one does not need itself


def test_a_row_of_balls():
    """Impacts one after the other, e = 0.8, masses 1, 2, 4: by hand -0.2, -0.12, 0.36 m/s."""
    m = slides(1.0, 2.0, 4.0, q0=(0.0, 1.0, 1.0), v0=(1.0, -1.0, 0.0))
    m.stop("first", "x1", lower=0.0, restitution=0.8)
    m.stop("second", "x2", lower=0.0, restitution=0.8)
    run = madi.simulate(m, 10.0, rtol=1e-9, engine="jit")
    v = np.cumsum([run[f"x{k}.v"][-1] for k in range(3)])
    np.testing.assert_allclose(v, [-0.2, -0.12, 0.36], atol=1e-12)
    energy = 0.5 * (0.2**2 + 2 * 0.12**2 + 4 * 0.36**2)
    assert sum(event.lost for event in run.events) == pytest.approx(0.5 - energy, rel=1e-12)


def test_a_stop_in_a_loop_passes_its_impulse_on():
    """The crank comes back with -e times its speed, the loop's speeds fit, and energy goes as the event says."""
    m = four_bar(0.2, v0=2.0)
    m.stop("stop", "A", upper=0.5, restitution=0.5)
    run = madi.simulate(m, 1.0, rtol=1e-10, engine="jit", times=np.linspace(0, 1, 2001))
    first = run.events[0]
    k = int(np.searchsorted(run.data["time"].values, first.time))
    assert run["A.v"][k] == pytest.approx(-0.5 * run["A.v"][k - 1], rel=2e-2)
    assert np.max(run["A"]) <= 0.5 + 1e-12
    assert np.max(np.abs(run.data["violation_rate"].values)) < 1e-9
    lost = sum(event.lost for event in run.events)
    assert run["energy"][0] - run["energy"][-1] == pytest.approx(lost, abs=1e-7)


def test_friction_in_a_loop_takes_what_is_missing():
    m = four_bar(0.2, v0=3.0)
    for name in ("A", "B"):
        m.friction(f"f{name}", name, coulomb=0.6)
    run = madi.simulate(m, 6.0, rtol=1e-9, engine="jit", times=np.linspace(0, 6, 12001))
    t = run.data["time"].values
    power = run["fA.dissipated"] + run["fB.dissipated"]
    taken = np.concatenate([[0.0], np.cumsum(0.5 * (power[1:] + power[:-1]) * np.diff(t))])
    np.testing.assert_allclose(run["energy"] + taken, run["energy"][0], atol=2e-4)  # (trapezoids over the events)
    assert run["fA.mode"][-1] == 2.0 or run["fB.mode"][-1] == 2.0
    assert abs(run["A.v"][-1]) < 1e-12


def test_a_stop_and_friction_on_one_joint_share_what_they_bear():
    m = slides(1.0)
    m.stop("stop", "x0", lower=0.0, restitution=0.0)
    m.friction("friction", "x0", coulomb=3.0)
    m.force("push", "block0", lambda t: (-10.0 + 5.0 * t, 0.0, 0.0))
    run = madi.simulate(m, 3.0, rtol=1e-9, engine="jit", times=[0.5, 1.9, 2.4, 3.0])
    np.testing.assert_allclose(run["stop"] + run["friction"], [7.5, 0.5, -2.0, -3.0], atol=1e-9)
    assert np.all(np.abs(run["friction"]) <= 3.0 + 1e-12)
    assert np.all(run["stop"] >= 0.0)
    assert abs(run["x0"][2]) < 1e-35
    assert run["x0"][3] == pytest.approx(5.0 * 0.4**3 / 6, abs=1e-9)  # it leaves where 3 N are exceeded, at 2.6 s


@pytest.mark.parametrize("options", [{"rtol": 1e-10}, {"step": 0.05}, {"rtol": 1e-9, "method": "abm"}])
def test_events_are_found_once_and_where_they_are(options):
    m = slides(1.0, v0=(1.0,))
    m.joint_spring("spring", "x0", stiffness=1.0)  # x = sin t
    m.event("rises", lambda t, q, v: q["x0"] - 0.5, direction=1)
    m.event("falls", lambda t, q, v: q["x0"] - 0.5, direction=-1)
    m.event("top", lambda t, q, v: q["x0"] - 0.999, direction=0)  # both within 0.09 s
    m.event("end", lambda t, q, v: t - 8.0, stop=True)
    run = madi.simulate(m, 20.0, engine="jit", **options)
    found = {name: [event.time for event in run.events if event.name == name] for name in ("rises", "falls", "top", "end")}
    half, top, accuracy = np.arcsin(0.5), np.arcsin(0.999), 1e-8 if "rtol" in options else 2e-6
    np.testing.assert_allclose(found["rises"], [half, half + 2 * np.pi], atol=accuracy)
    np.testing.assert_allclose(found["falls"], [np.pi - half], atol=accuracy)
    np.testing.assert_allclose(found["top"], [top, np.pi - top, top + 2 * np.pi, 3 * np.pi - top], atol=40 * accuracy)
    assert found["end"] == pytest.approx([8.0], abs=1e-12)
    assert run.statistics["stopped_by"] == "end"
    assert run.data["time"].values[-1] <= 8.0


def test_results_files_and_model_files_keep_them(tmp_path):
    m = known.ball()
    m.friction("guide", "z", coulomb=0.5, static=0.7, stribeck=0.1, viscous=0.01, law="hyperbolic")
    m.save(tmp_path / "ball.yaml")
    again = madi.load(tmp_path / "ball.yaml")
    assert again["guide"].parameters == m["guide"].parameters
    assert again["floor"].kind == "hard_stop"
    run, other = (madi.simulate(each, 1.0, rtol=1e-8, engine="jit") for each in (m, again))
    np.testing.assert_array_equal(run["z"], other["z"])
    run.save(tmp_path / "ball.nc")
    kept = madi.load_run(tmp_path / "ball.nc")
    assert kept.events == run.events
    np.testing.assert_array_equal(kept["floor.mode"], run["floor.mode"])


def test_a_batch_has_the_same_runs():
    frictions = [0.0, 1.0, 4.0]
    found = madi.simulate_many(known.oscillator(), {"friction.coulomb": frictions}, 1.0,
                               step=0.01, workers=1)  # fmt: skip
    for k, coulomb in enumerate(frictions):
        m = known.oscillator()
        m.replace("friction", coulomb=coulomb)
        alone = madi.simulate(m, 1.0, step=0.01, engine="jit")
        np.testing.assert_array_equal(found["q"].values[k, :, 0], alone["x"])


def test_a_run_cut_and_resumed_is_the_whole(tmp_path):
    whole = madi.simulate(known.ball(), 3.0, rtol=1e-8, engine="jit")
    place = tmp_path / "run.npz"
    from madi.run.simulate import keep, prepare

    solver = prepare(known.ball(), 3.0, rtol=1e-8, engine="jit")
    keep(solver, madi.Checkpoint(place))
    loop, m = solver.connect(), solver.memory
    m.upto, m.end, m.limit = len(solver.times), 3.0, 40
    loop(m)
    solver.take_events()
    solver.keeper.write(solver)
    resumed = madi.simulate(known.ball(), 3.0, rtol=1e-8, engine="jit", checkpoint=madi.Checkpoint(place, resume=True))
    assert resumed.events == whole.events
    np.testing.assert_array_equal(resumed["z"], whole["z"])


def test_what_is_wrong_is_said():
    m = known.oscillator()
    m.friction("worse", "x", coulomb=-1.0)
    m.friction("weaker", "x", coulomb=2.0, static=1.0)
    m.stop("none", "x")
    m.stop("too much", "x", lower=0.0, restitution=1.5)
    m.event("where", lambda t, q, v: q["x"], direction=2)
    with pytest.raises(ModelError) as caught:
        m.build()
    for words in ("coulomb is negative", "static 1.0 is below coulomb", "neither lower nor upper", "not from 0 to 1",
                  "direction 2"):  # fmt: skip
        assert words in str(caught.value)
    with pytest.raises(InputError, match="hard stop"):
        known.ball().stop("two", "z", lower=0.0, stiffness=1.0, restitution=0.5)
    for options in ({"method": "ida"}, {"formulation": "cartesian"}):
        with pytest.raises(InputError, match="friction"):
            madi.simulate(known.incline(0.3), 1.0, **options)
    with pytest.raises(InputError, match="exported code"):
        madi.export_c(known.incline(0.3), "out", step=1e-3, method="rk4")
    with pytest.raises(InputError, match="beyond its hard stop"):
        madi.simulate(known.ball(), 1.0, start=([-0.1], None))
    with pytest.raises(madi.RunError, match="floor: hard stops and dry friction hold in runs only"):
        madi.statics(known.ball())
    ending = known.ball()
    ending.event("end", lambda t: t - 1.0, stop=True)
    with pytest.raises(InputError, match="ends its run"):
        madi.simulate_many(ending, {"ball.mass": [1.0]}, 1.0, step=0.01)


@pytest.mark.parametrize("options", [{"rtol": 1e-7}, {"step": 2e-3}, {"step": 2e-3, "method": "newmark"}])
def test_a_chain_of_stops_comes_to_rest(options):
    """Links that fall into their stops, one after the other and all again: what is lost is what the events say, nothing goes
    through, and it rests."""
    m = madi.Model("finger")
    before = m.ground
    for k in range(5):
        link = m.body(f"link{k}", mass=0.03, inertia=(5e-6,) * 3, position=(0, 0, 0.015 + 0.03 * k))
        m.revolute(f"j{k}", before, link, at=(0, 0, 0.03 * k), axis=(0, 1, 0), q0=0.2, v0=2.0 - k)
        m.stop(f"s{k}", f"j{k}", lower=-0.2, upper=0.6, restitution=0.3)
        before = link
    accuracy = 2e-5 if "method" in options else 1e-6  # of the motion between the impacts
    run = madi.simulate(m, 1.0, engine="jit", **options)
    q = np.column_stack([run[f"j{k}"] for k in range(5)])
    assert np.max(q) <= 0.6 + 1e-8
    assert np.min(q) >= -0.2 - 1e-8
    np.testing.assert_allclose(q[-1], 0.6, atol=1e-8)
    assert np.max(np.abs(run.data["v"].values[-1])) < 1e-12
    assert run["energy"][0] - run["energy"][-1] == pytest.approx(sum(event.lost for event in run.events), abs=accuracy)


@pytest.mark.parametrize(
    "options",
    [{"loops": name, "rtol": 1e-9} for name in ("qr", "svd", "partition", "pseudo-inverse")]
    + [{"loops": name, "step": 5e-4} for name in ("augmented", "baumgarte")]
    + [{"frame": "ground", "rtol": 1e-9}, {"method": "radau", "rtol": 1e-9}],
    ids=lambda o: str(next(iter(o.values()))),
)
def test_ways_to_keep_a_loop_closed_agree_on_where_it_comes_to_rest(options):
    """A crank that hits its stop and is braked in two joints until nothing moves: then two of three that hold are enough."""

    def drawn():
        m = four_bar(0.2, v0=3.0)
        m.friction("first", "A", coulomb=0.6)
        m.friction("second", "B", coulomb=0.3)
        m.stop("stop", "A", lower=-1.5, upper=2.5, restitution=0.5)
        return m

    here, there = (madi.simulate(drawn(), 3.0, engine="jit", times=[1.0, 3.0], **o) for o in ({"rtol": 1e-9}, options))
    np.testing.assert_allclose(there["A"], here["A"], atol=1e-8)
    assert abs(there["A.v"][-1]) < 1e-12
