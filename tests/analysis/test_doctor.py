"""The doctor: finds what is wrong, names the cure, and is silent where nothing is."""

import numpy as np
import pytest

import madi
from madi.cli.models import find_model, template
from madi.schema.read import loads


def link(m, name, parent, a, b, mass=1.0, scale=1.0):
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    length = float(np.linalg.norm(b - a))
    body = m.body(name, mass, inertia=scale * mass * length**2 / 12 * np.ones(3), position=(a + b) / 2)
    m.revolute(f"{name}_pin", parent, body, at=a, axis=(0, 1, 0))
    return body


def found(model, element, severity=None, **options):
    hits = [f for f in madi.check(model, **options) if f.element.startswith(element)]
    assert hits, f"nothing about {element}"
    assert severity is None or hits[0].severity == severity
    return hits[0]


def test_a_sound_model_has_remarks_only():
    report = madi.check(loads(template("pendulum")))
    assert report.ok
    assert {f.severity for f in report} == {"remark"}
    assert "2 degree(s) of freedom" in str(report)


def test_units_that_smell_are_told():
    m = madi.Model("in millimetres", gravity=(0, 0, -9810))
    link(m, "arm", m.ground, (0, 0, 0), (900, 0, 0))
    assert "mm/s2" in found(m, "gravity", "warning").problem
    assert "lengths look like mm" in found(m, "model", "warning").problem


@pytest.mark.parametrize(
    ("scale", "told"),
    [(1e9, "like g mm2"), (1e7, "like g cm2"), (1e6, "like kg mm2"), (1e4, "like kg cm2"), (1e-6, "too small")],
)
def test_an_inertia_in_another_unit_is_told(scale, told):
    m = madi.Model("m")
    link(m, "arm", m.ground, (0, 0, 0), (1, 0, 0), scale=scale)
    finding = found(m, "body 'arm'", "warning")
    assert told in finding.cure
    m = madi.Model("m")
    link(m, "arm", m.ground, (0, 0, 0), (1, 0, 0))
    assert not [f for f in madi.check(m) if f.element.startswith("body")], "the right one is not"


def test_mobility_redundancy_and_loads_of_a_planar_four_bar():
    """Drawn with four revolutes in space: one freedom, Grübler counts -2, three rows are redundant."""
    report = madi.check(find_model("four-bars"))
    texts = {f.element: f.problem for f in report}
    assert "1 degree(s) of freedom; Grübler's count gives -5" in texts["mobility"]
    assert "6 add nothing" in texts["redundant constraints"]
    assert "joint C0" in texts["redundant constraints"]
    assert "A0" in texts["static determinacy"]


def test_a_rhomboid_four_bar_is_singular_when_it_folds():
    """Equal links: it folds flat where the crank lies along the base, pi/2 from the start as drawn."""
    finding = found(find_model("four-bars"), "positions", "warning")
    assert "1.6 (rad or m)" in finding.problem


def test_a_structure_cannot_move():
    m = madi.Model("triangle")
    a = m.body("a", 1.0, inertia=(1, 1, 1))
    b = m.body("b", 1.0, inertia=(1, 1, 1), position=(1, 0, 0))
    m.revolute("A", m.ground, a, at=(0, 0, 0), axis=(0, 1, 0))
    m.revolute("B", m.ground, b, at=(2, 0, 0), axis=(0, 1, 0))
    m.revolute("C", a, b, at=(1, 0, 1), axis=(0, 1, 0))
    report = madi.check(m)
    assert not report.ok
    assert "cannot move" in found(m, "mobility", "error").problem


def test_loops_that_cannot_close_are_an_error():
    m = madi.Model("too short")
    link(m, "a", m.ground, (0, 0, 0), (1, 0, 0))
    b = link(m, "b", m.ground, (5, 0, 0), (6, 0, 0))
    m.distance("rod", "a", b, at=((1, 0, 0), (6, 0, 0)), length=0.5)
    assert "cannot" in found(m, "assembly", "error").problem


def stiff_wheel(**run):
    m = madi.Model("stiff")
    body = m.body("b", 1.0, inertia=(1, 1, 1))
    m.prismatic("slide", m.ground, body, at=(0, 0, 0), axis=(0, 0, 1))
    m.joint_spring("spring", "slide", stiffness=1e6, damping=1.0)
    m.run = run
    return m


