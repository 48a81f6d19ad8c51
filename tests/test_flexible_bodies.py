"""Flexible bodies in the tree: against Lagrange's equations in symbols, closed forms, finite elements, identities."""

from itertools import pairwise

import numpy as np
import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

import madi
from madi.flexible import (
    Section,
    clamped_free,
    clamped_loaded,
    clamped_rod,
    clamped_tip,
    craig_bampton,
    free_free,
    pinned_pinned,
    polynomials,
    rectangle,
    tube,
)
from madi.joints.chart import retract
from madi.papers import ralf
from madi.symbolic.lagrange import Lagrange, Link, Lump
from madi.verify import slider_crank, spin_up

FORMULATIONS = ("recursive", "articulated", "velocity-transform")
ALUMINIUM = {"E": 7e10, "rho": 2700.0}


def thin(EI, density):
    """A section with this bending stiffness at E = 1e15 and next to no inertia about its own axis."""
    return Section(density / 1000.0, EI / 1e15, EI / 1e15, 1e-15)


def slender(model, name, start, end, EI, density, shapes, **more):
    return model.beam(name, start, end, thin(EI, density), E=1e15, rho=1000.0, modes=shapes, **more)


# ---- against Lagrange's equations, derived in symbols -----------------------------------------------------------------


def turn(angle):
    return sp.Matrix([[sp.cos(angle), -sp.sin(angle)], [sp.sin(angle), sp.cos(angle)]])


def agree(system, equations, seed, amounts, engine="plain"):
    rng = np.random.default_rng(seed)
    q, v = rng.normal(size=system.nq) * amounts, rng.normal(size=system.nv)
    wanted = equations.accelerations(q, v, np.zeros(system.nv))
    for formulation in FORMULATIONS:
        found = system.forward_dynamics(q, v, formulation=formulation, engine=engine)
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-9 * np.max(np.abs(wanted)))


@pytest.mark.parametrize("mass", [0.0, 0.7])
def test_one_link_equals_lagrange(mass):
    L, EI, density = 1.3, 40.0, 1.7
    shapes = clamped_tip(L, mass / (density * L), 0.0, 3)
    m = madi.Model("one link", gravity=(0, -9.81, 0))
    link = slender(m, "link", (0, 0, 0), (L, 0, 0), EI, density, {"y": shapes}, y_axis=(0, 1, 0), stiffening=False)
    m.revolute("A", m.ground, link, at=(0, 0, 0), axis=(0, 0, 1))
    angle, x = sp.symbols("angle x")
    xi, psi = sp.symbols("xi:3"), sp.symbols("psi:3")
    r = turn(angle) * sp.Matrix([x, sum(a * b for a, b in zip(psi, xi, strict=True))])
    parts = [Link(r, x, L, density, tuple(zip(xi, psi, shapes, strict=True)), EI)]
    if mass:
        m.fixed("holds", link, m.body("load", mass, position=(L, 0, 0)))
        end = sum(shape(L) * a for shape, a in zip(shapes, xi, strict=True))
        parts.append(Lump(turn(angle) * sp.Matrix([L, end]), mass))
    equations, system = Lagrange([angle, *xi], parts, (0, -9.81)), m.build()
    for seed in range(4):
        agree(system, equations, seed, [1.0, 0.1, 0.05, 0.02])


def two_links(stiffening=False):
    """An elbow arm whose links bend, with a load: a madi model, and Lagrange's equations of the same."""
    lengths, bending, density, load = (1.3, 0.9), (40.0, 15.0), (1.7, 0.8), 0.3
    shapes = clamped_free(lengths[0], 2), clamped_tip(lengths[1], 0.4, 0.0, 2)
    m = madi.Model("two links", gravity=(0, -9.81, 0))
    start, before = 0.0, m.ground
    for k, name in enumerate("ab"):
        end = start + lengths[k]
        link = slender(m, name, (start, 0, 0), (end, 0, 0), bending[k], density[k], {"y": shapes[k]}, y_axis=(0, 1, 0),
                       stiffening=stiffening)  # fmt: skip
        m.revolute(name.upper(), before, link, at=(start, 0, 0), axis=(0, 0, 1))
        start, before = end, link
    m.fixed("holds", before, m.body("load", load, position=(start, 0, 0)))
    t1, t2, x = sp.symbols("t1 t2 x")
    xi, psi = sp.symbols("xi:4"), sp.symbols("psi:4")

    def deflection(k, order=0, at=None):
        values = [shape(at, order) for shape in shapes[k]] if at is not None else psi[2 * k : 2 * k + 2]
        return sum(a * b for a, b in zip(values, xi[2 * k : 2 * k + 2], strict=True))

    elbow = turn(t1) * sp.Matrix([lengths[0], deflection(0, 0, lengths[0])])
    second = turn(t1 + t2 + deflection(0, 1, lengths[0]))
    r = turn(t1) * sp.Matrix([x, deflection(0)]), elbow + second * sp.Matrix([x, deflection(1)])
    end = elbow + second * sp.Matrix([lengths[1], deflection(1, 0, lengths[1])])
    links = [
        Link(r[k], x, lengths[k], density[k],
             tuple(zip(xi[2 * k : 2 * k + 2], psi[2 * k : 2 * k + 2], shapes[k], strict=True)), bending[k])
        for k in range(2)
    ]  # fmt: skip
    return m, Lagrange([t1, *xi[:2], t2, *xi[2:]], [*links, Lump(end, load)], (0, -9.81))


@pytest.mark.parametrize("engine", ["plain", "jit", "compiled"])
def test_two_links_equal_lagrange(engine):
    m, equations = two_links()
    system = m.build()
    assert system.speeds == ["A", "a.y1", "a.y2", "B", "b.y1", "b.y2"]
    for seed in range(4):
        agree(system, equations, seed, [1.0, 0.1, 0.05, 1.0, 0.1, 0.05], engine)


