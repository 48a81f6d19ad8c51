"""Beams and mechanisms of beams that several tests use."""

import numpy as np
import sympy as sp

import madi
from madi.flexible import (
    Section,
    clamped_free,
    clamped_tip,
    rectangle,
    tube,
)
from madi.symbolic.lagrange import Lagrange, Link, Lump

FORMULATIONS = ("recursive", "articulated", "velocity-transform")
ALUMINIUM = {"E": 7e10, "rho": 2700.0}


def thin(EI, density):
    """A section with this bending stiffness at E = 1e15 and next to no inertia about its own axis."""
    return Section(density / 1000.0, EI / 1e15, EI / 1e15, 1e-15)


def slender(model, name, start, end, EI, density, shapes, **more):
    return model.beam(name, start, end, thin(EI, density), E=1e15, rho=1000.0, modes=shapes, **more)


def turn(angle):
    return sp.Matrix([[sp.cos(angle), -sp.sin(angle)], [sp.sin(angle), sp.cos(angle)]])


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


def frequencies(model, count, **more):
    found = madi.linearize(model, **more)
    return np.array([mode["frequency"] * 2 * np.pi for mode in found.modes if mode["frequency"] > 1e-3][:count])


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


def flexible_pendulum(E=7e10, modes=None, stiffening=True, gravity=(0, 0, -9.81), **more):
    m = madi.Model("flexible pendulum", gravity=gravity)
    link = m.beam("link", (0, 0, 0), (1, 0, 0), rectangle(0.02, 0.01), E, 2700.0, modes or {"z": 2}, stiffening=stiffening,
                  points={"tip": 1.0}, **more)  # fmt: skip
    m.revolute("pin", m.ground, link, at=(0, 0, 0), axis=(0, 1, 0))
    return m


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
