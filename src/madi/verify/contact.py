"""Things that touch: closed forms of impact, sliding and rolling.

A body that meets a spring with Hunt and Crossley's damping (Lambert W), three balls in a row with Hertz' law, a ball that
hits the floor obliquely (Newton's restitution, Coulomb's impulse), a ball from sliding to rolling, with spin too (its path
is a parabola), discs on an incline, a block on an incline, and a tall box that tips.
"""

from __future__ import annotations

import math
from typing import Any

from madi.model.model import Model

G = 9.81
REBOUND, DEPTH, TOUCH_TIME = 0.748434931597434158, 0.00977770325717077474, 0.0333825275593743330
ROW = (-0.07095235, 0.07640304, 0.99454931)  # m/s, 8 digits
OBLIQUE = {3.0: (2.32, 34.0), 1.0: (0.714285714285714286, 14.2857142857142857)}  # along, spin; 1.4 m/s up
ROLLS_AT, ROLLS_FROM, ROLLS = 0.873743993010048056, 4.49354053548024714, 30.0 / 7.0
CURVE = {
    0.414453166470298733: (0.461819242638332874, 0.0532868356890384085),
    1.0: (0.888431935638543797, 0.203856021453818734),
}
CURVE_END = (0.728571428571428571, 0.257142857142857143), (-8.57142857142857143, 24.2857142857142857, 10.0)
CYLINDER_ROLLS, CYLINDER_SLIDES, SPHERE_ROLLS = 3.27, (3.63064361833119853, 25.4871276333760294), 3.50357142857142857
INCLINE, UP = math.radians(15.0), 0.836161644020531642
EDGES = (0.752876143006499550, 0.231931610005708510)  # of the weight, lower and upper edge at 10 deg
TIPS = 0.321750554396642193


def hunt_crossley(damping: float = 0.5) -> Model:
    """1 kg at 1 m/s against k = 1e5, n = 1.5."""
    m = Model("impact", gravity=(0.0, 0.0, 0.0))
    m.body("b", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(0, 0, 0.1))
    m.prismatic("z", m.ground, "b", at=(0, 0, 0.1), axis=(0, 0, 1), v0=-1.0)
    m.shape("ball", "b", "sphere", radius=0.1)
    m.shape("floor", m.ground, "plane")
    m.contact("c", "ball", "floor", stiffness=1e5, damping=damping)
    return m


def row() -> Model:
    """Three balls of 1 kg that touch, the first at 1 m/s; F = d^1.5."""
    m = Model("row of balls", gravity=(0.0, 0.0, 0.0))
    for k in range(3):
        m.body(f"b{k}", mass=1.0, inertia=(0.1, 0.1, 0.1), position=(2.0 * k, 0, 0))
        m.prismatic(f"x{k}", m.ground, f"b{k}", at=(2.0 * k, 0, 0), axis=(1, 0, 0), v0=1.0 if k == 0 else None)
        m.shape(f"s{k}", f"b{k}", "sphere", radius=1.0)
    for k in range(2):
        m.contact(f"c{k}", f"s{k}", f"s{k + 1}", stiffness=1.0, damping=0.0)
    return m


def ball(radius: float, speed: tuple[float, float, float], spin: tuple[float, float, float], mu: float, height: float = 0.0,
         gravity: tuple[float, float, float] = (0.0, 0.0, -G), **law: Any) -> Model:  # fmt: skip
    """A ball of the density of water, `height` above the floor."""
    m = Model("ball", gravity=gravity)
    m.body("ball", position=(0, 0, radius + height))
    m.shape("skin", "ball", "sphere", radius=radius, density=1000.0)
    m.free("fly", m.ground, "ball", v0=(*speed, *spin))
    m.shape("floor", m.ground, "plane")
    m.contact("c", "skin", "floor", mu=mu, **law)
    return m


def tilted(angle: float) -> tuple[float, float, float]:
    """Gravity on an incline, x downhill."""
    return G * math.sin(angle), 0.0, -G * math.cos(angle)


def cylinder(mu: float) -> Model:
    """A solid cylinder of radius 0.1 on an incline of 30 degrees."""
    m = Model("cylinder", gravity=tilted(math.radians(30.0)))
    m.body("roll", position=(0, 0, 0.1))
    m.shape("skin", "roll", "cylinder", radius=0.1, length=0.2, axis=(0, 1, 0), density=1000.0)
    m.planar("move", m.ground, "roll", at=(0, 0, 0.1), axis=(0, 1, 0), x_axis=(1, 0, 0))
    m.shape("floor", m.ground, "plane")
    m.contact("c", "skin", "floor", mu=mu)
    return m


def block(mu: float, angle: float, size: tuple[float, float, float], speed: float = 0.0) -> Model:
    """A box on an incline, thrown uphill."""
    m = Model("block", gravity=tilted(-angle))
    m.body("block", position=(0, 0, 0.5 * size[2]))
    m.shape("box", "block", "box", size=size, density=1000.0)
    m.free("move", m.ground, "block", v0=(speed, 0, 0, 0, 0, 0))
    m.shape("floor", m.ground, "plane")
    m.contact("c", "box", "floor", mu=mu, restitution=0.0)
    return m