def test_a_body_of_three_nodes_in_space_equals_lagrange():
    """Masses at nodes, two modes with all components, on a universal joint: point masses in symbols."""
    rng = np.random.default_rng(4)
    nodes = np.array([[0.0, 0, 0], [0.6, 0.1, -0.1], [1.1, 0, 0.2]])
    masses, modes, K = np.array([0.2, 0.7, 1.1]), rng.normal(size=(2, 3, 6)) * 0.4, np.array([[70.0, 9.0], [9.0, 150.0]])
    modes[:, 0] = 0.0  # it hangs on its first node
    m = madi.Model("nodes", gravity=(1.0, -2.0, -9.81))
    body = m.flexible_body("part", nodes, masses, modes, K)
    m.universal("U", m.ground, body, at=(0, 0, 0), axes=((0, 1, 0), (0, 0, 1)))
    m.fixed("holds", body, m.body("tip", 0.9, position=(1.1, 0, 0.2)))
    a, b, *xi = sp.symbols("a b xi:2")
    R = sp.rot_axis2(-a) * sp.rot_axis3(-b)  # SymPy's turn the other way
    parts = []
    for k in range(3):
        moved = sp.Matrix(nodes[k]) + sum((sp.Matrix(modes[c, k, :3]) * xi[c] for c in range(2)), sp.zeros(3, 1))
        parts.append(Lump(R * moved, masses[k]))
    parts.append(Lump(R * moved, 0.9))
    equations, system = Lagrange([a, b, *xi], parts, (1.0, -2.0, -9.81)), m.build()
    stiff = np.zeros(4)
    for seed in range(3):
        rng = np.random.default_rng(seed)
        q, v = rng.normal(size=4) * [1, 1, 0.3, 0.3], rng.normal(size=4)
        stiff[2:] = -K @ q[2:]
        wanted = equations.accelerations(q, v, stiff)
        for formulation in FORMULATIONS:
            found = system.forward_dynamics(q, v, formulation=formulation, engine="plain")
            np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-9 * np.max(np.abs(wanted)))


# ---- identities on random mechanisms ----------------------------------------------------------------------------------

KINDS = ("clamped", "pinned", "free", "tip", "all")


def random_tree(seed):
    """Flexible and rigid bodies on joints of all kinds, hanging on ends and in between, loaded at points."""
    rng = np.random.default_rng(seed)
    m = madi.Model(f"random {seed}")
    before, at = m.ground, np.zeros(3)
    for k in range(3):
        L = float(rng.uniform(0.5, 1.5))
        direction = rng.normal(size=3)
        end = at + L * direction / np.linalg.norm(direction)
        if rng.random() < 0.7:
            kind = KINDS[rng.integers(len(KINDS))]
            shapes = {
                "clamped": {"y": 2, "z": 1}, "pinned": {"y": pinned_pinned(L, 2)}, "tip": {"y": clamped_tip(L, 0.5, 0.1, 2)},
                "free": {"y": free_free(L, 1), "z": free_free(L, 1)}, "all": {"y": 1, "z": 1, "twist": 1, "axial": 1},
            }[kind]  # fmt: skip
            body = m.beam(f"b{k}", at, end, rectangle(0.03, 0.02), 1e8, 2700.0, shapes, damping=0.02,
                          stiffening=bool(rng.integers(2)), rotary=bool(rng.integers(2)), points={"tip": L},
                          strict=False)  # fmt: skip
            m.force(f"f{k}", body, rng.normal(size=3), at=at + 0.7 * (end - at))
            m.torque(f"t{k}", body.point("tip"), rng.normal(size=3))
        else:
            body = m.body(f"b{k}", 1.0, inertia=(0.1, 0.2, 0.25), position=end)
        name = f"j{k}"
        joint = rng.integers(4)
        if joint == 0:
            m.revolute(name, before, body, at=at, axis=rng.normal(size=3))
        elif joint == 1:
            m.spherical(name, before, body, at=at)
        elif joint == 2:
            m.universal(name, body, before, at=at, axes=((0, 1, 0), (1, 0, 0)))
        else:
            m.cylindrical(name, before, body, at=at, axis=rng.normal(size=3))
        before, at = body, at + float(rng.uniform(0.2, 1.0)) * (end - at)
    return m


def random_state(system, seed, amount=0.01):
    rng = np.random.default_rng(seed + 1000)
    theta, q = rng.normal(size=system.nv), np.empty(system.nq)
    modes = np.array([name.split(".")[0].startswith("b") for name in system.speeds])
    theta[modes] *= amount
    retract(system.layout.arrays, system.q0, theta, q)
    return q, rng.normal(size=system.nv)


@given(st.integers(0, 10**6))
def test_identities_of_random_trees(seed):
    system = random_tree(seed).build()
    q, v = random_state(system, seed)
    a = system.forward_dynamics(q, v, formulation="recursive", engine="plain")
    scale = np.max(np.abs(a))
    for formulation in FORMULATIONS[1:]:
        np.testing.assert_allclose(
            system.forward_dynamics(q, v, formulation=formulation, engine="plain"), a, atol=1e-9 * scale
        )
    M = system.mass_matrix(q, engine="plain")
    forces = np.max(np.abs(M)) * scale
    np.testing.assert_allclose(system.inverse_dynamics(q, v, a, engine="plain"), 0.0, atol=1e-10 * forces)
    assert system.energy(q, v, engine="plain")["kinetic"] == pytest.approx(0.5 * v @ M @ v, rel=1e-11)
    # dE/dt along the motion is the power of what acts from outside or dissipates
    h, moved = 1e-5, [np.empty(system.nq), np.empty(system.nq)]
    for sign, there in zip((1, -1), moved, strict=True):
        retract(system.layout.arrays, q, sign * h * v, there)
    energies = [system.energy(there, v, engine="plain")["total"] for there in moved]
    rate = (energies[0] - energies[1]) / (2 * h) + v @ M @ a
    powers = system.powers(q, v, engine="plain")
    outside = sum(p["power"] for name, p in powers.items() if name[0] in "ft" and "." not in name)
    lost = sum(p["dissipated"] for p in powers.values())
    assert rate == pytest.approx(outside - lost, abs=1e-6 * max(1.0, abs(v @ M @ a), abs(energies[0])))
    selected, classic = (system.reactions(q, v, way=way, engine="plain") for way in ("selected", "newton-euler"))
    for name, load in selected.items():
        size = 1e-9 * max(1.0, forces)
        np.testing.assert_allclose(load.force, classic[name].force, atol=size)
        np.testing.assert_allclose(load.moment, classic[name].moment, atol=size)
    # what a joint does not hold, it does not carry
    assert all(abs(x) < 1e-8 * max(1.0, forces) for load in selected.values() for x in load.driving.values())


