"""Measured data of any length: the same law in all engines, and a trace that does not grow with the points."""

import subprocess

import numpy as np
import pytest
from scipy.interpolate import PchipInterpolator

import madi
from madi.engines.compiler import compiler
from madi.kernel.lookup import Curves
from madi.symbolic.jacobian import jacobian_function
from madi.symbolic.ssa import LOOKUPS, instructions
from madi.symbolic.trace import trace

RNG = np.random.default_rng(11)
ENGINES = ["plain", "jit", *(["compiled"] if compiler() else [])]


def slide(points, between="cubic", nested=False):
    """A body on a slide, with forces by tables over time, way, and stretch."""
    x = np.sort(np.concatenate([[-3.0, 3.0], RNG.uniform(-3, 3, points - 2)]))
    f, g = (madi.table(np.column_stack([x, RNG.normal(size=points)]), between) for _ in range(2))
    m = madi.Model("slide")
    m.body("b", 2.0, inertia=(1, 1, 1), position=(1, 0, 0))
    m.prismatic("A", m.ground, "b", at=(0, 0, 0), axis=(1, 0, 0))
    m.joint_torque("f", "A", lambda t, q, v: f(f(t)) + g(q["A"] * v["A"]) if nested else f(t) + g(q["A"]))
    spring = np.column_stack([x, np.cumsum(RNG.uniform(0, 1, points))])
    m.characteristic("c", m.ground, "b", ((0, 0, 0), (1, 0, 0)), spring=spring, free_length=1.0, between=between)
    return m, f, g, spring


@pytest.mark.parametrize("between", ["linear", "cubic"])
@pytest.mark.parametrize("points", [5, 5000])
def test_all_engines_look_up_what_scipy_has(points, between):
    m, f, g, spring = slide(points, between)
    s = m.build()
    law = PchipInterpolator(*spring.T) if between == "cubic" else lambda x: np.interp(x, *spring.T)
    for q, t in RNG.uniform(-2.9, 2.9, (20, 2)):
        exact = 0.5 * (f(t) + g(q) - float(law(q)) * np.sign(1.0 + q))
        if between == "linear":
            assert f(t) == pytest.approx(np.interp(t, *f.points.T), rel=1e-12, abs=1e-12)
        for engine in ENGINES:
            assert s.forward_dynamics([q], [0.3], t=t, engine=engine)[0] == pytest.approx(
                exact if q > -1 else 0.5 * (f(t) + g(q) + float(law(-2.0 - q))), rel=1e-9, abs=1e-9
            )


def test_a_smooth_table_is_pchip_but_for_its_level_ends():
    x = np.sort(RNG.uniform(0, 1, 400))
    y = np.cumsum(RNG.normal(size=400))
    known, found = PchipInterpolator(x, y), madi.table(np.column_stack([x, y]))
    inside = RNG.uniform(x[1], x[-2], 1000)
    np.testing.assert_allclose(found(inside), known(inside), rtol=1e-10, atol=1e-10)
    np.testing.assert_array_equal([found(one) for one in inside[:50]], found(inside[:50]))
    assert (found(-np.inf), found(np.inf), found(5)) == (y[0], y[-1], y[-1])


@pytest.mark.parametrize("nested", [False, True])
def test_derivatives_go_through_tables(nested):
    m, *_ = slide(30, nested=nested)
    s, h = m.build(), 1e-6
    for q, v, t in RNG.uniform(-0.9, 0.9, (10, 3)):
        by_q, by_v, _ = s.derivatives([q], [v], t=t)
        rates = [
            [s.forward_dynamics([q + a * h], [v + b * h], t=t, engine="plain")[0] for a, b in ((k, 0), (0, k))]
            for k in (1, -1)
        ]
        np.testing.assert_allclose([by_q[0, 0], by_v[0, 0]], np.subtract(*rates) / (2 * h), rtol=1e-5, atol=1e-5)


