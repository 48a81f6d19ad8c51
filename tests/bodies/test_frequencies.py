"""Frequencies of flexible bodies against closed forms and finite elements."""

from itertools import pairwise

import numpy as np
import pytest

import madi
from madi.flexible import (
    clamped_free,
    clamped_rod,
    clamped_tip,
    craig_bampton,
    pinned_pinned,
    polynomials,
    rectangle,
    tube,
)
from tests.bodies.beams import ALUMINIUM, chain, frequencies, one_beam, slender, two_links


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
