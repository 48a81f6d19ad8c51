"""`madi bench growth`: its lines, its peers, and what it gives up (times are the benchmark's own)."""

import numpy as np
import pytest

import madi
from madi.bench import further, growth
from madi.bench.further import FURTHER
from madi.bench.quantity import Point, Quantity
from madi.engines.compiler import compiler


def test_the_line_is_a_power_law():
    """3 us n^1.5, known."""
    points = {n: Point(3e-6 * n**1.5, n) for n in (10, 40, 160)}
    exponent, each = growth.line(points)
    assert exponent == pytest.approx(1.5)
    assert each == pytest.approx(3e-6 * 40**1.5 / 40)
    assert np.isnan(growth.line({10: points[10]})[0])


def test_what_takes_too_long_ends_its_row(monkeypatch):
    clock = iter(range(0, 10_000, 7))  # s: each look at it is seven later
    monkeypatch.setattr(growth.time, "process_time", lambda: float(next(clock)))
    monkeypatch.setattr(growth, "LONGEST", 6.0)
    found = growth.measured(Quantity("x", "madi", lambda n: Point(1.0, n)), (10, 20, 40))
    assert list(found) == [10]


def test_a_table_of_the_right_shape(monkeypatch):
    made = (
        Quantity("build, ms, chain", "madi", lambda n: growth.build("chain", n), 1e3),
        Quantity("build, ms, chain", "twice", lambda n: Point(2.0, n), 1e3),
    )
    monkeypatch.setattr(growth, "QUANTITIES", made)
    monkeypatch.setattr(growth, "QUICK", (2, 4))
    monkeypatch.setattr(growth, "FURTHER", ())
    rows, against = growth.report(quick=True)["tables"].values()
    assert [row["of"] for row in rows] == ["madi", "twice"]
    assert rows[1]["exponent"] == pytest.approx(0.0)
    assert against[0]["4"] == pytest.approx(2000.0 / rows[0]["4"])


def test_the_peers_implicit_steps_are_of_the_same_chain():
    """Exudyn's trapezoidal rule and Newmark's method are one scheme on it: states agree to the order of the step."""
    from madi.bench.models import chain
    from madi.bench.peers import peers_of
    from madi.bench.trees import state

    system = chain(4).build()
    q, v = state(system)
    _, mujoco, exudyn = peers_of(system)
    assert exudyn.time_implicit(q, v, 20, 1e-3) > 0
    assert mujoco.time_implicit(q, v, 20, 1e-3) > 0
    assert mujoco.time_derivatives(q, v, 3) > 0
    theirs = np.array(exudyn.mbs.systemData.GetODE2Coordinates())
    run = madi.simulate(system, 0.02, step=1e-3, method=growth.EVERY_STEP, start=(q, v), engine="jit", times=[0.02])
    np.testing.assert_allclose(run.data["q"].values[-1], theirs, atol=1e-8)


@pytest.mark.parametrize("title", [title for title, *_ in FURTHER])
def test_what_else_grows_is_measured(title, monkeypatch):
    """Every quantity at its two smallest sizes."""
    monkeypatch.setattr(further, "SECONDS", 1e-3)
    monkeypatch.setattr(further, "OUTPUTS", 201)
    quantities, sizes = next((made, few[:2]) for name, made, _, few in FURTHER if name == title)
    if title.startswith("Generated C") and compiler() is None:
        pytest.skip("no C compiler here")
    for quantity in quantities:
        points = {n: quantity.measure(n) for n in sizes}
        assert all(point.seconds > 0 and point.work >= n for n, point in points.items())
        assert np.isfinite(growth.line(points)[1])