@pytest.mark.parametrize("seed", [1, 7, 12])
def test_three_engines_agree_on_random_trees(seed):
    system = random_tree(seed).build()
    q, v = random_state(system, seed)
    for formulation in FORMULATIONS:
        one, two, three = (
            system.forward_dynamics(q, v, formulation=formulation, engine=engine) for engine in ("plain", "jit", "compiled")
        )
        np.testing.assert_allclose(two, one, rtol=0, atol=1e-9 * np.max(np.abs(one)))
        np.testing.assert_allclose(three, one, rtol=0, atol=1e-9 * np.max(np.abs(one)))


def test_points_move_as_their_jacobian_says():
    system = random_tree(5).build()
    q, v = random_state(system, 5)
    body = next(name for name in system.bodies if name.endswith("@tip"))
    J, h = system.point_jacobian(q, body, (0.1, 0.2, 0.3), engine="plain"), 1e-6
    ends = []
    for sign in (1, -1):
        there = np.empty(system.nq)
        retract(system.layout.arrays, q, sign * h * v, there)
        r, R = system.body_pose(there, body, engine="plain")
        ends.append(r + R @ [0.1, 0.2, 0.3])
    np.testing.assert_allclose(J[:3] @ v, (ends[0] - ends[1]) / (2 * h), atol=1e-7)
    seen = system.observe(q, v, engine="plain")
    k = system.bodies.index(body)
    np.testing.assert_allclose(J[3:] @ v, seen.angular_velocity[0, k], atol=1e-12)


# ---- frequencies ------------------------------------------------------------------------------------------------------


def frequencies(model, count, **more):
    found = madi.linearize(model, **more)
    return np.array([mode["frequency"] * 2 * np.pi for mode in found.modes if mode["frequency"] > 1e-3][:count])


def beam_on(joints, shapes, L=1.0, EI=12.0, density=0.9, tip=None, y_axis=(0, 1, 0)):
    m = madi.Model("beam", gravity=(0, 0, 0))
    link = slender(m, "link", (0, 0, 0), (L, 0, 0), EI, density, {"y": shapes}, y_axis=y_axis)
    joints(m, link)
    if tip:
        mass, inertia = tip
        m.fixed("holds", link, m.body("tip", mass, inertia=(inertia, inertia, inertia), position=(L, 0, 0)), at=(L, 0, 0))
    return m, np.sqrt(EI / density) / L**2


def clamp(m, link):
    m.fixed("wall", m.ground, link, at=(0, 0, 0))


def pin(m, link):
    m.revolute("pin", m.ground, link, at=(0, 0, 0), axis=(0, 0, 1))


def two_pins(m, link):
    pin(m, link)
    m.point_on_line("support", m.ground, link, at=(1, 0, 0), axis=(1, 0, 0))


@pytest.mark.parametrize(
    ("joints", "shapes", "roots"),
    [
        (clamp, clamped_free(1.0, 6), [1.8751040687, 4.6940911330, 7.8547574382, 10.9955407349]),
        (clamp, polynomials(1.0, 10), [1.8751040687, 4.6940911330, 7.8547574382, 10.9955407349]),
        (two_pins, polynomials(1.0, 10), [np.pi, 2 * np.pi, 3 * np.pi, 4 * np.pi]),
        (two_pins, pinned_pinned(1.0, 5), [np.pi, 2 * np.pi, 3 * np.pi, 4 * np.pi]),
        (pin, polynomials(1.0, 10), [3.9266023120, 7.0685827456, 10.2101761228, 13.3517687778]),  # a pinned, free pendulum
    ],
    ids=["clamped", "clamped, polynomials", "pinned, loop, polynomials", "pinned, loop", "hinged"],
)  # fmt: skip
def test_frequencies_of_uniform_beams(joints, shapes, roots):
    m, unit = beam_on(joints, shapes)
    np.testing.assert_allclose(frequencies(m, 4), np.array(roots) ** 2 * unit, rtol=1e-3)


def loaded_roots(a, b):
    """Clamped, with a mass and inertia at the tip: the roots of the transcendental equation, written out."""
    from scipy.optimize import brentq

    def equation(x):
        s, c, S, C = np.sin(x), np.cos(x), np.sinh(x), np.cosh(x)
        return (
            1 + c * C - a * x * (s * C - c * S) - b * x**3 * (c * S + s * C) + a * b * x**4 * (1 - c * C)
        ) / C  # fmt: skip

    grid = np.linspace(0.1, 12, 2000)
    return [brentq(equation, u, w) for u, w in pairwise(grid) if equation(u) * equation(w) < 0][:4]


def test_frequencies_with_a_tip_body():
    mass, inertia, density = 0.45, 0.09, 0.9
    a, b = mass / density, inertia / density
    roots = loaded_roots(a, b)
    for shapes in (clamped_tip(1.0, a, b, 6), polynomials(1.0, 10)):
        m, unit = beam_on(clamp, shapes, tip=(mass, inertia))
        np.testing.assert_allclose(frequencies(m, 4), np.array(roots) ** 2 * unit, rtol=1e-3)


# ---- shapes that a number takes: whatever the ends do ------------------------------------------------------------------


def chain(pieces, shapes, end="free", plane="y", hub=None):
    """A clamped beam of 1 m as several joined to one, each with these shapes (a number, or a function of its length); its
    start turns at the speed `hub`."""
    m, before, h = madi.Model("chain", gravity=(0, 0, 0)), None, 1.0 / pieces
    for k in range(pieces):
        at, modes = (k * h, 0, 0), {plane: shapes(h) if callable(shapes) else shapes}
        link = slender(m, f"p{k}", at, ((k + 1) * h, 0, 0), 12.0, 0.9, modes, y_axis=(0, 1, 0), points={"tip": h})
        if before or hub is None:
            m.fixed(f"j{k}", before or m.ground, link, at=at)
        else:
            m.revolute("hub", m.ground, link, at=at, axis=(0, 0, 1))
            m.drive("hub", lambda t: hub * t)
        before = link
    if end == "pinned":
        m.point_on_line("support", m.ground, before, at=(1, 0, 0), axis=(1, 0, 0))
    elif end == "clamped":
        guide = m.body("guide", 1e-6, inertia=(1e-9, 1e-9, 1e-9), position=(1, 0, 0))
        m.prismatic("rail", m.ground, guide, at=(1, 0, 0), axis=(1, 0, 0))
        m.fixed("end", before, guide, at=(1, 0, 0))
    elif end != "free":
        mass, inertia = end
        m.fixed("end", before, m.body("load", 0.9 * mass, inertia=[0.9 * inertia] * 3, position=(1, 0, 0)))
    return m


