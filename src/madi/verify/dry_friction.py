"""Machines that stick, slide and stop: closed forms, by hand and from the literature.

A block on an incline (Coulomb); an oscillator with Coulomb friction, whose turning points are on two straight lines; stick
and slip on a belt, with friction that drops at once and with the law of Leine, van Campen, de Kraker, van den Steen,
Nonlinear Dynamics 16 (1998) 41; a bouncing ball (data of the FMI Reference FMUs); a pendulum that hits a stop at its bottom
(elliptic integrals).
"""

from __future__ import annotations

import math

from madi.model.model import Model

G = 9.81
INCLINE = math.radians(15.0)
STOP_TIME, STOP_WAY = 0.557441096013687761, 0.836161644020531642  # mu = 0.3, thrown up at 3 m/s
BACK_TIME, BACK_SPEED = 2.45205021371443911, -1.14317851433015904  # mu = 0.2, at the start again
TURNS = (-0.42, 0.34, -0.26, 0.18, -0.10, 0.02)  # of the oscillator, every pi / 10 s; then it is stuck
BELT_DROPS = (0.885718974235272402, 0.533333333333333333)  # slip and stick phases, s
BELT_FADES = (4.29599952548015488, 7.70503176935042376)
BOUNCES = (0.451523640985730904, 1.08365673836575417, 1.52614990653177046, 1.83589512424798186, 2.05271677664932984)
REST = 2.55863396558580846  # s: where the bounces accumulate
HEIGHTS = {0.5: 0.138779880359517147, 1.0: 0.225059760719034294, 1.5: 0.0534023898335374485, 2.0: 0.0424335478026277310,
           2.5: 7.38036848669762e-5}  # fmt: skip
PIN = {1.0: (16.2497971577581038, 17.9952954148524303), 5.0: (9.28538312238412680, 66.4941106562446842)}  # rate, angle
HITS = (0.534784400139672211, 1.57810907518969971, 2.60608865765062752, 3.62476561612521415, 4.63768429731131386)
HIT_RATES = (2.40256779418915528, 1.92205423535132422, 1.53764338828105938, 1.23011471062484750, 0.984091768499878002)


def slide(name: str, gravity: tuple[float, float, float] = (0.0, 0.0, 0.0), **start: float) -> Model:
    """A body of 1 kg on a slide "x" along x."""
    m = Model(name, gravity=gravity)
    m.body("block", mass=1.0, inertia=(0.1, 0.1, 0.1))
    m.prismatic("x", m.ground, "block", at=(0, 0, 0), axis=(1, 0, 0), q0=start.get("q0"), v0=start.get("v0"))
    return m


def incline(mu: float) -> Model:
    """The block, thrown up at 3 m/s; x points uphill."""
    m = slide("block on an incline", (-G * math.sin(INCLINE), 0.0, -G * math.cos(INCLINE)), v0=3.0)
    m.friction("friction", "x", coulomb=mu * G * math.cos(INCLINE))
    return m


def oscillator() -> Model:
    """k = 100 N/m, 4 N of friction, released at 0.5 m."""
    m = slide("oscillator with Coulomb friction", q0=0.5)
    m.joint_spring("spring", "x", stiffness=100.0)
    m.friction("friction", "x", coulomb=4.0)
    return m


def belt(mass: float, stiffness: float, speed: float, **friction: float | str) -> Model:
    """A block held by a spring, on a belt that runs; "s" is where it is on the belt, stuck at the start."""
    m = Model("block on a belt", gravity=(0.0, 0.0, 0.0))
    m.body("belt", mass=1.0, inertia=(0.1, 0.1, 0.1))
    m.body("block", mass=mass, inertia=(0.1, 0.1, 0.1))
    m.prismatic("run", m.ground, "belt", at=(0, 0, 0), axis=(1, 0, 0))
    m.drive("run", lambda t: speed * t)
    m.prismatic("s", "belt", "block", at=(0, 0, 0), axis=(1, 0, 0))
    m.spring_damper("spring", m.ground, "block", at=((-10, 0, 0), (0, 0, 0)), stiffness=stiffness, free_length=10.0)
    m.friction("friction", "s", **friction)  # type: ignore[arg-type]
    return m


def belt_drops() -> Model:
    """Friction of 10 N at rest, 6 N as soon as it slides."""
    return belt(2.0, 50.0, 0.3, coulomb=6.0, static=10.0)


def belt_fades() -> Model:
    """Friction 1 / (1 + 3 |v|)."""
    return belt(1.0, 1.0, 0.2, coulomb=0.0, static=1.0, stribeck=1.0 / 3.0, law="hyperbolic")


def ball() -> Model:
    """Dropped from 1 m, e = 0.7."""
    m = Model("bouncing ball")
    m.body("ball", mass=1.0, inertia=(0.1, 0.1, 0.1))
    m.prismatic("z", m.ground, "ball", at=(0, 0, 0), axis=(0, 0, 1), q0=1.0)
    m.stop("floor", "z", lower=0.0, restitution=0.7)
    return m


def pin() -> Model:
    """A pendulum without gravity on a pin of radius 0.02 m, mu = 0.3, at 20 rad/s."""
    m = Model("pin with friction", gravity=(0.0, 0.0, 0.0))
    m.body("b", mass=2.0, com=(0, 0, -0.5), inertia=(0.02, 0.02, 0.02))
    m.revolute("A", m.ground, "b", at=(0, 0, 0), axis=(0, 1, 0), v0=20.0)
    m.friction("friction", "A", mu=0.3, radius=0.02)
    return m


def pendulum() -> Model:
    """A point mass at 1 m, released at 1 rad; the stop is at the bottom, e = 0.8."""
    m = Model("pendulum on a stop")
    m.body("bob", mass=1.0, com=(0, 0, -1), inertia=(1e-15, 1e-15, 1e-15))
    m.revolute("A", m.ground, "bob", at=(0, 0, 0), axis=(0, 1, 0), q0=1.0)
    m.stop("stop", "A", lower=0.0, restitution=0.8)
    return m
