"""Flexible bodies that are refused, and why."""

import numpy as np
import pytest

import madi
from madi.flexible import (
    Section,
    clamped_free,
    clamped_loaded,
    clamped_rod,
    clamped_tip,
    free_free,
    pinned_pinned,
    polynomials,
)
from madi.forces import KINDS as FORCES
from tests.bodies.beams import ALUMINIUM, TUBE, chain, one_beam


def one_body(**more):
    given = {"nodes": np.eye(3), "masses": np.ones(3), "modes": np.ones((1, 3, 6)), "stiffness": [1.0]} | more
    m = madi.Model("bad")
    body = m.flexible_body("part", **given)
    m.revolute("J", m.ground, body, at=(1, 0, 0), axis=(0, 0, 1))
    return m


def on_a_ball(add):
    """A flexible body whose modes have 3 numbers a node, which a ball holds, and something else (`add`)."""
    m = madi.Model("bad")
    modes = np.array([[[0, 0, 0], [1, 0.3, 0], [0, 0.2, 1]]])
    body = m.flexible_body("part", np.eye(3), np.ones(3), modes, stiffness=[1.0], labels=["here", "there", "far"])
    m.spherical("J", m.ground, body, at=(1, 0, 0))
    add(m, body, body.point("there"))
    return m


SIX = {"stiffness": (1,) * 6, "damping": (0,) * 6}
SPAN = {"at": ((3, 1, 0), (0, 1, 0)), "radii": (0.1, 0.1), "tension": 1.0}
TURNING = {
    "torque": lambda m, body, point: m.torque("F", point, (1, 0, 0)),
    "bushing": lambda m, body, point: m.bushing("F", m.ground, body, at=(0, 1, 0), **SIX),
    "bushing, at a name": lambda m, body, point: m.bushing("F", m.ground, point, at=(0, 1, 0), **SIX),
    "torsion_bar": lambda m, body, point: m.torsion_bar("F", m.ground, point, axis=(0, 0, 1), stiffness=1.0),
    "track": lambda m, body, point: m.track("F", m.ground, body, **SPAN),
    "track, at a name": lambda m, body, point: m.track("F", m.ground, point, **SPAN),
    "revolute": lambda m, body, point: m.revolute("F", m.ground, body, at=(0, 1, 0), axis=(0, 0, 1)),
    "revolute, at a name": lambda m, body, point: m.revolute("F", m.ground, point, at=(0, 1, 0), axis=(0, 0, 1)),
}
STILL = {
    "force": lambda m, body, point: m.force("F", body, (1, 0, 0), at=(0, 1, 0)),
    "force, at a name": lambda m, body, point: m.force("F", point, (1, 0, 0)),
    "ball, at a name": lambda m, body, point: m.spherical("F", m.ground, point, at=(0, 1, 0)),
}


def test_forces_that_turn_what_they_act_on_are_listed():
    assert {kind.name for kind in FORCES.values() if kind.turns} <= set(TURNING)


@pytest.mark.parametrize("kind", TURNING)
def test_what_turns_needs_modes_that_turn(kind):
    with pytest.raises(madi.ModelError, match=r"'F'.*does not know how its nodes turn"):
        on_a_ball(TURNING[kind]).build()


@pytest.mark.parametrize("kind", STILL)
def test_what_does_not_turn_does_without(kind):
    on_a_ball(STILL[kind]).build()