# what the end does, and the first two roots: with a body (its mass and inertia over the beam's) those of `loaded_roots`
ENDS = {
    "free": (1.8751040687, 4.6940911330), "pinned": (3.9266023120, 7.0685827456), "clamped": (4.7300407449, 7.8532046241),
    (3.0, 0.0): None, (0.5, 0.1): None,
}  # fmt: skip


@pytest.mark.parametrize("end", ENDS, ids=str)
def test_numbers_of_shapes_fit_any_end(end):
    """One beam of three shapes, and pieces of two joined to one (as cubic finite elements: errors fall as h⁴)."""
    roots = np.array(ENDS[end] or loaded_roots(*end)[:2])
    wanted = roots**2 * np.sqrt(12.0 / 0.9)
    assert frequencies(chain(1, 3, end), 1)[0] == pytest.approx(wanted[0], rel=2e-3)
    errors = [frequencies(chain(pieces, 2, end), 2) / wanted - 1 for pieces in (2, 4)]
    assert np.all(np.abs(errors[1]) < (2e-3, 1e-2))
    assert np.all(np.abs(errors[1]) < 0.15 * np.abs(errors[0]) + 1e-6)


@pytest.mark.parametrize("pieces", [1, 2, 4])
def test_loads_on_the_end_of_joined_beams_are_followed_exactly(pieces):
    """P L³ / 3 EI + M L² / 2 EI, however many pieces."""
    m, force, moment = chain(pieces, 2), 2e-3, 3e-3
    m.force("P", f"p{pieces - 1}@tip", (0, force, 0))
    m.torque("M", f"p{pieces - 1}@tip", (0, 0, moment))
    tip = m.build().body_pose(madi.statics(m).q, f"p{pieces - 1}@tip")[0][1]
    assert tip == pytest.approx((force / 3 + moment / 2) / 12.0, rel=1e-6)


# of a cantilever turning at its root, out of the plane: speed and first frequency in units of sqrt(EI / rho A L⁴)
WRIGHT = {2.0: 4.1373, 6.0: 7.3604, 12.0: 13.1702}


@pytest.mark.parametrize("speed", WRIGHT)
def test_a_turning_beam_stiffens(speed):
    """Wright, Smith, Thresher, Wang 1982 (exact series)."""
    unit = np.sqrt(12.0 / 0.9)
    for pieces, count in ((1, 3), (2, 2)):
        turning = chain(pieces, count, plane="z", hub=speed * unit).build()
        found = frequencies(turning, 1, q=turning.q0, v=turning.v0)
        assert found[0] / unit == pytest.approx(WRIGHT[speed], rel=1e-2)


@pytest.mark.parametrize("pieces", [1, 4])
def test_rods_that_carry_as_much_as_they_are(pieces):
    """Torsion and stretch with an inertia and a mass at the end like the rod's own: x tan x = 1."""
    section, h, before = tube(0.06, 0.05), 2.0 / pieces, None
    m = madi.Model("rod", gravity=(0, 0, 0))
    for k in range(pieces):
        rod = m.beam(f"p{k}", (k * h, 0, 0), ((k + 1) * h, 0, 0), section, **ALUMINIUM, modes={"twist": 1, "axial": 1})
        m.fixed(f"j{k}", before or m.ground, rod, at=(k * h, 0, 0))
        before = rod
    mass, inertia = 2 * 2700.0 * np.array([section.area, section.polar])
    m.fixed("end", before, m.body("load", mass, inertia=[inertia] * 3, position=(2, 0, 0)))
    wanted = 0.8603335890 / 2.0 * np.sqrt([7e10 / 2.6 / 2700, 7e10 / 2700])
    np.testing.assert_allclose(frequencies(m, 2), wanted, rtol=0.007 if pieces == 1 else 6e-4)


def hermite(L, EI, density, elements):
    """Consistent mass and stiffness of a beam of finite elements; freedoms (w, slope) of every node."""
    n, h = 2 * (elements + 1), L / elements
    M, K = np.zeros((n, n)), np.zeros((n, n))
    m = density * h / 420 * np.array([[156, 22 * h, 54, -13 * h], [22 * h, 4 * h**2, 13 * h, -3 * h**2],
                                      [54, 13 * h, 156, -22 * h], [-13 * h, -3 * h**2, -22 * h, 4 * h**2]])  # fmt: skip
    k = EI / h**3 * np.array([[12, 6 * h, -12, 6 * h], [6 * h, 4 * h**2, -6 * h, 2 * h**2],
                              [-12, -6 * h, 12, -6 * h], [6 * h, 2 * h**2, -6 * h, 4 * h**2]])  # fmt: skip
    for e in range(elements):
        part = slice(2 * e, 2 * e + 4)
        M[part, part] += m
        K[part, part] += k
    return M, K


def test_frequencies_of_a_straight_two_link_arm():
    """Both links in line, hinged together and to the ground: finite elements with a hinge, assembled here."""
    from scipy.linalg import eigh

    m, _ = two_links()
    found = frequencies(gravity_off(m), 4)
    elements = 24
    first, second = hermite(1.3, 40.0, 1.7, elements), hermite(0.9, 15.0, 0.8, elements)
    n = 2 * (elements + 1)
    M, K = (np.block([[a, np.zeros((n, n))], [np.zeros((n, n)), b]]) for a, b in zip(first, second, strict=True))
    M[-2, -2] += 0.3
    tie = np.delete(np.eye(2 * n), [0, n], axis=1)  # the base is held, the second link starts where the first ends
    tie[n, n - 3] = 1.0
    assert tie[n - 2, n - 3] == 1.0
    wanted = np.sqrt(np.maximum(eigh(tie.T @ K @ tie, tie.T @ M @ tie, eigvals_only=True), 0))
    wanted = wanted[wanted > 1e-2][:4]
    np.testing.assert_allclose(found[:2], wanted[:2], rtol=0.02)  # two shapes a link
    richer, _ = beam_pair(polynomials)
    np.testing.assert_allclose(frequencies(richer, 4), wanted, rtol=1e-3)


