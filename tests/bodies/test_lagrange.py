"""Flexible bodies against Lagrange's equations derived in symbols."""

import numpy as np
import pytest
import sympy as sp

import madi
from madi.flexible import (
    clamped_tip,
)
from madi.symbolic.lagrange import Lagrange, Link, Lump
from tests.bodies.beams import FORMULATIONS, slender, turn, two_links


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