@pytest.mark.parametrize(("model", "told"), [
    (lambda: one_beam({"y": pinned_pinned(1.0)}, "fixed"), "carry no moment at x = 0 m, but the fixed joint 'J'"),
    (lambda: one_beam({"y": pinned_pinned(1.0)}), "hold the point at x = 1 m in place, but no joint is there"),
    (lambda: one_beam({"y": clamped_free(1.0)}, at=(1, 0, 0)), "end free at x = 1 m.*joint 'J', its only hold"),
    (lambda: one_beam({"y": free_free(1.0)}), "end free at x = 0 m"),
    (lambda: one_beam({"y": [*clamped_free(1.0, 2), clamped_free(1.0, 1)[0]]}), "y1, y3 depend on each other"),
    (lambda: one_beam(at=(1.2, 0, 0)), "x = 1.2 m is outside the beam, 0 to 1 m"),
    (lambda: one_beam(at=(-0.1, 0, 0)), "x = -0.1 m is outside the beam"),
    (lambda: one_beam({"y": clamped_free(2.0)}), "is for a length of 2 m, not for 1 m"),
    (lambda: one_beam({"q": 2}), "'y', 'z', 'twist', 'axial'"),
    (lambda: one_beam({"y": 0}), "it has no modes"),
    (lambda: one_beam({"y": "two"}), "give how many, or a list of shapes"),
    (lambda: one_beam(end=(0, 0, 0)), "make no frame"),
    (lambda: one_beam(E=-1.0), "E -1.0 must be a number > 0"),
    (lambda: one_beam(section="tube"), "section='tube'"),
    (lambda: one_beam(damping=(0.1, 0.2, 0.3)), "a ratio .or one for each of the 6 modes"),
    (lambda: one_beam(damping=-0.1), "must be a number >= 0"),
    (lambda: one_beam(q0={"y7": 1.0}), "does not fit its modes"),
    (lambda: one_beam(v0=[1.0]), "does not fit its modes"),
    (lambda: one_beam(points={"far": 3.0}), "x = 3 m is outside the beam"),
    (lambda: one_body(masses=np.ones(2)), "nodes have shape .3, 3.. .2, 3. is needed"),
    (lambda: one_body(modes=np.ones((1, 3, 4))), "modes have shape .1, 3, 4.. .1, 3, 3. or .1, 3, 6. is needed"),
    (lambda: one_body(stiffness=[1.0, 2.0]), "stiffness have shape"),
    (lambda: one_body(modes=np.ones((2, 3, 6)), stiffness=[1.0, 2.0]), "mode1, mode2 depend on each other"),
    (lambda: one_body(modes=np.full((1, 3, 6), np.nan)), "not all finite"),
    (lambda: one_body(modes=np.ones((1, 3, 3))), "does not know how its nodes turn"),
    (lambda: one_body(nodes=2 * np.eye(3)), "no node is at .1, 0, 0.*nearest"),
    (lambda: one_body(stiffness=[-5.0]), "stiffness is not positive"),
])  # fmt: skip
def test_bad_flexible_bodies_are_told(model, told):
    with pytest.raises(madi.ModelError, match=told):
        model().build()


def carrying(modes, inertia=0.0, more=None):
    """A beam of 1 m and 1 kg, clamped, a body of 1 kg on its end, and what more there is."""
    m = madi.Model("carrying")
    section = Section(1e-3, 1e-8, 1e-8, 1e-8)
    link = m.beam("link", (0, 0, 0), (1, 0, 0), section, E=7e10, rho=1000.0, modes=modes)
    m.fixed("wall", m.ground, link, at=(0, 0, 0))
    m.fixed("grip", link, m.body("load", 1.0, inertia=[inertia] * 3, position=(1, 0, 0)), at=(1, 0, 0))
    if more:
        m.revolute("elbow", "load", m.body("arm", 1.0, inertia=(0.1, 0.1, 0.1), position=(1.5, 0, 0)), at=(1, 0, 0),
                   axis=(0, 0, 1))  # fmt: skip
        more(m)
    return m


UNFIT = "carry no moment at x = 1 m, but the fixed joint"


@pytest.mark.parametrize(("model", "told"), [
    (lambda: chain(2, lambda h: clamped_free(h, 2)), "body 'p0'.*carry no moment at x = 0.5 m.*fixed joint 'j1'"),
    (lambda: chain(1, 1, (1.0, 0.1)), f"{UNFIT} 'end' brings one. Give a number, modes=..y.: 2.: .*clamped_loaded"),
    (lambda: carrying({"y": clamped_tip(1.0, 1.0)}, 0.02), f"x-y plane {UNFIT} 'grip'"),
    (lambda: carrying({"z": clamped_free(1.0)}, 0.02), f"x-z plane {UNFIT} 'grip'"),
    (lambda: carrying({"z": clamped_tip(1.0, 1.0)}, more=lambda m: None), f"x-z plane {UNFIT} 'grip'"),
    (lambda: carrying({"twist": clamped_rod(1.0)}, 0.02), f"twisting {UNFIT} 'grip'"),
    (lambda: carrying({"axial": clamped_rod(1.0)}), "stretching carry no force at x = 1 m"),
])  # fmt: skip
def test_shapes_that_cannot_carry_what_is_on_the_end_are_refused(model, told):
    with pytest.raises(madi.ModelError, match=told):
        model().build()