def gravity_off(m):
    m.gravity = (0, 0, 0)
    return m


def beam_pair(shapes):
    m = madi.Model("pair", gravity=(0, 0, 0))
    a = slender(m, "a", (0, 0, 0), (1.3, 0, 0), 40.0, 1.7, {"y": shapes(1.3, 8)}, y_axis=(0, 1, 0))
    b = slender(m, "b", (1.3, 0, 0), (2.2, 0, 0), 15.0, 0.8, {"y": shapes(0.9, 8)}, y_axis=(0, 1, 0))
    m.revolute("A", m.ground, a, at=(0, 0, 0), axis=(0, 0, 1))
    m.revolute("B", a, b, at=(1.3, 0, 0), axis=(0, 0, 1))
    m.fixed("holds", b, m.body("load", 0.3, position=(2.2, 0, 0)))
    return m, None


def test_torsion_and_stretch():
    """A held rod: (k - 1/2) pi c / L, c the speed of its waves."""
    m = madi.Model("rod", gravity=(0, 0, 0))
    section = tube(0.06, 0.05)
    rod = m.beam("rod", (0, 0, 0), (0, 0, 2), section, **ALUMINIUM,
                 modes={"twist": clamped_rod(2.0, 2), "axial": clamped_rod(2.0, 2)})  # fmt: skip
    m.fixed("wall", m.ground, rod, at=(0, 0, 0))
    waves = np.sqrt([7e10 / 2.6 / 2700, 7e10 / 2700])
    wanted = sorted(np.outer([0.5, 1.5], waves).reshape(-1) * np.pi / 2)
    np.testing.assert_allclose(frequencies(m, 4), wanted, rtol=1e-9)


def test_craig_bampton_body_is_the_beam():
    """A beam of finite elements, reduced, as arrays: frequencies of the clamped beam, and of one with a load."""
    L, EI, density, elements = 1.0, 12.0, 0.9, 20
    M, K = hermite(L, EI, density, elements)
    n = elements + 1
    shapes, mass, stiffness = craig_bampton(M, K, interface=[2 * n - 2, 2 * n - 1], fixed=[0, 1], count=4)
    modes = np.zeros((len(shapes), n, 6))
    modes[:, :, 1], modes[:, :, 5] = shapes[:, 0::2], shapes[:, 1::2]
    x = np.linspace(0, L, n)
    weights = density * L / elements * np.concatenate([[0.5], np.ones(n - 2), [0.5]])
    for tip in (None, 0.45):
        m = madi.Model("cb", gravity=(0, 0, 0))
        nodes = np.stack([x, 0 * x, 0 * x], axis=1)
        link = m.flexible_body("link", nodes, weights, modes, stiffness, modal_mass=mass)
        clamp(m, link)
        if tip:
            m.fixed("holds", link, m.body("load", tip, position=(L, 0, 0)), at=(L, 0, 0))
        same, _ = beam_on(clamp, polynomials(L, 9), L, EI, density, (tip, 0.0) if tip else None)
        np.testing.assert_allclose(frequencies(m, 3), frequencies(same, 3), rtol=1e-3)


# ---- motions ----------------------------------------------------------------------------------------------------------


def flexible_pendulum(E=7e10, modes=None, stiffening=True, gravity=(0, 0, -9.81), **more):
    m = madi.Model("flexible pendulum", gravity=gravity)
    link = m.beam("link", (0, 0, 0), (1, 0, 0), rectangle(0.02, 0.01), E, 2700.0, modes or {"z": 2}, stiffening=stiffening,
                  points={"tip": 1.0}, **more)  # fmt: skip
    m.revolute("pin", m.ground, link, at=(0, 0, 0), axis=(0, 1, 0))
    return m


def test_energy_of_a_flexible_pendulum_stays():
    m = flexible_pendulum(E=2e9, modes={"y": 1, "z": 2, "axial": 1})
    run = madi.simulate(m, 10.0, rtol=1e-10, times=np.linspace(0, 10, 201))
    assert np.ptp(run["energy"]) < 1e-6 * np.max(np.abs(run["kinetic"]))
    assert np.max(np.abs(run["link.z1"])) > 1e-3  # it does bend


def test_stiff_limit_is_the_rigid_pendulum():
    m = madi.Model("rigid")
    mass = 2700 * 0.02 * 0.01
    m.body("link", mass, com=(0.5, 0, 0), inertia=(0, mass / 12, mass / 12), unphysical=True)
    m.revolute("pin", m.ground, "link", at=(0, 0, 0), axis=(0, 1, 0))
    times = np.linspace(0, 1, 11)
    rigid = madi.simulate(m, 1.0, rtol=1e-9, times=times)["pin"]
    gaps = []
    for E in (7e9, 7e10, 7e11, 7e12):
        run = madi.simulate(flexible_pendulum(E=E, damping=0.3), 1.0, rtol=1e-8, times=times, method="radau")
        gaps.append(np.max(np.abs(run["pin"] - rigid)))
    assert gaps[-1] < 1e-4
    assert all(b < 0.2 * a for a, b in pairwise(gaps))