def test_a_drive_has_the_rate_and_acceleration_of_its_table():
    x = np.sort(RNG.uniform(0, 4, 3000))
    cam = madi.table(np.column_stack([x, np.sin(x)]))
    m = madi.Model("cam")
    m.body("b", 1.0, inertia=(1, 1, 1))
    m.prismatic("A", m.ground, "b", at=(0, 0, 0), axis=(1, 0, 0))
    m.drive("A", lambda t: cam(t) * 2)
    run = madi.simulate(m, 3.0, times=np.linspace(0.5, 3.0, 11), engine="jit")
    slopes = PchipInterpolator(x, np.sin(x))
    time = run.data["time"].values
    np.testing.assert_allclose(run["A"], 2 * slopes(time), rtol=1e-10)
    np.testing.assert_allclose(run.data["v"].values[:, 0], 2 * slopes(time, 1), rtol=1e-8)
    np.testing.assert_allclose(run.data["a"].values[:, 0], 2 * slopes(time, 2), rtol=1e-6, atol=1e-6)


def test_a_trace_does_not_grow_with_the_points():
    counts = []
    for points in (10, 20_000):
        s = slide(points)[0].build()
        listed = instructions(trace(s.layout, "articulated"))
        blocks = jacobian_function(s.layout)
        counts.append((len(listed), blocks[1].n_instructions(), len(s.layout.arrays.tape_op)))
        assert sum(one.op in LOOKUPS for one in listed) == 3
        assert len(s.layout.reals) < 200
    assert counts[0] == counts[1]


@pytest.mark.parametrize("method", ["radau", "newmark"])
def test_implicit_methods_see_the_same_table_in_all_engines(method):
    m, *_ = slide(4000)
    ends = [madi.simulate(m, 0.2, method=method, step=1e-3, engine=engine)["A"][-1] for engine in ENGINES[1:]]
    np.testing.assert_allclose(ends, ends[0], rtol=1e-9)


def test_a_million_points():
    x = np.linspace(0.0, 1000.0, 1_000_000)
    m = madi.Model("long")
    m.body("b", 1.0, inertia=(1, 1, 1))
    m.prismatic("A", m.ground, "b", at=(0, 0, 0), axis=(1, 0, 0))
    long = madi.table(np.column_stack([x, np.sin(x)]), between="linear")
    m.joint_torque("f", "A", long)
    s = m.build()
    for t in (-1.0, 0.0, 123.456, 999.9999, 2000.0):
        assert s.forward_dynamics([0.0], [0.0], t=t, engine="jit")[0] == pytest.approx(np.interp(t, x, np.sin(x)), abs=1e-12)


@pytest.mark.skipif(not compiler(), reason="no C compiler")
def test_exported_c_has_the_table_in_it(tmp_path):
    m, *_ = slide(3000)
    madi.export_c(m, tmp_path, step=1e-3, method="rk4", duration=0.5)
    flags = ["-std=c99", "-O2", "-Wall", "-Wextra", "-Werror"]
    subprocess.run([*compiler(), *flags, "main.c", "slide.c", "-lm", "-o", "slide"], cwd=tmp_path, check=True)
    printed = subprocess.run([tmp_path / "slide"], capture_output=True, text=True, check=True).stdout
    found = np.array([line.split(",") for line in printed.splitlines()], dtype=float)
    run = madi.simulate(m, 0.5, method="rk4", step=1e-3, times=found[:, 0], engine="plain")
    np.testing.assert_allclose(found[:, 1], run["A"], rtol=1e-9, atol=1e-12)
    assert (tmp_path / "slide.c").read_text().count("lookup(curves") < 40


def test_long_data_are_saved_to_the_last_bit(tmp_path):
    for points in (30, 5000):
        m, *_ = slide(points, nested=True)
        x = np.sort(RNG.uniform(0, 100, points))
        road = madi.flat(0.1).polyline(np.column_stack([x, RNG.normal(size=points) + 3.0])).two_sided(0.7)
        m.wheel("w", "b", (1, 0, 0), radius=0.3, stiffness=1e4, road=road)
        one, two = m.build(), madi.load(m.save(tmp_path / "m.yaml")).build()
        np.testing.assert_array_equal(one.layout.reals, two.layout.reals)
        np.testing.assert_array_equal(one.layout.curve, two.layout.curve)
        assert one.digest == two.digest
        text = (tmp_path / "m.yaml").read_text()
        assert ("packed" in text) == (points == 5000)
    broken = text.replace("packed: f", "packed: f!", 1)
    (tmp_path / "m.yaml").write_text(broken)
    with pytest.raises(madi.MadiError, match="not what madi packed"):
        madi.load(tmp_path / "m.yaml")