def test_the_stiffest_frequency_is_held_against_the_step():
    """omega = 1000 rad/s, 159 Hz: rk4 bears 2.78 ms, not 5."""
    finding = found(stiff_wheel(duration=1.0, step=5e-3), "step 0.005 s", "warning")
    assert "159 Hz" in finding.problem
    assert "0.0028 s" in finding.problem
    assert "step=0.0001 s" in finding.cure
    assert found(stiff_wheel(duration=1.0, step=1e-3), "stiffness", "remark")
    assert found(stiff_wheel(), "step", "warning", step=1e-2, method="rk4")
    with pytest.raises(madi.RunError):
        madi.simulate(stiff_wheel(), 5.0, step=5e-3, start=(None, {"slide": 1.0}))
    run = madi.simulate(stiff_wheel(), 1.0, step=1e-4, start=(None, {"slide": 1.0}), times=[0.0, 0.1, 1.0])
    np.testing.assert_allclose(run["slide"][1], 1e-3 * np.exp(-0.05) * np.sin(100.0), atol=2e-6)


def test_a_stiff_and_a_slow_motion_ask_for_an_implicit_method():
    m = stiff_wheel()
    for k in range(4):
        body = m.body(f"p{k}", 1.0, inertia=(1, 1, 1), position=(0, 0, -1))
        m.revolute(f"p{k}", m.ground, body, at=(0, 0, 0), axis=(0, 1, 0))
    assert "generalized-alpha" in found(m, "stiffness").cure


def test_defects_are_the_doctors_errors():
    m = madi.Model("m")
    m.body("lost", -1.0)
    report = madi.check(m)
    assert not report.ok
    assert report[0].severity == "error"
    assert report.as_dicts()[0]["element"].startswith("body 'lost'")
    with pytest.raises(madi.InputError, match="give a Model"):
        madi.check("model.yaml")


@pytest.mark.parametrize("angle", [0.05, 0.15, 0.1500001, 0.3, 1.0, 2.9, 3.05])
def test_a_parallelogram_is_examined_wherever_it_starts(angle):
    m = madi.Model("parallelogram")
    base, crank = 1.0, 0.5
    up = crank * np.array([np.cos(angle), 0, np.sin(angle)])
    link(m, "a", m.ground, (0, 0, 0), up)
    b = link(m, "b", "a", up, up + (base, 0, 0))
    c = link(m, "c", m.ground, (base, 0, 0), up + (base, 0, 0))
    m.revolute("close", b, c, at=up + (base, 0, 0), axis=(0, 1, 0))
    assert madi.check(m).ok


def test_a_call_with_a_wrong_method_or_step_is_told():
    m = stiff_wheel()
    with pytest.raises(madi.InputError, match="choose one of"):
        madi.check(m, method="nope")
    with pytest.raises(madi.InputError, match="step"):
        madi.check(m, step=-1.0)


def test_what_the_models_own_run_asks_for_must_be_there():
    m = stiff_wheel(duration=1.0, method="rk45", reactions=["cylinder"])
    assert "no 'rk45'" in found(m, "run: method", "error").problem
    assert "'cylinder'" in found(m, "run: reactions", "error").problem


def test_methods_with_options_are_looked_at_by_their_word():
    m = stiff_wheel()
    wanted = [str(finding) for finding in madi.check(m, step=5e-3, method="rk4")]
    assert any("stable only up to" in line for line in wanted)
    for method in (madi.RK4(), madi.RK4, {"rk4": {}}):
        assert [str(finding) for finding in madi.check(m, step=5e-3, method=method)] == wanted
        m.run = {"step": 5e-3, "method": method, "loops": {"baumgarte": {"alpha": 20}}}
        assert [str(finding) for finding in madi.check(m)] == wanted
    m.run = {"step": 5e-3, "method": {"newmark": {"gama": 0.6}}, "loops": "none"}
    told = str(madi.check(m))
    assert "'newmark' has no option 'gama'" in told
    assert "there is no 'none'" in told
    with pytest.raises(madi.InputError, match="choose one of rk4"):
        madi.check(m, method={"euler": {}})
