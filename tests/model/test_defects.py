"""Defects of models: found at build, all together, each naming the element and the cure."""

import numpy as np
import pytest

import madi
from tests.mechanisms import pinned_bob


def findings(model):
    with pytest.raises(madi.ModelError) as caught:
        model.build()
    assert caught.value.findings == model.check()
    return caught.value.findings


def duplicate_body(m):
    m.body("bob", mass=1)


def unknown_body(m):
    m.revolute("x", "bob", "bobb", at=(0, 0, 0), axis=(0, 0, 1))


def zero_axis(m):
    m.body("b", mass=1, inertia=(1, 1, 1))
    m.revolute("x", "bob", "b", at=(0, 0, 0), axis=(0, 0, 0))


def not_finite_point(m):
    m.body("b", mass=1, inertia=(1, 1, 1))
    m.revolute("x", "bob", "b", at=(0, np.nan, 0), axis=(0, 0, 1))


def with_itself(m):
    m.revolute("x", "bob", "bob", at=(0, 0, 0), axis=(0, 0, 1))


def lonely(m):
    m.body("lonely", mass=1, inertia=(1, 1, 1))


def massless_tip(m):
    m.body("tip")
    m.revolute("x", "bob", "tip", at=(0, 0, 0), axis=(0, 0, 1))


def contradiction(m):
    m.prismatic("x", m.ground, "bob", at=(0, 0, 0), axis=(1, 0, 0))


def drive_on_nothing(m):
    m.drive("pinn", lambda t: t)


def drive_twice(m):
    m.drive("pin", lambda t: t)
    m.lock("pin")


def drive_of_a_ball(m):
    m.body("b", mass=1, inertia=(1, 1, 1))
    m.spherical("ball", "bob", "b", at=(0, 0, 0))
    m.drive("ball", lambda t: t)


def skew_universal(m):
    m.body("b", mass=1, inertia=(1, 1, 1))
    m.universal("x", "bob", "b", at=(0, 0, 0), axes=((0, 0, 1), (0, 1, 1)))


def bad_force(m):
    m.force("x", "bob", (0, np.inf, 0))


def force_on_ground(m):
    m.force("x", m.ground, (0, 1, 0))


def negative_damping(m):
    m.joint_spring("x", "pin", stiffness=1, damping=-1)


def spring_on_itself(m):
    m.spring_damper("x", "bob", "bob", at=((0, 0, 0), (0, 0, 1)))


def bad_q0(m):
    m.joints[0].q0 = (1, 2)


def dotted(m):
    m.body("b", mass=1, inertia=(1, 1, 1))
    m.revolute("a.b", "bob", "b", at=(0, 0, 0), axis=(0, 0, 1))


@pytest.mark.parametrize(
    ("defect", "element", "word"),
    [
        (duplicate_body, "bob", "2 times"), (unknown_body, "'x'", "'bob'?"), (zero_axis, "'x'", "axis is zero"),
        (not_finite_point, "'x'", "finite"), (with_itself, "'x'", "itself"), (lonely, "lonely", "m.free"),
        (massless_tip, "tip", "no mass"), (contradiction, "'pin' and 'x'", "no degree of freedom"),
        (drive_on_nothing, "pinn", "no joint"), (drive_twice, "pin", "twice"), (drive_of_a_ball, "ball", "spherical"),
        (skew_universal, "'x'", "perpendicular"), (bad_force, "'x'", "finite"), (force_on_ground, "'x'", "ground"),
        (negative_damping, "'x'", "negative"), (spring_on_itself, "'x'", "itself"), (bad_q0, "pin", "1 finite"),
        (dotted, "a.b", "dot"),
    ],
    ids=lambda x: getattr(x, "__name__", None),
)  # fmt: skip
def test_defect_is_named_with_its_cure(defect, element, word):
    m = pinned_bob()
    assert m.check() == []
    defect(m)
    found = [f for f in findings(m) if element in f.element]
    assert found, findings(m)
    assert any(word in str(f) for f in found), found
    assert all(f.cure for f in found)


@pytest.mark.parametrize(
    ("body", "word"),
    [
        ({"mass": -1}, "mass"), ({"mass": np.nan}, "mass"), ({"inertia": (0.1, -0.1, 0.1)}, "not positive"),
        ({"inertia": (0.1, 0.1, 0.5)}, "no rigid body"), ({"inertia": (1, 2)}, "3 or 3x3"), ({"com": (0, 0)}, "com"),
        ({"position": "here"}, "position"), ({"orientation": (0, 0, 0, 0)}, "quaternion"),
        ({"orientation": np.ones((3, 3))}, "not a rotation"),
        ({"inertia": [[1, 0.2, 0], [0, 1, 0], [0, 0, 1]]}, "symmetric"),
        ({"mass": 0.0}, "inertia without mass"),
    ],
)  # fmt: skip
def test_bad_bodies(body, word):
    assert any(f.element == "body 'bob'" and word in str(f) for f in findings(pinned_bob(**body)))