def test_a_csv_of_many_rows_is_a_table(tmp_path):
    x = np.linspace(0, 50, 30_000)
    np.savetxt(
        tmp_path / "way.csv", np.column_stack([x, np.cos(x)]), delimiter=",", fmt="%.17g", header="t,way", comments=""
    )
    (tmp_path / "m.yaml").write_text(
        "tables: {way: {points: {csv: way.csv, columns: [t, way]}, between: linear}}\n"
        "bodies: {b: {mass: 1, inertia: [1, 1, 1]}}\n"
        "joints: {A: {type: prismatic, parent: ground, child: b, at: [0, 0, 0], axis: [1, 0, 0]}}\n"
        "forces: {f: {type: joint_torque, joint: A, value: way(t)}}\n"
    )
    s = madi.load(tmp_path / "m.yaml").build()
    assert s.forward_dynamics([0.0], [0.0], t=12.3, engine="plain")[0] == pytest.approx(
        np.interp(12.3, x, np.cos(x)), abs=1e-12
    )
    (tmp_path / "way.csv").write_text("t,way\n0,1\n1,nan\n")
    with pytest.raises(madi.MadiError, match=r"way.csv, line 3.*finite numbers"):
        madi.load(tmp_path / "m.yaml")


@pytest.mark.parametrize("points, told", [
    ([(0, 0)], "2 points"), ([(0, 0), (1, np.nan)], "finite"), ([(0, 0), (1, 1), (1, 2)], "1 is followed by 1"),
    ([(0, 0), (2, 1), (1, 2)], "2 is followed by 1"),
])  # fmt: skip
def test_bad_points_are_told(points, told):
    with pytest.raises(madi.InputError, match=told):
        madi.table(points)


def test_points_of_tables_do_not_stay_adjustable():
    m, *_ = slide(10)
    with pytest.raises(madi.InputError, match="a table of measured points"):
        madi.export_c(m, "nowhere", step=1e-3, method="rk4", parameters=["c.spring.1"])


def test_a_long_road_is_its_average_and_the_page_shows_it(tmp_path):
    x = np.linspace(1.0, 101.0, 100_001)
    way = 0.02 * np.sin(x) + 0.01 * np.sin(40 * x)
    road, foot = madi.flat().polyline(np.column_stack([x, way])), 0.03
    curves = Curves()
    from madi.forces.road import smoothed

    numbers = np.array(curves.numbers(road.pack(foot)))
    u = np.linspace(-foot, foot, 2001)
    tent = (1 - np.abs(u) / foot) / foot
    for at in RNG.uniform(2, 100, 20):
        h, slope, bend = smoothed(numbers, curves.array(), 0, at, 0.0, foot)
        assert h == pytest.approx(np.trapezoid(tent * road.height(at + u), u), abs=1e-8)
        wave = 40 * foot
        part = 2 * (1 - np.cos(wave)) / wave**2  # what a tent leaves of a sine
        assert slope == pytest.approx(0.02 * np.cos(at) + 0.4 * part * np.cos(40 * at), abs=1e-4)
        assert bend == pytest.approx(-0.02 * np.sin(at) - 16 * part * np.sin(40 * at), abs=2e-2)
    m = madi.Model("runner")
    m.body("cart", 1.0, inertia=(1, 1, 1), position=(0, 0, 0.3))
    m.body("wheel", 20.0, inertia=(1, 1, 1), position=(0, 0, 0.3))
    m.prismatic("x", m.ground, "cart", at=(0, 0, 0.3), axis=(1, 0, 0))
    m.prismatic("z", "cart", "wheel", at=(0, 0, 0.3), axis=(0, 0, 1))
    m.drive("x", lambda t: 20.0 * t)
    m.wheel("tire", "wheel", at=(0, 0, 0.3), radius=0.3, stiffness=2e5, damping=3e3, road=road)
    run = madi.simulate(m, 4.0, times=np.linspace(0, 4, 41))
    assert np.max(run["z"]) > 0.01
    page = run.view(tmp_path / "run.html")
    assert page is None or (tmp_path / "run.html").stat().st_size < 5_000_000