def test_a_hanging_column_stiffens_and_a_standing_one_softens():
    """Frequencies of a heavy cantilever, up and down: w^2 = w0^2 (1 -+ g/gc), gc = 7.837 EI/(rho A L^3) the buckling load
    of a column under its own weight (Greenhill). Checked by the slope for small weights, and by buckling itself."""
    EI, density, L = 2.0, 0.8, 1.0
    critical = 7.8373 * EI / (density * L**3)

    def lowest(g):
        m = madi.Model("column", gravity=(0, 0, -g))
        link = slender(m, "link", (0, 0, 0), (0, 0, L), EI, density, {"y": polynomials(L, 6)})
        m.fixed("wall", m.ground, link, at=(0, 0, 0))
        return madi.linearize(m, q=m.build().q0)

    def square(g):
        return np.min(np.real(-(lowest(g).eigenvalues ** 2)))

    assert square(0.98 * critical) > 0 > square(1.02 * critical)
    assert square(-0.1 * critical) > square(0.0) > square(0.1 * critical)
    m = madi.Model("column", gravity=(0, 0, -2 * critical))
    slender(m, "link", (0, 0, 0), (0, 0, L), EI, density, {"y": polynomials(L, 6)}, stiffening=False)
    m.fixed("wall", m.ground, "link", at=(0, 0, 0))
    assert np.min(np.real(-(madi.linearize(m, q=m.build().q0).eigenvalues ** 2))) > 0  # it does not know


def test_spin_up_of_a_rotating_beam():
    """Kane's: the tip lags, as geometrically exact beams do, and comes back."""
    run = madi.simulate(spin_up.model(), 20.0, rtol=1e-8, times=np.linspace(0, 20, 401))
    tip = spin_up.tip(run)
    for t, wanted in spin_up.TIP.items():
        assert np.interp(t, run["time"], tip) == pytest.approx(wanted, abs=5e-3 * 0.57)
    assert np.min(tip) == pytest.approx(spin_up.LARGEST, rel=5e-3)
    assert np.max(np.abs(tip[run["time"] > 15])) < 5e-3  # steady: straight again


def test_spin_up_without_stiffening_diverges_and_the_user_is_told():
    with pytest.warns(madi.MadiWarning, match="stiffening=True"):
        run = madi.simulate(spin_up.model(stiffening=False), 10.5, rtol=1e-8, times=np.linspace(0, 10.5, 106))
    tip = np.abs(spin_up.tip(run))
    assert tip[-1] > 50.0  # it grows without bound once the hub turns faster than the first frequency, 3.8 rad/s
    assert np.all(np.diff(tip[run["time"] > 8.6]) > 0)


@pytest.mark.parametrize(
    ("rod", "wanted", "allowed"),
    [(slider_crank.elastic_rod, slider_crank.CONSISTENT, 5e-10), (slider_crank.published_rod, slider_crank.PUBLISHED, 4e-9)],
    ids=["independent", "published"],
)
def test_flexible_slider_crank(rod, wanted, allowed):
    """A loop with an elastic rod, against an independent solution and the test set's digits."""
    m = slider_crank.model(rod)
    runs = [madi.simulate(m, 0.1, rtol=1e-10, atol=1e-13, times=[0.1], loops=way) for way in ("projection", "svd")]
    for run in runs:
        np.testing.assert_allclose(slider_crank.elastic(run)[-1], wanted, atol=allowed)
        assert np.max(run["violation"]) < 1e-10
    assert runs[0]["slider.x"][-1] == pytest.approx(slider_crank.PUBLISHED_SLIDER, abs=1e-7)


def test_spanning_trees_of_flexible_loops():
    """Both ways into a beam are equally long: its own modal joints are never cut."""
    motions = []
    for cut in (None, "B", "C"):
        m = madi.Model("four-bar", gravity=(4, -9.81, 0))
        a = m.body("crank", 1.0, inertia=(0.1, 0.1, 0.1), position=(0, 0.5, 0))
        b = m.beam("coupler", (0, 1, 0), (2, 1, 0), rectangle(0.02, 0.02), **ALUMINIUM, modes={"y": polynomials(2.0, 2)},
                   y_axis=(0, 1, 0), stiffening=False)  # fmt: skip
        c = m.body("rocker", 1.0, inertia=(0.1, 0.1, 0.1), position=(2, 0.5, 0))
        z = (0, 0, 1)
        m.revolute("A", m.ground, a, at=(0, 0, 0), axis=z)
        m.revolute("D", m.ground, c, at=(2, 0, 0), axis=z)
        m.revolute("B", a, b, at=(0, 1, 0), axis=z, cut=True if cut == "B" else None)
        m.revolute("C", b, c, at=(2, 1, 0), axis=z, cut=True if cut == "C" else None)
        s = m.build()
        assert len(s.cut_joints) == 1
        assert not any("@" in name for name in s.cut_joints)
        run = madi.simulate(m, 0.5, rtol=1e-9, times=np.linspace(0, 0.5, 6))
        motions.append(np.stack([run["coupler@0.x"], run["coupler.y1"]]))
        np.testing.assert_allclose(motions[-1], motions[0], atol=1e-7)
        assert np.ptp(run["energy"]) < 1e-6 * np.max(run["kinetic"])


def test_loads_and_loops_of_every_method_agree():
    m = slider_crank.model()
    found = [madi.simulate(m, 0.01, rtol=1e-9, times=[0.01], loops=way, reactions=["gudgeon", "pin"])
             for way in ("projection", "pseudo-inverse", "svd", "qr", "partition")]  # fmt: skip
    for run in found[1:]:
        np.testing.assert_allclose(slider_crank.elastic(run), slider_crank.elastic(found[0]), atol=1e-9)
        np.testing.assert_allclose(run["gudgeon.fx"], found[0]["gudgeon.fx"], rtol=1e-4)
    # the slider's own equation: what the pin carries along the guide moves it
    assert found[0]["gudgeon.fx"][-1] == pytest.approx(slider_crank.SLIDER * found[0]["slider.ax"][-1], rel=1e-9)


ELASTICA = {1.0: (0.30172, 0.05643), 2.0: (0.49346, 0.16064), 5.0: (0.71379, 0.38763), 10.0: (0.81061, 0.55500)}


@pytest.mark.parametrize("load", ELASTICA)
def test_many_short_beams_bend_far(load):
    """A cantilever with a dead force at its tip, P L^2 / EI = load: deflection and shortening of the elastica."""
    pieces, EI = 12, 3.0
    m = madi.Model("elastica", gravity=(0, 0, 0))
    before = m.ground
    for k in range(pieces):
        L = 1.0 / pieces
        link = slender(m, f"p{k}", (k * L, 0, 0), ((k + 1) * L, 0, 0), EI, 0.5, {"y": 2}, y_axis=(0, 1, 0),
                       points={"tip": L})  # fmt: skip
        m.fixed(f"j{k}", before, link, at=(k * L, 0, 0))
        before = link
    m.force("P", before, (0, load * EI, 0), at=(1, 0, 0))
    found = madi.statics(m)
    r, _ = m.build().body_pose(found.q, f"p{pieces - 1}@tip")
    down, shorter = ELASTICA[load]
    assert r[1] == pytest.approx(down, rel=2e-3)
    assert 1 - r[0] == pytest.approx(shorter, rel=5e-3)