def test_all_defects_are_reported_together():
    m = pinned_bob(mass=np.inf)
    lonely(m)
    drive_on_nothing(m)
    bad_force(m)
    found = findings(m)
    assert len(found) == 4
    with pytest.raises(madi.ModelError, match="4 defects") as caught:
        m.build()
    for f in found:
        assert str(f) in str(caught.value)


def test_what_is_legal():
    m = pinned_bob(inertia=(0.1, 0.1, 0.5), unphysical=True)
    m.body("link")  # massless, but a mass hangs on it
    m.body("end", mass=1.0, inertia=(0.1, 0.1, 0.1))
    m.revolute("a", "bob", "link", at=(0, 0, -1), axis=(0, 1, 0))
    m.revolute("b", "link", "end", at=(0, 0, -1.3), axis=(1, 0, 0))
    m.revolute("hinge2", m.ground, "bob", at=(0, 1, 0), axis=(0, 1, 0))  # the door's second hinge
    assert m.check() == []


def test_a_spring_on_a_cut_joint_is_told():
    m = madi.Model("four-bar")
    bars = [m.body(f"bar{k}", mass=1, inertia=(1, 1, 1)) for k in range(3)]
    for k, (a, b) in enumerate(zip([m.ground, *bars], [*bars, m.ground], strict=True)):
        m.revolute("ABCD"[k], a, b, at=(k, 0, k % 2), axis=(0, 1, 0))
    m.joint_spring("k", "C", stiffness=1.0)
    assert m.check() == []  # a joint with a spring is not the one that is cut
    m.joints[2].cut = True
    found = findings(m)
    assert [f.element for f in found] == ["force 'k'"]
    assert "cut=True" in found[0].cure
    m.joints[2].cut = None
    for joint in m.joints:
        joint.cut = False
    assert "form a loop: 'A', 'B', 'C', 'D'" in str(findings(m)[0])


def test_nothing_to_build_or_to_move():
    assert "no bodies" in str(findings(madi.Model("empty"))[0])
    m = madi.Model("rigid")
    m.body("a", mass=2.0, inertia=(1, 1, 1), position=(1, 0, 0))
    m.fixed("weld", m.ground, "a", at=(0, 0, 0))
    with pytest.raises(madi.InputError, match="cannot move"):
        madi.simulate(m, 1.0)
    s = m.build()
    load = s.reactions([], [])["weld"]
    np.testing.assert_allclose(load.force, (0, 0, 2 * 9.81))
    np.testing.assert_allclose(load.moment, (0, -2 * 9.81, 0))


@pytest.mark.parametrize(
    ("function", "word"),
    [
        (lambda t: 5.0, "returns 1 number"), (lambda t: (1.0, 2.0), "returns 2 number"),
        (lambda t, q: (0, 0, 0), "one or three"),
        (lambda t, q, v: (nonsense, 0, 0), "NameError"),  # noqa: F821
    ],
)  # fmt: skip
def test_functions_are_judged_at_build(function, word):
    m = pinned_bob()
    m.force("f", "bob", function)
    m.drive("pinn", lambda t: t)
    found = findings(m)
    if "NameError" not in word:  # one that needs the state is tried when the rest of the model is sound
        assert len(found) == 2
    m.drives.clear()
    assert any(word in str(f) for f in findings(m))


def test_a_freedom_without_inertia_is_told():
    m = madi.Model("point")
    m.body("bob", mass=1.0, position=(0, 0, -1))
    m.spherical("ball", m.ground, "bob", at=(0, 0, 0))  # a point mass does not resist a turn about its own line
    assert "ball.wz" in str(findings(m)[0])
    m = madi.Model("point")
    m.body("bob", mass=1.0, position=(0, 0, -1))
    m.revolute("pin", m.ground, "bob", at=(0, 0, 0), axis=(0, 1, 0))
    assert m.check() == []


@pytest.mark.parametrize("defect", [{"mass": [1, 2]}, {"com": None}, {"inertia": "heavy"}, {"orientation": "up"}])
def test_odd_types_are_findings_too(defect):
    assert findings(pinned_bob(**defect))


def test_odd_references_are_findings_too():
    m = pinned_bob()
    m.revolute("x", ["bob"], 3, at=(0, 0, 0), axis=(0, 0, 1))
    assert len([f for f in findings(m) if "no body" in f.problem]) == 2


def test_a_rod_without_inertia_about_itself_between_balls_is_told():
    """Its spin moves nothing: found by a mutated file, whose rounding hid the zero."""
    from madi.papers import rssr

    m = rssr.model()
    m.bodies[2].inertia = (0.093, 0.093, 0.0)
    m.bodies[2].unphysical = True
    (finding,) = m.check()
    assert "nothing with inertia moves with it" in finding.problem