@pytest.mark.parametrize("work", [
    lambda m: m.drive("elbow", lambda t: t), lambda m: m.lock("elbow"), lambda m: m.joint_torque("T", "elbow", 1.0),
    lambda m: m.joint_spring("S", "elbow", 5.0),
])  # fmt: skip
def test_a_hinge_at_work_brings_a_moment(work):
    def hinged(modes):
        m = one_beam({"y": modes}, "fixed")
        m.revolute("elbow", "link", m.body("arm", 1.0, inertia=(0.1, 0.1, 0.1), position=(1.5, 0, 0)), at=(1, 0, 0),
                   axis=(0, 0, 1))  # fmt: skip
        return m

    m = hinged(clamped_free(1.0))
    m.build()  # left alone it brings none
    work(m)
    with pytest.raises(madi.ModelError, match="carry no moment at x = 1 m, but the revolute joint 'elbow'"):
        m.build()
    work(m := hinged(2))
    m.build()


def test_what_brings_next_to_no_moment_is_accepted():
    for modes in ({"y": clamped_tip(1.0, 1.0)}, {"y": 1}, {"z": clamped_free(1.0)}, {"y": clamped_tip(1.0, 1.0, 0.02)}):
        carrying(modes, 0.005).build()
    carrying({"y": clamped_tip(1.0, 1.0, 0.1), "z": clamped_loaded(1.0)}, 0.1, more=lambda m: None).build()


def test_a_force_needs_a_place_on_a_beam():
    m = one_beam(points={"tip": 1.0})
    m.torque("T", "link", (0, 0, 1))
    with pytest.raises(madi.ModelError, match=r"has no single motion.*'link@tip'"):
        m.build()
    m.forces.clear()
    m.torque("T", "link@tip", (0, 0, 1))
    m.build()


def test_cartesian_coordinates_have_no_modes():
    with pytest.raises(madi.InputError, match="link"):
        madi.simulate(one_beam(), 0.1, formulation="cartesian")


@pytest.mark.parametrize(("draw", "told"), [
    (lambda m, b: m.revolute("link", m.ground, b, at=(0, 0, 0), axis=(0, 0, 1)), "a flexible body has the same name"),
    (lambda m, b: m.revolute("a@b", m.ground, b, at=(0, 0, 0), axis=(0, 0, 1)), "the name has an @"),
])  # fmt: skip
def test_names_that_would_be_mixed_up(draw, told):
    m = madi.Model("names")
    draw(m, m.beam("link", (0, 0, 0), (1, 0, 0), TUBE, **ALUMINIUM))
    with pytest.raises(madi.ModelError, match=told):
        m.build()


@pytest.mark.parametrize("points", [["tip"], {"tip": "end"}, {"tip": (1, 0, 0)}, {"a": 1.0, "b": 1.0}, {"frame": 0.3}])
def test_bad_points_are_told(points):
    with pytest.raises(madi.ModelError, match="point"):
        one_beam(points=points).build()


def test_a_mode_that_does_what_the_joint_does_is_told():
    m = one_beam({"y": polynomials(1.0, 2, start=1)}, strict=False)
    with pytest.raises(madi.ModelError, match="a mode is a rigid motion that the joint does too"):
        m.build()


def test_a_modal_mass_below_that_of_the_nodes_is_named():
    nodes = np.array([[0, 0, 0], [0.5, 0, 0], [1, 0, 0.0]])
    modes = np.zeros((1, 3, 3))
    modes[0, :, 2] = 0.0, 0.3, 1.0
    m = madi.Model("indefinite")
    # in rigid motion the nodes carry 1 (0.3^2 + 1) less what a plane motion of them takes along
    m.flexible_body("link", nodes, [1.0, 1.0, 1.0], modes, [100.0], modal_mass=[[0.02]])
    m.free("base", m.ground, "link")
    with pytest.raises(madi.ModelError, match="modal_mass is smaller than what the masses at its nodes carry in mode1"):
        m.build()