# ---- RALF (P3) --------------------------------------------------------------------------------------------------------


def test_ralf_recursive_equals_symbolic():
    assert ralf.agreement(3) < 1e-9


@pytest.mark.parametrize("angles", [(20.0, -130.0), (75.0, -60.0), (95.0, -40.0)])
def test_ralf_null_space_as_printed(angles):
    np.testing.assert_allclose(ralf.null_space(angles), ralf.PRINTED, atol=1e-12)


@pytest.mark.slow
def test_ralf_report(tmp_path):
    found = ralf.report(tmp_path)
    assert found["values"]["largest constraint violation, svd, m"] < 1e-12
    assert 10 < found["values"]["largest tip deflection across the upper link, mm"] < 100
    assert all((tmp_path / name).stat().st_size > 10_000 for name in ("ralf.png", "ralf-frequencies.png", "ralf.gif"))


# ---- what is refused, and how ------------------------------------------------------------------------------------------

TUBE = tube(0.05, 0.04)


def one_beam(modes=None, joint="revolute", at=(0, 0, 0), end=(1, 0, 0), **more):
    m = madi.Model("bad")
    beam = m.beam(
        "link", (0, 0, 0), end, more.pop("section", TUBE), more.pop("E", 7e10), more.pop("rho", 2700.0), modes, **more
    )
    if joint == "fixed":
        m.fixed("J", m.ground, beam, at=at)
    else:
        m.revolute("J", m.ground, beam, at=at, axis=(0, 0, 1))
    return m


def one_body(**more):
    given = {"nodes": np.eye(3), "masses": np.ones(3), "modes": np.ones((1, 3, 6)), "stiffness": [1.0]} | more
    m = madi.Model("bad")
    body = m.flexible_body("part", **given)
    m.revolute("J", m.ground, body, at=(1, 0, 0), axis=(0, 0, 1))
    return m


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


# ---- the rest of the face ----------------------------------------------------------------------------------------------


def test_locked_modes_are_rigid():
    """m.lock(beam) takes its modes away: the rigid link."""
    m = flexible_pendulum(E=1e6)
    m.lock("link")
    mass = 2700 * 0.02 * 0.01
    s = m.build()
    a = s.forward_dynamics(s.q0, s.v0)
    assert a[s.speeds.index("pin")] == pytest.approx(9.81 * mass * 0.5 / (mass / 3))
    assert "locked" in s.explain()


@pytest.mark.parametrize("method", ["newmark", "generalized-alpha", "radau", "ida", "cvode", "abm"])
def test_every_integrator_takes_modes(method):
    m = flexible_pendulum(E=2e9, damping=0.02)
    times = np.linspace(0, 0.5, 6)
    step = {"step": 1e-3} if method in ("newmark", "generalized-alpha") else {}
    wanted = madi.simulate(m, 0.5, rtol=1e-10, times=times)
    tight = {} if step else {"rtol": 1e-8}
    found = madi.simulate(m, 0.5, method=method, times=times, **tight, **step)
    np.testing.assert_allclose(found["pin"], wanted["pin"], atol=2e-4)
    np.testing.assert_allclose(found["link@tip.z"], wanted["link@tip.z"], atol=5e-4)


def test_exported_c_bends_too(tmp_path):
    import subprocess

    m = flexible_pendulum(E=2e9)
    madi.export_c(m, tmp_path, step=1e-3, method="rk4", duration=0.2)
    source = sorted(tmp_path.glob("*.c"))
    subprocess.run(["cc", "-O1", "-std=c99", "-o", tmp_path / "run", *source, "-lm"], check=True)
    last = subprocess.run([tmp_path / "run"], capture_output=True, text=True, check=True).stdout.strip().split("\n")[-1]
    run = madi.simulate(m, 0.2, step=1e-3, method="rk4")
    values = [float(x) for x in last.replace(",", " ").split()]
    np.testing.assert_allclose(values[1 : 1 + len(run.data["coordinate"])], run.data["q"].values[-1], rtol=1e-9, atol=1e-12)


def test_centre_lines_end_where_the_points_are():
    from madi.results.flexible import centre_line

    m = flexible_pendulum(E=2e9, modes={"z": 2, "y": 1}, stiffening=False, v0={"y1": 0.3})
    run = madi.simulate(m, 0.3, rtol=1e-8, times=np.linspace(0, 0.3, 4))
    line = centre_line(m.bodies[0], run)
    tip = np.stack([run[f"link@tip.{axis}"] for axis in "xyz"], axis=1)
    np.testing.assert_allclose(line[:, -1], tip, atol=1e-9)
    np.testing.assert_allclose(line[:, 0], 0.0, atol=1e-12)


def test_parameters_act_on_models_with_beams():
    """Gravity, a load's mass, a spring: adjustable; the beam's own numbers: told."""
    m = flexible_pendulum(E=2e9)
    m.fixed("grip", "link", m.body("load", 0.3, position=(1, 0, 0)), at=(1, 0, 0))
    m.joint_spring("spring", "pin", stiffness=3.0)
    for name, values in (("gravity.z", [-9.81, -20.0]), ("load.mass", [0.3, 1.0]), ("spring.stiffness", [3.0, 30.0])):
        many = madi.simulate_many(m, {name: values}, 0.1, step=1e-4)
        ends = many["q"].sel(coordinate="pin").isel(time=-1).values
        assert abs(ends[0] - ends[1]) > 1e-4
    with pytest.raises(madi.InputError, match="flexible body 'link' cannot stay adjustable"):
        madi.simulate_many(m, {"link.mass": [1.0, 2.0]}, 0.1, step=1e-4)


