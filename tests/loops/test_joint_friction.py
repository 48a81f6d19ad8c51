"""Friction of joints by their own loads: mu r |R| with the very load that friction takes part in."""

import numpy as np
import pytest

import madi


def four_bar(mu):
    """A crank and a rocker: it never stretches out."""
    m = madi.Model("four-bar")
    for name, p in (("a", (0, 0, 0.1)), ("b", (0.2, 0, 0.27)), ("c", (0.4, 0, 0.17))):
        m.body(name, mass=1.0, inertia=(0.01, 0.01, 0.01), position=p)
    m.revolute("A", m.ground, "a", at=(0, 0, 0), axis=(0, 1, 0), v0=8.0)
    m.revolute("B", "a", "b", at=(0, 0, 0.2), axis=(0, 1, 0))
    m.revolute("C", "b", "c", at=(0.4, 0, 0.35), axis=(0, 1, 0))
    m.revolute("D", m.ground, "c", at=(0.4, 0, 0), axis=(0, 1, 0), cut=True)
    for joint in "ABC":
        m.friction(f"f{joint}", joint, mu=mu, radius=0.02)
    return m


@pytest.mark.parametrize("engine", ["plain", "jit"])
def test_friction_is_that_of_the_load_in_loops(engine):
    span = 0.5 if engine == "jit" else 0.02
    run = madi.simulate(four_bar(0.2), span, step=2e-3, engine=engine, reactions=["A", "B", "C"])
    for joint in "ABC":
        expected = 0.2 * 0.02 * run[f"{joint}.force"]
        sliding = np.abs(run[f"{joint}.v"]) > 1e-6
        np.testing.assert_allclose(np.abs(run[f"f{joint}"])[sliding], expected[sliding], rtol=1e-7)
        assert np.all(run[f"f{joint}"][sliding] * run[f"{joint}.v"][sliding] < 0)


def test_energy_lost_is_what_friction_does():
    run = madi.simulate(four_bar(0.2), 0.5, rtol=1e-10, atol=1e-12, times=np.linspace(0, 0.5, 5001))
    lost = np.trapezoid(run["dissipated"], run.data["time"].values)
    assert lost == pytest.approx(run["energy"][0] - run["energy"][-1], rel=1e-6)


def test_methods_agree():
    ends = [
        madi.simulate(four_bar(0.2), 0.3, times=[0.3], **options)["A"][-1]
        for options in (
            {"rtol": 1e-10},
            {"method": "radau", "rtol": 1e-8},
            {"step": 1e-4},
            {"rtol": 1e-10, "loops": "augmented"},
        )
    ]
    np.testing.assert_allclose(ends, ends[0], atol=1e-7)


def nut(mu, pitch=0.02, radius=0.01):
    m = madi.Model("nut")
    m.body("nut", mass=2.0, inertia=(1e-3, 1e-3, 1e-3))
    m.screw("S", m.ground, "nut", at=(0, 0, 0), axis=(0, 0, 1), pitch=pitch)
    m.friction("f", "S", mu=mu, radius=radius)
    return m


def test_a_screw_runs_down_as_its_friction_angle_says():
    """Lowering: F = m (g + l w'), N = F / (cos + mu sin), J w' = -F l + mu N r / cos."""
    mu, r, lead = 0.1, 0.01, 0.02 / (2 * np.pi)
    angle = np.arctan(lead / r)
    back = mu * r / np.cos(angle) / (np.cos(angle) + mu * np.sin(angle))
    k = lead - back
    expected = -2.0 * 9.81 * k / (1e-3 + 2.0 * lead * k)
    run = madi.simulate(nut(mu), 1.0, rtol=1e-9, times=[0.5, 1.0])
    assert (run["S.v"][1] - run["S.v"][0]) / 0.5 == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("mu, holds", [(1.02, True), (0.98, False)])
def test_a_screw_holds_itself_below_its_friction_angle(mu, holds):
    tangent = 0.02 / (2 * np.pi) / 0.01
    run = madi.simulate(nut(mu * tangent), 1.0, rtol=1e-8)
    assert (abs(run["S"][-1]) < 1e-9) == holds


def test_a_slide_rubs_by_what_is_across_it():
    """A block on a slide along x under gravity, pushed: stops after v^2 / (2 mu g); a moment costs 2 M / span more."""
    for span, share in ((None, 1.0), (0.5, 1.0 + 2 * 0.1 / 0.5)):
        m = madi.Model("slide")
        m.body("b", mass=3.0, inertia=(1, 1, 1), com=(0.1, 0, 0))
        m.prismatic("X", m.ground, "b", at=(0, 0, 0), axis=(1, 0, 0), v0=2.0)
        m.friction("f", "X", mu=0.25, span=span)
        run = madi.simulate(m, 2.0, rtol=1e-9)
        assert run["X"][-1] == pytest.approx(4.0 / (2 * 0.25 * share * 9.81), rel=1e-6)
        assert run["X.v"][-1] == 0.0


def test_what_is_wrong_is_told():
    m = four_bar(0.2)
    m.friction("no radius", "A", mu=0.1)
    assert "no radius" in str(m.check())
    with pytest.raises(madi.InputError, match="not both"):
        m.friction("g", "A", coulomb=1.0, mu=0.1)
    with pytest.raises(madi.InputError, match="belong to mu="):
        m.friction("g", "A", coulomb=1.0, radius=0.1)