def test_damping_ratios_go_by_name():
    m = one_beam({"y": 2, "z": 2}, "fixed", section=rectangle(0.02, 0.01), damping=[0.01, 0.02, 0.3, 0.4])
    m.gravity = (0, 0, 0)
    found = madi.linearize(m)
    by_name = {found.movers(k)[0]: mode["damping"] for k, mode in enumerate(found.modes)}
    for name, ratio in zip(("y1", "y2", "z1", "z2"), (0.01, 0.02, 0.3, 0.4), strict=True):
        assert by_name[f"link.{name}"] == pytest.approx(ratio, rel=1e-6)
    m = one_beam({"z": 4}, "fixed", damping=[0.01, 0.02, 0.3, 0.4])  # the lowest takes the first
    m.gravity = (0, 0, 0)
    np.testing.assert_allclose([mode["damping"] for mode in madi.linearize(m).modes], [0.01, 0.02, 0.3, 0.4], rtol=1e-6)


def test_points_are_told_apart():
    """Labels are names only: forces act where they are drawn."""
    nodes = np.stack([np.linspace(0, 1, 5), np.zeros(5), np.zeros(5)], axis=1)
    modes = np.zeros((1, 5, 6))
    modes[0, :, 2] = nodes[:, 0] ** 2
    for labels in (None, ["root", "", "", "", "tip"], ["root", None, None, None, "tip"]):
        m = madi.Model("nodes", gravity=(0, 0, 0))
        part = m.flexible_body("part", nodes, np.ones(5), modes, [100.0], labels=labels)
        m.fixed("wall", m.ground, part, at=(0, 0, 0))
        m.force("near", part, (0, 0, 1.0), at=(0.25, 0, 0))
        m.force("far", part, (0, 0, 1.0), at=(0.75, 0, 0))
        assert madi.statics(m).q[0] == pytest.approx((0.25**2 + 0.75**2) / 100.0)
    m = one_beam({"z": 1}, "fixed", points={"0.5": 0.1})
    m.gravity = (0, 0, 0)
    m.force("F", "link", (0, 0, 1.0), at=(0.5, 0, 0))
    shape = clamped_loaded(1.0, 1)[0]
    stiffness = m.bodies[0].flexible.field.stiffness[0, 0]
    assert madi.statics(m).q[0] == pytest.approx(shape(0.5) / stiffness)


def test_beams_between_the_same_two_bodies_and_springs_along_them():
    m = madi.Model("clamped twice", gravity=(0, 0, 0))
    link = m.beam("link", (0, 0, 0), (1, 0, 0), rectangle(0.02, 0.02), **ALUMINIUM, modes={"z": polynomials(1.0, 8)})
    m.fixed("left", m.ground, link, at=(0, 0, 0))
    m.fixed("right", m.ground, link, at=(1, 0, 0))
    lowest = frequencies(m, 2)
    unit = np.sqrt(7e10 * 0.02**4 / 12 / (2700 * 0.02**2))
    np.testing.assert_allclose(lowest, np.array([4.7300407449, 7.8532046241]) ** 2 * unit, rtol=1e-3)
    m.spring_damper("tie", link, link, at=((0.2, 0, 0.05), (0.8, 0, 0.05)), stiffness=1e6)
    assert frequencies(m, 1)[0] > 1.01 * lowest[0]


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


def test_free_flexible_bodies_keep_their_momentum():
    """A free beam struck at its tip: momentum is force times time."""
    m = madi.Model("struck", gravity=(0, 0, 0))
    beam = m.beam("beam", (0, 0, 0), (1, 0, 0), rectangle(0.02, 0.02), **ALUMINIUM, modes={"z": 3}, points={"tip": 1.0})
    m.free("F", m.ground, beam)
    m.force("blow", "beam@tip", lambda t: (0 * t, 0 * t, madi.where(t < 0.002, 1000.0, 0.0)))
    run = madi.simulate(m, 0.02, rtol=1e-8, times=np.linspace(0, 0.02, 21), max_step=1e-4)
    momentum = run.data["momentum"].values[-1]
    np.testing.assert_allclose(momentum[:3], [0, 0, 2.0], atol=1e-4)


@pytest.mark.parametrize("shapes", [clamped_free(1.0, 5), polynomials(1.0, 8)], ids=["clamped", "polynomials"])
def test_the_mass_matrix_stays_positive(shapes):
    """With stiffening and far beyond small deflections: the kinetic energy is complete."""
    m = madi.Model("free", gravity=(0, 0, 0))
    beam = m.beam("beam", (0, 0, 0), (1, 0, 0), rectangle(0.02, 0.02), **ALUMINIUM, modes={"z": shapes, "y": 1, "axial": 1})
    m.free("F", m.ground, beam)
    system, rng = m.build(), np.random.default_rng(2)
    for amount in (0.001, 0.01, 0.1, 0.5):
        q = system.q0
        q[7:] = amount * rng.normal(size=system.nq - 7)
        M = system.mass_matrix(q, engine="plain")
        assert np.min(np.linalg.eigvalsh(M)) > 1e-9


def test_a_mode_that_does_what_the_joint_does_is_told():
    m = one_beam({"y": polynomials(1.0, 2, start=1)}, strict=False)
    with pytest.raises(madi.ModelError, match="a mode is a rigid motion that the joint does too"):
        m.build()


def test_sections_resist_being_tilted_where_that_matters():
    """Rayleigh's correction of a stocky beam is on by itself, of a slender one it is not."""
    from madi.flexible import rectangle

    def field(height, rotary=None):
        m = madi.Model("beam")
        link = m.beam(
            "link", (0, 0, 0), (1, 0, 0), rectangle(0.02, height), E=7e10, rho=2700.0, modes={"z": 2}, rotary=rotary
        )
        return link.flexible.field

    assert np.array_equal(field(0.2).modal_mass, field(0.2, True).modal_mass)
    assert not np.array_equal(field(0.2).modal_mass, field(0.2, False).modal_mass)
    assert np.array_equal(field(0.005).modal_mass, field(0.005, False).modal_mass)
    thick, thin = (np.diag(field(h, True).modal_mass) / np.diag(field(h, False).modal_mass) for h in (0.2, 0.005))
    assert np.max(thick) > 1.002 > np.max(thin)


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
